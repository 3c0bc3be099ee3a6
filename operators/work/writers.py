# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's exporters, called on exactly these objects; here, or in another Blender, which leaves the window alive.

Imports nothing of the package: the other Blender runs this file by its path (`other_blender`).
"""

import os
import shutil
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import bpy

PLAIN_STEM = "frame"  # that Blender numbers as meant
FRAME_WORD = "TAFFETA FRAME "  # before the number of a frame that the other Blender writes
FAULT_WORD = "TAFFETA FAULT "  # before what it could not do


def alembic(path: Path, first: int, last: int) -> None:
    """Write what is selected into one .abc file."""
    bpy.ops.wm.alembic_export(
        filepath=str(path),
        start=first,
        end=last,
        selected=True,
        flatten=False,
        uvs=True,
        normals=True,
        vcolors=True,
        apply_subdiv=True,  # else a Subdivision at the end of the stack would be left out
        face_sets=True,  # which faces wear which material
        evaluation_mode="RENDER",
        as_background_job=False,
        check_existing=False,
    )


def usd(path: Path, first: int, last: int) -> None:
    """Write what is selected into one USD file."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = first, last
    options = {"visible_objects_only": False} if bpy.app.version < (5, 0, 0) else {}
    bpy.ops.wm.usd_export(
        filepath=str(path),
        selected_objects_only=True,
        export_animation=True,
        export_uvmaps=True,
        export_normals=True,
        export_materials=True,
        export_subdivision="TESSELLATE",  # the vertices that Blender renders, as in the other formats
        export_armatures=False,
        export_shapekeys=False,
        evaluation_mode="RENDER",
        check_existing=False,
        **options,
    )


def wavefront(path: Path, first: int, last: int) -> None:
    """Write what is selected into an OBJ file a frame, called as `plain_stem` says."""
    bpy.ops.wm.obj_export(
        filepath=str(path.with_name(f"{plain_stem(path)}_.obj")),
        export_animation=True,
        start_frame=first,
        end_frame=last,
        export_selected_objects=True,
        export_uv=True,
        export_normals=True,
        export_materials=True,
        export_eval_mode="DAG_EVAL_RENDER",
        check_existing=False,
    )


def plain_stem(path: Path) -> str:
    """What OBJ files are called while they are written: Blender puts the number in the place of a #, or in that of what
    follows a point.
    """
    return PLAIN_STEM if set(path.stem) & set(".#") else path.stem


EXPORTERS = {".abc": alembic, ".usd": usd, ".usdc": usd, ".usda": usd, ".obj": wavefront}


def refuse_unbuilt(path: Path) -> None:
    """Raise a ValueError where this Blender cannot write what a file's ending says, as distributions leave out a format."""
    exporter = EXPORTERS[path.suffix.lower()]
    if exporter is alembic and not bpy.app.alembic.supported:
        raise ValueError("This Blender was built without Alembic; export to .obj, or use Blender from blender.org")
    if exporter is usd and not bpy.app.usd.supported:
        raise ValueError("This Blender was built without USD; export to .obj, or use Blender from blender.org")


def call(path: Path, first: int, last: int) -> None:
    """Write what is selected, in the format that the name's ending says; ValueError or OSError: a sentence."""
    refuse_unbuilt(path)
    try:
        EXPORTERS[path.suffix.lower()](path, first, last)
    except RuntimeError as error:  # how bpy.ops hands on what an operator reported
        raise OSError(f"Blender could not export: {str(error).strip()}") from error


@contextmanager
def only(context, targets):
    """Select exactly `targets`, shown and in Object Mode, whatever their collections and keys say; put back selection, mode,
    visibility, range and frame.
    """
    scene, objects = context.scene, context.view_layer.objects
    context.view_layer.update()  # removed objects would still be listed, as None
    active, mode = objects.active, context.mode
    edit_mode = active.mode if active is not None else "OBJECT"
    if mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    selected = [obj for obj in objects if obj.select_get()]
    frame, subframe = scene.frame_current, scene.frame_subframe
    first, last = scene.frame_start, scene.frame_end
    try:
        with _shown(context.view_layer, targets):
            for obj in selected:
                obj.select_set(False)
            for obj in targets:
                obj.select_set(True)
            if subframe:
                scene.frame_set(frame)  # the OBJ exporter would write each frame as much later
            yield
    finally:
        for obj in targets:
            obj.select_set(False)
        for obj in selected:
            obj.select_set(True)
        objects.active = active
        # Blender pushes the end along with the start, so the start is set again.
        scene.frame_start, scene.frame_end, scene.frame_start = first, last, first
        scene.frame_set(frame, subframe=subframe)
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode=edit_mode)


