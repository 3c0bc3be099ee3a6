# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard, after which nothing has passed through anything.

body_pairs                     triangles of cloth and bodies that may meet in a substep: scene, as one mesh in patches;
                               trajectories; patch_bounds and patch_pairs, which of these; separating_axes, which triangles;
                               stencils, what these are made of
impact_zones                   what meets in spite of the response moves as one: clusters, parts of a zone that slide on each other,
                               and cluster_impulses, which part them
locked                         what does not come free so goes a shorter way
poked                          what a body is through already is eased off it
"""
