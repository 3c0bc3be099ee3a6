# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of what holds a garment besides its pins: `Object.taffeta_cloth.attachments` and `.ride`."""

import bpy
from bpy.props import FloatProperty, IntProperty, PointerProperty, StringProperty

from .mapped import OVERRIDE


# fmt: off
class TaffetaAttachment(bpy.types.PropertyGroup):
    """Vertices of a garment that are tied to a body or to another garment."""

    number: IntProperty(name="Number", override=OVERRIDE, description="By which vertices of the mesh know that they belong to it")
    body: PointerProperty(
        name="Attached to", type=bpy.types.Object, override=OVERRIDE, poll=lambda _, obj: obj.type == "MESH",
        description="Body whose triangles the vertices follow, or garment that they are tacked to",
    )
    topology: StringProperty(
        name="Topology", override=OVERRIDE, description="Vertices and checksum of the body's mesh when this was made"
    )
    weight: FloatProperty(
        name="Weight", default=1.0, min=0.0, max=1.0, subtype="FACTOR", override=OVERRIDE,
        description="How firmly it holds, times what is painted: 1 all of it, 0 lets go. Key it to catch cloth and to let it go",
    )
    stiffness: FloatProperty(
        name="Stiffness (N/m)", default=0.0, min=0.0, max=1e7, soft_max=1000.0, step=1000, precision=1, override=OVERRIDE,
        description="Of the spring that each vertex hangs on, in N/m. 0 is hard: the vertex goes exactly where the body goes; "
        "with a Breaking Force it gives way by 1 mm at that",
    )
    damping: FloatProperty(
        name="Damping (N s/m)", default=0.0, min=0.0, max=1e5, soft_max=1.0, step=1, precision=3, override=OVERRIDE,
        description="What each of these springs takes of the vertex' velocity against the body's, in N s/m; none where it is hard "
        "or a tack",
    )
    breaking_force: FloatProperty(
        name="Breaking Force (N)", default=0.0, min=0.0, max=1e6, soft_max=10.0, step=10, precision=3, override=OVERRIDE,
        description="Force in N at which a vertex tears off, for the rest of the shot. 0 never does",
    )


class TaffetaRide(bpy.types.PropertyGroup):
    """What a garment rides on, and how much of its motion it feels."""

    felt: FloatProperty(
        name="Felt Motion", default=1.0, min=0.0, max=1.0, subtype="FACTOR", override=OVERRIDE,
        description="Part of the carrier's motion that the cloth feels, a pure number: 1 all, as cloth does; 0 none, as if it hung "
        "in a room that moves along. A cape on a hero that flies 0.2",
    )
    object: PointerProperty(
        name="Carrier", type=bpy.types.Object, override=OVERRIDE,
        description="Object whose motion is felt in part: the character's armature. Empty takes the garment itself, with what it is "
        "parented to",
    )
    bone: StringProperty(name="Bone", override=OVERRIDE, description="Bone of that armature, such as the chest; empty takes the object")
# fmt: on
