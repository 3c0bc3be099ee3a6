# SPDX-License-Identifier: GPL-3.0-or-later
"""File > Export > Taffeta Scene: all that a scene file has no words for is told, by what it is and whose; nothing can be forgotten."""

import bpy
import numpy as np
import pytest
from edit_mode import select
from taffeta.operators import scene_file, unsaid
from taffeta.operators.read import bands, pleats
from taffeta.panels import translations
from taffeta.solver.model import Collider, FrameInput, Garment, Settings
from taffeta.standalone import scene as standalone_scene

# Written by `scene_file` as something that is not called by the field's name.
WRITTEN = {
    Garment: {
        "name", "x", "triangles", "quads", "edges",  # the mesh
        "uv",  # the mesh's, and `pattern`
        "x_start",  # the pose of the first frame
        "pin", "pin_distance", "shrink", "meets_bodies", "meets_itself",  # the table of values
        "meets",  # collideWith
    },
    FrameInput: {
        "duration",  # fps
        "targets",  # poses
        "colliders", "gravity", "wind",  # where they change, that is told
    },
    Collider: {"name", "x", "triangles", "friction", "restitution", "aura", "viscosity", "meets"},
    Settings: set(Settings._fields),  # each has its element: `test_scene_file.test_every_setting_is_said`
}  # fmt: skip
# Neither written nor told, because it means nothing alone, or says nothing new.
HARMLESS = {
    Garment: {
        "sewing_time", "sewing_force", "sewing_speed", "seam_bending",  # how it sews: of `sewing`
        "tear_strength", "tear_most", "tear_piece", "tear_run_on",  # of `tear_edges`
        "zip_opens",  # of `zip_edges`
        "band_pull",  # of `bands`
    },
    FrameInput: {
        "to_object",  # in which axes frames are filed
        # those of garments that are built for it, which is told: `pin_moves`, `tear_edges`, `zip_edges`, `x_second`, `yields`
        "pin", "tear_strength", "zip_open", "rest_blend", "yields",
        "field_weight", "noise_table",  # of `fields`
        "volume",  # of `pressure`
    },
    Collider: set(),
    Settings: set(),
}  # fmt: skip


@pytest.mark.parametrize("kind", [Garment, FrameInput, Collider, Settings])
def test_no_field_is_forgotten(kind):
    """Whoever adds a field to the solver has to write it, tell of it, or say above why neither is needed."""
    told = {Garment: set(unsaid.OF_GARMENT), FrameInput: set(unsaid.OF_FRAME)}.get(kind, set())
    written = WRITTEN[kind] | ({*scene_file.UNIFORM, *scene_file.PLAIN} if kind is Garment else set())
    known = (written, told, HARMLESS[kind])
    assert set(kind._fields) == set().union(*known)
    assert sum(map(len, known)) == len(kind._fields), "each is in one of them alone"


@pytest.fixture
def sheet(saved, make):
    """A small sheet of cloth, and another one of which nothing is ever told."""
    saved.frame_start, saved.frame_end = 1, 3
    obj = make.cloth(make.grid("Sheet", 5, 0.2), thickness=1e-3)
    make.cloth(make.grid("Other", 3, 0.1, (1.0, 0.0, 0.0)))
    bpy.context.view_layer.objects.active = obj
    return obj


@pytest.fixture
def told(tmp_path, capfd):
    """Exports, and returns what the warning says that a scene file has no words for; empty without one."""

    def export(**options):
        assert bpy.ops.taffeta.scene_export(filepath=str(tmp_path / "a.xml"), **options) == {"FINISHED"}
        assert (tmp_path / "a.xml").is_file()
        _, found, rest = capfd.readouterr().out.partition("A scene file has no words for ")
        assert not found or ": left out of a.xml" in rest
        return rest.partition(": left out of a.xml")[0]

    return export


def keyed(owner, path, *points):
    """Keys of a property, frame by frame."""
    group, _, name = path.rpartition(".")
    for frame, value in points:
        setattr(owner.path_resolve(group) if group else owner, name, value)
        owner.keyframe_insert(path, frame=frame)


def middle(obj):
    """Select the middle column of the sheet from its rim, in Edit Mode."""
    select(obj, lambda a, b: abs(a.x) < 1e-6 and abs(b.x) < 1e-6 and min(a.y, b.y) > -0.01)


def test_of_plain_cloth_nothing_is_told(sheet, told):
    assert told() == ""


def with_faces(sheet, x, faces):
    """Give the sheet another mesh."""
    mesh = bpy.data.meshes.new("Other faces")
    mesh.from_pydata(x, [], faces)
    sheet.data = mesh


