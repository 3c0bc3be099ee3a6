# SPDX-License-Identifier: GPL-3.0-or-later
"""Untangle Frames: bakes whose garments pass through each other come apart as corrections; counted by ipctk."""

import bpy
import numpy as np
import pytest
from crossings import count_crossings
from edit_mode import select
from layouts import draw
from taffeta.operators import command
from taffeta.operators.playback import cache_modifier
from taffeta.operators.read import correction
from taffeta.solver.cache import pc2

FIRST, LAST = 1, 10


def play(obj, x, folder):
    pc2.write(folder / f"{obj.name}.pc2", x.astype(np.float32), FIRST)
    obj.taffeta_cloth.enabled = True
    cache_modifier.attach(obj, folder / f"{obj.name}.pc2", FIRST)
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj


@pytest.fixture
def dipping(make, saved, tmp_path):
    """Two sheets, 3 mm apart; a bump of the upper one comes 9 mm down and goes. Turned, scaled and moved."""
    saved.frame_end = LAST
    sheets = [make.grid(name, count=21, size=0.2, location=(1.0, 2.0, 3.0)) for name in ("Lower", "Upper")]
    dip(sheets, tmp_path)
    return sheets


def dip(sheets, folder):
    """Bakes of the two."""
    depth = 0.009 * np.sin(np.linspace(-0.6, np.pi + 0.6, LAST - FIRST + 1))
    for obj, above in zip(sheets, (0.0, 0.0015), strict=True):
        obj.rotation_euler, obj.scale = (0.3, 0.2, 0.1), (2.0, 2.0, 2.0)
        rest = np.array([vertex.co for vertex in obj.data.vertices]) + [above, above, above]
        x = np.repeat(rest[None], len(depth), axis=0)
        if above:
            x[:, :, 2] -= 0.5 * np.maximum(depth, 0.0)[:, None] * np.exp(-((rest[:, :2] / 0.02) ** 2).sum(axis=1))
        play(obj, x, folder)


def crossing(make, sheets, frame, same=((), ())):
    """Counted by another program; same : vertices of the second sheet, and others that are one with them."""
    bpy.context.scene.frame_set(frame)
    x, triangles = [make.world(obj) for obj in sheets], []
    for obj in sheets:
        obj.data.calc_loop_triangles()
        triangles.append(np.array([t.vertices for t in obj.data.loop_triangles]) + len(x[0]) * len(triangles))
    one = np.arange(sum(len(places) for places in x))
    one[len(x[0]) + np.array(same[1], int)] = len(x[0]) + np.array(same[0], int)
    owner = np.repeat(np.arange(len(x)), [len(places) for places in x])
    return sum(count_crossings(np.concatenate(x), one[np.concatenate(triangles)], owner, []))


def test_every_frame_comes_apart_as_a_correction_of_each_garment(make, dipping, saved, capfd):
    before = [crossing(make, dipping, frame) for frame in range(FIRST, LAST + 1)]
    assert max(before) > 10 and before[0] == 0
    saved.frame_set(4)
    assert draw("TAFFETA_PT_corrections").buttons("taffeta.untangle_frames")
    assert bpy.ops.taffeta.untangle_frames() == {"FINISHED"}
    assert saved.frame_current == 4 and "nothing crosses" in capfd.readouterr().out
    assert not any(crossing(make, dipping, frame) for frame in range(FIRST, LAST + 1))
    made = [correction.corrections_of(obj) for obj in dipping]
    assert all(len(own) == 1 and own[0].name.startswith(f"Untangled {FIRST}-{LAST}") for own in made)
    for (modifier,) in made:
        modifier.node_group.nodes["Weight"].outputs[0].default_value = 0.0
    assert [crossing(make, dipping, frame) for frame in range(FIRST, LAST + 1)] == before


def test_tear_lines_that_hold_stay_closed(make, saved, tmp_path):
    saved.frame_end = LAST
    sheets = [make.grid(name, count=21, size=0.2, location=(1.0, 2.0, 3.0)) for name in ("Lower", "Upper")]
    bpy.context.view_layer.objects.active = upper = sheets[1]
    select(upper, lambda a, b: abs(a.x) + abs(b.x) < 1e-6)
    bpy.ops.taffeta.tear_mark()
    bpy.ops.object.mode_set(mode="OBJECT")
    dip(sheets, tmp_path)
    assert bpy.ops.taffeta.untangle_frames() == {"FINISHED"} and correction.corrections_of(upper)
    rest = np.array([vertex.co for vertex in upper.data.vertices])
    left, right = np.array([np.flatnonzero((rest == rest[k]).all(axis=1)) for k in range(441, len(rest))]).T
    for frame in range(FIRST, LAST + 1):
        assert not crossing(make, sheets, frame, (left, right))
        x = make.world(upper)
        assert np.array_equal(x[left], x[right]) and len(left) == 21


