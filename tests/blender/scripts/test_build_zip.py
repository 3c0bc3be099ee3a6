# SPDX-License-Identifier: GPL-3.0-or-later
"""The zip a user downloads: built, installed into a Blender that has no numba, enabled, baked with, uninstalled."""

import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import bpy
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
BLENDER = ".".join(map(str, bpy.app.version[:2]))
# What Blender itself brings; everything else has to come from the zip.
BROUGHT = (
    "bpy",
    "numpy",
    "numpy.libs",
    "requests",
    "urllib3",
    "certifi",
    "idna",
    "charset_normalizer",
    "zstandard",
    "attr",
    "attrs",
    "cattr",
    "cattrs",
    "typing_extensions.py",
)

INSTALL = """
import json, os, sys, time
import bpy, addon_utils
path, told = sys.argv[1:3]
out = {"blender": bpy.app.version_string}


def write_and_quit():
    with open(told, "w") as file:
        json.dump(out, file)
    sys.stdout.flush()
    os._exit(0)  # classes left registered at exit would hang Blender 4.5


module = "bl_ext.user_default.taffeta"
if path != "installed":  # first run: unpacks the wheels too
    started = time.perf_counter()
    assert bpy.ops.extensions.package_install_files(
        filepath=path, repo="user_default", enable_on_install=False) == {"FINISHED"}
    assert addon_utils.enable(module, default_set=True) is not None
    out["install_seconds"] = time.perf_counter() - started
    write_and_quit()
started = time.perf_counter()
out["enabled"] = addon_utils.enable(module, default_set=True) is not None
out["enable_seconds"] = time.perf_counter() - started
out["numba_after_enable"] = "numba" in sys.modules

bpy.ops.mesh.primitive_grid_add(x_subdivisions=20, y_subdivisions=20, size=1.0, location=(0, 0, 0.6))
cloth = bpy.context.object
assert bpy.ops.taffeta.cloth_add() == {"FINISHED"}
bpy.ops.mesh.primitive_uv_sphere_add(radius=0.3)
assert bpy.ops.taffeta.collider_add() == {"FINISHED"}
scene = bpy.context.scene
scene.frame_start, scene.frame_end = 1, 10
folder = os.path.join(os.environ["BLENDER_USER_RESOURCES"], "work")
os.makedirs(folder)
bpy.ops.wm.save_as_mainfile(filepath=os.path.join(folder, "shot.blend"))
started = time.perf_counter()
out["bake"] = list(bpy.ops.taffeta.bake())
out["bake_seconds"] = time.perf_counter() - started
out["numba"] = sys.modules["numba"].__file__
heights = []
for frame in (1, 10):
    scene.frame_set(frame)
    shown = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get())
    heights.append(sum(v.co.z for v in shown.data.vertices) / len(shown.data.vertices))
out["fell"] = heights[0] - heights[1]
out["cache"] = os.listdir(os.path.dirname(bpy.path.abspath(cloth.taffeta_cloth.cache_path)))
repos = bpy.context.preferences.extensions.repos
index = next(i for i, repo in enumerate(repos) if repo.module == "user_default")
bpy.ops.extensions.package_uninstall(repo_index=index, pkg_id="taffeta")
out["module_left"] = module in sys.modules and hasattr(bpy.types.Object, "taffeta_cloth")
out["operator_left"] = hasattr(bpy.types, "TAFFETA_OT_bake")
out["folder_left"] = os.path.isdir(os.path.join(repos[index].directory, "taffeta"))
write_and_quit()
"""


@pytest.fixture(scope="module")
def build_zip():
    """scripts/build_zip.py as a module."""
    spec = importlib.util.spec_from_file_location("build_zip", ROOT / "scripts" / "build_zip.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.OUT.mkdir(parents=True, exist_ok=True)
    return module


@pytest.fixture(scope="module")
def zip_path(build_zip):
    """The Linux zip for the Blender that runs this test."""
    return build_zip.build(BLENDER, "linux-x64")


@pytest.fixture(scope="module")
def story(zip_path, tmp_path_factory):
    """What happened in the other Blender, as a dict; see INSTALL."""
    folder = tmp_path_factory.mktemp("zip_install")
    site = folder / "site"
    site.mkdir()
    packages = Path(np.__file__).parents[1]
    for name in BROUGHT:
        if (packages / name).exists():
            (site / name).symlink_to(packages / name)
    script, told = folder / "install.py", folder / "told.json"
    script.write_text(INSTALL)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TAFFETA"))}
    environment |= {"PYTHONPATH": str(site), "BLENDER_USER_RESOURCES": str(folder / "user")}
    # -S: no site-packages, so that neither this environment's numba nor its taffeta can be found.
    result = {"printed": ""}
    for path in (zip_path, "installed"):
        told.unlink(missing_ok=True)
        command = [sys.executable, "-S", str(script), str(path), str(told)]
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=300)
        result["printed"] += done.stdout + done.stderr
        assert told.exists(), result["printed"][-4000:]
        result |= json.loads(told.read_text())
    print({name: value for name, value in result.items() if name != "printed"})
    return result


def test_the_zip_holds_the_extension_and_nothing_else(zip_path):
    names = zipfile.ZipFile(zip_path).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {
        "__init__.py",
        "blender_manifest.toml",
        "LICENSE",
        "operators",
        "panels",
        "patterns",
        "solver",
        "wheels",
    } <= tops
    assert not tops & {"tests", "scripts", "out", "docs", "requirements", "Makefile"}
    assert not [name for name in names if "__pycache__" in name]
    wheels = [name for name in names if name.endswith(".whl")]
    assert len(wheels) == 7 and sum(name.endswith("py3-none-any.whl") for name in wheels) == 4


