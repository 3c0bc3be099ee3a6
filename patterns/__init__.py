# SPDX-License-Identifier: GPL-3.0-or-later
"""Sewing patterns: files become panels (`garment_code`, `dxf`), and panels a mesh with its seams (`panel_mesh`).

    panel           the nouns: panels, the lines about them, stitches; what is refused of them
    curves          lines from corners and control points
    garment_code    GarmentCode's JSON
    dxf             DXF of AAMA and ASTM, by ezdxf
    panel_mesh      even triangles, a vertex to a vertex along each seam

Nothing here knows a scene; lengths are metres.
"""
