# SPDX-License-Identifier: GPL-3.0-or-later
"""The cloth solver: numpy, scipy and numba, never Blender.

Reading order: `model` (the nouns), `build` (what never changes), `step` (one frame), then `elastic`, `integrate`,
`contact`, `ldi`, and `shot` with `cache` for frames on disk. `kernel.jit` holds the compiler's flags.
"""
