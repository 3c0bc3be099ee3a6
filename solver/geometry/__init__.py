# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes and who neighbours whom: distances, continuous collision detection, moving triangles, winding numbers."""
