# SPDX-License-Identifier: GPL-3.0-or-later
"""Who draws the bodies' images of a bake: chosen, tried out, lost. The bake is the same bits whoever does."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import bpy
import numpy as np
import pytest
import taffeta
from solids import torus
from taffeta.gpu_ldi import context, motion
from taffeta.gpu_ldi.context import NoGraphics
from taffeta.operators.bake import images, job, run
from taffeta.operators.bake.order import read_order
from taffeta.operators.checks.cache_rows import stale
from taffeta.operators.live import simulation
from taffeta.operators.playback import bake_files
from taffeta.panels.choices import BODY_IMAGES
from taffeta.panels.scene import report_lines
from taffeta.presets.scenes import figure
from taffeta.solver.contact.body import ahead


@pytest.fixture
def card(monkeypatch):
    """Images (how many triangles were to be drawn) that the graphics card has drawn; without a card, the test is left out."""
    try:
        context.ensure_context()
    except NoGraphics as reason:
        pytest.skip(str(reason))
    drawn, draw = [], motion.MotionRenderer.draw

    def counted(self, packed, raster):
        assert threading.current_thread() is threading.main_thread()
        drawn.append(len(packed.triangles))
        return draw(self, packed, raster)

    monkeypatch.setattr(motion.MotionRenderer, "draw", counted)
    return drawn


@pytest.fixture
def shot(saved, make):
    """A sheet that falls on a ball which turns, eight frames."""
    saved.frame_end = 8
    ball = make.collider(make.ball(radius=0.3, location=(0.1, 0.05, 0.0)))
    ball.rotation_euler.z = 0.0
    ball.keyframe_insert("rotation_euler", frame=1)
    ball.rotation_euler.z = 0.5
    ball.keyframe_insert("rotation_euler", frame=8)
    make.cloth(make.grid(count=15, location=(0, 0, 0.32)))
    return saved


def garment():
    return next(obj for obj in bpy.context.scene.objects if obj.taffeta_cloth.enabled)


def bake(scene, who):
    """Bake by one side; returns the bytes of the frames, what they were made of included, and the report's words."""
    scene.taffeta.body_images = who
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    return bits(), told()


def bits():
    path = bake_files.cache_file(garment())
    return [path.with_suffix(suffix).read_bytes() for suffix in (".pc2", ".state", ".journal")]


def told():
    return json.loads(garment().taffeta_cloth.report_json)["body_images"]


def walking_poncho(make):
    bpy.ops.taffeta.scene_add(name="poncho")
    return 3


def turning_torus(make):
    bpy.ops.taffeta.scene_add(name="rotation")
    return 5


def fingers(make):
    """A sheet that falls on the spread fingers of a hand that rises: thinner than a pixel."""
    points, triangles = figure.mesh()
    points = (points - figure.WRIST) @ np.stack([figure.ARM, -figure.THUMB, -figure.PALM]).T
    hand = make.collider(make.mesh("Hand", points, triangles), aura=0.002)
    hand.keyframe_insert("location", frame=1)
    hand.location.z = 0.04
    hand.keyframe_insert("location", frame=6)
    make.cloth(make.grid(count=17, size=0.2, location=(0.12, 0.0, 0.04)), thickness=0.001)
    bpy.context.scene.taffeta.ldi_resolution = 12
    return 6


def large(make):
    """A torus of 200,000 triangles."""
    x, triangles = torus(320, 320, 0.12, 0.05)
    assert len(triangles) > 200_000
    body = make.collider(make.mesh("Body", x, triangles), aura=0.003)
    body.keyframe_insert("location", frame=1)
    body.location.z = 0.03
    body.keyframe_insert("location", frame=4)
    make.cloth(make.grid(count=15, size=0.4, location=(0, 0, x[:, 2].max() + 0.02)), thickness=0.002)
    return 4


