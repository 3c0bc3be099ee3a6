# SPDX-License-Identifier: GPL-3.0-or-later
"""What contact could not do as usual is told: substeps that are taken again, and what goes into bodies all the same."""

import naive
import numpy as np
import pytest
import solids
from guarded import SPIKY, scene
from taffeta.solver.build import build
from taffeta.solver.contact import frame as contact_frame
from taffeta.solver.contact.body import view
from taffeta.solver.contact.body.constraints import make_support
from taffeta.solver.contact.body.slip import make_hold
from taffeta.solver.contact.cloth.constraints import NO_BOUNCE
from taffeta.solver.contact.frame import Contact
from taffeta.solver.contact.guard import body_pairs
from taffeta.solver.doubts import Doubts
from taffeta.solver.kernel.stopwatch import Stopwatch
from taffeta.solver.model import Report, Settings, Trouble
from taffeta.solver.step import advance


def test_a_substep_that_is_taken_again_is_told_with_the_garment_that_was_pulled():
    """A ball flies into the edge of a sheet that is held by its corners, at 10 m/s, from the second frame on; another sheet hangs elsewhere."""
    settings = Settings(substeps=5)
    garments = [naive.sheet(5, 5, 0.2, 0.2, pin=1.0), naive.sheet(13, 13, self_collision=True)]
    x = garments[1].x
    corner = ((x[:, :2] == 0.0) | (x[:, :2] == 1.0)).all(axis=1)
    far = garments[0].x + [0.0, 0.0, 3.0]
    cloth, state = build(
        [garments[0]._replace(x=far, x_start=far), garments[1]._replace(pin=corner.astype(float))], settings
    )
    pose, told = state.x + cloth.origin, []
    for frame in range(3):
        way = np.array([[-0.62, 0.5, 0.05], [-0.2, 0.5, 0.05]]) + [0.42 * frame, 0.0, 0.0]
        body = solids.collider(solids.ball(0.2, 4), way, name="Ball")
        told.append(advance(cloth, state, naive.still(pose, colliders=(body,)), frame, settings).taken_again)
    again = (Trouble((1,), ()),)
    assert told == [(), again, again]


def test_what_the_guard_gives_up_is_told_by_name_until_it_is_held_again():
    cloth, state, _, bodies = scene((0.06 * SPIKY[0] / np.abs(SPIKY[0]).max(), SPIKY[1]), cells=8)
    view.move_bodies(bodies, cloth, 0.0, 0.1)
    guarded = body_pairs.prepare(cloth, bodies)
    beside = make_support(cloth), make_hold(cloth), NO_BOUNCE
    contact = Contact(cloth, Settings(), Stopwatch("x"), bodies, guarded, None, None, *beside)
    through = state.x - [0.0, 0.0, 0.07]
    near = body_pairs.find(guarded, (0.0, 0.1), state.x, through)
    assert len(body_pairs.impacts(guarded, near, False).hits) and contact_frame.gave_up(contact) is None
    body_pairs.impacts(guarded, near, True)
    assert contact_frame.gave_up(contact) == Trouble((0,), ("Body",)) and guarded.frame.tangled.any()
    body_pairs.hold_again(guarded)
    assert contact_frame.gave_up(contact) is None and not guarded.frame.tangled.any()


def across():
    """A sheet across a ball: the cloth, where it is, the ball."""
    cloth, state = build([naive.sheet(9, 9)], Settings())
    middle = cloth.origin + state.x.mean(axis=0) + [0.0, 0.0, 0.013]
    return cloth, state.x, solids.collider(solids.ball(0.3), np.tile(middle, (2, 1)))


