# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrange Around Body: panels of a DXF file about a person, off it, as large as they are cut; what is refused."""

import bpy
import ipctk
import numpy as np
import pieces
import pytest
from mathutils import Matrix
from mathutils.bvhtree import BVHTree
from taffeta.operators.read import panels
from taffeta.operators.read.arrays import triangulated
from taffeta.presets.scenes import figure

GAP = 0.03
NAMES = "FRONT", "BACK", "SLEEVE", "SLEEVE mirrored"


@pytest.fixture
def person(make):
    """A function that stands a mannequin somewhere, as a collider."""

    def stand(turn=0.0, at=(0.0, 0.0, 0.0)):
        body = make.collider(make.mesh("Person", *figure.mesh(coarse=1.5)))
        body.matrix_world = Matrix.Translation(at) @ Matrix.Rotation(turn, 4, "Z")
        bpy.context.view_layer.update()
        return body

    return stand


@pytest.fixture
def shirt(tmp_path):
    """A function that imports the shirt of `pieces` as DXF, and returns it."""

    def bring(edge=0.03, name="shirt.dxf", **kind):
        path = tmp_path / name
        path.write_bytes(pieces.written(lambda document: pieces.shirt(document, **kind)))
        assert bpy.ops.taffeta.pattern_import(filepath=str(path), edge_length=edge) == {"FINISHED"}
        return bpy.context.view_layer.objects.active

    return bring


def world(obj):
    return np.array([obj.matrix_world @ vertex.co for vertex in obj.data.vertices])


def wish(name, place, turn="0"):
    """An entry of the operator's Places."""
    return {"name": name, "place": place, "turn": turn}


def reach(body):
    """Let a person's arms go straight ahead, far."""
    for vertex in body.data.vertices:
        x, beyond = vertex.co.x, max(abs(vertex.co.x) - 0.2, 0.0)
        vertex.co.x, vertex.co.y = x - np.sign(x) * beyond, vertex.co.y - 2.0 * beyond


def crosses(garment, body):
    """By ipctk: whether any edge of both goes through a triangle."""
    x, faces = [], []
    for obj in (garment, body):
        faces.append(triangulated(obj.data)[0] + sum(map(len, x)))
        x.append(world(obj))
    x, faces = np.concatenate(x), np.concatenate(faces)
    return ipctk.has_intersections(ipctk.CollisionMesh(x, ipctk.edges(faces), faces), x)


def off(garment, body):
    """[m] how far the nearest vertex of a garment is off a body."""
    tree = BVHTree.FromPolygons(world(body).tolist(), triangulated(body.data)[0].tolist())
    return min(tree.find_nearest(point)[3] for point in world(garment).tolist())


def solid_angle(point, x, triangles):
    """How often a closed surface encloses a point (van Oosterom and Strackee 1983, eq. 8)."""
    a, b, c = (x[triangles[:, k]] - point for k in range(3))
    la, lb, lc = (np.linalg.norm(each, axis=1) for each in (a, b, c))
    over = (a * np.cross(b, c)).sum(axis=1)
    under = la * lb * lc + (a * b).sum(axis=1) * lc + (b * c).sum(axis=1) * la + (c * a).sum(axis=1) * lb
    return np.arctan2(over, under).sum() / (2.0 * np.pi)