@pytest.mark.parametrize("build", [walking_poncho, fingers, turning_torus, large])
def test_the_bake_is_the_same_bits_whoever_draws(saved, make, card, build):
    last = build(make)
    saved.frame_start, saved.frame_end = 1, last
    ours, by_card = bake(saved, "CARD")
    assert len(card) >= last - 1 and max(card) > 0 and by_card["images_by_card"] == len(card) - 1  # one to try it out
    assert by_card["images_by_processor"] == 0 and by_card["by"].startswith("graphics card, as chosen (")
    count = len(card)
    theirs, by_processor = bake(saved, "PROCESSOR")
    assert len(card) == count and by_processor["images_by_card"] == 0 < by_processor["images_by_processor"]
    assert ours == theirs
    x = np.frombuffer(ours[0][32:], "<f4").reshape(last, -1)
    assert (x[0] != x[-1]).any()


def test_choices_are_those_of_the_panel_and_make_no_bake_stale(shot, card):
    assert [item[0] for item in BODY_IMAGES] == list(images.CHOICES)
    assert shot.taffeta.body_images == "AUTOMATIC"
    before, _ = bake(shot, "CARD")
    shot.taffeta.body_images = "PROCESSOR"
    assert garment().taffeta_cloth.stale == ""
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"} and bits() == before
    assert json.loads(garment().taffeta_cloth.report_json)["body_images"]["images_by_card"] > 0, "the report is kept"


def test_another_search_is_drawn_by_the_processor_and_makes_bakes_stale(shot, card):
    own, _ = bake(shot, "CARD")
    count, frames = len(card), []
    for search in ("FULL_IMAGES", "GROWN"):
        shot.taffeta.body_search = search
        assert "Body Search" in stale(garment(), shot, [bpy.data.objects["Body"]])
        assert bpy.ops.taffeta.bake() == {"FINISHED"} and len(card) == count
        frames.append(bits()[0])
    assert len({own[0], *frames}) == 3


@pytest.mark.parametrize(("share", "taken"), [(1e9, True), (0.0, False)])
def test_automatic_goes_by_what_images_cost(shot, card, monkeypatch, share, taken):
    monkeypatch.setattr(images, "MOST_SHARE", share)
    _, drawn = bake(shot, "AUTOMATIC")
    assert 0 < drawn["card_milliseconds"] and 0 < drawn["processor_milliseconds"] < drawn["frame_milliseconds"]
    lines = report_lines(garment().taffeta_cloth.report_json)
    assert any(line.startswith(f"Body images: {drawn['by']}") for line in lines)
    assert sum("of" in line and "takes" in line for line in lines) == 2, "both figures"
    if taken:
        assert drawn["by"].startswith("graphics card, because that costs less than a tenth")
        assert drawn["images_by_card"] > 0 == drawn["images_by_processor"]
    else:
        assert drawn["by"].startswith("processor, because images by ") and "more than a tenth" in drawn["by"]
        assert drawn["images_by_processor"] > 0 and len(card) == drawn["images_by_card"] + 1


def lose_when(monkeypatch, is_time, error):
    """Let the card draw until it is time, and then raise an error, or give back nothing or nonsense."""
    draw, given = motion.MotionRenderer.draw, {"nothing": np.empty((0, 4)), "nonsense": np.full((9, 4), -1.0)}

    def lose(self, packed, raster):
        if not is_time():
            return draw(self, packed, raster)
        if isinstance(error, str):
            return given[error].astype(np.float32)
        raise error

    monkeypatch.setattr(motion.MotionRenderer, "draw", lose)


@pytest.mark.parametrize(
    "error", [NoGraphics("lost"), RuntimeError("lost"), SystemError("lost"), "nothing", "nonsense"]
)
def test_a_card_that_is_lost_in_mid_bake(shot, card, monkeypatch, error):
    """The processor draws the rest, the report says so, and the bits are the same."""
    whole, _ = bake(shot, "PROCESSOR")
    lose_when(monkeypatch, lambda: len(card) >= 5, error)
    ours, drawn = bake(shot, "CARD")
    assert ours == whole
    assert drawn["images_by_card"] == 4 and drawn["images_by_processor"] >= 2
    word = {"nothing": "empty image", "nonsense": "pixels or triangles that it was not given"}.get(error, "lost")
    assert drawn["by"].startswith("processor, because the graphics card") and word in drawn["by"]
    assert "in frame 6" in drawn["by"]


