# SPDX-License-Identifier: GPL-3.0-or-later
"""The substeps of a frame, at whose ends cloth is kept off cloth; `small_steps` parts them."""

from ..model import REFERENCE_FRAME
from .predict import Interval

AIR_SUBSTEPS = 2  # that the air acts for at once where they are not parted: it changes little in one


def substep_count(duration, settings):
    """How many substeps a frame of `duration` seconds gets, so that a substep is about as long at any frame rate."""
    return max(1, round(settings.substeps * duration / REFERENCE_FRAME))


def substeps_of(duration, settings, first):
    """The substeps of a frame of `duration` seconds, numbered from `first` on."""
    count = substep_count(duration, settings)
    *slow, _ = runs(count, -(-count // (1 if settings.small_steps else AIR_SUBSTEPS)))
    slow_dt = duration / len(slow)
    return [
        Interval(first + k, k / count, (k + 1) / count, duration / count, slow_dt if k in slow else 0.0)
        for k in range(count)
    ]


def runs(count, parts):
    """Split `count` substeps into `parts` runs, or into as many as there are: the first substep of each, and the end."""
    parts = min(parts, count)
    return [*sorted({-(-part * count // parts) for part in range(parts)}), count]
