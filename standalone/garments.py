# SPDX-License-Identifier: GPL-3.0-or-later
"""The cloths of a scene file as garments: mesh, maps, table of values, pose, layers; and the files that they go to."""

from pathlib import Path

import numpy as np

from ..solver.cache import obj, obj_layout, png
from ..solver.cache.files import read_whole
from ..solver.elastic.solid import sheet_of
from ..solver.grey import bilinear, corner_mean
from ..solver.model import Garment
from .scene import ClothFile
from .sequence import Sequence
from .tables import plain

MASK_THRESHOLD = 0.5  # grey from which on a mask leaves a vertex out
SHEAR_SHARE = 0.05  # shear over stretch stiffness of woven cloth, if the file does not tell
LARGEST_TABLE = 1 << 30  # bytes of a table of values
MASKS = "meets_itself", "meets_bodies"
# Columns that a table of values may have: fields of a garment.
COLUMNS = (
    "pin", "mass", "thickness", "stretch_stiffness", "shear_stiffness", "bending_stiffness", "damping", "friction",
    "pin_distance", "shrink", *MASKS,
)  # fmt: skip


class Garments:
    """The cloths of a scene: what is simulated, how what is held goes, and the files that it goes to."""

    def __init__(self, cloths: list[ClothFile]):
        self.targets = [cloth.target for cloth in cloths]
        self.garments, self.layouts, self.poses = [], [], []
        for cloth in cloths:
            mesh = obj.read(cloth.obj)
            uv = _pattern(cloth, mesh)
            self.garments.append(read_garment(cloth, mesh, uv))
            self.layouts.append(obj_layout.read(cloth.obj, mesh, uv, cloth.target.parent))
            self.poses.append(cloth.pose and Sequence(cloth.pose, mesh, cloth.pose_samples))
        names = [cloth.obj.name for cloth in cloths]
        given = [cloth.collide_with for cloth in cloths]
        meets = [None if own is None else tuple(name in own for name in names) for own in given]
        self.garments = [g._replace(meets=row) for g, row in zip(self.garments, meets, strict=True)]
        self.offsets = [0.0] * len(cloths)  # [m] of where each starts from where its pose has it

    def begin(self, frame: int, x: list[np.ndarray] | None = None) -> None:
        """Start in the pose of a frame, or in (n, 3) [m] of each, and follow the pose from there."""
        posed = [g.x if pose is None else pose.x(frame) for g, pose in zip(self.garments, self.poses, strict=True)]
        starts = posed if x is None else x
        self.offsets = [start - there for start, there in zip(starts, posed, strict=True)]
        self.garments = [g._replace(x_start=start.copy()) for g, start in zip(self.garments, starts, strict=True)]

    def pose_over(self, frame: int) -> np.ndarray:
        """(s + 1, n, 3) [m] where what is held goes from the frame before to this one, of all garments in order."""
        parts = max(1 if pose is None else pose.parts(frame) for pose in self.poses)
        each = zip(self.garments, self.poses, self.offsets, strict=True)
        still = (parts + 1, 1, 1)
        return np.concatenate(
            [offset + (np.tile(g.x, still) if pose is None else pose.over(frame, parts)) for g, pose, offset in each],
            axis=1,
        )

    def write(self, frame: int, x: np.ndarray) -> None:
        """Write the frame of every cloth; x (n, 3) [m] of all.

        Raises
        ------
        OSError
            A file cannot be written, as on a full disk: a sentence that names it.
        """
        start = 0
        for garment, target, layout in zip(self.garments, self.targets, self.layouts, strict=True):
            end = start + len(garment.x)
            own, path = x[start:end], target.with_name(f"{target.name}_{frame:04d}.obj")
            after = obj_layout.after_positions(layout, own, garment.triangles)
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                obj.write(path, own, after)
            except OSError as error:
                if error.strerror is None:
                    raise
                raise OSError(f"{path} cannot be written ({error.strerror}); the frames before are on disk") from error
            start = end


def _pattern(cloth: ClothFile, mesh: obj.Mesh) -> np.ndarray | None:
    """Pattern coordinates at the corners of a cloth; None if it has none and nothing needs any."""
    try:
        return obj.read_uv(cloth.obj, mesh)
    except ValueError:
        if cloth.maps or cloth.has_pattern:
            raise
        return None


def read_garment(cloth: ClothFile, mesh: obj.Mesh, uv: np.ndarray | None) -> Garment:
    """A garment at rest in the shape of its mesh: value = minimum + (maximum - minimum) * grey of its map.

    Raises
    ------
    ValueError
        A map or a table cannot be read, or there are no pattern coordinates to lay it on: a sentence naming the file.
    """
    return Garment(
        name=cloth.obj.name,
        x=mesh.x,
        x_start=mesh.x.copy(),
        triangles=mesh.triangles,
        quads=_quads(mesh),
        edges=_edges(mesh),
        uv=_at_triangles(mesh, uv) if cloth.has_pattern else None,
        layer=cloth.layer,
        self_collision=cloth.self_collision,
        restitution=cloth.cloth_restitution,
        model=cloth.model,
        strain_limit=cloth.strain_limit,
        stiffening=cloth.stiffening,
        weft_stretch=cloth.weft_stretch,
        weft_bending=cloth.weft_bending,
        bending_damping=cloth.bending_damping,
        poisson=cloth.narrowing,
        **_values(cloth, mesh, uv),
    )


