# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the extension zips: one for each Blender version and platform, under `out/zip/`.

A zip carries the numba, llvmlite and scipy wheels of one Python, and those of ezdxf and what it needs. One zip for both Blender versions would be twice
the download (about 200 MB) for nothing, so they are split; `blender_version_min` and `_max` keep a user from the
wrong one. The wheels are downloaded once into `wheels/`, and what licences they have stands in THIRD_PARTY.md. Blender's own tool, found in the bpy wheel, validates and
packs.

    python scripts/build_zip.py                                  all six zips
    python scripts/build_zip.py --blender 4.5 --platform linux-x64
    python scripts/build_zip.py --blender 5.2 --platform linux-x64 --python 3.14     for a distribution's Blender
"""

import argparse
import hashlib
import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from third_party import third_party
from wheels_fit import brought_by, misfits

ROOT = Path(__file__).resolve().parent.parent
OUT, WHEELS = ROOT / "out" / "zip", ROOT / "wheels"
PARTS = "__init__.py", "LICENSE", "README.md", "operators", "panels", "solver", "gpu_ldi", "presets", "patterns"
PACKED = "llvmlite", "numba", "scipy"
PLAIN = "ezdxf", "fonttools", "pyparsing", "typing_extensions"  # Python alone: a wheel for all platforms
# Blender version -> (its Python, first Blender that fits, first Blender that no longer fits).
PYTHONS = {"4.5": ("3.11", "4.5.0", "5.1.0"), "5.2": ("3.13", "5.1.0", None)}
# Blender's platform -> the wheel tags that run there, as pip understands them.
TAGS = {
    "linux-x64": ["manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"],
    "windows-x64": ["win_amd64"],
    "macos-arm64": ["macosx_12_0_arm64", "macosx_11_0_arm64"],
}


def blender_tool() -> Path:
    """Blender's extension tool; it is plain Python and lies in the bpy wheel."""
    module = importlib.util.find_spec("bpy")
    found = sorted(Path(module.origin).parent.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py")) if module else []
    if not found:
        sys.exit("No Blender as a module in this Python: run make setup first, then .venv/bin/python.")
    return found[0]


def pins(blender: str, names: tuple[str, ...]) -> list[str]:
    """The `name==version` lines of packages that go into a zip."""
    lines = (ROOT / "requirements" / f"blender-{blender}.txt").read_text().splitlines()
    return [line for line in lines if line.partition("==")[0] in names]


def download(blender: str, platform: str, python: str) -> list[Path]:
    """The wheels of one zip, from `wheels/` or, the first time, from the package index."""
    tag = "cp" + python.replace(".", "")
    platforms = [part for platform_tag in TAGS[platform] for part in ("--platform", platform_tag)]
    compiled = _wheels(
        WHEELS / f"{tag}-{platform}", pins(blender, PACKED),
        ["--python-version", python, "--implementation", "cp", "--abi", tag, *platforms],
    )  # fmt: skip
    anywhere = ["--python-version", python, "--implementation", "py", "--abi", "none", "--platform", "any"]
    return compiled + _wheels(WHEELS / "any", pins(blender, PLAIN), anywhere)


def _wheels(folder: Path, lines: list[str], kind: list[str]) -> list[Path]:
    """The wheels of `name==version` lines in a folder, where they are put if they are not there."""
    wanted = {line.replace("==", "-") + "-" for line in lines}

    def present():
        return sorted(wheel for wheel in folder.glob("*.whl") if any(wheel.name.startswith(name) for name in wanted))

    if len(present()) < len(wanted):
        command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*command, "--only-binary=:all:", *kind, "-d", str(folder), *lines], check=True)
    return present()


def sources() -> list[Path]:
    """Every file of the extension, relative to the checkout."""
    files = []
    for part in PARTS:
        path = ROOT / part
        files += [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sorted(file.relative_to(ROOT) for file in files if "__pycache__" not in file.parts)


def manifest(blender: str, platform: str, wheels: list[Path]) -> str:
    """The checkout's manifest, narrowed to one platform and the Blender versions whose Python the wheels fit."""
    text = (ROOT / "blender_manifest.toml").read_text()
    _, first, beyond = PYTHONS[blender]
    versions = f'blender_version_min = "{first}"\n' + (f'blender_version_max = "{beyond}"\n' if beyond else "")
    names = "".join(f'    "./wheels/{wheel.name}",\n' for wheel in wheels)
    lists = f'platforms = ["{platform}"]\nwheels = [\n{names}]\n'
    text, count = re.subn(r"blender_version_min = .*\n", lambda _: versions + lists, text)
    if count != 1:
        raise ValueError("blender_manifest.toml must name blender_version_min once")
    return text


def build(blender: str, platform: str, python: str | None = None) -> Path:
    """One zip; made again only when a source, a wheel or the manifest changed.

    Parameters
    ----------
    blender : a key of `PYTHONS`
    platform : a key of `TAGS`
    python : `3.x` of a Blender that a distribution built with another Python; None for the official one
    """
    wheels = download(blender, platform, python or PYTHONS[blender][0])
    text = manifest(blender, platform, wheels)
    licences = third_party(wheels)
    digest = hashlib.sha256((text + licences).encode())
    for file in sources():
        digest.update(str(file).encode() + (ROOT / file).read_bytes())
    version = tomllib.loads(text)["version"]
    name = f"taffeta-{version}-blender{blender}-{platform}" + (f"-python{python}" if python else "")
    target, key = OUT / f"{name}.zip", OUT / f".{name}.key"
    if target.is_file() and key.is_file() and key.read_text() == digest.hexdigest():
        return target
    contents = {wheel.name: wheel.read_bytes() for wheel in wheels}
    if wrong := misfits(contents, platform, python or PYTHONS[blender][0], brought_by(blender)):
        sys.exit(f"The wheels of {name} do not fit:\n" + "\n".join(wrong))
    stage = OUT / f".{name}"
    shutil.rmtree(stage, ignore_errors=True)
    for file in sources():
        (stage / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, stage / file)
    (stage / "wheels").mkdir(parents=True)
    for wheel in wheels:
        (stage / "wheels" / wheel.name).hardlink_to(wheel)
    (stage / "blender_manifest.toml").write_text(text)
    (stage / "THIRD_PARTY.md").write_text(licences)
    call = [sys.executable, str(blender_tool())]
    packed = [*call, "build", "--source-dir", str(stage), "--output-filepath", str(target)]
    for command in (packed, [*call, "validate", str(target)]):
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode:
            sys.exit(f"Blender's extension tool refused {name}:\n{result.stdout}{result.stderr}")
    shutil.rmtree(stage)
    key.write_text(digest.hexdigest())
    return target


def main():
    """Build what the command line asks for and print the sizes."""
    parser = argparse.ArgumentParser(description="Build installable extension zips")
    parser.add_argument("--blender", choices=PYTHONS, action="append")
    parser.add_argument("--platform", choices=TAGS, action="append")
    parser.add_argument("--python", help="3.x, when a distribution's Blender uses another Python")
    chosen = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    for blender in chosen.blender or PYTHONS:
        for platform in chosen.platform or TAGS:
            target = build(blender, platform, chosen.python)
            print(f"{target.stat().st_size / 1e6:6.1f} MB  {target.relative_to(ROOT)}", flush=True)


if __name__ == "__main__":
    main()
