# SPDX-License-Identifier: GPL-3.0-or-later
"""Which boxes overlap: patches of triangles, a bounding volume hierarchy, a spatial hash."""
