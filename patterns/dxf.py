# SPDX-License-Identifier: GPL-3.0-or-later
"""Patterns as DXF after AAMA 292 and ASTM D6673, read by ezdxf: each block is a piece, and layers tell what its lines are.

No file of this kind says what is sewn to what, or where a piece belongs about the body: pieces stand side by side, until
`arrange` lays them there.
"""

import io
import re
from collections.abc import Iterator

import numpy as np

from .panel import FARTHEST, MOST_LINES, MOST_PANELS, Panel, Pattern, area, check, length

MOST_BYTES = 20 << 20
OUTLINE, TURNS, NOTCHES, MIRROR, GRAIN, INTERNAL, CUT_OUT, SEW_LINE = "1", "2", "4", "6", "7", "8", "11", "14"  # layers
METRES = {1: 0.0254, 2: 0.3048, 4: 1e-3, 5: 1e-2, 6: 1.0}  # of DXF's own units, $INSUNITS
MILLIMETRE, INCH = METRES[4], METRES[1]
SAG = 1e-4  # [m] that a curve's chords are off at most
JOINED = 1e-4  # [m] up to which ends of lines are one
NOTCH_REACH = 0.02  # [m] from the outline that a notch may lie
SHARP = np.cos(np.radians(25.0))  # of the turn at a corner where the file marks none
MOST_POINTS = 50_000  # of an outline
LEFT = (0.0, 0.0, -0.6)  # [m] where the first piece stands: before a body at the origin, facing as that does
GAP = 0.05  # [m] between pieces


def read(data: bytes, units: int = 0) -> Pattern:
    """The pieces that a file holds, upright beside each other, warp up.

    units : what its numbers are, one of `METRES`; 0: what the file says

    Raises
    ------
    ValueError
        It is no such file, or a piece in it cannot be cut: a sentence that names it.
    """
    document = _load(data)
    metres = METRES.get(units) or _metres(document)
    pieces = _pieces(document)
    if not pieces:
        raise ValueError("it has no block with an outline on layer 1, as patterns of AAMA and ASTM have")
    if len(pieces) > MOST_PANELS:
        raise ValueError(f"it has {len(pieces):,} pieces; that is no garment")
    panels, left = [], 0.0
    for panel in _cut(pieces, metres):
        ring = np.concatenate([line[:-1] for line in panel.lines])
        place = np.eye(4)
        up, across = panel.grain, np.array([panel.grain[1], -panel.grain[0]])
        place[:3, 0], place[:3, 1] = (across[0], 0.0, up[0]), (across[1], 0.0, up[1])
        place[:3, 2] = np.cross(place[:3, 0], place[:3, 1])
        at = ring @ place[:3, :2].T
        place[:3, 3] = (left - at[:, 0].min(), LEFT[2], -at[:, 2].min())
        left += np.ptp(at[:, 0]) + GAP
        panels.append(panel._replace(place=place))
    for panel in panels:
        panel.place[0, 3] -= 0.5 * (left - GAP)
        check(panel)
    return Pattern(tuple(panels), ())


def _cut(pieces, metres: float) -> Iterator[Panel]:
    """The panels, and beside each that is cut twice, as sleeves are from cloth that lies double, its mirror image."""
    for name, entities in pieces:
        panel = _panel(name, entities, metres)
        yield panel
        counts = re.findall(r"\d{1,4}", _told(entities).get("QUANTITY", ""))[:2]  # as drawn, and turned over
        if sum(map(int, counts)) > 1:
            yield _mirrored(panel)


def _mirrored(panel: Panel) -> Panel:
    """A panel turned over about its grain."""
    fold = np.array([[0.0, 0.0], panel.grain])
    lines, folds, *holes = (
        tuple(_mirror_image(line, fold)[::-1] for line in reversed(each))
        for each in (panel.lines, panel.folds, *panel.holes)
    )
    return panel._replace(name=f"{panel.name} mirrored", lines=lines, folds=folds, holes=tuple(holes))


def _mirror_image(line, fold) -> np.ndarray:
    """What a mirror in the line `fold` (2, 2) shows of a line (k, 2)."""
    along = (fold[1] - fold[0]) / max(float(np.hypot(*(fold[1] - fold[0]))), 1e-12)
    across = np.array([-along[1], along[0]])
    return line - 2.0 * ((line - fold[0]) @ across)[:, None] * across


