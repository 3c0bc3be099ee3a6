# SPDX-License-Identifier: GPL-3.0-or-later
"""The queue: takes are settings under a name, each is baked to an entry of its own, and the settings come back."""

import bpy
import pytest
from taffeta.operators import command
from taffeta.operators.bake import job as jobs
from taffeta.operators.playback import bake_files, cache_modifier
from taffeta.operators.read import snapshot
from taffeta.solver.cache import about, recipe
from taffeta.solver.cache.frames import cached_frames


@pytest.fixture
def sheet(saved, make):
    """A saved scene with a sheet in wind, and two takes of it in the queue: light, frames 1 to 4; heavy, 1 to 3."""
    saved.frame_end = 4
    saved.taffeta.wind = (0.0, 5.0, 0.0)
    obj = make.cloth(make.grid(count=4, location=(0, 0, 2)), mass=0.05)
    bpy.ops.taffeta.take_add(label="light")
    obj.taffeta_cloth.mass.value, saved.frame_end = 0.5, 3
    bpy.ops.taffeta.take_add(label="heavy")
    obj.taffeta_cloth.mass.value, saved.frame_end = 0.2, 9
    saved.taffeta.wind = (0.0, 0.0, 0.0)
    return obj


def entries(obj):
    return {bake.about.label: bake for bake in bake_files.bakes_of(bpy.context.scene, [obj])[0]}


def test_every_take_is_baked_to_an_entry_of_its_own(sheet, saved):
    assert bpy.ops.taffeta.takes_bake() == {"FINISHED"}
    found = entries(sheet)
    assert {label: len(bake.frames) for label, bake in found.items()} == {"light": 4, "heavy": 3}
    assert cache_modifier.played(sheet) == found["heavy"].path
    assert [take.outcome for take in saved.taffeta_takes] == ["Baked frames 1 to 4", "Baked frames 1 to 3"]
    now = sheet.taffeta_cloth.mass.value, saved.frame_end, *saved.taffeta.wind
    assert now == (pytest.approx(0.2), 9, 0.0, 0.0, 0.0), "as before"
    queued = found["light"].path.with_suffix(".state").read_bytes()
    assert bpy.ops.taffeta.take_show(index=0) == {"FINISHED"}
    assert sheet.taffeta_cloth.mass.value == pytest.approx(0.05) and saved.taffeta.wind[1] == 5.0
    assert bpy.ops.taffeta.bake(label="by hand") == {"FINISHED"}
    assert entries(sheet)["by hand"].path.with_suffix(".state").read_bytes() == queued, "a take is what it was made of"


def test_a_take_that_cannot_be_baked_does_not_hold_up_the_others(sheet, saved):
    saved.taffeta_takes[0].settings = saved.taffeta_takes[0].settings.replace(
        '"mass": {', '"mass": {"source": "GROUP", ', 1
    )
    saved.taffeta_takes[0].settings = saved.taffeta_takes[0].settings.replace(
        '"source": "UNIFORM"', '"source": "GROUP"'
    )
    assert bpy.ops.taffeta.takes_bake() == {"CANCELLED"}
    assert set(entries(sheet)) == {"heavy"}
    first, second = saved.taffeta_takes
    assert "no vertex group is chosen" in first.outcome and second.outcome == "Baked frames 1 to 3"
    saved.taffeta_takes[0].settings = "[1, 2"
    assert bpy.ops.taffeta.takes_bake() == {"CANCELLED"}
    assert "cannot be read; remove it" in first.outcome and second.outcome == "Baked frames 1 to 3"


def test_a_stop_ends_the_queue(sheet, saved, monkeypatch):
    run = jobs.steps

    def stopped(job, inputs):
        for frame in run(job, inputs):
            job.stop.set()
            yield frame

    monkeypatch.setattr(jobs, "steps", stopped)
    assert bpy.ops.taffeta.takes_bake() == {"CANCELLED"}
    assert [take.outcome for take in saved.taffeta_takes] == ["Stopped: frames 1 to 1 are kept", ""]
    assert sheet.taffeta_cloth.mass.value == pytest.approx(0.2)


def test_a_queue_is_shortened_and_says_when_it_is_empty(sheet, saved):
    with pytest.raises(RuntimeError, match="has 2 takes, not 6"):
        bpy.ops.taffeta.take_remove(index=5)
    for _ in range(2):
        assert bpy.ops.taffeta.take_remove(index=0) == {"FINISHED"}
    with pytest.raises(RuntimeError, match="The queue is empty"):
        bpy.ops.taffeta.takes_bake()
    sheet.taffeta_cloth.enabled = False
    with pytest.raises(RuntimeError, match="has no Taffeta Cloth"):
        bpy.ops.taffeta.take_add()


