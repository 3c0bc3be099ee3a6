# SPDX-License-Identifier: GPL-3.0-or-later
"""The window: Debian's Blender with the extension installed from its zip, in the folder that scripts/gui_root.sh makes.

Where that folder cannot be made (no root rights, no Debian packages) the tests are skipped and say so.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "out" / "gui"
KERNELS = "kernels"  # the folder of what the windows compiled
FOLDER = Path(
    os.environ.get("TAFFETA_GUI_ROOT")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "taffeta" / "gui-root"
)


def pytest_collection_modifyitems(items):
    """The window that compiles as a new install does comes first: the others need not."""
    items.sort(key=lambda item: item.path.name != "test_window.py")


def python_inside() -> str:
    """Python version of the folder's Blender, such as 3.14."""
    return next((FOLDER / "usr/bin").glob("python3.[0-9]*")).name.removeprefix("python")


def pip(*arguments):
    """Run this environment's pip quietly."""
    subprocess.run([sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", *arguments], check=True)


@pytest.fixture(scope="session")
def installable():
    """A folder with the extension's zip and what Debian's Blender needs to install it."""
    if not (FOLDER / "taffeta-ready").exists():
        pytest.skip("no Debian folder with a Blender for the window: `sudo make gui-root` makes it")
    if os.geteuid() != 0:
        pytest.skip("entering the window's Debian folder needs root rights")
    made = OUT / "made"
    shutil.rmtree(OUT, ignore_errors=True)
    made.mkdir(parents=True)
    version = python_inside()
    build = [sys.executable, str(ROOT / "scripts/build_zip.py"), "--blender", "5.2", "--platform", "linux-x64"]
    subprocess.run([*build, "--python", version], check=True)
    shutil.copy(next((ROOT / "out/zip").glob(f"*-linux-x64-python{version}.zip")), made / "taffeta.zip")
    # Debian's Blender does not bring what its own extension installer imports.
    pip("install", "--target", str(made / "site"), "--only-binary=:all:", "--python-version", version, "cattrs==26.2.1")
    return made


@pytest.fixture(scope="session")
def tell(installable):
    """A function that tells a story in a window of a size, keeps pictures in a folder of out/gui/, and returns what it wrote.

    What one window compiled, the next one finds; but for the story of a release's whole life, which begins with nothing.
    """

    def told(story: str, folder: str, width: int, height: int):
        out = OUT / folder
        out.mkdir()
        for made in installable.iterdir():
            (out / made.name).hardlink_to(made) if made.is_file() else shutil.copytree(made, out / made.name)
        compiled = OUT / KERNELS
        if compiled.exists():
            compiled.rename(out / KERNELS)
        script = "/checkout/tests/gui/inside.sh", f"/checkout/tests/gui/{story}.py", str(width), str(height)
        try:
            subprocess.run(["bash", str(ROOT / "scripts/gui_root.sh"), "run", str(out), "bash", *script], timeout=1000)
        finally:  # also where a story takes too long
            if (out / KERNELS).exists():
                (out / KERNELS).rename(compiled)
        written = out / "result.json"
        assert written.exists(), (out / "blender.log").read_text()[-3000:]
        return json.loads(written.read_text())

    return told


@pytest.fixture(scope="module")
def result(tell, request):
    """What the story of a file wrote down, told once for all its tests; STORY in that file: its name, folder, width and height."""
    return tell(*request.module.STORY)


@pytest.fixture
def log(result, request):
    """What Blender wrote to its console meanwhile."""
    return (OUT / request.module.STORY[1] / "blender.log").read_text()
