# SPDX-License-Identifier: GPL-3.0-or-later
"""The rest shape of a frame: two shapes blended, and what cloth keeps of how it was bent and stretched.

Rest lengths and angles go straight from the garment's own shape to its second one. Plastic cloth is Bingham's solid (Lubliner
2008, section 3.1): as long as a hinge is bent by less than a yield angle from rest, or a spring lengthened by less than a
yield strain, it is elastic. What is beyond flows, at a rate r: of the excess e the part e (1 - exp(-r dt)) is added to the
rest angle, or to the rest length, and stays. So cloth that is bent for long by the angle a, and let go, keeps a less the yield.
Only lengthening stays: what is pushed together folds.

Both are looked at once a frame, at its end: `State.plastic` says it all, and a bake goes on from any frame as if it had
run through. Cloth that neither yields nor has a second shape does not come here.
"""

import numpy as np

from .elastic.bands import bands_at, shortened
from .elastic.bending import angles_of, hinge_weights
from .elastic.masses import sizes
from .elastic.pleats import check_pleats, fold_angles
from .geometry.topology import clean_faces
from .integrate.stiffness_matrix import lay_out
from .kernel.functions import exp
from .kernel.memo import remembered
from .model import Plastic, Second

BEND_YIELD, BEND_RATE, STRETCH_YIELD, STRETCH_RATE = range(4)  # columns of `FrameInput.yields`
MOST_PLASTIC_ANGLE = np.radians(160.0)  # rest angles go no farther: beyond, a hinge can snap over to the other side


def check_rest(garment):
    """Raise a ValueError with one sentence if a garment's pleats or its second rest shape cannot be."""
    name, count, other = garment.name, len(garment.x), garment.x_second
    check_pleats(name, count, garment.pleats, garment.model)
    if other is not None and (np.shape(other) != (count, 3) or not np.isfinite(other).all()):
        raise ValueError(f"'{name}': its second rest shape is not {count} finite positions, as its own is.")


def plastic_of(garments, cloth):
    """`Plastic` of a cloth and zeros for its state; None twice where no garment yields."""
    if not any(garment.yields for garment in garments):
        return None, None
    owner = np.concatenate([cloth.garment[cloth.bend_stencils[:, 0]], cloth.garment[cloth.edges[:, 0]]])
    parts = [
        np.flatnonzero(owner == index) if garment.yields else np.zeros(0, np.int64)
        for index, garment in enumerate(garments)
    ]
    for index, garment in enumerate(garments):
        if garment.yields and garment.bands is not None:  # rubber does not stay longer
            springs = parts[index] - len(cloth.bend_stencils)
            at = np.flatnonzero(springs >= 0)
            on = bands_at(garment, cloth.edges[springs[at]] - cloth.garment_start[index]) >= 0
            parts[index] = np.delete(parts[index], at[on])
    start = np.cumsum([0, *map(len, parts)])
    return Plastic(start, np.concatenate(parts)), np.zeros(start[-1])


