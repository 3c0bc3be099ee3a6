# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the layered depth images of bodies."""

from bpy.props import EnumProperty, IntProperty

from ..solver.model import Settings
from .choices import BODY_IMAGES, BODY_SEARCHES
from .mapped import OVERRIDE


# fmt: off
class ImageSettings:
    """What a scene's settings have of them; names and defaults are those of `solver.model.Settings`, where it has them."""

    ldi_resolution: IntProperty(
        name="Body Image Size", default=Settings().ldi_resolution, min=8, max=1024, soft_max=256, override=OVERRIDE,
        description="Pixels along the longest side of a body's layered depth image (LDI)",
    )
    body_images: EnumProperty(
        name="Body Images", items=BODY_IMAGES, default="AUTOMATIC", options=set(), override=OVERRIDE,
        description="What draws the layered depth images of bodies. The bake is the same with each, to the last bit; "
        "only the time differs",
    )
    body_search: EnumProperty(
        name="Body Search", items=BODY_SEARCHES, default=Settings().body_search, options=set(), override=OVERRIDE,
        description="In which images cloth looks for the triangles of bodies that it may touch. The first misses none; the "
        "others are those of 2003, to compare with",
    )
