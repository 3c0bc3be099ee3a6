# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake as an animator meets it: pressed, stopped, resumed, changed, played."""

import gc
import json
import struct
import sys
import time

import bpy
import numpy as np
import pytest
from taffeta.operators.bake import job, run
from taffeta.operators.bake.console import Console
from taffeta.operators.bake.order import notices, quality_of, read_order, settings_of
from taffeta.operators.checks.scale_rows import gravity_problem
from taffeta.operators.playback import bake_files
from taffeta.operators.read import modifier_stack, sampling
from taffeta.solver.broad_phase import patches
from taffeta.solver.model import BROAD_PHASES


@pytest.fixture
def shot(saved):
    """A saved scene without air, so that free fall is exact."""
    saved.taffeta.air_density = 0.0
    return saved


@pytest.fixture
def sheet(shot, make):
    return make.cloth(make.grid(count=5, location=(0, 0, 2)))


def played(make, obj, frame):
    """World vertices at a frame, as Blender shows them."""
    bpy.context.scene.frame_set(frame)
    return make.world(obj)


def file_of(obj):
    return bake_files.cache_file(obj)


def bits(obj):
    """Positions and states of a bake, bit for bit."""
    path = file_of(obj)
    return path.read_bytes(), path.with_suffix(".state").read_bytes()


def fallen(seconds, substep, gravity=9.81):
    """Semi-implicit Euler from rest: g t (t + dt) / 2, which tends to g t^2 / 2."""
    return 0.5 * gravity * seconds * (seconds + substep)


@pytest.mark.parametrize("fps, base", [(24, 1.0), (24, 1.001), (25, 1.0), (60, 1.0)])
def test_free_fall_takes_the_frame_rate_exactly(shot, sheet, make, fps, base):
    shot.render.fps, shot.render.fps_base = fps, base
    start = make.world(sheet)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    duration = base / fps
    substeps = max(1, round(10 * duration * 24))
    drop = start[:, 2] - played(make, sheet, 10)[:, 2]
    assert drop == pytest.approx(fallen(9 * duration, duration / substeps), rel=1e-4)
    assert played(make, sheet, 1) == pytest.approx(start, abs=1e-7)


@pytest.mark.parametrize("dynamics", ["IMPLICIT_THETA", "VERLET"])
def test_chosen_dynamics_and_model_reach_the_solver(shot, sheet, make, dynamics):
    """Both are of order 2: g t^2 / 2 to the digit, where XPBD is g t dt / 2 lower; and the bake goes on after a stop."""
    shot.taffeta.dynamics, shot.taffeta.theta, sheet.taffeta_cloth.model = dynamics, 0.5, "SPRINGS"
    assert settings_of(shot, "FINAL").dynamics == dynamics
    assert read_order(shot).garments[0].model == "SPRINGS"
    start = make.world(sheet)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    drop = start[:, 2] - played(make, sheet, 10)[:, 2]
    assert drop == pytest.approx(0.5 * 9.81 * (9 / 24) ** 2, rel=1e-5)
    whole = bits(sheet)
    assert bpy.ops.taffeta.bake(from_frame=6) == {"FINISHED"}
    assert bits(sheet)[0] == whole[0], "nothing but the state lives from frame to frame"


def test_dynamics_that_would_never_end_are_refused_in_a_sentence(shot, sheet):
    shot.taffeta.dynamics, sheet.taffeta_cloth.stretch_stiffness.value = "EULER", 1e9
    with pytest.raises(RuntimeError, match=r"Euler needs [\d,]+ steps in 1/24 s to stay stable: set Dynamics to XPBD"):
        bpy.ops.taffeta.bake()


def test_a_bake_tells_of_time_stretching(shot, make):
    """A script and the command line have no list of what Preflight found."""
    make.cloth(make.grid(count=5))
    shot.render.frame_map_new = 200
    order = read_order(shot)
    assert [text for _, text in notices(shot, order) if text.startswith("Time Stretching is on")]
    assert not [text for _, text in notices(shot, order, asked=True) if "Stretching" in text], "Preflight has said so"