def test_without_a_context_a_chosen_card_is_an_error_before_the_bake(shot, monkeypatch):
    before, _ = bake(shot, "PROCESSOR")
    files = sorted(bake_files.cache_file(garment()).parent.iterdir())
    monkeypatch.setattr(context, "ensure_context", refuse)
    shot.taffeta.body_images = "CARD"
    with pytest.raises(RuntimeError, match="Body Images is Graphics Card, but nothing draws here; choose Automatic"):
        bpy.ops.taffeta.bake()
    assert bits() == before and sorted(bake_files.cache_file(garment()).parent.iterdir()) == files
    assert not job.running()
    with pytest.raises(ValueError, match="choose Automatic"):
        simulation.start(shot)
    ours, drawn = bake(shot, "AUTOMATIC")
    assert ours == before and drawn["by"] == "processor, because nothing draws here"
    assert "card_milliseconds" not in drawn and drawn["processor_milliseconds"] > 0


def refuse():
    raise NoGraphics("nothing draws here")


def test_nothing_is_looked_for_where_nothing_is_to_be_drawn(saved, make, monkeypatch):
    """A bake without bodies needs no context, also if the card was chosen."""
    monkeypatch.setattr(context, "ensure_context", refuse)
    make.cloth(make.grid(count=4, location=(0, 0, 2)))
    saved.taffeta.body_images, saved.frame_end = "CARD", 3
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert "body_images" not in json.loads(garment().taffeta_cloth.report_json)


def played(scene, make, who):
    """Play to frame 8 by one side; the garment's places there, in the world."""
    scene.taffeta.body_images = who
    scene.frame_set(1)
    simulation.start(scene)
    for frame in range(2, 9):
        scene.frame_set(frame)
    shown, error, renderer = make.world(garment()), simulation.running().error, simulation.running().images
    simulation.end()
    assert error == "" and renderer._renderer is None
    return shown


def test_playing_live_draws_by_the_card(shot, card, make):
    """As a bake it is the same bits whoever draws (which bake that is: `live/test_simulation.py`)."""
    shown = played(shot, make, "CARD")
    assert len(card) > 6
    count = len(card)
    assert np.array_equal(played(shot, make, "PROCESSOR"), shown) and len(card) == count


def in_window(scene, draws=True):
    """The worker and the ticks of a bake in a window, without the window; the job."""
    baking = job.Job(read_order(scene))
    baking.images.open()
    job.claim(baking)
    job.start(baking)
    sampler = run.sampled(baking)
    while baking.ended_at is None:
        if draws:
            baking.images.draw_ahead(0.0)
        if sampler is not None and next(sampler, sampler) is sampler:
            sampler = None
        time.sleep(0.001)
    run.finish(baking)
    job.release()
    return baking


@pytest.fixture
def unhurried(monkeypatch, shot):
    """A worker that goes on, from the third frame on, when the next one's image is there; or when the card is not asked.
    It waits before it takes that frame from the queue: images of frames that were taken are not drawn any more.
    Fourteen frames: how many are missed depends on how far ahead they were drawn.
    """
    shot.frame_end = 14
    advance = images.Images.advance

    def wait(self, cloth, state, frame_input, frame, settings, *go_on):
        report = advance(self, cloth, state, frame_input, frame, settings, *go_on)
        until = time.perf_counter() + 20.0
        while 3 <= frame < 14 and self.on_card and self._ahead.drawn(frame + 1) is None and time.perf_counter() < until:
            time.sleep(0.001)
        return report

    monkeypatch.setattr(images.Images, "advance", wait)


def test_the_main_thread_draws_for_a_worker(shot, card, unhurried):
    """`card` sees to the thread."""
    whole, _ = bake(shot, "PROCESSOR")
    shot.taffeta.body_images = "CARD"
    baking = in_window(shot)
    assert baking.error == "" and baking.complete and bits() == whole
    drawn = told()
    assert drawn["images_by_card"] + drawn.get("images_missed", 0) >= 11 and drawn["images_by_card"] >= 3
    assert len(card) >= 12 and baking.images._renderer is None, "frames 4 to 14, and one to try it out"


