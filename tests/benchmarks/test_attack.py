# SPDX-License-Identifier: GPL-3.0-or-later
"""The fast part of `benchmarks/attack.py` without Blender, and whether its judge sees what it is to see."""

import numpy as np
import pytest
from hostile import damage, scenes, worker
from hostile.box import Box, Outcome

COUNT = 10


@pytest.mark.parametrize("kind", scenes.ATTACKS)
def test_hostile_inputs_do_no_harm(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = [worker.try_out(scenes.ATTACKS, kind, seed, tmp_path) for seed in range(COUNT)]
    assert not [(line["words"], line["faults"]) for line in told if line["faults"]]
    assert len({line["words"] for line in told}) > COUNT / 2
    assert not all(line["status"] == 0 for line in told), "nothing was hostile"


def test_the_scene_bakes_before_it_is_spoilt(tmp_path):
    box = Box(tmp_path)
    scenes.base(box.inside)
    assert scenes.bake(box, "as it is") == Outcome("as it is", 0, "")
    assert sorted(path.name for path in (box.inside / "frames").iterdir()) == [f"flag_{k:04d}.obj" for k in (1, 2, 3)]


def harm(box, rng):
    (box.outside / "thesis.txt").write_bytes(b"gone")
    (box.here / "stray").write_bytes(b"")
    (box.inside / "a.obj.part").write_bytes(b"")
    (box.inside / "a.obj").write_bytes(b"v 0 nan 0\n")
    (box.inside / "a.pc2").write_bytes(bytes(32) + np.float32([1.0, np.inf]).tobytes())
    return Outcome("all of it", 1, "TypeError: [Errno 2]")


def test_the_judge_sees_every_harm(tmp_path):
    def attack(rng, box):
        box.close()
        return harm(box, rng)

    found = " ".join(worker.try_out({"x": attack}, "x", 0, tmp_path)["faults"])
    for words in ("thesis.txt", "stray", "a.obj.part is left", "a.obj holds", "a.pc2 holds", "it tells"):
        assert words in found

    def broken(rng, box):
        box.close()
        raise KeyError("x")

    assert "KeyError" in worker.try_out({"x": broken}, "x", 0, tmp_path)["faults"][0]
    silent = worker.try_out({"x": lambda rng, box: box.close() or Outcome("", 1, "")}, "x", 0, tmp_path)
    assert silent["faults"] == ["it failed without a word"]


def test_damage_differs_from_what_it_was_made_of():
    rng = np.random.default_rng(1)
    content = b"v 0 0 1\n" * 50
    assert sum(damage.damaged(rng, content)[0] != content for _ in range(200)) > 180
