# SPDX-License-Identifier: GPL-3.0-or-later
"""A sound scene, and looking for what preflight finds in it."""

import json

import bpy
import numpy as np
import pytest
from taffeta.operators.checks import fingerprint, problem_list
from taffeta.operators.playback import cache_modifier
from taffeta.solver.cache import pc2


@pytest.fixture
def found():
    """found(severity): problems of the scene now, of one severity or all.

    That a mesh is too coarse for its fabric is left out, as many here are: `test_fabric_rows` has that.
    """

    def look(severity=None):
        bpy.context.view_layer.update()
        problems = problem_list.check(bpy.context.scene, bpy.context.evaluated_depsgraph_get())
        wanted = [problem for problem in problems if "taffeta.subdivide" not in problem.verbs]
        return [problem for problem in wanted if severity in (None, problem.severity)]

    return look


@pytest.fixture
def only(found):
    """only(severity, name, *words): there is exactly one problem; it is this one, with a remedy."""

    def look(severity, name, *words):
        problems = found()
        assert len(problems) == 1, problems
        problem = problems[0]
        assert (problem.severity, problem.object) == (severity, name)
        assert all(word in problem.sentence for word in words), problem.sentence
        assert problem.sentence.startswith(name) and problem.remedy

    return look


@pytest.fixture
def shot(make, saved, found):
    """A sound scene: a cloth above a body, saved, with nothing to complain about."""
    make.cloth(make.grid(count=9, location=(0, 0, 1)), bending_stiffness=1.0)  # a board: no cloth fits so coarse a mesh
    make.collider(make.ball())
    assert found() == []
    return saved


@pytest.fixture
def cloth():
    """cloth(): the cloth, as the file has it now."""
    return lambda: bpy.data.objects["Cloth"]


@pytest.fixture
def body():
    """body(): the body, as the file has it now."""
    return lambda: bpy.data.objects["Body"]


@pytest.fixture
def baked(found, cloth, body, tmp_path):
    """baked(): the shot's cloth as if it was baked just now."""

    def bake():
        obj = cloth()
        x = np.array([vertex.co for vertex in obj.data.vertices], np.float32)
        pc2.write(tmp_path / "Cloth.pc2", np.stack([x] * 10), 1)
        cache_modifier.attach(obj, tmp_path / "Cloth.pc2", 1)
        obj.taffeta_cloth.fingerprint = json.dumps(fingerprint.take(obj, bpy.context.scene, [body()]))
        assert found() == []
        return obj

    return bake