def test_centimetre_scene_falls_by_the_gravity_it_shows(shot, make):
    """Unit scale 0.01 and -981 units/s2: the Scene tab shows -9.81 m/s2, and a metre is 100 units."""
    obj = make.cloth(make.grid(count=5, size=100.0, location=(0, 0, 500)))
    shot.unit_settings.scale_length = 0.01
    order = read_order(shot)
    assert [text for _, text in notices(shot, order) if "0.0981" in text], "a script is told by the bake"
    assert not [text for _, text in notices(shot, order, asked=True) if "0.0981" in text], "Preflight has said so"
    shot.gravity.z = -981.0
    assert gravity_problem(shot) is None
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    drop = 500.0 - played(make, obj, 10)[:, 2]
    assert drop == pytest.approx(100.0 * fallen(9 / 24, 1 / 240), rel=1e-4)


def test_a_moving_object_does_not_carry_free_cloth(shot, sheet, make):
    """The cache holds object space, the cloth falls straight down in world space."""
    for frame, x in ((1, 0.0), (10, 3.0)):
        sheet.location.x = x
        sheet.rotation_euler.z = x
        sheet.keyframe_insert("location", frame=frame)
        sheet.keyframe_insert("rotation_euler", frame=frame)
    start = played(make, sheet, 1)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    for frame in (2, 6, 10):
        t = (frame - 1) / 24
        expected = start - [0, 0, fallen(t, 1 / 240)]
        assert played(make, sheet, frame) == pytest.approx(expected, abs=2e-5)