def test_what_went_into_a_body_on_the_way_is_counted_and_told():
    """In the frames in which it crossed; in one of them all had come out again."""
    cloth, x, body = across()
    doubts, into = Doubts(["Coat"]), (Trouble((0,), ("Body",)),)
    about = {"seconds": {}, "worst_stretch": 0.0, "mean_stretch": 0.0, "body_contacts": 0, "cloth_contacts": 0}
    counts = []
    for frame in range(5):
        place = x + [0.0, 0.0, 2.0 * (frame == 2)]
        report = Report(frame, **about, let_in=into if frame else ())
        counts.append(doubts.look(cloth, place, report, (body,)).crossings)
    assert counts[0] is None and counts[2] == 0 and counts[1] == counts[3] == counts[4] > 20
    ((frame, words),) = doubts.tell()
    assert frame == 1 and "Coat went into Body in 3 frames from 1 to 4" in words


@pytest.mark.parametrize("up", [0.0, 2.0])
def test_cloth_through_cloth_is_told_of_a_frame_in_which_some_went_into_a_body_too(up):
    """Whether that is still in the body at the frame's end or has come out of it."""
    one, other = naive.sheet(9, 9), naive.sheet(9, 9)
    upright = other.x[:, [0, 2, 1]] + [0.0, 0.513, -0.487]
    cloth, state = build([one, other._replace(x=upright, x_start=upright)], Settings())
    body = solids.collider(solids.ball(0.3), np.tile([0.5, 0.487, 0.013 + up], (2, 1)))
    doubts = Doubts(["Coat", "Shirt"])
    about = {"seconds": {}, "worst_stretch": 0.0, "mean_stretch": 0.0, "body_contacts": 0, "cloth_contacts": 0}
    apart = state.x + np.where(cloth.garment == 1, 5.0, 0.0)[:, None]
    doubts.look(cloth, apart, Report(1, **about))
    doubts.look(cloth, state.x, Report(2, **about, let_in=(Trouble((0,), ("Body",)),)), (body,))
    words = [doubt.sentence for doubt in doubts.tell()]
    assert any("Shirt through Coat" in sentence for sentence in words), words
    assert any("Coat went into Body in frame 2" in sentence for sentence in words) == (up == 0.0)


@pytest.mark.parametrize(
    ("pinched", "told"), [(None, "more Substeps"), ([0], "no room between them"), ([-1], "more Substeps")]
)
def test_why_cloth_is_too_long(pinched, told):
    """Steps help where it is pulled, and nothing but room where bodies press on it there."""
    cloth, x, _ = across()
    x = x.copy()
    x[0] -= 2.0 * (x[cloth.edges[cloth.edges[:, 0] == 0, 1]].mean(axis=0) - x[0])
    about = {"seconds": {}, "worst_stretch": 0.8, "mean_stretch": 0.1, "body_contacts": 0, "cloth_contacts": 0}
    doubts = Doubts(["Coat"])
    doubts.look(cloth, x, Report(7, **about, pinched=None if pinched is None else np.array(pinched, int)))
    ((frame, words),) = doubts.tell()
    assert frame == 7 and "Coat is stretched by 80 % in frame 7" in words and told in words


@pytest.mark.parametrize(
    ("up", "frame", "told"), [(0.0, 3, "when the bake began"), (2.0, 3, "Substeps"), (0.0, 30, "Substeps")]
)
def test_what_is_too_long_where_it_comes_out_of_its_start_is_for_untangle(up, frame, told):
    """A sheet starts across a ball, and an edge there is long soon after; not where it starts apart, nor a second later."""
    cloth, x, body = across()
    about = {"seconds": {}, "mean_stretch": 0.0, "body_contacts": 0, "cloth_contacts": 0}
    middle = body.x[-1].mean(axis=0) - cloth.origin
    long = x + 0.0
    long[np.linalg.norm(x - middle - [0.3, 0.0, 0.0], axis=1).argmin()] += [0.0, 0.0, 0.3]
    body = body._replace(x=body.x + [0.0, 0.0, up])
    doubts = Doubts(["Coat"])
    doubts.look(cloth, x, Report(2, **about, worst_stretch=0.0), (body,))
    doubts.look(cloth, long, Report(frame, **about, worst_stretch=0.9), (body,))
    ((_, words),) = doubts.tell()
    assert words.startswith(f"Coat is stretched by 90 % in frame {frame}") and told in words


