# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that stand in one of Blender's own menus."""

import bpy


def in_menu(menu, entry, classes):
    """Return a module's `register` and `unregister` for operators, and menus of ours, that stand in a menu of Blender's.

    menu : its name, as "VIEW3D_MT_edit_mesh_edges"; entry : (menu, context) draws the lines, as Blender's menus call it
    """
    make_known, forget = bpy.utils.register_classes_factory(classes)

    def register():
        """Make them known, and put their lines into the menu."""
        make_known()
        getattr(bpy.types, menu).append(entry)

    def unregister():
        """Take that back."""
        getattr(bpy.types, menu).remove(entry)
        forget()

    return register, unregister
