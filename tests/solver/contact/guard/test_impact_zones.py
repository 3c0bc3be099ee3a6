# SPDX-License-Identifier: GPL-3.0-or-later
"""Impact zones: how they move, and with whom."""

import numpy as np
from sheets import sheet
from taffeta.solver.build import build
from taffeta.solver.contact.cloth import pairs
from taffeta.solver.contact.guard import impact_zones
from taffeta.solver.model import Settings


def leading(triangles, motions, owner, restitution=0.0):
    """Bodies of one collider that zones can follow."""
    kinds = np.zeros(len(triangles), np.int32), np.array([restitution]), 0.0
    return impact_zones.Leaders(np.array(triangles, np.int32), motions, np.array(owner, np.int32), *kinds)


def meeting(stencils, times, between=(0.0, 0.0, 1.0), friction=0.0):
    """All of these stencils meet, at these times."""
    count = len(stencils)
    about = np.array(times), np.tile(between, (count, 1)), np.full(count, friction)
    return impact_zones.Impacts(np.array(stencils, np.int32), np.arange(count, dtype=np.int32), *about)


def test_a_zone_with_pinned_particles_moves_as_they_do():
    start = np.zeros((4, 3))
    start[:, 0] = range(4)
    way = np.array([[0.0, 0, 1], [0, 0, -1], [0, 0, 3], [0, 0, 5]])
    x, x_from = start + way, start + 7.0
    zones, fresh = impact_zones.single_zones(start, x, x_from), np.ones(4, np.bool_)
    zones.parent[:], zones.share[0] = [0, 0, 0, 3], 0.5
    impact_zones.apply_zones(zones, impact_zones.NO_LEADERS, np.array([1.0, 2.0, 0.0, 1.0]), start, x, x_from, fresh)
    assert x[:, 2].tolist() == [2.0, 1.0, 3.0, 5.0]
    assert fresh.tolist() == [True, True, True, False]
    assert np.array_equal(x_from[0], start[0]) and np.array_equal(x_from[3], start[3] + 7.0)


def test_a_zone_that_meets_a_body_is_advected_with_it():
    """A zone of two particles beside a triangle that turns by 0.4 rad: all distances are as before."""
    start = np.array([[0.0, 0, 1], [1, 0, 0.5], [0, 0, 0], [1, 0, 0], [0, 2, 0]])
    turn = np.array([[np.cos(0.4), -np.sin(0.4), 0.0], [np.sin(0.4), np.cos(0.4), 0.0], [0.0, 0.0, 1.0]])
    end = start @ np.roll(turn, 1, axis=(0, 1)).T + [0.3, 0.2, 0.1]
    x, x_from = np.zeros((2, 3)), np.full((2, 3), 7.0)
    zones, fresh = impact_zones.single_zones(start[:2], x, x_from), np.zeros(2, np.bool_)
    leaders = leading([[2, 3, 4]], np.concatenate([start, end - start], axis=1), np.zeros(3))
    met = meeting([[0, 1, 2, 3]], [0.5])
    assert impact_zones.join(met, False, leaders, zones) and not impact_zones.join(met, False, leaders, zones)
    impact_zones.apply_zones(zones, leaders, np.ones(2), start, x, x_from, fresh)
    assert np.allclose(x, end[:2], atol=1e-12) and np.array_equal(x_from, start[:2])
    assert fresh.all() and zones.advected.all()


def test_of_two_bodies_that_a_zone_meets_the_closest_leads():
    """Whichever is told first, also where two zones become one."""
    start = np.zeros((3, 3))
    leaders = leading(np.zeros((2, 3)), np.zeros((2, 6)), [0, 1])
    for later_first in (True, False):
        for stencils in ([[0, 1, 2, 3], [0, 1, 2, 4]], [[0, 0, 0, 3], [1, 1, 1, 4], [0, 1, 2, 2]]):
            times = np.array([0.8, 0.3, 0.9] if later_first else [0.3, 0.8, 0.9])[: len(stencils)]
            zones = impact_zones.single_zones(start, start.copy(), start.copy())
            assert impact_zones.join(meeting(stencils, times), True, leaders, zones)
            assert zones.leader[0] == (1 if later_first else 0), (later_first, stencils)


