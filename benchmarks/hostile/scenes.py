# SPDX-License-Identifier: GPL-3.0-or-later
"""Hostile scene files, meshes, maps and arguments for `python -m taffeta`."""

import contextlib
import io
import re
import struct
import zlib
from pathlib import Path

import numpy as np
from taffeta.standalone import run, scene

from .box import Box, Outcome
from .damage import damaged, number, random_name, replaced

SIDE = 5  # vertices of a sheet's side
LAST = 3  # frame
TAGS = (*scene.GENERAL, *scene.FILES, *scene.SETTINGS, *scene.STATIC, "scene", "cloth", "general", "static", "x")
TEXT = """<scene>
<general><gravity>0 -9.81 0</gravity><fps>24</fps><StartFrame>1</StartFrame><EndFrame>3</EndFrame><randomness>0.5</randomness>
<integration>XPBD</integration><broadPhase>TREE</broadPhase><time-step>0.02</time-step><airDensity>1.2</airDensity></general>
<static><objPath>body_####.obj</objPath><friction>0.3</friction><aura>0.005</aura></static>
<cloth><FILE><objPath>sheet.obj</objPath><constraintsPath>pins.png</constraintsPath><massPath>grey.png</massPath>
<savePath>frames</savePath><saveName>flag</saveName></FILE><SETTINGS><minMass>0.1</minMass><maxMass>0.3</maxMass>
<minThickness>0.002</minThickness><minStiffness>500</minStiffness><minDamping>2</minDamping><friction>0.4</friction>
<model>fabric</model><shearStiffness>50</shearStiffness><bendingStiffness>1e-5</bendingStiffness><strainLimit>0.1</strainLimit>
<stiffening>5</stiffening><selfCollision>true</selfCollision><collideWith>body_####.obj</collideWith></SETTINGS></cloth>
</scene>
"""


def base(folder: Path) -> Path:
    """A scene that bakes, with everything in it; returns its file."""
    for frame in (1, 2, 3):
        (folder / f"body_{frame:04d}.obj").write_bytes(_sheet(3, 0.1 * frame, 2.0))
    (folder / "sheet.obj").write_bytes(_sheet(SIDE, 0.6, 1.0))
    rows = np.zeros((4, 4), np.uint8)
    rows[:, 0] = 255
    for name in ("pins.png", "grey.png"):
        (folder / name).write_bytes(picture(rows))
    (folder / "scene.xml").write_text(TEXT)
    return folder / "scene.xml"


def _sheet(count: int, height: float, size: float) -> bytes:
    line = np.linspace(-0.5, 0.5, count) * size
    points = [(x, z) for z in line for x in line]
    lines = [f"v {x:.6g} {height:.6g} {z:.6g}" for x, z in points]
    lines += [f"vt {x / size + 0.5:.6g} {z / size + 0.5:.6g}" for x, z in points]
    for j in range(count - 1):
        for i in range(count - 1):
            a = j * count + i + 1
            lines.append("f " + " ".join(f"{k}/{k}" for k in (a, a + count, a + count + 1, a + 1)))
    return "\n".join([*lines, ""]).encode()


def chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of a PNG."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def picture(rows: np.ndarray, head: bytes | None = None) -> bytes:
    """A grey PNG of rows (r, c) uint8; with another IHDR than belongs to it if `head` is given."""
    head = struct.pack(">IIBBBBB", rows.shape[1], rows.shape[0], 8, 0, 0, 0, 0) if head is None else head
    packed = zlib.compress(b"".join(b"\0" + row.tobytes() for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def _run(arguments: list[str]) -> tuple[int, str]:
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            status = run.main(arguments)
        except SystemExit as end:  # argparse has told
            status = int(end.code or 0)
    return status, errors.getvalue()


def bake(box: Box, words: str, arguments: list[str] | None = None) -> Outcome:
    """Bake the scene of a box; all frames have to be there if it says so."""
    box.close()
    scene_path = box.inside / "scene.xml"
    status, told = _run([str(scene_path)] if arguments is None else arguments)
    fault = ""
    if not status and arguments is None:
        read = scene.read(scene_path, box.inside)
        lacking = [
            f"{cloth.target.name}_{frame:04d}.obj"
            for cloth in read.cloths
            for frame in read.frames
            if not cloth.target.with_name(f"{cloth.target.name}_{frame:04d}.obj").is_file()
        ]
        fault = f"{lacking[0]} is not there, and the status is 0" if lacking else ""
    return Outcome(words, status, told, fault)


def attack_xml(rng, box: Box) -> Outcome:
    """A scene file with other values, elements or bytes."""
    path = base(box.inside)
    way = int(rng.integers(4))
    if way == 0:
        content, words = damaged(rng, path.read_bytes())
        path.write_bytes(content)
    elif way == 1:
        words = replaced(rng, path, box.outside)
    else:
        text, words = TEXT, []
        for _ in range(int(rng.integers(1, 5))):
            text, about = (_other_value if rng.random() < 0.7 else _other_elements)(rng, text)
            words.append(about)
        path.write_text(text.replace("\0", ""), encoding="utf-8", errors="replace")
        words = "; ".join(words)
    return bake(box, f"scene.xml: {words}")


def _other_value(rng, text):
    places = list(re.finditer(r">([^<>\n]+)<", text))
    if not places:
        return text, "nothing left"
    place = places[int(rng.integers(len(places)))]
    kind = int(rng.integers(8))
    if kind < 5 and re.fullmatch(r"-?[\d.e-]+", place[1]) and len(places) > 3:
        value = f"{float(place[1] if '-' not in place[1][1:] else 1.0) * 10.0 ** rng.uniform(-9.0, 9.0):.4g}"
        value = "3" if "Frame" in text[place.end() : place.end() + 12] else value
    else:
        value = number(rng) if kind < 6 else random_name(rng) if kind == 6 else " ".join(number(rng) for _ in range(3))
    value = value.replace("&", "").replace("<", "")
    return text[: place.start(1)] + value + text[place.end(1) :], f"{place[1]} is {value!r}"


def _other_elements(rng, text):
    tags = list(re.finditer(r"<(/?)([\w-]+)>", text))
    place = tags[int(rng.integers(len(tags)))]
    tag = str(rng.choice(TAGS))
    made = (
        f"<{tag}>{number(rng)}</{tag}>".replace("\0", ""),
        f"<{tag}/>",
        f"<{tag}>" * 40,
        f'<{place[2]} {tag}="{random_name(rng)}">'.replace("&", ""),
        "<!-- -->" * 300,
        "<![CDATA[<scene>]]>",
        '<!DOCTYPE x [<!ENTITY a "aaaa">]>',
        "&#0;",
        "&amp;",
        "",
        place[0] * 2,
    )
    piece = made[int(rng.integers(len(made)))]
    return text[: place.start()] + piece + text[place.end() :], f"{place[0]} is {piece[:40]!r}"


def attack_mesh(rng, box: Box) -> Outcome:
    """An OBJ with other bytes, lines, or faces that no cloth has; or something that is no file."""
    base(box.inside)
    name = str(rng.choice(["sheet.obj", "sheet.obj", "body_0001.obj", "body_0002.obj"]))
    path = box.inside / name
    way = rng.random()
    if way < 0.4:
        content, words = damaged(rng, path.read_bytes())
        path.write_bytes(content)
    elif way < 0.5:
        words = replaced(rng, path, box.outside)
    else:
        content, words = _strange_mesh(rng)
        path.write_bytes(content)
    return bake(box, f"{name}: {words}")


def _strange_mesh(rng):
    count = int(rng.choice([1, 2, 3, 4, 30, 300]))
    scale = float(rng.choice([0.0, 1e-30, 1e-6, 1.0, 1.0, 1e6, 1e18, 1e38, 1e200]))
    x = rng.normal(size=(count, 3)) * scale
    if rng.random() < 0.3:
        x = np.round(x / max(scale, 1e-300) * 1.5) * scale  # vertices on each other
    if rng.random() < 0.2:
        x[:, int(rng.integers(3))] = 0.0
    sizes = rng.choice(
        [3, 3, 3, 4, 4, 7, 60] if rng.random() < 0.9 else [1, 2, 3], int(rng.integers(0 if count < 3 else 1, 40))
    )
    low, high = (1, count + 1) if rng.random() < 0.8 else (-count - 2, count + 3)
    faces = [rng.integers(low, high, size) for size in sizes]
    if rng.random() < 0.6 and count >= 3:
        faces = [1 + rng.permutation(count)[:size] for size in sizes]
    if rng.random() < 0.1:
        faces.append(np.arange(count).repeat(int(rng.integers(1, 60)))[:11000] + 1)
    lines = ["v " + " ".join(f"{value:.9g}" for value in point) for point in x]
    lines += [f"vt {u:.4g} {v:.4g}" for u, v in rng.normal(size=(count, 2))]
    lines += ["f " + " ".join(f"{k}/{k}" for k in face) for face in faces]
    return "\n".join([*lines, ""]).encode(), f"{count} vertices of {scale:g} m, {len(faces)} faces"


def attack_map(rng, box: Box) -> Outcome:
    """A picture with other bytes or another head; or something that is no file."""
    base(box.inside)
    path = box.inside / str(rng.choice(["pins.png", "grey.png"]))
    way = rng.random()
    if way < 0.45:
        content, words = damaged(rng, path.read_bytes())
        path.write_bytes(content)
    elif way < 0.55:
        words = replaced(rng, path, box.outside)
    elif way < 0.75:
        shape = int(rng.choice([1, 2, 7, 40, 600])), int(rng.choice([1, 2, 7, 40, 600]))
        path.write_bytes(picture(rng.integers(0, 256, shape).astype(np.uint8)))
        words = f"{shape} of noise"
    else:
        sizes = [int(value) for value in rng.choice([0, 1, 2, 4, 8192, 65536, 2**31 - 1, 2**32 - 1], 2)]
        rest = [
            int(rng.choice(values))
            for values in ([1, 2, 4, 8, 16, 3, 0], [0, 2, 3, 4, 6, 1, 9], [0, 1], [0, 7], [0, 1])
        ]
        rows = rng.integers(0, 256, (int(rng.integers(1, 9)), int(rng.integers(1, 9)))).astype(np.uint8)
        head = struct.pack(">IIBBBBB", *sizes, *rest)
        path.write_bytes(picture(rows, head))
        words = f"head {sizes} {rest}"
    return bake(box, f"{path.name}: {words}")


def attack_folder(rng, box: Box) -> Outcome:
    """Links, pipes and folders where frames are to be written, unfinished ones of somebody else."""
    base(box.inside)
    frames, words = box.inside / "frames", []
    if rng.random() < 0.25:
        words.append(f"frames: {replaced(rng, frames, box.outside)}")
        if frames.is_symlink() and rng.random() < 0.5:
            frames.unlink()
            frames.symlink_to(box.outside)
            words.append("frames leads outside")
    if frames.is_dir() or not frames.exists() and not frames.is_symlink():
        for _ in range(int(rng.integers(1, 4))):
            name = f"flag_{int(rng.integers(1, 4)):04d}.obj{rng.choice(['', '.part', '.part'])}"
            frames.mkdir(exist_ok=True)
            if not frames.is_symlink():
                words.append(f"{name}: {replaced(rng, frames / name, box.outside)}")
    return bake(box, "; ".join(words))


def attack_arguments(rng, box: Box) -> Outcome:
    """A command line that nobody means."""
    base(box.inside)
    scene_path, out = str(box.inside / "scene.xml"), str(box.inside / "out")
    words = [scene_path, "--out", out, "--help", "--", "-", "", "--out=", str(box.inside), "/dev/zero", "/dev/null", "--x",
             str(box.outside / "thesis.txt"), random_name(rng), str(box.inside / ("y" * 300)), number(rng)]  # fmt: skip
    count = int(rng.integers(0, 5))
    arguments = [words[int(rng.integers(len(words)))].replace("\0", "") for _ in range(count)]
    if scene_path not in arguments and rng.random() < 0.5:
        arguments.insert(0, scene_path)
    for place, word in enumerate(arguments[:-1]):  # a folder that somebody chooses may be anywhere: not here
        if word == "--out" and not arguments[place + 1].startswith(("/", "-")):
            arguments[place + 1] = str(box.inside / "chosen" / arguments[place + 1].replace("..", "_").lstrip("/"))
        elif word == "--out" and arguments[place + 1].startswith(("/etc", "//", "/dev")):
            arguments[place + 1] = out
    if "--out=" in arguments:
        arguments[arguments.index("--out=")] = f"--out={out}"
    outcome = bake(box, f"arguments {arguments}", arguments)
    return outcome if outcome.status or outcome.told or arguments else outcome._replace(fault="nothing was told")


ATTACKS = {
    "scene files": attack_xml,
    "meshes": attack_mesh,
    "maps": attack_map,
    "folders": attack_folder,
    "arguments": attack_arguments,
}
