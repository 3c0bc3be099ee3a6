# SPDX-License-Identifier: GPL-3.0-or-later
"""Random small shots as an animator makes them: sheets over moving primitives, baked by Blender's operators as installed.

`python benchmarks/fuzz.py --operators` runs them. A seed is a shot of 12 to 20 frames: one to three sheets of 6 to 25
vertices a side (quads, triangles, or irregular), now and then a T-shirt, 0.2 to 10 mm thick and of any model, lie over each
other and fall; one to three of Blender's primitives fly, turn and spin below, where the cloth comes down. All begins apart.
Bodies keep apart from each other by more than all sheets are thick, and none crosses itself, so that none has to pinch
cloth: the monkey goes without its eyes, which cross its head. Each frame is judged as it is shown.
"""

import tempfile
import time
from typing import NamedTuple

import bpy
import numpy as np
from crossings import Crossings, edges_of
from fuzz import between, direction
from people.judge import Judge
from scenes import positions, triangles
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import Delaunay
from taffeta.operators.read.keyed import curves
from taffeta.presets.scenes import materials, sheet, solids, tshirt

LOWEST = 0.7  # [m] below which no cloth begins
THICKNESS = 2e-4, 1e-2  # [m]
MODELS = "FABRIC", "FABRIC", "FABRIC", "SPRINGS", "MEMBRANE"
MESHES = "grid", "triangulated", "irregular"
SHIRT_IN = 12  # shots, one of which has a T-shirt
FAR = 3.0  # [m] that the wildest body goes
ROOM = 0.03  # [m] between the ways of two bodies, besides auras and cloth
TRIES = 60  # to find a body a way apart from the others'
PRIMITIVES = {
    "sphere": lambda: _sphere(),
    "cube": lambda: bpy.ops.mesh.primitive_cube_add(),
    "torus": lambda: bpy.ops.mesh.primitive_torus_add(major_segments=24, minor_segments=10),
    "cone": lambda: bpy.ops.mesh.primitive_cone_add(vertices=12),
    "icosphere": lambda: bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2),
    "monkey": lambda: bpy.ops.mesh.primitive_monkey_add(),
}


class Shot(NamedTuple):
    """A scene that is ready to bake."""

    garments: list  # objects
    bodies: list  # objects
    words: str  # what it is made of


class Way(NamedTuple):
    """Of a ball round a body: it goes straight on, as evenly as the others."""

    start: np.ndarray  # (3,) [m]
    end: np.ndarray  # (3,) [m]
    radius: float  # [m]


