# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose bake lies at a path: the header of its journal says so."""

from pathlib import Path

from .files import written
from .journal import line_bytes, read_journal_header
from .names import in_use


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