def _load(data: bytes):
    """The document, by ezdxf's usual way or, where a file's structure is off, by its patient one."""
    import ezdxf
    from ezdxf import recover

    if b"\0" in data:
        raise ValueError("it is no text file; save it as ASCII DXF")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    if not re.match(r"\s*(0|999)\s", text):
        raise ValueError("line 1 is no DXF: it begins with the group code 0 or 999")
    try:
        return ezdxf.read(io.StringIO(text))
    except (ezdxf.DXFError, OSError, *_FAULTS):
        pass
    try:
        return recover.read(io.BytesIO(data))[0]
    except (ezdxf.DXFError, OSError) as error:
        raise ValueError(f"it is no DXF that can be read: {str(error)[:120]}") from None
    except _FAULTS:
        raise ValueError("it is no DXF that can be read; save it again as DXF R12, ASCII") from None


_FAULTS = ValueError, KeyError, IndexError, TypeError, AttributeError, ArithmeticError, RecursionError  # of spoilt tags


def _metres(document) -> float:
    """What a unit of the file is: as its text says (`UNITS: METRIC` are millimetres), else its header, else millimetres."""
    told = _told(document.modelspace()).get("UNITS", "").upper()
    if told:
        return INCH if told.startswith(("ENG", "IMP", "INCH")) else MILLIMETRE
    if document.header.get("$INSUNITS", 0) in METRES:
        return METRES[document.header["$INSUNITS"]]
    return MILLIMETRE if document.header.get("$MEASUREMENT", 1) else INCH


def _told(entities) -> dict[str, str]:
    """Texts of the form `NAME: value`."""
    found = {}
    for entity in entities:
        if entity.dxftype() in ("TEXT", "MTEXT"):
            name, mark, value = (entity.plain_text() if entity.dxftype() == "MTEXT" else entity.dxf.text).partition(":")
            if mark:
                found.setdefault(name.strip().upper(), value.strip())
    return found


def _pieces(document) -> list[tuple[str, list]]:
    """Name and entities of each block with an outline; of several sizes the sample size, or the first one."""
    found = []
    for block in document.blocks:
        entities = [entity for entity in block if entity.dxf.hasattr("layer")]
        if not block.name.startswith("*") and any(_is_line(entity, OUTLINE) for entity in entities):
            told = _told(entities)
            found.append((told.get("PIECE NAME") or block.name, told.get("SIZE", ""), entities))
    sizes = [size for _, size, _ in found]
    wanted = _told(document.modelspace()).get("SAMPLE SIZE", "")
    wanted = wanted if wanted in sizes else next(iter(sizes), "")
    return [(name, entities) for name, size, entities in found if size == wanted]


def _is_line(entity, layer: str) -> bool:
    return entity.dxf.layer == layer and entity.dxftype() in (
        "LINE",
        "POLYLINE",
        "LWPOLYLINE",
        "ARC",
        "SPLINE",
        "CIRCLE",
    )


def _panel(name: str, entities: list, metres: float) -> Panel:
    rings = {layer: _ring(name, entities, layer, metres) for layer in (SEW_LINE, OUTLINE)}
    ring = rings[SEW_LINE] if rings[SEW_LINE] is not None else rings[OUTLINE]
    if ring is None:
        longest = max(_chained(_lines(name, entities, OUTLINE, metres)), key=length) / metres
        (ax, ay), (bx, by) = longest[0], longest[-1]
        raise ValueError(
            f"panel '{name}': its outline on layer 1 does not close: it ends at ({ax:g}, {ay:g}) and at ({bx:g}, {by:g}), "
            f"{np.hypot(bx - ax, by - ay):.3g} apart"
        )
    if len(ring) < 3 or abs(area(ring)) < 1e-8:
        raise ValueError(f"panel '{name}': its outline on layer 1 encloses no area")
    turns, notches = (_points(entities, layer, metres) for layer in (TURNS, NOTCHES))
    ring, is_notch = _with_notches(ring, notches)
    fold, half = _segment(entities, MIRROR, metres), len(ring)
    ring, is_corner = _unfolded(ring, _corners(ring, turns) | is_notch, fold)
    fold = fold if len(ring) > half else None
    folds, holes = _folds(name, entities, metres, fold), _holes(name, entities, metres, fold, turns)
    if area(ring) < 0.0:
        ring, is_corner = ring[::-1], is_corner[::-1]
    lines = _from_corner_to_corner(name, ring, is_corner)
    grain = _segment(entities, GRAIN, metres)
    along = np.array([0.0, 1.0]) if grain is None else grain[1] - grain[0]
    size = float(np.hypot(*along))
    along = along / size if np.isfinite(size) and size > JOINED else np.array([0.0, 1.0])
    return Panel(name, lines, np.eye(4), along, folds, holes)


