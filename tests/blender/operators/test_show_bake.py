# SPDX-License-Identifier: GPL-3.0-or-later
"""A new shape of a garment that plays a bake is seen at once, or a button beside it says why not."""

from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from taffeta.operators.live import simulation
from taffeta.operators.playback.bake_files import cache_file
from taffeta.operators.playback.cache_modifier import shows_bake
from taffeta.operators.read.modifier_stack import find_cache
from taffeta.panels import shown


@pytest.fixture
def sheet(saved, make, tmp_path):
    """A sheet that plays a bake of arbitrary positions, over a ball that it crosses."""
    make.collider(make.ball(radius=0.3, location=(0.1, 0.05, 0.1)))
    obj = make.cloth(make.grid(count=15, location=(0, 0, 0.34)), quality="PREVIEW", thickness=0.003)
    make.bake(obj, tmp_path)
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    saved.frame_set(make.first_frame)
    yield obj
    simulation.end()


@pytest.mark.parametrize("result", ["KEY", "REST"])
def test_a_kept_pose_is_seen_though_a_bake_plays(saved, make, sheet, result, capfd):
    baked = make.world(sheet)
    simulation.start(saved)
    for frame in range(make.first_frame + 1, make.first_frame + 4):
        saved.frame_set(frame)
    wanted = make.world(sheet)
    simulation.end()
    assert bpy.ops.taffeta.keep_pose(result=result) == {"FINISHED"}
    assert "Show the Bake plays it again" in capfd.readouterr().out
    assert np.allclose(make.world(sheet), wanted, atol=2e-5)
    assert find_cache(sheet).show_render and Path(cache_file(sheet)).exists()
    assert not bpy.ops.taffeta.show_mesh.poll() and bpy.ops.taffeta.show_bake() == {"FINISHED"}
    saved.frame_set(make.first_frame)
    assert np.array_equal(make.world(sheet), baked)


def test_an_untangled_garment_is_seen_though_a_bake_plays(saved, make, sheet, capfd):
    baked = make.world(sheet)
    assert bpy.ops.taffeta.untangle() == {"FINISHED"}
    assert "Show the Bake plays it again" in capfd.readouterr().out
    shown = make.world(sheet)
    assert np.abs(shown - (0, 0, 0.34)).max() < 1.0 and np.abs(shown - baked).max() > 1.0
    assert shown[:, 2].max() > 0.38  # pushed out of the ball
    assert shows_bake(sheet) is False


def test_what_was_not_untangled_goes_on_playing(saved, sheet):
    bpy.data.objects["Body"].location.z = -3.0
    bpy.context.view_layer.update()
    assert bpy.ops.taffeta.untangle() == {"FINISHED"}
    assert shows_bake(sheet) is True


def test_undo_plays_the_bake_again(sheet):
    name = sheet.name
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.taffeta.untangle()
    bpy.ops.ed.undo_push(message="Untangle")
    bpy.ops.ed.undo()
    assert shows_bake(bpy.data.objects[name]) is True


def test_mesh_and_bake_are_shown_in_turn(saved, make, sheet):
    baked = make.world(sheet)
    assert bpy.ops.taffeta.show_mesh.poll() and not bpy.ops.taffeta.show_bake.poll()
    bpy.ops.object.mode_set(mode="SCULPT")
    assert bpy.ops.taffeta.show_mesh() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.allclose(make.world(sheet)[:, 2], 0.34, atol=1e-6)
    assert bpy.ops.taffeta.show_bake() == {"FINISHED"} and np.array_equal(make.world(sheet), baked)
    simulation.start(saved)
    assert not bpy.ops.taffeta.show_bake.poll() and not bpy.ops.taffeta.show_mesh.poll()


def test_garments_without_a_bake_have_neither(saved, make):
    obj = make.cloth(make.grid())
    bpy.context.view_layer.objects.active = obj
    assert not bpy.ops.taffeta.show_mesh.poll() and not bpy.ops.taffeta.show_bake.poll()


class Layout:
    """Takes down texts and operators that are drawn."""

    def __init__(self):
        self.drawn = []

    def row(self, align):
        return self

    column = row

    def label(self, text, icon):
        self.drawn.append(text)

    def operator(self, idname, icon):
        self.drawn.append(idname)


def drawn(draw, is_header=False):
    layout = Layout()
    draw(SimpleNamespace(layout=layout) if is_header else layout, bpy.context)
    return layout.drawn


def test_who_sculpts_under_a_bake_is_told_above_the_mesh_and_in_the_panel(saved, sheet):
    assert drawn(shown.draw_header, True) == []
    assert drawn(shown.draw_shown)[0].startswith("Plays //Cloth.pc2")
    bpy.ops.object.mode_set(mode="SCULPT")
    assert drawn(shown.draw_header, True) == ["Plays a bake: the mesh you change is hidden", "taffeta.show_mesh"]
    assert drawn(shown.draw_shown)[-1] == "taffeta.show_mesh"
    bpy.ops.taffeta.show_mesh()
    assert drawn(shown.draw_header, True) == []
    assert drawn(shown.draw_shown)[-1] == "taffeta.show_bake"
    bpy.ops.object.mode_set(mode="OBJECT")
