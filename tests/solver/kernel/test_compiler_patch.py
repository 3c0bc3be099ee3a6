# SPDX-License-Identifier: GPL-3.0-or-later
"""A quicker compiler, for processes that do nothing but compile."""

import shutil
import subprocess
import sys

CODE = """
import re, sys
import numpy as np
from taffeta.solver.kernel.compiler_patch import quicken
if sys.argv[1] == "quick":
    quicken()
from numba.core.types import functions
from taffeta.solver.forces.air import blow
asked = []
failures = functions._ResolutionFailures
functions._ResolutionFailures = lambda *what, **how: asked.append(1) or failures(*what, **how)  # made once a question
x, index = np.zeros((3, 3)), np.zeros((1, 3), np.int32)
blow(x, x.copy(), np.ones(3), index, 0.0, 1.0, 2.0, 1.0, 0.1, 0.1)
for signature, code in blow.inspect_llvm().items():
    print(signature, blow.nopython_signatures)
    print(re.sub(r"picklebuf\\.\\d+|\\d{9,}", "", code))
print(len(asked), file=sys.stderr)
"""


def test_a_quicker_compiler_makes_the_same_code(tmp_path, monkeypatch):
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path))

    def code(how):
        shutil.rmtree(tmp_path)
        done = subprocess.run(
            [sys.executable, "-c", CODE, how], capture_output=True, text=True, timeout=200, check=True
        )
        return done.stdout, int(done.stderr.split()[-1])

    (quick, few), (plain, many) = code("quick"), code("as it is")
    assert quick == plain and len(quick) > 10000
    assert few < many / 3, "numba is built otherwise now: see what it does most often"
