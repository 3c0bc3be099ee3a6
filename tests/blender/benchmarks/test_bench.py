# SPDX-License-Identifier: GPL-3.0-or-later
"""`make bench` measures what it says: the same scene for both, and figures that a mesh of known shape must have."""

import json
import sys
from types import SimpleNamespace

import bench
import bpy
import dynamics
import images
import inside
import integrators
import ldi
import numpy as np
import pytest
import scaling
import scenes
import shares
import simulate
import table
from taffeta.solver.integrate.explicit import MOST_INNER_STEPS
from taffeta.solver.model import DYNAMICS
from watch import Watch

needs_dynamics = pytest.mark.skipif(dynamics.library() is None, reason="Blender has Cloth Dynamics from 5.2 on")
FEW = 4  # frames of his scenes by each method
LONGEST = {"torus": 0.015, "knot": 0.025, "mannequin": 0.2}  # edges there
CASE = scenes.Case("11x11 on a torus", 11, True, 3)


@pytest.fixture(scope="module")
def result():
    """What bench.json holds of a small sheet."""
    return bench.measure([CASE], patience=60.0, threads={})


def test_rows_of_a_case_are_whole(result):
    assert json.loads(json.dumps(result)) == result
    assert [row["who"] for row in result["rows"]] == [
        simulate.TAFFETA,
        simulate.PREVIEW,
        *simulate.rivals(),
    ]
    for row in result["rows"]:
        assert (row["vertices"], row["frames"], len(row["milliseconds"]["each"])) == (121, 3, 2)
        assert row["milliseconds"]["worst"] >= row["milliseconds"]["mean"]
        assert set(row["crossings"]) == {"self", "body", "frames"} and row["crossings"]["frames"][-1] == 3
        assert -0.1 < row["stretch"]["mean"] <= row["stretch"]["median_worst"] <= row["stretch"]["worst"]
    assert {"processor", "cores", "Blender", "numba", "date", "load_before", "load_after"} <= set(result["machine"])


def test_tasks_add_up_and_ratios_are_of_the_same_frames(result):
    ours, theirs = result["rows"][:2], result["rows"][2:]
    for row in ours:
        assert sum(row["tasks"].values()) == pytest.approx(row["milliseconds"]["mean"])
        assert {"integration", "self-collision", "volume collision", "LDI generation"} < set(row["tasks"])
    for row in theirs:
        times = [row["milliseconds"]["mean"] / our["milliseconds"]["mean"] for our in ours]
        assert row["ratios"] == pytest.approx(times, rel=0.01)


def test_preview_takes_fewer_substeps(result):
    final, preview = result["rows"][:2]
    assert (final["substeps"], preview["substeps"]) == (10, 4)
    assert preview["solve"]["solves"] < final["solve"]["solves"]


def test_impatience_ends_a_run_after_a_frame_and_compares_with_that_frame_alone():
    final, preview, *theirs = simulate.run(CASE, patience=0.0)
    assert final["frames"] == preview["frames"] == 3 and {row["frames"] for row in theirs} == {2}
    times = [theirs[0]["milliseconds"]["each"][0] / our["milliseconds"]["each"][0] for our in (final, preview)]
    assert theirs[0]["ratios"] == pytest.approx(times, rel=0.01)


def test_a_scene_is_the_same_each_time():
    """Blender's own spheres have their faces in another order each time, and a bake goes by that."""
    orders = []
    for _ in range(4):
        scenes.build(scenes.cases([31])[0])
        example = scenes.solids.sphere(bpy.context.scene.collection, 0.3, 1.0)
        bodies = [obj for obj in bpy.context.scene.objects if obj.taffeta_collider.enabled]
        assert len(bodies) == 2 and example in bodies
        orders.append([[tuple(face.vertices) for face in obj.data.polygons] for obj in bodies])
    assert all(order == orders[0] for order in orders)
    assert [len(faces) for faces in orders[0]] == [64 * 32, 64 * 32]


def test_blender_at_its_best_weighs_as_much_and_keeps_as_far():
    (sheet,) = scenes.build(scenes.cases([101])[1])
    simulate.dress(sheet, simulate.BEST)
    cloth = sheet.modifiers["Cloth"]
    assert cloth.settings.mass * len(sheet.data.vertices) == pytest.approx(scenes.MASS * scenes.SIDE**2)
    assert cloth.collision_settings.use_self_collision and cloth.settings.air_damping == 0.0
    assert cloth.collision_settings.self_distance_min == pytest.approx(0.003)  # of an edge of 2 cm
    assert bpy.context.scene.taffeta.air_drag == 0.0


