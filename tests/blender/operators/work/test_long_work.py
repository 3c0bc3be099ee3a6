# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work beside a window that is made of a timer and events: its steps, Esc at each of them, and what goes wrong."""

import sys
import threading
import time
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from taffeta.operators import export, preflight, untangle
from taffeta.operators.checks import problem_list, tangle_rows
from taffeta.operators.work.steps import Step, run_through
from taffeta.operators.work.window import LongWork


class Window:
    """What a modal operator asks of Blender's context."""

    def __init__(self):
        self.timers = []
        self.handlers = []
        self.texts = []
        self.window_manager = SimpleNamespace(
            event_timer_add=lambda tick, window: self.timers.append(tick) or tick,
            event_timer_remove=self.timers.remove,
            modal_handler_add=self.handlers.append,
            windows=(),
        )
        self.workspace, self.window = bpy.data.workspaces[0], None


class Pressed(LongWork):
    """An operator as it is pressed in a window."""

    bl_label = "Work"

    def __init__(self, steps):
        self.steps, self.told, self.on = lambda context: steps, [], Window()
        assert self.begin(self.on) == {"RUNNING_MODAL"}

    def report(self, level, text):
        self.told.append((level.copy().pop(), text))

    def event(self, kind="TIMER"):
        return self.modal(self.on, SimpleNamespace(type=kind, value="PRESS"))

    def until_ended(self):
        last = time.perf_counter() + 120.0
        while (result := self.event()) == {"RUNNING_MODAL"}:
            assert time.perf_counter() < last
            time.sleep(0.001)
        return result


def work(log, beside=None):
    try:
        log.append("begun")
        yield Step("One", 0.1)
        log.append((yield Step("Two", 0.5, beside)))
        yield Step("Three", 0.9)
        log.append("changed")
        return {"FINISHED"}
    finally:
        log.append("put back")


def test_a_script_takes_all_steps_on_its_own_thread():
    log = []
    assert run_through(work(log, lambda go_on: (threading.current_thread(), go_on()))) == {"FINISHED"}
    assert log == ["begun", (threading.main_thread(), True), "changed", "put back"]


def test_a_window_leaves_what_takes_long_to_another_thread():
    log, goes, interval = [], threading.Event(), sys.getswitchinterval()
    pressed = Pressed(work(log, lambda go_on: (goes.wait(60), threading.current_thread())[1]))
    while pressed._run.step.text != "Two":
        assert pressed.event() == {"RUNNING_MODAL"}
    for _ in range(50):
        assert pressed.event() == {"RUNNING_MODAL"} and log == ["begun"]
    assert sys.getswitchinterval() < interval
    goes.set()
    assert pressed.until_ended() == {"FINISHED"}
    assert log[1] is not threading.main_thread() and log[2:] == ["changed", "put back"]
    assert pressed.on.timers == [] and pressed.told == [] and sys.getswitchinterval() == interval


def test_all_other_events_are_swallowed():
    pressed = Pressed(work([]))
    for kind in ("LEFTMOUSE", "Z", "MOUSEMOVE"):
        assert pressed.event(kind) == {"RUNNING_MODAL"}


@pytest.mark.parametrize("steps_taken", range(4))
def test_esc_ends_it_after_any_step_and_puts_back(steps_taken):
    log = []
    pressed = Pressed(work(log, lambda go_on: "found"))
    for _ in range(steps_taken):
        pressed._run.go_on(0.0)
    pressed.event("ESC")
    assert pressed.until_ended() == {"CANCELLED"}
    assert "changed" not in log and log[-1:] == (["put back"] if steps_taken else [])
    assert pressed.told == [("INFO", "Work stopped: all is as it was")] and pressed.on.timers == []


def test_esc_asks_what_runs_beside_to_end():
    log, asked = [], []

    def beside(go_on):
        while go_on():
            asked.append(True)
            time.sleep(0.001)

    pressed = Pressed(work(log, beside))
    while not asked:
        pressed.event()
    pressed.event("ESC")
    assert pressed.until_ended() == {"CANCELLED"} and log == ["begun", "put back"]


@pytest.mark.parametrize("error", [ValueError("Coat is inside out; flip it"), OSError("no room")])
def test_what_goes_wrong_beside_is_told_as_an_error(error):
    def beside(go_on):
        raise error

    log = []
    pressed = Pressed(work(log, beside))
    assert pressed.until_ended() == {"CANCELLED"} and pressed.told == [("ERROR", str(error))]
    assert log == ["begun", "put back"] and pressed.on.timers == []
    with pytest.raises(type(error)):
        run_through(work([], beside))


def test_a_fault_of_ours_is_no_sentence_and_leaves_no_timer():
    def beside(go_on):
        raise ZeroDivisionError

    pressed = Pressed(work([], beside))
    with pytest.raises(ZeroDivisionError):
        pressed.until_ended()
    assert pressed.on.timers == []


def test_another_file_ends_it():
    log = []
    pressed = Pressed(work(log))
    pressed.event("MOUSEMOVE")
    pressed._run.go_on(0.0)
    pressed.cancel(pressed.on)
    assert log == ["begun", "put back"] and pressed.on.timers == []


# Untangle, Check Before Baking, Export


