# SPDX-License-Identifier: GPL-3.0-or-later
"""Corrections after the bake: the frame looks as it was sculpted, the frames beyond its fade as they were baked, without
Taffeta, too; what cannot be corrected is refused with a sentence, and nothing changes."""

import bpy
import numpy as np
import pytest
from layouts import draw
from seen import shown, shown_without_taffeta
from taffeta.operators.bake import job as jobs
from taffeta.operators.checks import problem_list
from taffeta.operators.playback import cache_modifier
from taffeta.operators.read import correction, modifier_stack
from taffeta.solver.cache import pc2

FIRST, FRAME, LAST = 1, 8, 20
NEAR = 1e-5  # [m] a correction's exactness


def about_x(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array(((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c)))


def garment(make, folder):
    """A waved sheet, with a loose vertex, whose bake turns it a quarter from FIRST to LAST; its baked frames."""
    obj = make.grid(count=7, location=(1.0, -2.0, 3.0))
    obj.rotation_euler = (0.3, 0.2, 0.1)
    obj.data.vertices.add(1)
    rest = np.array([vertex.co for vertex in obj.data.vertices])
    rest[:, 2] += 0.1 * np.sin(5.0 * rest[:, 0] + 2.0 * rest[:, 1])
    turns = np.linspace(0.0, np.pi / 2, LAST - FIRST + 1)
    x = np.array([rest @ about_x(turn).T for turn in turns]).astype(np.float32)
    pc2.write(folder / "Cloth.pc2", x, FIRST)
    obj.taffeta_cloth.enabled = True
    cache_modifier.attach(obj, folder / "Cloth.pc2", FIRST)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    return obj, x


def sculpt(obj, frame, moved, **fade):
    """Correct a frame by `moved` (n, 3), which a brush would leave in the shape key; returns the object's shape."""
    bpy.context.scene.frame_set(frame)
    assert bpy.ops.taffeta.correct_frame(**fade) == {"FINISHED"}
    sculpted = bpy.context.object
    assert sculpted is not obj and sculpted.mode == "SCULPT" and not obj.visible_get()
    key = sculpted.active_shape_key
    assert key.name == "Correction"
    x = np.empty(3 * len(key.data), np.float32)
    key.data.foreach_get("co", x)
    key.data.foreach_set("co", x + np.asarray(moved, np.float32).ravel())
    wanted = x.reshape(-1, 3) + moved
    beside = draw("TAFFETA_PT_correcting")  # in the tab where it was begun
    assert [name for name, _ in beside.properties()] == ["before", "after"] and beside.buttons("taffeta.correct_done")
    assert bpy.ops.taffeta.correct_done() == {"FINISHED"}
    assert bpy.context.object is obj and obj.visible_get() and len(bpy.data.objects) == 1
    return wanted


def bumps(obj, seed, size=0.1):
    return np.random.default_rng(seed).normal(scale=size, size=(len(obj.data.vertices), 3))


def test_the_frame_is_as_sculpted_and_those_beyond_the_fade_as_baked(make, scene, tmp_path):
    obj, x = garment(make, tmp_path)
    obj.modifiers.new("Subdivision", "SUBSURF").show_viewport = False
    mesh = [tuple(vertex.co) for vertex in obj.data.vertices]
    moved = bumps(obj, 1)
    wanted = sculpt(obj, FRAME, moved, before=2, after=4)
    assert scene.frame_current == FRAME
    assert [m.name for m in obj.modifiers] == [modifier_stack.CACHE_NAME, f"Correction {FRAME}", "Subdivision"]
    assert np.abs(shown(obj, FRAME) - wanted).max() < NEAR
    for frame in (FIRST, FRAME - 2, FRAME + 4, LAST):
        assert np.array_equal(shown(obj, frame), x[frame - FIRST])
    # half faded, turned with the cloth; but the loose vertex, which no face turns
    turn = about_x((np.pi / 2) / (LAST - FIRST) * 2)
    halfway = shown(obj, FRAME + 2) - x[FRAME + 2 - FIRST]
    assert np.abs(halfway - 0.5 * moved @ turn.T)[:-1].max() < NEAR
    assert np.abs(halfway - 0.5 * moved)[-1].max() < NEAR
    assert obj.data.shape_keys is None and mesh == [tuple(vertex.co) for vertex in obj.data.vertices]


def sewn(make, folder):
    """Two panels that lie on each other along a line, as the sides of a welded seam do, and fold along it more and more; its baked
    frames, and the vertices of that line on both sides."""
    panels = make.grid(location=(-0.5, 0.0, 0.0)), make.grid(location=(0.5, 0.0, 0.0))
    rest = np.concatenate(
        [np.array([panel.matrix_world @ vertex.co for vertex in panel.data.vertices]) for panel in panels]
    )
    faces, half = np.array([face.vertices for face in panels[0].data.polygons]), len(rest) // 2
    for panel in panels:
        bpy.data.objects.remove(panel)
    obj = make.mesh("Cloth", rest, [*faces.tolist(), *(faces + half).tolist()])
    fold = np.linspace(0.2, 1.0, LAST - FIRST + 1)[:, None]
    played = np.repeat(rest[None], LAST - FIRST + 1, axis=0)
    played[:, :, 2] = fold * (np.abs(rest[:, 0]) + 0.3 * rest[:, 0] + 0.2 * np.sin(6.0 * rest[:, 1]))
    pc2.write(folder / "Cloth.pc2", played.astype(np.float32), FIRST)
    cloth = make.cloth(obj)
    cache_modifier.attach(cloth, folder / "Cloth.pc2", FIRST)
    bpy.context.view_layer.objects.active = cloth
    cloth.select_set(True)
    left, right = np.flatnonzero(rest[:, 0] == 0.0).reshape(2, -1)
    return cloth, left, right


def test_no_correction_opens_a_seam(make, scene, tmp_path):
    """Where two vertices are at one place, as in a welded seam, a closed zip and a tear line that holds, they stay so."""
    obj, left, right = sewn(make, tmp_path)
    scene.frame_start, scene.frame_end = FIRST, LAST

    def closed():
        found = [shown(obj, frame) for frame in range(FIRST, LAST + 1)]
        return all(np.array_equal(x[left], x[right]) for x in found)

    x = np.array([vertex.co for vertex in obj.data.vertices])
    assert np.array_equal(x[left], x[right]) and closed() and len(left) == 5
    moved = np.exp(-4.0 * (x**2).sum(axis=1))[:, None] * (0.1, 0.05, 0.3)
    wanted = sculpt(obj, FRAME, moved, before=4, after=4)
    assert np.abs(shown(obj, FRAME) - wanted).max() < NEAR and closed()
    assert bpy.ops.taffeta.smooth_in_space(radius=0.3) == {"FINISHED"} and closed()
    assert bpy.ops.taffeta.smooth_in_time() == {"FINISHED"} and closed()
    make.collider(make.ball(radius=0.4, location=(0.05, 0.0, 0.1)))
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.taffeta.push_out(depth=0.5) == {"FINISHED"} and closed()
    assert len(correction.corrections_of(obj)) == 4
    for _ in range(4):
        assert bpy.ops.taffeta.correction_remove(index=0) == {"FINISHED"}
    assert not [attribute.name for attribute in obj.data.attributes if "Correction" in attribute.name]


def test_overlapping_corrections_add_and_are_weighed_muted_deleted(make, tmp_path):
    obj, x = garment(make, tmp_path)
    sculpt(obj, FRAME, bumps(obj, 1), before=4, after=4)
    before = shown(obj, FRAME + 2)
    moved = bumps(obj, 2)
    wanted = sculpt(obj, FRAME + 2, moved, before=4, after=4)
    assert np.abs(wanted - (before + moved)).max() < NEAR
    assert np.abs(shown(obj, FRAME + 2) - wanted).max() < NEAR
    first, second = correction.corrections_of(obj)
    weight = second.node_group.nodes["Weight"].outputs[0]
    weight.default_value = 0.25
    weight.keyframe_insert("default_value", frame=FRAME)
    assert bpy.ops.taffeta.correction_fade(index=1, before=3, after=3) == {"FINISHED"}  # leaves the weight's keys
    assert np.abs(shown(obj, FRAME + 2) - (before + 0.25 * moved)).max() < NEAR
    listed = draw("TAFFETA_PT_corrections")
    assert [options["index"] for options, _ in listed.buttons("taffeta.correction_remove")] == [0, 1]
    assert [name for name, _ in listed.properties()] == ["name", "default_value"] * 2
    assert bpy.ops.taffeta.correction_mute(index=1) == {"FINISHED"}
    assert np.array_equal(shown(obj, FRAME + 2), before) and not second.show_render
    assert bpy.ops.taffeta.correction_fade(index=0, before=4, after=2) == {"FINISHED"}
    assert np.array_equal(shown(obj, FRAME + 2), x[FRAME + 2 - FIRST])
    assert bpy.ops.taffeta.correction_fade(index=0, before=4, after=8) == {"FINISHED"}
    assert not np.array_equal(shown(obj, FRAME + 2), x[FRAME + 2 - FIRST])  # no key of the fade before is left
    for _ in range(2):
        assert bpy.ops.taffeta.correction_remove(index=0) == {"FINISHED"}
    assert np.array_equal(shown(obj, FRAME), x[FRAME - FIRST])
    assert not bpy.data.node_groups and not bpy.data.actions
    assert not [attribute.name for attribute in obj.data.attributes if "Correction" in attribute.name]


def test_plays_without_taffeta_and_exports(make, saved, tmp_path):
    obj, _ = garment(make, tmp_path)
    wanted = sculpt(obj, FRAME, bumps(obj, 1))
    played = [shown(obj, frame) for frame in range(FIRST, LAST + 1)]
    assert np.array_equal(shown_without_taffeta(obj, FIRST, LAST, tmp_path), played)

    target = tmp_path / "cloth.obj"
    assert bpy.ops.taffeta.export(filepath=str(target), object="Cloth", frame_start=FRAME, frame_end=FRAME) == {
        "FINISHED"
    }
    bpy.context.scene.frame_set(FRAME)
    matrix = np.array(obj.matrix_world)
    bpy.ops.wm.obj_import(filepath=str(tmp_path / f"cloth_{FRAME:04d}.obj"))
    back = make.world(bpy.context.selected_objects[0])
    wanted = wanted[:-1]  # Blender's importer leaves out the loose vertex
    assert np.abs(back - (wanted @ matrix[:3, :3].T + matrix[:3, 3])).max() < NEAR


def test_corrections_outlive_other_bakes_and_a_freed_one(make, saved, tmp_path):
    obj, x = garment(make, tmp_path)
    moved = bumps(obj, 1)
    sculpt(obj, FRAME, moved)
    pc2.write(tmp_path / "Cloth.pc2", x + np.float32(0.5), FIRST)  # baked again: the same, elsewhere
    rig = obj.modifiers.new("Armature", "ARMATURE")
    cache_modifier.attach(obj, tmp_path / "Cloth.pc2", FIRST)
    assert [m.name for m in obj.modifiers] == [rig.name, modifier_stack.CACHE_NAME, f"Correction {FRAME}"]
    assert np.abs(shown(obj, FRAME) - (x[FRAME - FIRST] + 0.5 + moved)).max() < NEAR
    cache_modifier.show_bake(obj, False)
    assert not obj.modifiers[2].show_viewport and obj.modifiers[2].show_render
    cache_modifier.detach(obj)  # as Free does: the mesh is not baked cloth
    assert not obj.modifiers[1].show_viewport and not obj.modifiers[1].show_render
    cache_modifier.attach(obj, tmp_path / "Cloth.pc2", FIRST)
    assert np.abs(shown(obj, FRAME) - (x[FRAME - FIRST] + 0.5 + moved)).max() < NEAR
    with modifier_stack.muted([obj]):  # as a bake reads the garment's own pose
        assert not obj.modifiers[2].show_viewport


def test_undo_takes_a_correction_back(make, saved, tmp_path):
    obj, x = garment(make, tmp_path)
    bpy.ops.ed.undo_push(message="before")
    sculpt(obj, FRAME, bumps(obj, 1))
    bpy.ops.ed.undo_push(message="corrected")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Cloth"]
    assert not correction.corrections_of(obj) and np.array_equal(shown(obj, FRAME), x[FRAME - FIRST])
    bpy.ops.ed.redo()
    obj = bpy.data.objects["Cloth"]
    assert len(correction.corrections_of(obj)) == 1 and not np.array_equal(shown(obj, FRAME), x[FRAME - FIRST])


def test_what_cannot_be_corrected_is_refused_in_a_sentence(make, scene, tmp_path, monkeypatch):
    obj, _ = garment(make, tmp_path)

    def refused(words, operator=bpy.ops.taffeta.correct_frame):
        with pytest.raises(RuntimeError, match=words):
            operator()
        assert not correction.corrections_of(obj)

    scene.frame_set(LAST + 1)
    refused(f"frame {LAST + 1} is not baked; go to one from {FIRST} to {LAST}")
    scene.frame_set(FRAME)
    cache_modifier.show_bake(obj, False)
    refused("press Show the Bake")
    cache_modifier.show_bake(obj, True)
    obj.hide_viewport = True
    refused("is hidden or disabled in viewports")
    obj.hide_viewport = False
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "running", lambda: True)
        refused("A simulation is under way")
    assert len(bpy.data.objects) == 1

    assert bpy.ops.taffeta.correct_frame() == {"FINISHED"}
    sculpted = bpy.context.object
    bpy.ops.object.mode_set(mode="OBJECT")
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "running", lambda: True)
        refused("A simulation is under way", bpy.ops.taffeta.correct_done)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide()
    refused("undo what changed their number", bpy.ops.taffeta.correct_done)
    obj.hide_set(False)
    bpy.context.view_layer.objects.active = obj
    refused(f"select {sculpted.name}, and press Done or Cancel")
    bpy.context.view_layer.objects.active = sculpted
    assert bpy.ops.taffeta.correct_cancel() == {"FINISHED"}
    assert bpy.context.object is obj and len(bpy.data.objects) == len(bpy.data.meshes) == 1

    assert bpy.ops.taffeta.correct_frame() == {"FINISHED"}
    assert bpy.ops.taffeta.correct_done() == {"FINISHED"}  # nothing was changed
    assert not correction.corrections_of(obj)
    cache_modifier.detach(obj)
    refused("plays no bake; bake it, then correct it")


