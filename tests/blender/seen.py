# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects as Blender shows them, and chosen as by a click."""

import os
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np

PLAIN = """
import sys
sys.modules["taffeta"] = None  # importing it fails
import bpy, numpy as np
from seen import shown
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
assert not hasattr(bpy.types.Object, "taffeta_cloth")
frames = range(int(sys.argv[4]), int(sys.argv[5]) + 1)
np.save(sys.argv[2], [shown(bpy.data.objects[sys.argv[3]], frame) for frame in frames])
"""


def choose(*objects):
    """Select these objects, the first one active."""
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[0] if objects else None


def shown(obj, frame, subframe=0.0):
    """Vertices of the evaluated mesh at a frame in object space, (n, 3) float32."""
    bpy.context.scene.frame_set(frame, subframe=subframe)
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    x = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", x)
    return x.reshape(-1, 3)


def in_world(obj, frame):
    """World positions (n, 3) of an object's vertices at a frame, and its triangles (t, 3)."""
    bpy.context.scene.frame_set(frame)
    seen = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix, mesh = np.array(seen.matrix_world), seen.data
    x = np.array([vertex.co for vertex in mesh.vertices]) @ matrix[:3, :3].T + matrix[:3, 3]
    return x, triangles_of(seen)


def triangles_of(obj):
    """Vertices (t, 3) of an object's triangles."""
    obj.data.calc_loop_triangles()
    return np.array([triangle.vertices for triangle in obj.data.loop_triangles], int).reshape(-1, 3)


def shown_without_taffeta(obj, first, last, folder):
    """(f, n, 3) what `shown` sees of frames first to last of an object in another Blender that has no Taffeta; saves the file."""
    bpy.ops.wm.save_mainfile()
    result = folder / "plain.npy"
    command = [sys.executable, "-P", "-c", PLAIN, bpy.data.filepath, str(result), obj.name, str(first), str(last)]
    paths = {"PYTHONPATH": str(Path(__file__).parent)}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder, env=os.environ | paths)
    assert ended.returncode == 0, ended.stderr
    return np.load(result)