def _corners(ring, turns) -> np.ndarray:
    """Which points of a ring are corners: at turn points (k, 2), or, where a file marks none, sharp ones."""
    is_corner = _near(ring, turns, JOINED * 10) if len(turns) else np.zeros(len(ring), bool)
    return is_corner if is_corner.sum() > 1 else _turns_sharply(ring)


def _from_corner_to_corner(name: str, ring, is_corner) -> tuple[np.ndarray, ...]:
    """The lines (k, 2) that a ring is made of."""
    starts = np.flatnonzero(is_corner)
    starts = starts if len(starts) else np.array([0])
    if len(starts) > MOST_LINES:
        raise ValueError(f"panel '{name}' has {len(starts):,} corners; a panel has {MOST_LINES:,} at most")
    around = np.concatenate([ring, ring])
    ends = np.append(starts[1:], starts[0] + len(ring))
    return tuple(around[a : b + 1] for a, b in zip(starts, ends, strict=True))


def _holes(name: str, entities, metres: float, fold, turns) -> tuple[tuple[np.ndarray, ...], ...]:
    """The lines of each cut-out. Of a piece that was unfolded about the line `fold` (2, 2), also what a mirror shows: halves that end
    at the fold make one.
    """
    parts = _lines(name, entities, CUT_OUT, metres)
    if fold is not None:
        parts, turns = parts + [_mirror_image(part, fold) for part in parts], np.zeros((0, 2))
    chains, holes = _chained(parts), []
    if len(chains) > MOST_LINES:
        raise ValueError(f"panel '{name}' has {len(chains):,} cut-outs; a panel has {MOST_LINES:,} at most")
    for number, chain in enumerate(chains, 1):
        at = chain[0] / metres
        where = f"panel '{name}': cut-out {number} on layer {CUT_OUT}, which begins at ({at[0]:g}, {at[1]:g}),"
        if not _is_near(chain[0], chain[-1]):
            raise ValueError(f"{where} is open; close it, or draw it on layer {INTERNAL} as an internal line")
        ring = _without_repeats(chain[:-1])
        if len(ring) < 3 or abs(area(ring)) < 1e-8:
            raise ValueError(f"{where} encloses no area; leave it out")
        holes.append(_from_corner_to_corner(name, ring, _corners(ring, turns)))
    return tuple(holes)


def _folds(name: str, entities, metres: float, fold) -> tuple[np.ndarray, ...]:
    """Internal lines, and of a piece that was unfolded about the line `fold` (2, 2) what a mirror shows of them."""
    lines = [line for line in _chained(_lines(name, entities, INTERNAL, metres)) if length(line) > JOINED]
    if fold is not None:
        lines += [_mirror_image(line, fold) for line in lines]
    if len(lines) > MOST_LINES:
        raise ValueError(f"panel '{name}' has {len(lines):,} internal lines; a panel has {MOST_LINES:,} at most")
    return tuple(lines)


def _lines(name: str, entities, layer: str, metres: float) -> list[np.ndarray]:
    """Each (k, 2) [m], the lines of a layer."""
    from ezdxf import path

    parts = []
    for entity in entities:
        if _is_line(entity, layer):
            points = np.array([tuple(p)[:2] for p in path.make_path(entity).flattening(SAG / metres)], float) * metres
            if not (np.isfinite(points).all() and np.abs(points).max(initial=0.0) <= FARTHEST):
                raise ValueError(
                    f"panel '{name}': a line on layer {layer} reaches farther than {FARTHEST:g} m; check its numbers, and the file's units"
                )
            if len(points) > 1:
                parts.append(points)
    if sum(map(len, parts)) > MOST_POINTS:
        raise ValueError(f"panel '{name}': its lines on layer {layer} have more than {MOST_POINTS:,} points")
    return parts


def _ring(name: str, entities, layer: str, metres: float) -> np.ndarray | None:
    """(k, 2) [m] the closed line of a layer, its longest, without its first point again; None where none closes."""
    closed = [
        ring
        for ring in _chained(_lines(name, entities, layer, metres))
        if len(ring) > 3 and _is_near(ring[0], ring[-1])
    ]
    if not closed:
        return None
    return _without_repeats(max(closed, key=lambda ring: abs(area(ring)))[:-1])


def _without_repeats(ring) -> np.ndarray:
    return ring[np.hypot(*(ring - np.roll(ring, 1, axis=0)).T) > JOINED / 10]