@pytest.mark.parametrize("by", ["script", "outliner"])
def test_cancel_takes_the_object_away_whose_garment_was_deleted(make, scene, tmp_path, by):
    obj, _ = garment(make, tmp_path)
    scene.frame_set(FRAME)
    bpy.ops.taffeta.correct_frame()
    sculpted = bpy.context.object
    name = sculpted.name
    bpy.ops.object.mode_set(mode="OBJECT")
    if by == "script":
        bpy.data.objects.remove(obj)
    else:  # Blender keeps what something looks at until the file is saved
        for collection in obj.users_collection:
            collection.objects.unlink(obj)
        bpy.context.view_layer.objects.active = sculpted
    beside = draw("TAFFETA_PT_correcting")
    assert f"{name} corrects was deleted" in " ".join(beside.texts())
    with pytest.raises(RuntimeError, match=f"The garment that {name} corrects was deleted; undo that, or press Cancel"):
        bpy.ops.taffeta.correct_done()
    assert bpy.context.object.name == name, "what was sculpted is still there"
    assert bpy.ops.taffeta.correct_cancel() == {"FINISHED"}
    assert name not in bpy.data.objects and not scene.objects


def test_a_correction_of_another_mesh_is_left_out(make, tmp_path):
    obj, x = garment(make, tmp_path)
    sculpt(obj, FRAME, bumps(obj, 1))
    obj.data.vertices.add(1)
    pc2.write(tmp_path / "more.pc2", np.concatenate((x, x[:, :1]), axis=1), FIRST)
    cache_modifier.attach(obj, tmp_path / "more.pc2", FIRST)
    assert np.array_equal(shown(obj, FRAME)[:-1], x[FRAME - FIRST])


