# SPDX-License-Identifier: GPL-3.0-or-later
"""What is muted while a garment's own pose is read."""

import bpy
import numpy as np
import pytest
from seen import shown
from taffeta.operators.read import modifier_stack


def test_muted_shows_the_rig_and_restores_exactly(make, tmp_path):
    obj, unbaked = make.grid(), make.grid("Unbaked")
    wave = obj.modifiers.new("WAVE", "WAVE")
    wave.start_position_x = 0.3
    make.bake(obj, tmp_path)
    for kind in ("SUBSURF", "SOLIDIFY"):
        obj.modifiers.new(kind, kind)
    obj.modifiers["SOLIDIFY"].show_viewport = False
    unbaked.modifiers.new("SUBSURF", "SUBSURF")
    before = [(m.name, m.show_viewport, m.show_render) for o in (obj, unbaked) for m in o.modifiers]
    reference = make.grid("Reference")
    other = reference.modifiers.new("WAVE", "WAVE")
    other.start_position_x = 0.3
    with modifier_stack.muted([obj, unbaked]):
        assert np.array_equal(shown(obj, 7), shown(reference, 7))
        assert len(shown(unbaked, 7)) == len(unbaked.data.vertices)
    assert [(m.name, m.show_viewport, m.show_render) for o in (obj, unbaked) for m in o.modifiers] == before
    with pytest.raises(RuntimeError, match="sampling failed"), modifier_stack.muted([obj, unbaked]):
        raise RuntimeError("sampling failed")
    assert [(m.name, m.show_viewport, m.show_render) for o in (obj, unbaked) for m in o.modifiers] == before


def test_muted_survives_a_deleted_object_and_modifier(make, tmp_path):
    obj, gone = make.grid(), make.grid("Gone")
    for one in (obj, gone):
        make.bake(one, tmp_path, one.name)
        one.modifiers.new("SUBSURF", "SUBSURF")
    with modifier_stack.muted([obj, gone]):
        bpy.data.objects.remove(gone)
        obj.modifiers.remove(obj.modifiers["SUBSURF"])
    assert modifier_stack.find_cache(obj).show_viewport
