# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator is told about frames that are on disk all the same: cloth that is far too long, or passes through."""

from collections import Counter
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from .crossings import ALL_HELD, BODY, SOME_HELD, find_crossings, locate_crossings
from .elastic.sewing import gaps, sewn_pairs, zip_opens
from .ldi.inside import find_inside
from .shown import Folds

MOST_GAP = 0.01  # [m] that a seam may be open at the end
GAP_THICKNESSES = 3.0  # or so many times the cloth's thickness, which contact keeps its sides apart by
PINCH_REACH = 0.1  # [m] from what bodies pinch up to which they are what draws at cloth: about a hand
PINCH_FRAMES = 12  # for which a pinch is remembered: what it has caught is drawn out of it later
START_FRAMES = 12  # in which what crosses at the start comes out
CROSSED_REACH = 0.05  # [m] from it up to which what passes through does so for want of room there
NO_ROOM = "bodies that go into each other leave it no room there: part them, or lower their Distance"
MOST_STRETCH = 0.5  # strain of an edge beyond which cloth does not look like cloth any more


class Doubt(NamedTuple):
    """What is wrong, and what to do."""

    frame: int  # where to look
    sentence: str


class Passing(NamedTuple):
    """What passes through in a frame."""

    named: Counter  # pairs of triangles by what goes through what
    has_no_room: bool  # whether most of it does where bodies leave no room
    held: Counter  # these pairs by what pins hold of them


