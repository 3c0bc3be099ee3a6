# SPDX-License-Identifier: GPL-3.0-or-later
"""File > Export > Taffeta Scene: what a bake would be given, as a scene file that `python -m taffeta` bakes without Blender.

    SHOT.xml                    settings, after Pereira (2010), tables 5.1.1 to 5.1.4
    SHOT_files/cloth/NAME.obj   a garment at rest, to the last digit; NAME.csv: what is not the same in all of it
    SHOT_files/pose/            where it starts, and where what is held goes
    SHOT_files/body/            bodies, a file a frame where they move

Axes are Blender's, z up. What a scene file has no words for is told.
"""

import re
from glob import escape as escape_glob
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

import bpy
import numpy as np
from bpy.props import BoolProperty, StringProperty

from ..panels.translations import translated
from ..solver.cache import obj as obj_files
from ..solver.cache.files import written
from ..solver.cache.names import cache_paths
from ..solver.model import Settings
from .bake.order import read_order
from .export import check_free, move_into, scratch_folder
from .menus import in_menu
from .read import arrays
from .read.mesh_io import world_matrix
from .read.participants import cloths_of
from .read.sampling import MOST_SAMPLES, frame_inputs, posed
from .read.screen import InObjectMode
from .unsaid import Findings, of_faces, of_frame, of_garment, phrases
from .work.steps import Step, Steps
from .work.window import LongWork

ALL_DIGITS = 17
# Setting of the solver: its element, where that is not its name.
ELEMENTS = {
    "dynamics": "integration", "constant_force": "externalForces", "ldi_resolution": "imageSize", "max_speed": "speedLimit"
}  # fmt: skip
FORWARD_EULER = "forward Euler"  # because Euler is the symplectic one of Pereira (2010, 4.2.2-3) there
# Value of a garment: its element where it is the same everywhere; without one, it goes into the table.
UNIFORM = {
    "mass": "minMass", "thickness": "minThickness", "stretch_stiffness": "minStiffness", "damping": "minDamping",
    "shear_stiffness": "shearStiffness", "bending_stiffness": "bendingStiffness", "friction": "friction",
}  # fmt: skip
PLAIN = {
    "layer": "layer", "model": "model", "strain_limit": "strainLimit", "stiffening": "stiffening",
    "weft_stretch": "weftStretch", "weft_bending": "weftBending", "bending_damping": "bendingDamping",
    "poisson": "narrowing", "self_collision": "selfCollision", "restitution": "clothRestitution",
}  # fmt: skip


class Written(NamedTuple):
    """What has been said in the scene file so far."""

    folder: Path  # of all files
    name: str  # of the folder that the scene file names
    cloths: list[str]  # names of files
    bodies: list[str]


def steps(scene: bpy.types.Scene, path: Path, overwrite: bool) -> Steps:
    """Write the scene file `path` and a folder beside it, a frame a step; returns what it leaves out, and of whom.

    Raises
    ------
    ValueError
        Something cannot be baked, or is there already.
    OSError
        The folder cannot be written.
    """
    order = read_order(scene, kept=False)
    cloths = [bpy.data.objects[garment.name] for garment in order.garments]
    bodies = [bpy.data.objects[body.name] for body in order.bodies]
    folder = f"{path.stem}_files"
    check_free(path.parent, [path.name, folder], overwrite)
    with scratch_folder(path.parent) as scratch:
        names = [found.stem for found in cache_paths(path, [_plain_name(obj.name) for obj in (*cloths, *bodies)])]
        out = Written(scratch / folder, folder, names[: len(cloths)], names[len(cloths) :])
        for part in ("cloth", "pose", "body"):
            (out.folder / part).mkdir(parents=True)
        unsaid = set().union(*map(of_garment, order.garments))
        for garment, obj, name in zip(order.garments, cloths, out.cloths, strict=True):
            unsaid |= of_faces(garment, _write_cloth(out.folder / "cloth" / name, garment, obj))
        first, samples = yield from _write_frames(order, cloths, bodies, out, unsaid)
        with written(scratch / path.name) as file:
            file.write(_text(order, out, first, samples).encode())
        move_into(scratch, path.parent, overwrite)
    return phrases(unsaid)


