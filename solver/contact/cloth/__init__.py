# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth with cloth: who may meet, response, what lies on what. In the order of a substep:

pairs                          what is kept of all that may meet, and when it is looked for anew
look_ahead                     where particles and triangles get meanwhile
proximity, pair_list, welded   candidates, what is known of each, and lists of that; where seams allow cloth to be nearer than it is thick
tangles, traces, layers        what crosses already, how a garment leads out of itself, who is outside
constraints                    what touches, as rows of the solve
deviation, reach, closeness    how far particles have left their ways, which pairs may touch for that, and which a sweep looks at
response, edge_lengths         pairs are parted, with friction, and lengths are brought back
easing                         tangles are drawn apart
restitution                    what a bounce gives back
"""
