# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths in a .blend as Blender finds their files, also where the file was saved on Windows and is open elsewhere."""

import os
import re

import bpy

OF_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")  # a drive, or a folder that is shared in a network


def absolute(path: str, library: bpy.types.Library | None = None) -> str:
    """The path from the root of the disk. Windows writes backslashes, which Blender takes for slashes everywhere (`BLI_path_abs`)."""
    return bpy.path.abspath(slashed(path), library=library)


def slashed(path: str) -> str:
    """The path with the slashes of this system, where it has those of Windows."""
    return path if os.sep == "\\" else path.replace("\\", "/")


def is_elsewhere(path: str) -> bool:
    """Whether a path begins with a drive of Windows, or a folder that is shared there, and this is another system."""
    return os.sep != "\\" and OF_WINDOWS.match(path) is not None