def longer(garment):
    """(e,) of all edges, by what part they are longer in the mesh than as cut."""
    x, found = world(garment), []
    for panel in panels.read(garment, 1.0):
        ends = np.unique(np.sort(panel.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
        cut = np.linalg.norm(panel.flat[ends[:, 0]] - panel.flat[ends[:, 1]], axis=1)
        own = x[panel.vertices]
        found.append(np.linalg.norm(own[ends[:, 0]] - own[ends[:, 1]], axis=1) / cut - 1.0)
    return np.concatenate(found)


def middles(garment):
    """(3,) [m] the middle of each panel, by name."""
    return {panel.name: world(garment)[panel.vertices].mean(axis=0) for panel in panels.read(garment, 1.0)}


@pytest.mark.once
@pytest.mark.parametrize(("turn", "at"), [(0.0, (0.0, 0.0, 0.0)), (1.2, (40.0, -3.0, 2.0))])
def test_a_shirt_stands_around_a_person_wherever_that_looks(person, shirt, turn, at):
    body, garment = person(turn, at), shirt()
    assert np.abs(middles(garment)["SLEEVE"][0]) > 0.3, "side by side at first"
    assert bpy.ops.taffeta.panels_arrange(gap=GAP) == {"FINISHED"}
    assert not crosses(garment, body) and off(garment, body) >= 0.45 * GAP
    triangles = triangulated(body.data)[0]
    assert max(abs(solid_angle(point, world(body), triangles)) for point in world(garment)[::7]) < 0.01, "outside"
    long = longer(garment)  # chords of arcs of 3 cm and more
    assert long.max() < 1e-4 and long.min() > -0.1 and long.mean() > -5e-3
    back = body.matrix_world.inverted()
    found = {
        name: np.array(back @ Matrix.Translation(middle).to_translation()) for name, middle in middles(garment).items()
    }
    assert found["FRONT"][1] < -0.1 < 0.1 < found["BACK"][1]
    assert found["SLEEVE"][0] > 0.2 and found["SLEEVE mirrored"][0] < -0.2, "its left is at +x"
    for name in NAMES:
        assert 1.0 < found[name][2] < 1.5
    for panel in panels.read(garment, 1.0):
        a, b, c = (world(garment)[panel.vertices][panel.triangles[:, k]] for k in range(3))
        middle = world(body).mean(axis=0) if "SLEEVE" not in panel.name else world(garment)[panel.vertices].mean(axis=0)
        assert (np.cross(b - a, c - a) * ((a + b + c) / 3.0 - middle)).sum(axis=1).mean() > 0.0, (
            "its outside is outside"
        )


def test_names_that_tell_nothing_go_by_size_and_the_animator_has_the_last_word(person, shirt):
    person()
    garment = shirt(is_turned=True)
    assert bpy.ops.taffeta.panels_arrange() == {"FINISHED"}
    found = middles(garment)
    assert found["A1"][1] < -0.1 < 0.1 < found["A2"][1] and found["A3"][0] > 0.2 and found["A3 mirrored"][0] < -0.2
    before = world(garment)
    own = [wish("A1", "BACK"), wish("A2", "FRONT", "180"), wish("A3", "STAY")]
    assert bpy.ops.taffeta.panels_arrange(places=own) == {"FINISHED"}
    now = middles(garment)
    assert now["A1"][1] > 0.1 > -0.1 > now["A2"][1] and now["A3"] == pytest.approx(found["A3"])
    upper = {
        panel.name: world(garment)[panel.vertices][panel.flat[:, 1].argmax(), 2] for panel in panels.read(garment, 1.0)
    }
    assert upper["A1"] > now["A1"][2] and upper["A2"] < now["A2"][2], "upside down"
    assert not np.array_equal(before, world(garment))


def test_what_is_below_the_waist_and_about_neck_and_waist(person, tmp_path):
    """A skirt of two halves, a waistband that is cut along the warp, and a collar."""
    body, path = person(), tmp_path / "skirt.dxf"

    def fill(document):
        for name in ("SKIRT FRONT", "SKIRT BACK"):
            pieces.piece(document, name, [(0, 0), (560, 0), (480, 600), (80, 600)])
        pieces.piece(document, "WAISTBAND", [(0, 0), (40, 0), (40, 820), (0, 820)])
        pieces.piece(document, "COLLAR", [(0, 0), (420, 0), (420, 60), (0, 60)])

    path.write_bytes(pieces.written(fill))
    assert bpy.ops.taffeta.pattern_import(filepath=str(path), edge_length=0.03) == {"FINISHED"}
    garment = bpy.context.view_layer.objects.active
    assert bpy.ops.taffeta.panels_arrange() == {"FINISHED"}
    assert not crosses(garment, body) and off(garment, body) >= 0.45 * GAP and longer(garment).min() > -0.1
    found = middles(garment)
    assert found["SKIRT FRONT"][1] < -0.08 < 0.08 < found["SKIRT BACK"][1]
    assert found["SKIRT FRONT"][2] < 0.95 < found["WAISTBAND"][2] < 1.25 < 1.45 < found["COLLAR"][2] < 1.65
    for name, least in (("WAISTBAND", 0.25), ("COLLAR", 0.1)):
        own = next(world(garment)[panel.vertices] for panel in panels.read(garment, 1.0) if panel.name == name)
        assert np.ptp(own[:, 0]) > least and np.ptp(own[:, 1]) > 0.8 * least and np.ptp(own[:, 2]) < 0.07, "all around"


@pytest.mark.parametrize(("spoil", "given", "words"), [
    ("", {}, "There is no body to arrange shirt around; select it, too, or make it a Taffeta Collider"),
    ("person", {"body": "Nobody"}, "Nobody is no mesh of scene Scene; check the name"),
    ("person", {"places": [wish("HOOD", "BACK")]}, "shirt has no panel HOOD; its panels are FRONT, BACK, SLEEVE, SLEEVE mirrored"),
    ("ball", {}, "shirt cannot be arranged around Ball: it has not two arms that can be told from its trunk, around which 'SLEEVE' is to go"),
    ("reaching", {}, "panel 'FRONT' finds no room at Front that is free of it; choose another place or a smaller Gap, or hold its limbs out"),
    ("key", {}, "shirt has shape keys"), ("map", {}, "shirt has no Pattern"),
    ("scale", {}, "a unit of its UV map Pattern is 0.5 m; scale the map until it is a metre, or switch Size from Pattern on"),
])  # fmt: skip
def test_what_cannot_be_is_told_and_nothing_moves(make, person, shirt, spoil, given, words):
    if spoil == "ball":
        make.collider(make.ball("Ball"))
    elif spoil:
        body = person()
        if spoil == "reaching":
            reach(body)
    garment = shirt(edge=0.05)
    if spoil == "key":
        garment.shape_key_add(name="Basis")
    elif spoil == "map":
        garment.taffeta_cloth.uv_map = ""
    elif spoil == "scale":
        garment.taffeta_cloth.pattern_size = False
        for at in garment.data.uv_layers["Pattern"].uv:
            at.vector = at.vector * 2.0
    before = world(garment)
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.taffeta.panels_arrange(**given)
    assert np.array_equal(before, world(garment))
