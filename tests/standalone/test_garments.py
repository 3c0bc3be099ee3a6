# SPDX-License-Identifier: GPL-3.0-or-later
"""What each cloth of a scene file has of its own: friction, restitution, layer, threads, a table of values, a pose."""

import numpy as np
import pytest
from taffeta.solver.cache import obj
from taffeta.solver.model import Settings
from taffeta.standalone import run, scene

FLOOR = "v -3 0 -3\nv 3 0 -3\nv 3 0 3\nv -3 0 3\nf 1 4 3 2\n"


def sheet(path, corner=(0.0, 1.0, 0.0), count=5, size=0.4, slope=0.0):
    """A square of quads, y up; u along x, v along z."""
    line = np.linspace(0, 1, count)
    points = [(corner[0] + size * u, corner[1] + slope * u, corner[2] + size * v) for v in line for u in line]
    lines = [f"v {x} {y} {z}" for x, y, z in points] + [f"vt {u} {v}" for v in line for u in line]
    for j in range(count - 1):
        for i in range(count - 1):
            a = j * count + i
            lines.append("f " + " ".join(f"{k + 1}/{k + 1}" for k in (a, a + count, a + count + 1, a + 1)))
    path.write_text("\n".join(lines))


def write(folder, general="", cloths=None, statics=""):
    text = "".join(
        f"<cloth><FILE><objPath>{name}.obj</objPath>{file}</FILE><SETTINGS>{settings or '<layer>0</layer>'}</SETTINGS></cloth>"
        for name, (file, settings) in (cloths or {"a": ("", "")}).items()
    )
    (folder / "scene.xml").write_text(f"<scene><general>{general}</general>{statics}{text}</scene>")
    return folder / "scene.xml"


def bake(folder, *about):
    assert run.main([str(write(folder, *about))]) == 0


def x_of(folder, name, frame):
    return obj.read(folder / f"{name}_{frame:04d}.obj").x


def test_each_cloth_bounces_and_slides_by_its_own_numbers(tmp_path):
    """Two sheets on one floor that has no numbers of its own: one bounces to e^2 of its height, the other lies; one slides on
    without friction, and the other stops.
    """
    (tmp_path / "floor.obj").write_text(FLOOR)
    sheet(tmp_path / "a.obj", (-1, 0.206, 0))
    sheet(tmp_path / "b.obj", (1, 0.206, 0))
    numbers = "<restitution>{}</restitution><friction>{}</friction>"
    cloths = {"a": ("", numbers.format(0.8, 0)), "b": ("", numbers.format(0, 1))}
    general = "<EndFrame>11</EndFrame><airDensity>0</airDensity><externalForces>3 0 0</externalForces>"
    bake(tmp_path, general, cloths, "<static objPath='floor.obj'/>")
    top = {name: max(x_of(tmp_path, name, frame)[:, 1].mean() for frame in range(8, 12)) for name in "ab"}
    assert top["a"] - 0.006 == pytest.approx(0.64 * 0.2, rel=0.1) and top["b"] < 0.01
    went = {name: (x_of(tmp_path, name, 11) - x_of(tmp_path, name, 10))[:, 0].mean() for name in "ab"}
    assert went["a"] == pytest.approx(24**-2 * 3 * 9.5, rel=0.05) and abs(went["b"]) < 1e-4


def test_a_bodys_own_numbers_hold_for_all_cloths(tmp_path):
    for name in ("a", "b", "floor"):
        sheet(tmp_path / f"{name}.obj")
    cloths = {"a": ("", "<restitution>0.5</restitution>"), "b": ("", "<collideWith>a.obj</collideWith>")}
    statics = (
        "<static objPath='floor.obj' friction='0.4' restitution='0.1'/><static objPath='floor.obj' friction='0.4'/>"
    )
    read = scene.read(write(tmp_path, "", cloths, statics), tmp_path)
    one, other = (
        [(c.friction, c.restitution, c.meets) for c in run.SceneBody(s, read.cloths).over(2)] for s in read.statics
    )
    assert one == [(0.4, 0.1, (True, False))]
    assert other == [(0.4, 0.5, (True, False)), (0.4, 0.0, (False, False))]


def test_what_the_document_calls_euler_bakes_a_soft_sheet(tmp_path):
    """Pereira 2010, 4.2.2-3: the new velocity moves the particles. Forward Euler falls too short where that falls too far."""
    sheet(tmp_path / "a.obj", count=21, size=1.0)
    soft = "<model>springs</model><maxStiffness>50</maxStiffness><bendingStiffness>0</bendingStiffness>"
    general = (
        "<EndFrame>2</EndFrame><time-step>0.0025</time-step><airDensity>0</airDensity><integration>{}</integration>"
    )
    cloths = {"a": ("", soft + "<selfCollision>false</selfCollision>")}
    bake(tmp_path, general.format("euler"), cloths)
    (inner,) = {round(float(y), 7) for y in x_of(tmp_path, "a", 2)[:, 1]}
    assert inner == pytest.approx(1 - 9.81 / 2 / 24**2, rel=5e-3)
    bake(tmp_path, general.format("forward Euler"), cloths)
    (forward,) = {round(float(y), 7) for y in x_of(tmp_path, "a", 2)[:, 1]}
    assert inner < 1 - 9.81 / 2 / 24**2 < forward < inner + 9.81 * 0.0025 / 24


