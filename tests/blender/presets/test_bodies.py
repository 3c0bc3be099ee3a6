# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets on bodies of choice: shapes, motions and deformations of Bargmann (2003, 6.1.2) in any mixture; and his poncho."""

import json

import bpy
import numpy as np
import pytest
from crossings import count_crossings
from seen import in_world
from taffeta.operators import scenes as operator_scenes
from taffeta.presets.scenes import bodies, walk

# Frames of the bake of what turns, and of what deforms; which are looked at. All begins at 13, a turn takes 110 frames, then 96, the clock 144.
TURNED, DEFORMED, EVERY = 129, 160, 4
#: the ten of the documented examples, an open hemisphere (figure 4.8), and mixtures that no example has: what is chosen; how much longer
#: than at rest the longest edge may be in nine frames of ten, twice what a sheet of 625 points had in the worst of four starts at most; and
#: the roughness [degrees] that is allowed
MIXTURES = {
    "deformed torus": ({"shape": "DEFORMED_TORUS"}, 0.0042, 16),
    "plate": ({"shape": "PLATE", "axes": {"Y"}}, 0.031, 33),
    "dryer": ({"shape": "DRYER", "axes": {"Y"}}, 0.031, 26),
    "knot": ({"shape": "TWISTED_KNOT", "lift": True}, 0.0135, 22),
    "rotation": ({"shape": "TORUS", "axes": {"Z"}}, 0.021, 17),
    "clock": ({"shape": "TORUS", "deformation": "CLOCK"}, 0.034, 22),
    "wings": ({"shape": "DEFORMED_TORUS", "deformation": "WINGS"}, 0.018, 17),
    "grow": ({"shape": "SPHERE", "deformation": "GROW"}, 0.105, 27),
    "twist": ({"shape": "DEFORMED_TORUS", "deformation": "TWIST"}, 0.021, 17),
    "drum": ({"shape": "PLATE", "deformation": "DRUM"}, 0.0175, 9.5),
    "hemisphere": ({"shape": "HEMISPHERE", "axes": {"X"}}, 0.125, 43),
    "knot that does all": (
        {"shape": "TWISTED_KNOT", "lift": True, "axes": {"X", "Z"}, "deformation": "GROW"},
        0.06,
        45,
    ),
    "hemisphere that beats": ({"shape": "HEMISPHERE", "lift": True, "deformation": "WINGS"}, 0.0215, 23),
}
#: the longest edge of any frame: a corner that a vane hits at 2 m/s is longer for a substep, and in one of six starts longer than
#: 2 % in one frame of ten. Of 15 starts that differ by millionths of gravity the
#: dryer had 1.3 to 3.4 %, and one 6.3; the hemisphere has 23
LONGEST = 0.35
#: in 5.2 the first says what all say
NAMES = ["deformed torus", *(pytest.param(name, marks=pytest.mark.once) for name in list(MIXTURES)[1:])]


def edge_lengths(obj, x):
    """[m] of an object's mesh edges, with vertices at x (n, 3) [m]."""
    a, b = np.array([edge.vertices for edge in obj.data.edges]).T
    return np.linalg.norm(x[a] - x[b], axis=1)


def driven(body):
    """What moves and deforms a body, by name, as it is in the frame that is shown."""
    found = {"lift": body.location.z} | {axis: body.rotation_euler[k] for k, axis in enumerate("XYZ")}
    found |= {modifier.name.upper(): modifier.angle for modifier in body.modifiers if modifier.type == "SIMPLE_DEFORM"}
    keys = body.data.shape_keys.key_blocks[1:] if body.data.shape_keys else []
    return found | {key.name.upper(): key.value for key in keys}


def moved(values, choice):
    """Whether a body has done all that was chosen, and nothing else: whole turns, and what swings both ways from where it began."""
    chosen = {*choice.get("axes", ()), *({"lift"} if "lift" in choice else ()), choice.get("deformation")} - {None}
    has = {name for name in values[0] if name in "XYZ" and values[-1][name] - values[0][name] > 2.0 * np.pi}
    for name in set(values[0]) - set("XYZ"):
        ways = np.array([value[name] for value in values]) - values[0][name]
        has |= {name.split()[0]} if ways.min() < -0.15 and ways.max() > 0.15 else set()
    return has == chosen