def test_a_take_holds_every_setting(scene, make):
    """All that an animator can choose is in it, with what it points to; nothing of what a bake notes."""
    obj = make.cloth(make.grid())
    image, worn = bpy.data.images.new("hem", 4, 4), bpy.data.collections.new("Worn")
    obj.taffeta_cloth.mass.source, obj.taffeta_cloth.mass.image = "IMAGE", image
    obj.taffeta_cloth.collision_collection = worn
    obj.taffeta_cloth.cache_path, scene.taffeta.dynamics = "//a.pc2", "VERLET"
    text = recipe.text_of(snapshot.take(scene, [obj]))
    obj.taffeta_cloth.mass.source, obj.taffeta_cloth.mass.image = "UNIFORM", None
    obj.taffeta_cloth.collision_collection, scene.taffeta.dynamics = None, "XPBD"
    obj.taffeta_cloth.cache_path = "//b.pc2"
    snapshot.apply(recipe.parse(text), scene, [obj])
    assert recipe.text_of(snapshot.take(scene, [obj])) == text
    assert (obj.taffeta_cloth.mass.image, obj.taffeta_cloth.collision_collection) == (image, worn)
    assert scene.taffeta.dynamics == "VERLET" and obj.taffeta_cloth.cache_path == "//b.pc2"


def test_the_command_line_bakes_the_queue(sheet, tmp_path, capfd):
    bpy.ops.wm.save_mainfile()
    blend = str(tmp_path / "shot.blend")
    assert command.run(["bake", blend, "--queue", "--resume"]) == 1
    assert command.run(["bake", blend, "--queue"]) == 0
    folder = tmp_path / "taffeta_cache"
    found = {about.read(path).label: cached_frames(path) for path in folder.glob("*.pc2")}
    assert found == {"light": range(1, 5), "heavy": range(1, 4)}
    bpy.context.scene.taffeta_takes[0].settings = "{}"
    bpy.ops.wm.save_mainfile()
    assert command.run(["bake", blend, "--queue"]) == 1
    assert "These takes are not whole: light; bake them again" in capfd.readouterr().err
    bpy.context.scene.taffeta_takes.clear()
    bpy.ops.wm.save_mainfile()
    assert command.run(["bake", blend, "--queue"]) == 1


def test_a_take_follows_what_it_is_of(sheet, saved, make, tmp_path):
    """Also where another garment has the name by now, and in the file that is opened again."""
    body = make.collider(make.ball(location=(9, 9, 9)), aura=0.01)
    bpy.ops.taffeta.take_add(label="with a body")
    body.taffeta_collider.aura = 0.02
    sheet.name, body.name = "Skirt", "Hero"
    other = make.cloth(make.grid(count=4, location=(5, 0, 2)), mass=0.7)
    assert other.name == "Cloth" and bpy.ops.taffeta.take_show(index=0) == {"FINISHED"}
    assert sheet.taffeta_cloth.mass.value == pytest.approx(0.05) and other.taffeta_cloth.mass.value == pytest.approx(
        0.7
    )
    assert bpy.ops.taffeta.take_show(index=2) == {"FINISHED"}
    assert body.taffeta_collider.aura == pytest.approx(0.01) and sheet.taffeta_cloth.mass.value == pytest.approx(0.2)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert bpy.ops.taffeta.take_show(index=1) == {"FINISHED"}
    assert bpy.data.objects["Skirt"].taffeta_cloth.mass.value == pytest.approx(0.5)


def test_a_take_keeps_nothing_in_the_file_that_was_deleted(sheet):
    """A new garment of that name was called Cloth.001, and takes, bakes and maps go by names."""
    sheet.select_set(True)
    bpy.ops.object.delete()
    assert "Cloth" not in bpy.data.objects


def test_a_take_of_what_is_gone_gives_nothing_to_another_garment_of_the_name(sheet, saved, make):
    other = make.cloth(make.grid("Other", count=4, location=(5, 0, 2)), mass=0.7)
    bpy.ops.taffeta.take_add(label="of both")
    bpy.data.objects.remove(sheet)
    other.name = "Cloth"
    with pytest.raises(RuntimeError, match="a Cloth that is gone, and Other is called Cloth now; add the take anew"):
        bpy.ops.taffeta.take_show(index=2)
    assert other.taffeta_cloth.mass.value == pytest.approx(0.7)


