# SPDX-License-Identifier: GPL-3.0-or-later
"""Caches that were damaged, forged, mixed up: whatever lies there, a good bake is not lost, and Resume comes to its bits."""

import contextlib
import json
import shutil
import struct
import tempfile
import zlib
from pathlib import Path

import bpy
import numpy as np
from taffeta.operators.checks.problem_list import show
from taffeta.panels.scene import report_lines
from taffeta.solver.cache import frames, intact, pc2

from . import blender
from .box import Box, Outcome
from .damage import damaged, replaced

PARTS = "Cloth.pc2", "Cloth.state", "Cloth.journal", "Cloth.report.json", "Cloth.lock", "Other.pc2", "Other.journal"
NEIGHBOUR = "Other"  # a bake of another .blend that is still there
_made: dict[str, Path] = {}  # the bake that all attacks begin with, made once


def template() -> Path:
    """A folder with a .blend, its bake, and that of a neighbour."""
    if "folder" not in _made:
        box = Box(Path(tempfile.mkdtemp(prefix="taffeta_attack_bake_")))
        blender.base(box)
        state, told = blender.act("taffeta.bake")
        if state != "FINISHED":
            raise RuntimeError(f"the shot that is to be attacked does not bake: {told}")
        bpy.ops.wm.save_mainfile()
        (box.inside / "other.blend").write_bytes(b"")
        cache = box.inside / "taffeta_cache" / f"{NEIGHBOUR}.pc2"
        with frames.open_cache(cache, 4, 1, 24.0, "../other.blend") as opened:
            opened.append(1, b"x", *np.ones((3, 4, 3)))
        _made["folder"] = box.inside
    return _made["folder"]


def attack(rng, box: Box) -> Outcome:
    """Damage files of a bake, or forge them, then open the .blend and press buttons."""
    shutil.copytree(template(), box.inside, dirs_exist_ok=True)
    folder, words = box.inside / "taffeta_cache", []
    for _ in range(int(rng.choice([1, 1, 2]))):
        words.append(_spoil(rng, folder, box))
    own = [name for name in PARTS if name.startswith(NEIGHBOUR)]
    kept = {name: _content(folder / name) for name in own}
    whole = _content(folder / "Cloth.pc2") if not (folder / "Cloth.pc2").is_symlink() else None
    bpy.ops.wm.open_mainfile(filepath=str(box.inside / "shot.blend"))
    box.close()
    told = _use(rng, box)
    verb = int(rng.integers(4))
    fault = ""
    if verb == 0:
        state, sentence = blender.act("taffeta.bake")
        if (
            whole is not None
            and whole not in {_content(path) for path in folder.glob("*.pc2")}
            and not _only_cut(whole)
        ):
            fault = "what was there before is gone after Bake"
    elif verb == 1:
        state, sentence = blender.act("taffeta.free", everything=True)
    else:
        state, sentence = blender.act("taffeta.bake", resume=True)
    if state == "FINISHED" and verb != 1:
        fault = fault or other_bits(folder)
    told += [sentence] + _use(rng, box)
    if any(kept[name] != _content(folder / name) for name in own):
        fault = fault or "the bake of another .blend was touched"
    if state != "FINISHED" and not sentence:
        fault = fault or f"{('Bake', 'Free', 'Resume', 'Resume')[verb]} did nothing, without a word"
    status = 0 if state == "FINISHED" else 1
    return Outcome(
        f"{'; '.join(words)}; then {('Bake', 'Free', 'Resume', 'Resume')[verb]}",
        status,
        "\n".join(filter(None, told)),
        fault,
    )


def _spoil(rng, folder: Path, box: Box) -> str:
    """Do something to one file of the bakes."""
    name = str(rng.choice(PARTS[:5] if rng.random() < 0.85 else PARTS))
    path, way = folder / name, rng.random()
    content = _content(path)
    if way < 0.2 or content is None:
        if name.startswith(NEIGHBOUR):
            return "nothing"
        return f"{name}: {replaced(rng, path, box.outside)}"
    if way < 0.55:
        content, words = damaged(rng, content)
    elif way < 0.75 and name == "Cloth.journal":
        content, words = _forged_line(rng, content)
    elif way < 0.9 and name in ("Cloth.pc2", "Cloth.state"):
        return _forged_frame(rng, folder)
    else:
        other = str(rng.choice(PARTS[:4]))
        content, words = _content(folder / other) or b"", f"that of {other}"
    path.write_bytes(content)
    return f"{name}: {words}"


