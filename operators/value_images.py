# SPDX-License-Identifier: GPL-3.0-or-later
"""Values as images: stretch, wrinkles, contact and the like of baked cloth by its UV map, an image a frame, for shaders that know no
attributes and for game engines."""

from math import pi
from pathlib import Path

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ..panels.translations import translated
from ..solver.geometry.texels import picture_of, texels
from .export import check_free, move_into, scratch_folder
from .live import turn
from .read import arrays, value_nodes
from .read.participants import chosen_cloths, refuse_mode
from .read.sampling import depsgraph_of
from .read.write_back import save_values
from .work.baked import refuse, shown_up_to
from .work.steps import Step
from .work.window import ObjectModeWork

# Identifier: attribute, and the value of it that is white in a PNG.
WHITE = {
    "STRETCH": (value_nodes.STRETCH, 0.1), "COMPRESSION": (value_nodes.COMPRESSION, 0.1), "FOLD": (value_nodes.FOLD, pi / 2),
    "CONTACT": (value_nodes.CONTACT, 1.0), "PINCH": (value_nodes.PINCH, 1.0),
}  # fmt: skip
ENDINGS = {"OPEN_EXR": ".exr", "PNG": ".png"}
ROUNDING = 1e-5  # by which a place in a UV map may be beyond 0 to 1, as packing leaves it


def numbered(path: Path, value: str, frame: int) -> str:
    """NAME_stretch_0001.exr; frames before 0 are NAME_stretch_-0001.exr."""
    return f"{path.stem}_{value.lower()}_{'-' if frame < 0 else ''}{abs(frame):04d}{path.suffix}"


def format_of(path: Path) -> str:
    """What the ending of a file's name says; ValueError if that is none of ours."""
    ending = path.suffix.lower()
    if ending not in ENDINGS.values():
        raise ValueError(f"{path.name or 'The file'}: the name has to end in {', '.join(ENDINGS.values())}")
    return next(name for name in ENDINGS if ENDINGS[name] == ending)


