# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid garments and bodies: what contact wants of single particles, as impulses on the whole.

`contact.body` says of a copy of the particles where bodies want each (`collide.respond`). Their normals, and how far they are
to go along these, are conditions on the motion of the garment, which sequential impulses fulfil one after the other, each
as far as it pushes, with Coulomb's friction (Mirtich and Canny 1995; Guendelman, Bridson and Fedkiw 2003). The part of a
depth that was there before the substep is taken back without any speed.
"""

import math
from typing import NamedTuple

import numpy as np

from ..contact.body import collide
from ..elastic.rigid import rigid_alone
from ..kernel.jit import fused, fused_inner
from ..model import Cloth, FrameInput, Settings, State
from .rigid import Pose, Rigid

IMPULSE_SWEEPS = 30


class Touches(NamedTuple):
    """Where rigid garments touch bodies in a substep, and what that has pushed so far."""

    place: np.ndarray  # (c,) of the particle in `Rigid.particles`
    normal: np.ndarray  # (c, 3)
    surface: np.ndarray  # (c, 3) [m/s] velocity of the body
    friction: np.ndarray  # (c,) Coulomb coefficient
    wanted: np.ndarray  # (c,) [m/s] least speed along the normal
    rebound: np.ndarray  # (c,) [m/s] least speed against the surface at the end
    depth: np.ndarray  # (c,) [m] to be taken back without any speed
    push: np.ndarray  # (c,) [N s] along the normal
    drag: np.ndarray  # (c, 3) [N s] across it


class RigidContact:
    """Bodies in a frame, as rigid garments meet them."""

    def __init__(self, cloth: Cloth, state: State, frame_input: FrameInput, settings: Settings):
        self.body = collide.prepare(rigid_alone(cloth), state, frame_input, settings)

    def find(self, cloth: Cloth, rigid: Rigid, x, x_from, t: float, dt: float) -> Touches:
        """What touches as particles go from x_from to x (n, 3) [m] until t in dt [s]."""
        probe, contacts = x.copy(), self.body.contacts
        collide.respond(self.body, rigid_alone(cloth), probe, x_from, (x - x_from) / dt, x_from, t, dt)
        slots = np.arange(2) < contacts.count[rigid.particles, None]
        place, slot = np.nonzero(slots)
        at = rigid.particles[place]
        normal, surface = contacts.normal[at, slot], contacts.velocity[at, slot]
        lift = np.einsum("ci,ci->c", probe[at] - x[at], normal)
        went = np.einsum("ci,ci->c", (x[at] - x_from[at]) / dt, normal)
        approach = np.einsum("ci,ci->c", surface, normal) - went
        fast = np.clip(lift, 0.0, np.maximum(dt * approach, 0.0))
        count = len(place)
        return Touches(
            place, normal, surface, contacts.friction[at, slot], went + fast / dt, contacts.rebound[at, slot],
            np.maximum(lift - fast, 0.0), np.zeros(count), np.zeros((count, 3)),
        )  # fmt: skip


def keep_off(touches: Touches, rigid: Rigid, pose: Pose, motion: np.ndarray) -> None:
    """Have garments that go by `motion` (b, 6) go as fast off bodies as is wanted, with friction. # outputs: motion, touches"""
    _push(*_about(touches, rigid, pose), touches.wanted, touches.friction, touches.push, touches.drag, motion)


def take_out(touches: Touches, rigid: Rigid, pose: Pose) -> np.ndarray:
    """(b, 6) [m], [rad] by which garments are moved out of bodies, in which they have been before."""
    shift, count = np.zeros((len(rigid.total), 6)), len(touches.place)
    still = touches._replace(surface=np.zeros((count, 3)))
    _push(*_about(still, rigid, pose), touches.depth, np.zeros(count), np.zeros(count), np.zeros((count, 3)), shift)
    return shift


def leave(touches: Touches, rigid: Rigid, pose: Pose, motion: np.ndarray) -> None:
    """At a substep's end nothing goes into a surface, and what bounces leaves as fast as it is to. # output: motion"""
    speed = np.einsum("ci,ci->c", touches.surface, touches.normal) + touches.rebound
    count = len(touches.place)
    _push(*_about(touches, rigid, pose), speed, np.zeros(count), np.zeros(count), np.zeros((count, 3)), motion)