def test_blender_falls_as_freely_as_taffeta():
    (sheet,) = scenes.build(CASE)
    simulate.dress(sheet, simulate.BEST)
    simulate.show(bpy.context.scene, 2, 60.0)
    assert np.ptp(scenes.world(sheet)[:, 2]) < 1e-4
    assert scenes.world(sheet)[0, 2] == pytest.approx(0.02 - 9.81 / 24**2 / 2, abs=0.005)


def test_what_is_looked_at_is_what_blender_simulated():
    (sheet,) = scenes.build(CASE._replace(frames=8))
    simulate.dress(sheet, simulate.BEST)
    shown, scene = {}, bpy.context.scene
    for frame in range(1, 9):
        scene.frame_set(frame)
        shown[frame] = scenes.world(sheet)
    for frame in (3, 8):
        scene.frame_set(frame)
        assert np.array_equal(scenes.world(sheet), shown[frame])
    assert shown[8][:, 2].mean() < shown[3][:, 2].mean() < shown[1][:, 2].mean()


def test_stretch_and_crossings_are_those_of_the_mesh_as_shown():
    (sheet,) = scenes.build(CASE)
    watch = Watch([sheet], 3)
    watch.look(1)
    sheet.scale = 1.5, 1.5, 1.0
    sheet.location.z = -0.25  # through the middle of the ring
    bpy.context.view_layer.update()
    watch.look(2)
    watch.count(3)
    figures = watch.figures()
    assert figures["stretch"]["worst_each"] == pytest.approx([0.0, 0.5], abs=1e-5)
    assert figures["stretch"]["mean"] == pytest.approx(0.25, abs=1e-5)
    assert figures["crossings"]["body"] > 50 and figures["crossings"]["self"] == 0


def test_roughness_is_that_of_the_mesh_as_shown():
    """A flat sheet that is folded along its middle by a right angle: ten edges of 280 turn by 90 degrees."""
    (sheet,) = scenes.build(CASE)
    watch = Watch([sheet], 3)
    watch.look(1)
    for vertex in sheet.data.vertices:
        vertex.co = (min(vertex.co.x, 0.0), vertex.co.y, max(vertex.co.x, 0.0))
    bpy.context.view_layer.update()
    watch.look(2)
    watch.count(2)
    inner = 3 * 10 * 10 - 2 * 10  # edges between two of 200 triangles, the quads' diagonals included
    assert watch.rough == pytest.approx([0.0, 90.0 * 10 / inner], abs=1e-4)
    assert watch.figures()["roughness"] == pytest.approx(45.0 * 10 / inner, abs=1e-4)


def test_what_goes_on_inside_the_solver_is_told(result):
    row = result["rows"][0]
    solve = row["solve"]
    assert 10 <= solve["solves"] <= 12, "of ten substeps, and of one more that looks what touches"
    assert 0 < solve["iterations"] <= solve["iterations_most"] <= 16 and len(solve["iterations_each"]) == 2
    assert 0 < solve["milliseconds"] <= row["tasks"]["integration"] + row["tasks"]["volume collision"]
    least = 121 * 8 * 3 * 2  # x and v
    assert least < row["solver_bytes"] < 1e7


def test_cost_is_counted_by_what_there_is():
    sizes = dict.fromkeys(inside.EACH_SOLVE, 0) | {"near": 100, "hinges": 10}
    solve, iteration = inside.EACH_SOLVE, inside.EACH_ITERATION
    assert inside.cost(sizes, 2.0, 3.0) == tuple(
        2 * (100 * solve["near"][kind] + 10 * solve["hinges"][kind]) + 3 * 100 * iteration["near"][kind]
        for kind in (0, 1)
    )


