# SPDX-License-Identifier: GPL-3.0-or-later
"""How what is moved takes its neighbours along: against the closed forms of chains."""

import numpy as np
from taffeta.solver.correct.ease import Easing, eased, make_net, relaxed


def chain(count, step=0.02):
    x = np.zeros((count, 3))
    x[:, 0] = np.arange(count) * step
    return make_net(x, np.stack((np.arange(count - 1), np.arange(1, count)), axis=1))


def angle(reach):
    """By which u falls off from link to link: u_k = sinh of it, where c (u_k-1 - 2 u_k + u_k+1) = u_k, c = reach^2."""
    return np.arccosh(1.0 + 0.5 / reach**2)


def test_over_the_cloth_it_falls_off_as_the_screened_equation_says():
    net, radius = chain(301), 0.06
    held, target = np.zeros((1, 301), bool), np.zeros((1, 301, 3))
    held[0, 150], target[0, 150] = True, (0.01, -0.02, 0.03)
    u = eased(target, held, net, Easing(radius, 5.0))
    far = np.abs(np.arange(301) - 150)
    reach = 5 * 3 + 1  # links at which nothing is moved: 5 radii of 3 links
    wanted = np.where(far < reach, np.sinh((reach - far) * angle(3.0)), 0.0) / np.sinh(reach * angle(3.0))
    assert np.abs(u[0] - wanted[:, None] * target[0, 150]).max() < 1e-7
    assert not u[0, far >= reach].any()


def test_over_frames_it_falls_off_to_nothing_where_frames_are_left_alone():
    net = make_net(np.zeros((1, 3)), np.empty((0, 2), int))
    held, target = np.zeros((20, 1), bool), np.zeros((20, 1, 3))
    held[6], target[6] = True, 0.01
    u = eased(target, held, net, Easing(0.0, 4.0, opens=True))[:, 0, 0]
    before, after = np.arange(7), np.arange(13, -1, -1)
    assert np.abs(u[:7] - 0.01 * np.sinh((before + 1) * angle(4.0)) / np.sinh(7 * angle(4.0))).max() < 1e-8
    # the frame after the last one is as the last: even about it
    even = np.cosh((after + 0.5) * angle(4.0)) / np.cosh(13.5 * angle(4.0))
    assert np.abs(u[6:] - 0.01 * even).max() < 1e-8


def test_a_wave_of_cloth_loses_what_implicit_smoothing_takes():
    count, radius = 200, 0.05
    net = chain(count)
    wave = 2 * np.pi * 31 / count
    x = np.zeros((1, count, 3))
    x[0, :, 2] = np.cos(wave * (np.arange(count) + 0.5) / 2)  # free at its ends
    kept = 1.0 / (1.0 + (radius / 0.02) ** 2 * (2.0 - 2.0 * np.cos(wave / 2)))
    assert 0.2 < kept < 0.9
    assert np.abs(relaxed(x, net, radius)[0, :, 2] - kept * x[0, :, 2]).max() < 1e-5