def test_pinned_vertices_follow_the_rig(shot, sheet, make):
    sheet.vertex_groups.new(name="Waist").add(range(5), 1.0, "REPLACE")
    sheet.taffeta_cloth.pin.source = "GROUP"
    sheet.taffeta_cloth.pin.vertex_group = "Waist"
    key = [sheet.shape_key_add(name=name) for name in ("Basis", "Shift")][1]
    for point in key.data:
        point.co.x += 1.0
    for frame, value in ((1, 0.0), (10, 0.5)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    start = played(make, sheet, 1)
    poses = {frame: played(make, sheet, frame) for frame in (4, 10)}
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    for frame, pose in poses.items():
        x = played(make, sheet, frame)
        assert x[:5] == pytest.approx(pose[:5], abs=1e-5)
        assert (x[20:, 2] < start[20:, 2] - 0.01).all(), "the free edge falls"


def test_subdivision_after_the_cache_still_subdivides(shot, sheet, make):
    sheet.modifiers.new("Subdivision", "SUBSURF").levels = 1
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert [m.name for m in sheet.modifiers] == [modifier_stack.CACHE_NAME, "Subdivision"]
    assert len(played(make, sheet, 10)) == 81


def test_the_users_frame_and_modifiers_come_back(shot, sheet):
    sheet.modifiers.new("Subdivision", "SUBSURF")
    shot.frame_set(7, subframe=0.25)
    bpy.ops.taffeta.bake()
    assert (shot.frame_current, shot.frame_subframe) == (7, 0.25)
    assert all(modifier.show_viewport for modifier in sheet.modifiers)


def test_report_lies_beside_the_cache_and_in_the_panel(shot, sheet):
    bpy.ops.taffeta.bake()
    path = file_of(sheet)
    assert path.name == "Cloth.pc2" and path.parent.name == "taffeta_cache"
    assert sheet.taffeta_cloth.cache_path == "//taffeta_cache/Cloth.pc2"
    report = json.loads(path.with_suffix(".report.json").read_text())
    assert report == json.loads(sheet.taffeta_cloth.report_json)
    assert report["complete"] and report["frames"] == 10 and report["frames_simulated"] == 9
    assert report["milliseconds_per_frame"] == pytest.approx(sum(report["milliseconds"].values()), abs=0.05)
    assert abs(report["worst_stretch"]) < 1e-3 and report["worst_stretch_frame"] in range(2, 11)
    assert "crossings" not in report or report["crossings"] == 0


def stopped_after(scene, frame, **options):
    """Bake as a window would, but stop as Esc does once `frame` is on disk; returns the job."""
    baking = job.Job(read_order(scene, **options))
    job.claim(baking)

    try:
        with sampling.posed(scene, *run._objects(baking)):
            order = baking.order
            inputs = sampling.frame_inputs(order.scene, order.garment_objects, order.bodies, order.frames)
            steps = job.steps(baking, inputs)
            while baking.frame < frame:
                next(steps)
            baking.stop.set()
            steps.close()
    finally:
        baking.end()
        run.finish(baking)
        job.release()
    return baking


def test_resumed_bake_has_the_same_bits(shot, sheet, make):
    make.collider(make.ball(radius=0.6, location=(0, 0, 1.2)))
    bpy.ops.taffeta.bake()
    whole = bits(sheet)
    baking = stopped_after(shot, 5)
    assert len(bits(sheet)[0]) < len(whole[0]) and not baking.complete
    assert run.outcome(baking)[-1] == ("WARNING", "Stopped: frames 1 to 5 are kept; Resume goes on from there")
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert bits(sheet) == whole
    report = json.loads(sheet.taffeta_cloth.report_json)
    assert report["frames_kept"] == 5 and report["frames_simulated"] == 5


def test_resume_of_a_whole_bake_simulates_nothing(shot, sheet):
    bpy.ops.taffeta.bake()
    before, report = bits(sheet), sheet.taffeta_cloth.report_json
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert bits(sheet) == before and sheet.taffeta_cloth.report_json == report


def test_resume_after_a_change_keeps_the_frames_before_it(shot, sheet):
    """Wind that is keyed from frame 6 on is a change from frame 6 on; the old frames are kept aside."""
    shot.taffeta.air_density = 1.2
    bpy.ops.taffeta.bake()
    old = file_of(sheet).read_bytes()
    for frame, speed in ((5, 0.0), (6, 9.0)):
        shot.taffeta.wind = (speed, 0, 0)
        shot.taffeta.keyframe_insert("wind", frame=frame)
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    new, sample = file_of(sheet).read_bytes(), 25 * 12
    assert new[32 : 32 + 5 * sample] == old[32 : 32 + 5 * sample]
    assert new[32 + 5 * sample :] != old[32 + 5 * sample :]
    assert json.loads(sheet.taffeta_cloth.report_json)["frames_kept"] == 5
    assert file_of(sheet).with_name("Cloth.bak1.pc2").read_bytes() == old


def test_rebake_from_a_frame_keeps_what_was_before(shot, sheet):
    bpy.ops.taffeta.bake()
    old = file_of(sheet).read_bytes()
    shot.gravity.z = 5.0
    assert bpy.ops.taffeta.bake(from_frame=7) == {"FINISHED"}
    new, sample = file_of(sheet).read_bytes(), 25 * 12
    assert new[: 32 + 6 * sample] == old[: 32 + 6 * sample] and new[32 + 6 * sample :] != old[32 + 6 * sample :]
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert file_of(sheet).read_bytes() == new, "the frames before 7 were kept on purpose"


def test_from_frame_without_frames_before_it_is_a_sentence(shot, sheet):
    with pytest.raises(RuntimeError, match="bake from frame 1 on, or all of it"):
        bpy.ops.taffeta.bake(from_frame=7)


def test_a_new_bake_sets_the_old_one_aside(shot, sheet):
    bpy.ops.taffeta.bake()
    old = file_of(sheet).read_bytes()
    shot.gravity.z = -1.0
    bpy.ops.taffeta.bake()
    assert file_of(sheet).with_name("Cloth.bak1.pc2").read_bytes() == old != file_of(sheet).read_bytes()


def test_preroll_plays_the_animation_before_the_shot(shot, sheet, make):
    """Pinned cloth that moves 1 unit a frame since frame -4; the cache starts with frame 1."""
    sheet.taffeta_cloth.pin.value = 1.0
    for frame in (-4, 6):
        sheet.location.x = frame
        sheet.keyframe_insert("location", frame=frame)
    free = make.cloth(make.grid("Free", count=3, location=(50, 0, 9)))
    shot.taffeta.preroll = 5
    poses = [played(make, sheet, frame) for frame in (1, 6)]
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert [played(make, sheet, frame) for frame in (1, 6)] == [pytest.approx(pose, abs=1e-5) for pose in poses]
    assert 9 - played(make, free, 1)[:, 2] == pytest.approx(fallen(5 / 24, 1 / 240), rel=1e-3)
    header = struct.unpack("<12siiffi", file_of(free).read_bytes()[:32])
    assert header[2] == 9 and header[5] == 10
    assert json.loads(free.taffeta_cloth.report_json)["frames"] == 10


def test_one_final_garment_makes_the_bake_final(shot, sheet, make):
    other = make.cloth(make.grid("Other"), quality="PREVIEW")
    shot.taffeta.substeps, shot.taffeta.substeps_preview = 40, 10
    both, alone = (settings_of(shot, quality_of(cloths)) for cloths in ([sheet, other], [other]))
    assert both.substeps == 40 and both.small_steps == 1.0
    assert alone.substeps == 10 and alone.small_steps == 0.5


def test_settings_reach_the_solver(shot, sheet):
    shot.taffeta.constant_force = (1, 2, 3)
    shot.taffeta.seed = 7
    settings = settings_of(shot, "FINAL")
    assert settings.constant_force == (1.0, 2.0, 3.0) and settings.seed == 7 and settings.air_density == 0.0


def test_a_velocity_field_bakes_and_the_bake_is_stale_when_the_choice_changes(shot, sheet, make):
    make.cloth(make.grid("Other", location=(0.0, 0.0, sheet.location.z - 0.05))).taffeta_cloth.pin.value = 1.0
    shot.taffeta.cloth_contact, shot.taffeta.field_cell = "VELOCITY_FIELD", 2.0
    settings = settings_of(shot, "FINAL")
    assert (settings.cloth_contact, settings.field_cell, settings.field_isotropic) == ("VELOCITY_FIELD", 2.0, False)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    first = bits(sheet)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert bits(sheet) == first
    shot.taffeta.field_isotropic = True
    assert settings_of(shot, "FINAL").field_isotropic
    shot.taffeta.cloth_contact = "PAIRS"
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert bits(sheet) != first


def test_the_broad_phase_changes_no_bit_and_makes_no_bake_stale(shot, sheet, make, monkeypatch):
    make.cloth(make.grid("Other", location=(0.0, 0.0, sheet.location.z - 0.05))).taffeta_cloth.pin.value = 1.0
    used, baked = [], []
    for name, overlaps in patches.OVERLAPS.items():
        monkeypatch.setitem(patches.OVERLAPS, name, lambda *about, n=name, f=overlaps: used.append(n) or f(*about))
    for name in BROAD_PHASES:
        shot.taffeta.broad_phase = name
        if baked:
            assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"} and not used, "all frames are good already"
        assert bpy.ops.taffeta.bake() == {"FINISHED"}
        assert set(used) == {name}
        used.clear()
        baked.append(bits(sheet))
    assert baked[0] == baked[1]


def test_one_object_can_be_baked_alone(shot, sheet, make):
    other = make.cloth(make.grid("Other"))
    assert bpy.ops.taffeta.bake(object="Other") == {"FINISHED"}
    assert modifier_stack.find_cache(other) and not modifier_stack.find_cache(sheet)
    with pytest.raises(RuntimeError, match="Body is not a Taffeta Cloth"):
        bpy.ops.taffeta.bake(object="Body")


def test_a_copy_never_writes_into_the_originals_bake(shot, sheet):
    bpy.ops.taffeta.bake()
    before = bits(sheet)
    twin = sheet.copy()
    twin.data = sheet.data.copy()
    shot.collection.objects.link(twin)
    twin.location.x = 5.0
    bpy.ops.taffeta.bake(resume=True, object=twin.name)
    assert bits(sheet) == before and file_of(twin) != file_of(sheet)
    assert twin.taffeta_cloth.cache_path != sheet.taffeta_cloth.cache_path


def test_a_renamed_garment_resumes_its_bake(shot, sheet):
    bpy.ops.taffeta.bake()
    before = bits(sheet)
    sheet.name = "Poncho"
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert file_of(sheet).name == "Cloth.pc2" and bits(sheet) == before


def in_window(scene, until=lambda state: False, each=lambda state: None):
    """The worker and the ticks of a bake in a window, without the window: (job, error of a tick)."""
    baking = job.Job(read_order(scene))
    job.claim(baking)
    job.start(baking)
    sampler, error = run.sampled(baking), ""
    while baking.ended_at is None:
        if until(baking):
            baking.stop.set()
        if sampler is not None and not baking.stop.is_set():
            try:
                next(sampler)
            except StopIteration:
                sampler = None
            except ValueError as problem:
                error = str(problem)
                baking.stop.set()
        each(baking)
        time.sleep(0.002)
    run.finish(baking)
    job.release()
    assert gc.isenabled() and sys.getswitchinterval() == pytest.approx(0.005), "Python is as it was"
    return baking, error


def test_worker_beside_the_window_gives_the_same_bits(shot, sheet, make):
    """And between its ticks the user finds the scene as it was."""
    body = make.collider(make.ball(radius=0.6, location=(0, 0, 1.2)))
    body.keyframe_insert("location", frame=1)
    bpy.ops.taffeta.bake()
    whole = bits(sheet)
    body.hide_viewport = True
    shot.frame_set(8)
    seen = []
    in_window(shot, each=lambda state: seen.append((shot.frame_current, body.hide_viewport, shown(sheet))))
    assert bits(sheet) == whole
    assert set(seen) == {(8, True, True)}


def shown(obj):
    return all(modifier.show_viewport for modifier in obj.modifiers)


def test_stopping_the_worker_keeps_the_frames_done(shot, sheet):
    shot.frame_end = 400
    baking, _ = in_window(shot, until=lambda state: state.frame >= 20)
    assert 20 <= baking.frame < 400 and not baking.complete and not baking.error
    assert struct.unpack("<i", file_of(sheet).read_bytes()[28:32])[0] == baking.frame


def test_two_bakes_at_once_are_refused(shot, sheet):
    shot.frame_end = 300
    told = []

    def press_again(state):
        if not told:
            with pytest.raises(RuntimeError, match="A bake is under way"):
                bpy.ops.taffeta.bake()
            told.append(True)
            state.stop.set()

    in_window(shot, each=press_again)
    assert told
    shot.frame_end = 3
    assert bpy.ops.taffeta.bake() == {"FINISHED"}


def test_deleting_the_garment_in_the_middle_is_a_sentence(shot, sheet):
    shot.frame_end = 500

    def delete(state):
        if "Cloth" in bpy.data.objects and state.frame > 3:
            bpy.data.objects.remove(bpy.data.objects["Cloth"])

    queue_bytes = job.QUEUE_BYTES
    try:
        job.QUEUE_BYTES = 1  # sample only a few frames ahead, so that the deletion is met
        baking, error = in_window(shot, each=delete)
    finally:
        job.QUEUE_BYTES = queue_bytes
    assert error == "Cloth was deleted during the bake; undo that and bake again"
    assert baking.frame > 3 and baking.order.paths[0].stat().st_size > 32


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fault_of_ours_in_the_worker_is_told_and_the_next_bake_works(shot, sheet, monkeypatch):
    from taffeta.solver import step

    def broken(cloth, state, frame_input, frame, settings, *images):
        if frame == 4:
            raise ZeroDivisionError
        return advance(cloth, state, frame_input, frame, settings, *images)

    advance = step.advance
    monkeypatch.setattr(step, "advance", broken)
    baking, _ = in_window(shot)
    level, text = run.outcome(baking)[-1]
    assert level == "ERROR" and "a fault of Taffeta" in text and "frames 1 to 3 are kept" in text
    monkeypatch.undo()
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}


