# SPDX-License-Identifier: GPL-3.0-or-later
"""What takes long to measure of Blender's data, kept until Blender says that it changed.

Counts of open and loose edges, lengths of edges, weights, and checksums of images and actions take milliseconds to
seconds; the panel asks for them while the animator works. Checksums of meshes are quick and made anew each time.
"""

import zlib

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ...solver.elastic.mesh_fit import edge_quantile
from . import arrays, between_keys, pattern_size, tear_lines, zips
from .carriers import hung_on
from .keyed import actions_of, curves_in, our_drivers, targets_of
from .listen import listen, listen_no_more
from .maps import weights_in
from .mesh_io import rest_positions

SMALL_PART = 0.1  # of a garment's vertices, or of its area, which a finely modelled buckle has little of: buttons, pockets, a belt

# Session-wide memory: (kind, session_uid, ...) -> value. Emptied by the handlers below.
_kept: dict[tuple, object] = {}


def weights(obj: bpy.types.Object, group: str) -> np.ndarray:
    """Weights of a vertex group, (n,). The group must exist."""
    mesh = obj.data
    key = ("weights", mesh.session_uid, group, len(mesh.vertices))
    if key not in _kept:
        _kept[key] = weights_in(obj, group, mesh)
    return _kept[key]


def open_edges(mesh: bpy.types.Mesh) -> int:
    """How many edges of faces have no face on the other side that goes round the other way."""
    key = ("open", mesh.session_uid)
    if key not in _kept:
        corners, starts = arrays.corner_vertex(mesh), arrays.first_corner(mesh)
        following = np.arange(1, len(corners) + 1)
        following[np.append(starts[1:], len(corners)) - 1] = starts
        ends, count = np.stack((corners, corners[following])), np.int64(len(mesh.vertices))
        alone = ~np.isin(ends[0] * count + ends[1], ends[1] * count + ends[0])
        _kept[key] = len(np.unique(ends.min(axis=0)[alone] * count + ends.max(axis=0)[alone]))
    return _kept[key]


def loose_edges(mesh: bpy.types.Mesh) -> int:
    """How many edges have no face."""
    key = ("loose", mesh.session_uid)
    if key not in _kept:
        _kept[key] = len(mesh.edges) - len(np.unique(arrays.corner_edge(mesh)))
    return _kept[key]


def small_parts(mesh: bpy.types.Mesh) -> np.ndarray:
    """(n,) which small part each vertex is of, -1 for none: of what edges join, that has `SMALL_PART` of the largest one's vertices
    at most, or of its area."""
    key = ("parts", mesh.session_uid, len(mesh.vertices), len(mesh.edges))
    if key not in _kept:
        from ...solver.geometry.seams import same_places  # here, because it imports scipy

        _, own = same_places(*arrays.edges(mesh).T, len(mesh.vertices))
        size, corners = np.bincount(own), arrays.corner_count(mesh)
        face_part = own[arrays.corner_vertex(mesh)[np.cumsum(corners) - corners]]
        area = np.bincount(face_part, arrays.face_area(mesh), len(size))
        small = size <= SMALL_PART * size.max(initial=0)
        small |= (area > 0.0) & (area <= SMALL_PART * area.max(initial=0.0))
        _kept[key] = np.where(small, np.arange(len(size)), -1)[own]
    return _kept[key]


def doubled_vertices(obj: bpy.types.Object, metres: float, reach: float) -> int:
    """How many vertices of a garment at rest lie up to `reach` [m] from another one along borders, which welding would make
    one (`solver.geometry.weld`); in a world of so many metres a unit. 0 in Edit Mode."""
    mesh = obj.data
    if obj.mode == "EDIT" or not open_edges(mesh):
        return 0
    key = ("doubled", mesh.session_uid, len(mesh.vertices), metres, reach, _size(obj))
    if key not in _kept:
        from ...solver.geometry.weld import find_twins  # here, because it imports scipy

        with np.errstate(invalid="ignore"):
            x = rest_positions(obj, obj, metres)
        known = np.isfinite(x).all()  # else `checks.shape_rows` tells of them
        twins = find_twins(arrays.triangulated(mesh)[0], x, reach) if known else np.zeros((0, 2), int)
        on_purpose = np.union1d(tear_lines.marked(mesh)[0], zips.marked(mesh)[0])
        _kept[key] = int(np.count_nonzero(~np.isin(twins, on_purpose).any(axis=1)))
    return _kept[key]


