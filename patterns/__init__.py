# SPDX-License-Identifier: GPL-3.0-or-later
"""Sewing patterns: files become panels (`garment_code`, `dxf`), panels a mesh with its seams (`panel_mesh`), and laid around a body
(`arrange`).

    panel           the nouns: panels, the lines about them, stitches; what is refused of them
    curves          lines from corners and control points
    garment_code    GarmentCode's JSON
    dxf             DXF of AAMA and ASTM, by ezdxf
    panel_mesh      even triangles, a vertex to a vertex along each seam
    places          where a panel belongs, by its name or size
    body_parts      trunk and limbs of a body, by its surface
    arrange         panels laid about them

Nothing here knows a scene; lengths are metres.
"""
