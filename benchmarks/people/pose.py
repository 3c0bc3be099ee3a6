# SPDX-License-Identifier: GPL-3.0-or-later
"""From angles that a person can read to turns of the mannequin's bones, feet on the ground.

A motion is a table of channels, each with rows of (frame, value): degrees, but for the shifts and the lift, which are
metres. A channel holds for both sides unless one with `.L` or `.R` is there. Zero is a person who stands with hanging
arms; the channels are those of `CHANNELS`. The hips are as high as the lowest point of feet, knees and hands says.
"""

from math import radians
from typing import NamedTuple

import numpy as np
from mathutils import Quaternion, Vector
from scipy.interpolate import PchipInterpolator
from taffeta.presets.scenes import figure

X, Y, Z = Vector((1, 0, 0)), Vector((0, 1, 0)), Vector((0, 0, 1))
ARM_OUT = 90.0 - np.degrees(figure.SLOPE)  # [degrees] of the arms at rest, away from hanging
#: what may be keyed; of an arm or a leg each side can have its own
CHANNELS = frozenset((
    "shift x", "shift y", "lift", "yaw", "lean", "roll", "bend", "twist", "nod", "look",
    "arm front", "arm out", "arm across", "arm twist", "elbow", "wrist", "curl",
    "thigh front", "thigh out", "thigh turn", "knee", "foot",
))  # fmt: skip
#: what can stand on the ground: bone, whether its tail, height of its middle above its sole [m]
SOLES = (
    ("foot", False, 0.085), ("foot", True, 0.022), ("toes", True, 0.018), ("shin", False, 0.060), ("hand", True, 0.020),
    ("hand", False, 0.028),
)  # fmt: skip
TOES = 45.0  # [degrees] that toes bend at most, while the heel is lifted


class Motion(NamedTuple):
    """What a character does from frame 1, in the mannequin's rest pose, to frame `last`."""

    last: int
    keys: dict  # channel: rows of (frame, value)
    planted: str = ""  # sides of the feet that stay where they are, front to back: "L", "R" or "LR"
    cycle: float = 0.0  # [frames] in which `steps` repeat
    start: float = 0.0  # [frame] in which they begin
    ramp: float = 1.0  # [frames] in which they grow to their full size and pace
    steps: dict = {}  # channel: rows of (part of the cycle, value) of the left side, the right one is half a cycle later
    speed: float = 0.0  # [m/s] to the front at full pace