def test_what_a_pinch_has_caught_is_drawn_out_of_it_for_half_a_second():
    """A corner that was pinched in frame 1 is long in a later one: no substeps help; after half a second it is something else."""
    cloth, x, _ = across()
    long = x.copy()
    long[0] -= 2.0 * (x[cloth.edges[cloth.edges[:, 0] == 0, 1]].mean(axis=0) - x[0])
    about = {"seconds": {}, "mean_stretch": 0.1, "body_contacts": 0, "cloth_contacts": 0}
    for later, words in ((5, "no room between them in frame 1"), (14, "more Substeps")):
        doubts = Doubts(["Coat"])
        doubts.look(cloth, x, Report(1, **about, worst_stretch=0.1, pinched=np.array([0])))
        doubts.look(cloth, long, Report(later, **about, worst_stretch=0.8))
        ((frame, told),) = doubts.tell()
        assert frame == later and words in told


def test_substeps_are_not_asked_for_where_bodies_pinch_at_the_end():
    """In its last frame a sheet crosses a ball: alone, or where something is pinched in that frame; before does not count, nor does
    what is pinched elsewhere.
    """
    cloth, x, body = across()
    away = np.linalg.norm(x + cloth.origin - body.x[-1].mean(axis=0), axis=1)
    here, elsewhere = np.flatnonzero(away < 0.4), np.flatnonzero(away > 0.45)
    about = {"seconds": {}, "worst_stretch": 0.0, "mean_stretch": 0.0, "body_contacts": 0, "cloth_contacts": 0}
    for pinched, where, words in (
        (7, here, "part them"), (6, here, "more Substeps help"), (7, elsewhere, "more Substeps help")
    ):  # fmt: skip
        doubts = Doubts(["Coat"])
        for frame in (6, 7):
            held = where if frame == pinched else None
            doubts.look(cloth, x, Report(frame, **about, pinched=held))
        doubts.look_closer(cloth, x, (body,), 7)
        ((frame, told),) = doubts.tell()
        assert frame == 7 and words in told


@pytest.mark.parametrize(("pinched", "why"), [(np.array([0]), "part them"), (None, "more Substeps help")])
def test_what_crosses_on_the_way_is_told_though_nothing_does_at_the_end(pinched, why):
    cloth, x, _ = across()
    about = {"seconds": {}, "worst_stretch": 0.0, "mean_stretch": 0.0, "body_contacts": 0, "cloth_contacts": 0}
    doubts = Doubts(["Coat"])
    for frame, crossings in enumerate((None, 3, 20, None, 7), 1):
        doubts.look(cloth, x, Report(frame, **about, crossings=crossings, pinched=pinched if crossings else None))
    doubts.look_closer(cloth, x, (), 5)
    ((frame, words),) = doubts.tell()
    assert frame == 3 and "in 2 frames from 2 to 3 (20 pairs of triangles in frame 3)" in words and why in words


def test_what_crosses_on_the_way_from_the_start_is_for_untangle():
    """Its first frame counts with the others: nobody is told of frame 2 that it was so in frame 2 already."""
    cloth, x, body = across()
    about = {"seconds": {}, "worst_stretch": 0.0, "mean_stretch": 0.0, "body_contacts": 0, "cloth_contacts": 0}
    doubts = Doubts(["Coat"])
    for frame, up, crossings in ((2, 0.0, 30), (3, 0.0, 20), (4, 2.0, None)):
        doubts.look(cloth, x + [0.0, 0.0, up], Report(frame, **about, crossings=crossings), (body,))
    doubts.look_closer(cloth, x + [0.0, 0.0, 2.0], (body,), 4)
    ((frame, words),) = doubts.tell()
    assert frame == 2 and words.endswith(": it does so from where the bake began: press Untangle before you bake")


