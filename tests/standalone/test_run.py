# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m taffeta SCENE.xml`: every line of Pereira's tables does something, mistakes and traps get a sentence."""

import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from taffeta.solver.cache import obj
from taffeta.solver.model import DYNAMICS, Garment, Settings
from taffeta.standalone import run, scene


def sheet(path, count=4, height=1.0, uv=True, size=1.0):
    """A square of one metre of quads, in the file's y-up axes; u along x, v against z."""
    line = np.linspace(0, 1, count)
    points = [(x, z) for z in line for x in line]
    lines = [f"v {0.5 + (x - 0.5) * size} {height} {0.5 + (z - 0.5) * size}" for x, z in points] + [
        f"vt {x} {1 - z}" for x, z in points
    ] * uv
    corner = (lambda i: f"{i + 1}/{i + 1}") if uv else (lambda i: str(i + 1))
    for j in range(count - 1):
        for i in range(count - 1):
            a = j * count + i
            lines.append("f " + " ".join(map(corner, (a, a + count, a + count + 1, a + 1))))
    path.write_text("\n".join(lines))


def grey(path, pixels):
    """A picture, its first row on top."""
    Image.fromarray((255 * np.asarray(pixels)).round().astype(np.uint8)).save(path)


FILE = "<FILE><objPath>sheet.obj</objPath></FILE>"


def write(folder, inside="", file=FILE, settings="", head=""):
    sheet(folder / "sheet.obj")
    text = f"{head}<scene>{inside}<cloth>{file}<SETTINGS>{settings}</SETTINGS></cloth></scene>"
    if not settings:
        text = text.replace("<SETTINGS></SETTINGS>", "")
    (folder / "scene.xml").write_text(text)
    return folder / "scene.xml"


def read(folder, *content, **named):
    return scene.read(write(folder, *content, **named), folder / "out")


def garment(folder, file=FILE, settings=""):
    (cloth,) = read(folder, file=file, settings=settings).cloths
    return run.Garments([cloth]).garments[0]


def x_of(folder, frame, name="sheet"):
    return obj.read(folder / f"{name}_{frame:04d}.obj").x


# The tables


def test_general_settings(tmp_path):
    read_ = read(
        tmp_path,
        """<general><time-step>0.002</time-step><gravity>0 0 -9.81</gravity><externalForces>1, 2, 3</externalForces>
        <randomness>4</randomness><randomNegX>true</randomNegX><randomPosY>1</randomPosY><randomNegZ>no</randomNegZ>
        <integration>Runge Kutta</integration><StartFrame>5</StartFrame><EndFrame>9</EndFrame>
        <Collisions>2</Collisions><fps>25</fps><airDensity>0</airDensity><broadPhase>hash</broadPhase></general>""",
    )
    settings = read_.settings
    assert settings.dynamics == "RK4" and settings.substeps == 21
    assert settings.constant_force == (1.0, 2.0, 3.0)
    assert settings.random_force_min == (-4.0, 0.0, -4.0) and settings.random_force_max == (0.0, 4.0, 4.0)
    assert settings.air_density == 0.0 and settings.broad_phase == "HASH"
    assert settings.neighbour_reach == Settings().neighbour_reach + 2
    assert read_.frames == range(5, 10) and read_.seconds == 0.04 and read_.gravity == (0.0, 0.0, -9.81)


def test_attributes_and_any_case_do_as_well(tmp_path):
    read_ = read(tmp_path, '<GENERAL Time_Step="0.01" GRAVITY="-5" integration="euler" endframe="3"/>')
    assert (read_.settings.substeps, read_.settings.dynamics) == (4, "SYMPLECTIC_EULER")
    assert read_.gravity == (0.0, -5.0, 0.0) and read_.frames == range(1, 4)


@pytest.mark.parametrize("name", DYNAMICS)
def test_every_dynamics_has_its_name(tmp_path, name):
    text = "forward Euler" if name == "EULER" else name  # what the document calls Euler is the symplectic one
    assert read(tmp_path, f"<general><integration>{text}</integration></general>").settings.dynamics == name