def smooth(t):
    """0 below 0, 1 above 1, a curve with flat ends between them."""
    t = min(max(t, 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


def clock(motion, frame):
    """[frames] that the steps have gone on: it stands, speeds up evenly, then runs."""
    t = max(frame - motion.start, 0.0)
    return t * t / (2.0 * motion.ramp) if t < motion.ramp else t - 0.5 * motion.ramp


def curve(rows, at):
    """The value at a place on a curve through rows of (place, value) that swings nowhere beyond them."""
    places, values = np.array(rows, float).T
    if len(rows) == 1:
        return float(values[0])
    return float(PchipInterpolator(places, values)(np.clip(at, places[0], places[-1])))


def repeated(rows):
    """Rows of a cycle with those of the cycles before and after it."""
    return [(place + turn, value) for turn in (-1.0, 0.0, 1.0) for place, value in rows if turn > 0.0 or place < 1.0]


def value(motion, channel, side, frame):
    """What a channel says at a frame; side is "L", "R" or "" for the trunk."""
    rows = motion.keys.get(f"{channel}.{side}", motion.keys.get(channel))
    found = curve(rows, frame) if rows else (ARM_OUT if channel == "arm out" else 0.0)
    if channel in motion.steps:
        turn = clock(motion, frame) / motion.cycle + (0.5 if side == "R" else 0.0)
        size = smooth((frame - motion.start) / motion.ramp)
        found += size * curve(repeated(motion.steps[channel]), turn % 1.0)
    return found


def turns(motion, frame):
    """Return (hips' shift [m], {bone: rotation against its parent, in the rig's axes}) of the pose at a frame."""

    def of(channel, side=""):
        return value(motion, channel, side, frame)

    def angle(channel, side=""):
        return radians(of(channel, side))

    pelvis = Quaternion(Z, angle("yaw")) @ Quaternion(X, angle("lean")) @ Quaternion(Y, angle("roll"))
    spine = Quaternion(Z, angle("twist") / 3.0) @ Quaternion(X, angle("bend") / 3.0)
    head = Quaternion(Z, angle("look") / 2.0) @ Quaternion(X, angle("nod") / 2.0)
    pose = {"hips": pelvis, "spine.1": spine, "spine.2": spine, "chest": spine, "neck": head, "head": head}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        pose |= _arm(angle, side, sign) | _leg(of, side, sign)
    shift = Vector((of("shift x"), of("shift y") - motion.speed * clock(motion, frame) / 24.0, 0.0))
    joints = figure.skeleton()
    placed = forward(joints, pose)
    shift.z = of("lift") - min(_heights(placed))
    for side in motion.planted:
        ankle = f"foot.{side}"
        shift.y += (joints[ankle].head[1] - placed[ankle][0].y) / len(motion.planted)
    return shift, pose


def _arm(angle, side, sign):
    """Rotations of the bones of an arm: shoulder blade, upper arm, elbow, wrist, fingers."""
    arm = Vector(figure.ARM * [sign, 1, 1])
    bends = arm.cross(-Y).normalized()
    lifted = 0.25 * max(angle("arm out", side) - radians(60.0), angle("arm front", side) - radians(60.0), 0.0)
    hanging = Quaternion(Y, sign * (radians(ARM_OUT) - angle("arm out", side) + lifted))
    front = Quaternion(X, -angle("arm front", side))
    across = Quaternion(Z, -sign * angle("arm across", side))
    twist = Quaternion(arm, sign * angle("arm twist", side))
    curls = arm.cross(Vector(figure.PALM * [sign, 1, 1])).normalized()
    curl = Quaternion(curls, angle("curl", side))
    return {
        f"clavicle.{side}": Quaternion(Y, -sign * lifted),
        f"upper_arm.{side}": across @ front @ hanging @ twist,
        f"forearm.{side}": Quaternion(bends, angle("elbow", side)),
        f"hand.{side}": Quaternion(curls, angle("wrist", side)),
    } | {f"{finger}.{joint}.{side}": curl for finger in figure.FINGERS for joint in (1, 2, 3)}


def _leg(of, side, sign):
    """Rotations of the bones of a leg; a foot of 0 degrees is level, whatever hips and knee do."""
    flexed, knee, foot = of("thigh front", side), of("knee", side), of("foot", side)
    turn = Quaternion(Z, sign * radians(of("thigh turn", side)))
    out = Quaternion(Y, -sign * radians(of("thigh out", side)))
    return {
        f"thigh.{side}": turn @ out @ Quaternion(X, -radians(flexed)),
        f"shin.{side}": Quaternion(X, radians(knee)),
        f"foot.{side}": Quaternion(X, -radians(of("lean") - flexed + knee + foot)),
        f"toes.{side}": Quaternion(X, -radians(min(max(-foot, 0.0), TOES))),
    }


def forward(joints, pose):
    """{bone: (head, tail) [m]} of a pose, the hips where they are at rest."""
    turn, placed = {}, {}
    for name, joint in joints.items():
        head, own = Vector(joint.head), pose.get(name, Quaternion())
        if joint.parent:
            parent = joints[joint.parent]
            at = placed[joint.parent][0] + turn[joint.parent] @ (head - Vector(parent.head))
            turn[name] = turn[joint.parent] @ own
        else:
            at, turn[name] = head, own
        placed[name] = at, at + turn[name] @ (Vector(joint.tail) - head)
    return placed


def _heights(placed):
    """[m] of what can stand on the ground."""
    return [placed[f"{bone}.{side}"][int(tail)].z - above for bone, tail, above in SOLES for side in ("L", "R")]


def key(rig, motion):
    """Key a motion on the rig's bones, frame by frame.

    Raises ValueError for a channel that there is not.
    """
    for channel in (*motion.keys, *motion.steps):
        if channel.removesuffix(".L").removesuffix(".R") not in CHANNELS:
            raise ValueError(f'There is no channel "{channel}".')
    rest = {bone.name: bone.matrix_local.to_quaternion() for bone in rig.data.bones}
    hips, axes = rig.pose.bones["hips"], rig.data.bones["hips"].matrix_local.to_3x3().inverted()
    before = {}
    for frame in range(1, motion.last + 1):
        shift, pose = turns(motion, float(frame))
        for name, turn in pose.items():
            local = rest[name].inverted() @ turn @ rest[name]
            if name in before:
                local.make_compatible(before[name])
            before[name] = local
            bone = rig.pose.bones[name]
            bone.rotation_mode, bone.rotation_quaternion = "QUATERNION", local
            bone.keyframe_insert("rotation_quaternion", frame=frame, group=name)
        hips.location = axes @ shift
        hips.keyframe_insert("location", frame=frame, group="hips")