def _values(cloth: ClothFile, mesh: obj.Mesh, uv: np.ndarray | None) -> dict[str, np.ndarray]:
    """What each vertex of a cloth has of its own, by the name of the field of `Garment`."""
    count = len(mesh.x)

    def grey(key):
        return corner_mean(mesh.corners, bilinear(png.read_grey(cloth.maps[key]), uv), count)

    values = {
        key: low + (high - low) * grey(key) if key in cloth.maps else np.full(count, low)
        for key, (low, high) in cloth.ranges.items()
    }
    table = {} if cloth.values is None else read_values(cloth.values, count)
    stretch = table.get("stretch_stiffness", values["stretch_stiffness"])
    values |= {
        "shear_stiffness": (SHEAR_SHARE * stretch if cloth.model != "SPRINGS" else stretch)
        if cloth.shear is None
        else np.full(count, cloth.shear),
        "bending_stiffness": np.full(count, cloth.bending),
        "friction": np.full(count, cloth.friction),
        "pin": grey("pin") if "pin" in cloth.maps else np.zeros(count),
        "pin_distance": np.full(count, np.inf),
        **{key: grey(key) < MASK_THRESHOLD for key in MASKS if key in cloth.maps},
    }
    if cloth.modulus is not None:
        thickness = table.get("thickness", values["thickness"])
        values |= sheet_of(cloth.modulus, thickness, cloth.narrowing)._asdict()
    return values | table


def read_values(path: Path, count: int) -> dict[str, np.ndarray]:
    """A table of values of each vertex: names in the first line, then a line a vertex, with commas between them.

    Raises
    ------
    ValueError
        A column that means nothing, another number of lines, a number that none can be: a sentence naming the file.
    OSError
        It cannot be read.
    """
    head, _, rows = read_whole(path, LARGEST_TABLE).decode("utf-8", "replace").partition("\n")
    known = {plain(name): name for name in COLUMNS}
    names = [known.get(plain(name.strip())) for name in head.split(",")]
    if None in names or len(set(names)) < len(names):
        raise ValueError(f"{path}: its first line has to name columns, each once, of {', '.join(COLUMNS)}")
    lines = rows.split("\n")
    lines = lines[:-1] if not lines[-1] else lines
    try:
        numbers = np.loadtxt(lines, delimiter=",", ndmin=2, comments=None) if len(lines) == count else None
    except ValueError as error:
        raise ValueError(
            f"{path} has a line with something that is no number, or too many or too few: {error}"
        ) from error
    if numbers is None or numbers.shape != (count, len(names)):
        raise ValueError(f"{path} must have {len(names)} number(s) in {count:,} lines after the first, one a vertex")
    if not np.isfinite(numbers).all():
        raise ValueError(f"{path} has a number that is not finite; write it anew")
    table = dict(zip(names, np.ascontiguousarray(numbers.T), strict=True))
    for name in set(names) - {"shrink"}:
        if table[name].min() < 0.0:
            raise ValueError(f"{path}: {name} of vertex {int(table[name].argmin()) + 1} is below 0")
    if "pin_distance" in table:
        table["pin_distance"] = np.where(table["pin_distance"] > 0.0, table["pin_distance"], np.inf)
    return table | {name: table[name] >= MASK_THRESHOLD for name in MASKS if name in table}


def _quads(mesh: obj.Mesh) -> np.ndarray:
    quads = mesh.face_start[:-1][np.diff(mesh.face_start) == 4][:, None] + np.arange(4)
    return np.ascontiguousarray(mesh.corners[quads])


def _edges(mesh: obj.Mesh) -> np.ndarray:
    following = np.arange(1, len(mesh.corners) + 1)
    following[mesh.face_start[1:] - 1] = mesh.face_start[:-1]
    edges = np.unique(np.sort(np.stack((mesh.corners, mesh.corners[following]), axis=1), axis=1), axis=0)
    return edges[edges[:, 0] != edges[:, 1]]


def _at_triangles(mesh: obj.Mesh, uv: np.ndarray) -> np.ndarray:
    """Pattern coordinates (t, 3, 2) at the corners of triangles, from those (c, 2) at the corners of polygons."""
    counts, vertices = np.diff(mesh.face_start), len(mesh.x)
    of_corner = np.repeat(np.arange(len(counts)), counts) * vertices + mesh.corners
    of_triangle = np.repeat(np.arange(len(counts)), counts - 2)[:, None] * vertices + mesh.triangles
    order = np.argsort(of_corner, kind="stable")
    return uv[order[np.searchsorted(of_corner[order], of_triangle)]]
