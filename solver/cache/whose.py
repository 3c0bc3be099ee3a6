# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose bake lies at a path: the header of its journal says so. What no journal tells of is somebody else's."""

from pathlib import Path

from .files import is_plain, written
from .journal import line_bytes, read_journal_header
from .names import companions, in_use, lock_file, parts
from .pc2 import HEADER_SIZE

BEGINNINGS = {
    ".about.json": b'{\n "label"',
    ".report.json": b'{\n "garments"',
    ".recipe": b'{"frames"',
}  # of what we write


def owner_of(path: Path) -> str:
    """Whose bake is at `path`, as given to `frames.open_cache`; "" if nobody knows."""
    try:
        header = read_journal_header(Path(path).with_suffix(".journal"))
    except OSError:
        return ""
    return (header or {}).get("owner", "")


def is_ours(path: Path) -> bool:
    """Whether Taffeta wrote the bake at `path`: its journal says so."""
    try:
        return read_journal_header(Path(path).with_suffix(".journal")) is not None
    except OSError:
        return False


def is_strange(path: Path) -> bool:
    """Whether an ordinary file that Taffeta did not write has a name that a bake at `path` would give to one of its own.

    What a bake of ours leaves that lost its journal, or was killed before its first frame, is not strange.
    """
    path = Path(path)
    if is_ours(path):
        return False
    files = [file for file in (*parts(path), *companions(path), lock_file(path)) if _has_content(file)]
    samples, states, _ = parts(path)
    is_left = samples in files and states in files
    return any(not _begins_as_ours(file) for file in files if not (is_left and file in parts(path)))


def _has_content(file: Path) -> bool:
    """Whether there is more in a file than what may be deleted; a link has none of its own."""
    try:
        return is_plain(file) and file.stat().st_size > 0
    except OSError:
        return False


def _begins_as_ours(file: Path) -> bool:
    """Whether a file beside no journal is what Taffeta leaves: a cache without a frame, or a note of a bake that is gone."""
    if file.suffix == ".pc2":
        return file.stat().st_size <= HEADER_SIZE
    beginning = next((text for ending, text in BEGINNINGS.items() if file.name.endswith(ending)), None)
    try:
        with file.open("rb") as opened:
            return beginning is not None and opened.read(len(beginning)) == beginning
    except OSError:
        return False


def claim(path: Path, owner: str) -> bool:
    """Write into the journal of a bake that has no owner whose it is; whether that was so, and nobody was writing there.

    Raises
    ------
    OSError
        The journal cannot be written; it is as it was.
    """
    journal = Path(path).with_suffix(".journal")
    if not is_ours(path) or owner_of(path) or journal.is_symlink() or in_use(path):
        return False
    with journal.open("rb") as file, written(journal) as out:
        file.readline()
        out.write(line_bytes(read_journal_header(journal) | {"owner": owner}))
        while block := file.read(1 << 20):
            out.write(block)
    return True
