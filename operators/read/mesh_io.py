# SPDX-License-Identifier: GPL-3.0-or-later
"""The border between Blender's meshes and arrays: objects become `Garment`s and `Body`s; `sampling` moves them.

Units. A metre is a Blender unit times the scene's unit scale (Scene tab, Units; 1 if the unit system is None).
Taffeta's own settings are SI already.

What is simulated is the object's own mesh, because Blender's Mesh Cache plays one position for each of its vertices.
Rest lengths are those of the mesh (of the reference shape key if there are shape keys), with the object's scale at
the first frame, or those of its pattern (`pattern_size`). The pose is the evaluated mesh: shape keys, armature, hooks, parents, everything that stands before
the Taffeta Cache; the cache and what is behind it is switched off meanwhile (`sampling.posed`).
"""

import math
from typing import NamedTuple

import bpy
import numpy as np

from ...panels.mapped import MAPPED, THREADS
from ...solver.model import Garment
from . import arrays, pattern_size, tear_lines, zips
from .allowance import fold_in
from .animated import body_numbers, body_told, number
from .bands import garment_bands
from .groups import masks
from .keyed import pin_moves
from .maps import read_map
from .modifier_stack import MAKERS, rebuilders_before_rig
from .pleats import read_pleats
from .rest import second_key, yields
from .trims import loads, stiffen

FARTHEST_COORDINATE = 1e9  # [m] Blender turns an infinite coordinate into 3.4e38 when it can
FLAT_SHARE = 1e-9  # of its own size: an object with less in some direction is flat

# Of a garment's settings, besides those with maps: those that it is built from as they are, and all that are looked at.
PLAIN = (
    "layer",
    "self_collision",
    "sewing",
    "sewing_time",
    "sewing_speed",
    "model",
    "seam_bending",
    "band_pull",
    "restitution",
    *THREADS,
)
LOOKED_AT = (
    *PLAIN,
    "elastic_length",
    "elastic_along",
    "seam_allowance",
    "seam_layers",
    "weld",
    "sewing_force",
    "uv_map",
    "pattern_size",
    "self_group",
    "body_group",
)


class Body(NamedTuple):
    """A collider between frames: what does not move, and how to find the object again."""

    uid: int
    name: str
    vertex_count: int
    corner_vertex: np.ndarray  # (corners,) to notice a topology that changes
    triangles: np.ndarray  # (t, 3)
    friction: float
    restitution: float
    aura: float  # [m]
    sample_count: int  # parts that each frame is cut into, 0 = chosen by motion
    collides: bool = True  # whether it is there at all
    is_told: bool = False  # whether frames tell anew how it collides
    meets: tuple[bool, ...] | None = None  # as in the solver's `Collider`, with the next
    viscosity: float = 0.0


def metres_per_unit(scene: bpy.types.Scene) -> float:
    """Length of a Blender unit in metres."""
    units = scene.unit_settings
    return 1.0 if units.system == "NONE" else float(units.scale_length)


def world_matrix(obj: bpy.types.Object, metres: float) -> np.ndarray:
    """(4, 4) float64: object space to world space in metres."""
    matrix = np.array([row[:] for row in obj.matrix_world], np.float64)
    matrix[:3] *= metres
    return matrix


def read_garment(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, scene: bpy.types.Scene) -> Garment:
    """The garment at rest and in its pose at the scene's current frame; call it within `posed`.

    Raises
    ------
    ValueError
        The object cannot be simulated, or a map is missing: names the object and the remedy.
    """
    _check_garment(obj, depsgraph)
    metres = metres_per_unit(scene)
    evaluated = obj.evaluated_get(depsgraph)
    x, x_start = _places(obj, evaluated, metres, scene.frame_current)
    triangles, quads, uv = _faces(obj, np.linalg.det(world_matrix(evaluated, metres)[:3, :3]) < 0)
    settings, values = obj.taffeta_cloth, _map_values(obj, evaluated, x, scene.frame_current)
    elastic = values.pop("elastic")
    garment = Garment(
        name=obj.name,
        x=x,
        x_start=x_start,
        triangles=np.ascontiguousarray(triangles),
        quads=np.ascontiguousarray(quads),
        edges=arrays.edges(obj.data),
        uv=uv,
        **masks(obj, evaluated.data),
        pin_moves=pin_moves(obj),
        sewing_force=number(settings, "sewing_force"),
        added_mass=loads(obj, x),
        pleats=read_pleats(obj.name, evaluated.data),
        x_second=_second_rest(obj, evaluated, metres),
        yields=yields(obj),
        **{name: getattr(settings, name) for name in PLAIN},
        **values,
        **tear_lines.read(obj) | zips.read(obj),
    )
    garment = garment._replace(bands=garment_bands(obj, evaluated.data, garment, elastic))
    if settings.weld <= 0.0:
        return garment
    from ...solver.geometry.weld import weld  # here, because it imports scipy

    return weld(garment, settings.weld)


