# SPDX-License-Identifier: GPL-3.0-or-later
"""Switching Taffeta on and off: quick, without numba, and leaving nothing behind. In a Blender of its own each."""

import json
import subprocess
import sys

import pytest

LOOK = """
import bpy, json, os, sys, time, traceback

def leave(*error):
    # Blender 4.5 would hang at exit with classes left registered.
    traceback.print_exception(*error)
    sys.stderr.flush()
    os._exit(1)

sys.excepthook = leave

def look():
    handlers = bpy.app.handlers
    return {
        "types": sorted(dir(bpy.types)),
        "handlers": {n: [f.__module__ for f in getattr(handlers, n)] for n in dir(handlers)
                     if isinstance(getattr(handlers, n), list)},
        "properties": {c: sorted(getattr(bpy.types, c).bl_rna.properties.keys())
                       for c in ("Object", "Scene", "WindowManager", "Mesh", "Image")},
        "attributes": {c: sorted(vars(getattr(bpy.types, c))) for c in ("Object", "Scene", "WindowManager")},
        "physics buttons": [f.__module__ for f in bpy.types.PHYSICS_PT_add._dyn_ui_initialize()],
        "preset paths": sorted(bpy.utils.preset_paths("taffeta_fabric")),
        "operators": dir(bpy.ops.taffeta),
    }

before = look()
"""


def blender(script: str) -> dict:
    """Run a script after `LOOK` in a fresh Blender; it prints JSON in its last line."""
    done = subprocess.run([sys.executable, "-c", LOOK + script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])


@pytest.fixture(scope="module")
def cycle():
    """What Blender holds before, between and after two rounds of register and unregister."""
    return blender(
        """
import taffeta
taffeta.register(); during = look(); taffeta.unregister(); between = look()
taffeta.register(); again = look(); taffeta.unregister(); after = look()
print(json.dumps({"before": before, "during": during, "between": between, "again": again, "after": after}))
"""
    )


def test_registering_adds_the_settings_panels_operators_and_presets(cycle):
    assert "TAFFETA_PT_cloth" in cycle["during"]["types"]
    assert "taffeta_cloth" in cycle["during"]["properties"]["Object"]
    assert "taffeta" in cycle["during"]["properties"]["Scene"]
    assert {"cloth_add", "paint", "overlay"} <= set(cycle["during"]["operators"])
    assert cycle["during"]["physics buttons"] != cycle["before"]["physics buttons"]
    own = set(cycle["before"]["preset paths"])  # of who runs the tests, if they have saved fabrics
    assert len(set(cycle["during"]["preset paths"]) - own) == 1
    assert any("taffeta" in str(names) for names in cycle["during"]["handlers"].values())


@pytest.mark.parametrize("what", ["types", "handlers", "properties", "attributes", "preset paths", "operators"])
def test_unregistering_leaves_nothing_behind(cycle, what):
    assert cycle["between"][what] == cycle["before"][what]
    assert cycle["after"][what] == cycle["before"][what]


def test_unregistering_takes_the_physics_buttons_away(cycle):
    assert cycle["after"]["physics buttons"] == cycle["before"]["physics buttons"]


def test_registering_again_gives_the_same(cycle):
    assert cycle["again"] == cycle["during"]


def test_enabling_leaves_numba_alone(record_property):
    """What is heavy waits for the first bake; the record holds the processor time, the best of three."""
    script = """
start = time.process_time()
import taffeta
taffeta.register()
seconds = time.process_time() - start
heavy = sorted({"numba", "llvmlite", "scipy"} & sys.modules.keys())
taffeta.unregister()
print(json.dumps({"seconds": seconds, "heavy": heavy}))
"""
    found = [blender(script) for _ in range(3)]
    assert found[0]["heavy"] == []
    record_property("seconds", min(run["seconds"] for run in found))


def test_a_script_that_ends_with_taffeta_switched_on_ends_well():
    """Blender 4.5 as a module would crash on what is left registered: a farm would see a failed job."""
    subprocess.run([sys.executable, "-c", "import bpy, taffeta; taffeta.register()"], check=True, timeout=120)