def test_a_frame_that_would_outlast_patience_is_left_out():
    row = {"who": simulate.BEST, "columns": 101, "self_collision": True, "vertices": 101**2}
    rows = [row | {"milliseconds": {"mean": 2000.0}}]
    larger = scenes.Case("", 202, True, 8)
    assert simulate.expected(larger, simulate.BEST, rows) == pytest.approx(8.0)
    assert simulate.expected(larger, simulate.DEFAULTS, rows) == 0.0
    assert simulate.expected(larger._replace(self_collision=False), simulate.BEST, rows) == 0.0
    assert simulate.expected(scenes.cases([], parts=("dress",))[0], simulate.BEST, rows) == 0.0


def test_a_newer_blender_is_asked_where_this_one_has_no_cloth_dynamics(result, monkeypatch, tmp_path):
    asked, chosen = [], bench.options(["--parts", "newer", "--frames", "4"])

    def run(command, check):
        asked.append(bench.options(command[2:]))
        bench.FOUND.write_text(json.dumps(result), encoding="utf-8")

    monkeypatch.setattr(bench, "FOUND", tmp_path / "bench.json")
    monkeypatch.setattr(bench, "NEWER_BLENDER", tmp_path)
    monkeypatch.setattr(bench.subprocess, "run", run)
    monkeypatch.setattr(bench.dynamics, "library", lambda: None)
    assert not chosen.cases and bench.newer(chosen) == result
    (theirs,) = asked
    assert [case.frames for case in theirs.cases] == [4] * 6 and not theirs.whole and not theirs.threads
    assert "## Beside Cloth Dynamics" in table.text(result | {"newer": result})
    assert "## Beside" not in table.text(result)
    monkeypatch.setattr(bench, "NEWER_BLENDER", tmp_path / "none")
    assert bench.newer(chosen) == {}


