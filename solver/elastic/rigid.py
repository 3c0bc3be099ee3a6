# SPDX-License-Identifier: GPL-3.0-or-later
"""Garments that keep their shape, as Buffet (2021, figure 3.15) has among cloth: what they may be asked for.

They have no springs and no hinges; the velocity field moves each as a whole (`velocity_field.rigid`).
"""

import numpy as np

RIGID_DYNAMICS = "XPBD", "IMPLICIT_EULER"  # whose velocities count from where a step began


def which_rigid(garments, settings):
    """(g,) bool: which garments are rigid; None if none is. ValueError where one is asked for what it cannot do."""
    rigid = np.array([garment.model == "RIGID" for garment in garments])
    for number in np.flatnonzero(rigid):
        check_rigid(garments[number], settings)
    return rigid if rigid.any() else None


def check_rigid(garment, settings):
    """Raise a ValueError with one sentence if a rigid garment cannot be simulated."""
    name = garment.name
    if settings.cloth_contact != "VELOCITY_FIELD":
        raise ValueError(
            f"'{name}' is rigid, which the velocity field alone can move: choose Cloth on Cloth: Velocity Field in the "
            f"Scene tab, or another Model."
        )
    if settings.dynamics not in RIGID_DYNAMICS:
        raise ValueError(
            f"'{name}' is rigid, which these dynamics cannot move: choose Linearly Implicit, or another Model."
        )
    if garment.pin_moves or np.max(garment.pin) > 0.0 or np.isfinite(garment.pin_distance).any():
        raise ValueError(
            f"'{name}' is rigid and cannot be pinned: clear its Pin and Max Distance, or make it a collider."
        )
    if garment.pleats is not None:
        raise ValueError(f"'{name}' is rigid and has no pleats: clear them, or choose another Model.")
    if garment.sewing or garment.tear_edges is not None and len(garment.tear_edges):
        raise ValueError(
            f"'{name}' is rigid and can be neither sewn nor torn: switch Sewing off and clear its tear lines."
        )


def without_rigid(cloth):
    """The cloth as contact with bodies sees it, particle by particle: rigid garments it lets through."""
    return (
        cloth if cloth.rigid is None else cloth._replace(meets_bodies=cloth.meets_bodies & ~cloth.rigid[cloth.garment])
    )


def rigid_alone(cloth):
    """The cloth as contact with bodies sees it where it looks after rigid garments alone."""
    return cloth._replace(meets_bodies=cloth.meets_bodies & cloth.rigid[cloth.garment])