@pytest.mark.parametrize(
    ("element", "text", "field", "value"),
    [
        ("clothContact", "both", "cloth_contact", "BOTH"), ("clothRestitution", "0.5", "cloth_restitution", 0.5),
        ("fieldIsotropic", "true", "field_isotropic", True), ("untangleEach", "yes", "untangle_each", True), ("fieldCell", "2", "field_cell", 2.0), ("substeps", "7", "substeps", 7), ("smallSteps", "2", "small_steps", 2.0),
        ("iterations", "9", "iterations", 9), ("tolerance", "0.01", "tolerance", 0.01), ("theta", "0.7", "theta", 0.7),
        ("seed", "3", "seed", 3), ("airDrag", "1", "air_drag", 1.0), ("airLift", "0.5", "air_lift", 0.5),
        ("pinRate", "20", "pin_rate", 20.0), ("imageSize", "32", "ldi_resolution", 32),
        ("bodySearch", "grown", "body_search", "GROWN"),
        ("speedLimit", "9", "max_speed", 9.0), ("sleepSpeed", "0.02", "sleep_speed", 0.02), ("guardBodies", "no", "guard_bodies", False),
        ("neighbourReach", "3", "neighbour_reach", 3.0),
        ("randomForceMin", "-1 -2 -3", "random_force_min", (-1.0, -2.0, -3.0)),
        ("randomForceMax", "1 2 3", "random_force_max", (1.0, 2.0, 3.0)),
    ],
)  # fmt: skip
def test_every_setting_of_the_solver_has_its_element(tmp_path, element, text, field, value):
    sheet(tmp_path / "a.obj")
    settings = scene.read(write(tmp_path, f"<{element}>{text}</{element}>"), tmp_path).settings
    assert settings == Settings()._replace(**{field: value}) != Settings()


def test_no_setting_is_forgotten():
    named = {"dynamics", "broad_phase", "constant_force", "air_density"}  # by table 5.1.4
    assert set(scene.SOLVER) | named == set(Settings._fields)


@pytest.mark.parametrize(
    ("general", "words"),
    [
        ("<substeps>9</substeps><time-step>0.01</time-step>", "say the same"),
        ("<substeps>0</substeps>", "must be a whole number from 1 to 1000"),
        ("<randomForceMin>1 0 0</randomForceMin>", "randomForceMin is above randomForceMax"),
        ("<clothContact>glue</clothContact>", "must be one of PAIRS"),
    ],
)
def test_settings_that_cannot_be(tmp_path, general, words):
    sheet(tmp_path / "a.obj")
    with pytest.raises(ValueError, match=words):
        scene.read(write(tmp_path, general), tmp_path)


def garment(folder, file="", settings=""):
    read = scene.read(write(folder, "", {"a": (file, settings)}), folder)
    return run.Garments(read.cloths).garments[0]


def test_threads_and_layers(tmp_path):
    sheet(tmp_path / "a.obj")
    numbers = "<layer>2</layer><weftStretch>0.5</weftStretch><weftBending>3</weftBending><narrowing>0.2</narrowing>"
    numbers += "<bendingDamping>0.07</bendingDamping><clothRestitution>0.3</clothRestitution>"
    given = garment(tmp_path, "", numbers + "<pattern>yes</pattern>")
    found = given.layer, given.weft_stretch, given.weft_bending, given.bending_damping, given.poisson
    assert (*found, given.restitution) == (2, 0.5, 3.0, 0.07, 0.2, 0.3)
    flat = given.x[given.triangles][:, :, (0, 2)] / 0.4
    assert given.uv == pytest.approx(flat), "u goes along x and v along z, at every corner of every triangle"
    assert garment(tmp_path).uv is None


def test_a_modulus_and_the_thickness_give_all_stiffness(tmp_path):
    """Per vertex, where the thickness is mapped; what else says the same is refused."""
    sheet(tmp_path / "a.obj")
    (tmp_path / "a.csv").write_text("thickness\n" + "".join(f"{1e-3 * (1 + k % 2)!r}\n" for k in range(25)))
    given = garment(
        tmp_path, "<valuesPath>a.csv</valuesPath>", "<elasticModulus>1.2e6</elasticModulus><narrowing>0.5</narrowing>"
    )
    thickness = 1e-3 * (1 + np.arange(25) % 2)
    assert given.stretch_stiffness == pytest.approx(1.2e6 * thickness)
    assert given.shear_stiffness == pytest.approx(4e5 * thickness)
    assert given.bending_stiffness == pytest.approx(1e5 / 0.75 * thickness**3)
    with pytest.raises(ValueError, match="elasticModulus says what minStiffness does; give one of them"):
        garment(tmp_path, "", "<elasticModulus>1e6</elasticModulus><minStiffness>3</minStiffness>")


