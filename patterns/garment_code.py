# SPDX-License-Identifier: GPL-3.0-or-later
"""Patterns of GarmentCode, as JSON (Korosteleva and Sorkine-Hornung 2023; Korosteleva and Lee 2021, their specification).

Panels have corners, edges between these that are straight or curved, and stand about the body by a translation and a
rotation; stitches name two edges. Its y is up and its people look along z; panels' warp runs along their y.
"""

import json

import numpy as np

from . import curves
from .panel import MOST_LINES, MOST_PANELS, Panel, Pattern, Side, Stitch, check

MOST_BYTES = 50 << 20
UNITS_PER_METRE = 100.0  # where a file says nothing: centimetres
CONTROLS = {"quadratic": 1, "cubic": 2}  # control points of a curve
Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # from y up; who looked along z looks along -y


def read(data: bytes) -> Pattern:
    """The pattern that a file says.

    Raises
    ------
    ValueError
        It is no such file, or a panel, an edge or a stitch in it cannot be: a sentence that names it.
    """
    told = _parsed(data)
    panels = _get(told, "panels", dict, "the pattern")
    if not panels:
        raise ValueError("the pattern has no panels")
    stitches = _get(told, "stitches", list, "the pattern", [])
    if len(panels) > MOST_PANELS or len(stitches) > MOST_PANELS * MOST_LINES:
        raise ValueError(f"the pattern has {len(panels):,} panels and {len(stitches):,} stitches; that is no garment")
    properties = told.get("properties", {})
    per_metre = _number(properties.get("units_in_meter", UNITS_PER_METRE), "units_in_meter")
    if not 1e-3 <= per_metre <= 1e6:
        raise ValueError(f"units_in_meter is {per_metre:g}; 100 are centimetres, 1000 millimetres")
    read_panels = tuple(_panel(name, panel, properties, per_metre) for name, panel in panels.items())
    numbers = {name: number for number, name in enumerate(panels)}
    return Pattern(read_panels, tuple(_stitch(k, stitch, numbers, read_panels) for k, stitch in enumerate(stitches)))


def _parsed(data: bytes) -> dict:
    def refuse(name):
        raise ValueError(f"a number is {name}")

    try:
        told = json.loads(data.decode("utf-8-sig"), parse_constant=refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply for a pattern") from None
    except UnicodeDecodeError:
        raise ValueError("it is not text, so it is no JSON file") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno} is no JSON: {error.msg}") from None
    if not isinstance(told, dict) or not isinstance(told.get("pattern"), dict):
        raise ValueError("it is JSON, but no pattern of GarmentCode: it has no 'pattern' with 'panels'")
    properties = told.get("properties", {})
    if not isinstance(properties, dict):
        raise ValueError("its 'properties' are no object")
    return told["pattern"] | {"properties": properties}


def _panel(name, told, properties, per_metre) -> Panel:
    where = f"panel '{name}'"
    if not isinstance(told, dict):
        raise ValueError(f"{where} is no object with vertices and edges")
    corners = _numbers(_get(told, "vertices", list, where), 2, f"{where}, vertices") / per_metre
    translation = _numbers([told.get("translation", [0, 0, 0])], 3, f"{where}, translation")[0] / per_metre
    rotation = _numbers([told.get("rotation", [0, 0, 0])], 3, f"{where}, rotation")[0]
    shift = corners.mean(axis=0) if properties.get("normalize_panel_translation") is True else np.zeros(2)
    translation[:2] += shift
    edges = _get(told, "edges", list, where)
    if not 2 <= len(edges) <= MOST_LINES:
        raise ValueError(f"{where} has {len(edges):,} edges; a panel has 2 to {MOST_LINES:,}")
    ends = [_endpoints(edge, len(corners), f"{where}, edge {k}") for k, edge in enumerate(edges)]
    for k, (_, end) in enumerate(ends):
        if end != ends[(k + 1) % len(ends)][0]:
            raise ValueError(f"{where}, edge {(k + 1) % len(ends)} does not begin where edge {k} ends")
    absolute = properties.get("curvature_coords") == "absolute"
    lines = tuple(
        _line(edge, *corners[list(pair)], per_metre, absolute, f"{where}, edge {k}") - shift
        for k, (edge, pair) in enumerate(zip(edges, ends, strict=True))
    )
    place = np.eye(4)
    place[:3, :3], place[:3, 3] = Z_UP @ _turned(np.radians(rotation)), Z_UP @ translation
    return check(Panel(name, lines, place, np.array([0.0, 1.0])))


