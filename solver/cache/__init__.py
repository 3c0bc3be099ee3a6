# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames and all that lies beside them on the disk.

frames, journal                a bake that survives a killed process; a line a frame, with what led to it
intact, whose, names           which frames are good; whose bake it is; where it lies, and who writes there now
about, recipe                  what is told of a bake, and what it was made of
moves, trash, wedge            whole bakes that get another place, that were freed, that tried other settings
pc2, obj, obj_layout, png      file formats; polygon: their faces as triangles
files, open_files              no link is written through, no pipe waited for; files that are written to for long stay where they are looked for
"""
