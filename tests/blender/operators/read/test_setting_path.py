# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings by paths: found as animators and scripts call them, and nothing set that cannot be."""

import pytest
from taffeta.operators.bake import wedged
from taffeta.operators.read import setting_path


@pytest.fixture
def shot(scene, make):
    """A skirt, a garment with dots in its name, a body, and a mesh that is none of these."""
    make.cloth(make.grid("Skirt"))
    make.cloth(make.grid("Skirt.001"))
    make.collider(make.ball("Body", rings=4, segments=6))
    make.grid("Table")
    return scene


def give(scene, text):
    path, value = setting_path.assignment(text)
    wedged.give_settings(scene, {path: value})


@pytest.mark.parametrize(
    "text, where, value",
    [
        ("Skirt.bending=2e-5", "objects['Skirt'].taffeta_cloth.bending_stiffness.value", 2e-5),
        ("Skirt.bending_stiffness.value=3e-5", "objects['Skirt'].taffeta_cloth.bending_stiffness.value", 3e-5),
        ("Skirt.Bending.maximum = 1e-3", "objects['Skirt'].taffeta_cloth.bending_stiffness.maximum", 1e-3),
        ("Skirt.max_distance=0.25", "objects['Skirt'].taffeta_cloth.pin_distance.value", 0.25),
        ("Skirt.Self-Collision=off", "objects['Skirt'].taffeta_cloth.self_collision", False),
        ("Skirt.quality=preview", "objects['Skirt'].taffeta_cloth.quality", "PREVIEW"),
        ("Skirt.layer=3", "objects['Skirt'].taffeta_cloth.layer", 3),
        ("Skirt.self_group=hem", "objects['Skirt'].taffeta_cloth.self_group", "hem"),
        ("Skirt.ride.felt=0.5", "objects['Skirt'].taffeta_cloth.ride.felt", 0.5),
        ("Skirt.001.mass=0.5", "objects['Skirt.001'].taffeta_cloth.mass.value", 0.5),
        ("Body.friction=0.75", "objects['Body'].taffeta_collider.friction", 0.75),
        ("Body.distance=0.25", "objects['Body'].taffeta_collider.aura", 0.25),
        ("scene.substeps=12", "taffeta.substeps", 12),
        ("scene.dynamics=implicit_theta", "taffeta.dynamics", "IMPLICIT_THETA"),
        ("scene.wind.y=-3", "taffeta.wind[1]", -3.0),
        ("scene.gravity.z=-1.5", "gravity[2]", -1.5),
    ],
)
def test_a_path_sets_its_setting(shot, text, where, value):
    assert eval(f"shot.{where}") != value
    give(shot, text)
    now = eval(f"shot.{where}")
    assert now == value or now == pytest.approx(value, rel=1e-6)


def test_a_vector_whole(shot):
    give(shot, "scene.wind=1 -2 0.5")
    assert tuple(shot.taffeta.wind) == (1.0, -2.0, 0.5)


@pytest.mark.parametrize(
    "text, words",
    [
        ("Skirt.bendin=1", "Skirt has no setting 'bendin'; did you mean bending?"),
        ("Skirt.nonsense=1", "Skirt has no setting 'nonsense'; it has "),
        ("Skirt.self=1", "Skirt has no setting 'self'"),
        ("Skirt.cache_path=/tmp/x", "Skirt has no setting 'cache_path'"),
        ("Skirt.cache_name=../x", "Skirt has no setting 'cache_name'"),
        ("scene.cache_folder=/tmp/x", "scene has no setting 'cache_folder'"),
        ("Skirt.enabled=0", "Skirt has no setting 'enabled'"),
        ("Skirt.__class__=0", "Skirt has no setting '__class__'"),
        ("Cape.mass=1", "names no garment, no collider and not the scene: write Body, Skirt, Skirt.001, scene"),
        ("Table.mass=1", "Table is no Taffeta Cloth and no collider"),
        ("mass=1", "'mass' names no garment"),
        ("Skirt.mass=heavy", "Skirt.mass is a number, and 'heavy' is none"),
        ("Skirt.mass=nan", "Skirt.mass is between 0.0001 and 10000; 'nan' is not"),
        ("Skirt.mass=1e99", "is between"),
        ("Skirt.mass=-1", "is between"),
        ("Skirt.layer=1.5", "Skirt.layer is a whole number"),
        ("Skirt.quality=BEST", "Skirt.quality cannot be 'BEST'; it is one of PREVIEW, FINAL"),
        ("Skirt.sewing=maybe", "it is on or off"),
        ("Skirt.bending.value.x=1", "'x' is no part of value"),
        ("Skirt.bending.huge=1", "goes on after its end: 'huge'"),
        ("Skirt.ride=1", "Skirt.ride has parts: write Skirt.ride.felt"),
        ("scene.wind=3", "scene.wind has 3 numbers"),
        ("scene.wind.w=3", "'w' is no part of wind"),
        ("Skirt.bending", "sets nothing; write PATH=VALUE"),
        ("=3", "sets nothing"),
        ("Skirt.mass=", "sets nothing"),
        ("Skirt." + "x" * 300 + "=1", "is too long"),
    ],
)
def test_what_cannot_be_set_is_a_sentence(shot, text, words):
    with pytest.raises(ValueError) as told:
        give(shot, text)
    assert words in str(told.value) and "\n" not in str(told.value)


def test_a_painted_setting_asks_which_end(shot):
    shot.objects["Skirt"].taffeta_cloth.mass.source = "GROUP"
    with pytest.raises(ValueError, match="Skirt.mass is painted: set Skirt.mass.minimum"):
        give(shot, "Skirt.mass=1")
    wedged.give_settings(shot, {"Skirt.mass.source": "UNIFORM", "Skirt.mass": "1"})
    assert shot.objects["Skirt"].taffeta_cloth.mass.value == 1.0


def test_keyframes_would_win(shot):
    shot.taffeta.wind = 0.0, 1.0, 0.0
    shot.taffeta.keyframe_insert("wind", frame=1)
    with pytest.raises(ValueError, match=r"scene.wind.x has keyframes or a driver"):
        give(shot, "scene.wind.x=3")


def test_an_object_called_scene_is_asked_for(shot, make):
    make.cloth(make.grid("scene"))
    with pytest.raises(ValueError, match="may mean the scene or the object scene; rename the object"):
        give(shot, "scene.wind.x=3")


def test_all_or_nothing(shot):
    with pytest.raises(ValueError, match="heavy"):
        wedged.give_settings(shot, {"Skirt.layer": "2", "scene.wind.x": "4", "Skirt.mass": "heavy"})
    assert shot.objects["Skirt"].taffeta_cloth.layer == 0 and shot.taffeta.wind[0] == 0.0


@pytest.mark.parametrize("text", ["Skirt.mass", "Skirt.mass=1,,2", "=1,2", "Skirt.mass=1,2,1", "Skirt.mass="])
def test_what_is_no_wedge_is_a_sentence(text):
    with pytest.raises(ValueError, match=r"is no wedge|a value twice"):
        setting_path.wedge(text)