CONCAVE_QUAD = [(0, 0, 0), (0.1, 0.02, 0), (0.02, 0.02, 0), (0.02, 0.1, 0)]


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("sides", [5, 6, 8, 20])
def test_faces_that_are_cut_otherwise_are_told(sheet, told, tmp_path, sides, mirrored):
    """Told exactly where whoever reads the file bakes other triangles than Blender does."""
    from taffeta.operators.bake.order import read_order
    from taffeta.solver.cache import obj

    turn = np.arange(sides) * 2.0 * np.pi / sides
    with_faces(sheet, np.column_stack((0.1 * np.cos(turn), 0.07 * np.sin(turn), 0.0 * turn)), [range(sides)])
    sheet.scale.x = -1.0 if mirrored else 1.0
    bpy.context.view_layer.update()
    words = told()
    ours = next(each.triangles for each in read_order(bpy.context.scene, kept=False).garments if each.name == "Sheet")
    read = obj.read(tmp_path / "a_files" / "cloth" / "Sheet.obj").triangles
    same = {frozenset(each) for each in ours.tolist()} == {frozenset(each) for each in read.tolist()}
    print(f"{sides} corners{', mirrored' * mirrored}: the same triangles: {same}")
    assert words == ("" if same else "how faces are cut into triangles (Sheet)")


@pytest.mark.parametrize("mirrored", [False, True])
def test_of_quads_nothing_is_told_however_they_are_shaped(sheet, told, mirrored):
    saddle = [(x, y, 0.05 * x * y / 0.01) for x, y in ((0, 0), (0.1, 0), (0.1, 0.1), (0, 0.1))]
    faces = [range(start, start + 4) for start in (0, 4, 8)]
    turned = CONCAVE_QUAD[1:] + CONCAVE_QUAD[:1]
    with_faces(sheet, np.array(saddle + CONCAVE_QUAD + turned) + np.repeat(np.eye(3), 4, axis=0), faces)
    sheet.scale.x = -1.0 if mirrored else 1.0
    bpy.context.view_layer.update()
    assert told() == ""


def test_elastic_is_told(sheet, told):
    bands.mark(sheet.data, np.arange(3), 0.5, 4.0)
    assert told() == "elastic bands (Sheet)"


def test_pleats_are_told(sheet, told):
    pleats.mark(sheet.data, np.arange(3), np.full(3, 1.0), 2.0)
    assert told() == "marked pleats (Sheet)"


