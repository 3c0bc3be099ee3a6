# SPDX-License-Identifier: GPL-3.0-or-later
"""The cloth solver: numpy, scipy and numba, never Blender.

Reading order: `model` (the nouns), `build` (rest data), `step` (one frame), then `elastic`, `integrate`,
`contact`, `ldi`, and `shot` with `cache` for frames on disk. `jit` holds the compiler's flags.
"""
