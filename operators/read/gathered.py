# SPDX-License-Identifier: GPL-3.0-or-later
"""Gathers: a panel cut wider along a line, in its Pattern and where it stands, so that the line is longer than what it is sewn to."""

import bmesh
import bpy
import numpy as np

FLAT = 1e-3  # [Blender units] up to which a panel lies as its pattern does
MOST = 20.0  # times as wide a panel is made at most
TRIES = 60  # halvings of what is between


def at_rest(obj: bpy.types.Object, x: np.ndarray) -> np.ndarray:
    """Vertices (n, 3) of an object in Edit Mode in the shape that tells how long they are: x (n, 3), or the Pattern of a garment that has its size from it."""
    cloth, work = obj.taffeta_cloth, bmesh.from_edit_mesh(obj.data)
    layer = work.loops.layers.uv.get(cloth.uv_map) if cloth.pattern_size else None
    return x if layer is None else _in_pattern(work, layer, x)


def widen(obj: bpy.types.Object, line: np.ndarray, length: float, x: np.ndarray) -> str:
    """Cut the panel that a line is of wider along it, evenly, until the line is as long as is wanted; returns what was done.

    Parameters
    ----------
    obj : a garment in Edit Mode
    line : (k,) vertices, in their order
    length : of the line, in the shape of `at_rest`
    x : (n, 3) vertices in the world

    Raises
    ------
    ValueError
        The panel cannot be widened: a sentence with a remedy.
    """
    work, cloth = bmesh.from_edit_mesh(obj.data), obj.taffeta_cloth
    work.verts.ensure_lookup_table()
    piece = _piece(work, int(line[0]))
    layer = work.loops.layers.uv.get(cloth.uv_map) if cloth.uv_map else None
    co = np.array([vertex.co for vertex in work.verts], float)
    if layer is None:
        times = _times(x[line], length)
        along = co[line[-1]] - co[line[0]]
        moved = _wider(co, co[line[0]], along, times)
    else:
        flat = _in_pattern(work, layer, x)
        times = _times(flat[line] if cloth.pattern_size else x[line], length)
        wide = _wider(flat, flat[line[0]], flat[line[-1]] - flat[line[0]], times)
        moved = _laid(flat, wide, co, piece)
        if moved is None and not cloth.pattern_size:
            raise ValueError(
                f"{obj.name}: the panel that is to gather is not flat; switch Size from Pattern on, or gather it before it is bent"
            )
        for k in piece:
            for loop in work.verts[k].link_loops:
                loop[layer].uv = wide[k, :2]
    if moved is not None:
        for k in piece:
            work.verts[k].co = moved[k]
    bmesh.update_edit_mesh(obj.data, loop_triangles=True, destructive=False)
    return f"; its panel is {times:.2f} times as wide" + (
        "" if moved is not None else ", and stands as it did: arrange it anew"
    )


def _piece(work, first: int) -> list[int]:
    """The vertices that faces join to one."""
    found, ahead = {first}, [work.verts[first]]
    while ahead:
        for face in ahead.pop().link_faces:
            for vertex in face.verts:
                if vertex.index not in found:
                    found.add(vertex.index)
                    ahead.append(vertex)
    return sorted(found)


def _in_pattern(work, layer, x) -> np.ndarray:
    """(n, 3) [m] z = 0; vertices without a face as in x (n, 3)."""
    flat = x.copy()
    for vertex in work.verts:
        if vertex.link_loops:
            flat[vertex.index] = (*vertex.link_loops[0][layer].uv, 0.0)
    return flat


def _times(line: np.ndarray, length: float) -> float:
    """How many times as wide a line (k, 3) has to become along its chord for it to have a length.

    Raises
    ------
    ValueError
        It would be too many.
    """

    def is_long(times):
        return np.linalg.norm(np.diff(_wider(line, line[0], line[-1] - line[0], times), axis=0), axis=1).sum() >= length

    low, high = 1.0 / MOST, MOST
    if is_long(low) or not is_long(high):
        raise ValueError(
            "its line cannot become as long as that by a wider panel; choose a smaller Gather, or a straighter line"
        )
    for _ in range(TRIES):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if is_long(middle) else (middle, high)
    return high


def _wider(x, origin, along, times) -> np.ndarray:
    """Points (n, 3) drawn apart along a direction."""
    along = along / max(float(np.linalg.norm(along)), 1e-12)
    return x + (times - 1.0) * ((x - origin) @ along)[:, None] * along


def _laid(flat, wide, co, piece) -> np.ndarray | None:
    """Where a wider panel stands, (n, 3), in the plane in which it did; None where it stood in none."""
    known = np.column_stack([flat[piece, :2], np.ones(len(piece))])
    plane, *_ = np.linalg.lstsq(known, co[piece], rcond=None)
    if np.abs(known @ plane - co[piece]).max() > FLAT:
        return None
    return np.column_stack([wide[:, :2], np.ones(len(wide))]) @ plane
