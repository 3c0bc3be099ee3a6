# SPDX-License-Identifier: GPL-3.0-or-later
"""What the pages tell an animator to press, choose and type is there, and what they print for scripts runs as it stands."""

import ast
import re
from pathlib import Path

import bpy
import pytest
from taffeta.operators import command, scenes
from taffeta.operators.drape import session
from taffeta.operators.live import turn
from taffeta.solver.cache.frames import cached_frames

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXT = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
PATH = re.compile(r"(?<![*\w])\*([^*`|]+? > [^*`|]+?)(?: > \*\*[^*]+\*\*)?\*(?!\*)")
# Menus that Blender has, and what only an operator's own menu shows.
OTHERS = "Edit", "Mesh", "Playback", "View", "Keep Pose", "Motion", "Physics"
LABELS = {name: label for name, label, _ in scenes.EXAMPLES}


def menu_paths(page: str) -> list[list[str]]:
    """Paths through panels and menus that a page names: "More > Bakes" as two words."""
    return [" ".join(path.split()).split(" > ") for path in PATH.findall(TEXT[page])]


def below(panel: str) -> set[str]:
    """Labels of the panels below one."""
    every = [getattr(bpy.types, name) for name in dir(bpy.types) if name.startswith("TAFFETA_PT_")]
    return {cls.bl_label for cls in every if getattr(cls, "bl_parent_id", "") == panel}


def is_there(path: list[str]) -> bool:
    """Whether an animator who follows a path gets somewhere."""
    first, second, *rest = path
    if first == "More":
        return second in below("TAFFETA_PT_more")
    if first == "Taffeta":
        return second in below("TAFFETA_PT_scene")
    if path[:2] == ["Add", "Taffeta Example"]:
        known = {menu: {LABELS[name] for name in names} for menu, names in scenes.MENUS.items()}
        return not rest or (rest[0] in known and set(rest[1:]) <= known[rest[0]])
    if first == "Edge":
        return second in ("Mark Seam", *(getattr(bpy.ops.taffeta, n).get_rna_type().name for n in dir(bpy.ops.taffeta)))
    return first in OTHERS or path in (["File", "Export", "Taffeta Scene"], ["File", "Import", "Taffeta Pattern"])


@pytest.mark.parametrize("page", list(TEXT))
def test_each_path_that_a_page_names_leads_somewhere(page):
    assert [" > ".join(path) for path in menu_paths(page) if not is_there(path)] == []


def test_paths_are_found_and_wrong_ones_told():
    assert sum(len(menu_paths(page)) for page in TEXT) > 60
    assert PATH.findall("*More > Sewing and Size > **Size from Pattern*** is") == ["More > Sewing and Size"]
    assert not is_there(["Add", "Taffeta Example", "Start Here", "Sewn Shirt"]) and not is_there(["More", "Layer"])


def calls(text: str) -> list[ast.Call]:
    """Calls of Taffeta's operators in a text, as far as they are written out."""
    found = re.findall(r"bpy\.ops\.taffeta\.\w+\((?:[^()`]|\([^()`]*\))*\)", text)
    return [ast.parse(call, mode="eval").body for call in found]


@pytest.mark.parametrize("page", list(TEXT))
def test_operators_have_the_options_that_a_page_gives_them(page):
    for call in calls(TEXT[page]):
        operator = getattr(bpy.ops.taffeta, call.func.attr)
        known = operator.get_rna_type().properties
        for option in call.keywords:
            prop, told = known[option.arg], f"{page}: {ast.unparse(call)}"
            if prop.type == "ENUM" and isinstance(option.value, ast.Constant) and prop.enum_items:
                assert option.value.value in prop.enum_items.keys(), told
            if prop.type == "ENUM" and isinstance(option.value, ast.Set):
                assert {item.value for item in option.value.elts} <= set(prop.enum_items.keys()), told


def test_calls_are_found():
    assert sum(len(calls(text)) for text in TEXT.values()) > 20
    (call,) = calls("`bpy.ops.taffeta.bowl(at=(0, 1), name={'a'})` and bpy.ops.taffeta.drape")
    assert [option.arg for option in call.keywords] == ["at", "name"]


@pytest.mark.parametrize(
    ("page", "verb"), [("command_line.md", "bake"), ("wedges.md", "sheet"), ("farm.md", "bake-all")]
)
def test_options_of_the_command_line_are_those_of_the_pages(page, verb):
    """Each that a page names there is; each that there is `command_line.md`, or the page it leads to, names."""
    (verbs,) = (action for action in command.parser()._actions if action.dest == "verb")
    known = {option for action in verbs.choices[verb]._actions for option in action.option_strings} - {"-h", "--help"}
    everything = TEXT["command_line.md"] + TEXT["wedges.md"] + TEXT["farm.md"]
    assert {option for option in known if not re.search(rf"{option}(?![\w-])", everything)} == set()
    table = re.findall(r"^\| (`--[^|]*)\|", TEXT[page], re.M)
    named = {option for cell in table for option in re.findall(r"`(--[\w-]+)", cell)}
    others = {o for v in verbs.choices.values() for action in v._actions for o in action.option_strings}
    assert named <= others


def snippets(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", TEXT[page], re.S)


def test_the_script_that_drapes_runs_as_it_is_printed(saved):
    """It is about the example that the page names."""
    (text,) = snippets("drape.md")
    try:
        exec(compile(text, "drape.md", "exec"), {})
    finally:
        session.end()
    obj = bpy.data.objects["Throw"]
    assert not turn.is_taken() and [key.name for key in obj.data.shape_keys.key_blocks] == ["Basis", "Taffeta Pose"]
    moved = [(a.co - b.co).length for a, b in zip(*(key.data for key in obj.data.shape_keys.key_blocks), strict=True)]
    assert max(moved) > 0.1, "both strokes took hold of it"


def test_the_script_that_bakes_runs_as_it_is_printed(saved, make):
    (text,) = snippets("python.md")
    make.cloth(make.grid("Skirt", location=(0, 0, 2)))
    known = {}
    text = text.replace("bl_ext.user_default.taffeta", "taffeta").replace("frame < 100", "frame < 4")
    exec(compile(text, "python.md", "exec"), known)
    assert known["baked"].frames == range(1, 5) == cached_frames(known["baked"].paths["Skirt"])