class Doubts:
    """Looks at each frame, and closer at the last; `tell` says what it saw."""

    def __init__(self, names, garments=()):
        """Names of the garments, and the garments themselves where their seams are to be looked at, in order."""
        self.start = None  # as of `begin`
        self.came_out = Counter()  # what passed through there and did no more where the next frame ended, as `crossed`
        self.names = list(names)
        self.sewn = [sewn_pairs(garment) for garment in garments]
        self.opens = [zip_opens(*known) for known in zip(garments, self.sewn, strict=True)]
        self.thickness = [float(np.median(garment.thickness)) for garment in garments]
        self.gaps = []  # [m] of each garment's worst seam in the last frame
        self.worst, self.longest, self.longest_frame = MOST_STRETCH, None, 0
        self.comes_out = False  # whether what is longest comes out of what it crossed at the start
        self.pinch_frame = None  # in which bodies left no room near what is longest, None if in none
        self.pinched = {}  # particles by the frame in which they were pinched last
        self.through = {}  # pairs of triangles that cross, by frame
        self.most = []  # the last two frames in which they were more than ever before: what `_passing` asks for
        self.crossed = Counter()  # pairs of triangles by what goes through what
        self.held, self.last_frame = Counter(), 0  # the same pairs by what pins hold of them
        self.has_no_room = False  # as of `Passing`, in the last frame
        self.crossed_first, self.first_frame = Counter(), 0  # those of the first frame that is looked at
        self.let_in = {}  # by garments and bodies the frames in which these met and crossed
        self.colliding, self.switched = None, []  # what collided in the frame before; what began to, in what: `Doubt`s
        self.folds, self.seems, self.seems_frame = Folds(garments), Counter(), 0  # what is only shown to pass through
        self.began = None  # (n, 3) [m] where the next frame begins: it may have come out of itself by its end

    def begin(self, frame, x):
        """A bake begins in this frame with particles at x (n, 3) [m]: what crosses there is told of, too."""
        self.start = frame, x.copy()

    def look(self, cloth, x, report, colliders=()):
        """Note a frame: x (n, 3) [m] relative to the cloth's origin, as files have it, and its `Report`; returns that, with
        all crossings where something may have gone into the bodies.
        """
        if self.began is None:
            self._look_at_start(cloth, x, report, colliders)
        of_bodies = False  # whether all that passes through is told of as what went into bodies
        if report.let_in:
            found, _ = find_crossings(cloth, x, colliders)
            report = report._replace(crossings=len(found))
            into = (found <= BODY).any(axis=1)
            of_bodies = bool(into.all())
            for trouble in report.let_in if into.any() else ():
                self.let_in.setdefault(trouble, []).append(report.frame)
        if report.crossings and not of_bodies:
            if report.crossings > max(self.through.values(), default=0):
                self.most = [*self.most[-1:], (cloth, x.copy(), report, colliders)]
            self.through[report.frame] = report.crossings
        self.pinched |= dict.fromkeys([] if report.pinched is None else report.pinched.tolist(), report.frame)
        if report.worst_stretch > self.worst:
            self._note_stretch(cloth, x, report, colliders)
        self._look_at_switches(cloth, x, report, colliders)
        self.folds.look(cloth, x, report.frame, colliders)
        self.began = x.copy()
        return report

    def _look_at_start(self, cloth, x, report, colliders):
        """Note what crosses where the first frame ends, and what did where it began, if the bake does with it."""
        found, _ = find_crossings(cloth, x, colliders)
        self.crossed_first, self.first_frame = self._by_name(found, colliders), report.frame
        if self.start is not None and report.frame == self.start[0] + 1:
            found, _ = find_crossings(cloth, self.start[1], [body._replace(x=body.x[:1]) for body in colliders])
            begun = self._by_name(found, colliders)
            self.came_out = Counter({what: begun[what] for what in begun if what not in self.crossed_first})

    def _passing(self, frame):
        """`Passing` of the worst frame, or of the worst before the last."""
        cloth, x, report, colliders = next(known for known in self.most if known[2].frame == frame)
        found, held, place = locate_crossings(cloth, x, colliders)
        pinched = [] if report.pinched is None else report.pinched
        return Passing(self._by_name(found, colliders), _has_no_room(x[pinched], place), Counter(held.tolist()))

    def _look_at_switches(self, cloth, x, report, colliders):
        """Note what did not collide in the frame before, where cloth is inside it or crosses it."""
        own = {garment: bool(cloth.meets[garment, garment]) for garment in range(len(self.names))}
        before, self.colliding = self.colliding, {body.name for body in colliders} | {k for k in own if own[k]}
        if before is None:
            return
        for body in colliders:
            if body.name not in before and (who := self._inside(cloth, x, body)):
                words = f"{body.name} began to collide in frame {report.frame} with {' and '.join(who)} inside"
                self._note_switch(report.frame, words, "Collide")
        switched = [k for k in own if own[k] and k not in before]
        found = find_crossings(cloth, self.began)[0] if switched else None
        for garment in (k for k in switched if (found == k).all(axis=1).any()):
            words = (
                f"{self.names[garment]} began to collide with itself in frame {report.frame} where it crosses itself"
            )
            self._note_switch(report.frame, words, "Self-Collision")

    def _inside(self, cloth, x, body):
        """Names of the garments that are in a body, or cross it, at x."""
        found, _ = find_crossings(cloth, x, (body,))
        inside = find_inside(body.x[-1] - cloth.origin, body.triangles, x).point
        met = np.ones(len(self.names), bool) if body.meets is None else np.array(body.meets)
        owners = cloth.garment[inside[cloth.meets_bodies[inside]]]
        who = {*owners[met[owners]].tolist(), *found[found[:, 0] == BODY, 1].tolist()}
        return [self.names[garment] for garment in sorted(who)]

    def _note_switch(self, frame, words, setting):
        self.switched.append(
            Doubt(
                frame, f"{words}: it comes out over the next frames; key {setting} at a frame in which they are apart"
            )
        )

    def _note_stretch(self, cloth, x, report, colliders):
        self.worst, self.longest_frame = report.worst_stretch, report.frame
        one, other = cloth.edges.T
        length, counts = np.linalg.norm(x[one] - x[other], axis=1), cloth.is_mesh_edge & (cloth.rest_length > 0.0)
        edge = np.divide(length, cloth.rest_length, out=np.zeros(len(length)), where=counts).argmax()
        self.longest = self.names[cloth.garment[one[edge]]]
        recent = [k for k, frame in self.pinched.items() if frame >= report.frame - PINCH_FRAMES]
        near = np.flatnonzero(np.linalg.norm(x[recent] - x[one[edge]], axis=1) < PINCH_REACH)
        self.pinch_frame = max((self.pinched[recent[k]] for k in near), default=None)
        self.comes_out = False
        if self.crossed_first and report.frame <= self.first_frame + START_FRAMES:
            begun = x if self.began is None else self.began
            *_, place = locate_crossings(cloth, begun, [body._replace(x=body.x[:1]) for body in colliders])
            ends = cKDTree(begun[[one[edge], other[edge]]])
            self.comes_out = bool((ends.query(place)[0] < PINCH_REACH).any())

    def look_closer(self, cloth, x, colliders, frame, zip_open=None):
        """Count the crossings of the last frame; returns a number of pairs of triangles. zip_open : `FrameInput.zip_open`"""
        found, held, place = locate_crossings(cloth, x, colliders)
        self.held, self.last_frame = Counter(held.tolist()), frame
        pinched = [particle for particle, last in self.pinched.items() if last == frame]
        self.has_no_room = _has_no_room(x[pinched], place)
        self.crossed = self._by_name(found, colliders)
        for garment, (pairs, opens) in enumerate(zip(self.sewn, self.opens, strict=True)):
            own, pairs = x[cloth.garment == garment], pairs[opens > (zip_open[garment] if zip_open else 0.0)]
            self.gaps.append(float(gaps(pairs, own).max()) if len(pairs) else 0.0)
        if (seen := self.folds.crossings()) is not None:
            shown, simulated, worst = seen
            self.seems = self._by_name(shown, worst.colliders) - self._by_name(simulated, worst.colliders)
            self.seems_frame = worst.frame
        return self.crossed.total()

    def _by_name(self, found, colliders):
        """Counts of crossings (k, 2), as from `find_crossings`, by what goes through what."""
        named = Counter()
        for (low, high), count in zip(*np.unique(found, axis=0, return_counts=True), strict=True):
            other = colliders[BODY - low].name if low <= BODY else "itself" if low == high else self.names[low]
            named[f"{self.names[high]} through {other}"] += int(count)
        return named

    def seam_gap(self):
        """How far the worst seam was open in the last frame [m]; None where nothing is sewn."""
        return max(self.gaps) if any(map(len, self.sewn)) and self.gaps else None

    def gaping(self):
        """Name of the garment with the worst seam, if one is open in the last frame."""
        return self.names[int(np.argmax(self.gaps))] if self.seam_gap() else None

    def tell(self):
        """A `Doubt` for each thing that is wrong."""
        told = list(self.switched)
        if self.came_out:
            words = (
                f"Cloth passed through when the bake began: {', '.join(self.came_out)} ({self.came_out.total()} pairs of triangles), and "
                f"was pushed out by frame {self.first_frame}: look there whether it lies right, or press Untangle before you bake"
            )
            told.append(Doubt(self.first_frame, words))
        if self.longest is not None:
            much = f"{self.longest} is stretched by {100.0 * self.worst:.0f} % in frame {self.longest_frame}"
            room = "part them there, lower their Distance, or make it wider"
            if self.comes_out and self.pinch_frame is None:
                words = f"{much}, as it comes out of what it crossed when the bake began: press Untangle before you bake, or make room there"
            elif self.pinch_frame is None:
                words = f"{much}: see there what pulls it; more Substeps or Stretch Stiffness help, and the model Fabric where it is Springs"
            elif self.pinch_frame == self.longest_frame:
                words = f"{much}, where bodies leave it no room between them: {room}"
            else:
                words = f"{much}, drawn out of where bodies left it no room between them in frame {self.pinch_frame}: {room}"
            told.append(Doubt(self.longest_frame, words))
        for trouble, frames in self.let_in.items():
            who = " and ".join(self.names[garment] for garment in trouble.garments)
            words = f"{who} went into {' and '.join(trouble.bodies)} in {_when(frames)}: make room for it there, or raise Substeps"
            told.append(Doubt(frames[0], words))
        told += self._on_the_way()
        for name, gap, thickness in zip(self.names, self.gaps, self.thickness, strict=False):
            if gap > max(MOST_GAP, GAP_THICKNESSES * thickness):
                words = (
                    f"{name} has a seam that is {1000.0 * gap:.0f} mm open in frame {self.last_frame}: look whether a "
                    "body, the pins or cloth between its sides hold it open; set Max Force in Sewing to 0, which is no limit, and "
                    "Closing Speed lower where panels crumple as they meet"
                )
                told.append(Doubt(self.last_frame, words))
        if self.crossed:
            words = (
                f"Cloth passes through in frame {self.last_frame}: {', '.join(self.crossed)} ({self.crossed.total()} pairs "
                f"of triangles); {self._way_out()}"
            )
            told.append(Doubt(self.last_frame, words))
        if self.seems:
            words = (
                f"Blender shows cloth passing through in frame {self.seems_frame}: {', '.join(self.seems)} ({self.seems.total()} pairs "
                "of triangles), which the bake keeps apart: it cuts sharply folded quads along their other diagonal; a Triangulate "
                "modifier after Taffeta Cache, with the Quad Method Fixed, shows what was simulated"
            )
            told.append(Doubt(self.seems_frame, words))
        return told

    def _on_the_way(self):
        """A `Doubt` of what passed through in frames before the last, if more did in one of these; the last is counted closer."""
        frames = [frame for frame in self.through if frame != self.last_frame]
        worst = max(frames, key=self.through.get, default=None)
        if worst is None or self.through[worst] <= self.crossed.total():
            return []
        named, has_no_room, held = self._passing(worst)
        whole, pinned = _of_pins(held)
        if whole:
            way = whole
        elif has_no_room:
            way = NO_ROOM
        elif self.crossed_first and (not named or any(what in self.crossed_first for what in named)):
            way = "it does so from where the bake began: press Untangle before you bake"
        else:
            way = f"{pinned}{'For the rest more' if pinned else 'more'} Substeps help, or more room where it is pressed"
        most, what = f"{self.through[worst]} pairs of triangles", f": {', '.join(named)}" if named else ""
        how = f"in {_when(frames)} ({most}{'' if len(frames) == 1 else f' in frame {worst}'}{what})"
        return [Doubt(worst, f"Cloth passes through something {how}: {way}")]

    def _way_out(self):
        """What to do about what passes through."""
        whole, pinned = _of_pins(self.held)
        if whole:
            return whole
        begun = [what for what in self.crossed if what in self.crossed_first]
        earlier = (
            f"{', '.join(begun)} was so in frame {self.first_frame} already: press Untangle before you bake"
            if begun
            else ""
        )
        if not pinned and not self.has_no_room and len(begun) == len(self.crossed):
            return earlier
        rest = f"; {earlier}" if begun else ""
        if self.has_no_room:
            return f"{pinned}{NO_ROOM}{rest}"
        return (
            f"{pinned}{'For the rest more' if pinned else 'more'} Substeps help, or more room where it is pressed{rest}"
        )


def _of_pins(held):
    """What to do where pins hold all that passes through, and else what they hold of it; `held` as `Doubts.held`, and "" for nothing."""
    whole, part, total = held[ALL_HELD], held[SOME_HELD], held.total()
    if not whole + part:
        return "", ""
    if whole == total:
        return "pins hold all of that there: move what is pinned, or paint Pin away", ""
    if whole + part == total:
        return "pins hold corners of all of that there: move what is pinned, or paint Pin away beside it", ""
    return "", f"pins hold {whole + part} of them there, or corners of these. "


def _has_no_room(pinched, place):
    """Whether most of what passes through, triangles with corners at (k, 3, 3) [m], is near what bodies pinch, at (p, 3) [m]; where
    none is known, whether anything is pinched.
    """
    if not len(pinched) or not len(place):
        return len(pinched) > 0
    return bool(np.mean(cKDTree(pinched).query(place)[0].min(axis=1) < CROSSED_REACH) >= 0.5)


def _when(frames):
    """Words for frames, in order."""
    return f"frame {frames[0]}" if len(frames) == 1 else f"{len(frames)} frames from {frames[0]} to {frames[-1]}"
