# SPDX-License-Identifier: GPL-3.0-or-later
"""What disks, copies, other programs and people do to a file: bytes that differ, and things that are no files."""

import os
from pathlib import Path

import numpy as np

NUMBERS = (
    "nan", "-nan", "inf", "-inf", "1e309", "-1e309", "1e38", "3.5e38", "1e-320", "-0", "0", "-1", "1", "2147483647",
    "2147483648", "-2147483649", "4294967296", "99999999999999999999", "1e999999", "0x10", "1_000", "１２", "1,5",
    "1.2.3", "--1", "", "true", "none", "../..", "1/1/1", "0/0", "-1/-1", "1//", "1e", "%s%n", "\\", "\0", "é", "🧵",
)  # fmt: skip
WORDS = bytes([0, 0, 0, 0]), b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\0\0\xc0\x7f", b"\0\0\x80\x7f"
LARGEST_ADDED = 1 << 21  # bytes


def number(rng) -> str:
    """A number as nobody means it."""
    return str(rng.choice(NUMBERS))


def damaged(rng, content: bytes) -> tuple[bytes, str]:
    """The content of a file, damaged in one or more ways, and words about it."""
    words = []
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        way = WAYS[int(rng.integers(len(WAYS)))]
        content = way(rng, content)
        words.append(way.__name__.strip("_"))
    return content, "+".join(words)


def _flip_bits(rng, content):
    data = bytearray(content)
    for place in rng.integers(0, max(1, len(data)), rng.integers(1, 65)) if data else ():
        data[place] ^= 1 << int(rng.integers(8))
    return bytes(data)


def _truncate(rng, content):
    return content[: int(rng.integers(0, len(content) + 1))]


def _cut_tail(rng, content):
    return content[: max(0, len(content) - int(rng.integers(1, 40)))]


def _insert(rng, content):
    place = int(rng.integers(0, len(content) + 1))
    return content[:place] + rng.bytes(int(rng.integers(1, 200))) + content[place:]


def _remove(rng, content):
    place = int(rng.integers(0, len(content) + 1))
    return content[:place] + content[place + int(rng.integers(1, 200)) :]


def _repeat(rng, content):
    place, size = int(rng.integers(0, len(content) + 1)), int(rng.integers(1, 400))
    return content[:place] + content[place : place + size] * int(rng.integers(2, 50)) + content[place + size :]


def _append_much(rng, content):
    return content + rng.bytes(1 << 10) * int(rng.integers(1, LARGEST_ADDED >> 10))


def _extreme_word(rng, content):
    """Counts and coordinates of binary files."""
    place = 4 * int(rng.integers(0, len(content) // 4 + 1))
    place = place if rng.random() < 0.7 else 4 * int(rng.integers(0, 9))  # of a header
    return content[:place] + WORDS[int(rng.integers(len(WORDS)))] + content[place + 4 :]


def _other_number(rng, content):
    """A number between blanks, of a text."""
    pieces = content.split(b" ")
    pieces[int(rng.integers(len(pieces)))] = number(rng).encode()
    return b" ".join(pieces)


def _swap_lines(rng, content):
    lines = content.split(b"\n")
    one, other = rng.integers(0, len(lines), 2)
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _repeat_line(rng, content):
    lines = content.split(b"\n")
    place = int(rng.integers(len(lines)))
    lines[place : place + 1] = [lines[place]] * int(rng.integers(2, 2000))
    return b"\n".join(lines)


def _zeros(rng, content):
    return bytes(len(content))


def _noise(rng, content):
    return rng.bytes(int(rng.integers(1, 5000)))


def _nothing(rng, content):
    return b""


def _other_letters(rng, content):
    text = content.decode("latin-1")
    return text.encode(str(rng.choice(["utf-16", "utf-32", "utf-8-sig"])))


def _other_lines(rng, content):
    return content.replace(b"\n", [b"\r\n", b"\r", b"\0\n", b"\n\n"][int(rng.integers(4))])


WAYS = (
    _flip_bits, _flip_bits, _truncate, _cut_tail, _insert, _remove, _repeat, _append_much, _extreme_word, _extreme_word,
    _other_number, _other_number, _other_number, _swap_lines, _repeat_line, _zeros, _noise, _nothing, _other_letters,
    _other_lines,
)  # fmt: skip
ODD = "link", "dangling link", "link to itself", "folder", "full folder", "pipe", "device", "unreadable", "gone"


def replaced(rng, path: Path, outside: Path) -> str:
    """Put something that is no file of its own in the place of `path`; links lead to `outside`. Returns what.

    No pipe for a .pc2: Blender's own modifier waits for it when the file is opened, with Taffeta or without.
    """
    kind = str(rng.choice([odd for odd in ODD if odd != "pipe" or path.suffix != ".pc2"]))
    if path.is_dir() and not path.is_symlink():
        return "left"
    path.unlink(missing_ok=True)
    if kind == "link":
        path.symlink_to(rng.choice(sorted(str(file) for file in outside.iterdir())))
    elif kind == "dangling link":
        path.symlink_to(outside / "made_by_whom")
    elif kind == "link to itself":
        path.symlink_to(path)
    elif kind in ("folder", "full folder"):
        path.mkdir()
        if kind == "full folder":
            (path / "kept.txt").write_text("kept")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to(str(rng.choice(["/dev/zero", "/dev/full", "/dev/null"])))
    elif kind == "unreadable":
        path.write_bytes(rng.bytes(10))
        path.chmod(0)
    return kind


def random_name(rng) -> str:
    """A name that somebody gives a file or an object."""
    names = (
        "a/b", "../x", "..", ".", "", " ", "a\\b", "con", "NUL.obj", "a:b", "é", "🧵", "x" * 300, "a\nb", "-rf", "~", "$HOME", "%s",
        "a.b.c", "name.", ".hidden", "#", "a#b", "Cloth.bak1", "\x7f", "/etc/passwd", "//", "C:\\x", "a\tb", "‮txt", "ﬀ",
    )  # fmt: skip
    if rng.random() < 0.8:
        return str(rng.choice(np.array(names, dtype=object)))
    return "".join(chr(int(code)) for code in rng.integers(33, 0x2FFF, rng.integers(1, 90)))
