# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the wheels of a zip fit each other, their Python and their platform, and unpack: read here, whatever they are for.

    .venv/bin/python scripts/wheels_fit.py out/zip/*.zip

Prints a line a zip, and exits with 1 where one does not fit.
"""

import base64
import csv
import email
import hashlib
import io
import sys
import tomllib
import zipfile
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.tags import Tag
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
# Blender's platform -> what Python says of itself there.
SYSTEMS = {
    "linux-x64": {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64", "os_name": "posix"},
    "windows-x64": {"sys_platform": "win32", "platform_system": "Windows", "platform_machine": "AMD64", "os_name": "nt"},
    "macos-arm64": {"sys_platform": "darwin", "platform_system": "Darwin", "platform_machine": "arm64", "os_name": "posix"},
}  # fmt: skip
ENDINGS = {
    "linux-x64": "x86_64",
    "windows-x64": "win_amd64",
    "macos-arm64": "arm64",
}  # of the platform in a wheel's name


def misfits(wheels: dict[str, bytes], platform: str, python: str, brought: dict[str, str]) -> list[str]:
    """What is wrong with the wheels of a zip, a sentence each; none where they resolve and unpack.

    wheels : contents by file name
    platform : a key of `SYSTEMS`
    python : of the Blender, as 3.11
    brought : packages that this Blender has itself, with their versions
    """
    environment = SYSTEMS[platform] | {
        "python_version": python, "python_full_version": f"{python}.0", "implementation_name": "cpython",
        "platform_python_implementation": "CPython", "extra": "",
    }  # fmt: skip
    present, told, found = {canonicalize_name(name): version for name, version in brought.items()}, {}, []
    for name, content in wheels.items():
        package, version, _, tags = parse_wheel_filename(name)
        present[package] = str(version)
        if not any(_runs(tag, platform, python) for tag in tags):
            found.append(f"{name} is not of Python {python} on {platform}")
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            found += [f"{name}: {problem}" for problem in _broken(packed)]
            (metadata,) = [part for part in packed.namelist() if part.endswith(".dist-info/METADATA")]
            told[package] = email.message_from_bytes(packed.read(metadata))
    for package, says in told.items():
        if (needed := says["Requires-Python"]) and not SpecifierSet(needed).contains(f"{python}.0"):
            found.append(f"{package} needs Python {needed}")
        for line in says.get_all("Requires-Dist", []):
            needed = Requirement(line)
            if needed.marker is not None and not needed.marker.evaluate(environment):
                continue
            version = present.get(canonicalize_name(needed.name))
            if version is None or not needed.specifier.contains(Version(version)):
                found.append(f"{package} needs {needed}, and {version or 'none'} is there")
    return found


def _runs(tag: Tag, platform: str, python: str) -> bool:
    """Whether a wheel with this tag is for a Python on a platform."""
    of_python = tag.interpreter in ("py3", "cp" + python.replace(".", ""))
    return of_python and (tag.platform == "any" or tag.platform.endswith(ENDINGS[platform]))


def _broken(packed: zipfile.ZipFile) -> list[str]:
    """The files of a wheel that are not what its RECORD says."""
    records = [part for part in packed.namelist() if part.endswith(".dist-info/RECORD")]
    if len(records) != 1:
        return ["it has no RECORD"]
    listed = {path: digest for path, digest, _ in csv.reader(io.StringIO(packed.read(records[0]).decode())) if digest}
    found = [f"{path} is missing" for path in listed.keys() - set(packed.namelist())]
    for path in listed.keys() & set(packed.namelist()):
        kind, _, digest = listed[path].partition("=")
        made = hashlib.new(kind, packed.read(path)).digest()
        if base64.urlsafe_b64encode(made).rstrip(b"=").decode() != digest:
            found.append(f"{path} is not what its RECORD says")
    return sorted(found)


def brought_by(blender: str) -> dict[str, str]:
    """What a Blender has of what our wheels need: numpy, as requirements/ pins it."""
    lines = (ROOT / "requirements" / f"blender-{blender}.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if line.startswith("numpy=="))


def main(paths: list[str]) -> int:
    """Look at zips of `make zip`; the exit status."""
    from build_zip import PYTHONS

    status = 0
    for path in paths:
        with zipfile.ZipFile(path) as made:
            told = tomllib.loads(made.read("blender_manifest.toml").decode())
            wheels = {Path(name).name: made.read(name) for name in made.namelist() if name.endswith(".whl")}
        blender = next(key for key, (_, first, _) in PYTHONS.items() if first == told["blender_version_min"])
        python = PYTHONS[blender][0]
        if "-python" in Path(path).stem:
            python = Path(path).stem.rpartition("-python")[2]
        found = misfits(wheels, told["platforms"][0], python, brought_by(blender))
        print(f"{path}: {len(wheels)} wheels {'fit and unpack' if not found else '; '.join(found)}", flush=True)
        status |= bool(found)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