@pytest.mark.parametrize("is_new", [True, False])
def test_what_crosses_on_the_way_is_named_and_told_why(is_new):
    """A sheet crosses a ball, and a corner far from it is pinched: that is not why. A crossing of the start is not, either, if it is
    of the ball and what is on the way is of another.
    """
    cloth, x, body = across()
    about = {"seconds": {}, "worst_stretch": 0.0, "mean_stretch": 0.0, "body_contacts": 0, "cloth_contacts": 0}
    doubts, gone = Doubts(["Coat"]), body._replace(x=body.x + 9.0)
    other = body._replace(name="Other")
    corner = np.array([np.linalg.norm(x - x.mean(axis=0), axis=1).argmax()])
    doubts.look(cloth, x, Report(2, **about), (body, other._replace(x=gone.x)))
    known = (gone, other) if is_new else (body, other._replace(x=gone.x))
    for frame, crossings in ((3, 20), (4, None)):
        doubts.look(cloth, x, Report(frame, **about, crossings=crossings, pinched=corner), known)
    doubts.look_closer(cloth, x + [0.0, 0.0, 2.0], (), 4)
    ((_, words),) = doubts.tell()
    why = "more Substeps help, or more room where it is pressed" if is_new else "press Untangle before you bake"
    assert f"(20 pairs of triangles: Coat through {'Other' if is_new else 'Body'})" in words and words.endswith(why)


def test_the_end_is_counted_by_what_goes_through_what():
    cloth, x, body = across()
    twice = body._replace(name="Other")
    doubts = Doubts(["Coat"])
    count = doubts.look_closer(cloth, x, (body, twice), 7)
    assert doubts.crossed["Coat through Body"] == doubts.crossed["Coat through Other"] == count / 2 > 20


def test_substeps_are_not_asked_for_where_pins_hold_corners():
    """A sheet of which every other vertex is pinned where a ball is: no substep could take these out of it."""
    cloth, x, body = across()
    held = cloth._replace(inv_mass=np.where(np.arange(len(x)) % 2, 0.0, cloth.inv_mass))
    for what, words in ((held, "pins hold corners of all of that there"), (cloth, "more Substeps help")):
        doubts = Doubts(["Coat"])
        doubts.look_closer(what, x, (body,), 7)
        ((frame, told),) = doubts.tell()
        assert frame == 7 and words in told and ("Substeps" in told) == (what is cloth)


def test_substeps_are_not_asked_for_where_pins_hold_corners_on_the_way():
    """As a waistband is that a raised thigh goes through for some frames."""
    cloth, x, body = across()
    every_other = cloth._replace(inv_mass=np.where(np.arange(len(x)) % 2, 0.0, cloth.inv_mass))
    near = np.linalg.norm((x - x.mean(axis=0))[:, :2], axis=1) < 0.2
    some = cloth._replace(inv_mass=np.where(near, 0.0, cloth.inv_mass))
    about = {"seconds": {}, "worst_stretch": 0.0, "mean_stretch": 0.0, "body_contacts": 0, "cloth_contacts": 0}
    away = body._replace(x=body.x + 9.0)
    for what, words in (
        (every_other, "pins hold corners of all of that there: move what is pinned"),
        (some, "For the rest more Substeps help"),
        (cloth, ": more Substeps help"),
    ):
        doubts = Doubts(["Coat"])
        for frame, bodies, count in ((1, (away,), None), (2, (body,), 20), (3, (away,), None)):
            doubts.look(what, x, Report(frame, **about, crossings=count), bodies)
        doubts.look_closer(what, x, (away,), 3)
        ((frame, told),) = doubts.tell()
        assert frame == 2 and words in told and ("pins hold" in told) == (what is not cloth)