def test_the_wheels_are_of_this_platform_alone_and_their_licences_are_listed(zip_path):
    packed = zipfile.ZipFile(zip_path)
    wheels = [Path(name).name for name in packed.namelist() if name.endswith(".whl")]
    tag = f"-cp{sys.version_info.major}{sys.version_info.minor}-manylinux"
    assert all(tag in name and "x86_64" in name for name in wheels if not name.endswith("-none-any.whl"))
    told = packed.read("THIRD_PARTY.md").decode()
    for name in wheels:
        package, version = name.split("-")[:2]
        assert f"| {package} | {version} | " in told, name


def test_the_manifest_in_the_zip_fits_this_blender_only(zip_path, build_zip):
    text = zipfile.ZipFile(zip_path).read("blender_manifest.toml").decode()
    _, first, beyond = build_zip.PYTHONS[BLENDER]
    assert f'blender_version_min = "{first}"' in text
    assert (f'blender_version_max = "{beyond}"' in text) if beyond else ("blender_version_max" not in text)


def small_wheel(folder, line, tag):
    """A wheel of no code for a line `name==version`, of a platform; it stands where `make zip` puts the real one."""
    name, version = line.split("==")
    path = folder / f"{name}-{version}-{tag}.whl"
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("METADATA.dist-info/METADATA", f"Name: {name}\nVersion: {version}\nLicense-Expression: MIT\n")
        packed.writestr("METADATA.dist-info/LICENSE", "Do what you like.")
        packed.writestr("METADATA.dist-info/RECORD", "METADATA.dist-info/RECORD,,\n")
    return path.name


@pytest.mark.parametrize("platform", ["linux-x64", "windows-x64", "macos-arm64"])
@pytest.mark.parametrize("blender", [BLENDER])
def test_all_six_zips_are_what_blenders_own_tool_takes(build_zip, blender, platform, tmp_path, monkeypatch):
    """Those of each Blender by its own tool. From the whole source, and wheels of no code in the place of a hundred
    megabytes; nothing is downloaded.
    """
    python = build_zip.PYTHONS[blender][0]
    tag, compiled = "cp" + python.replace(".", ""), build_zip.TAGS[platform][0]
    plain = [small_wheel(tmp_path / "any", line, "py3-none-any") for line in build_zip.pins(blender, build_zip.PLAIN)]
    packed = [
        small_wheel(tmp_path / f"{tag}-{platform}", line, f"{tag}-{tag}-{compiled}")
        for line in build_zip.pins(blender, build_zip.PACKED)
    ]
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setattr(build_zip, "WHEELS", tmp_path)
    monkeypatch.setattr(build_zip, "OUT", tmp_path / "zip")
    (tmp_path / "zip").mkdir()
    path = build_zip.build(blender, platform)
    with zipfile.ZipFile(path) as made:
        told = tomllib.loads(made.read("blender_manifest.toml").decode())
        assert {Path(name).name for name in made.namelist() if name.endswith(".whl")} == {*plain, *packed}
        assert "panels/translations/de.po" in made.namelist()
    assert told["platforms"] == [platform] and {Path(name).name for name in told["wheels"]} == {*plain, *packed}
    assert told["blender_version_min"] == build_zip.PYTHONS[blender][1]
    wrong = tmp_path / "wrong.zip"
    with zipfile.ZipFile(path) as made, zipfile.ZipFile(wrong, "w") as broken:
        for name in made.namelist():
            broken.writestr(name, made.read(name).replace(b'version = "', b'version = "no.'))
    check = [sys.executable, str(build_zip.blender_tool()), "validate"]
    assert subprocess.run([*check, str(path)], capture_output=True).returncode == 0
    assert subprocess.run([*check, str(wrong)], capture_output=True).returncode != 0  # so it does look


def test_wheels_that_do_not_fit_make_no_zip(build_zip, tmp_path, monkeypatch):
    """Those of Linux where Windows' are looked for."""
    plain = [small_wheel(tmp_path / "any", line, "py3-none-any") for line in build_zip.pins("4.5", build_zip.PLAIN)]
    for line in build_zip.pins("4.5", build_zip.PACKED):
        small_wheel(tmp_path / "cp311-windows-x64", line, "cp311-cp311-manylinux2014_x86_64")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setattr(build_zip, "WHEELS", tmp_path)
    monkeypatch.setattr(build_zip, "OUT", tmp_path / "zip")
    with pytest.raises(SystemExit, match="scipy.* is not of Python 3.11 on windows-x64"):
        build_zip.build("4.5", "windows-x64")
    assert len(plain) == 4 and not (tmp_path / "zip").exists()


def test_enabling_leaves_numba_alone(story, record_property):
    record_property("seconds", story["enable_seconds"])
    assert story["enabled"]
    assert not story["numba_after_enable"]


def test_ten_frames_bake_with_the_numba_from_the_zip(story):
    assert story["bake"] == ["FINISHED"], story["printed"][-3000:]
    assert "/.local/" in story["numba"]
    assert story["fell"] > 0.02
    assert any(name.endswith(".pc2") for name in story["cache"])


def test_uninstalling_leaves_nothing_behind(story):
    assert not story["operator_left"] and not story["module_left"] and not story["folder_left"]


def test_nothing_is_complained_about(story):
    assert "Traceback" not in story["printed"] and "Policy violation" not in story["printed"], story["printed"][-3000:]