def test_a_seam_that_closes_on_the_way_crosses_nothing(make, saved, tmp_path, capfd):
    """Two panels that are sewn in frame 3: from there on their rims lie on each other, and are no tangle."""
    saved.frame_end = LAST
    panels = make.grid("Left", count=5, size=0.1), make.grid("Right", count=5, size=0.1, location=(0.11, 0.0, 0.0))
    rest = np.concatenate([make.world(panel) for panel in panels])
    faces = np.array([face.vertices for face in panels[0].data.polygons])
    for panel in panels:
        bpy.data.objects.remove(panel)
    threads = [(4 + 5 * k, 25 + 5 * k) for k in range(5)]
    coat = make.mesh("Coat", rest, [*faces.tolist(), *(faces + 25).tolist()], threads)
    x = np.repeat(rest[None], LAST - FIRST + 1, axis=0)
    x[2:, 25:, 0] -= x[0, 25, 0] - x[0, 4, 0]
    x[:, :, 2] = 0.5 * np.abs(x[:, :, 0] - 0.05)
    play(coat, x, tmp_path)
    assert bpy.ops.taffeta.untangle_frames() == {"FINISHED"}
    assert "nothing passes through anything" in capfd.readouterr().out and not correction.corrections_of(coat)


def test_one_garment_alone_is_left_where_it_does_not_cross_itself(dipping, saved, capfd):
    dipping[0].select_set(False)
    assert bpy.ops.taffeta.untangle_frames() == {"FINISHED"}
    assert "Upper, frames 1 to 10: nothing passes through anything" in capfd.readouterr().out
    assert not correction.corrections_of(dipping[1])


def test_what_it_cannot_do_is_told(make, dipping, saved, tmp_path):
    with pytest.raises(RuntimeError, match="choose frames of these"):
        bpy.ops.taffeta.untangle_frames(frame_start=50, frame_end=60)
    longer = make.grid("Longer", count=5)
    rest = np.array([vertex.co for vertex in longer.data.vertices])
    play(longer, np.repeat(rest[None], 20, axis=0), tmp_path)
    with pytest.raises(RuntimeError, match="Longer and Lower are baked over different frames; choose a Start and End"):
        bpy.ops.taffeta.untangle_frames(frame_end=20)
    unbaked = make.cloth(make.grid("Unbaked", count=5))
    unbaked.select_set(True)
    with pytest.raises(RuntimeError, match="Unbaked plays no bake; bake it, then correct it"):
        bpy.ops.taffeta.untangle_frames()
    assert not any(correction.corrections_of(obj) for obj in dipping)


def test_bake_command_untangles_what_it_has_baked(make, saved, capfd):
    """By the field, in which a bump of one sheet stays through the other as it starts."""
    for name, above in (("Lower", 0.0), ("Upper", 0.004)):
        obj = make.cloth(make.grid(name, count=21, size=0.4), thickness=0.002)
        for vertex in obj.data.vertices:
            vertex.co.z = above * (1.0 - 3.0 * np.exp(-((vertex.co.xy.length / 0.05) ** 2)))
    saved.use_gravity, saved.taffeta.cloth_contact = False, "VELOCITY_FIELD"
    bpy.ops.wm.save_mainfile()
    assert command.run(["bake", bpy.data.filepath, "--frames", "1-4", "--untangle-frames", "--save"]) == 0
    assert "2 garments, frames 1 to 4" in capfd.readouterr().out
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    sheets = [bpy.data.objects[name] for name in ("Lower", "Upper")]
    assert not any(crossing(make, sheets, frame) for frame in range(1, 5))
    for (modifier,) in map(correction.corrections_of, sheets):
        modifier.node_group.nodes["Weight"].outputs[0].default_value = 0.0
    assert all(crossing(make, sheets, frame) for frame in range(1, 5)), "the bake is as it was"
    assert command.run(["bake", bpy.data.filepath, "--untangle-frames", "--wedge", "Upper.mass=0.1,0.2"]) == 1
    assert "--untangle-frames corrects the shot's own bake" in capfd.readouterr().err
