# SPDX-License-Identifier: GPL-3.0-or-later
"""A garment with a map, and the overlay that shows it."""

import bpy
import pytest
from taffeta.operators.overlay import marks, pictures


@pytest.fixture
def garment(make):
    """A cloth of 5 x 5 vertices whose group "half" is 1 at x > 0 and drives its mass from 0.1 to 0.5."""
    obj = make.cloth(make.grid(count=5))
    group = obj.vertex_groups.new(name="half")
    group.add([v.index for v in obj.data.vertices if v.co.x > 0.01], 1.0, "REPLACE")
    mass = obj.taffeta_cloth.mass
    mass.source, mass.vertex_group, mass.minimum, mass.maximum = "GROUP", "half", 0.1, 0.5
    bpy.context.view_layer.objects.active = obj
    yield obj
    bpy.context.window_manager.taffeta.overlay = "NONE"
    pictures.refresh(bpy.context)


@pytest.fixture
def show():
    """show(what): press the button; what is drawn then."""

    def press(what):
        assert bpy.ops.taffeta.overlay(show=what) == {"FINISHED"}
        return pictures.drawn()

    return press


@pytest.fixture
def switch():
    """switch(name, ...): turn these on, all else off; the marks that are drawn then."""

    def turn(*names):
        show = bpy.context.window_manager.taffeta_show
        for kind in marks.KINDS:
            setattr(show, kind, kind in names)
        bpy.context.view_layer.update()
        return marks.drawn()

    yield turn
    turn()
