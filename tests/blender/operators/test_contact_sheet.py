# SPDX-License-Identifier: GPL-3.0-or-later
"""`taffeta sheet`: every wedge on one labelled picture, and as a table that says what the reports say."""

import csv
import json
import shutil

import bpy
import numpy as np
import pytest
from PIL import Image
from taffeta.operators import command

SIDE = 96
WEDGES = ["--wedge", "Skirt.mass=0.1,0.2", "--wedge", "scene.wind.x=0,30"]


@pytest.fixture(scope="module")
def baked(tmp_path_factory, make, registered):
    """A folder with shot.blend, a sheet that falls beside a ball, and four wedges of it."""
    folder = tmp_path_factory.mktemp("sheet")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 6
    scene.taffeta.air_drag = 5.0
    make.cloth(make.grid("Skirt", count=5, location=(0, 0, 2)))
    make.collider(make.ball("Body", radius=0.5, rings=6, segments=8))
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
    assert command.run(["bake", str(folder / "shot.blend"), *WEDGES]) == 0
    return folder


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def drawn(baked):
    """The sheet of it, and what lay there before."""
    before = contents(baked)
    assert command.run(["sheet", str(baked / "shot.blend"), "--size", str(SIDE)]) == 0
    return baked / "taffeta_cache" / "wedges" / "sheet.png", before


def test_a_sheet_is_a_table_of_labelled_pictures(drawn):
    path, before = drawn
    sheet = np.asarray(Image.open(path).convert("RGB")).astype(int)
    height, picture = sheet.shape[0] // 2, round(SIDE / 0.8)
    assert sheet.shape[1] == 2 * SIDE, "a row for each mass, a column for each wind"
    tiles = [sheet[r * height : (r + 1) * height, c * SIDE : (c + 1) * SIDE] for r in (0, 1) for c in (0, 1)]
    for tile in tiles:
        label, cloth = tile[:-picture], tile[-picture:]
        assert label.max() > 180 and (label < 20).mean() > 0.5, "white letters on black"
        assert cloth.max() - cloth.min() > 60, "cloth is seen"
    assert (tiles[0][:-picture] != tiles[1][:-picture]).any(), "labels differ"
    below = [tile[-picture:] for tile in tiles]
    assert (np.abs(below[0] - below[1]) > 40).sum() > 100, "wind moves it"
    after = contents(path.parent.parent.parent)
    assert {p: after[p] for p in before} == before, "the shot, its cache and the wedges are as they were"
    assert sorted(p.name for p in after.keys() - before.keys()) == ["sheet.csv", "sheet.json", "sheet.png"]


def test_the_table_says_what_the_reports_say(drawn, baked):
    path, _ = drawn
    told = json.loads(path.with_suffix(".json").read_text())
    rows = list(csv.DictReader(path.with_suffix(".csv").read_text().splitlines()))
    assert [row["wedge"] for row in rows] == [item["wedge"] for item in told]
    assert [(row["Skirt.mass"], row["scene.wind.x"]) for row in rows] == [
        ("0.1", "0"), ("0.1", "30"), ("0.2", "0"), ("0.2", "30")
    ]  # fmt: skip
    for row, item in zip(rows, told, strict=True):
        report = json.loads((baked / "taffeta_cache" / "wedges" / row["wedge"] / "Skirt.report.json").read_text())
        assert item["frames"] == [1, 6] and (row["first frame"], row["last frame"]) == ("1", "6")
        for name in ("milliseconds_per_frame", "worst_stretch", "roughness_degrees", "crossings"):
            assert item[name] == float(row[name]) == pytest.approx(report[name])
        seconds = 6 * report["milliseconds_per_frame"] / 1000
        assert item["seconds"] == float(row["seconds"]) == pytest.approx(seconds, abs=6e-4), "without the compiler"


def test_some_wedges_are_drawn_and_exported(baked, capfd, tmp_path):
    line = [
        "sheet",
        str(baked / "shot.blend"),
        "--set",
        "Skirt.mass=0.2",
        "--wedge",
        "scene.wind.x=0,30",
        "--size",
        "32",
    ]
    assert command.run([*line, "--output", str(tmp_path / "two.png"), "--export", str(tmp_path / "skirt.usd")]) == 0
    assert Image.open(tmp_path / "two.png").size[0] == 64
    assert len(list(tmp_path.glob("skirt-*.usd"))) == 2
    printed = capfd.readouterr().out
    assert "wedge" in printed and "roughness" in printed and "Skirt.mass=0.2,scene.wind.x=30" in printed


def test_a_single_bake_beside_them_leaves_the_table_a_table(baked, tmp_path):
    """The commands of docs/wedges.md, one after another."""
    copy = shutil.copytree(baked, tmp_path / "shot")
    shot = str(copy / "shot.blend")
    assert command.run(["bake", shot, "--set", "Skirt.mass=0.1", "--name", "light", "--frames", "1-6"]) == 0
    assert command.run(["sheet", shot, "--size", "32"]) == 0
    sheet = Image.open(copy / "taffeta_cache" / "wedges" / "sheet.png")
    told = json.loads((copy / "taffeta_cache" / "wedges" / "sheet.json").read_text())
    assert sheet.size[0] == 2 * 32 and [item["wedge"] for item in told][-1] == "light"
    last = np.asarray(sheet.convert("RGB")).astype(int)[-10:]
    assert last[:, 32:].std() == 0 < last[:, :32].std(), "alone in its line"


def test_a_wedge_that_lacks_the_frame_is_told_and_has_no_picture(baked, tmp_path, capsys):
    """As one that a farm is still baking; its last frame would be taken for the one that was asked for."""
    copy = shutil.copytree(baked, tmp_path / "shot")
    shot, drawn = str(copy / "shot.blend"), tmp_path / "sheet.png"
    assert command.run(["bake", shot, "--set", "Skirt.mass=0.1", "--name", "light", "--frames", "1-3"]) == 0
    assert command.run(["sheet", shot, "--frame", "5", "--size", "64", "--columns", "5", "--output", str(drawn)]) == 0
    told = capsys.readouterr()
    assert "light has frames 1 to 3, and not 5" in told.err and "Frame 5 of 4 wedges on" in told.out
    sheet = np.asarray(Image.open(drawn).convert("RGB")).astype(int)
    half = len(sheet) // 2
    last = sheet[half:, :64][-round(64 / 0.8) :]
    assert sheet[:half, :64][-round(64 / 0.8) :].std() > 5 > last.std() == 0
    assert command.run(["sheet", shot, "--frame", "99"]) == 1
    assert "No wedge has frame 99: " in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, status, words",
    [
        (["--set", "Skirt.mass=0.7"], 1, "These wedges are not baked: Skirt.mass=0.7"),
        (["--output", "sheet.exe"], 2, "has to end in .png"),
        (["--size", "0"], 2, "is no number from 1 to 4096"),
        (["--size", "4096", "--columns", "4096"], 1, "is too large; choose a smaller --size"),
    ],
)
def test_what_cannot_be_drawn_is_a_sentence(baked, capsys, arguments, status, words):
    assert command.run(["sheet", str(baked / "shot.blend"), *arguments]) == status
    assert words in capsys.readouterr().err


def test_without_wedges(saved, make, tmp_path, capsys):
    make.cloth(make.grid("Skirt"))
    bpy.ops.wm.save_mainfile()
    assert command.run(["sheet", str(tmp_path / "shot.blend")]) == 1
    assert "No wedge lies in" in capsys.readouterr().err
