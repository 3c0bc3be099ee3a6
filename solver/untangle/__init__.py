# SPDX-License-Identifier: GPL-3.0-or-later
"""Distance fields of garments, and untangling layers at rest with them (Buffet 2021, chapter 2)."""

DEFAULT_DEPTH = 0.08  # [m] that layers may be in each other
ALLOWED_STRETCH = 0.1  # part of their lengths that edges may change by


def untangles(settings) -> bool:
    """Whether a bake with these `Settings` takes cloth apart frame by frame; where pairs ease it apart in each substep it need not."""
    return settings.untangle_each and settings.cloth_contact not in ("PAIRS", "BOTH")