@pytest.mark.parametrize("text, most", [("false", 0.0), ("true", 1.0), ("2.5", 2.5)])
def test_randomness_is_a_switch_or_a_strength(tmp_path, text, most):
    settings = read(tmp_path, f"<general><randomness>{text}</randomness></general>").settings
    assert settings.random_force_max == (most,) * 3 and settings.random_force_min == (-most,) * 3


def test_what_is_left_out_is_as_in_blender(tmp_path):
    read_ = read(tmp_path, "<general></general>")
    assert read_.cloths[0].model == Garment._field_defaults["model"] == "FABRIC"
    assert read_.settings == Settings() and read_.seconds == 1 / 24 and read_.gravity == (0.0, -9.81, 0.0)


@pytest.mark.parametrize(
    ("name", "path", "label"),
    [
        ("thickness", "thicknessPath", "Thickness"),
        ("mass", "massPath", "Mass"),
        ("stretch_stiffness", "stiffnessPath", "Stiffness"),
        ("damping", "dampingPath", "Damping"),
    ],
)
def test_maps_go_from_minimum_to_maximum(tmp_path, name, path, label):
    """Row 0 of the picture is at the top, where v is 1; vertices lie on pixel borders of a ramp along v."""
    grey(tmp_path / "map.png", [[1.0], [0.0]])
    limits = f"<min{label}>3</min{label}><max{label}>5</max{label}>"
    values = getattr(garment(tmp_path, FILE.replace("</FILE>", f"<{path}>map.png</{path}></FILE>"), limits), name)
    expected = 3 + 2 * np.clip(2 * (1 - np.repeat(np.linspace(0, 1, 4), 4)) - 0.5, 0, 1)
    assert values == pytest.approx(expected)
    assert getattr(garment(tmp_path, FILE, limits), name) == pytest.approx(3.0), "without a map the minimum counts"


def test_constraints_are_pins(tmp_path):
    grey(tmp_path / "map.png", [[1.0, 0.0, 0.0, 0.0]])
    pin = garment(tmp_path, FILE.replace("</FILE>", "<constraintsPath>map.png</constraintsPath></FILE>")).pin
    assert pin.reshape(4, 4)[:, 0].tolist() == [1.0] * 4 and pin.reshape(4, 4)[:, 2:].max() == 0.0


def test_masks_leave_out_where_they_are_white(tmp_path):
    grey(tmp_path / "map.png", [[1.0, 1.0, 0.0, 0.0]])
    cloth = garment(tmp_path, FILE.replace("</FILE>", "<selfMaskPath>map.png</selfMaskPath></FILE>"))
    assert cloth.meets_itself.reshape(4, 4).tolist() == [[False, False, True, True]] * 4 and cloth.meets_bodies is None
    cloth = garment(tmp_path, FILE.replace("</FILE>", "<bodyMaskPath>map.png</bodyMaskPath></FILE>"))
    assert cloth.meets_bodies.reshape(4, 4)[:, 0].tolist() == [False] * 4 and cloth.meets_itself is None


def test_what_cloths_meet(tmp_path):
    sheet(tmp_path / "body.obj")
    sheet(tmp_path / "coat.obj")
    coat = FILE.replace("sheet", "coat")
    inside = f"<static objPath='body.obj'/><cloth>{coat}<SETTINGS><collideWith>none</collideWith></SETTINGS></cloth>"
    settings = "<collideWith>sheet.obj, coat.obj</collideWith><selfCollision>false</selfCollision>"
    read_ = read(tmp_path, inside, settings=settings)
    garments = run.Garments(read_.cloths).garments
    assert [g.meets for g in garments] == [(False, False), (True, True)]
    assert [g.self_collision for g in garments] == [True, False]
    assert run.met_by(read_.statics[0], read_.cloths) == (False, False)
    (alone,) = read(tmp_path, inside.partition("<cloth>")[0], settings="<collideWith>body.obj</collideWith>").cloths
    assert run.met_by(read_.statics[0], [alone]) == (True,)
    with pytest.raises(ValueError, match="collideWith names 'skin.obj', which is none of its files: sheet.obj"):
        read(tmp_path, settings="<collideWith>skin.obj</collideWith>")
    with pytest.raises(ValueError, match="collideWith in <SETTINGS> is '', but must be names of files"):
        read(tmp_path, settings="<collideWith></collideWith>")


