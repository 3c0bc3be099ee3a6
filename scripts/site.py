# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the site under out/site/ from README, docs/ and what else they lead to; a link that leads nowhere is an error.

    .venv/bin/python scripts/site.py [FOLDER]

Nothing is asked of a network, and no page asks anything of one: fonts are the reader's own.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
PAGES = "README.md", "CHANGELOG.md", "ARCHITECTURE.md", "presets/SOURCES.md"
FOLDERS = "docs", "benchmarks"  # all their pages and pictures
PICTURES = ".jpg", ".png", ".mp4"
FOREIGN = re.compile(r"""<(?:script|link|img|video|source|iframe)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//""")
CANONICAL = re.compile(r"<link[^>]*rel=[\"']?canonical[^>]*>")


def gather(folder: Path) -> None:
    """Put the pages and pictures of the site into an empty folder, each where its links expect it."""
    shutil.rmtree(folder, ignore_errors=True)
    files = [ROOT / page for page in PAGES]
    for part in FOLDERS:
        files += [file for file in (ROOT / part).rglob("*") if file.suffix in (".md", *PICTURES)]
    for file in files:
        target = folder / file.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)


def build(folder: Path) -> int:
    """Build the site in `folder`/site from `folder`/site-pages; the exit status."""
    gather(folder / "site-pages")
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    settings |= {"docs_dir": str(folder / "site-pages"), "site_dir": str(folder / "site")}
    written = folder / "mkdocs.yml"
    written.write_text(yaml.safe_dump(settings))
    # Not quiet: mkdocs counts no warning then, and lets every dead link pass.
    command = [sys.executable, "-m", "mkdocs", "build", "-f", str(written)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}  # of the theme's makers, about a program of theirs
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        print("\n".join(line for line in done.stderr.splitlines() if not line.startswith("INFO")), file=sys.stderr)
        return done.returncode
    foreign = [page for page in (folder / "site").rglob("*.html") if asks_a_network(page.read_text(encoding="utf-8"))]
    for page in foreign:
        print(f"{page.relative_to(folder)} loads something of another host", file=sys.stderr)
    return bool(foreign)


def asks_a_network(html: str) -> bool:
    """Whether a page loads scripts, styles or pictures of another host."""
    return FOREIGN.search(CANONICAL.sub("", html)) is not None


if __name__ == "__main__":
    out = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "out").resolve()
    out.mkdir(parents=True, exist_ok=True)
    sys.exit(build(out))
