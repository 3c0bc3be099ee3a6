# SPDX-License-Identifier: GPL-3.0-or-later
"""Time integration. In the order of a frame:

dynamics                       what there is to choose from: by default `pcg`; implicit and explicit, compiled if chosen
substeps, small_steps          how a frame is cut, and each substep, the faster cloth turns
predict                        pins, the prediction, and velocities at the end
attachments, tacks, rides      springs to bodies, threads to cloth, what of a carrier's motion is not felt
pcg                            the solve: over `stiffness_matrix` and `stack_rows`, preconditioned by pieces (`tree`, `preconditioner`), each group of
                               pieces that touch by itself (`pieces`, `groups`); `system`: what it works on
edge_clamp, momentum           what a linear solve takes too far, and what it would lose
"""
