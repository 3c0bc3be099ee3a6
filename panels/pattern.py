# SPDX-License-Identifier: GPL-3.0-or-later
"""What a garment takes from its sewing pattern, besides the direction of its threads."""

from bpy.props import BoolProperty

from .mapped import OVERRIDE


# fmt: off
class PatternSettings:
    """Settings of a garment about its pattern."""

    pattern_size: BoolProperty(
        name="Size from Pattern", default=False, override=OVERRIDE,
        description="Let the Pattern, and not the mesh, tell how large the cloth is at rest: a unit of the UV map is a metre. What is "
        "moved or scaled in the UV editor is cut anew; the mesh is where it starts. Each vertex needs one place in the pattern",
    )
# fmt: on