def test_a_second_rest_shape_is_told(sheet, told):
    sheet.shape_key_add(name="Basis")
    key = sheet.shape_key_add(name="Up")
    key.data[0].co.z = 0.1
    sheet.taffeta_cloth.rest.key = "Up"
    for frame, value in ((1, 0.0), (3, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    assert told() == "a second rest shape (Sheet)"


def test_plasticity_is_told(sheet, told):
    sheet.taffeta_cloth.rest.bend_rate = 1.0
    assert told() == "plastic deformation (Sheet)"


def test_keyed_plasticity_is_told(sheet, told):
    keyed(sheet, "taffeta_cloth.rest.stretch_rate", (1, 0.0), (3, 2.0))
    assert told() == "plastic deformation (Sheet)"


def test_tearing_is_told(sheet, told):
    middle(sheet)
    assert bpy.ops.taffeta.tear_mark(strength=50.0) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    keyed(sheet, "taffeta_cloth.tear.hold", (1, 1.0), (3, 0.5))
    assert told() == "tear lines (Sheet)"


def test_a_zip_is_told(sheet, told):
    middle(sheet)
    assert bpy.ops.taffeta.zip_mark() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    keyed(sheet, "taffeta_cloth.zip_open", (1, 0.0), (3, 1.0))
    assert told() == "sewing edges (Sheet), zips that open (Sheet)"


@pytest.mark.parametrize(
    ("path", "value"), [("taffeta_cloth.mass.value", 0.7), ("taffeta_cloth.shrink.value", 0.3), ("taffeta_cloth.restitution", 0.4)]
)  # fmt: skip
def test_animated_maps_and_settings_are_told(sheet, told, path, value):
    keyed(sheet, path, (1, 0.1), (3, value))
    assert told() == "animated maps or settings (Sheet)"


def test_a_key_that_changes_nothing_is_not_told(sheet, told):
    keyed(sheet, "taffeta_cloth.mass.value", (1, 0.1), (3, 0.1))
    assert told() == ""


def test_animated_pins_are_told(sheet, told):
    keyed(sheet, "taffeta_cloth.pin.value", (1, 1.0), (3, 0.0))
    assert told() == "keyed or animated pins (Sheet)"


def test_an_animated_distance_is_told(sheet, told):
    keyed(sheet, "taffeta_cloth.pin_distance.value", (1, 0.1), (3, 0.02))
    assert told() == "an animated Max Distance (Sheet)"


@pytest.mark.parametrize(("stiffness", "words"), [(0.0, ""), (40.0, "soft attachments (Sheet)")])
def test_attachments_are_told_if_they_are_soft(sheet, told, make, stiffness, words):
    """A hard one is a pin, which is written."""
    ball = make.ball("Ball", 0.1, location=(0.0, 0.0, -0.1))
    sheet.vertex_groups.new(name="Held").add([12], 1.0, "REPLACE")
    assert bpy.ops.taffeta.attach(body=ball.name, vertices="GROUP", group="Held", stiffness=stiffness) == {"FINISHED"}
    assert told() == words


def test_tacks_are_told(sheet, told, make):
    under = make.cloth(make.grid("Under", 5, 0.2, (0.0, 0.0, -0.01)))
    bpy.context.view_layer.objects.active = sheet
    sheet.vertex_groups.new(name="Held").add([12], 1.0, "REPLACE")
    assert bpy.ops.taffeta.attach(body=under.name, vertices="GROUP", group="Held") == {"FINISHED"}
    assert told() == "tacks to cloth (Sheet)"


def test_what_is_ridden_on_is_told(sheet, told):
    sheet.taffeta_cloth.ride.felt = 0.5
    assert told() == "Felt Motion (Sheet)"


def test_fields_are_told_where_cloth_feels_them(sheet, told):
    bpy.ops.object.effector_add(type="WIND")
    assert told() == "force fields"
    for name in ("Sheet", "Other"):
        bpy.data.objects[name].taffeta_cloth.field_weight = 0.0
    assert told(overwrite=True) == ""


def test_a_blend_is_told(sheet, told):
    sheet.taffeta_cloth.blend.value = 0.5
    assert told() == "Blend to Animation (Sheet)"


def test_keyed_settings_of_the_scene_are_told(sheet, told, saved):
    keyed(saved, "taffeta.air_drag", (1, 1.0), (3, 2.0))
    assert told() == "keyed settings of the scene"


def test_a_body_whose_settings_are_keyed_is_told(sheet, told, make):
    ball = make.collider(make.ball("Ball", 0.1, location=(0.0, 0.0, -0.3)))
    keyed(ball, "taffeta_collider.friction", (1, 0.1), (3, 0.9))
    assert told() == "keyed settings of a body (Ball)"


@pytest.mark.parametrize("collides", [(True, False), (False, True)])
def test_a_body_that_is_not_always_there_is_told(sheet, told, make, tmp_path, collides):
    make.collider(make.ball("Pole", 0.1, location=(0.0, 0.0, -0.6)))
    ball = make.collider(make.ball("Ball", 0.1, location=(0.0, 0.0, -0.3)))
    make.collider(make.ball("Stump", 0.1, location=(0.0, 0.0, -0.9)))
    keyed(ball, "taffeta_collider.collides", (1, collides[0]), (2, collides[1]))
    assert told() == "keyed settings of a body (Ball)"
    assert len(list((tmp_path / "a_files" / "body").glob("*.obj"))) == 3


def test_a_body_that_is_never_there_is_left_out(sheet, told, make, tmp_path):
    """Nothing is told: frames are the same without it. What a cloth does meet does not name it either."""
    make.collider(make.ball("Ball", 0.1, location=(0.0, 0.0, -0.3)), collides=False)
    sheet.taffeta_cloth.collision_collection = bpy.data.collections.new("Only")
    sheet.taffeta_cloth.collision_collection.objects.link(bpy.data.objects["Ball"])
    assert told() == ""
    read = standalone_scene.read(tmp_path / "a.xml", tmp_path)
    assert not read.statics
    assert [cloth.collide_with for cloth in read.cloths] == [None, ()], "one meets all that there is, the other nothing"


def test_edges_without_faces_are_told(sheet, told):
    sheet.data.edges.add(1)
    sheet.data.edges[-1].vertices = (0, 24)
    sheet.data.update()
    assert told() == "edges without faces (Sheet)"


def test_edges_without_faces_that_sew_are_told_as_that(sheet, told):
    sheet.data.edges.add(1)
    sheet.data.edges[-1].vertices = (0, 24)
    sheet.data.update()
    sheet.taffeta_cloth.sewing = True
    assert told() == "sewing edges (Sheet)"


def test_each_is_told_in_german():
    words = translations.read(translations.languages()["de"])
    for english in (
        *unsaid.OF_GARMENT.values(),
        *unsaid.OF_FRAME.values(),
        unsaid.LOOSE,
        unsaid.FORCES,
        unsaid.OF_BODY,
    ):
        assert words.get(english), english


def test_of_several_garments_each_is_named(sheet, told):
    other = bpy.data.objects["Other"]
    pleats.mark(sheet.data, np.arange(3), np.full(3, 1.0), 2.0)
    pleats.mark(other.data, np.arange(3), np.full(3, 1.0), 2.0)
    other.taffeta_cloth.pressure = 10.0
    assert told() == "marked pleats (Other, Sheet), pressure inside (Other)"
