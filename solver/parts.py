# SPDX-License-Identifier: GPL-3.0-or-later
"""A frame in parts, each a `FrameInput` of its own: what tears opens between two of them (`step.advance`)."""

from math import floor

import numpy as np

from .model import FieldNumbers, FrameInput, Report, State


def part_of(frame_input: FrameInput, part: int, count: int) -> FrameInput:
    """The part with this number, of so many equal ones of a frame. What moves goes where it goes in the frame, and straight
    within a part.
    """
    t0, t1 = part / count, (part + 1) / count
    changed = {"duration": frame_input.duration / count, "targets": _between(frame_input.targets, t0, t1)}
    changed["colliders"] = tuple(body._replace(x=_between(body.x, t0, t1)) for body in frame_input.colliders)
    changed["fields"] = tuple(
        field._replace(start=_mixed(field, t0), end=_mixed(field, t1)) for field in frame_input.fields
    )
    held = frame_input.attachments
    if held is not None:
        changed["attachments"] = held._replace(targets=_between(held.targets, t0, t1))
    if frame_input.rides is not None:
        changed["rides"] = tuple(ride and _ride(ride, t0, t1) for ride in frame_input.rides)
    return frame_input._replace(**changed)


def copied(state: State) -> State:
    """A state of its own arrays."""
    return State(*(None if array is None else array.copy() for array in state))


def put_back(state: State, before: State) -> None:
    """Let a state be what it was `before`. # output: state"""
    for array, was in zip(state, before, strict=True):
        if array is not None:
            array[:] = was


def together(reports: list[Report]) -> Report:
    """The report of a frame from those of its parts."""
    last = reports[-1]
    return last._replace(
        seconds={task: sum(report.seconds[task] for report in reports) for task in last.seconds},
        body_contacts=sum(report.body_contacts for report in reports),
        cloth_contacts=sum(report.cloth_contacts for report in reports),
        steps=sum(report.steps for report in reports),
        taken_again=tuple(dict.fromkeys(trouble for report in reports for trouble in report.taken_again)),
        let_in=tuple(dict.fromkeys(trouble for report in reports for trouble in report.let_in)),
    )


def _between(x, t0, t1):
    """(2, n, 3) where samples x (s + 1, n, 3) of a frame are at t0 and at t1."""
    return np.stack([_at(x, t) for t in (t0, t1)])


def _at(x, t):
    span = len(x) - 1
    sample = min(floor(t * span), max(span - 1, 0))
    share, last = t * span - sample, x[min(sample + 1, span)]
    return last if share >= 1.0 else x[sample] + share * (last - x[sample])


def _mixed(field, t):
    """`FieldNumbers` of a field at the time t in [0, 1] of the frame."""
    start, end = (tuple(map(np.asarray, numbers)) for numbers in (field.start, field.end))
    mixed = [a if t == 0.0 else b if t == 1.0 else a + t * (b - a) for a, b in zip(start, end, strict=True)]
    return FieldNumbers(*(tuple(value.tolist()) if value.ndim else float(value) for value in mixed))


def _ride(ride, t0, t1):
    """A ride in a part of the frame, in which its velocity is that of the part's middle."""
    span = len(ride.velocity)
    own = ride.velocity[min(int(0.5 * (t0 + t1) * span), span - 1)]
    place = np.stack([_at(ride.place, t) for t in (t0, t1)])
    before = int(np.ceil(t0 * span - 1e-9)) - 1
    return ride._replace(before=ride.before if before < 0 else ride.velocity[before], velocity=own[None], place=place)