def test_a_cloth_that_meets_no_body_falls_through(tmp_path):
    sheet(tmp_path / "floor.obj", height=0.999, size=3.0)
    general = "<general><EndFrame>6</EndFrame></general><static objPath='floor.obj'/>"
    heights = []
    for settings in ("<friction>0.3</friction>", "<collideWith>none</collideWith>"):
        path = write(tmp_path, general, settings=settings)
        assert run.main([str(path), "--out", str(tmp_path / "out")]) == 0
        heights.append(x_of(tmp_path / "out", 6)[:, 1].max())
    assert heights[0] > 0.99 and heights[1] < 0.95


def test_a_cloths_own_numbers(tmp_path):
    read_ = read(
        tmp_path,
        '<static objPath="sheet.obj"/><static objPath="sheet.obj" restitution="0" friction="0.7" aura="0.01"/>',
        settings="<friction>0.6</friction><restitution>0.4</restitution><minStiffness>50</minStiffness>"
        "<bendingStiffness>1e-4</bendingStiffness><model>fabric</model><strainLimit>0.06</strainLimit>"
        "<stiffening>5</stiffening>",
    )
    fabric = run.Garments(read_.cloths).garments[0]
    assert fabric.friction == pytest.approx(0.6) and fabric.bending_stiffness == pytest.approx(1e-4)
    assert fabric.shear_stiffness == pytest.approx(2.5) and fabric.model == "FABRIC"
    assert (fabric.strain_limit, fabric.stiffening) == (0.06, 5.0)
    springs = garment(tmp_path, settings="<model>springs</model><minStiffness>50</minStiffness>")
    assert springs.model == "SPRINGS" and springs.shear_stiffness == pytest.approx(50.0)
    bodies = [body for static in read_.statics for body in run.SceneBody(static, read_.cloths).over(2)]
    assert [(body.restitution, body.friction, body.aura) for body in bodies] == [(0.4, 0.6, 0.005), (0.0, 0.7, 0.01)]


def test_meshes_keep_their_quads_edges_and_triangles(tmp_path):
    cloth = garment(tmp_path)
    assert len(cloth.quads) == 9 and len(cloth.triangles) == 18 and len(cloth.edges) == 24 and cloth.model == "FABRIC"


# Bodies that move


def test_a_sequence_moves_straight_between_its_files(tmp_path):
    for frame, height in ((2, 0.0), (4, 1.0), (5, 4.0)):
        sheet(tmp_path / f"body_{frame:04d}.obj", height=height)
    (static,) = read(tmp_path, '<static objPath="body_#.obj"/>').statics
    body = run.Sequence(static.obj)
    heights = [body.x(frame)[:, 1].mean() for frame in range(1, 8)]
    assert heights == pytest.approx([0, 0, 0.5, 1, 4, 4, 4])
    (collider,) = run.SceneBody(static, read(tmp_path).cloths).over(5)
    assert collider.x[:, 0, 1].tolist() == [1.0, 4.0]


def test_a_numbered_file_alone_stands_still(tmp_path):
    for frame in (1, 2):
        sheet(tmp_path / f"body_{frame:04d}.obj", height=frame)
    (static,) = read(tmp_path, '<static objPath="body_0002.obj"/>').statics
    (body,) = run.SceneBody(static, read(tmp_path).cloths).over(9)
    assert body.x[:, 0, 1].tolist() == [2.0, 2.0]


# Whole runs


def test_free_fall_to_the_last_digit(tmp_path):
    """Symplectic steps from rest fall g t (t + dt) / 2; there is no air here, and nothing in the way."""
    path = write(
        tmp_path, "<general><EndFrame>7</EndFrame><fps>48</fps><airDensity>0</airDensity>"
        "<externalForces>1 0 0</externalForces></general>",
        "<FILE><objPath>sheet.obj</objPath><savePath>frames/a</savePath><saveName>fall</saveName></FILE>",
    )  # fmt: skip
    assert run.main([str(path), "--out", str(tmp_path / "out")]) == 0
    folder = tmp_path / "out" / "frames" / "a"
    assert sorted(file.name for file in folder.iterdir()) == [f"fall_{frame:04d}.obj" for frame in range(1, 8)]
    start, end = (x_of(folder, frame, "fall") for frame in (1, 7))
    dt, t = 1 / 48 / 5, 6 / 48
    way = 0.5 * t * (t + dt)
    assert (end - start)[:, 0] == pytest.approx(way, rel=1e-6)
    assert (end - start)[:, 1] == pytest.approx(-9.81 * way, rel=1e-6)
    mesh = obj.read(folder / "fall_0007.obj")
    assert np.diff(mesh.face_start).tolist() == [4] * 9, "quads stay quads"
    assert obj.read_uv(folder / "fall_0007.obj", mesh).shape == (36, 2)