def test_a_table_of_values_comes_before_numbers(tmp_path):
    sheet(tmp_path / "a.obj")
    mass = np.random.default_rng(1).random(25)
    rows = "\n".join(f"{float(m)!r},{k % 2},{0.1 * (k % 3)}" for k, m in enumerate(mass))
    (tmp_path / "a.csv").write_text("mass, meetsBodies, pin_distance\n" + rows + "\n")
    given = garment(tmp_path, "<valuesPath>a.csv</valuesPath>", "<minMass>9</minMass><friction>0.7</friction>")
    assert np.array_equal(given.mass, mass), "every digit"
    assert given.meets_bodies.tolist() == [bool(k % 2) for k in range(25)]
    assert given.pin_distance[:3] == pytest.approx([np.inf, 0.1, 0.2]) and (given.friction == 0.7).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mass\n" + "1\n" * 24, r"must have 1 number\(s\) in 25 lines"),
        ("mass,mass\n" + "1,1\n" * 25, "has to name columns, each once"),
        ("weight\n" + "1\n" * 25, "has to name columns"),
        ("mass\n" + "1\n" * 24 + "x\n", "no number"),
        ("mass\n" + "1\n" * 24 + "nan\n", "not finite"),
        ("mass\n" + "1\n" * 24 + "-1\n", "mass of vertex 25 is below 0"),
        ("mass\n" + "1,2\n" * 25, r"must have 1 number\(s\)"),
        ("", "has to name columns"),
    ],
)
def test_tables_that_cannot_be(tmp_path, text, words):
    sheet(tmp_path / "a.obj")
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ValueError, match=words):
        garment(tmp_path, "<valuesPath>a.csv</valuesPath>")


def test_what_is_held_follows_its_pose(tmp_path):
    """Rest lengths are those of the mesh; it starts in the first pose, and its pinned half goes with those that follow."""
    sheet(tmp_path / "a.obj")
    for frame, x in ((1, 1.0), (3, 1.2)):
        sheet(tmp_path / f"pose_{frame:04d}.obj", (x, 1.0, 0.0))
    (tmp_path / "a.csv").write_text("pin\n" + "".join(f"{int(k % 5 < 2)}\n" for k in range(25)))
    files = "<valuesPath>a.csv</valuesPath><posePath>pose_#.obj</posePath>"
    bake(tmp_path, "<EndFrame>3</EndFrame>", {"a": (files, "")})
    start, held = x_of(tmp_path, "a", 1), np.arange(25) % 5 < 2
    assert start[:, 0].min() == pytest.approx(1.0)
    went = x_of(tmp_path, "a", 2) - start
    assert went[held] == pytest.approx(np.tile((0.1, 0.0, 0.0), (10, 1))) and went[~held][:, 1].max() < 0.0


def test_layers_are_untangled_before_the_first_frame(tmp_path):
    """A slanting sheet stands through a flat one; the one of the higher layer starts on its outside."""
    sheet(tmp_path / "a.obj", (0, 1.0, 0), count=9)
    sheet(tmp_path / "b.obj", (0, 0.99, 0), count=9, slope=0.02)
    cloths = {"a": ("", "<layer>0</layer>"), "b": ("", "<layer>1</layer>")}
    heights = []
    for switch in ("no", "yes"):
        bake(tmp_path, f"<EndFrame>1</EndFrame><untangle>{switch}</untangle>", cloths)
        heights.append(x_of(tmp_path, "b", 1)[:, 1] - x_of(tmp_path, "a", 1)[:, 1])
    assert heights[0].min() < -0.009 < 0.009 < heights[0].max()
    assert (np.sign(heights[1]) == np.sign(heights[1][0])).all() and np.abs(heights[1]).min() > 0.0015


def test_what_turns_within_a_frame_has_files_between(tmp_path):
    """Of four numbers a frame: halves are there in the second frame, an odd one in the third, none in the fourth."""
    for number, x in ((4, 0.0), (6, 1.0), (8, 4.0), (9, 5.0), (12, 6.0), (16, 7.0)):
        sheet(tmp_path / f"body_{number:04d}.obj", (x, 0.0, 0.0), count=2)
    sheet(tmp_path / "a.obj")
    statics = "<static objPath='body_#.obj' samples='4'/>"
    read = scene.read(write(tmp_path, "", None, statics), tmp_path)
    body = run.SceneBody(read.statics[0], read.cloths)
    ways = [[float(x) for x in body.over(frame)[0].x[:, 0, 0]] for frame in (2, 3, 4)]
    assert ways[0] == [0.0, 1.0, 4.0] and ways[2] == [6.0, 7.0]
    assert ways[1] == pytest.approx([4.0, 5.0, 5.0 + 1 / 3, 5.0 + 2 / 3, 6.0])
