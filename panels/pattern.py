# SPDX-License-Identifier: GPL-3.0-or-later
"""What a garment takes from its sewing pattern, besides the direction of its threads, and what holds for all of its seams and elastic."""

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty

from .mapped import MAPPED_CLASSES, OVERRIDE
from .units import in_other_unit

# fmt: off
_ALLOWANCE = FloatProperty(
    name="Seam Allowance", default=0.0, min=0.0, max=10.0, soft_min=0.0, soft_max=0.03, step=0.1, unit="LENGTH", precision=4, override=OVERRIDE,
    description="Width on each side of a seam, in mm (scripts take metres), in which the cloth lies in several layers, folded in: heavier, "
    "thicker and stiffer. Seams are sewing edges where Sewing is on, and edges that are marked as seams. 0 is none, shirts have 6 to 10, trousers 15",
)


class PatternSettings:
    """Settings of a garment about its pattern, its seams and its elastic bands."""

    pattern_size: BoolProperty(
        name="Size from Pattern", default=False, override=OVERRIDE,
        description="Let the Pattern, and not the mesh, tell how large the cloth is at rest: a unit of the UV map is a metre. What is "
        "moved or scaled in the UV editor is cut anew; the mesh is where it starts. Each vertex needs one place in the pattern",
    )
    seam_bending: FloatProperty(
        name="Seam Bending", default=1.0, min=0.0, max=1e4, soft_max=20.0, step=50, precision=2, override=OVERRIDE,
        description="How many times as stiff against bending as the cloth beside them closed seams are, a pure number: 1 as if there were no "
        "seam, 3 to 10 where allowances are folded and stitched down, 0 a hinge that resists nothing",
    )
    seam_allowance: _ALLOWANCE
    seam_allowance_shown: in_other_unit("seam_allowance", _ALLOWANCE, 1e3, "mm")
    seam_layers: IntProperty(
        name="Seam Layers", default=2, min=1, max=20, soft_max=4, override=OVERRIDE,
        description="Layers of cloth in the Seam Allowance, a pure number: 2 where it is pressed open, 3 turned to one side, 4 as in a felled "
        "seam of jeans. Mass, thickness, stretch, shear and bending are so many times the cloth's",
    )
    elastic: PointerProperty(type=MAPPED_CLASSES["elastic"], override=OVERRIDE)
    elastic_length: FloatProperty(
        name="Elastic Length", default=0.7, min=0.05, max=0.99, subtype="FACTOR", override=OVERRIDE,
        description="Part of the cloth's length that painted elastic has where nothing pulls at it, a pure number: 0.7 gathers cloth by a third",
    )
    elastic_along: EnumProperty(
        name="Elastic Along", default="BOTH", override=OVERRIDE, description="Which way painted elastic draws the cloth together",
        items=(
            ("BOTH", "All Directions", "As in swimwear and smocking, and along a line of painted vertices"),
            ("WARP", "Warp", "Along u of the Pattern, as in a waistband whose pattern lies along it"),
            ("WEFT", "Weft", "Along v of the Pattern"),
        ),
    )
    band_pull: FloatProperty(
        name="Elastic Pull", default=1.0, min=0.0, max=1e3, soft_max=2.0, step=5, precision=2, override=OVERRIDE,
        description="Part of their tension that the garment's elastic bands have, a pure number: 1 all of it, 0 none. Key it to draw cloth "
        "together, or to let it out",
    )
    zip_open: FloatProperty(
        name="Zip Open", default=0.0, min=0.0, max=1.0, subtype="FACTOR", step=5, precision=2, override=OVERRIDE,
        description="How far the garment's zips are open, a pure number: 0 closed, 1 open from end to end. Key it to work them; what closes "
        "again is drawn together at Closing Speed",
    )
# fmt: on
