# SPDX-License-Identifier: GPL-3.0-or-later
"""What a release says of itself is the same everywhere, and what it packs is all there."""

import ast
import re
import tomllib
import zipfile
from pathlib import Path

import pytest
from taffeta.solver import model
from third_party import package_of, third_party

ROOT = Path(__file__).resolve().parents[2]
LAYERS = "gpu_ldi", "operators", "panels", "patterns", "presets", "solver", "standalone"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
VERSION = tomllib.loads((ROOT / "blender_manifest.toml").read_text())["version"]
NETWORK = {"socket", "ssl", "http", "urllib", "requests", "ftplib", "smtplib", "asyncio", "xmlrpc", "socketserver"}


def test_the_version_is_a_semantic_one_and_the_same_everywhere():
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    assert PROJECT["project"]["version"] == VERSION
    assert model.RELEASE == VERSION.rpartition(".")[0]


def test_the_changelog_begins_with_this_version():
    headings = re.findall(r"^## \[(.+?)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert headings[0][0] == VERSION and all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for _, date in headings)
    numbers = [tuple(map(int, version.split("."))) for version, _ in headings]
    assert numbers == sorted(numbers, reverse=True) and len(set(numbers)) == len(numbers)


def test_every_folder_with_code_is_a_package_of_the_project():
    folders = {file.parent.relative_to(ROOT) for layer in LAYERS for file in (ROOT / layer).rglob("__init__.py")}
    folders |= {above for folder in folders for above in folder.parents}
    wanted = {".".join(("taffeta", *folder.parts)) for folder in folders}
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == wanted


def test_nothing_that_is_installed_can_reach_a_network():
    files = [ROOT / "__init__.py", *(file for layer in LAYERS for file in (ROOT / layer).rglob("*.py"))]
    assert len(files) > 200
    found = []
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [name.name for name in node.names]
            else:
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            found += [f"{file}: {name}" for name in names if name.partition(".")[0] in NETWORK]
    assert found == []
    assert set(tomllib.loads((ROOT / "blender_manifest.toml").read_text())["permissions"]) == {"files"}


def wheel(folder, metadata, texts=("LICENSE",)):
    """A wheel of no code."""
    path = folder / "knit-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("knit-1.0.dist-info/METADATA", f"Metadata-Version: 2.4\nName: knit\nVersion: 1.0\n{metadata}\n")
        for text in texts:
            packed.writestr(f"knit-1.0.dist-info/licenses/{text}", "Do what you like.")
    return path


@pytest.mark.parametrize(
    "metadata",
    [
        "License-Expression: MIT\nLicense: some words",
        "License: MIT",
        "License: Copyright (c) 2001 Somebody\nClassifier: License :: OSI Approved :: MIT",
    ],
)
def test_the_licence_of_a_wheel_is_what_it_names(tmp_path, metadata):
    path = wheel(tmp_path, metadata + "\nProject-URL: Homepage, https://knit.example")
    assert package_of(path) == ("knit", "1.0", "MIT", "https://knit.example", ["knit-1.0.dist-info/licenses/LICENSE"])
    told = third_party([path])
    assert "| knit | 1.0 | MIT | https://knit.example |" in told and "`knit-1.0.dist-info/licenses/LICENSE`" in told


def test_a_wheel_without_a_licence_or_its_text_is_refused(tmp_path):
    with pytest.raises(ValueError, match="knit-1.0-py3-none-any.whl names no licence"):
        package_of(wheel(tmp_path, ""))
    with pytest.raises(ValueError, match="cannot be passed on"):
        package_of(wheel(tmp_path, "License: MIT", ()))
