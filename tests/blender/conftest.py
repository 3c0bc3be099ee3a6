# SPDX-License-Identifier: GPL-3.0-or-later
"""Real Blender (the bpy wheel): Taffeta registered once, an empty file for every test, meshes made from arrays."""

from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
import taffeta
from taffeta.operators.playback import cache_modifier
from taffeta.operators.read import modifier_stack
from taffeta.solver.cache import frames


@pytest.fixture(scope="session", autouse=True)
def registered():
    """Register Taffeta for the session. Classes left behind at exit would hang Blender 4.5."""
    taffeta.register()
    yield
    taffeta.unregister()


@pytest.fixture(autouse=True)
def empty_file(registered):
    """An empty .blend that was never saved, 24 frames a second, frames 1 to 10."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 10
    scene.frame_set(1)
    yield scene


@pytest.fixture
def scene(empty_file):
    """The scene of the empty file."""
    return empty_file


@pytest.fixture
def saved(scene, tmp_path):
    """The scene, saved as `shot.blend` in a folder of its own, so that caches land beside it."""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    return bpy.context.scene


def mesh_object(name, x, faces, edges=(), location=(0.0, 0.0, 0.0)):
    """An object in the scene's collection: x (n, 3), faces any rings of vertex indices."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(
        np.asarray(x, float).tolist(), [tuple(e) for e in edges], [tuple(int(i) for i in f) for f in faces]
    )
    mesh.update()
    obj = bpy.data.objects.new(name, mesh)
    obj.location = location
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.update()
    return obj


def grid(count=5, size=1.0):
    """A square of quads in the xy plane about the origin: x (count**2, 3), faces ((count - 1)**2, 4)."""
    line = np.linspace(-size / 2, size / 2, count)
    u, v = np.meshgrid(line, line)
    x = np.column_stack((u.ravel(), v.ravel(), np.zeros(count * count)))
    corner = (np.arange(count - 1)[:, None] * count + np.arange(count - 1)).ravel()
    return x, np.column_stack((corner, corner + 1, corner + count + 1, corner + count))


def grid_object(name="Cloth", count=5, size=1.0, location=(0.0, 0.0, 0.0), uv=True):
    """A square mesh; with a UV map "UVMap" that covers the unit square when asked."""
    obj = mesh_object(name, *grid(count, size), location=location)
    if uv:
        layer = obj.data.uv_layers.new(name="UVMap")
        corner = np.empty(len(obj.data.loops), np.int32)
        obj.data.loops.foreach_get("vertex_index", corner)
        x, _ = grid(count, 1.0)
        layer.uv.foreach_set("vector", (x[corner, :2] + 0.5).astype(np.float32).ravel())
    return obj


def ball_object(name="Body", radius=0.5, rings=12, segments=24, location=(0.0, 0.0, 0.0)):
    """A closed sphere of quads and two fans of triangles, normals outwards."""
    polar = np.linspace(0, np.pi, rings + 1)[1:-1]
    turn = np.arange(segments) * (2 * np.pi / segments)
    p, t = np.meshgrid(polar, turn, indexing="ij")
    middle = np.stack((np.sin(p) * np.cos(t), np.sin(p) * np.sin(t), np.cos(p)), axis=-1).reshape(-1, 3)
    x = np.vstack(((0, 0, 1.0), middle, (0, 0, -1.0))) * radius
    at = lambda ring, segment: 1 + ring * segments + segment % segments  # noqa: E731
    faces = [(0, at(0, s), at(0, s + 1)) for s in range(segments)]
    for ring in range(rings - 2):
        faces += [(at(ring, s), at(ring + 1, s), at(ring + 1, s + 1), at(ring, s + 1)) for s in range(segments)]
    faces += [(len(x) - 1, at(rings - 2, s + 1), at(rings - 2, s)) for s in range(segments)]
    return mesh_object(name, x, faces, location=location)


def cloth(obj, **settings):
    """Switch Taffeta Cloth on; settings are uniform values or plain properties."""
    obj.taffeta_cloth.enabled = True
    for name, value in settings.items():
        target = getattr(obj.taffeta_cloth, name)
        if isinstance(target, bpy.types.PropertyGroup):
            target.value = value
        else:
            setattr(obj.taffeta_cloth, name, value)
    return obj


def collider(obj, **settings):
    """Switch Taffeta Collider on."""
    obj.taffeta_collider.enabled = True
    for name, value in settings.items():
        setattr(obj.taffeta_collider, name, value)
    return obj


def world_vertices(obj):
    """(n, 3) evaluated vertices in world space at the current frame."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    x = np.empty(3 * len(evaluated.data.vertices), np.float32)
    evaluated.data.vertices.foreach_get("co", x)
    matrix = np.array(evaluated.matrix_world)
    return x.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]


FIRST_FRAME, FRAME_COUNT = 3, 5  # of what `bake` pretends


def samples(count, steps=FRAME_COUNT, seed=0):
    """Arbitrary positions (steps, count, 3) float32: nothing that a rig could make by chance."""
    return np.random.default_rng(seed).normal(size=(steps, count, 3)).astype(np.float32)


def bake(obj, folder, name="Cloth"):
    """A bake of `obj` as Taffeta leaves it on disk, with positions of our own; returns them."""
    x = samples(len(obj.data.vertices))
    with frames.open_cache(Path(folder) / f"{name}.pc2", x.shape[1], FIRST_FRAME, 24.0) as cache:
        for index, sample in enumerate(x):
            cache.append(FIRST_FRAME + index, b"%d" % index, sample, sample.astype(float), sample.astype(float))
    obj.taffeta_cloth.enabled = True
    cache_modifier.attach(obj, Path(folder) / f"{name}.pc2", FIRST_FRAME)
    obj.taffeta_cloth.cache_path = modifier_stack.find_cache(obj).filepath
    return x


@pytest.fixture(scope="session")
def make():
    """The makers above, for tests that cannot import this file (pytest's importlib mode)."""
    return SimpleNamespace(
        mesh=mesh_object, grid=grid_object, ball=ball_object, cloth=cloth, collider=collider, world=world_vertices,
        bake=bake, samples=samples, first_frame=FIRST_FRAME, frame_count=FRAME_COUNT,
    )  # fmt: skip
