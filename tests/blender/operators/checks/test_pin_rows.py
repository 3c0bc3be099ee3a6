# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight: what nothing holds, and what two bodies hold too fast."""

import bpy
import numpy as np
import pytest
from taffeta.operators.checks import squeezed
from taffeta.operators.checks.crossings import start_pose


def square(count, size=1.0):
    """Vertices (n, 3) and quads of a grid."""
    line = size * (np.linspace(0.0, 1.0, count) - 0.5)
    x = np.array([(a, b, 0.0) for b in line for a in line])
    corner = np.arange(count * count).reshape(count, count)[:-1, :-1].ravel()
    return x, np.stack([corner, corner + 1, corner + count + 1, corner + count], axis=1)


@pytest.fixture
def coat(saved, make):
    """A sheet with two buttons of four vertices, of one object, and a body below; pinned by its first vertices."""
    x, faces = square(9)
    button, _ = square(2, 0.02)
    x = np.concatenate([x, button + [0.1, 0.0, 0.02], button + [0.2, 0.0, 0.02]])
    faces = [*faces.tolist(), [81, 82, 84, 83], [85, 86, 88, 87]]
    obj = make.cloth(make.mesh("Cloth", x, faces, location=(0, 0, 1)), bending_stiffness=1.0)
    make.collider(make.ball())
    group = obj.vertex_groups.new(name="Pin")
    group.add(range(9), 1.0, "REPLACE")
    obj.taffeta_cloth.pin.source, obj.taffeta_cloth.pin.vertex_group = "GROUP", "Pin"
    return obj


def loose(found):
    return [problem.sentence for problem in found() if "joined to nothing" in problem.sentence]


def test_buttons_that_nothing_holds(coat, found):
    assert loose(found) == [
        "Cloth has 2 small parts that are joined to nothing and not pinned: what is not worn, as a belt, falls off"
    ]
    coat.vertex_groups["Pin"].add([81], 0.5, "REPLACE")
    assert "1 small part that is" in loose(found)[0]
    coat.data.edges.add(1)
    coat.data.edges[-1].vertices = 0, 86
    coat.data.update()
    assert loose(found) == [], "one is pinned, the other hangs on a thread"


def test_parts_of_one_size_are_no_buttons(saved, make, found):
    x, faces = square(5)
    both = np.concatenate([x, x + [2.0, 0.0, 0.0]])
    make.cloth(make.mesh("Cloth", both, [*faces.tolist(), *(faces + 25).tolist()], location=(0, 0, 1)))
    make.collider(make.ball())
    assert loose(found) == []


def test_a_buckle_of_many_vertices_is_a_small_part(saved, make, found):
    """A real one of 3 cm had 245 of a suit's 2,876 vertices, a fifth of the largest part's, and fell off without a word."""
    x, faces = square(5)
    both = np.concatenate([x, 0.05 * x + [0.0, 0.0, 0.1]])
    make.cloth(make.mesh("Cloth", both, [*faces.tolist(), *(faces + 25).tolist()], location=(0, 0, 1)))
    make.collider(make.ball())
    assert len(loose(found)) == 1 and "1 small part that is joined to nothing" in loose(found)[0]


@pytest.mark.parametrize(("gap", "told"), [(0.008, True), (0.014, False)])
def test_cloth_without_room_between_two_bodies(saved, make, gap, told):
    """It needs 5 mm from each and 2 mm for itself; of half of the room less that, a tenth is left."""
    cloth = make.cloth(make.grid(count=9, location=(0, 0, 0.5 * gap)), thickness=0.002)
    for name, height in (("Plate", gap + 0.05), ("Table", -0.05)):
        bpy.ops.mesh.primitive_cube_add(size=1, location=(0, 0, height), scale=(0.8, 0.8, 0.1))
        bpy.context.object.name = name
        make.collider(bpy.context.object)
    bodies = [bpy.data.objects[name] for name in ("Plate", "Table")]
    bpy.context.view_layer.update()
    found = list(squeezed.find_squeezed(*start_pose(saved, [cloth], bodies), 1.0))
    assert bool(found) == told
    bpy.ops.taffeta.preflight()
    sentences = [item.sentence for item in bpy.context.window_manager.taffeta.problems if "of room" in item.sentence]
    if not told:
        assert sentences == []
        return
    (one,) = found
    inner = np.flatnonzero(np.abs([v.co[:2] for v in cloth.data.vertices]).max(axis=1) < 0.4)
    assert one.vertices.tolist() == inner.tolist()
    assert (one.room, one.needed, one.fitting) == pytest.approx((0.008, 0.012, 0.0027), abs=1e-6)
    assert sentences == [
        "Cloth starts between Plate and Table with 8 mm of room at 49 of its vertices: it needs 1.2 cm there, or sticks"
    ]
    with pytest.raises(RuntimeError, match="Cloth: no such vertices are known"):
        bpy.ops.taffeta.select_problem(object="Cloth")
    assert bpy.ops.taffeta.select_problem(object="Cloth", which="NARROW") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [v.index for v in cloth.data.vertices if v.select] == inner.tolist()
    for body in bodies:
        body.taffeta_collider.aura = one.fitting
    bpy.context.view_layer.update()
    assert not list(squeezed.find_squeezed(*start_pose(saved, [cloth], bodies), 1.0))
