# SPDX-License-Identifier: GPL-3.0-or-later
"""Many cloths on each other: a velocity field of their common space keeps them apart (Buffet 2021, chapter 3)."""
