# SPDX-License-Identifier: GPL-3.0-or-later
"""The cloth solver: numpy, scipy and numba, never Blender. In reading order:

model                          the nouns
check, build                   from garments to one `Cloth`: what physics cannot do without, what never changes; grey: maps of pictures
step                           one frame, a substep as its equations: `integrate`, `elastic`, `forces`, `contact`, `ldi` are below it
rest, refit                    the rest shape of a frame; the cloth of a frame in which settings are animated
join, tear, zips, parts        what is one particle, and until when; a frame in parts, between which something opens
besides_pairs                  cloth on cloth by other means: `velocity_field`, `depth_layers`
filed, flat, sleep             what a file keeps of positions; what lets cloth out of a plane; what rests, and is computed no further
digest                         whether two values are the same
shot, doubts, crossings        frame after frame, on the disk by `cache`; what is told of them, and what passes through what
shown                          quads that Blender cuts otherwise than they are simulated
precompile                     kernels ahead of a bake; `kernel`: what all of them are made with

`untangle` and `correct` are for cloth that is not simulated: layers at rest, and frames that are baked.
"""
