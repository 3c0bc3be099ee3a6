# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about the modifier that plays a bake, where it was changed by hand so that it shows something else."""

from collections.abc import Iterator

import bpy

from ...solver.cache import pc2
from ..playback import cache_modifier
from ..playback.owners import cache_file
from ..read.keyed import keyed
from ..read.modifier_stack import RIGS, find_cache, index_of, is_well_placed, own_modifiers, rebuilders_before_rig
from .problem import Problem, Shot

LEAST = 1e-4  # by which a number of the modifier differs from what it should be
SIMULATORS = frozenset(("CLOTH", "SOFT_BODY"))  # `shape_rows` tells of these


def played_otherwise(obj: bpy.types.Object) -> Iterator[tuple[str, str]]:
    """Pairs (sentence, remedy): what makes a garment that has a bake look otherwise than that. What is keyed or driven is meant so,
    and so is a bake that viewports do not show; of one that cannot be played at all `cache_modifier.trouble` tells. Reads 32 bytes.
    """
    cache = find_cache(obj)
    if cache is None or cache_modifier.trouble(obj):
        return
    meant = keyed(obj)
    if not cache.show_render and cache.path_from_id("show_render") not in meant:
        yield (
            f"{obj.name}: the camera icon of {cache.name} is off, so renders and exports show the garment as it was before the bake",
            "Turn it on in the Modifiers tab, or press Resume, which does that",
        )
    if behind := _rigs_behind(obj, cache):
        yield (
            f"{obj.name}: {behind[0].name} stands behind {cache.name} and moves the baked cloth a second time",
            f"Drag {cache.name} below {behind[-1].name}, or press Resume, which does that",
        )
    first = pc2.read_header(cache_file(obj)).first_frame
    for name, label, wanted in (
        ("factor", "Influence", 1.0),
        ("frame_start", "Frame Start", first),
        ("frame_scale", "Frame Scale", 1.0),
    ):
        value = getattr(cache, name)
        if abs(value - wanted) > LEAST and cache.path_from_id(name) not in meant:
            yield (
                f"{obj.name}: {label} of {cache.name} is {value:.6g}, and the bake plays as it was made with {wanted:.6g}",
                f"Set it to {wanted:.6g} in the Modifiers tab, or press Resume, which does that",
            )


def _rigs_behind(obj, cache) -> list[bpy.types.Modifier]:
    """What carries a garment along although that is in the bake, because it stands behind the cache and is on."""
    if is_well_placed(obj, cache) or not (cache.show_viewport or cache.show_render):
        return []
    own, beyond = own_modifiers(obj), {rig for _, rig in rebuilders_before_rig(obj)}
    return [
        other
        for other in obj.modifiers[index_of(obj, cache) + 1 :]
        if other.type in RIGS - SIMULATORS
        and (other.show_viewport or other.show_render)
        and other not in own
        and other.name not in beyond
    ]


def _otherwise(shot: Shot) -> Iterator[Problem]:
    """Caches whose modifier was changed by hand."""
    for obj in shot.cloths:
        for sentence, remedy in played_otherwise(obj) if obj.library is None else ():
            yield Problem("WARNING", obj.name, sentence, remedy)


PLAYED_CHECKS = (_otherwise,)