def test_what_is_advected_goes_with_the_corners_of_a_triangle_that_is_not_rigid():
    """Of a body that turns between its samples corners go along chords: the triangle shrinks by 0.5 % on the way."""
    start = np.array([[1.0, 0, 0], [0.25, 0.75, 0], [0.25, 0.75, 0.1], [0, 0, 0], [1, 0, 0], [0, 1, 0]])
    turn = np.array([[np.cos(0.2), -np.sin(0.2), 0.0], [np.sin(0.2), np.cos(0.2), 0.0], [0.0, 0.0, 1.0]])
    end = 0.5 * (start + start @ turn.T)  # half a chord
    end[:, 2] = start[:, 2]
    x, x_from, alone = np.zeros((3, 3)), np.zeros((3, 3)), np.ones(3)
    zones = impact_zones.single_zones(start[:3], x, x_from)
    zones.leader[:], zones.share[:] = 0, 0.0
    motions = np.concatenate([start, end - start], axis=1)
    leaders = leading([[3, 4, 5]], motions, np.zeros(3))
    impact_zones.apply_zones(zones, leaders, alone, start[:3].copy(), x, x_from, np.ones(3, np.bool_))
    assert np.linalg.norm(end[4] - end[3]) < 0.996
    assert np.allclose(x, end[:3], atol=1e-12)


def test_a_led_zone_keeps_what_restitution_and_friction_leave_of_its_motion():
    """Huh, Metaxas and Badler 2001, 3.5: on a triangle that rises by 1 mm, two particles of a zone come down askew; one parts
    from it and keeps its way. What is let move no more goes with the body alone.
    """
    start = np.array([[0.2, 0.2, 0.01], [0.3, 0.2, 0.01], [0.2, 0.3, 0.01], [0, 0, 0], [1, 0, 0], [0, 1, 0]])
    way = np.array([[3.0, 0, -4], [0, 0, -2], [1, 2, 3]]) * 1e-3
    motions = np.concatenate([start, np.tile([0.0, 0.0, 1e-3], (6, 1))], axis=1)
    leaders = leading([[3, 4, 5]], motions, np.zeros(3), restitution=0.5)
    met = meeting([[3, 0, 1, 2]], [0.5], (0.0, 0.0, -1.0), friction=0.2)  # the body's vertex is the first side
    for is_gentle in (True, False):
        x, x_from = start[:3] + way, start[:3].copy()
        zones = impact_zones.single_zones(start[:3], x, x_from)
        assert impact_zones.join(met, is_gentle, leaders, zones)
        impact_zones.apply_zones(zones, leaders, np.ones(3), start[:3], x, x_from, np.ones(3, np.bool_))
        # against the body (3, 0, -5), (0, 0, -3), (1, 2, 2) mm; 1.5 of the approach times 0.2 is what friction takes
        left = np.array([[3.0 - 0.2 * 7.5, 0, 2.5], [0, 0, 1.5], [1, 2, 2]]) * 1e-3
        assert np.allclose(x, start[:3] + [0.0, 0.0, 1e-3] + is_gentle * left, atol=1e-15)
        assert np.array_equal(x_from, start[:3]) and zones.advected.all() != is_gentle


def test_all_that_meets_is_found_however_little_room_there_is_at_first(monkeypatch):
    """And the room for it is not that for all pairs."""
    cloth, state = build([sheet("A", 12, 12, 0.02), sheet("B", 10, 10, 0.03)], Settings())
    start = state.x + np.outer(cloth.garment, [0.0, 0.0, 0.01])
    x = start - np.outer(cloth.garment, [0.0, 0.0, 0.02])
    found = pairs.detect(cloth, start, (x - start) * 240, 1 / 240, Settings()).pair_list
    about = found, np.zeros(len(x)), 1 / 240, np.ones(len(x), np.bool_), start, x
    expected = impact_zones.find_impacts(*about)
    assert len(expected.hits) > 20
    for room in (1, len(expected.hits), len(found.gap)):
        monkeypatch.setattr(impact_zones, "FIRST_HITS", room)
        impacts = impact_zones.find_impacts(*about)
        assert all(np.array_equal(one, other) for one, other in zip(impacts, expected, strict=True))
        assert len(impacts.times.base) == max(room, len(expected.hits))
