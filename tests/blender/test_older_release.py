# SPDX-License-Identifier: GPL-3.0-or-later
"""A .blend and its bake as release 0.1 left them, saved by Blender 4.5: they open, play, and are told apart.

`release_0_1/` was written by the first release that baked, a sheet of 5 x 5 over a ball in six frames, with every setting
away from its default. None of it is ever written anew.
"""

import json
import shutil
from pathlib import Path

import bpy
import numpy as np
import pytest
from taffeta.operators.checks import cache_rows, fingerprint, problem_list
from taffeta.solver.cache import pc2

KEPT = Path(__file__).with_name("release_0_1")
FRAMES = range(1, 7)
HEIGHT = 0.6  # [m] of the sheet's object over the world's origin
CLOTH = {"layer": 2, "self_collision": False, "quality": "PREVIEW", "cache_name": "Cloth", "uv_map": "UVMap"}
FABRIC = {
    "mass": 0.31, "thickness": 0.004, "stretch_stiffness": 1234.0, "shear_stiffness": 56.0, "bending_stiffness": 2.5e-5,
    "damping": 3.5, "friction": 0.45,
}  # fmt: skip
BODY = {"aura": 0.012, "friction": 0.6, "restitution": 0.1, "single_frame_samples": 3}
SCENE = {
    "substeps_preview": 9, "substeps": 33, "wind": (1.5, 0, 0.25), "air_density": 1.1, "air_drag": 0.8, "air_lift": 0.4,
    "constant_force": (0, 0.5, 0), "random_force_min": (-0.1, 0, 0), "random_force_max": (0.1, 0, 0), "seed": 7,
    "pin_rate": 123.0, "neighbour_reach": 2.5, "ldi_resolution": 48, "max_speed": 55.0, "cloth_restitution": 0.05, "preroll": 2,
}  # fmt: skip


@pytest.fixture
def older(tmp_path):
    """The scene of 0.1, opened from a copy."""
    shutil.copytree(KEPT, tmp_path / "shot")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot" / "shot.blend"))
    return bpy.context.scene


def settings(group, names):
    """Values of a group as plain ones."""
    return {name: tuple(value) if hasattr(value := getattr(group, name), "to_tuple") else value for name in names}


def test_its_settings_are_as_they_were(older):
    cloth, body = bpy.data.objects["Cloth"].taffeta_cloth, bpy.data.objects["Body"].taffeta_collider
    assert cloth.enabled and body.enabled
    assert settings(cloth, CLOTH) == CLOTH
    assert {name: getattr(cloth, name).value for name in FABRIC} == pytest.approx(FABRIC)
    assert (cloth.pin.source, cloth.pin.vertex_group) == ("GROUP", "Hem")
    reach = cloth.pin_distance
    assert (reach.source, reach.vertex_group, reach.minimum, reach.maximum, reach.invert) == (
        "GROUP",
        "Hem",
        0.5,
        0.25,
        True,
    )
    assert settings(body, BODY) == pytest.approx(BODY)
    found = settings(older.taffeta, SCENE)
    for name, value in SCENE.items():
        assert found[name] == pytest.approx(value), name
    assert cloth.restitution == 0.0, "the scene's is the least that each garment has: it counts as it did"


def test_its_bake_plays_as_it_did(older, make):
    raw = (KEPT / "taffeta_cache" / "Cloth.pc2").read_bytes()
    then = np.frombuffer(raw, "<f4", offset=32).reshape(len(FRAMES), 25, 3)
    for frame in FRAMES:
        older.frame_set(frame)
        assert np.abs(make.world(bpy.data.objects["Cloth"]) - then[frame - 1] - (0, 0, HEIGHT)).max() < 1e-6


def test_it_says_that_another_release_has_baked_it(older):
    """And not that the animator changed forty settings, as a comparison with what 0.1 knew would."""
    told = [p.sentence for p in problem_list.show(older) if "baked" in p.sentence]
    assert told == [
        "Cloth was baked by another release of Taffeta: it plays as it was, and a new bake makes all frames anew"
    ]
    assert older.frame_end == FRAMES[-1] and bpy.data.objects["Cloth"].taffeta_cloth.stale == told[0]


def test_resume_makes_all_its_frames_anew_and_keeps_the_older_bake(older, tmp_path, capfd):
    folder = tmp_path / "shot" / "taffeta_cache"
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert "An earlier bake was kept as Cloth.bak1" in capfd.readouterr().out
    for suffix in (".pc2", ".state", ".journal"):
        kept = KEPT / "taffeta_cache" / f"Cloth{suffix}"
        assert (folder / f"Cloth.bak1{suffix}").read_bytes() == kept.read_bytes()
    assert pc2.read_header(folder / "Cloth.pc2").sample_count == len(FRAMES)
    assert bpy.data.objects["Cloth"].taffeta_cloth.stale == ""


def test_it_says_which_settings_a_new_bake_would_have_otherwise(make, saved):
    """Of those that both releases know; what the other one did not know, and what is keyed, is not told."""
    saved.frame_end = 3
    obj = make.cloth(make.grid())
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    cloth, path = obj.taffeta_cloth, Path(bpy.path.abspath(obj.taffeta_cloth.cache_path))
    known = json.loads(path.with_suffix(".recipe").read_text())
    del known["scene"]["substeps"]
    path.with_suffix(".recipe").write_text(json.dumps(known))
    cloth.fingerprint = json.dumps(json.loads(cloth.fingerprint) | {"Taffeta": "0"})
    told = "Cloth was baked by another release of Taffeta{}: it plays as it was, and a new bake makes all frames anew"
    told = told.replace("Cloth", obj.name)
    assert cache_rows.stale(obj, saved, []) == told.format("")
    cloth.mass.value, saved.taffeta.wind, saved.taffeta.substeps = 0.4, (1.0, 0.0, 0.0), 7
    cloth.shrink.value = 0.1
    cloth.shrink.keyframe_insert("value", frame=2)
    saved.gravity = (0.0, 0.0, -1.62)
    assert cache_rows.stale(obj, saved, []) == told.format(", and before you changed Wind, Mass and gravity")
    path.with_suffix(".recipe").write_text("[" * 5000)
    assert cache_rows.stale(obj, saved, []) == told.format("")


def test_a_fingerprint_of_another_release_is_known_by_its_entry(make, scene):
    obj = make.cloth(make.grid())
    obj.taffeta_cloth.fingerprint = json.dumps(fingerprint.take(obj, scene, []))
    known = json.loads(obj.taffeta_cloth.fingerprint)
    assert not fingerprint.is_of_another_release(obj.taffeta_cloth.fingerprint)
    for text in (json.dumps(known | {"Taffeta": "0"}), json.dumps({"Mass": known["Mass"]})):
        assert fingerprint.is_of_another_release(text) and fingerprint.differing(text, known) == []
    assert not any(map(fingerprint.is_of_another_release, ("", "[1]", "[" * 5000, "{}")))