def _plain_name(name: str) -> str:
    """An object's name without the letters that mean something in a scene file."""
    return re.sub("[#,]", "_", name)


def _write_cloth(path: Path, garment, obj) -> np.ndarray:
    """The mesh of a garment at rest, and the table of what is not the same everywhere; returns the triangles (t, 3) that the mesh
    is read as.
    """
    mesh = path.with_name(f"{path.name}.obj")
    obj_files.write(mesh, garment.x, _face_lines(obj, garment), ALL_DIGITS)
    table = _table(garment)
    if table:
        rows = "\n".join(",".join(map(repr, row)) for row in zip(*(v.tolist() for v in table.values()), strict=True))
        with written(path.with_name(f"{path.name}.csv")) as file:
            file.write(f"{','.join(table)}\n{rows}\n".encode())
    return obj_files.read(mesh).triangles


def _table(garment) -> dict[str, np.ndarray]:
    """Values that are not the same everywhere, by column, (n,) float64 each."""
    found = {name: getattr(garment, name) for name in UNIFORM if np.ptp(getattr(garment, name)) > 0.0}
    if garment.pin.any():
        found["pin"] = garment.pin
    if np.isfinite(garment.pin_distance).any():
        found["pin_distance"] = np.where(np.isfinite(garment.pin_distance), garment.pin_distance, 0.0)
    if garment.shrink is not None and garment.shrink.any():
        found["shrink"] = garment.shrink
    for name in ("meets_itself", "meets_bodies"):
        if getattr(garment, name) is not None:
            found[name] = getattr(garment, name)
    return {name: np.asarray(values, np.float64) for name, values in found.items()}


def _face_lines(obj, garment) -> bytes:
    """Faces as Blender has them, turned where the object is mirrored, and UVs at their corners."""
    mesh = obj.data
    corners, first, counts = arrays.corner_vertex(mesh), arrays.first_corner(mesh), arrays.corner_count(mesh)
    layer = mesh.uv_layers.get(obj.taffeta_cloth.uv_map) or mesh.uv_layers.active
    lines, at = [f"o {garment.name}"], [str(corner + 1) for corner in corners]
    if layer is not None:
        uv = arrays.corner_uv(layer).astype(np.float64)
        lines += [f"vt {u!r} {v!r}" for u, v in uv.tolist()]
        at = [f"{corner}/{number + 1}" for number, corner in enumerate(at)]
    is_mirrored = np.linalg.det(world_matrix(obj, 1.0)[:3, :3]) < 0
    for start, count in zip(first.tolist(), counts.tolist(), strict=True):
        ring = at[start : start + count]
        lines.append("f " + " ".join([ring[0], *ring[:0:-1]] if is_mirrored else ring))
    return ("\n".join(lines) + "\n").encode()


def _write_frames(order, cloths, bodies, out: Written, unsaid: Findings) -> Steps:
    """Steps: the poses of what is held, and of bodies (`Track`); returns the first frame's input, and the numbers a frame of
    each track. # output: unsaid
    """
    starts = np.cumsum([0, *(len(garment.x) for garment in order.garments)])
    tracks = [
        Track(out.folder / "pose" / name, _face_lines(obj, garment), MOST_SAMPLES, moves=_holds(garment))
        for name, obj, garment in zip(out.cloths, cloths, order.garments, strict=True)
    ] + [
        Track(
            out.folder / "body" / name, _triangle_lines(body.triangles), body.sample_count or MOST_SAMPLES, moves=True
        )
        for name, body in zip(out.bodies, order.bodies, strict=True)
    ]
    first = None
    with posed(bpy.data.scenes[order.scene], cloths, bodies):
        samples = frame_inputs(order.scene, order.garment_objects, order.bodies, order.frames, order.rest_count)
        for frame, found in zip(order.frames, samples, strict=True):
            yield Step(f"Writing frame {frame} of {order.frames[-1]}", (frame - order.frames.start) / len(order.frames))
            first = first or found
            unsaid |= of_frame(found, first, order.garments, order.bodies)
            poses = [found.targets[:, a:b] for a, b in pairwise(starts)]
            there = {body.name: body.x for body in found.colliders}
            for track, x in zip(tracks, (*poses, *(there.get(body.name) for body in order.bodies)), strict=True):
                if x is not None:  # a body that does not collide has no place
                    track.write(frame, x)
    return first, [track.end() for track in tracks]


