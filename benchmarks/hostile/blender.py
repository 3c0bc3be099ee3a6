# SPDX-License-Identifier: GPL-3.0-or-later
"""Hostile settings, meshes and command lines in Blender: what a .blend of somebody else may hold."""

import contextlib
import io
from collections.abc import Iterator
from types import FunctionType

import bpy
import numpy as np
import taffeta
from taffeta.operators import command

from .box import Box, Outcome
from .damage import damaged, number, random_name, replaced

SIDE = 6  # vertices of a sheet's side
FRAMES = 3
EXTREMES = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    1e-38,
    -1e-38,
    1e-9,
    1e9,
    1e18,
    1e30,
    3e38,
    -3e38,
    float("inf"),
    float("-inf"),
    float("nan"),
)
WHOLE = 0, 1, -1, 2, 100, 2**31 - 1, -(2**31), 1_048_574
#: long enough by what they are for; a shot of more frames or steps is merely a longer one
LEFT_ALONE = "preroll", "substeps", "iterations", "cache_folder", "small_steps"
PANELS = (
    "TAFFETA_PT_bar", "TAFFETA_PT_cloth", "TAFFETA_PT_cloth_fabric", "TAFFETA_PT_cloth_pins", "TAFFETA_PT_cloth_collision", "TAFFETA_PT_more",
    "TAFFETA_PT_preflight", "TAFFETA_PT_bake", "TAFFETA_PT_report", "TAFFETA_PT_bakes", "TAFFETA_PT_takes", "TAFFETA_PT_cloth_details",
    "TAFFETA_PT_cloth_sewing", "TAFFETA_PT_cloth_masks", "TAFFETA_PT_cloth_forces", "TAFFETA_PT_layers", "TAFFETA_PT_scene",
    "TAFFETA_PT_scene_cache", "TAFFETA_PT_forces", "TAFFETA_PT_scene_collision", "TAFFETA_PT_advanced",
)  # fmt: skip


@contextlib.contextmanager
def registered() -> Iterator[None]:
    """Taffeta switched on; classes left behind at exit would hang Blender 4.5."""
    taffeta.register()
    try:
        yield
    finally:
        taffeta.unregister()


