# SPDX-License-Identifier: GPL-3.0-or-later
"""A garment that is the active object."""

import bpy
import pytest


@pytest.fixture
def garment(make):
    obj = make.cloth(make.grid())
    bpy.context.view_layer.objects.active = obj
    yield obj
    session = bpy.context.window_manager.taffeta
    session.baking = False
    session.problems.clear()
    if bpy.context.object and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