@pytest.fixture
def dressed(make, saved, tmp_path):
    """A shirt through a body, and a coat through both, which plays a bake."""
    body = make.collider(make.ball(radius=0.3), aura=0.004)
    shirt = make.cloth(make.ball("Shirt", radius=0.299, rings=14), layer=1, thickness=0.003)
    coat = make.cloth(make.ball("Coat", radius=0.298, rings=16), layer=2, thickness=0.006)
    make.bake(coat, tmp_path, "Coat")
    saved.frame_set(4)
    return body, shirt, coat


def state(objects):
    """All that the work may change of objects, and the frame."""
    told = [bpy.context.scene.frame_current]
    for obj in objects:
        x = np.empty(3 * len(obj.data.vertices), np.float32)
        obj.data.vertices.foreach_get("co", x)
        keys = obj.data.shape_keys
        told.append((x.tobytes(), keys and keys.key_blocks.keys(), obj.hide_viewport, obj.mode))
        told.append([(modifier.name, modifier.show_viewport) for modifier in obj.modifiers])
    return told


def pressed_untangle(objects, told):
    return Pressed(untangle.steps(bpy.context.scene, list(objects), lambda *words: told.append(words)))


def test_untangle_in_a_window_does_what_it_does_without(make, dressed):
    _, shirt, coat = dressed
    told = []
    pressed = pressed_untangle((shirt, coat), told)
    assert pressed.until_ended() is None
    shown = [make.world(obj) for obj in (shirt, coat)]
    assert told[-1][1].startswith("2 garments untangled in") and coat.data.shape_keys is not None
    assert bpy.ops.taffeta.untangle(everything=True) == {"FINISHED"}
    assert all(np.allclose(make.world(obj), x, atol=1e-6) for obj, x in zip((shirt, coat), shown, strict=True))


def take(pressed, count):
    """Take so many steps, or all, and wait for what runs beside."""
    for _ in range(count):
        pressed._run.go_on(0.0)
        while pressed._run._thread is not None and pressed._run._thread.is_alive():
            time.sleep(0.001)
    return pressed._run.ended


def test_esc_leaves_garments_as_they_were_at_each_step_of_untangle(dressed):
    before, count, told = state(dressed), 0, []
    while not take(pressed := pressed_untangle(dressed[1:], told), count):
        pressed.event("ESC")
        assert pressed.until_ended() == {"CANCELLED"}
        assert state(dressed) == before and not [words for words in told if "untangled in" in words[1]], count
        count += 1
    assert count > 5 and state(dressed) != before and told


def test_esc_keeps_the_list_that_was_there(dressed, saved):
    problem_list.check_thoroughly(saved)
    wanted = problem_list.latest(saved), tangle_rows.kept_vertices(saved, "Coat", "CROSSING").tolist()
    looks = len(list(problem_list.look_thoroughly(saved)))
    before = state(dressed)
    for count in range(looks):
        looking = problem_list.look_thoroughly(saved)
        for _ in range(count):
            next(looking)
        looking.close()
        assert (problem_list.latest(saved), tangle_rows.kept_vertices(saved, "Coat", "CROSSING").tolist()) == wanted
        assert state(dressed) == before
    assert looks > 8


def test_a_check_that_is_stopped_goes_back_into_edit_mode(dressed):
    bpy.context.view_layer.objects.active = dressed[1]
    bpy.ops.object.mode_set(mode="EDIT")
    self = SimpleNamespace(report=lambda *words: None)
    pressed = Pressed(preflight.TAFFETA_OT_preflight.steps(self, bpy.context))
    take(pressed, 5)
    assert pressed._run.step.text.startswith("Looking") and bpy.context.mode == "OBJECT"
    pressed.event("ESC")
    assert pressed.until_ended() == {"CANCELLED"} and bpy.context.mode == "EDIT_MESH"
    bpy.ops.object.mode_set(mode="OBJECT")


def test_esc_leaves_no_file_at_each_step_of_an_export(dressed, tmp_path, make):
    """And the selection, the frame and the range as they were; in the end, the files are those of one go."""
    coat, scene = dressed[2], bpy.context.scene
    dressed[1].select_set(True)
    folder, last = tmp_path / "out", make.first_frame + make.frame_count - 1
    folder.mkdir()

    def pressed():
        return Pressed(export.steps(bpy.context, [coat], folder / "coat.1#.obj", make.first_frame, last, False))

    def found():
        selected = [obj.name for obj in scene.objects if obj.select_get()]
        return state(dressed), selected, scene.frame_start, scene.frame_end, list(folder.iterdir())

    before, texts, count = found(), [], 1
    while not take(begun := pressed(), count):
        texts.append(begun._run.step.text)
        begun.event("ESC")
        assert begun.until_ended() == {"CANCELLED"} and found() == before, count
        count += 1
    assert texts.pop(0) == "Checking the frames of Coat"
    assert texts == [f"Writing frame {frame} of {last}" for frame in range(make.first_frame, last + 1)]
    stepwise = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert len(stepwise) == 2 * make.frame_count
    options = {"frame_start": make.first_frame, "frame_end": last, "overwrite": True, "object": "Coat"}
    bpy.ops.taffeta.export(filepath=str(folder / "coat.1#.obj"), **options)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == stepwise
