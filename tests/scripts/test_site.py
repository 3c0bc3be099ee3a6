# SPDX-License-Identifier: GPL-3.0-or-later
"""The site: built offline, every link and anchor leads somewhere, and no page asks another host for anything."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs", reason="the site is built with Blender 4.5's environment")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site():
    """scripts/site.py as a module; its name is that of one of Python's own."""
    spec = importlib.util.spec_from_file_location("taffeta_site", ROOT / "scripts" / "site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_builds_and_every_link_leads_somewhere(tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "site.py"), str(tmp_path)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    start = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "docs/tutorials.html" in start and "docs/images/demo.jpg" in start
    assert "taffeta_cloth" in (tmp_path / "site" / "docs" / "reference.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "link", ["[no page](nowhere.md)", "[no anchor](fabric.md#nothing)", "![no picture](images/none.jpg)"]
)
def test_a_link_that_leads_nowhere_is_an_error(site, tmp_path, monkeypatch, link):
    pages = "README.md", "CHANGELOG.md", "ARCHITECTURE.md", "presets", "docs", "benchmarks", "mkdocs.yml"
    root = tmp_path / "checkout"
    root.mkdir()
    for name in pages:
        source = ROOT / name
        shutil.copytree(source, root / name) if source.is_dir() else shutil.copyfile(source, root / name)
    with (root / "docs" / "maps.md").open("a") as page:
        page.write(f"\n{link}\n")
    monkeypatch.setattr(site, "ROOT", root)
    assert site.build(tmp_path) != 0


@pytest.mark.parametrize(
    ("html", "asks"),
    [
        ('<script src="https://cdn.example/x.js"></script>', True),
        ('<link rel="stylesheet" href="//fonts.example/css">', True),
        ('<img alt="a" src=http://images.example/a.png>', True),
        ('<link rel="canonical" href="https://taffeta.example/">', False),
        ('<a href="https://docs.blender.org">Blender</a><img src="images/a.png">', False),
    ],
)
def test_what_loads_something_of_another_host_is_found(site, html, asks):
    assert site.asks_a_network(html) is asks