def _about(touches, rigid, pose):
    piece, arm = rigid.piece[touches.place], pose.arm[touches.place]
    return piece, arm, touches.normal, touches.surface, rigid.total, pose.inverse


@fused_inner
def _speed(motion, arm, c, b):
    """Velocity of a point of garment b, where it touches."""
    rx, ry, rz = arm[c, 0], arm[c, 1], arm[c, 2]
    wx, wy, wz = motion[b, 3], motion[b, 4], motion[b, 5]
    return motion[b, 0] + wy * rz - wz * ry, motion[b, 1] + wz * rx - wx * rz, motion[b, 2] + wx * ry - wy * rx


@fused_inner
def _turn(arm, c, px, py, pz, b, inverse):
    """What an impulse p at a touch makes garments turn by."""
    rx, ry, rz = arm[c, 0], arm[c, 1], arm[c, 2]
    tx, ty, tz = ry * pz - rz * py, rz * px - rx * pz, rx * py - ry * px
    return (
        inverse[b, 0, 0] * tx + inverse[b, 0, 1] * ty + inverse[b, 0, 2] * tz,
        inverse[b, 1, 0] * tx + inverse[b, 1, 1] * ty + inverse[b, 1, 2] * tz,
        inverse[b, 2, 0] * tx + inverse[b, 2, 1] * ty + inverse[b, 2, 2] * tz,
    )


@fused_inner
def _give(arm, c, nx, ny, nz, b, total, inverse):
    """[1/kg] how fast a touch gives way along n to an impulse along that."""
    wx, wy, wz = _turn(arm, c, nx, ny, nz, b, inverse)
    rx, ry, rz = arm[c, 0], arm[c, 1], arm[c, 2]
    return 1.0 / total[b] + nx * (wy * rz - wz * ry) + ny * (wz * rx - wx * rz) + nz * (wx * ry - wy * rx)


@fused_inner
def _apply(motion, arm, c, amount, px, py, pz, b, total, inverse):
    """Give garment b an impulse of `amount` times p at a touch. # output: motion"""
    wx, wy, wz = _turn(arm, c, px, py, pz, b, inverse)
    motion[b, 0] += amount * px / total[b]
    motion[b, 1] += amount * py / total[b]
    motion[b, 2] += amount * pz / total[b]
    motion[b, 3] += amount * wx
    motion[b, 4] += amount * wy
    motion[b, 5] += amount * wz


@fused
def _push(piece, arm, normal, surface, total, inverse, wanted, friction, push, drag, motion):
    """Sequential impulses; 150 flops a touch and sweep.

    wanted : (c,) [m/s] least speed along the normal; all else as in `Touches`, `Rigid` and `Pose`
    # outputs: push (c,), drag (c, 3), motion (b, 6)
    """
    for _ in range(IMPULSE_SWEEPS):
        for c in range(len(piece)):
            b = piece[c]
            vx, vy, vz = _speed(motion, arm, c, b)
            nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
            along = nx * vx + ny * vy + nz * vz
            give = _give(arm, c, nx, ny, nz, b, total, inverse)
            before = push[c]
            push[c] = max(before + (wanted[c] - along) / give, 0.0)
            _apply(motion, arm, c, push[c] - before, nx, ny, nz, b, total, inverse)
            if friction[c] <= 0.0:
                continue
            vx, vy, vz = _speed(motion, arm, c, b)
            sx, sy, sz = vx - surface[c, 0], vy - surface[c, 1], vz - surface[c, 2]
            along = nx * sx + ny * sy + nz * sz
            sx, sy, sz = sx - along * nx, sy - along * ny, sz - along * nz
            size = math.sqrt(sx * sx + sy * sy + sz * sz)
            if size <= 0.0:
                continue
            amount = size / _give(arm, c, sx / size, sy / size, sz / size, b, total, inverse)
            ox, oy, oz = drag[c, 0], drag[c, 1], drag[c, 2]
            dx, dy, dz = ox - amount * sx / size, oy - amount * sy / size, oz - amount * sz / size
            held, most = math.sqrt(dx * dx + dy * dy + dz * dz), friction[c] * push[c]
            part = most / held if held > most else 1.0
            drag[c, 0], drag[c, 1], drag[c, 2] = part * dx, part * dy, part * dz
            _apply(motion, arm, c, 1.0, part * dx - ox, part * dy - oy, part * dz - oz, b, total, inverse)