def scene(seed: int, most: int = 25) -> Shot:
    """Make the shot of a seed in an empty file; sheets of `most` x `most` vertices at most, and T-shirts if that is all."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    rng, blender = np.random.default_rng(seed), bpy.context.scene
    blender.render.fps = 24
    blender.frame_start, blender.frame_end = 1, int(rng.integers(12, 21))
    garments, words = _garments(rng, blender.collection, most)
    thick = sum(obj.taffeta_cloth.thickness.value for obj in garments)
    ways, bodies = [], []
    for number in range(rng.integers(1, 4)):
        way = _way(rng, ways, thick)
        if way is None:
            continue
        kind = str(rng.choice(list(PRIMITIVES)))
        body = _body(rng, f"Body {number + 1}", kind, way, blender.frame_end)
        bodies.append(body)
        ways.append(way)
        speed = np.linalg.norm(way.end - way.start) / ((blender.frame_end - 1) / 24.0)
        words.append(f"{kind} of {way.radius:.2g} m at {speed:.1f} m/s")
    line = str(rng.choice(["LINEAR", "BEZIER"]))  # one for all: their ways were looked at as evenly gone
    for curve in (curve for body in bodies for curve in curves(body)):
        for key in curve.keyframe_points:
            key.interpolation = line
    blender.frame_set(1)
    return Shot(garments, bodies, ", ".join(words))


def _garments(rng, collection, most):
    """Sheets over each other from `LOWEST` up, apart; and words about each."""
    height, made, words = LOWEST, [], []
    for number in range(rng.integers(1, 4)):
        name, thickness = f"Sheet {number + 1}", between(rng, *THICKNESS)
        if number == 0 and most >= 25 and rng.random() < 1.0 / SHIRT_IN:
            place = np.eye(4)
            place[2, 3] = height + 2.0 * tshirt.DEPTH
            obj = tshirt.add(collection, name, materials.plain(name, (0.5, 0.5, 0.5)), place)
            obj.taffeta_cloth.thickness.value = thickness = min(thickness, 0.003)
            kind, reach = "T-shirt", 4.0 * tshirt.DEPTH
        else:
            wave = float(rng.integers(0, 2) * rng.uniform(0.0, 0.05))
            kind = str(rng.choice(MESHES))
            points, faces = _sheet(rng, kind, int(rng.integers(6, most + 1)), wave)
            points[:, 2] += height + wave
            obj = _cloth(rng, collection, name, points, faces, thickness)
            reach = 2.0 * wave
        height += reach + 3.0 * thickness + rng.uniform(0.005, 0.12)
        made.append(obj)
        model = obj.taffeta_cloth.model.lower()
        words.append(f"{kind} of {len(obj.data.vertices)} in {model} of {1e3 * thickness:.2g} mm")
    return made, words


def _sheet(rng, kind, count, wave):
    """Points (n, 3) [m] about the origin and faces of a sheet of count x count vertices, turned about z."""
    side = rng.uniform(0.4, 1.6)
    points, quads, _ = sheet.rectangle(count, count, side, side * rng.uniform(0.6, 1.0))
    faces = quads
    if kind != "grid":
        points[:, :2] += rng.uniform(-0.2, 0.2, (len(points), 2)) * side / (count - 1) * 0.6
        turned = np.where((rng.random(len(quads)) < 0.5)[:, None], quads, np.roll(quads, 1, axis=1))
        faces = np.concatenate([turned[:, [0, 1, 2]], turned[:, [0, 2, 3]]])
    if kind == "irregular":
        points[:, :2] = np.random.default_rng(rng.integers(1 << 30)).uniform(-0.5, 0.5, (len(points), 2)) * side
        faces = Delaunay(points[:, :2]).simplices
        a, b, c = (points[faces[:, k], :2] for k in range(3))
        longest = np.max([np.linalg.norm(q - p, axis=1) for p, q in ((a, b), (b, c), (c, a))], axis=0)
        area = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
        faces = faces[np.abs(area) > 0.1 * longest**2]  # no slivers
    points[:, 2] = wave * np.sin(points[:, 0] / side * rng.uniform(3.0, 9.0))
    turn = rng.uniform(0.0, np.pi)
    points[:, :2] = points[:, :2] @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    used, numbers = np.unique(faces, return_inverse=True)
    return points[used], numbers.reshape(faces.shape)


def _cloth(rng, collection, name, points, faces, thickness):
    """An object of such a sheet, of a fabric between silk and canvas."""
    obj = sheet.add(collection, name, points, faces, points[:, :2], materials.plain(name, (0.5, 0.5, 0.5)))
    obj.taffeta_cloth.model = str(rng.choice(MODELS))
    stretch = between(rng, 200.0, 3000.0)
    numbers = {"mass": between(rng, 0.08, 0.45), "stretch_stiffness": stretch, "shear_stiffness": 0.05 * stretch}
    sheet.make_of(obj, thickness=thickness, bending_stiffness=between(rng, 1e-7, 5e-4), **numbers)
    return obj


def _way(rng, others, thick):
    """A way from below the cloth to where it falls, apart from all others'; None if none was found."""
    for _ in range(TRIES):
        radius = rng.uniform(0.12, 0.4)
        start = np.array([*rng.uniform(-0.6, 0.6, 2), LOWEST - 0.02 - radius - rng.uniform(0.0, 0.6)])
        far = between(rng, 0.02, FAR if rng.random() < 0.3 else 0.8)
        aim = direction(rng) + [0.0, 0.0, rng.uniform(0.0, 2.0)]
        end = start + far * aim / np.linalg.norm(aim)
        way = Way(start, end, radius)
        if all(_gap(way, other) > thick * 4.0 + ROOM for other in others):
            return way
    return None