def test_some_scenes_need_nothing_to_draw_with(result, monkeypatch, tmp_path, capsys):
    """Nothing but the whole is drawn, because the newer Blender's Python has no matplotlib."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(sys, "argv", ["bench.py", "--parts", "sheets", "--sizes", "11"])
    monkeypatch.setattr(bench, "FOUND", tmp_path / "bench.json")
    monkeypatch.setattr(bench, "measure", lambda *_: result | {})
    monkeypatch.setattr(bench, "taffeta", SimpleNamespace(register=lambda: None, unregister=lambda: None))
    bench.main()
    assert "11x11 on a torus" in capsys.readouterr().out
    assert json.loads(bench.FOUND.read_text(encoding="utf-8")) == result | {"newer": {}}


def test_cloth_dynamics_collides_with_no_self():
    row = {"who": dynamics.BEST, "case": "a sheet", "self_collision": True}
    assert table._scene(row) == ("a sheet", "none")


@needs_dynamics
def test_cloth_dynamics_at_its_best_weighs_as_much_and_falls_as_freely():
    (sheet,) = scenes.build(CASE)
    simulate.furnish(bpy.context.scene, [sheet], dynamics.BEST)
    inputs = sheet.modifiers[dynamics.CLOTH].properties.inputs
    assert inputs.Socket_31.value * len(sheet.data.vertices) == pytest.approx(scenes.MASS * scenes.SIDE**2)
    assert (inputs.Socket_24.value, inputs.Socket_8.value) == (pytest.approx(scenes.distance(CASE)), 0.0)
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(2)
    assert scenes.world(sheet)[0, 2] == pytest.approx(0.02 - 9.81 / 24**2 / 2, abs=0.002)


@needs_dynamics
@pytest.mark.parametrize("who", [dynamics.BEST, dynamics.DEFAULTS])
def test_what_is_looked_at_is_what_cloth_dynamics_simulated(who):
    (sheet,) = scenes.build(CASE._replace(frames=12))
    simulate.furnish(bpy.context.scene, [sheet], who)
    shown, scene = {}, bpy.context.scene
    for frame in range(1, 13):
        scene.frame_set(frame)
        shown[frame] = scenes.world(sheet)
    for frame in (3, 12):
        scene.frame_set(frame)
        assert np.array_equal(scenes.world(sheet), shown[frame])
    ring = shown[12][np.hypot(*shown[12][:, :2].T) < 0.75]
    assert np.ptp(shown[12][:, 2]) > 0.3 and ring[:, 2].max() > -0.03, "the ring holds it, and its corners hang"


def test_all_threads_are_compared_with_one(monkeypatch):
    asked, baked = [], scaling.bakes({5: 2})

    def run(command, env, **_):
        asked.append((command[2:], env["NUMBA_NUM_THREADS"]))
        rows = [row | {"milliseconds": 30.0 / len(asked)} for row in baked]
        return SimpleNamespace(stdout="Blender speaks\n" + json.dumps(rows) + "\n")

    assert all(row["milliseconds"] > 0.0 for row in baked)
    monkeypatch.setattr(scaling.numba.config, "NUMBA_NUM_THREADS", 2)
    monkeypatch.setattr(scaling.subprocess, "run", run)
    rows = scaling.measure({5: 2})
    assert asked == [(["5:2"], "1"), (["5:2"], "2")]
    assert [(row["self_collision"], row["threads"]) for row in rows] == [(False, 2), (True, 2)]
    (_, lines) = table.scaling(rows)
    cells = [line.split("|")[4:11] for line in lines.splitlines()[2:]]
    assert [[float(cell) for cell in line] for line in cells] == [[30.0, 15.0, 2.0, 0.0, 7.5, 3.8, 1.9]] * 2
    (_, lines) = table.scaling([rows[0] | {"milliseconds": 20.0}])
    cells = lines.splitlines()[2].split("|")[4:11]
    assert [float(cell) for cell in cells] == [30.0, 20.0, 1.5, 10.0, 15.0, 12.5, 11.2], "a third of it is serial"


def test_scenes_are_compared_by_their_names():
    (row,) = scaling.bakes({"poncho": 2})
    assert row["case"].startswith("walking poncho") and row["frames"] == 2 and row["milliseconds"] > 0.0


def test_the_dress_is_a_dress_on_its_dummy():
    (case,) = scenes.cases([], parts=("dress",))
    (dress,) = scenes.build(case)
    x, body = scenes.world(dress), scenes.world(bpy.data.objects["Dummy"])
    assert len(x) == 20_000 and dress.taffeta_cloth.self_collision
    for height in np.arange(0.45, 1.3, 0.05):
        near = np.abs(x[:, 2] - height) < 0.02
        inner = body[np.abs(body[:, 2] - height) < 0.03]
        assert np.abs(x[near, 0]).max() > np.abs(inner[:, 0]).max(), "it is round the dummy"
    widest = [np.ptp(x[np.abs(x[:, 2] - height) < 0.02, 0]) for height in (1.08, 0.8, 0.42)]
    assert widest[0] < 0.26 and widest[1] > 1.5 * widest[0] and widest[2] > 3.0 * widest[0], "a waist and a flare"
    bpy.context.scene.frame_set(11)
    assert np.abs(scenes.world(bpy.data.objects["Dummy"]) - body).max() > 0.03, "and the dummy turns"


def test_cases_are_each_size_twice_the_poncho_and_the_dress():
    cases = scenes.cases([21, 201])
    assert [(case.columns, case.self_collision, case.scene) for case in cases] == [
        (21, False, "sheets"), (21, True, "sheets"), (201, False, "sheets"), (201, True, "sheets"), (0, True, "poncho"),
        (0, True, "dress"),
    ]  # fmt: skip
    assert cases[0].frames > cases[2].frames > 12
    assert [case.frames for case in scenes.cases([21], frames=7, parts=("sheets",))] == [7, 7]


def test_options_choose_single_scenes_and_only_the_whole_is_written():
    assert bench.options([]).whole and set(bench.options([]).threads) == {101, 201, "dress", "poncho"}
    dress = bench.options(["--parts", "dress", "--frames", "4"])
    assert not dress.whole and not dress.threads
    assert [(case.scene, case.frames) for case in dress.cases] == [("dress", 4)]
    small = bench.options(["--parts", "sheets", "threads", "--sizes", "51"])
    assert not small.whole and [case.columns for case in small.cases] == [51, 51] and set(small.threads) == {51}


def test_page_names_machine_and_every_row(result):
    page = table.page(result)
    assert result["machine"]["processor"] in page and "load when it began" in page
    lines = [line for line in page.splitlines() if line.startswith("| 11x11 on a torus")]
    assert len(lines) == len(result["rows"]) + 3, "of runs, of the times of tasks and images, of the solve"
    assert "% of the bandwidth" in page and "% of the arithmetic" in page
    left_out = {"case": "401x401 on a sphere", "self_collision": True, "who": simulate.DEFAULTS, "seconds": 92.6}
    assert "Left out" not in page and "Left out: Blender, defaults, 401x401 on a sphere with self-collision" in (
        table.page(result | {"left_out": [left_out]})
    )
    for row, line in zip(result["rows"][2:], lines[2:], strict=False):
        assert [cell.strip() for cell in line.split("|")[-3:-1]] == [f"{ratio:.1f}" for ratio in row["ratios"]]


def test_growth_is_the_power_of_the_vertices():
    def row(count, times):
        sheet = {"who": simulate.TAFFETA, "case": "a sphere", "self_collision": True, "vertices": count}
        sheet |= {"columns": round(count**0.5), "solve": {"iterations_each": [count / 100.0] * len(times)}}
        return sheet | {"frames": len(times) + 1, "milliseconds": {"each": [count**1.5 * time for time in times]}}

    (sentence,) = table.growth([row(100, [1.0, 2.0, 1e9]), row(400, [2.0, 1.0])])
    assert "first 3 frames" in sentence and "power 1.50" in sentence
    assert "1.0 at 10x10, 4.0 at 20x20" in sentence


def test_plot_is_drawn(result, tmp_path):
    pytest.importorskip("matplotlib")
    table.plot(result, tmp_path / "bench.png")
    assert (tmp_path / "bench.png").stat().st_size > 5000


def test_the_measurements_of_2003_are_repeated():
    assert list(ldi.PRINTED) == ldi.CASES and {len(row) for row in ldi.PRINTED.values()} == {len(ldi.COLUMNS)}
    tasks = ldi.bake("torus", 32, 4)
    assert tasks.shape == (3, len(ldi.COLUMNS) - 1) and (tasks >= 0).all()
    assert ldi.figures([tasks, tasks + 1.0])[1:] == pytest.approx(tasks.mean(0))
    assert ldi.figures([tasks])[0] == pytest.approx(1000.0 / tasks.sum(1).mean())
    for body in ("torus", "knot"):
        x, triangles = ldi.surface(body)
        assert (len(x), len(triangles)) == (1600, 3200)
        assert x[:, 2].max() < 1.34 and x[:, 2].min() > 0.1, "the body is clear of the sheet and of the ground"
        assert 0 < ldi.draw(ldi.render, x, triangles, 32, ldi.THREE_FULL, 1)


def test_shares_of_a_frame_are_told_apart_task_by_task():
    """Deformation, both transfers and what is drawn have a time each, by his images of cloth, too; the clocks are taken off
    again.
    """
    before = *(getattr(owner, name) for owner, name, _ in shares.CLOCKED), len(bpy.app.handlers.frame_change_pre)
    measured = {}
    for way, none in (
        ("PAIRS", ["cuboid collision", "self LDI generation"]),
        ("DEPTH_SEQUENCES", ["cuboid collision"]),
    ):
        found = shares.measure(frames=3, contact=way)
        assert [task for task, spent in zip(shares.TASKS, found, strict=True) if not spent > 0.0] == none
        measured |= {(case, way): found for case in shares.PRINTED}
    assert before == (*(getattr(*about[:2]) for about in shares.CLOCKED), len(bpy.app.handlers.frame_change_pre))
    assert list(shares.PRINTED) == ldi.CASES and {len(row) for row in shares.PRINTED.values()} == {
        len(shares.TASKS) + 1
    }
    for case, (rate, *times) in shares.PRINTED.items():  # the same document, read for both benchmarks
        assert ldi.PRINTED[case][0] == pytest.approx(rate, abs=0.05)
        assert ldi.PRINTED[case][2] == pytest.approx(times[1] + times[2], abs=0.006)
    lines = shares.shares("6.1", measured).splitlines()
    assert lines[2].startswith("| integration | 1.03 | 6.5% |") and lines[3].startswith(
        "| cuboid collision | 0.053 | 0.3% | as a"
    )
    assert "| 82.9% |" in shares.shares("6.2", measured).splitlines()[7]
    for number, words in (("6.1", "Taffeta"), ("6.2", "by images")):
        cells = [
            line.split("|")[{"Taffeta": 5, "by images": 7}[words]]
            for line in shares.shares(number, measured).splitlines()
        ]
        assert sum(float(cell.strip(" %")) for cell in cells[2:] if "%" in cell) == pytest.approx(100.0, abs=0.6)
    lines = shares.appendix(measured).splitlines()
    assert len(lines) == 2 + 6 * len(shares.PRINTED) and {line.count("|") for line in lines} == {len(shares.TASKS) + 4}


@pytest.mark.parametrize(
    "body", ["torus", *(pytest.param(body, marks=pytest.mark.once) for body in list(integrators.SCENES)[1:])]
)
def test_no_integrator_of_2003_is_refused_in_his_scenes_at_his_steps(body, monkeypatch):
    """The torus, the knot and the poncho, in steps of 2.5 ms, by all of his list: each bakes all of the frames, in contact, and none
    pulls cloth long or shakes it to pieces. Sheets begin just above the bodies, so that they are met.
    """
    plain, counts = integrators.prepare_scene, {}

    def prepare(body, name, frames, theta=None):
        scene = plain(body, name, frames, theta)
        if body != "mannequin":
            cloth = bpy.data.objects["Sheet"]
            lower = next(obj for obj in scene.objects if obj.taffeta_collider.enabled and obj.name != "Ground")
            x, top = scenes.world(cloth), scenes.world(lower)
            below = ((top[:, :2] > x[:, :2].min(0)) & (top[:, :2] < x[:, :2].max(0))).all(axis=1)
            cloth.location.z -= x[:, 2].min() - top[below, 2].max() - 0.015
        return scene

    monkeypatch.setattr(integrators, "prepare_scene", prepare)
    for name in DYNAMICS:
        integrators.prepare_scene(body, name, FEW)
        counts[name] = integrators.inner_steps(name)
        job, _, seen = integrators.bake(body, name, FEW)
        assert job.error == "" and seen is not None and len(job.reports) == FEW - 1, f"{name}: {job.error}"
        longest = max(report.worst_stretch for report in job.reports)
        print(f"{body} {name}: {counts[name]} steps a frame, longest edge {longest:.2%}, {seen['crossings']}")
        assert sum(report.body_contacts for report in job.reports) > 0, name
        assert np.isfinite(longest) and longest < LONGEST[body], name
        assert seen["crossings"]["self"] == seen["crossings"]["body"] == 0, name
    assert min(counts.values()) == 17 and max(counts.values()) == counts["EULER"] < MOST_INNER_STEPS


def test_a_row_of_integrators_tells_all_that_was_measured():
    row = integrators.measure("torus", "BEEMAN", 3).strip("| ").split(" | ")
    assert row[:2] == ["torus", integrators.LABELS["BEEMAN"]] and len(row) == 7
    assert float(row[3]) > 0.0 and row[4].endswith("%") and row[5].endswith("°") and row[6] == "0"


def test_implicit_theta_is_measured_as_his_parameter_file_has_it_and_by_default():
    rows = integrators.rows_of(["HEUN", "IMPLICIT_THETA"], integrators.THETAS)
    assert rows == [("HEUN", None), ("IMPLICIT_THETA", 0.6), ("IMPLICIT_THETA", 0.5)]
    assert integrators.prepare_scene("torus", "IMPLICIT_THETA", 3, 0.5).taffeta.theta == 0.5
    assert integrators.measure("torus", "IMPLICIT_THETA", 3, 0.5).startswith("| torus | Implicit Theta 0.5 | 17 |")


def test_the_stages_of_2003_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(1)
    for cases in (ldi.CASES, ldi.CASES[:3]):
        ldi.plot({case: rng.uniform(0.1, 9.0, (2, 6, len(ldi.COLUMNS) - 1)) for case in cases}, tmp_path / "stages.png")
        assert (tmp_path / "stages.png").stat().st_size > 5000


def test_images_are_measured_on_both_sides(result):
    small, fine = images.measure((8,), (16, 64))
    assert (small.triangles, small.pixels, fine.pixels) == (128, 16, 64) and 0 < small.processor < fine.processor
    page = images.page([small, fine])
    assert page.count(" 128 |") == 2 and "the graphics context: " in page
    if small.card is None:
        pytest.skip("no graphics context")
    assert 0 < small.packing < small.card
    drawn = result["rows"][0]["images"]
    assert drawn["card_milliseconds"] > 0 and drawn["processor_milliseconds"] > 0
    assert f" {drawn['card_milliseconds']:.2f} |" in table.text(result) and drawn["by"] in table.text(result)