def _is_near(one, other) -> bool:
    return float(np.abs(one - other).max()) <= JOINED


def _chained(parts: list[np.ndarray]) -> list[np.ndarray]:
    """Lines (k, 2) joined where their ends meet."""
    left, chains = list(parts), []
    while left:
        chain = left.pop(0)
        grew = True
        while grew and not _is_near(chain[0], chain[-1]):
            grew = False
            for k, part in enumerate(left):
                part = part if _is_near(chain[-1], part[0]) else part[::-1]
                if _is_near(chain[-1], part[0]):
                    chain, grew = np.concatenate([chain, part[1:]]), True
                    del left[k]
                    break
        chains.append(chain)
    return chains


def _points(entities, layer: str, metres: float) -> np.ndarray:
    """(k, 2) [m] points of a layer."""
    found = [tuple(e.dxf.location)[:2] for e in entities if e.dxftype() == "POINT" and e.dxf.layer == layer]
    points = np.array(found, float).reshape(-1, 2) * metres
    return points[np.isfinite(points).all(axis=1)]


def _segment(entities, layer: str, metres: float) -> np.ndarray | None:
    """(2, 2) [m] ends of the first line of a layer."""
    from ezdxf import path

    for entity in entities:
        if _is_line(entity, layer):
            points = [tuple(p)[:2] for p in path.make_path(entity).flattening(SAG / metres)]
            if len(points) > 1 and np.isfinite(points).all():
                return np.array([points[0], points[-1]], float) * metres
    return None


def _near(ring, points, reach) -> np.ndarray:
    """Which points of a ring are the nearest to one of `points`, within `reach` [m]."""
    found = np.zeros(len(ring), bool)
    for point in points:
        away = np.hypot(*(ring - point).T)
        if away.min() <= reach:
            found[away.argmin()] = True
    return found


def _turns_sharply(ring) -> np.ndarray:
    """Which points of a ring are corners."""
    before, after = ring - np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0) - ring
    cosine = (before * after).sum(axis=1) / (np.hypot(*before.T) * np.hypot(*after.T))
    return cosine < SHARP


def _with_notches(ring, notches) -> tuple[np.ndarray, np.ndarray]:
    """A ring with a point at each notch that lies near it, and which these are."""
    is_notch = np.zeros(len(ring), bool)
    for notch in notches[:MOST_LINES]:
        side = np.roll(ring, -1, axis=0) - ring
        part = np.clip(((notch - ring) * side).sum(axis=1) / (side**2).sum(axis=1), 0.0, 1.0)
        foot = ring + part[:, None] * side
        away = np.hypot(*(foot - notch).T)
        k = int(away.argmin())
        if away[k] > NOTCH_REACH:
            continue
        near = np.hypot(*(ring - foot[k]).T)
        if near.min() > 10.0 * JOINED:
            ring, is_notch = np.insert(ring, k + 1, foot[k], axis=0), np.insert(is_notch, k + 1, True)
        else:
            is_notch[near.argmin()] = True
    return ring, is_notch


def _unfolded(ring, is_corner, fold) -> tuple[np.ndarray, np.ndarray]:
    """A piece that is cut on the fold, whole: it and what a mirror in the line `fold` (2, 2) shows of it."""
    if fold is None:
        return ring, is_corner
    along = (fold[1] - fold[0]) / max(float(np.hypot(*(fold[1] - fold[0]))), 1e-12)
    across = np.array([-along[1], along[0]])
    away = (ring - fold[0]) @ across
    on = np.flatnonzero(np.abs(away) <= 10.0 * JOINED)
    if len(on) < 2 or (away > 10.0 * JOINED).any() and (away < -10.0 * JOINED).any():
        return ring, is_corner  # not at its border: it is whole already
    # from where the outline leaves the fold round to where it comes back
    leaves = next((k for k in on if abs(away[(k + 1) % len(ring)]) > 10.0 * JOINED), None)
    if leaves is None:
        return ring, is_corner
    ring, is_corner, away = (np.roll(array, -leaves, axis=0) for array in (ring, is_corner, away))
    back = int(np.flatnonzero(np.abs(away[1:]) <= 10.0 * JOINED)[0]) + 1
    half, corners = ring[: back + 1], is_corner[: back + 1].copy()
    corners[[0, -1]] = False
    whole = np.concatenate([half, _mirror_image(half, fold)[-2:0:-1]])
    corners = np.concatenate([corners, corners[-2:0:-1]])
    return whole, corners | _turns_sharply(whole)
