# SPDX-License-Identifier: GPL-3.0-or-later
"""What an object hangs on: parents, what modifiers and constraints look at, those of an armature's bones too, and what any of these hang
on. Which of these move it, its pose alone (`armatures_of`) or at all (`hung_on`), is asked here.
"""

from collections.abc import Iterable, Iterator

import bpy

from .modifier_stack import before_simulation, rigs


def hung_on(objects: Iterable[bpy.types.Object]) -> Iterator[bpy.types.Object]:
    """These objects, and all that may move or shape them before they are simulated, each once."""
    waiting, seen = list(objects), set()
    while waiting:
        obj = waiting.pop()
        if obj.session_uid not in seen:
            seen.add(obj.session_uid)
            yield obj
            waiting += [carrier for carrier, _ in links(obj, before_simulation(obj), posed=True)]


def looked_at(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """What modifiers of these objects, and of all that they hang on, look at, each once."""
    stacks = (before_simulation(obj) for obj in hung_on(objects))
    found = (carrier for modifiers in stacks for modifier in modifiers for carrier in _looked_at(modifier))
    return list({carrier.session_uid: carrier for carrier in found}.values())


def armatures_of(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """The armatures whose pose moves or deforms an object; not those that it merely goes along with as a whole."""
    waiting, seen = [(obj, False)], set()
    while waiting:
        one, posed = waiting.pop()
        for link in links(one, rigs(one) if one.type != "ARMATURE" else (), posed):
            if link not in seen:
                seen.add(link)
                waiting.append(link)
    return sorted((one for one, by_pose in seen if by_pose and one.type == "ARMATURE"), key=lambda one: one.name)


def links(obj, modifiers, posed: bool) -> Iterator[tuple[bpy.types.Object, bool]]:
    """What an object hangs on by itself, and whether on its pose; of an armature whose pose counts (`posed`) also what its bones do."""
    if obj.parent is not None:
        yield obj.parent, obj.parent_type in {"ARMATURE", "BONE"}
    for modifier in modifiers:
        by_pose = modifier.type == "ARMATURE" or bool(getattr(modifier, "subtarget", ""))
        yield from ((carrier, by_pose) for carrier in _looked_at(modifier))
    yield from _targets(obj.constraints)
    for bone in obj.pose.bones if posed and obj.pose is not None else ():
        yield from _targets(bone.constraints)


def _looked_at(modifier: bpy.types.Modifier) -> list[bpy.types.Object]:
    """The objects that a modifier looks at, those of its collection and of the inputs of Geometry Nodes too."""
    names = (prop.identifier for prop in modifier.bl_rna.properties if prop.type == "POINTER")
    values = [getattr(modifier, name) for name in names] + (
        [value for _, value in node_inputs(modifier)] if modifier.type == "NODES" else []
    )
    found = [value for value in values if isinstance(value, bpy.types.Object)]
    for group in values:
        if isinstance(group, bpy.types.Collection):
            found += group.all_objects
    return found


def node_inputs(modifier: bpy.types.Modifier) -> list[tuple[str, object]]:
    """What stands in the inputs of Geometry Nodes, by their identifiers."""
    if modifier.node_group is None:
        return []
    if hasattr(modifier, "properties"):  # Blender 5.2
        inputs = modifier.properties.inputs
        names = [prop.identifier for prop in inputs.bl_rna.properties if prop.identifier != "rna_type"]
        return [(name, getattr(getattr(inputs, name), "value", None)) for name in names]
    return [(name, modifier[name]) for name in modifier.keys()]


def _targets(constraints) -> Iterator[tuple[bpy.types.Object, bool]]:
    """What constraints look at, and whether at a bone of it."""
    for constraint in constraints:
        for link in (constraint, *getattr(constraint, "targets", ())) if not constraint.mute else ():
            if getattr(link, "target", None) is not None:
                yield link.target, bool(getattr(link, "subtarget", ""))
