# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk for the mannequin: planned footprints, legs solved to reach them, keys on every frame.

One clock, the phase (in cycles of two steps), drives everything, so that a foot stands still on the ground
whatever the speed: the left foot swings in phase [0, 0.4), the right one in [0.5, 0.9). Directions and signs
follow M. W. Whittle, Gait Analysis (1991): the pelvis turns with the leg in front, drops on the swinging side,
is highest over the standing leg; shoulders and arms turn against it.
"""

from math import cos, pi, radians, sin

from mathutils import Quaternion, Vector

from . import figure

STRIDE = 1.26  # [m] travelled in one cycle
CYCLE = 28.0  # [frames] of one cycle at full speed
START = 8.0  # [frame] the walk begins; it reaches full speed RAMP frames later
RAMP = 18.0  # [frames]
STILL = 1.0  # [frame] with the rest pose
LOWERED = 17.0  # [frame] when the arms hang
SWING = 0.4  # part of a cycle in which a foot is in the air
X, Y, Z = Vector((1, 0, 0)), Vector((0, 1, 0)), Vector((0, 0, 1))


def smooth(value, low=0.0, high=1.0):
    """Return 0 below low, 1 above high and a curve with flat ends between them."""
    t = min(max((value - low) / (high - low), 0.0), 1.0)
    return t * t * t * (t * (6.0 * t - 15.0) + 10.0)


def phase(frame):
    """Return the clock [cycles] at a frame: it stands, speeds up evenly, then runs."""
    t = max(frame - START, 0.0)
    return (t * t / (2.0 * RAMP) if t < RAMP else t - 0.5 * RAMP) / CYCLE


def travelled(clock):
    """Return how far [m] the hips have come at a phase; the first half step is shortened."""
    return STRIDE * (clock - 0.15 * smooth(clock, 0.0, 0.5))


def way(first, last):
    """Return how far [m] the hips have come in each frame, {frame: (x, y, z)}, as `stage.camera` takes it."""
    return {frame: (0.0, -travelled(phase(float(frame))), 0.0) for frame in range(first, last + 1)}


def _curve(at, rows):
    """Return a smooth curve through rows of (position, value), level at each of them."""
    for (a, low), (b, high) in zip(rows, rows[1:], strict=False):
        if at <= b:
            return low + (high - low) * smooth(at, a, b)
    return rows[-1][1]


def _footprint(step, lift):
    """Return how far along the way [m] a foot stands after its swing number `step`; -1 is where it began."""
    return 0.0 if step < 0 else travelled(step + lift + 0.5 * (1.0 + SWING))


PITCH_STANDING = ((0.0, 20.0), (0.16, 0.0), (0.50, 0.0), (0.82, -22.0), (1.0, -48.0))  # [degrees] toes up positive
PITCH_SWINGING = ((0.0, -48.0), (0.12, -56.0), (0.62, 4.0), (1.0, 20.0))


def _pivoted(place, pitch, side):
    """Return the ankle [m] of a foot standing at `place` along the way and tilted: it rolls over heel or ball."""
    heel, ball = (Vector(p * [side, 1, 1]) for p in (figure.HEEL, figure.BALL))
    ankle = Vector(figure.ANKLE * [side, 1, 1])
    pivot = heel if pitch > 0.0 else Vector((ball.x, ball.y, 0.012))
    return pivot + Quaternion(X, -pitch) @ (ankle - pivot) + Vector((0.0, -place, 0.0))


def foot(clock, side):
    """Return (ankle position [m], pitch of the foot [rad], bend of the toes [rad]) at a phase; side is +1 for left."""
    lift = 0.0 if side > 0 else 0.5
    step = int((clock - lift) // 1.0)
    turn = clock - lift - step
    if step < 0 or turn >= SWING:  # on the ground
        first = step < 0
        length = 1.0 - SWING
        stand = (turn - SWING) / length
        pitch = _curve(stand, PITCH_STANDING)
        if first:
            pitch = min(pitch, 0.0) if stand > 0.5 else 0.0
        pitch = radians(pitch)
        return _pivoted(_footprint(step, lift), pitch, side), pitch, max(-pitch, 0.0)
    swing = turn / SWING
    pitch = radians(_curve(swing, PITCH_SWINGING))
    if step == 0 and lift == 0.0:  # the very first swing starts from a flat foot
        start = 0.0
        pitch *= smooth(swing, 0.0, 0.2)
    else:
        start = radians(PITCH_STANDING[-1][1])
    a = _pivoted(_footprint(step - 1, lift), start, side)
    b = _pivoted(_footprint(step, lift), radians(PITCH_STANDING[0][1]), side)
    ankle = a.lerp(b, swing * swing * (3.0 - 2.0 * swing))
    bend = max(-pitch, 0.0) * (1.0 - smooth(swing, 0.0, 0.5))
    ankle.z += 0.02 * sin(pi * swing) ** 2
    ankle.z += max(0.018 * sin(pi * swing) - _lowest(ankle, pitch, bend), 0.0)
    return ankle, pitch, bend


def _lowest(ankle, pitch, bend):
    """Return the height [m] of the lowest of heel, ball and tip of a foot that is tilted by pitch, its toes by bend."""
    rest = [Vector(p - figure.ANKLE) for p in (figure.HEEL, figure.BALL, figure.TOE_TIP)]
    heel, ball = (Quaternion(X, -pitch) @ p for p in rest[:2])
    tip = ball + Quaternion(X, -pitch - bend) @ (rest[2] - rest[1])
    return ankle.z + min(heel.z, ball.z - 0.018, tip.z - 0.018)


def _reach(hip, ankle, upper, lower):
    """Return the knee [m] of a leg from hip to ankle that bends to the front (-Y)."""
    way = ankle - hip
    far = min(way.length, (upper + lower) * 0.9995)
    along = (upper * upper - lower * lower + far * far) / (2.0 * far)
    out = (max(upper * upper - along * along, 0.0)) ** 0.5
    way.normalize()
    forward = -Y - way * (-Y).dot(way)
    return hip + way * along + forward.normalized() * out


def _swung(rest, now):
    """Return the shortest rotation that takes the direction `rest` to `now`."""
    return rest.rotation_difference(now)


def turns(frame):
    """Return (hips' shift [m], {bone: rotation against its parent, in the rig's axes}) of the pose at a frame."""
    clock = phase(frame)
    effort = smooth(clock, 0.0, 0.45)  # how much of the upper body's motion there is yet
    hang = smooth(frame, STILL, LOWERED)
    beat = 2.0 * pi * clock
    joints = figure.skeleton()
    shift = Vector(
        (
            -0.020 * effort * cos(beat - 0.4 * pi),
            -travelled(clock),
            -0.012 * hang - effort * (0.016 - 0.019 * cos(2.0 * (beat - 0.4 * pi))),
        )
    )
    yaw = -radians(7.0) * effort * cos(beat - 0.9 * pi)
    roll = radians(4.0) * effort * sin(beat + 0.1 * pi)
    lean = radians(2.5) * effort
    spine = Quaternion(Z, -yaw * 0.62) @ Quaternion(Y, -roll * 0.40) @ Quaternion(X, lean * 0.5)
    pelvis = Quaternion(Z, yaw) @ Quaternion(Y, roll)
    pose = {"hips": pelvis, "spine.1": spine, "spine.2": spine, "chest": spine}
    trunk = pelvis @ spine @ spine @ spine
    level = trunk.inverted()
    pose["neck"] = Quaternion().slerp(level, 0.5)
    pose["head"] = pose["neck"].inverted() @ level
    root = Vector(joints["hips"].head)
    for side, name in ((1.0, "L"), (-1.0, "R")):
        pose |= _leg(joints, clock, side, name, root, shift, pelvis)
        pose |= _arm(joints, clock, side, name, effort, hang)
    return shift, pose


def _leg(joints, clock, side, name, root, shift, pelvis):
    thigh, shin, foot_bone = (joints[f"{b}.{name}"] for b in ("thigh", "shin", "foot"))
    hip, knee, ankle = Vector(thigh.head), Vector(shin.head), Vector(foot_bone.head)
    target, pitch, bend = foot(clock, side)
    hip_now = root + pelvis @ (hip - root) + shift
    knee_now = _reach(hip_now, target, (knee - hip).length, (ankle - knee).length)
    thigh_turn = _swung(knee - hip, knee_now - hip_now)
    shin_turn = _swung(thigh_turn @ (ankle - knee), target - knee_now) @ thigh_turn
    foot_turn = Quaternion(X, -pitch)
    return {
        f"thigh.{name}": pelvis.inverted() @ thigh_turn,
        f"shin.{name}": thigh_turn.inverted() @ shin_turn,
        f"foot.{name}": shin_turn.inverted() @ foot_turn,
        f"toes.{name}": Quaternion(X, -bend),
    }


def _arm(joints, clock, side, name, effort, hang):
    swing = cos(2.0 * pi * (clock - (0.97 if side > 0 else 0.47))) * effort  # +1 when this arm is in front
    arm = (Vector(joints[f"upper_arm.{name}"].tail) - Vector(joints[f"upper_arm.{name}"].head)).normalized()
    bend_axis = arm.cross(-Y).normalized()
    lower = Quaternion(Y, side * radians(33.0) * hang)
    forward = Quaternion(X, -radians(4.0 + 21.0 * swing) * hang)
    elbow = Quaternion(bend_axis, radians(12.0 + 9.0 * (1.0 + swing) * effort) * hang)
    pose = {
        f"clavicle.{name}": Quaternion(Z, -side * radians(3.0) * swing),
        f"upper_arm.{name}": forward @ lower,
        f"forearm.{name}": elbow,
        f"hand.{name}": Quaternion(bend_axis, radians(4.0 + 5.0 * swing) * hang),
    }
    curl_axis = Vector(figure.ARM * [side, 1, 1]).cross(Vector(figure.PALM * [side, 1, 1])).normalized()
    for finger, degrees in (("index", 12.0), ("middle", 16.0), ("ring", 19.0), ("little", 21.0), ("thumb", 5.0)):
        for joint in (1, 2, 3):
            pose[f"{finger}.{joint}.{name}"] = Quaternion(curl_axis, radians(degrees) * hang)
    return pose


def key(rig, first, last):
    """Key the walk on the rig's bones for frames first..last; fingers only while they move."""
    rest = {bone.name: bone.matrix_local.to_quaternion() for bone in rig.data.bones}
    hips_axes = rig.data.bones["hips"].matrix_local.to_3x3().inverted()
    digits = (*figure.FINGERS, "thumb")
    before = {}
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
    for frame in range(first, last + 1):
        shift, pose = turns(float(frame))
        for name, turn in pose.items():
            if name.split(".")[0] in digits and frame > LOWERED + 1 and frame != first:
                continue
            bone = rig.pose.bones[name]
            local = rest[name].inverted() @ turn @ rest[name]
            if name in before:
                local.make_compatible(before[name])
            before[name] = local
            bone.rotation_quaternion = local
            bone.keyframe_insert("rotation_quaternion", frame=frame, group=name)
        hips = rig.pose.bones["hips"]
        hips.location = hips_axes @ shift
        hips.keyframe_insert("location", frame=frame, group="hips")