def _places(obj, evaluated, metres: float, frame: int) -> tuple[np.ndarray, np.ndarray]:
    """(n, 3) [m] of a garment's vertices at rest, and in its pose at a frame."""
    x = rest_positions(obj, evaluated, metres)
    check_finite(obj.name, x, "in its mesh")
    x_start = world_positions(evaluated, metres)
    if len(x_start) != len(x):
        raise ValueError(_topology_sentence(obj, len(x_start)))
    check_finite(obj.name, x_start, f"at frame {frame}")
    return x, x_start


def _faces(obj, is_mirrored: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Triangles (t, 3) and quads (q, 4) of a garment, and its pattern at the triangles' corners; outside stays outside."""
    triangles, corners = arrays.triangulated(obj.data)
    quads, uv = _quads(obj.data), _pattern(obj, obj.data, corners)
    if is_mirrored:
        triangles, quads = triangles[:, [0, 2, 1]], quads[:, [0, 3, 2, 1]]
        uv = None if uv is None else uv[:, [0, 2, 1]]
    return triangles, quads, uv


def _map_values(obj, evaluated, x: np.ndarray, frame: int) -> dict[str, np.ndarray]:
    """Values (n,) of what is mapped of a garment with its rest positions at x (n, 3) [m], but for the blending to its animation."""
    settings = obj.taffeta_cloth
    names = [name for name in MAPPED if name != "blend"]
    values = {name: read_map(obj, getattr(settings, name), evaluated.data, frame) for name in names}
    values["pin_distance"] = np.where(values["pin_distance"] > 0.0, values["pin_distance"], np.inf)
    stiffen(obj, x, values)
    fold_in(obj, x, values)
    return values


def read_collider(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Body:
    """A collider's topology at the scene's current frame; call it within `posed`.

    Raises
    ------
    ValueError
        It has no faces, or Blender does not evaluate it: names the object and the remedy.
    """
    if obj.mode == "EDIT":
        raise ValueError(f"{obj.name} is in Edit Mode; leave it (Tab) and bake again")
    check_evaluated(obj, depsgraph)
    evaluated = obj.evaluated_get(depsgraph)
    triangles, _ = arrays.triangulated(evaluated.data)
    if not len(triangles):
        raise ValueError(
            f"{obj.name} has no faces after its modifiers, so nothing can touch it; "
            "if it makes instances, end its nodes with Realize Instances, else switch its Taffeta Collider off"
        )
    if np.linalg.det(world_matrix(evaluated, 1.0)[:3, :3]) < 0:
        triangles = np.ascontiguousarray(triangles[:, [0, 2, 1]])
    settings = obj.taffeta_collider
    return Body(
        uid=obj.session_uid,
        name=obj.name,
        vertex_count=len(evaluated.data.vertices),
        corner_vertex=arrays.corner_vertex(evaluated.data),
        triangles=triangles,
        sample_count=settings.single_frame_samples,
        is_told=body_told(obj),
        **body_numbers(evaluated),
    )


def world_to_object(name: str, evaluated, metres: float, frame: int) -> np.ndarray:
    """(4, 4) float64: world space in metres to object space; ValueError when the object is flat."""
    a, b, c, place = (column[:3] for column in world_matrix(evaluated, metres).T.tolist())
    # Written out, because numpy's waits for BLAS threads that the solver keeps busy, and its rest is made for more.
    rows = _cross(b, c), _cross(c, a), _cross(a, b)
    volume, scale = _product(a, rows[0]), [math.sqrt(_product(axis, axis)) for axis in (a, b, c)]
    if not abs(volume) > FLAT_SHARE * scale[0] * scale[1] * scale[2] or not min(scale) > FLAT_SHARE * max(scale):
        raise ValueError(f"{name} has a scale of 0 at frame {frame}; give it some size in every direction")
    rows = [[number / volume for number in row] for row in rows]
    return np.array([*([*row, -_product(row, place)] for row in rows), [0.0, 0.0, 0.0, 1.0]])


def _product(a, b) -> float:
    """Of two vectors; no zero of it is negative."""
    return 0.0 + a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a, b) -> tuple[float, float, float]:
    """Of two vectors."""
    (ax, ay, az), (bx, by, bz) = a, b
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


def _check_garment(obj, depsgraph) -> None:
    mesh = obj.data
    if obj.mode == "EDIT":
        raise ValueError(f"{obj.name} is in Edit Mode; leave it (Tab) and bake again")
    if not len(mesh.polygons):
        raise ValueError(f"{obj.name} has no faces, so there is no cloth; add faces or switch its Taffeta Cloth off")
    for rebuilder, rig in rebuilders_before_rig(obj):
        lower = "" if obj.modifiers[rebuilder].type in MAKERS else f" or move it below '{rig}'"
        raise ValueError(
            f"{obj.name}: modifier '{rebuilder}' makes new vertices before '{rig}' moves them; apply '{rebuilder}'{lower}"
        )
    check_evaluated(obj, depsgraph)
    world_to_object(obj.name, obj.evaluated_get(depsgraph), 1.0, depsgraph.scene.frame_current)
    if lack := pattern_size.positions(obj)[1]:
        raise ValueError(lack)


def check_evaluated(obj, depsgraph) -> None:
    """Blender hands out the bare mesh of an object that no viewport evaluates, without a word."""
    if obj.name not in evaluated_names(depsgraph.view_layer.layer_collection):
        raise ValueError(
            f"{obj.name} lies only in collections that are excluded from the view layer "
            f"'{depsgraph.view_layer.name}' or disabled in viewports; enable one of them in the Outliner"
        )


def evaluated_names(layer_collection) -> set[str]:
    """Names of the objects below a layer collection that Blender evaluates."""
    names = set()
    if layer_collection.collection.hide_viewport:
        return names
    if not layer_collection.exclude:
        names.update(obj.name for obj in layer_collection.collection.objects)
    for child in layer_collection.children:
        names |= evaluated_names(child)
    return names


def _topology_sentence(obj, vertex_count: int) -> str:
    shown = [modifier.name for modifier in obj.modifiers if modifier.show_viewport]
    guilty = f"its modifiers before the cloth ({', '.join(shown)}) make {vertex_count}"
    guilty = guilty if shown else f"its shape has {vertex_count}"
    return (
        f"{obj.name} has {len(obj.data.vertices)} vertices, but {guilty}; "
        "apply the modifier that does it, or move it below those that move the garment"
    )


def check_finite(name: str, x: np.ndarray, where: str) -> None:
    """ValueError that names the object and its first vertex with a NaN or an infinite coordinate."""
    far = ~(np.abs(x) < FARTHEST_COORDINATE)  # true for NaN as well
    if far.any():
        vertex = np.flatnonzero(far.any(axis=1))[0]
        raise ValueError(f"{name}: vertex {vertex} has no finite position {where}; move or delete it")


def rest_positions(obj, placed, metres: float) -> np.ndarray:
    """Vertices (n, 3) float64 [m] of a garment at rest: where its pattern has them if that tells its size, else in world
    space and sized as `placed` is, itself or as evaluated."""
    mesh, (x, _) = obj.data, pattern_size.positions(obj)
    if x is not None:
        return x
    x = arrays.positions(mesh) if mesh.shape_keys is None else arrays.key_positions(mesh.shape_keys.reference_key)
    return _placed(x, world_matrix(placed, metres))


def _second_rest(obj, placed, metres: float) -> np.ndarray | None:
    """As `rest_positions`, of the second rest shape; None where there is none."""
    key = second_key(obj)
    if key is None:
        return None
    x = _placed(arrays.key_positions(key), world_matrix(placed, metres))
    check_finite(obj.name, x, f"in its shape key '{key.name}'")
    return x


def world_positions(evaluated, metres: float) -> np.ndarray:
    """World-space vertices (n, 3) float64 [m] of an evaluated object."""
    return _placed(arrays.positions(evaluated.data), world_matrix(evaluated, metres))


def _placed(x: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Points (n, 3) moved by a (4, 4) matrix, float64.

    In float64 before the object's place is added: 10 km away, float32 has steps of a millimetre. Without `@`, whose
    threads (BLAS) would fight the solver's for the cores.
    """
    (x, y, z), placed = x.T.astype(np.float64, order="C"), np.empty(x.shape)
    with np.errstate(invalid="ignore"):  # of coordinates that are nowhere: `check_finite` tells
        for row, (a, b, c, d) in enumerate(matrix[:3].tolist()):
            placed[:, row] = x * a + y * b + z * c + d
    return placed


def _quads(mesh) -> np.ndarray:
    corners = arrays.first_corner(mesh)[arrays.corner_count(mesh) == 4][:, None] + np.arange(4, dtype=np.int32)
    return arrays.corner_vertex(mesh)[corners].reshape(-1, 4)


def _pattern(obj, mesh, corners: np.ndarray) -> np.ndarray | None:
    """Pattern coordinates per triangle corner (t, 3, 2), or None where threads follow the mesh's edges."""
    name = obj.taffeta_cloth.uv_map
    if not name:
        return None
    layer = mesh.uv_layers.get(name)
    if layer is None:
        known = ", ".join(uv.name for uv in mesh.uv_layers) or "none"
        raise ValueError(
            f"{obj.name}: there is no UV map '{name}' for its pattern (it has {known}); choose one or leave it empty"
        )
    uv = arrays.corner_uv(layer)
    if not np.isfinite(uv).all():
        raise ValueError(f"{obj.name}: UV map '{name}' has coordinates that are not finite; unwrap it again")
    return uv.astype(np.float64)[corners]
