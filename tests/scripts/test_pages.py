# SPDX-License-Identifier: GPL-3.0-or-later
"""What the pages name is there: each file, and each script that measures or draws what a page tells."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "presets/SOURCES.md")]
PAGES += [*sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "benchmarks").glob("*.md"))]
FOLDERS = "benchmarks|docs|gpu_ldi|operators|panels|patterns|presets|requirements|scripts|solver|standalone|tests"
FILE = re.compile(rf"(?<![\w/.])((?:{FOLDERS})/[\w./-]*\w\.(?:py|js|yaml|txt|sh|md|po|pot))\b")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_file_that_a_page_names_is_there(page):
    named = set(FILE.findall(page.read_text(encoding="utf-8")))
    assert {
        name for name in named if not any((root / name).is_file() for root in (ROOT, page.parent, ROOT / "tests"))
    } == set()


def test_files_are_found_in_a_page():
    text = "run `python scripts/gallery.py x` and [this](docs/maps.md#a), `solver/elastic/bands.py`; not out/demo/a.py"
    assert FILE.findall(text) == ["scripts/gallery.py", "docs/maps.md", "solver/elastic/bands.py"]
