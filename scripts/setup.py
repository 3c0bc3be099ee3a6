# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the virtual environment of one Blender version, once: `python3 scripts/setup.py 4.5`.

What is installed stands in `requirements/blender-<version>.txt`. A stamp inside the environment holds a hash of
that file, so a second call returns at once and an edit there brings the environment up to date. Needs nothing but
a Python's standard library. Blender as a Python module needs a few system libraries; missing ones are installed
with apt when that is allowed, or named with the command that installs them.

Exit status: 0 ready, 1 something failed (one sentence says what), 3 no fitting Python on this machine.
"""

import ctypes
import glob
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = {"4.5": (".venv", "3.11"), "5.2": (".venv-5.2", "3.13")}
# Shared library -> Debian package, for Blender's module and headless OpenGL.
LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11.so.6": "libx11-6",
    "libXrender.so.1": "libxrender1",
    "libXi.so.6": "libxi6",
    "libXfixes.so.3": "libxfixes3",
    "libXxf86vm.so.1": "libxxf86vm1",
    "libXext.so.6": "libxext6",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libSM.so.6": "libsm6",
    "libICE.so.6": "libice6",
}
DRIVERS = "/usr/lib/*/dri/*swrast*", "/usr/lib/*/libgallium-*.so", "/usr/lib*/dri/*swrast*"


def quit_with(sentence: str, status: int = 1):
    """Say what went wrong, and stop."""
    print(f"Taffeta set-up: {sentence}", file=sys.stderr)
    sys.exit(status)


def runs(command: list[str]) -> str | None:
    """What a command prints, or None when it cannot run or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def find_python(version: str) -> str | None:
    """A Python of this `3.x` version: this one, on the PATH, or kept by pyenv or uv."""
    home = Path.home()
    kept = [Path(os.environ.get("PYENV_ROOT", home / ".pyenv")) / "versions", home / ".local/share/uv/python"]
    found = [sys.executable, shutil.which(f"python{version}"), shutil.which("python3")]
    for folder in kept:
        found += sorted(glob.glob(f"{folder}/*{version}*/bin/python{version}"), reverse=True)
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    return next((python for python in found if python and runs([python, "-c", ask]) == version), None)


def missing_packages() -> list[str]:
    """Debian packages whose libraries this machine lacks."""
    missing = []
    for library, package in LIBRARIES.items():
        try:
            ctypes.CDLL(library)
        except OSError:
            missing.append(package)
    if not any(glob.glob(pattern) for pattern in DRIVERS):
        missing.append("libgl1-mesa-dri")
    return missing


def install_packages(packages: list[str], why: str):
    """Install Debian packages as root or with sudo, or stop with the command that would."""
    command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    sentence = f"{why} Install the Debian packages with:\n    sudo apt-get install {' '.join(packages)}"
    if not shutil.which("apt-get"):
        quit_with(f"{why} This machine has no apt-get: install what your system calls {', '.join(packages)}.")
    if os.geteuid() != 0:
        if runs(["sudo", "-n", "true"]) is None:
            quit_with(sentence)
        command = ["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive", *command]
    print(f"Installing Debian packages: {' '.join(packages)}", flush=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    update = [*command[: command.index("apt-get") + 1], "update", "-qq"]
    for step in (update, command):
        if subprocess.run(step, env=environment, stdout=subprocess.DEVNULL).returncode and step is command:
            quit_with(f"apt-get failed. {sentence}")


def create(folder: Path, python: str, version: str):
    """Make the empty environment; Debian keeps that ability in a package of its own."""
    if runs([python, "-c", "import ensurepip, venv"]) is None:
        install_packages([f"python{version}-venv"], f"Python {version} cannot make virtual environments here.")
    if subprocess.run([python, "-m", "venv", "--clear", str(folder)]).returncode:
        quit_with(f"{python} could not make the virtual environment {folder.name}.")


def fill(folder: Path, requirements: Path):
    """Install the pinned packages and Taffeta itself (in place)."""
    python = str(folder / "bin" / "python")
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check"]
    if subprocess.run([*pip, "-r", str(requirements)]).returncode:
        quit_with(f"pip could not install {requirements.relative_to(ROOT)}: see its message above.")
    if subprocess.run([*pip, "-q", "--no-deps", "--no-build-isolation", "-e", str(ROOT)]).returncode:
        quit_with("pip could not install Taffeta itself: see its message above.")
    check = subprocess.run([python, "-c", "import bpy, numba, scipy, taffeta"], capture_output=True, text=True)
    if check.returncode:
        quit_with(f"Blender's module does not start: {check.stderr.strip().splitlines()[-1]}")


def main(blender: str):
    """Bring the environment of one Blender version up to date."""
    name, version = ENVIRONMENTS[blender]
    folder, requirements = ROOT / name, ROOT / "requirements" / f"blender-{blender}.txt"
    parts = requirements.read_bytes(), (ROOT / "pyproject.toml").read_bytes(), str(ROOT).encode()
    stamp, key = folder / "taffeta-stamp", hashlib.sha256(b"\0".join(parts)).hexdigest()
    if stamp.is_file() and stamp.read_text() == key:
        return
    missing = missing_packages()
    if missing:
        install_packages(missing, "Blender needs system libraries that are missing here.")
    if runs([str(folder / "bin" / "python"), "-m", "pip", "--version"]) is None:
        python = find_python(version)
        if python is None:
            quit_with(f"Blender {blender} needs Python {version}, and this machine has none.", 3)
        create(folder, python, version)
    print(f"Setting up {name} for Blender {blender} (once; about 600 MB are downloaded)...", flush=True)
    fill(folder, requirements)
    stamp.write_text(key)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in ENVIRONMENTS:
        quit_with(f"say which Blender: {' or '.join(ENVIRONMENTS)}.")
    main(sys.argv[1])