def test_a_simulation_that_blows_up_names_the_garment_and_keeps_the_frames_before(shot, sheet, make, monkeypatch):
    """With the solver's own sentence, which knows garments by number only."""
    from taffeta.solver import step

    def blow_up(cloth, state, frame_input, frame, settings, *images):
        if frame == 6:
            state.x[-1] = np.nan
            step._check_finite(cloth, state.x, state.v, frame)
        return advance(cloth, state, frame_input, frame, settings, *images)

    advance = step.advance
    make.cloth(make.grid("Scarf", count=4, location=(9, 0, 0)))
    monkeypatch.setattr(step, "advance", blow_up)
    with pytest.raises(RuntimeError, match="Scarf blew up in frame 6 .* Frames 1 to 5 are kept"):
        bpy.ops.taffeta.bake()
    assert struct.unpack("<i", file_of(sheet).read_bytes()[28:32])[0] == 5
    assert np.isfinite(np.frombuffer(file_of(sheet).read_bytes()[32:], "<f4")).all()


def test_without_tqdm_progress_is_a_line_a_second(shot, sheet, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    console = Console(job.Job(read_order(shot)))
    console.said -= 2.0
    baking = job.Job(read_order(shot))
    baking.status = "Frame 3 of 10, 7 s left"
    console(baking)
    console(baking)
    console.close()
    assert capsys.readouterr().out == "Taffeta: Frame 3 of 10, 7 s left\n"


def test_unregistering_stops_the_worker(shot, sheet):
    shot.frame_end = 5000
    baking = job.Job(read_order(shot))
    job.claim(baking)
    job.start(baking)
    job.stop_and_wait()
    assert baking.ended_at is not None and not job.running()


def test_an_unsaved_file_bakes_into_the_temporary_folder(scene, make, capfd):
    obj = make.cloth(make.grid())
    scene.frame_end = 3
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    path = file_of(obj)
    assert path.is_file() and path.is_absolute()
    assert f"The file is not saved: the bake goes to {path.parent}" in capfd.readouterr().out
    bpy.ops.taffeta.free(object="Cloth")


def test_a_relative_bake_moves_with_its_folder(shot, sheet, make, tmp_path):
    bpy.ops.taffeta.bake()
    expected = played(make, sheet, 10)
    bpy.ops.wm.save_mainfile()
    moved = tmp_path.with_name(tmp_path.name + "_moved")
    tmp_path.rename(moved)
    bpy.ops.wm.open_mainfile(filepath=str(moved / "shot.blend"))
    assert played(make, bpy.data.objects["Cloth"], 10) == pytest.approx(expected, abs=0)


def test_a_bake_that_the_file_does_not_know_is_found_again(shot, sheet, tmp_path):
    """A farm baked it, or Blender was killed before the file was saved."""
    bpy.ops.wm.save_mainfile()
    bpy.ops.taffeta.bake()
    before = bits(sheet)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    obj = bpy.data.objects["Cloth"]
    assert obj.taffeta_cloth.cache_path == "//taffeta_cache/Cloth.pc2" and not modifier_stack.find_cache(obj)
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert modifier_stack.find_cache(obj) and bits(obj) == before


def test_undo_after_a_bake_takes_playback_away_and_no_file(shot, sheet, make):
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.taffeta.bake()
    expected, files = played(make, sheet, 10), bits(sheet)
    bpy.ops.ed.undo_push(message="After")
    while bpy.ops.ed.undo.poll() and modifier_stack.find_cache(bpy.data.objects["Cloth"]):
        bpy.ops.ed.undo()
    obj = bpy.data.objects["Cloth"]
    assert modifier_stack.find_cache(obj) is None and not obj.taffeta_cloth.cache_path
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert played(make, obj, 10) == pytest.approx(expected, abs=0) and bits(obj) == files


@pytest.mark.parametrize("resume", [False, True])
def test_a_file_saved_under_another_name_leaves_the_bake_of_the_first_alone(shot, sheet, tmp_path, resume):
    """Two shots in one folder, one saved from the other, with the same names in them."""
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    first = {path.name: path.read_bytes() for path in (tmp_path / "taffeta_cache").iterdir()}
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "other.blend"))
    bpy.context.scene.gravity[2] *= 0.5
    assert bpy.ops.taffeta.bake(resume=resume) == {"FINISHED"}
    assert sheet.taffeta_cloth.cache_path == "//taffeta_cache/Cloth-2.pc2"
    assert {name: (tmp_path / "taffeta_cache" / name).read_bytes() for name in first} == first
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    obj = bpy.data.objects["Cloth"]
    assert obj.taffeta_cloth.cache_path == "//taffeta_cache/Cloth.pc2" and file_of(obj).exists()