def has_area(mesh: bpy.types.Mesh) -> bool:
    """Whether any face is more than a line or a point."""
    key = ("area", mesh.session_uid)
    if key not in _kept:
        _kept[key] = not (arrays.face_area(mesh) == 0.0).all()
    return _kept[key]


def edge_part(obj: bpy.types.Object, metres: float, part: float) -> float:
    """Length [m] of edges up to which they make `part` [0 to 1] of a garment at rest, as large as it is now in a world of
    so many metres a unit; edges without a face do not count. 0 where there is none, and in Edit Mode."""
    mesh = obj.data
    if obj.mode == "EDIT" or not len(mesh.polygons):
        return 0.0
    key = ("edges", mesh.session_uid, len(mesh.vertices), len(mesh.edges), part, metres, _size(obj))
    if key not in _kept:
        _kept[key] = edge_quantile(*_of_faces(obj, metres), part)
    return _kept[key]


def short_edges(obj: bpy.types.Object, metres: float, part: float) -> tuple[int, float]:
    """How many edges of faces are shorter than `part` of the usual one, the median, and how long [m] the shortest is; of a garment
    at rest, as `edge_part`. (0, 0.0) in Edit Mode."""
    return _edges_below(obj, metres, lambda length: part * np.median(length), ("short", part))


def edges_below(obj: bpy.types.Object, metres: float, bound: float) -> tuple[int, float]:
    """The same of edges that are shorter than a bound [m]."""
    return _edges_below(obj, metres, lambda _: bound, ("below", bound))


def _edges_below(obj, metres, bound, key):
    """As `short_edges`, below a `bound` of all lengths (e,) [m]; key : a name and a number by which this is kept"""
    mesh = obj.data
    if obj.mode == "EDIT" or not len(mesh.polygons):
        return 0, 0.0
    key = (key[0], mesh.session_uid, key[1], len(mesh.vertices), len(mesh.edges), metres, _size(obj))
    if key not in _kept:
        x, edges = _of_faces(obj, metres)
        with np.errstate(invalid="ignore"):
            length = np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)
        known = length[np.isfinite(length)]
        short = known[known < bound(known)] if len(known) else known
        _kept[key] = len(short), float(short.min()) if len(short) else 0.0
    return _kept[key]


def flat_triangles(obj: bpy.types.Object, metres: float, part: float) -> int:
    """How many triangles of a garment at rest have a corner all but on the side opposite: nearer than `part` of their shortest side.
    0 in Edit Mode."""
    mesh = obj.data
    if obj.mode == "EDIT" or not len(mesh.polygons):
        return 0
    key = ("flat", mesh.session_uid, len(mesh.vertices), len(mesh.polygons), part, metres, _size(obj))
    if key not in _kept:
        with np.errstate(invalid="ignore"):  # as in `_of_faces`
            corners = rest_positions(obj, obj, metres)[arrays.triangulated(mesh)[0]]
            sides = corners - np.roll(corners, -1, axis=1)
            length = np.linalg.norm(sides, axis=2)
            area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
            _kept[key] = int(np.count_nonzero(area < part * length.min(axis=1) * length.max(axis=1)))
    return _kept[key]


def _of_faces(obj, metres):
    """Rest positions (n, 3) [m] of a garment, and the edges (e, 2) of its faces."""
    mesh = obj.data
    with_face = np.zeros(len(mesh.edges), bool)
    with_face[arrays.corner_edge(mesh)] = True
    with np.errstate(invalid="ignore"):  # of coordinates that are nowhere: `checks.shape_rows` tells
        return rest_positions(obj, obj, metres), arrays.edges(mesh)[with_face]


