# SPDX-License-Identifier: GPL-3.0-or-later
"""The border: Blender's data become arrays here, and arrays Blender's data, and nowhere else.

arrays, write_back     the calls that copy whole arrays, from and to Blender
participants           which objects take part
modifier_stack         what moves a garment before its cache and after it
mesh_io, maps, groups  a garment with its maps and collision groups, a body, at one frame
sampling               what moves, frame by frame; with force_fields, preroll
animated               settings that are animated; with keyed, map_makers, image_sequence: where that is found
measures               what takes long to measure, kept until it changes
shape_key              a new shape for a garment, back through its modifiers
"""