def second_of(garments, cloth):
    """`Second` of a cloth; None where no garment has another rest shape."""
    if all(garment.x_second is None for garment in garments):
        return None
    x = [garment.x if garment.x_second is None else garment.x_second for garment in garments]
    x, stencils = np.concatenate(x).astype(np.float64) - cloth.origin, cloth.bend_stencils
    size, ends = np.concatenate([sizes(garment) for garment in garments]), cloth.edges
    length = np.linalg.norm(x[ends[:, 1]] - x[ends[:, 0]], axis=1) * 0.5 * np.einsum("ek->e", size[ends])
    length = np.where(cloth.rest_length > 0.0, length, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        angle = angles_of(x, stencils, hinge_weights(x, stencils))
    angle = np.where(np.isfinite(angle), angle, cloth.rest_angle)
    for garment, first in zip(garments, cloth.garment_start[:-1], strict=True):
        of = cloth.garment[stencils[:, 0]] == cloth.garment[first]
        own = cloth.garment[ends[:, 0]] == cloth.garment[first]
        if garment.x_second is None:
            length[own], angle[of] = cloth.rest_length[own], cloth.rest_angle[of]
            continue
        if garment.bands is not None:
            length[own] *= shortened(garment, cloth.edges[own] - first)
        if garment.pleats is not None:
            triangles = clean_faces(garment.x, np.asarray(garment.triangles)).triangles
            fold, _ = fold_angles(np.asarray(garment.x_second, float), triangles, stencils[of] - first, garment.pleats)
            angle[of] = np.where(np.isnan(fold), angle[of], fold)
    return Second(length, angle)


def kept_rest(cloth, spring, hinge):
    """The fields of a cloth about its rest shapes, of some of its springs (e,) bool and hinges (b,) bool alone."""
    second, plastic = cloth.second, cloth.plastic
    if second is not None:
        second = Second(second.rest_length[spring], second.rest_angle[hinge])
    if plastic is not None:
        kept = np.concatenate([hinge, spring])
        place = np.where(kept, np.cumsum(kept) - 1, -1)
        plastic = plastic._replace(place=np.where(plastic.place >= 0, place[plastic.place], -1))
    return {"second": second, "plastic": plastic}


def at_rest(cloth, state, frame_input):
    """The cloth with the rest shape of a frame that begins with `state`."""
    if cloth.second is None and cloth.plastic is None:
        return cloth
    length, angle = cloth.rest_length, cloth.rest_angle
    if cloth.second is not None and frame_input.rest_blend is not None:
        share = np.asarray(frame_input.rest_blend)[cloth.garment]
        of_spring, of_hinge = share[cloth.edges[:, 0]], share[cloth.bend_stencils[:, 0]]
        length = length + of_spring * (cloth.second.rest_length - length)
        angle = angle + of_hinge * (cloth.second.rest_angle - angle)
    if cloth.plastic is not None and _fits(cloth, state):
        more, longer = _spread(cloth, state.plastic)
        angle = np.where(more != 0.0, np.clip(angle + more, -MOST_PLASTIC_ANGLE, MOST_PLASTIC_ANGLE), angle)
        length = length * (1.0 + longer)
    return _with_rest(cloth._replace(second=None, plastic=None), length, angle)


def _made_of(cloth, length, angle):
    return (*(array for array in cloth if isinstance(array, np.ndarray)), length, angle)


@remembered(2, _made_of)
def _with_rest(cloth, length, angle):
    """The cloth with other rest lengths (e,) [m] and angles (b,) [rad]."""
    ratio = np.divide(length, cloth.rest_length, out=np.ones(len(length)), where=cloth.rest_length > 0.0)
    taut = np.stack([cloth.taut[:, 0] * ratio, cloth.taut[:, 1]], axis=1)
    cloth = cloth._replace(rest_length=length, rest_angle=angle, taut=taut)
    return cloth._replace(matrix=lay_out(cloth))


def flow(cloth, resting, state, frame_input):
    """Let cloth yield at the end of a frame. # output: state.plastic

    cloth : as built; resting : as `at_rest` gave it for this frame
    """
    if cloth.plastic is None or frame_input.yields is None or not _fits(cloth, state):
        return
    garments = frame_input.yields
    part = 1.0 - exp(-frame_input.duration * garments[:, [BEND_RATE, STRETCH_RATE]])
    of_hinge, of_spring = cloth.garment[cloth.bend_stencils[:, 0]], cloth.garment[cloth.edges[:, 0]]
    bent = angles_of(state.x, cloth.bend_stencils, cloth.bend_weight) - resting.rest_angle
    beyond = np.sign(bent) * np.maximum(np.abs(bent) - garments[of_hinge, BEND_YIELD], 0.0)
    way = state.x[cloth.edges[:, 1]] - state.x[cloth.edges[:, 0]]
    own, now = resting.rest_length, np.sqrt(np.einsum("ei,ei->e", way, way))
    strain = np.divide(now, own, out=np.ones(len(own)), where=own > 0.0) - 1.0
    longer = np.maximum(strain - garments[of_spring, STRETCH_YIELD], 0.0)
    more, before = _spread(cloth, state.plastic)
    more = more + part[of_hinge, 0] * beyond
    before = before + part[of_spring, 1] * longer * (1.0 + before)
    values, known = np.concatenate([more, before]), cloth.plastic.place >= 0
    state.plastic[known] = values[cloth.plastic.place[known]]


def _fits(cloth, state):
    """Whether a state is of this cloth: while playing live, garments may have begun to yield since."""
    return state.plastic is not None and len(state.plastic) == len(cloth.plastic.place)


def _spread(cloth, plastic):
    """Plastic angles (b,) [rad] and strains (e,) of all hinges and springs, 0 where nothing yields."""
    place, count = cloth.plastic.place, len(cloth.rest_angle)
    values = np.zeros(count + len(cloth.rest_length))
    values[place[place >= 0]] = plastic[place >= 0]
    return values[:count], values[count:]