def test_takes_know_duplicates_from_each_other(sheet, saved):
    """A duplicate bears its original's mark until a take is of both."""
    twin = sheet.copy()
    saved.collection.objects.link(twin)
    bpy.ops.taffeta.take_show(index=0)
    assert (sheet.taffeta_cloth.mass.value, twin.taffeta_cloth.mass.value) == pytest.approx((0.05, 0.2))
    bpy.ops.taffeta.take_add(label="of both")
    sheet.name, twin.name = "Left", "Cloth"
    sheet.taffeta_cloth.mass.value = twin.taffeta_cloth.mass.value = 0.9
    assert bpy.ops.taffeta.take_show(index=2) == {"FINISHED"}
    assert (sheet.taffeta_cloth.mass.value, twin.taffeta_cloth.mass.value) == pytest.approx((0.05, 0.2))


def test_a_garment_that_is_renamed_while_the_queue_is_baked_gets_its_settings_back(sheet, saved):
    def rename(scene, _):
        sheet.name = "Skirt"

    bpy.app.handlers.frame_change_post.append(rename)
    try:
        bpy.ops.taffeta.takes_bake()
    finally:
        bpy.app.handlers.frame_change_post.remove(rename)
    assert sheet.name == "Skirt" and sheet.taffeta_cloth.mass.value == pytest.approx(0.2)


def test_a_take_of_a_garment_that_was_renamed_is_refused_and_told(sheet, saved, tmp_path, capfd):
    """One of an older release knows names alone. It was baked with the settings of the moment, under the take's name."""
    sheet.name = "Skirt"
    for take in saved.taffeta_takes:
        take.members.clear()
    assert bpy.ops.taffeta.takes_bake() == {"CANCELLED"}
    told = "This take has settings for Cloth, and there is no such cloth any more; give it that name again, or add the take anew"
    assert all(take.outcome.startswith(told) for take in saved.taffeta_takes)
    assert not entries(sheet) and sheet.taffeta_cloth.mass.value == pytest.approx(0.2)
    with pytest.raises(RuntimeError, match="there is no such cloth any more"):
        bpy.ops.taffeta.take_show(index=0)
    bpy.ops.wm.save_mainfile()
    assert command.run(["bake", str(tmp_path / "shot.blend"), "--queue"]) == 1
    assert "there is no such cloth any more" in capfd.readouterr().err
    bpy.data.objects["Skirt"].name = "Cloth"
    assert bpy.ops.taffeta.takes_bake() == {"FINISHED"}


def test_what_a_take_points_to_and_what_is_called_otherwise_now_stays_and_is_told(sheet, saved, make):
    body, worn = make.collider(make.ball(location=(9, 9, 9)), aura=0.01), bpy.data.collections.new("Worn")
    saved.collection.children.link(worn)
    sheet.taffeta_cloth.collision_collection = worn
    saved.taffeta_takes.clear()
    bpy.ops.taffeta.take_add(label="of both")
    worn.name = "Bodies"
    bpy.data.objects.remove(body)
    assert bpy.ops.taffeta.takes_bake() == {"FINISHED"}
    assert sheet.taffeta_cloth.collision_collection == worn, "None let it meet every body"
    assert saved.taffeta_takes[0].outcome == (
        "Baked frames 1 to 9; there is no collider Body any more, whose settings are lost; "
        "Collision Collection was Worn, which is not there any more; it stays as it is"
    )


def test_a_file_that_is_saved_while_the_queue_is_baked_has_the_shots_own_settings(sheet, saved, tmp_path, monkeypatch):
    """A night's queue that Blender does not outlive would leave those of a take, and the animator's were nowhere."""
    run, places = jobs.steps, []

    def saving(job, inputs):
        for frame in run(job, inputs):
            if job.frame == 2:
                places.append(str(tmp_path / f"middle_{len(places)}.blend"))
                bpy.ops.wm.save_as_mainfile(filepath=places[-1], copy=True)
                assert sheet.taffeta_cloth.mass.value != pytest.approx(0.2), "the take's again, which is baked"
            yield frame

    monkeypatch.setattr(jobs, "steps", saving)
    assert bpy.ops.taffeta.takes_bake() == {"FINISHED"}
    assert len(places) == 2 and set(entries(sheet)) == {"light", "heavy"}
    for place in places:
        bpy.ops.wm.open_mainfile(filepath=place)
        scene, obj = bpy.context.scene, bpy.data.objects["Cloth"]
        now = obj.taffeta_cloth.mass.value, scene.frame_end, *scene.taffeta.wind
        assert now == (pytest.approx(0.2), 9, 0.0, 0.0, 0.0)
