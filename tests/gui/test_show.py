# SPDX-License-Identifier: GPL-3.0-or-later
"""A real window again: the popover and its marks, lines while painting, the report's jump, the picker of fabrics.

Pictures of every step stay in out/show/; those of docs/ are cut from them by scripts/show_pictures.py.
"""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "out" / "show"


@pytest.fixture(scope="module")
def result():
    """What the story wrote down; the window and the zip are made as for the first story."""
    known = importlib.util.spec_from_file_location("first_window", Path(__file__).with_name("test_window.py"))
    window = importlib.util.module_from_spec(known)
    known.loader.exec_module(window)  # skips where there is no window to be had
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    version = window.python_inside()
    build = [sys.executable, str(ROOT / "scripts/build_zip.py"), "--blender", "5.2", "--platform", "linux-x64"]
    subprocess.run([*build, "--python", version], check=True)
    shutil.copy(next((ROOT / "out/zip").glob(f"*-linux-x64-python{version}.zip")), OUT / "taffeta.zip")
    window.pip(
        "install", "--target", str(OUT / "site"), "--only-binary=:all:", "--python-version", version, "cattrs==26.2.1"
    )
    script = "/checkout/tests/gui/inside.sh", "/checkout/tests/gui/show_story.py"
    subprocess.run(["bash", str(ROOT / "scripts/gui_root.sh"), "run", str(OUT), "bash", *script], timeout=1000)
    assert (OUT / "result.json").exists(), (OUT / "blender.log").read_text()[-3000:]
    return json.loads((OUT / "result.json").read_text())


def test_the_story_comes_to_its_end_and_nothing_raised(result):
    log = (OUT / "blender.log").read_text()
    assert result["finished"] and "Traceback" not in log and "Error:" not in log, log[-3000:]


def test_each_switch_marks_something_and_says_what(result):
    for name, word in (("pins", "49 points"), ("seams", "5 threads"), ("thickness", "8.0 mm"), ("aura", "2 cm")):
        words, count = result["marks"][name]
        assert word in words[0] and count >= 1, name
    words, count = result["marks"]["contacts"]
    assert count >= 1 and int(words[0].split()[1].replace(",", "")) > 100


def test_the_legend_stands_above_the_brushes(result):
    assert result["legend_low"] > result["brush_top"] > 20


def test_the_report_leads_to_the_frame_and_the_vertices(result):
    frame, mode, name = result["shown"]
    assert result["report_show"] == ["FINISHED"] and mode == "EDIT_MESH"
    assert (frame, name) == (result["worst_stretch_frame"], "Shawl")


def test_fabrics_have_pictures_in_the_window_and_own_ones_get_one(result):
    assert len(result["pictures"]) == 13
    assert result["names"] == ["Silk", "Silk, changed", "Shawl Silk"]
    assert result["saved"] == ["Shawl_Silk.py", True] and result["library"] == ["FINISHED"]
