# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about what keeps cloth off cloth, and finds bodies."""

from collections.abc import Iterator

from .problem import Problem, Shot

#: What each way by depth images lets through (Bargmann 2003, 5.7 and 7.1; measured in docs/layers.md)
LETS_THROUGH = {
    "DEPTH_SEQUENCES": "Cloth on Cloth is Depth Sequences, which sees along gravity alone: cloth beside cloth, folds that "
    "stand on edge and what slides fast pass through each other",
    "DEPTH_STICKS": "Cloth on Cloth is Depth Sticks, which sees no edge that meets an edge: cloth that crumples passes "
    "through itself, is pulled long there and shakes",
}
REMEDIES = {
    "DEPTH_SEQUENCES": "Set Cloth on Cloth to Pairs, which lets nothing through; a preview of layers that lie may stay as it is",
    "DEPTH_STICKS": "Set Cloth on Cloth to Pairs, which lets nothing through; a preview of a pile may stay as it is, and one of a fold "
    "with 20 Substeps or more",
}


def _by_depth(shot: Shot) -> Iterator[Problem]:
    """Cloth on cloth by depth images, where cloth can meet cloth: quick, and not certain."""
    sentence = LETS_THROUGH.get(shot.scene.taffeta.cloth_contact, "")
    meeting = len(shot.cloths) > 1 or any(obj.taffeta_cloth.self_collision for obj in shot.cloths)
    if not sentence or not meeting:
        return
    final = any(obj.taffeta_cloth.quality == "FINAL" for obj in shot.cloths)
    yield Problem(
        "WARNING" if final else "INFO",
        "",
        sentence,
        REMEDIES[shot.scene.taffeta.cloth_contact],
        ("taffeta.fix_cloth_contact",),
    )


def _searched(shot: Shot) -> Iterator[Problem]:
    """Bodies that are looked for in images which miss some of their triangles."""
    names = {"FULL_IMAGES": "Three Full Images", "GROWN": "Grown Image"}
    if (name := names.get(shot.scene.taffeta.body_search)) and shot.colliders:
        sentence = f"Body Search is {name}, which misses thin parts and steep sides: cloth trembles there, or lets them through"
        yield Problem(
            "WARNING", "", sentence, "Set it to Footprints in the Scene tab, Expert; the others are to compare with"
        )


CONTACT_CHECKS = (_by_depth, _searched)
