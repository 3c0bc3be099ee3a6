# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about bodies that hang on cloth: in a bake that is not simulated yet where they are looked at."""

from collections.abc import Iterator

from ..playback import cache_modifier
from ..read.carriers import hung_on
from .problem import Problem, Shot


def _hanging(shot: Shot) -> Iterator[Problem]:
    """Bodies that cloth moves or shapes, by a parent, a constraint or a modifier."""
    for body in shot.colliders:
        carriers = set(hung_on([body])) - {body}
        for cloth in (obj for obj in shot.cloths if obj in carriers):
            if cache_modifier.played(cloth) is not None:
                yield Problem(
                    "INFO",
                    body.name,
                    f"{body.name} hangs on {cloth.name}: a bake with {cloth.name} in it sees it as it is without the simulation",
                    f"Bake {cloth.name} first, and then the others by Bake Selected Only",
                )
            else:
                yield Problem(
                    "WARNING",
                    body.name,
                    f"{body.name} hangs on {cloth.name}, by a parent, constraint or modifier: the bake sees it as it is without the simulation",
                    f"Let it hang on what carries {cloth.name}, or take Taffeta Collider off it",
                )


HANGING_CHECKS = (_hanging,)