def _size(obj) -> tuple[str, ...]:
    """An object's scale, rounded, because turning about changes the last digits; and the pattern that it takes its size from."""
    pattern = f"{obj.taffeta_cloth.uv_map} {pattern_size.checksum(obj)}" if obj.taffeta_cloth.pattern_size else ""
    return (*(f"{scale:.4g}" for scale in obj.matrix_world.to_scale()), pattern)


def mesh_sums(mesh: bpy.types.Mesh) -> list[int]:
    """Counts, and checksums of positions and face corners."""
    counts = [len(mesh.vertices), len(mesh.edges), len(mesh.polygons)]
    return [*counts, zlib.crc32(arrays.positions(mesh)), zlib.crc32(arrays.corner_vertex(mesh))]


def keys_sums(mesh: bpy.types.Mesh) -> list[int]:
    """A checksum of the shape of each shape key of a mesh, in order."""
    key = ("keys", mesh.shape_keys.session_uid, len(mesh.vertices))
    if key not in _kept:
        _kept[key] = [zlib.crc32(arrays.key_positions(block)) for block in mesh.shape_keys.key_blocks]
    return _kept[key]


def lattice_sum(lattice: bpy.types.Lattice) -> list[int]:
    """Counts, and a checksum of where its points are."""
    points = np.empty(3 * len(lattice.points), np.float32)
    lattice.points.foreach_get("co_deform", points)
    return [lattice.points_u, lattice.points_v, lattice.points_w, zlib.crc32(points)]


def curve_sum(curve: bpy.types.Curve) -> list[list]:
    """Of each spline, what kind it is, and a checksum of where its points are and how they turn."""
    found = []
    for spline in curve.splines:
        is_bezier = spline.type == "BEZIER"
        points = spline.bezier_points if is_bezier else spline.points
        widths = {"co": 3, "handle_left": 3, "handle_right": 3} if is_bezier else {"co": 4}
        checksum = 0
        for name, width in (widths | {"tilt": 1, "radius": 1}).items():
            values = np.empty(width * len(points), np.float32)
            points.foreach_get(name, values)
            checksum = zlib.crc32(values, checksum)
        found.append([spline.type, spline.use_cyclic_u, len(points), checksum])
    return found


def attribute_sum(mesh: bpy.types.Mesh, name: str) -> int | None:
    """Checksum of an attribute; None where it is missing, empty or of no use as a map."""
    attribute = mesh.attributes.get(name)
    if attribute is None or not len(attribute.data) or attribute.data_type not in arrays.ATTRIBUTE_VALUES:
        return None
    return zlib.crc32(arrays.stored_values(attribute))


def uv_sum(layer: bpy.types.MeshUVLoopLayer) -> int:
    """Checksum of where a UV map has the face corners."""
    return zlib.crc32(arrays.corner_uv(layer))


def image_sum(image: bpy.types.Image) -> int:
    """Checksum of an image's pixels."""
    key = ("image", image.session_uid)
    if key not in _kept:
        _kept[key] = zlib.crc32(arrays.pixels(image))
    return _kept[key]


def animation_sums(objects: list[bpy.types.Object | bpy.types.Scene]) -> tuple[int, int]:
    """Two checksums of what moves these objects, all that they hang on and shape keys, or scenes: of the keys of their actions and
    the drivers of our settings, with what these look at; and of how curves go between keys, of strips, and of all other drivers.
    """
    seen, checksum, between = set(), 0, 0
    for owner in _animated(objects):
        for action, slot in actions_of(owner):
            if (action.session_uid, slot.handle) not in seen:
                seen.add((action.session_uid, slot.handle))
                sums = _action_sums(action, slot)
                checksum, between = (
                    zlib.crc32(b"%d" % own, old) for own, old in zip(sums, (checksum, between), strict=True)
                )
        ours = our_drivers(owner)
        checksum = zlib.crc32("".join(map(_driver_text, ours)).encode(), checksum)
        others = [curve for curve in _drivers(owner) if curve not in ours]
        between = zlib.crc32("".join([between_keys.strips_text(owner), *map(_driver_text, others)]).encode(), between)
    return checksum, between


