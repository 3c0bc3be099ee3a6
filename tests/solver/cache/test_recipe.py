# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake was made of, as a file that others may have written: it comes back to the bit, or is refused in a sentence."""

import base64
import json
import os
import sys
import tracemalloc
import zlib

import numpy as np
import pytest
from taffeta.solver.cache import recipe
from taffeta.solver.cache.recipe import Map, Recipe

SETTINGS = {"frames": [1, 9], "scene": {"wind": [0.1, 0.0, 0.25]}, "cloths": {"Cape": {"layer": 2}}}


def made(size=64):
    rng = np.random.default_rng(3)
    weights, picture = rng.random(size, dtype=np.float32), rng.integers(0, 256, (size, 8, 4), dtype=np.uint8)
    maps = [Map("GROUP", "hem", [], weights), Map("IMAGE", "folds", ["byte", "sRGB"], picture)]
    return Recipe(SETTINGS, {"Cape": maps})


def as_lists(one: Recipe):
    return one.settings, {
        name: [(m.kind, m.name, m.form, m.values.dtype.str, m.values.tolist()) for m in maps]
        for name, maps in one.maps.items()
    }


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "Cape.pc2"
    recipe.write(path, made())
    assert as_lists(recipe.read(path)) == as_lists(made())
    assert recipe.is_kept(path) and [file.name for file in tmp_path.iterdir()] == ["Cape.recipe"]


def entry(**changes):
    """A text with one map, some of whose words are others."""
    told = json.loads(recipe.text_of(made()))
    told["maps"]["Cape"] = [told["maps"]["Cape"][0] | changes]
    return json.dumps(told)


BOMB = base64.b64encode(zlib.compress(bytes(1 << 28))).decode()
HOSTILE = {
    "no JSON": "{",
    "a list": "[1, 2]",
    "deep": "[" * 100_000,
    "maps of another kind": '{"maps": [1]}',
    "a number that is none": '{"wind": NaN}',
    "a number beyond all": '{"wind": 1e999}',
    "a bomb": entry(values=BOMB),
    "a bomb of the size it says": entry(values=BOMB, shape=[1 << 26]),
    "more than memory": entry(shape=[1 << 20, 1 << 20, 1 << 20]),
    "fewer than none": entry(shape=[-64]),
    "a shape of letters": entry(shape="ab"),
    "a truth for a number": entry(shape=[True]),
    "another size": entry(shape=[63]),
    "another digest": entry(digest="00"),
    "a type with pickles in it": entry(type="O"),
    "a name that is a list": entry(name=["hem"]),
    "no Base64": entry(values="%%%"),
    "no map": entry(kind=None),
    "too many": json.dumps({"maps": {"Cape": [{"kind": "GROUP", "name": "a", "form": [], "values": ""}] * 65}}),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_hostile_is_refused_in_a_sentence_and_takes_no_memory(what, tmp_path):
    text = HOSTILE[what]
    tracemalloc.start()
    with pytest.raises(ValueError, match="cannot be read; remove it"):
        recipe.parse(text)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2 * recipe.MOST_MAP_BYTES, "a bomb of 256 MB"
    (tmp_path / "Cape.recipe").write_text(text)
    with pytest.raises(ValueError, match="Cape.recipe cannot be read or is damaged"):
        recipe.read(tmp_path / "Cape.pc2")


def test_values_that_are_not_finite_are_refused():
    one = made()
    one.maps["Cape"][0].values[3] = np.nan
    with pytest.raises(ValueError, match="cannot be read"):
        recipe.parse(recipe.text_of(one))


def test_maps_that_are_too_large_are_kept_by_name(monkeypatch):
    monkeypatch.setattr(recipe, "LARGEST_RECIPE", 3000)
    hem, folds = recipe.parse(recipe.text_of(made())).maps["Cape"]
    assert (hem.name, folds.name, folds.values) == ("hem", "folds", None) and hem.values is not None


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")
@pytest.mark.parametrize("how", ["pipe", "folder", "missing"])
def test_a_pipe_is_not_waited_for(how, tmp_path):
    if how != "missing":
        {"pipe": os.mkfifo, "folder": os.mkdir}[how](tmp_path / "Cape.recipe")
    assert not recipe.is_kept(tmp_path / "Cape.pc2")
    with pytest.raises(ValueError, match="were not kept" if how == "missing" else "cannot be read"):
        recipe.read(tmp_path / "Cape.pc2")