def _turned(angles: np.ndarray) -> np.ndarray:
    """(3, 3) rotation about x, then y, then z [rad]."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(angles), np.sin(angles)
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cx, -sx], [0.0, sx, cx]])
    about_y = np.array([[cy, 0.0, sy], [0.0, 1.0, 0.0], [-sy, 0.0, cy]])
    about_z = np.array([[cz, -sz, 0.0], [sz, cz, 0.0], [0.0, 0.0, 1.0]])
    return about_z @ about_y @ about_x


def _endpoints(edge, corner_count, where) -> tuple[int, int]:
    if not isinstance(edge, dict):
        raise ValueError(f"{where} is no object with endpoints")
    ends = edge.get("endpoints")
    if not (isinstance(ends, list) and len(ends) == 2 and all(type(end) is int for end in ends)):
        raise ValueError(f"{where} needs two endpoints, the numbers of its vertices")
    if not all(0 <= end < corner_count for end in ends):
        raise ValueError(f"{where} ends at a vertex that is not there; the panel has {corner_count:,}")
    return ends[0], ends[1]


def _line(edge, start, end, per_metre, absolute, where) -> np.ndarray:
    """(k, 2) [m] of an edge."""
    curvature = edge.get("curvature")
    if curvature is None:
        return curves.straight(start, end)
    if isinstance(curvature, list):  # as files of 2021 have it
        curvature = {"type": "quadratic", "params": [curvature]}
    kind = curvature.get("type") if isinstance(curvature, dict) else None
    params = curvature.get("params") if isinstance(curvature, dict) else None
    if kind == "circle":
        if not (isinstance(params, list) and len(params) == 3):
            raise ValueError(f"{where} is a circle and needs a radius and two flags: large arc, right")
        radius = _number(params[0], f"{where}, radius") / per_metre
        if not 0.0 < radius < np.inf:
            raise ValueError(f"{where} has a radius of {radius:g} m; it must be above 0")
        return curves.arc(start, end, radius, bool(params[1]), bool(params[2]))
    if kind not in CONTROLS:
        raise ValueError(
            f"{where} is curved in a way that is not known: {str(kind)[:40]}; use quadratic, cubic or circle"
        )
    controls = _numbers(params, 2, f"{where}, control points")
    if len(controls) != CONTROLS[kind]:
        raise ValueError(f"{where} is {kind} and needs {CONTROLS[kind]} control points, not {len(controls)}")
    return curves.bezier(start, controls / per_metre if absolute else curves.in_frame_of(start, end, controls), end)


def _stitch(number, told, panels, read_panels) -> Stitch:
    where = f"stitch {number}"
    if not (isinstance(told, list) and len(told) in (2, 3)):
        raise ValueError(f"{where} needs two edges")
    sides = []
    for side in told[:2]:
        name = side.get("panel") if isinstance(side, dict) else None
        if not isinstance(name, str) or name not in panels:
            raise ValueError(f"{where} names a panel that is not there: {str(name)[:60]}")
        line, count = side.get("edge"), len(read_panels[panels[name]].lines)
        if type(line) is not int or not 0 <= line < count:
            raise ValueError(f"{where} names edge {str(line)[:20]} of panel '{name}', which has edges 0 to {count - 1}")
        sides.append(Side(panels[name], line))
    if sides[0] == sides[1]:
        raise ValueError(f"{where} sews edge {sides[0].line} of panel '{told[0]['panel']}' to itself")
    return Stitch(*sides, is_turned=told[2:] == ["right_wrong"])


def _get(told: dict, name: str, kind: type, where: str, default=None):
    value = told.get(name, default)
    if not isinstance(value, kind):
        raise ValueError(f"{where} has no {name}")
    return value


def _number(value, where: str) -> float:
    if type(value) not in (int, float) or abs(value) > 1e300:
        raise ValueError(
            f"{where}: {str(value)[:40] if not isinstance(value, int) else 'a number'} is no number to use"
        )
    return float(value)


def _numbers(values, count: int, where: str) -> np.ndarray:
    """(k, count) of a list of lists."""
    if not isinstance(values, list) or not values:
        raise ValueError(f"{where}: there are none")
    for k, value in enumerate(values):
        if not (isinstance(value, list) and len(value) == count):
            raise ValueError(f"{where}: number {k} needs {count} coordinates")
    return np.array([[_number(part, f"{where}, number {k}") for part in value] for k, value in enumerate(values)])
