# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials of the example scenes, as shader nodes; the woven one is drawn in pattern space, in metres."""

import bpy

#: stripes of the poncho across its middle: (distance from the middle line [m], linear colour from there on)
STRIPES = (
    (0.000, (0.62, 0.30, 0.075)),
    (0.022, (0.040, 0.012, 0.010)),
    (0.034, (0.60, 0.52, 0.40)),
    (0.046, (0.29, 0.035, 0.022)),
    (0.150, (0.60, 0.52, 0.40)),
    (0.160, (0.035, 0.10, 0.12)),
    (0.200, (0.62, 0.30, 0.075)),
    (0.212, (0.035, 0.10, 0.12)),
    (0.252, (0.60, 0.52, 0.40)),
    (0.262, (0.29, 0.035, 0.022)),
    (0.400, (0.040, 0.012, 0.010)),
    (0.424, (0.62, 0.30, 0.075)),
    (0.438, (0.60, 0.52, 0.40)),
    (0.450, (0.035, 0.10, 0.12)),
    (0.520, (0.60, 0.52, 0.40)),
    (0.530, (0.29, 0.035, 0.022)),
)
STRIPE_SPAN = 0.64  # [m] the colour ramp covers


def _new(name):
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    return material, nodes, links, nodes["Principled BSDF"]


def plain(name, colour, roughness=0.5):
    """Return a material of one linear colour (3,)."""
    material, _, _, shader = _new(name)
    shader.inputs["Base Color"].default_value = (*colour, 1.0)
    shader.inputs["Roughness"].default_value = roughness
    material.diffuse_color = (*colour, 1.0)
    return material


def porcelain():
    """Return the mannequin's matt grey."""
    material = plain("Porcelain", (0.42, 0.40, 0.385), 0.38)
    material.node_tree.nodes["Principled BSDF"].inputs["Subsurface Weight"].default_value = 0.0
    return material


def woven(name="Woven Wool", stripes=STRIPES, across="X", inside=0.55):
    """Return a two-sided woven cloth with stripes; `across` is the pattern axis that crosses the stripes.

    The back is `inside` times as bright. UVs are metres with the middle of the pattern at the origin.
    """
    material, nodes, links, shader = _new(name)
    shader.inputs["Roughness"].default_value = 0.85
    shader.inputs["Sheen Weight"].default_value = 0.25
    shader.inputs["Specular IOR Level"].default_value = 0.2
    uv = nodes.new("ShaderNodeUVMap")
    split = nodes.new("ShaderNodeSeparateXYZ")
    links.new(uv.outputs["UV"], split.inputs[0])
    distance = _maths(nodes, links, "ABSOLUTE", split.outputs[across])
    position = _maths(nodes, links, "DIVIDE", distance, STRIPE_SPAN)
    ramp = nodes.new("ShaderNodeValToRGB")
    ramp.color_ramp.interpolation = "CONSTANT"
    elements = ramp.color_ramp.elements
    elements[0].color = (*stripes[0][1], 1.0)
    elements.remove(elements[1])
    for at, colour in stripes[1:]:
        elements.new(at / STRIPE_SPAN).color = (*colour, 1.0)
    links.new(position, ramp.inputs["Fac"])
    weave = _weave(nodes, links, split)
    shade = _maths(nodes, links, "MULTIPLY_ADD", weave, 0.30, 0.72)
    geometry = nodes.new("ShaderNodeNewGeometry")
    side = _maths(nodes, links, "MULTIPLY_ADD", geometry.outputs["Backfacing"], inside - 1.0, 1.0)
    factor = _maths(nodes, links, "MULTIPLY", shade, side)
    tint = nodes.new("ShaderNodeVectorMath")
    tint.operation = "SCALE"
    links.new(ramp.outputs["Color"], tint.inputs[0])
    links.new(factor, tint.inputs["Scale"])
    links.new(tint.outputs["Vector"], shader.inputs["Base Color"])
    bump = nodes.new("ShaderNodeBump")
    bump.inputs["Strength"].default_value = 0.25
    bump.inputs["Distance"].default_value = 0.001
    links.new(weave, bump.inputs["Height"])
    links.new(bump.outputs["Normal"], shader.inputs["Normal"])
    material.diffuse_color = (*stripes[3 % len(stripes)][1], 1.0)
    return material


def _weave(nodes, links, split, pitch=0.006):
    """Return a socket in [0, 1] that is high where a thread lies on top: a plain weave of threads this far apart [m]."""
    waves = []
    for axis in ("X", "Y"):
        turn = _maths(nodes, links, "MULTIPLY", split.outputs[axis], 3.14159265 / pitch)
        waves.append(_maths(nodes, links, "SINE", turn))
    crossed = _maths(nodes, links, "MULTIPLY", *waves)
    return _maths(nodes, links, "MULTIPLY_ADD", crossed, 0.5, 0.5)


def _maths(nodes, links, operation, *values):
    node = nodes.new("ShaderNodeMath")
    node.operation = operation
    for socket, value in zip(node.inputs, values, strict=False):
        if isinstance(value, float):
            socket.default_value = value
        else:
            links.new(value, socket)
    return node.outputs[0]


def tiles(pitch=0.5):
    """Return a floor of pale square tiles this wide [m], so that one sees how far a walker has come."""
    material, nodes, links, shader = _new("Tiles")
    shader.inputs["Roughness"].default_value = 0.6
    place = nodes.new("ShaderNodeTexCoord")
    checker = nodes.new("ShaderNodeTexChecker")
    checker.inputs["Scale"].default_value = 1.0 / pitch
    checker.inputs["Color1"].default_value = (0.36, 0.37, 0.39, 1.0)
    checker.inputs["Color2"].default_value = (0.27, 0.28, 0.30, 1.0)
    links.new(place.outputs["Object"], checker.inputs["Vector"])
    links.new(checker.outputs["Color"], shader.inputs["Base Color"])
    material.diffuse_color = (0.32, 0.33, 0.35, 1.0)
    return material