def test_a_command_line_of_its_own_with_a_body_and_a_pin(tmp_path):
    """A sheet held at one border swings down onto a rising body and stays outside of it."""
    for frame in (1, 12):
        sheet(tmp_path / f"floor_{frame:04d}.obj", height=0.5 + 0.02 * frame, count=2, size=3.0)
    grey(tmp_path / "pins.png", [[1.0, 0.0, 0.0, 0.0]])
    path = write(
        tmp_path, "<general><EndFrame>12</EndFrame></general><static><objPath>floor_####.obj</objPath></static>",
        FILE.replace("</FILE>", "<constraintsPath>pins.png</constraintsPath></FILE>"),
    )  # fmt: skip
    done = subprocess.run([sys.executable, "-m", "taffeta", str(path)], capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr
    assert "frames 1 to 12 are in" in done.stdout
    x = x_of(tmp_path, 12).reshape(4, 4, 3)
    assert x[:, 0, 1] == pytest.approx(1.0, abs=1e-6), "pinned"
    assert 0.74 < x[:, 3, 1].min() < 0.9, "down, but not through the floor that has come up to 0.74 m"


def test_what_is_doubtful_is_told_and_no_failure(tmp_path, capfd):
    """A stone flies at the end of a rubber band: far too long, but every frame is there."""
    grey(tmp_path / "pins.png", [[1.0, 0.0, 0.0, 0.0]])
    held = FILE.replace("</FILE>", "<constraintsPath>pins.png</constraintsPath></FILE>")
    general = "<general><EndFrame>4</EndFrame><externalForces>500 0 0</externalForces></general>"
    path = write(tmp_path, general, held, "<maxStiffness>5</maxStiffness>")
    assert run.main([str(path)]) == 0
    captured = capfd.readouterr()
    assert "Taffeta: sheet.obj is stretched by " in captured.err and "frames 1 to 4 are in" in captured.out
    path = write(tmp_path, "<general><EndFrame>2</EndFrame></general>", held)
    assert run.main([str(path)]) == 0 and capfd.readouterr().err == ""


def test_what_is_doubtful_is_told_of_a_run_that_is_stopped(tmp_path, capfd, monkeypatch):
    grey(tmp_path / "pins.png", [[1.0, 0.0, 0.0, 0.0]])
    held = FILE.replace("</FILE>", "<constraintsPath>pins.png</constraintsPath></FILE>")
    general = "<general><EndFrame>9</EndFrame><externalForces>500 0 0</externalForces></general>"
    path, advance = write(tmp_path, general, held, "<maxStiffness>5</maxStiffness>"), run.advance

    def interrupted(cloth, state, given, frame, settings):
        if frame == 5:
            raise KeyboardInterrupt
        return advance(cloth, state, given, frame, settings)

    monkeypatch.setattr(run, "advance", interrupted)
    assert run.main([str(path)]) == 1
    told = capfd.readouterr().err
    assert "Taffeta: stopped" in told and "Taffeta: sheet.obj is stretched by " in told


def test_running_again_writes_over_its_own_frames_alone(tmp_path):
    path = write(tmp_path, "<general><EndFrame>2</EndFrame></general>")
    assert run.main([str(path)]) == 0 == run.main([str(path)])
    (tmp_path / "sheet_0002.obj").write_text("v 0 0 0\n")
    assert run.main([str(path)]) == 1
    assert (tmp_path / "sheet_0002.obj").read_text() == "v 0 0 0\n"


# Mistakes and traps


@pytest.mark.parametrize(
    ("inside", "file", "settings", "words"),
    [
        ("<general><stifness>3</stifness></general>", FILE, "", "stifness in <general> means nothing"),
        ("<general gravity='1'><GRAVITY>3</GRAVITY></general>", FILE, "", "stands twice"),
        ("<general><fps>24</fps><fps>25</fps></general>", FILE, "", "fps stands twice"),
        ("<general><gravity>1 2</gravity></general>", FILE, "", "1 or 3 number"),
        ("<general><gravity>nan</gravity></general>", FILE, "", "number"),
        ("<general><time-step>0</time-step></general>", FILE, "", "from 1e-05 to 1"),
        ("<general><integration>leapfrogs</integration></general>", FILE, "", "must be one of XPBD"),
        ("<general><EndFrame>0</EndFrame></general>", FILE, "", "EndFrame 0 must be from StartFrame 1"),
        ("<general><EndFrame>99999999</EndFrame></general>", FILE, "", "EndFrame"),
        ("<general><EndFrame>1.5</EndFrame></general>", FILE, "", "whole number"),
        ("<general><randomNegX>1</randomNegX><randomPosX>1</randomPosX></general>", FILE, "", "leave no force"),
        ("<general><randomNegX>maybe</randomNegX></general>", FILE, "", "true or false"),
        ("<light><x>1</x></light>", FILE, "", "<light> means nothing here"),
        ("<fps>24</fps>", FILE, "", "fps belongs into"),
        ("<static><objPath></objPath></static>", FILE, "", "objPath is missing"),
        ("", "<FILE><objPath>../sheet.obj</objPath></FILE>", "", "leads out of"),
        ("", "<FILE><objPath>/etc/passwd</objPath></FILE>", "", "leads out of"),
        ("", "<FILE><objPath>..\\sheet.obj</objPath></FILE>", "", "leads out of"),
        ("", FILE.replace("</FILE>", "<savePath>../..</savePath></FILE>"), "", "savePath '../..' leads out of"),
        ("", FILE.replace("</FILE>", "<saveName>../a</saveName></FILE>"), "", "no saveName"),
        ("", FILE.replace("</FILE>", "<massPath>../m.png</massPath></FILE>"), "", "massPath"),
        ("", FILE, "<friction>-1</friction>", "friction in <SETTINGS>"),
        ("", FILE + FILE.replace("FILE", "FILES"), "", "and nothing else"),
        (f"<cloth>{FILE}</cloth>", FILE, "", "saved under one name"),
    ],
)
def test_what_a_file_can_get_wrong(tmp_path, inside, file, settings, words):
    with pytest.raises(ValueError) as caught:
        read(tmp_path, inside, file, settings)
    assert words in str(caught.value) and "scene.xml" in str(caught.value)


BOMB = '<!DOCTYPE s [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE s [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize("head", [BOMB, OUTSIDE, '<!DOCTYPE s SYSTEM "http://localhost/s.dtd">'])
def test_document_types_are_refused(tmp_path, head):
    with pytest.raises(ValueError, match="has a DOCTYPE"):
        read(tmp_path, head=head)


@pytest.mark.parametrize("content", [b"", b"<scene>", b"not xml", b"<a></b>", "<scene>&x;</scene>".encode("utf-16")])
def test_files_that_are_no_xml(tmp_path, content):
    (tmp_path / "scene.xml").write_bytes(content)
    with pytest.raises(ValueError, match="not well-formed"):
        scene.read(tmp_path / "scene.xml", tmp_path)


@pytest.mark.parametrize("name", ["foo", "utf-7", "x" * 100])
def test_an_encoding_that_cannot_be_read(tmp_path, name):
    (tmp_path / "scene.xml").write_text(f'<?xml version="1.0" encoding="{name}"?><scene/>')
    with pytest.raises(ValueError, match="scene.xml is in an encoding that cannot be read .* save it as UTF-8"):
        scene.read(tmp_path / "scene.xml", tmp_path)


@pytest.mark.parametrize("settings", ["<SETTINGS/>", "<settings></settings>"])
def test_empty_settings_are_those_by_default(tmp_path, settings):
    sheet(tmp_path / "sheet.obj")
    text = f"<scene><cloth>{FILE}{settings}</cloth></scene>"
    (tmp_path / "scene.xml").write_text(text)
    (cloth,) = scene.read(tmp_path / "scene.xml", tmp_path).cloths
    (tmp_path / "scene.xml").write_text(text.replace(settings, ""))
    assert scene.read(tmp_path / "scene.xml", tmp_path).cloths == [cloth]
    (tmp_path / "scene.xml").write_text(text.replace(settings, "<SETTINGS>soft</SETTINGS>"))
    with pytest.raises(ValueError, match="and nothing else"):
        scene.read(tmp_path / "scene.xml", tmp_path)


def test_errors_of_the_system_and_ctrl_c_are_words(tmp_path, capsys, monkeypatch):
    assert run.main([str(tmp_path / "gone.xml")]) == 1
    assert capsys.readouterr().err == f"Taffeta: {tmp_path / 'gone.xml'}: No such file or directory\n"

    def interrupt(*about):
        raise KeyboardInterrupt

    sheet(tmp_path / "sheet.obj")
    monkeypatch.setattr(run, "frames", interrupt)
    assert run.main([str(write(tmp_path))]) == 1
    assert "Taffeta: stopped; the frames before are on disk" in capsys.readouterr().err


def test_a_disk_that_fills_up_is_told_with_the_frame_that_is_lost(tmp_path, capsys):
    """A limit on the size of files stands for the full disk."""
    path, (soft, hard) = write(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        assert run.main([str(path)]) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    said = capsys.readouterr().err
    assert "_0001.obj cannot be written (File too large); the frames before are on disk" in said, said


def test_files_that_are_too_deep_or_too_large(tmp_path):
    (tmp_path / "scene.xml").write_text("<a>" * 100 + "</a>" * 100)
    with pytest.raises(ValueError, match="inside each other"):
        scene.read(tmp_path / "scene.xml", tmp_path)
    (tmp_path / "scene.xml").write_text("<a>" + " " * (1 << 20) + "</a>")
    with pytest.raises(ValueError, match="more than 1 MB"):
        scene.read(tmp_path / "scene.xml", tmp_path)


def test_links_do_not_lead_out(tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("body_0001.obj", "body.obj"):
        sheet(tmp_path / name)
        (tmp_path / "in" / name).symlink_to(tmp_path / name)
    with pytest.raises(ValueError, match="leads out of"):
        read(tmp_path / "in", "<static><objPath>body.obj</objPath></static>")
    (static,) = read(tmp_path / "in", "<static><objPath>body_#.obj</objPath></static>").statics
    with pytest.raises(ValueError, match="is a link"):
        run.Sequence(static.obj)


@pytest.mark.parametrize(
    ("inside", "file", "settings", "words"),
    [
        ("", "<FILE><objPath>gone.obj</objPath></FILE>", "", "gone.obj"),
        ("", FILE.replace("</FILE>", "<massPath>sheet.obj</massPath></FILE>"), "", "no PNG"),
        ("", "<FILE><objPath>bare.obj</objPath><massPath>m.png</massPath></FILE>", "", "no UV coordinates"),
        ("", "<FILE><objPath>loop.obj</objPath></FILE>", "", "loop.obj: Too many levels of symbolic links"),
        ("<static objPath='gone_#.obj'/>", FILE, "", "There is no file gone_0001.obj"),
        ("", FILE, "<minMass>0</minMass>", "mass per area"),
    ],
)
def test_what_files_can_get_wrong(tmp_path, inside, file, settings, words, capsys):
    sheet(tmp_path / "bare.obj", uv=False)
    grey(tmp_path / "m.png", [[1.0]])
    (tmp_path / "loop.obj").symlink_to(tmp_path / "loop.obj")
    assert run.main([str(write(tmp_path, inside, file, settings))]) == 1
    told = capsys.readouterr().err
    assert words in told and told.count("\n") == 1 and "Traceback" not in told


def test_several_cloths_and_many_islands(tmp_path):
    """Two cloths, one of which is two sheets in one mesh: each file has its own frames."""
    sheet(tmp_path / "low.obj", height=0.0, uv=False)
    low = (tmp_path / "low.obj").read_text()
    both = low + "\n" + "\n".join(f"v {5 + k % 2} 0 {k // 2}" for k in range(4)) + "\nf 17 19 20 18\n"
    (tmp_path / "low.obj").write_text(both)
    other = "<cloth><FILE><objPath>low.obj</objPath></FILE></cloth>"
    assert run.main([str(write(tmp_path, f"<general><EndFrame>2</EndFrame></general>{other}"))]) == 0
    assert len(x_of(tmp_path, 2)) == 16 and len(x_of(tmp_path, 2, "low")) == 20
    assert (x_of(tmp_path, 2, "low")[16:, 1] < 0).all() and (x_of(tmp_path, 2)[:, 1] < 1).all()


def flags(folder, count=5, size=0.4):
    """Pereira 2010, 6.5.2: 24 flags in one OBJ that hang by their upper sides, each with a weight [kg/m2] and a stiffness [N/m] of
    its own in one picture per parameter. Returns both, and the size [m].
    """
    ramp, block, lines, faces = np.linspace(0.0, 1.0, 24), np.ones((8, 8)), [], []
    for k in range(24):
        for i in range(count * count):
            across, up = (i % count) / (count - 1), (i // count) / (count - 1)
            at = (k % 6 + (0.5 + 7 * across) / 8) / 6, (3 - k // 6 + (0.5 + 7 * up) / 8) / 4
            lines += [
                f"v {2 * size * (k % 6) + size * across} {2 * size * (k // 6) + size * up} 0",
                f"vt {at[0]} {at[1]}",
            ]
        corners = [k * count * count + 1 + i + count * j for j in range(count - 1) for i in range(count - 1)]
        faces += ["f " + " ".join(f"{c}/{c}" for c in (a, a + 1, a + 1 + count, a + count)) for a in corners]
    (folder / "flags.obj").write_text("\n".join(lines + faces))
    grey(folder / "mass.png", np.kron(ramp.reshape(4, 6), block))
    grey(folder / "stiffness.png", np.kron(ramp[::-1].reshape(6, 4).T, block))
    held = np.zeros((8, 8))
    held[0] = 1.0
    grey(folder / "held.png", np.tile(held, (4, 6)))
    return 0.1 + 0.2 * ramp, 100.0 + 200.0 * ramp[::-1].reshape(6, 4).T.ravel(), size


def test_twenty_four_flags_of_one_mesh_hang_each_by_its_own_numbers(tmp_path):
    """Each gets longer by its own weight, mass g size^2 / 2 stiffness, within a fiftieth."""
    mass, stiffness, size = flags(tmp_path)
    paths = "".join(f"<{name}Path>{file}.png</{name}Path>" for name, file in
                    (("constraints", "held"), ("mass", "mass"), ("stiffness", "stiffness")))  # fmt: skip
    numbers = (
        "<minMass>0.1</minMass><maxMass>0.3</maxMass><minStiffness>100</minStiffness><maxStiffness>300</maxStiffness>"
    )
    (tmp_path / "scene.xml").write_text(
        "<scene><general><EndFrame>48</EndFrame><airDensity>0</airDensity></general><cloth><FILE><objPath>flags.obj</objPath>"
        f"{paths}</FILE><SETTINGS>{numbers}<minDamping>60</minDamping></SETTINGS></cloth></scene>"
    )
    assert run.main([str(tmp_path / "scene.xml")]) == 0
    start, end = obj.read(tmp_path / "flags.obj").x, x_of(tmp_path, 48, "flags")
    longer = (start - end).reshape(24, 5, 5, 3)[:, 0, :, 1].mean(axis=1)
    assert longer == pytest.approx(mass * 9.81 * size**2 / (2.0 * stiffness), rel=0.02)
    assert np.ptp(longer) > 0.8 * longer.mean(), "no two alike"


def test_the_documents_example_is_a_scene(tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "scene_files.md").read_text()
    (tmp_path / "scene.xml").write_text(text.partition("```xml\n")[2].partition("```")[0])
    sheet(tmp_path / "flag.obj")
    example = scene.read(tmp_path / "scene.xml", tmp_path)
    assert example.cloths[0].ranges["mass"] == (0.1, 0.3) and set(example.cloths[0].maps) == {"pin", "mass"}
    tables = [scene.GENERAL, scene.FILES, scene.SETTINGS, scene.STATIC]
    signs = {f"random{sign}{axis}" for axis in "YZ" for sign in ("Neg", "Pos")}
    assert all(f"`{name}`" in text for table in tables for name in table.keys() - signs), "every name is explained"
