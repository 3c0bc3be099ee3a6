# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth by more, or by less, than pairs of triangles. Few scenes have that: what does it is loaded where one asks for it."""

from .contact.frame import CLOTH_TIME


def prepare_alternative(cloth, state, frame_input, settings):
    """What keeps cloth from cloth in a frame besides pairs, or instead of them; None where pairs alone do."""
    if settings.cloth_contact == "PAIRS":
        return None
    if settings.cloth_contact.startswith("DEPTH"):
        from .depth_layers.respond import prepare

        return prepare(cloth, frame_input, settings)
    from .velocity_field.avoid import prepare

    return prepare(cloth, frame_input, settings, state)


def untangle(cloth, state, frame_input, stopwatch):
    """Take apart what crosses where a frame ends, before it is shown and the next one begins. # output: state.x"""
    from .untangle.in_frame import untangle_frame

    with stopwatch.during(CLOTH_TIME):
        untangle_frame(cloth, state.x, frame_input.colliders)
    twin, place = cloth.twins.T
    state.x[twin] = state.x[place]
