# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that is draped from a frame of its bake: what is torn there, which ties are broken, what stayed of bending and stretch."""

from typing import NamedTuple

import bpy
import numpy as np

from ...solver.cache.intact import state_bytes
from ...solver.cache.journal import read_journal, unpack_broken
from ...solver.model import Cloth, State
from ..playback.cache_modifier import played
from ..read.torn import torn_at


class _Kept(NamedTuple):
    broken: np.ndarray  # (n,) uint8 as in `State.broken`
    plastic: np.ndarray  # (k,) as in `State.plastic`


def as_baked(
    scene: bpy.types.Scene, objects: list[bpy.types.Object], cloth: Cloth, state: State, x: np.ndarray
) -> State:
    """The state at rest of garments that are shown at x (n, 3) [m], relative to the cloth's origin: of those that play a bake with what
    that tells of the scene's frame, of others with what their pose holds apart."""
    broken, plastic = torn_at(cloth, x), state.plastic
    plastic = None if plastic is None else plastic.copy()
    for index, obj in enumerate(objects):
        kept, own = _kept(obj, scene.frame_current), slice(*cloth.garment_start[index : index + 2])
        if kept is None or len(kept.broken) != own.stop - own.start:
            continue
        broken[own] = kept.broken
        if plastic is not None:
            yielded = slice(*cloth.plastic.start[index : index + 2])
            if len(kept.plastic) == yielded.stop - yielded.start:
                plastic[yielded] = kept.plastic
    return state._replace(x=x, v=np.zeros_like(x), broken=broken, plastic=plastic)


def _kept(obj, frame) -> _Kept | None:
    """What the bake that a garment plays knows of a frame; None where it tells nothing."""
    path = played(obj)
    if path is None:
        return None
    try:
        header, lines, _ = read_journal(path.with_suffix(".journal"))
        if header is None or not lines:
            return None
        count = header["vertex_count"]
        # before and behind its frames a bake shows the first and the last of them
        at = min(max(frame - header["first_frame"], 0), len(lines) - 1)
        behind = state_bytes(count, lines[: at + 1]) - 8 * lines[at].plastic
        plastic = np.fromfile(path.with_suffix(".state"), "<f8", lines[at].plastic, offset=behind)
    except OSError:
        return None
    fits = len(plastic) == lines[at].plastic and np.isfinite(plastic).all()
    return _Kept(unpack_broken(lines[at].broken, count), plastic if fits else np.zeros(0))
