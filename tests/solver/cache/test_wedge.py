# SPDX-License-Identifier: GPL-3.0-or-later
"""Wedges on the disk: their names lead nowhere else, their notes are checked, their order is that of a table."""

import json
import os

import pytest
from taffeta.solver.cache import wedge

HOSTILE = [
    "",
    ".",
    "..",
    "../stiff",
    "a/b",
    "a\\b",
    "/tmp/stiff",
    "C:stiff",
    "con",
    "NUL.txt",
    "aux",
    ".hidden",
    "stiff.",
    "stiff ",
    "-rf",
    "a\nb",
    "a\0b",
    "x" * 300,
    "stiff.bak1",
    "\ud800",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_is_none_is_a_sentence_and_writes_nothing(tmp_path, name):
    with pytest.raises(ValueError, match="is no name for a wedge"):
        wedge.write(tmp_path / "cache", wedge.Wedge(name, {"Skirt.mass": "1"}))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("at", ["wedges", "wedges/stiff"])
def test_no_link_is_followed(tmp_path, at):
    outside, place = tmp_path / "outside", tmp_path / "cache" / at
    outside.mkdir()
    place.parent.mkdir(parents=True)
    os.symlink(outside, place)
    with pytest.raises(OSError, match="is a link or a file"):
        wedge.write(tmp_path / "cache", wedge.Wedge("stiff", {"Skirt.mass": "1"}))
    assert not list(outside.iterdir()) and wedge.listed(tmp_path / "cache") == []


def test_every_combination_has_a_name_of_its_own():
    found = wedge.combinations({}, [("Skirt.bending", ["1e-6", "1e-5"]), ("scene.wind.x", ["0", "3"])])
    assert [item.name for item in found] == [
        "Skirt.bending=1e-6,scene.wind.x=0",
        "Skirt.bending=1e-6,scene.wind.x=3",
        "Skirt.bending=1e-5,scene.wind.x=0",
        "Skirt.bending=1e-5,scene.wind.x=3",
    ]
    assert found[2].settings == {"Skirt.bending": "1e-5", "scene.wind.x": "0"}
    named = wedge.combinations({"Skirt.mass": "1"}, [("scene.wind.x", ["0", "3"])], "storm")
    assert [item.name for item in named] == ["storm,scene.wind.x=0", "storm,scene.wind.x=3"]
    assert named[1].settings == {"Skirt.mass": "1", "scene.wind.x": "3"}
    assert wedge.combinations({"Skirt.mass": "1"}, [], "stiff") == [wedge.Wedge("stiff", {"Skirt.mass": "1"})]


def test_names_made_of_hostile_paths_are_names(tmp_path):
    found = wedge.combinations({}, [("../../Skirt.mass", ["1", "/etc/passwd", "x" * 150])])
    for item in found:
        wedge.write(tmp_path / "cache", item)
    written = sorted(path.parent.parent.parent for path in tmp_path.rglob("wedge.json"))
    assert written == [tmp_path / "cache"] * 3


@pytest.mark.parametrize(
    "always, wedges, words",
    [
        ({"a.b": "1"}, [("a.b", ["1", "2"])], "a.b is set twice"),
        ({}, [("a.b", ["1"]), ("a.b", ["2"])], "a.b is set twice"),
        ({}, [(f"a.{k}", ["1", "2"]) for k in range(11)], "2,048 combinations"),
    ],
)
def test_what_cannot_be_combined_is_a_sentence(always, wedges, words):
    with pytest.raises(ValueError, match=words):
        wedge.combinations(always, wedges)


@pytest.mark.parametrize(
    "note",
    [
        "",
        "[]",
        "{}",
        '{"settings": 3}',
        '{"settings": {"a.b": 1}}',
        '{"settings": {"a.b": ""}}',
        json.dumps({"settings": {"a.b": "x" * 201}}),
        json.dumps({"settings": {f"a.{k}": "1" for k in range(101)}}),
        json.dumps({"settings": {"a.b\n": "1"}}),
        "[" * 100_000,
        " " * (wedge.LARGEST_NOTE + 1),
    ],
)
def test_a_note_that_is_none_is_no_wedge(tmp_path, note):
    wedge.write(tmp_path, wedge.Wedge("good", {"a.b": "1"}))
    wedge.write(tmp_path, wedge.Wedge("bad", {"a.b": "1"}))
    assert len(wedge.listed(tmp_path)) == 2
    (tmp_path / "wedges" / "bad" / "wedge.json").write_text(note)
    assert [item.name for item in wedge.listed(tmp_path)] == ["good"]


def test_a_list_is_in_the_order_of_its_numbers(tmp_path):
    every = wedge.combinations({}, [("a.b", ["1e-6", "9e-7", "10"]), ("c.d", ["2", "10"])])
    for item in every:
        wedge.write(tmp_path, item)
    listed = wedge.listed(tmp_path)
    assert [tuple(item.settings.values()) for item in listed] == [
        ("9e-7", "2"), ("9e-7", "10"), ("1e-6", "2"), ("1e-6", "10"), ("10", "2"), ("10", "10")
    ]  # fmt: skip
    assert wedge.columns(listed) == 2 and wedge.columns(listed[:5]) == 5 and wedge.columns([]) == 1


def test_a_single_bake_beside_a_table_lies_behind_it(tmp_path):
    """As `bake --set ... --name stiff`, then a table of wedges, leave it: the table stays one."""
    every = wedge.combinations({}, [("a.b", ["1", "2", "3"]), ("c.d", ["0", "3"])])
    for item in (wedge.Wedge("stiff", {"a.b": "2"}), wedge.Wedge("wet", {"a.e": "9"}), *every):
        wedge.write(tmp_path, item)
    listed = wedge.listed(tmp_path)
    assert listed == [*every, wedge.Wedge("stiff", {"a.b": "2"}), wedge.Wedge("wet", {"a.e": "9"})]
    ordered, places, columns = wedge.places(listed[::-1])
    assert columns == 2 and [item.name for item in ordered[-2:]] == ["wet", "stiff"]
    assert wedge.places(listed) == (
        listed, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1)], 2
    )  # fmt: skip
    assert wedge.places(listed[:-1], 4)[1] == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (2, 0)]
    assert wedge.places([]) == ([], [], 1)