def _forged_line(rng, content):
    """A journal with another value in a line."""
    lines = content.splitlines()
    place = int(rng.integers(len(lines)))
    values = 0, -1, 2**31, 2**70, 1.5, 1e308, "x", "../../x", "A" * 900, None, [], {}, True, [1e300, 0.0, 0.0], "nan"
    try:
        line = json.loads(lines[place])
        key = str(rng.choice(list(line)))
        line[key] = value = values[int(rng.integers(len(values)))]
        lines[place] = json.dumps(line).encode()
    except ValueError:
        return content, "nothing"
    return b"\n".join([*lines, b""]), f"line {place}: {key} = {str(value)[:30]!r}"


def _forged_frame(rng, folder: Path) -> str:
    """Numbers that are not finite, with a checksum that agrees."""
    index, value = int(rng.integers(0, blender.FRAMES)), float(rng.choice([np.nan, np.inf, -np.inf]))
    path, count = folder / "Cloth.pc2", blender.SIDE**2
    try:
        lines = (folder / "Cloth.journal").read_bytes().splitlines()
        if path.stat().st_size < pc2.sample_offset(count, index + 1):
            return "nothing"
        sample = np.full((count, 3), value, "<f4")
        with path.open("r+b") as file:
            file.seek(pc2.sample_offset(count, index))
            file.write(sample.tobytes())
        line = json.loads(lines[1 + index])
        line["sample_crc"] = zlib.crc32(sample)
        lines[1 + index] = json.dumps(line, separators=(",", ":")).encode()
        (folder / "Cloth.journal").write_bytes(b"\n".join([*lines, b""]))
    except (OSError, ValueError, IndexError, TypeError):
        return "nothing"
    return f"Cloth.pc2: frame {index + 1} forged as {value:g}"


def _use(rng, box: Box) -> list[str]:
    """What happens while a file is open: the list, the panels, the timeline, an export."""
    show(bpy.context.scene)
    for frame in (1, 2):
        bpy.context.scene.frame_set(frame)
    blender.draw_panels()
    report = box.inside / "taffeta_cache" / "Cloth.report.json"
    content = _content(report)
    if content is not None:
        report_lines(content.decode("utf-8", "replace"))
    told = []
    if rng.random() < 0.4:
        name = str(rng.choice(["cloth.obj", "cloth.v001.obj", "cloth.abc"]))
        path = str(box.inside / "out" / name)
        _, sentence = blender.act(
            "taffeta.export", filepath=path, frame_start=1, frame_end=2, everything=True, overwrite=True
        )
        told += [sentence] * bool(sentence)
    with contextlib.suppress(KeyError):
        bpy.data.objects["Cloth"].select_set(True)
    return told


def _content(path: Path) -> bytes | None:
    if path.is_symlink() or not path.is_file():
        return None
    return path.read_bytes()


def _only_cut(content: bytes) -> bool:
    """Whether nothing is lost with a file of which a header alone, or less, was left."""
    return len(content) <= pc2.HEADER_SIZE


def other_bits(folder: Path) -> str:
    """A sentence if the bake is not the one that an undisturbed bake gives."""
    wanted = template() / "taffeta_cache"
    obj = bpy.data.objects["Cloth"]
    path = Path(bpy.path.abspath(obj.taffeta_cloth.cache_path))
    if not path.is_relative_to(folder):
        return f"it plays {path}"
    for suffix in (".pc2", ".state"):
        one, other = _content(path.with_suffix(suffix)), _content((wanted / "Cloth").with_suffix(suffix))
        if one != other:
            return f"{path.with_suffix(suffix).name} has other bits than an undisturbed bake"
    header = pc2.read_header(path)
    if intact.first_damaged(path, range(header.sample_count)) is not None:
        return f"{path.name} has damaged frames"
    return "" if struct.unpack("<i", path.read_bytes()[28:32])[0] == blender.FRAMES else "frames are missing"


ATTACKS = {"caches": attack}
