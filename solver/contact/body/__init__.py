# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth with bodies: association by a layered depth image, response against exact triangles, pinches. In the order of a frame:

mesh, features, samples        all bodies as one mesh, their ridges and tips; points on large triangles of cloth
pinch_start                    what is between two surfaces when the frame begins
view, motion, cell_grid        what of the bodies the cloth can meet in an interval of time; ahead: before the cloth is known
collide                        the calls that a substep makes, from here on down:
association, surface           which triangles a point can meet, by the image; where it is against one of them
response, impact, escape       off the nearest, with friction; how it leaves what it comes upon fast; how it comes out from inside
known                          what it touched before and has hardly left, and goes on to touch
feature_samples, rims          the same for ridges and tips; cloth drawn over the rim of an open body
contacts, constraints          what touches, and that as conditions of the next solve
pinch, calm, slip, give_way    cloth that two surfaces leave no room, what is beside it, when it slips, when bodies lose
flattening                     whether folds are lost to a fall
"""