def test_automatic_judges_what_was_drawn_ahead(shot, card, unhurried, monkeypatch):
    monkeypatch.setattr(images, "MOST_SHARE", 0.0)
    shot.taffeta.body_images = "AUTOMATIC"
    baking = in_window(shot)
    drawn = told()
    assert baking.complete and drawn["by"].startswith("processor, because images by ") and "tenth" in drawn["by"]
    assert 0 < drawn["card_milliseconds"] and drawn["images_by_card"] == images.TRIED_FRAMES + 1


def test_a_worker_waits_for_no_window(shot, card, monkeypatch):
    """Here it never draws."""
    whole, _ = bake(shot, "PROCESSOR")
    monkeypatch.setattr(images.Images, "draw_ahead", lambda self, seconds: 0.0)
    shot.taffeta.body_images = "CARD"
    baking = in_window(shot)
    assert baking.error == "" and baking.complete and bits() == whole and not card
    drawn = told()
    assert drawn["images_late"] == drawn["images_by_processor"] >= 6 and drawn["images_by_card"] == 0
    assert any("before the window had drawn" in line for line in report_lines(garment().taffeta_cloth.report_json))


def test_cloth_that_went_elsewhere_is_left_to_the_processor(shot, card, unhurried, monkeypatch):
    whole, _ = bake(shot, "PROCESSOR")
    see = ahead.see

    def see_it_elsewhere(*what):
        seen = see(*what)
        return seen._replace(x=seen.x + [9.0, 0.0, 0.0])

    monkeypatch.setattr(ahead, "see", see_it_elsewhere)
    shot.taffeta.body_images = "CARD"
    baking = in_window(shot)
    assert baking.error == "" and baking.complete and bits() == whole
    assert told()["images_missed"] >= 11 and told()["images_by_card"] == 0
    assert any("where the cloth went elsewhere" in line for line in report_lines(garment().taffeta_cloth.report_json))


@pytest.mark.parametrize("error", [RuntimeError("lost"), "nonsense"])
def test_a_card_that_is_lost_in_mid_bake_beside_a_window(shot, card, unhurried, monkeypatch, error):
    """Blender's thread loses it, the worker's goes on."""
    whole, _ = bake(shot, "PROCESSOR")
    lose_when(monkeypatch, lambda: job._current.images.counts["CARD"] >= 1, error)
    shot.taffeta.body_images = "CARD"
    baking = in_window(shot)
    assert baking.error == "" and baking.complete and bits() == whole and baking.images.gave_up
    drawn = told()
    assert drawn["by"].startswith("processor, because the graphics card gave up (") and " in frame " in drawn["by"]
    assert 1 <= drawn["images_by_card"] <= 8 and drawn["images_by_processor"] >= 3
    assert any(level == "WARNING" and drawn["by"] in text for level, text in run.outcome(baking))


BROKEN = """
import os, sys, bpy, taffeta
taffeta.register()
bpy.ops.taffeta.scene_add(name="sheet_on_sphere")
scene = bpy.context.scene
scene.frame_end = 16
scene.taffeta.cache_folder = sys.argv[-1]
print("ENDED", bpy.ops.taffeta.bake(), flush=True)
cloth = next(obj for obj in scene.objects if obj.taffeta_cloth.enabled)
print("REPORT", cloth.taffeta_cloth.report_json.replace(chr(10), " "), flush=True)
os._exit(0)
"""


def test_automatic_survives_broken_opengl(tmp_path):
    """Where making a context kills Blender: another process has found out."""
    environment = os.environ | {"__EGL_VENDOR_LIBRARY_FILENAMES": "/nonexistent.json", "DISPLAY": ""}
    environment["PYTHONPATH"] = str(Path(taffeta.__file__).parents[1])
    command = [sys.executable, "-c", BROKEN, str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "ENDED {'FINISHED'}" in done.stdout, done.stdout[-1000:] + done.stderr[-2000:]
    report = json.loads(done.stdout.partition("REPORT ")[2].splitlines()[0])["body_images"]
    assert report["by"].startswith("processor, because no graphics context can be had (a Blender that tried it ended")
    assert report["images_by_processor"] > 0
