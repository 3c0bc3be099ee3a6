# SPDX-License-Identifier: GPL-3.0-or-later
"""What the numba and the numpy of each Blender make of the solver's kernels: they are on the disk before a bake, not compiled in it.

The solver's own tests run in one Blender alone.
"""

import os
import subprocess
import sys

import numpy as np
from sheets import floor, sheet
from taffeta.solver import crossings
from taffeta.solver.build import build
from taffeta.solver.model import Settings

ALONE = """
import numpy as np
from taffeta.solver.integrate import predict

x = np.zeros((4, 3))
predict.fly(len(x), x, x.copy(), np.ones((4, 3)), np.ones(4), np.zeros(3), 0.1)
assert x.max() > 0.0
"""


def test_shared_kernels_are_kept_on_the_disk(tmp_path):
    """numba 0.68, that of Blender 5.2, keeps none in which the function that is shared is a value when it runs: each session compiled
    eight of them anew in its first bake.
    """
    known = {**os.environ, "TAFFETA_CACHE_DIR": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", ALONE], env=known, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "Cannot cache" not in ran.stderr and list(tmp_path.rglob("predict.fly-*.nbc"))


def test_crossings_with_bodies_are_asked_by_the_kernel_that_is_compiled(monkeypatch):
    """numpy 2, that of Blender 5.2, made longer numbers of a body's triangles, and a kernel for these was compiled in the first bake."""
    cloth, state = build([sheet("Sheet", 4, 4, 0.02)], Settings())
    asked, cross = [], crossings.cross
    monkeypatch.setattr(crossings, "cross", lambda x, *faces: (asked.extend(faces), cross(x, *faces))[1])
    crossings.find_crossings(cloth, state.x, [floor()])
    assert [faces.dtype for faces in asked] == [np.int32, np.int32]
