# SPDX-License-Identifier: GPL-3.0-or-later
"""What a garment takes from its sewing pattern, besides the direction of its threads, and what holds for all of its seams and elastic."""

from bpy.props import BoolProperty, FloatProperty

from .mapped import OVERRIDE


# fmt: off
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
