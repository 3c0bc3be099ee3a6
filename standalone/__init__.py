# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver without Blender: a scene file (XML) with OBJ meshes and PNG maps in, an OBJ per frame out."""