def _gap(one, other):
    """[m] between two balls where they come closest."""
    part = np.linspace(0.0, 1.0, 400)[:, None]
    apart = one.start - other.start + part * ((one.end - one.start) - (other.end - other.start))
    return np.linalg.norm(apart, axis=1).min() - one.radius - other.radius


def _body(rng, name, kind, way, last):
    """A primitive that fills the ball of a way less the aura, keyed from the first frame to the last."""
    PRIMITIVES[kind]()
    obj = bpy.context.object
    obj.name = name
    if kind == "monkey":
        _leave_the_largest(obj)
    x = positions(obj.data, np.eye(4))
    x -= 0.5 * (x.min(axis=0) + x.max(axis=0))
    x *= (way.radius - obj.taffeta_collider.aura) / np.linalg.norm(x, axis=1).max()
    obj.data.vertices.foreach_set("co", x.astype(np.float32).ravel())
    sheet.collide(obj, obj.taffeta_collider.aura, obj.taffeta_collider.friction)
    spin = rng.uniform(-1.0, 1.0, 3) * between(rng, 0.1, 20.0)  # [rad] from first to last
    turned = rng.uniform(-3.0, 3.0, 3)
    for frame, place, turn in ((1, way.start, turned), (last, way.end, turned + spin)):
        obj.location, obj.rotation_euler = place, turn
        obj.keyframe_insert("location", frame=frame)
        obj.keyframe_insert("rotation_euler", frame=frame)
    return obj


def _sphere():
    """Blender's sphere, whose faces come in another order each time, in one."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=24, ring_count=12)
    solids.in_order(bpy.context.object.data)


def _leave_the_largest(obj):
    """Take all but the largest island out of an object."""
    edges = edges_of(triangles(obj))
    count = len(obj.data.vertices)
    _, island = connected_components(coo_array((np.ones(len(edges)), edges.T), shape=(count, count)))
    kept = island == np.bincount(island).argmax()
    number = np.cumsum(kept) - 1
    faces = [[int(number[v]) for v in face.vertices] for face in obj.data.polygons if kept[face.vertices[0]]]
    x = positions(obj.data, np.eye(4))[kept]
    obj.data = bpy.data.meshes.new(obj.name)
    obj.data.from_pydata(x.tolist(), [], faces)


def run(shot: Shot) -> tuple[list[Crossings], float, str]:
    """Bake with all as installed; what each frame shows, the first included, the worst stretch, and why it ended early."""
    blender, seen, error = bpy.context.scene, Judge(shot), ""
    with tempfile.TemporaryDirectory() as folder:
        blender.taffeta.cache_folder = folder
        try:
            bpy.ops.taffeta.bake()
        except RuntimeError as failure:  # how Blender's operators report
            return seen.crossings, 0.0, str(failure).strip()
        for frame in range(blender.frame_start, blender.frame_end + 1):
            blender.frame_set(frame)
            if not seen.look():
                error = f"frame {frame} is not finite"
                break
    return seen.crossings, seen.figures()["stretch"]["worst"], error


def report(seed: int, most: int = 25) -> dict:
    """What came out of a seed, as JSON can hold it."""
    shot, start = scene(seed, most), time.perf_counter()
    found, stretch, error = run(shot)
    first = next((frame for frame, counts in enumerate(found, 1) if any(counts)), None)
    worst = {name: max((getattr(counts, name) for counts in found), default=0) for name in Crossings._fields}
    told = {"seed": seed, "passed": first is None and not error, "first_frame": first, **worst, "error": error}
    words = f"{shot.words}; {100.0 * stretch:.0f} % longer"
    return told | {"seconds": round(time.perf_counter() - start, 2), "scene": words}