@pytest.mark.parametrize("name", NAMES)
def test_a_sheet_goes_with_any_mixture_through_all_of_its_motion_and_nothing_crosses(saved, name):
    """A turn and more of what turns, every swing of what swings, the clock once round."""
    choice, longest, roughest = MIXTURES[name]
    assert bpy.ops.taffeta.body_scene_add(count=25, **choice) == {"FINISHED"}
    cloth = bpy.data.objects["Sheet"]
    body = next(obj for obj in saved.objects if obj.taffeta_collider.enabled and obj.name != "Ground")
    saved.frame_end = DEFORMED if "deformation" in choice else TURNED
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    report, found, values, lowest = json.loads(cloth.taffeta_cloth.report_json), [0, 0], [], np.inf
    (start, _), stretches = in_world(cloth, 1), []
    for frame in range(13, saved.frame_end + 1, EVERY):
        (x, triangles), other = in_world(cloth, frame), in_world(body, frame)
        counted = count_crossings(x, triangles, np.zeros(len(x), int), [other])
        found = np.maximum(found, [counted.cloth_body, counted.cloth_self]).tolist()
        values, lowest = [*values, driven(body)], min(lowest, x[:, 2].min())
        stretches.append((edge_lengths(cloth, x) / edge_lengths(cloth, start)).max() - 1.0)
    usual = np.quantile(stretches, 0.9)
    print(
        f"{name}: {found[0]} crossings with the body, {found[1]} with itself in the frame with most, stretch "
        f"{usual:.2%} of {longest:.2%}, once {report['worst_stretch']:.1%}, roughness {report['roughness_degrees']} of {roughest} degrees"
    )
    assert [*found, report["crossings"], report.get("most_crossings", 0)] == [0, 0, 0, 0] and lowest > -0.001
    assert moved(values, choice)
    assert usual < longest and report["worst_stretch"] < LONGEST and report["roughness_degrees"] < roughest


def test_what_can_be_chosen_is_what_there_is():
    assert [name for name, _, _ in operator_scenes.SHAPES] == list(bodies.SHAPES)
    assert [name for name, _, _ in operator_scenes.DEFORMATIONS] == list(bodies.DEFORMATIONS)


def test_no_body_of_choice_reaches_the_ground_or_the_sheet_at_the_start(scene):
    """Whatever turns: a ball of its reach stands free, and the sheet lies above the body or in the drum."""
    for name, shape in bodies.SHAPES.items():
        example = bodies.mixture(bpy.context, scene.collection, bodies.Choice(name, axes=frozenset("XYZ"), count=9))
        body, sheet = example.colliders[0], example.cloths[0]
        out = np.linalg.norm([vertex.co for vertex in body.data.vertices], axis=1).max()
        assert out < shape.reach + 0.011 and body.location.z - 1.3 * out > 0.09
        x = in_world(sheet, 1)[0]
        assert count_crossings(x, in_world(sheet, 1)[1], np.zeros(len(x), int), [in_world(body, 1)]).cloth_body == 0


@pytest.mark.once
def test_the_poncho_goes_along_with_the_walking_mannequin(saved):
    """Bargmann 6.3: 1,242 points and a head hole on an avatar whose fingers came through; here nothing does, over two steps."""
    assert bpy.ops.taffeta.scene_add(name="poncho") == {"FINISHED"}
    poncho, body = bpy.data.objects["Poncho"], bpy.data.objects["Mannequin"]
    saved.frame_end = 50
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    report = json.loads(poncho.taffeta_cloth.report_json)
    start, found, crossing = in_world(poncho, 1)[0], {}, {}
    for frame in (20, 30, 40, 50):
        found[frame], triangles = in_world(poncho, frame)
        crossing[frame] = count_crossings(found[frame], triangles, np.zeros(len(start), int), [in_world(body, frame)])
    lag = (found[50] - start)[:, 1].mean() + walk.travelled(walk.phase(50.0))
    print(
        f"poncho: {crossing[50]}, {lag:+.3f} m against the walk, stretch {report['worst_stretch']:.1%}, "
        f"roughness {report['roughness_degrees']} degrees, {report['milliseconds_per_frame']} ms a frame"
    )
    assert all(count == (0, 0, 0) for count in crossing.values()) and report["crossings"] == 0
    assert walk.travelled(walk.phase(50.0)) > 0.5 and abs(lag) < 0.15
    assert report["worst_stretch"] < 0.15 and np.linalg.norm(found[50] - found[40], axis=1).min() > 0.01