def _holds(garment) -> bool:
    """Whether a garment follows its pose anywhere."""
    return bool(garment.pin.any() or np.isfinite(garment.pin_distance).any())


class Track:
    """A sequence of OBJ files: one where it begins, and from where it moves on one a frame, or more where it turns."""

    def __init__(self, path: Path, faces: bytes, samples: int, moves: bool):
        self.path, self.faces, self.samples, self.moves = path, faces, samples, moves
        self.x, self.last, self.turns = None, 0, False

    def write(self, frame: int, x: np.ndarray) -> None:
        """Go on to a frame by x (s + 1, n, 3) [m], from the frame before to this one."""
        count, end = len(x) - 1, frame * self.samples
        if self.x is None:
            self._put(end, x[-1])
        if not self.moves or all(np.array_equal(self.x, one) for one in x):
            return
        if self.last < end - self.samples:  # it stood still until the frame before
            self._put(end - self.samples, self.x)
        self.turns |= count > 1
        for k in range(1, count + 1):
            self._put(end - self.samples + k * self.samples // count, x[k])

    def end(self) -> int:
        """The numbers a frame that its files have: those of frames alone, if it never turned; 0 if there is no file."""
        if self.x is None:
            return 0
        if self.turns:
            return self.samples
        for file in sorted(self.path.parent.glob(f"{escape_glob(self.path.name)}_[-0-9]*.obj")):
            number = int(file.stem.removeprefix(f"{self.path.name}_"))
            file.rename(self._file(number // self.samples))
        return 1

    def _put(self, number: int, x: np.ndarray) -> None:
        obj_files.write(self._file(number), x, self.faces, ALL_DIGITS)
        self.x, self.last = x, number

    def _file(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}_{number:04d}.obj")


def _triangle_lines(triangles: np.ndarray) -> bytes:
    return ("f %d %d %d\n" * len(triangles) % tuple((triangles + 1).ravel().tolist())).encode()


def _text(order, out: Written, first, samples: list[int]) -> str:
    """The scene file; samples : numbers a frame of the poses' and the bodies' sequences."""
    x = {name: value for name, value in order.settings._asdict().items() if value != Settings()._asdict()[name]}
    if x.get("dynamics") == "EULER":
        x["dynamics"] = FORWARD_EULER
    general = [(ELEMENTS.get(name, _element(name)), value) for name, value in x.items()]
    general += [("gravity", tuple(first.gravity)), ("wind", tuple(first.wind)), ("fps", order.fps)]
    general += [("StartFrame", order.frames.start), ("EndFrame", order.frames[-1])]
    cloth_files, body_files = [f"{name}.obj" for name in out.cloths], [f"{name}_####.obj" for name in out.bodies]
    parts = [_section("general", general)]
    counts = dict(zip(body_files, samples[len(out.cloths) :], strict=True))
    for body, file in zip(order.bodies, body_files, strict=True):
        if not counts[file]:
            continue
        values = [(name, getattr(body, name)) for name in ("friction", "restitution", "viscosity", "aura")] + [
            ("samples", counts[file])
        ]
        parts.append(_section("static", [("objPath", f"{out.name}/body/{file}"), *values]))
    for k, garment in enumerate(order.garments):
        files = [
            ("objPath", f"{out.name}/cloth/{cloth_files[k]}"),
            ("posePath", f"{out.name}/pose/{out.cloths[k]}_####.obj"),
        ]
        files += [("valuesPath", f"{out.name}/cloth/{out.cloths[k]}.csv")] * bool(_table(garment))
        files += [("savePath", out.name.removesuffix("_files") + "_frames"), ("saveName", out.cloths[k])]
        values = [(element, getattr(garment, name)[0]) for name, element in UNIFORM.items()]
        values += [(element, getattr(garment, name)) for name, element in PLAIN.items()]
        values += [
            ("rigidity", bpy.data.objects[garment.name].taffeta_cloth.rigidity),
            ("pattern", garment.uv is not None),
        ]
        values += _collides(k, order, cloth_files, counts)
        parts.append(f"<cloth>\n{_section('FILE', files)}{_section('SETTINGS', values)}</cloth>\n")
    return f"<scene>\n{''.join(parts)}</scene>\n"


def _collides(k: int, order, cloth_files: list[str], counts: dict[str, int]) -> list[tuple[str, str]]:
    """The element that says what a garment meets, if it is not everything. counts : numbers a frame by body file, 0: it is not there"""
    meets = order.garments[k].meets
    met = [meets is None or meets[other] for other in range(len(cloth_files))]
    met += [body.meets is None or body.meets[k] for body in order.bodies]
    if all(met):
        return []
    files = zip((*cloth_files, *counts), met, strict=True)
    names = [name for name, is_met in files if is_met and counts.get(name, True)]
    return [("collideWith", ", ".join(names) or "none")]


def _element(name: str) -> str:
    """A field's name as elements are written: cloth_contact is clothContact."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _section(tag: str, values: list[tuple[str, object]]) -> str:
    lines = "".join(f"  <{name}>{escape(_word(value))}</{name}>\n" for name, value in values)
    return f"<{tag}>\n{lines}</{tag}>\n"


def _word(value) -> str:
    """A value with all its digits."""
    if isinstance(value, tuple):
        return " ".join(map(_word, value))
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, float | np.floating) else str(value)


class TAFFETA_OT_scene_export(InObjectMode, LongWork, bpy.types.Operator):
    """Write every cloth of the scene, with what it meets, as a scene file that Taffeta bakes without Blender"""

    bl_idname = "taffeta.scene_export"
    bl_label = "Export Taffeta Scene"
    bl_options = {"REGISTER"}

    filepath: StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE", "PATH_SUPPORTS_BLEND_RELATIVE"})
    filter_glob: StringProperty(default="*.xml", options={"HIDDEN"})
    check_existing: BoolProperty(default=True, options={"HIDDEN"})
    overwrite: BoolProperty(name="Overwrite", description="Replace files that are there already", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not cloths_of(context.scene):
            cls.poll_message_set("There is no Taffeta Cloth in this scene; add one in the Physics tab")
            return False
        return True

    def invoke(self, context, event):
        name = Path(bpy.data.filepath).stem or bpy.path.clean_name(context.scene.name)
        return self.ask_for_file(context, f"{name}.xml")

    def steps(self, context):
        path = Path(bpy.path.abspath(self.filepath))
        if not path.stem:
            raise ValueError("The scene file has no name; type one")
        path = path if path.suffix.lower() == ".xml" else path.with_name(f"{path.name}.xml")
        unsaid = yield from steps(context.scene, path, self.overwrite)
        if unsaid:
            self.report(
                {"WARNING"}, translated(f"A scene file has no words for {', '.join(unsaid)}: left out of {path.name}")
            )
        self.report({"INFO"}, translated(f"Exported {path.name}; bake it by: python -m taffeta {path.name}"))
        return {"FINISHED"}


def menu_entry(self, context):
    """A line in File > Export."""
    self.layout.operator(TAFFETA_OT_scene_export.bl_idname, text="Taffeta Scene (.xml)")


register, unregister = in_menu("TOPBAR_MT_file_export", menu_entry, (TAFFETA_OT_scene_export,))