def _drivers(owner) -> list[bpy.types.FCurve]:
    return list(owner.animation_data.drivers) if owner.animation_data else []


def _animated(objects):
    """Ids whose animation moves these objects: themselves, all that they hang on, shape keys, and what drivers of our settings
    look at. A scene stands alone."""
    for owner in objects:
        yield from (looked_at for driver in our_drivers(owner) for _, looked_at in targets_of(driver))
    yield from (scene for scene in objects if isinstance(scene, bpy.types.Scene))
    for obj in hung_on(obj for obj in objects if isinstance(obj, bpy.types.Object)):
        yield obj
        if obj.type == "MESH" and obj.data.shape_keys:
            yield obj.data.shape_keys


def _driver_text(curve: bpy.types.FCurve) -> str:
    """A driver of one of our settings as text, with what it looks at where nothing animates that."""
    driver, found = curve.driver, []
    for target, looked_at in targets_of(curve):
        value = "" if looked_at.animation_data else _value_text(looked_at, target.data_path)
        found.append(f"{looked_at.name} {target.data_path} {target.transform_type} {value}")
    return f"{curve.data_path} {curve.array_index} {driver.type} {driver.expression} {found}"


def _value_text(owner: bpy.types.ID, path: str) -> str:
    """What stands at a data path of an ID; "" where nothing does, and of the frame that a scene shows."""
    if isinstance(owner, bpy.types.Scene) and path.startswith("frame_current"):
        return ""
    try:
        value = owner.path_resolve(path) if path else ""
    except ValueError:
        return ""
    return f"{value:.6g}" if isinstance(value, (int, float)) else ""


def written_paths(owner: bpy.types.ID) -> set[str]:
    """Data paths that keys or drivers of an ID write in each frame."""
    found = {curve.data_path for curve in owner.animation_data.drivers} if owner.animation_data else set()
    for action, slot in actions_of(owner):
        key = ("paths", action.session_uid, slot.handle)
        if key not in _kept:
            _kept[key] = frozenset(curve.data_path for curve in curves_in(action, slot))
        found |= _kept[key]
    return found


@persistent
def forget_actions(*_) -> None:
    """Measure actions anew. A script that edits keys and sets a frame tells no other handler: to Blender each is animated then."""
    for key in [key for key in _kept if key[0] in ("action", "paths")]:
        del _kept[key]


def _action_sums(action, slot) -> tuple[int, int]:
    """Checksums of the keys of an action, and of how its curves go between these."""
    key = ("action", action.session_uid, slot.handle)
    if key not in _kept:
        checksum = between = 0
        for curve in curves_in(action, slot):
            checksum = zlib.crc32(arrays.key_points(curve), zlib.crc32(curve.data_path.encode(), checksum))
            between = zlib.crc32(b"%d" % between_keys.curve_sum(curve), between)
        _kept[key] = checksum, between
    return _kept[key]


@persistent
def _forget_changed(_scene, depsgraph):
    """Blender has evaluated something anew: forget what was measured of it."""
    if _kept:
        changed = {update.id.original.session_uid for update in depsgraph.updates}
        changed |= {
            update.id.original.data.session_uid
            for update in depsgraph.updates
            if update.is_updated_geometry and isinstance(update.id, bpy.types.Object) and update.id.original.data
        }
        for key in [key for key in _kept if key[1] in changed]:
            del _kept[key]


@persistent
def _forget_all(*_):
    _kept.clear()


HANDLERS = (
    ("depsgraph_update_post", _forget_changed),
    ("frame_change_post", forget_actions),
    *((name, _forget_all) for name in ("load_post", "undo_post", "redo_post")),
)


def register():
    """Watch for changes of meshes, images and actions."""
    listen(HANDLERS)


def unregister():
    """Stop watching."""
    listen_no_more(HANDLERS)
    _forget_all()
