# SPDX-License-Identifier: GPL-3.0-or-later
"""The fast part of `benchmarks/attack.py` in Blender: caches, settings, meshes and command lines that nobody means."""

import pytest
from hostile import blender, caches, recipes, worker
from hostile.box import Box
from taffeta.solver import precompile

COUNTS = {"caches": 15, "recipes": 12, "settings": 5, "Blender's meshes": 5, "Blender's arguments": 6}
ATTACKS = {**blender.ATTACKS, **caches.ATTACKS, **recipes.ATTACKS}


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Kernels, before the processor's time of an input is counted: alone they take longer than one may."""
    precompile.compile_kernels()


@pytest.mark.parametrize("kind", COUNTS)
def test_hostile_inputs_do_no_harm(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = [worker.try_out(ATTACKS, kind, seed, tmp_path) for seed in range(COUNTS[kind])]
    assert not [(line["words"], line["faults"]) for line in told if line["faults"]]
    assert any(line["status"] == 0 for line in told), "nothing gets through"


def test_the_judge_sees_a_bake_with_other_bits(tmp_path):
    """The shot is baked with another gravity."""
    import bpy

    box = Box(tmp_path)
    blender.base(box)
    bpy.context.scene.gravity = (0.0, 0.0, -5.0)
    assert blender.act("taffeta.bake")[0] == "FINISHED"
    assert "other bits" in caches.other_bits(box.inside / "taffeta_cache")