class TAFFETA_OT_value_images(ObjectModeWork, bpy.types.Operator):
    """Write values of the baked cloth as images, one a frame, laid out by a UV map: for shaders and game engines"""

    bl_idname = "taffeta.value_images"
    bl_label = "Write Values as Images"
    bl_options = {"REGISTER"}

    filepath: StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE", "PATH_SUPPORTS_BLEND_RELATIVE"})
    filter_glob: StringProperty(default="*.exr;*.png", options={"HIDDEN"})
    object: StringProperty(
        name="Object", description="The cloth; empty takes the selected one", options={"SKIP_SAVE", "HIDDEN"}
    )
    values: EnumProperty(
        name="Values", options={"ENUM_FLAG"}, default={"COMPRESSION"}, description="Each has images of its own",
        items=(
            ("STRETCH", "Stretch", "How much longer the edges are than at rest: 0.1 is 10 %", 1),
            ("COMPRESSION", "Compression", "How much shorter they are: mixes in a map of wrinkles", 2),
            ("FOLD", "Folds", "Mean angle in radians between the faces at an edge", 4),
            ("CONTACT", "Contact", "1 where a collider is as near as it may come", 8),
            ("PINCH", "Pinch", "1 where colliders leave the cloth no room", 16),
        ),
    )  # fmt: skip
    format: EnumProperty(
        name="Format", description="Changes the ending of the file's name",
        items=(
            ("OPEN_EXR", "OpenEXR", "The values themselves, 32 bits each", 0),
            ("PNG", "PNG", "From 0, black, to the value that White says, 16 bits each", 1),
        ),
    )  # fmt: skip
    white: FloatProperty(
        name="White", default=0.0, min=0.0, max=100.0, precision=3,
        description="Value that is white in a PNG. 0: 10 % of stretch and compression, a right angle of folds, 1 of the others",
    )  # fmt: skip
    size: IntProperty(
        name="Size", default=1024, min=8, max=4096, description="Pixels along a side of the images", subtype="PIXEL"
    )
    padding: IntProperty(
        name="Padding", default=8, min=0, max=64, subtype="PIXEL",
        description="Pixels by which the values go on beyond the borders of the UV map, so that no shader sees the gaps",
    )  # fmt: skip
    uv_map: StringProperty(name="UV Map", description="UV map that lays the images out; empty takes the active one")
    frame_start: IntProperty(
        name="Frame Start", description="First frame; the scene's if not given", options={"SKIP_SAVE"}
    )
    frame_end: IntProperty(name="Frame End", description="Last frame; the scene's if not given", options={"SKIP_SAVE"})
    overwrite: BoolProperty(name="Overwrite", description="Replace files that are there already", options={"SKIP_SAVE"})

    def invoke(self, context, event):
        self.frame_start, self.frame_end = context.scene.frame_start, context.scene.frame_end
        name = self.object or getattr(context.view_layer.objects.active, "name", "cloth")
        return self.ask_for_file(context, bpy.path.clean_name(name) + ENDINGS[self.format])

    def check(self, context):
        path = Path(self.filepath)
        if not path.name or path.suffix.lower() == ENDINGS[self.format]:
            return False
        stem = path.stem if path.suffix.lower() in ENDINGS.values() else path.name
        self.filepath = str(path.with_name(stem + ENDINGS[self.format]))
        return True

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.column().prop(self, "values")
        obj = context.scene.objects.get(self.object) or context.view_layer.objects.active
        if obj is not None and obj.type == "MESH":
            layout.prop_search(self, "uv_map", obj.data, "uv_layers", icon="GROUP_UVS")
        for name in ("format", "white", "size", "padding", "frame_start", "frame_end", "overwrite"):
            row = layout.row()
            row.active = name != "white" or self.format == "PNG"
            row.prop(self, name)

    def steps(self, context):
        turn.refuse()
        scene, given = context.scene, self.properties.is_property_set
        first = self.frame_start if given("frame_start") else scene.frame_start
        last = self.frame_end if given("frame_end") else scene.frame_end
        path = Path(bpy.path.abspath(self.filepath))
        self.format = format_of(path)
        obj = self._cloth(context, path, first, last)
        names = [numbered(path, value, frame) for value in self._chosen() for frame in range(first, last + 1)]
        check_free(path.parent, names, self.overwrite)
        yield Step("Looking where the UV map lays the cloth")
        covered = self._texels(obj)
        with scratch_folder(path.parent) as scratch:
            yield from self._write(scene, obj, covered, scratch / path.name, range(first, last + 1))
            move_into(scratch, path.parent, self.overwrite)
        self.report({"INFO"}, translated(f"Wrote {len(names)} images to {path.parent}: {names[0]} to {names[-1]}"))
        return {"FINISHED"}

    def _cloth(self, context, path, first, last):
        """The garment; a ValueError where something is not as it has to be."""
        obj = chosen_cloths(context, self.object)[0]
        refuse(obj, "write its values")
        refuse_mode(obj)
        if value_nodes.values_of(obj) is None:
            raise ValueError(f"{obj.name} has no values yet; press Add Values for Nodes first")
        if not self._chosen():
            raise ValueError("No value is chosen; choose one at least")
        if last < first:
            raise ValueError(f"The range ends ({last}) before it starts ({first}); swap the two")
        return obj

    def _chosen(self):
        return [value for value in WHITE if value in self.values]

    def _texels(self, obj):
        """Where the images show which vertices of a garment; tells of what lies beside them."""
        layers = obj.data.uv_layers
        layer = layers.get(self.uv_map) if self.uv_map else layers.active
        if layer is None:
            wanted = f"no UV map '{self.uv_map}'" if self.uv_map else "no UV map"
            raise ValueError(f"{obj.name} has {wanted}; unwrap it, or choose another")
        triangles, corners = arrays.triangulated(obj.data)
        uv = arrays.corner_uv(layer)[corners]
        covered = texels(uv, triangles, self.size, self.padding)
        if not len(covered.pixel):  # a pattern in metres, as likely as not, which is not to be changed
            raise ValueError(
                f"{obj.name}: its UV map {layer.name} covers nothing between 0 and 1; choose another one, or add one and "
                "unwrap the garment into that"
            )
        beside = np.abs(uv - 0.5).max(axis=(1, 2)) > 0.5 + ROUNDING
        if beside.any():
            part = max(1, round(100 * beside.mean()))
            self.report(
                {"WARNING"},
                translated(
                    f"{obj.name}: {part} % of its UV map {layer.name} lie beyond 0 to 1, where no image is; choose another one"
                ),
            )
        return covered

    def _write(self, scene, obj, covered, path, frames):
        """Steps: the images of each frame, read from what Blender evaluates."""
        with shown_up_to(scene, obj, [value_nodes.values_of(obj)]):
            for done, frame in enumerate(frames):
                yield Step(f"Writing frame {frame} of {frames[-1]}", done / len(frames))
                scene.frame_set(frame)
                shown = obj.evaluated_get(depsgraph_of(scene)).data
                for value in self._chosen():
                    name, usual = WHITE[value]
                    if name not in shown.attributes:
                        raise ValueError(f"{obj.name} has no {name}; press Add Values for Nodes again")
                    read = arrays.stored_values(shown.attributes[name])[:, 0].astype(float)
                    if len(read) != len(obj.data.vertices):
                        raise ValueError(
                            f"{obj.name}: a modifier before its values changes its vertices; move it behind"
                        )
                    picture = picture_of(covered, read, self.size)
                    if self.format == "PNG":
                        picture = np.clip(picture / (self.white or usual), 0.0, 1.0)
                    save_values(picture, path.with_name(numbered(path, value, frame)), self.format)


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_value_images,))