def test_cloth_that_crosses_cloth_when_a_frame_begins_is_counted_by_the_way():
    """Two sheets across each other, held in place; and none where nothing crosses."""
    flat = naive.sheet(5, 5, pin=1.0)
    upright = naive.sheet(5, 5, pin=1.0)
    x = upright.x[:, [0, 2, 1]] + [0.01, 0.47, -0.53]
    for up, count in ((0.0, 8), (3.0, None)):
        place = x + [0.0, 0.0, up]
        cloth, state = build([flat, upright._replace(x=place, x_start=place)], Settings())
        pose = state.x + cloth.origin
        report = advance(cloth, state, naive.still(pose), 0, Settings())
        assert (report.crossings or 0) >= (count or 0) and (report.crossings is None) == (count is None)


@pytest.mark.parametrize("high", [0.0, 2.0])
def test_what_crossed_from_the_first_frame_on_is_for_untangle(high):
    """And not where the first frame was clean."""
    cloth, x, body = across()
    about = {"seconds": {}, "worst_stretch": 0.0, "mean_stretch": 0.0, "body_contacts": 0, "cloth_contacts": 0}
    doubts = Doubts(["Coat"])
    for frame, up in ((2, high), (3, 0.0)):
        doubts.look(cloth, x + [0.0, 0.0, up], Report(frame, **about), (body,))
    doubts.look_closer(cloth, x, (body,), 3)
    ((_, words),) = doubts.tell()
    assert words.endswith("Coat through Body was so in frame 2 already: press Untangle before you bake") == (
        high == 0.0
    )


@pytest.mark.parametrize("up", [0.1, 0.6])
def test_what_is_only_shown_to_pass_through_is_told(up):
    """A square is folded sharply along the diagonal that is simulated, and a sheet reaches into the fold or lies above it. In another
    frame more is folded, and nothing is in it.
    """
    about = {"seconds": {}, "worst_stretch": 0.0, "mean_stretch": 0.0, "body_contacts": 0, "cloth_contacts": 0}
    square, other = naive.sheet(2, 2), naive.sheet(2, 2)
    cloth, state = build([square, other], Settings())
    flat = state.x.copy()
    flat[4:, 2] += 2.0
    folded = flat.copy()
    a, b, c, d = square.quads[0]
    folded[d] = folded[b] + [-0.1, 0.1, 0.4]  # the fourth corner above the second: a wedge that is open at these
    folded[4:] = state.x[4:] * 0.5 + folded[[b, d]].mean(axis=0) - [0.1, 0.4, 0.2 - up]
    folded[4:, 2] = up
    both = flat.copy()
    both[[d, 4 + d]] = both[[b, 4 + b]] + [-0.1, 0.1, 0.4]
    doubts = Doubts(["Skirt", "Lining"], [square, other])
    for frame, x in ((1, flat), (2, folded), (3, both), (4, flat)):
        doubts.look(cloth, x, Report(frame, **about))
    assert doubts.look_closer(cloth, flat, (), 4) == 0
    told = [doubt.sentence for doubt in doubts.tell()]
    assert bool(told) == (up == 0.1)
    assert all("Blender shows cloth passing through in frame 2: Lining through Skirt" in words for words in told)


@pytest.mark.parametrize(
    ("start", "up", "told"), [(0, 2.0, True), (0, 0.0, False), (1, 2.0, False), (None, 2.0, False)]
)
def test_what_crosses_where_a_bake_begins_and_is_out_in_its_first_frame_is_told(start, up, told):
    """Not what is still in: that is told of as what passes through; nor where the bake goes on from elsewhere, or nobody knows."""
    cloth, x, body = across()
    doubts = Doubts(["Coat"])
    if start is not None:
        doubts.begin(start, x)
    about = {"seconds": {}, "worst_stretch": 0.0, "mean_stretch": 0.0, "body_contacts": 0, "cloth_contacts": 0}
    for frame in (1, 2):
        doubts.look(cloth, x + [0.0, 0.0, up], Report(frame, **about), (body,))
    words = [doubt.sentence for doubt in doubts.tell() if doubt.frame == 1]
    assert len(words) == told and all("when the bake began: Coat through Body (" in one for one in words)