def test_a_weight_that_is_set_on_a_duplicate_is_its_own(make, saved, tmp_path):
    """A moment after it was duplicated: the panel draws the node group's own number, which both had until one was baked."""
    obj, _ = garment(make, tmp_path)
    sculpt(obj, FRAME, bumps(obj, 1), before=4, after=4)
    assert bpy.ops.object.duplicate() == {"FINISHED"}
    twin, trees = bpy.context.object, [modifier.node_group for modifier in correction.corrections_of(obj)]
    problem_list.show(saved)
    (own,) = correction.corrections_of(twin)
    own.node_group.nodes["Weight"].outputs[0].default_value = 0.25
    assert [modifier.node_group for modifier in correction.corrections_of(obj)] == trees
    assert trees[0].nodes["Weight"].outputs[0].default_value == 1.0
    problem_list.show(saved)
    assert own.node_group.nodes["Weight"].outputs[0].default_value == 0.25


@pytest.mark.parametrize("linked", [False, True], ids=["copied mesh", "linked mesh"])
def test_what_is_done_to_a_duplicates_corrections_leaves_the_originals(make, saved, tmp_path, linked):
    obj, _ = garment(make, tmp_path)
    sculpt(obj, FRAME, bumps(obj, 1), before=4, after=4)
    before = np.array([shown(obj, frame) for frame in range(FIRST, LAST + 1)])
    assert bpy.ops.object.duplicate(linked=linked) == {"FINISHED"}
    twin = bpy.context.object
    assert twin != obj and np.array_equal([shown(twin, frame) for frame in range(FIRST, LAST + 1)], before)
    assert bpy.ops.taffeta.correction_mute(index=0) == {"FINISHED"}
    assert bpy.ops.taffeta.correction_fade(index=0, before=1, after=1) == {"FINISHED"}

    def untouched():
        cloth = bpy.data.objects["Cloth"]
        return np.array_equal([shown(cloth, frame) for frame in range(FIRST, LAST + 1)], before)

    assert not np.array_equal(shown(twin, FRAME), before[FRAME - FIRST]) and untouched()
    cache_modifier.show_bake(obj, False)  # which looks at its corrections again
    cache_modifier.show_bake(obj, True)
    assert untouched(), "muted for the duplicate alone"
    assert bpy.ops.taffeta.correction_mute(index=0) == {"FINISHED"}
    faded = shown(twin, FRAME - 2)
    assert not np.array_equal(faded, before[FRAME - 2 - FIRST]), "its fade is its own"
    assert bpy.ops.taffeta.correction_remove(index=0) == {"FINISHED"}
    assert untouched(), "what it reads of the mesh is there"