def grid(count: int, size: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """A square of quads about the origin: x (count**2, 3), faces ((count - 1)**2, 4)."""
    line = np.linspace(-size / 2, size / 2, count)
    u, v = np.meshgrid(line, line)
    corner = (np.arange(count - 1)[:, None] * count + np.arange(count - 1)).ravel()
    return np.column_stack((u.ravel(), v.ravel(), np.zeros(count * count))), np.column_stack(
        (corner, corner + 1, corner + count + 1, corner + count)
    )


def mesh_object(name: str, x, faces, edges=(), height: float = 0.0) -> bpy.types.Object:
    """An object of the scene."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(x, float).tolist(), [tuple(e) for e in edges], [tuple(map(int, f)) for f in faces])
    obj = bpy.data.objects.new(name, mesh)
    obj.location.z = height
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    return obj


def base(box: Box) -> bpy.types.Object:
    """A small shot that bakes: a sheet with pins over a body that moves, in the wind, saved. Returns the sheet."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    obj = mesh_object("Cloth", *grid(SIDE), height=0.3)
    group = obj.vertex_groups.new(name="pins")
    group.add(range(SIDE), 1.0, "REPLACE")
    layer = obj.data.uv_layers.new(name="UVMap")
    for loop in obj.data.loops:
        x, y, _ = obj.data.vertices[loop.vertex_index].co
        layer.uv[loop.index].vector = x + 0.5, y + 0.5
    obj.data.attributes.new("worn", "FLOAT", "POINT")
    cloth = obj.taffeta_cloth
    cloth.enabled, cloth.pin.source, cloth.pin.vertex_group = True, "GROUP", "pins"
    cloth.pin.minimum, cloth.pin.maximum = 0.0, 1.0
    body = mesh_object("Body", *grid(3, 2.0))
    body.taffeta_collider.enabled = True
    for frame, height in ((1, 0.0), (FRAMES, 0.1)):
        body.location.z = height
        body.keyframe_insert("location", frame=frame)
    bpy.data.images.new("picture", 8, 8)
    bpy.ops.wm.save_as_mainfile(filepath=str(box.inside / "shot.blend"))
    return bpy.data.objects["Cloth"]


def act(verb: str, **options) -> tuple[str, str]:
    """Press a button of Taffeta; what came of it, and what it told."""
    module, name = verb.split(".")
    try:
        return str(*getattr(getattr(bpy.ops, module), name)(**options)), ""
    except RuntimeError as error:  # how Blender's operators report
        return "CANCELLED", str(error).removeprefix("Error: ").strip()


def bake_and_more(rng, box: Box, words: str) -> Outcome:
    """Check, bake, and use some of the other buttons; the panels are drawn between."""
    box.close()
    told, done = [], False
    verbs = [("taffeta.preflight", {}), ("taffeta.bake", {})]
    others = [
        ("taffeta.bake", {"resume": True}),
        ("taffeta.bake", {"from_frame": int(rng.integers(-1, 6))}),
        ("taffeta.untangle", {}),
        ("taffeta.export", {"filepath": str(box.inside / "out" / "cloth.obj"), "frame_start": 1, "frame_end": 2, "everything": True}),
        ("taffeta.free", {"everything": True, "older": bool(rng.random() < 0.5)}),
        ("taffeta.trash_empty", {}),
        ("taffeta.keep_pose", {"result": "SHAPE"}),
    ]  # fmt: skip
    verbs += [others[int(rng.integers(len(others)))] for _ in range(int(rng.integers(0, 3)))]
    for verb, options in verbs:
        state, sentence = act(verb, **options)
        done |= verb == "taffeta.bake" and state == "FINISHED"
        told += [sentence] * bool(sentence)
        told += draw_panels()
    return Outcome(words, 0 if done else 1, "\n".join(told))


class Layout:
    """Takes whatever a panel draws; what is wrong with that, tests/blender/panels finds."""

    def __getattr__(self, name):
        return Layout()

    def __call__(self, *values, **named):
        return Layout()


def draw_panels() -> list[str]:
    """Draw all panels; an exception goes through. What they tell is for the tests."""
    for name in PANELS if bpy.context.object is not None else ():
        functions = {}
        for cls in reversed(getattr(bpy.types, name).__mro__):
            functions |= {key: value for key, value in vars(cls).items() if isinstance(value, FunctionType)}
        drawn = type("Drawn", (), functions)()
        drawn.layout, drawn.is_popover = Layout(), False
        drawn.draw(bpy.context)
    return []


def attack_settings(rng, box: Box) -> Outcome:
    """Settings of a garment, a body and the scene at values that nobody means."""
    obj = base(box)
    scene, body = bpy.context.scene, bpy.data.objects["Body"]
    words = []
    for _ in range(int(rng.integers(1, 6))):
        way = rng.random()
        if way < 0.75:
            groups = obj.taffeta_cloth, obj.taffeta_cloth, scene.taffeta, body.taffeta_collider
            words.append(change(rng, box, groups[int(rng.integers(4))]))
        else:
            words.append(_around(rng, box, scene, obj, body))
    return bake_and_more(rng, box, "; ".join(words))


def change(rng, box: Box, group) -> str:
    """Give one property of a group, or of a group in it, another value; returns words about it."""
    names = [name for name in group.bl_rna.properties.keys() if name not in ("rna_type", "enabled", *LEFT_ALONE)]
    name = str(rng.choice(names))
    prop = group.bl_rna.properties[name]
    if prop.type == "POINTER":
        if prop.fixed_type.identifier.startswith("Taffeta"):
            return f"{name}.{change(rng, box, getattr(group, name))}"
        known = {"Image": bpy.data.images, "Object": bpy.data.objects, "Collection": bpy.data.collections}
        found = list(known.get(prop.fixed_type.identifier, ()))
        setattr(group, name, found[0] if found and rng.random() < 0.7 else None)
        return name
    if prop.type == "ENUM":
        value = str(rng.choice(prop.enum_items.keys()))
    elif prop.type == "BOOLEAN":
        value = bool(rng.integers(2))
    elif prop.type == "STRING":
        value = _text(rng, box, name)
    else:
        ends = [prop.hard_min, prop.hard_max, prop.soft_max]
        pick = [*ends, *ends, *(EXTREMES if prop.type == "FLOAT" else WHOLE)]
        value = [pick[int(rng.integers(len(pick)))] for _ in range(max(1, prop.array_length))]
        value = value if prop.is_array else value[0]
    setattr(group, name, value)
    return f"{name} = {value!r}"


def _text(rng, box, name):
    if name == "cache_path":
        return str(
            rng.choice(
                [
                    str(box.outside / "Cloth.pc2"),
                    str(box.outside / "thesis.txt"),
                    "//../outside/Cloth.pc2",
                    "/dev/zero",
                    "//",
                ]
            )
        )
    if name == "vertex_group" or "group" in name:
        return str(rng.choice(["pins", "none"]))
    if name in ("report_json", "fingerprint"):
        return str(
            rng.choice(
                [
                    '{"frames": 1e400}',
                    "[" * 5000,
                    '{"frames": {}}',
                    '{"milliseconds": [1]}',
                    "null",
                    "x" * 100000,
                    '{"a": NaN}',
                ]
            )
        )
    return random_name(rng).replace("\0", "")


def _around(rng, box, scene, obj, body):
    """Something beside Taffeta's own settings."""
    extreme = float(rng.choice(np.array(EXTREMES)))
    target = obj if rng.random() < 0.5 else body
    ways = {
        "location": lambda: setattr(target, "location", (extreme, 0.0, 0.0)),
        "scale": lambda: setattr(target, "scale", (extreme, 1.0, 1.0)),
        "rotation": lambda: setattr(target, "rotation_euler", (extreme, extreme, 0.0)),
        "unit": lambda: setattr(scene.unit_settings, "scale_length", extreme),
        "gravity": lambda: setattr(scene, "gravity", (extreme, 0.0, extreme)),
        "fps": lambda: setattr(scene.render, "fps", int(rng.choice([1, 2, 32767]))),
        "fps base": lambda: setattr(scene.render, "fps_base", extreme),
        "frames": lambda: _late(scene, int(rng.choice([0, 7, 100000, 1048570]))),
        "remapping": lambda: setattr(scene.render, "frame_map_new", int(rng.choice([1, 900]))),
        "keyed": lambda: _keyed(body, extreme),
        "field": lambda: _field(rng, extreme),
        "parent": lambda: setattr(obj, "parent", body),
        "name": lambda: setattr(target, "name", random_name(rng).replace("\0", "")),
        "hidden": lambda: setattr(target, "hide_viewport", True),
        "array": lambda: setattr(target.modifiers.new("Array", "ARRAY"), "count", 3),
        "after": lambda: target.modifiers.new("Solidify", "SOLIDIFY"),
        "rate": lambda: setattr(scene.taffeta, "substeps", int(rng.choice([1, 100]))),
        "folder": lambda: setattr(scene.taffeta, "cache_folder", "//" + random_name(rng).replace("..", "_").replace("\0", "")),
        "colliding": lambda: setattr(obj.taffeta_collider, "enabled", True),
        "cloth too": lambda: setattr(body.taffeta_cloth, "enabled", True),
        "odd folder": lambda: replaced(rng, box.inside / "taffeta_cache", box.outside),
        "no faces": lambda: target.data.clear_geometry(),
    }  # fmt: skip
    name = str(rng.choice(list(ways)))
    with contextlib.suppress(TypeError, ValueError, OverflowError):  # Blender refuses it
        ways[name]()
    return f"{name} of {target.name!r}: {extreme:g}"


def _late(scene, start):
    scene.frame_start, scene.frame_end = start, start + FRAMES - 1


def _keyed(body, extreme):
    body.location.x = extreme
    body.keyframe_insert("location", frame=2)


def _field(rng, extreme):
    kinds = "WIND", "FORCE", "VORTEX", "TURBULENCE", "DRAG", "HARMONIC", "CHARGE", "LENNARDJ"
    bpy.ops.object.effector_add(type=str(rng.choice(kinds)))
    bpy.context.object.field.strength = extreme


def attack_mesh(rng, box: Box) -> Outcome:
    """A mesh as no modeller makes it, as cloth, as body, or as both."""
    base(box)
    what, words = str(rng.choice(["Cloth", "Body"])), ""
    old = bpy.data.objects[what]
    count = int(rng.choice([0, 1, 3, 8, 40, 200]))
    scale = float(rng.choice([0.0, 1e-38, 1e-9, 1.0, 1.0, 1.0, 1e4, 1e12, 3e38]))
    x = np.clip(rng.normal(size=(count, 3)) * scale, -3e38, 3e38)
    if count and rng.random() < 0.3:
        x[rng.integers(count, size=2)] = rng.choice([np.nan, np.inf, -np.inf, 3e38, 0.0])
        words = "not finite"
    if rng.random() < 0.3:
        x = np.round(x)
    faces = (
        [rng.permutation(count)[: int(rng.choice([3, 3, 4, 7]))] for _ in range(int(rng.integers(0, 60)))]
        if count >= 3
        else []
    )
    faces = [face for face in faces if len(face) >= 3]
    if faces and rng.random() < 0.3:
        faces += [faces[0]] * 5  # on each other
    edges = rng.integers(0, count, (int(rng.integers(0, 9)), 2)) if count and rng.random() < 0.5 else ()
    mesh = bpy.data.meshes.new("strange")
    mesh.from_pydata(x.tolist(), [tuple(map(int, edge)) for edge in edges], [tuple(map(int, face)) for face in faces])
    old.data = mesh
    if what == "Cloth" and rng.random() < 0.3:
        old.taffeta_cloth.sewing = True
    if count and rng.random() < 0.2:
        key = old.shape_key_add(name="Basis"), old.shape_key_add(name="b")
        key[1].data[0].co.x = float(rng.choice(np.array(EXTREMES)))
    return bake_and_more(rng, box, f"{what} of {count} vertices of {scale:g} m, {len(faces)} faces {words}")


def attack_arguments(rng, box: Box) -> Outcome:
    """A command line that nobody means."""
    base(box)
    blend = box.inside / "shot.blend"
    frames = "1-2", "3-1", "1-", "-1-2", "x", "1-99999999999999", "0", "1-2-3", number(rng), "5-6"
    if rng.random() < 0.2:
        content, _ = damaged(rng, blend.read_bytes())
        (box.inside / "damaged.blend").write_bytes(content)
    files = (
        str(blend),
        str(blend),
        str(blend),
        str(box.inside / "damaged.blend"),
        str(box.inside),
        "/dev/null",
        random_name(rng),
        "",
    )
    arguments = ["bake"] if rng.random() < 0.95 else [random_name(rng)]
    arguments.append(files[int(rng.integers(len(files)))])
    folder = str(box.inside / "out")
    options = {
        "--frames": frames,
        "--object": ("Cloth", "Body", "nobody", "", random_name(rng)),
        "--scene": ("Scene", "nobody", ""),
        "--export": (f"{folder}/a.obj", f"{folder}/a.abc", f"{folder}/x.y.usd", f"{folder}/a.stl", f"{folder}/.obj", f"{folder}/#.obj", folder,
                     f"{folder}/{random_name(rng).replace('/', '_')}.obj", "", f"{box.inside}/shot.blend/a.obj"),
        "--resume": None, "--untangle": None, "--save": None, "--help": None, "--x": None,
    }  # fmt: skip
    for name in rng.permutation(list(options))[: int(rng.integers(0, 4))]:
        values = options[str(name)]
        arguments += [str(name)] + ([] if values is None else [values[int(rng.integers(len(values)))]])
    arguments = [word.replace("\0", "") for word in arguments]
    box.close()
    return run_command(arguments)


def run_command(arguments: list[str]) -> Outcome:
    """`blender --command taffeta ARGUMENTS`, in this process."""
    errors, out = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(out):
        status = command.run(arguments)
    return Outcome(f"arguments {arguments}", status, errors.getvalue())


ATTACKS = {"settings": attack_settings, "Blender's meshes": attack_mesh, "Blender's arguments": attack_arguments}