@contextmanager
def _shown(view_layer, targets):
    """Show `targets` in viewports and renders in every frame, and let them be selected: exporters leave out what is hidden by its
    collection or by keys without a word, and cloth that keys hide for a while stands still from there on.
    """
    hidden = [(obj, obj.hide_get(), obj.hide_viewport, obj.hide_render, obj.hide_select) for obj in targets]
    closed = _closed(view_layer.layer_collection, targets)[1]
    muted = [curve for obj in targets for curve in _hiding(obj) if not curve.mute]
    try:
        for owner, name in closed:
            setattr(owner, name, False)
        view_layer.update()
        for curve in muted:
            curve.mute = True
        for obj in targets:
            obj.hide_viewport = obj.hide_render = obj.hide_select = False
            obj.hide_set(False)
        yield
    finally:
        for curve in muted:
            curve.mute = False
        for obj, eye, monitor, camera, arrow in hidden:
            obj.hide_set(eye)
            obj.hide_viewport, obj.hide_render, obj.hide_select = monitor, camera, arrow
        for owner, name in closed:
            setattr(owner, name, True)


def _closed(layer, targets) -> tuple[bool, list]:
    """Whether one of `targets` lies below a layer collection, and the switches, (owner, name), that hide it there."""
    below = [_closed(child, targets) for child in layer.children]
    holds = not layer.exclude and any(obj in targets for obj in layer.collection.objects.values())
    closed = [switch for is_there, switches in below if is_there for switch in switches]
    if not (holds or any(is_there for is_there, _ in below)):
        return False, []
    own = (layer, "hide_viewport"), (layer.collection, "hide_viewport"), (layer.collection, "hide_render")
    return True, closed + [(owner, name) for owner, name in own if getattr(owner, name)]


def is_hidden_by_keys(obj: bpy.types.Object) -> bool:
    """Whether keys or drivers say in which frames an object is shown."""
    return any(not curve.mute for curve in _hiding(obj))


def _hiding(obj) -> list[bpy.types.FCurve]:
    """The curves and drivers that disable an object in viewports or in renders, of its strips, too."""
    data, found = obj.animation_data, []
    if data is None:
        return found
    waiting = [data, *(strip for track in data.nla_tracks for strip in track.strips)]
    while waiting:
        one = waiting.pop()
        waiting += getattr(one, "strips", ())  # of a meta strip
        slot = one.action_slot if one.action is not None else None
        layers = one.action.layers if slot is not None else ()
        bags = (bag for layer in layers for strip in layer.strips for bag in strip.channelbags)
        found += [curve for bag in bags if bag.slot_handle == slot.handle for curve in bag.fcurves]
    return [curve for curve in (*found, *data.drivers) if curve.data_path in ("hide_viewport", "hide_render")]


def write_there(
    blend: str, scene: str, layer: str, names: list[str], path: str, frames: tuple[int, int], trusted: bool
):
    """All that the other Blender does: open a scene, write what is named of it, and end. It tells each frame by a line.

    trusted : whether drivers of the file may run Python, as they may where it came from.

    Where whoever began it is gone, which its standard input tells by its end, the folder that it writes to goes, too.
    """
    threading.Thread(target=_end_with_parent, args=(Path(path).parent,), daemon=True).start()
    status = 1
    try:
        bpy.ops.wm.open_mainfile(filepath=blend, load_ui=False, use_scripts=trusted)
        found = bpy.data.scenes[scene]
        view_layer = found.view_layers[layer]
        bpy.app.handlers.frame_change_post.append(lambda now, *_: print(f"{FRAME_WORD}{now.frame_current}", flush=True))
        with bpy.context.temp_override(scene=found, view_layer=view_layer):
            with only(bpy.context, [found.objects[name] for name in names]):
                call(Path(path), *frames)
        status = 0
    except (ValueError, OSError, RuntimeError, KeyError) as error:
        print(f"{FAULT_WORD}{' '.join(str(error).split())}", flush=True)
    finally:
        sys.stdout.flush()
        os._exit(status)  # the short way, because Blender 4.5 as a module can hang at exit


def _end_with_parent(folder: Path) -> None:
    while sys.stdin.buffer.read(1):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    folder.with_suffix(".lock").unlink(missing_ok=True)
    os._exit(1)