def test_a_preview_is_called_one(shot, sheet, make, capfd):
    """So that nobody takes it for the bake that counts."""
    sheet.taffeta_cloth.quality = "PREVIEW"
    shot.frame_end = 2
    bpy.ops.taffeta.bake()
    printed = capfd.readouterr().out
    assert "Preview quality, 4 substeps" in printed and "choose Final" in printed
    assert "Baked Cloth in Preview quality: frames 1 to 2" in printed
    assert json.loads(sheet.taffeta_cloth.report_json)["quality"] == "PREVIEW"
    make.cloth(make.grid("Other", count=5, location=(3, 0, 2)))
    bpy.ops.taffeta.bake()
    printed = capfd.readouterr().out
    assert "Cloth: baked as Final, not Preview, together with Other" in printed and "Preview quality" not in printed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ""),
        ({"resume": True}, "Go on"),
        ({"from_frame": 7}, "before 7"),
        ({"selected": True}, "selected cloths alone"),
    ],
)
def test_each_button_that_bakes_has_a_tooltip_of_its_own(shot, options, words):
    told = bpy.context.window_manager.operator_properties_last("taffeta.bake")
    for name in ("resume", "from_frame", "selected"):
        told.property_unset(name)
    for name, value in options.items():
        setattr(told, name, value)
    kind = bpy.types.TAFFETA_OT_bake
    assert (words in kind.description(bpy.context, told)) if words else not kind.description(bpy.context, told)
