# SPDX-License-Identifier: GPL-3.0-or-later
"""From garments at rest to one `Cloth`: masses, springs, hinges, groups.

Everything is measured here once and stays constant during the bake. A garment may have faces without area, faces
twice, edges with any number of faces, loose edges and loose vertices: each gets what it can, nothing is refused that
physics can do without. What it cannot do without, `check` tells.
"""

from typing import NamedTuple

import numpy as np

from .check import check
from .elastic.bands import lay_bands
from .elastic.bending import bending_rest, slowed, turn_rigidity
from .elastic.fabric import spring_rest, thread_stiffness
from .elastic.masses import LIGHTEST_PARTICLE, masses, sizes
from .elastic.membrane import membrane
from .elastic.network import network
from .elastic.plate import fit_hinges
from .elastic.pleats import pleat_damping, pleated
from .elastic.rigid import which_rigid
from .elastic.seam_bending import seam_hinges
from .elastic.sewing import SEAM_STIFFNESS, find_seams, seam_damping, seam_numbers
from .elastic.springs import taut_rest
from .geometry.tear_lines import tear_lines
from .geometry.topology import Hinges, bend_hinges, clean_faces, find_hinges, find_springs
from .integrate.stiffness_matrix import lay_out
from .integrate.tree import grow
from .model import DYNAMICS, Cloth, Pattern, State
from .rest import kept_rest, plastic_of, second_of

SPRING_FIELDS = "edges", "rest_length", "edge_stiffness", "edge_damping", "is_mesh_edge", "taut"
HINGE_FIELDS = "bend_stencils", "bend_weight", "rest_angle", "bend_stiffness", "bend_damping"
ALIKE = "edge_damping", "taut", "damping", "pin", "pin_distance", "layer"  # in most cloth; no kernel reads them
SEAM_FIELDS = "seam_force", "seam_distance", "seam_speed", "seam_opens"


class _Part(NamedTuple):
    """What one garment contributes; the fields are those of `Cloth`, with indices into the garment."""

    triangles: np.ndarray
    mass: np.ndarray
    inv_mass: np.ndarray
    edges: np.ndarray
    rest_length: np.ndarray
    edge_stiffness: np.ndarray
    edge_damping: np.ndarray
    is_mesh_edge: np.ndarray
    taut: np.ndarray
    seam_force: np.ndarray
    seam_distance: np.ndarray
    seam_speed: np.ndarray
    seam_opens: np.ndarray
    couples: np.ndarray
    coupling: np.ndarray
    bend_stencils: np.ndarray
    bend_weight: np.ndarray
    rest_angle: np.ndarray
    bend_stiffness: np.ndarray
    bend_damping: np.ndarray


class _Stretched(NamedTuple):
    """What of a garment resists stretching: s springs, c couples of them."""

    pairs: np.ndarray  # (s, 2)
    is_mesh_edge: np.ndarray  # (s,)
    rest_length: np.ndarray  # (s,) [m]
    stiffness: np.ndarray  # (s,) [N/m]
    threads: np.ndarray  # (s,) [N/m] of the thread along each, 0 where none gets taut
    couples: np.ndarray  # (c, 2)
    coupling: np.ndarray  # (c,) [N/m]


def build(garments, settings):
    """Merge garments into one particle system and its state at the start, at rest.

    Parameters
    ----------
    garments : sequence of Garment
    settings : Settings

    Returns
    -------
    cloth : Cloth
    state : State, velocities zero

    Raises
    ------
    ValueError
        No garment at all; or one without faces, without area, with numbers that are not finite, with values out of
        their range or arrays that do not fit each other. The message names the garment.
    """
    if not garments:
        raise ValueError("There is no garment to simulate: enable Taffeta Cloth on a mesh object.")
    if settings.dynamics not in DYNAMICS:
        raise ValueError(f"The dynamics '{settings.dynamics}' do not exist; choose one of {', '.join(DYNAMICS)}.")
    for garment in garments:
        check(garment)
    rigid, counts = which_rigid(garments, settings), [len(garment.x) for garment in garments]
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    parts = [_build_part(garment) for garment in garments]
    joined = _join(parts, start)

    x_start = np.concatenate([garment.x_start for garment in garments]).astype(np.float64)
    # Whole metres: subtracting them is exact for every garment that is nearer to them than to the world's centre.
    origin = np.round(0.5 * (x_start.min(axis=0) + x_start.max(axis=0)))
    x_rest = np.concatenate([garment.x for garment in garments]).astype(np.float64) - origin
    cloth = Cloth(
        origin=origin,
        garment_start=start,
        garment=np.repeat(np.arange(len(garments), dtype=np.int32), counts),
        x_rest=x_rest,
        layer=np.repeat(np.array([garment.layer for garment in garments], dtype=np.int32), counts),
        meets=meetings(garments),
        **{name: mask(garments, name) for name in ("meets_bodies", "meets_itself")},
        **{name: per_vertex(garments, name) for name in ("thickness", "friction", "damping", "pin", "pin_distance")},
        twins=_twins(garments, start),
        **joined,
        matrix=None,
        pattern=Pattern(x_rest, joined["triangles"], *(np.zeros(0, np.int32) for _ in range(3))),
        tears=tear_lines(garments, start, _build_part, HINGE_FIELDS),
        seam_hinges=seam_hinges(garments, start),
        rigid=rigid,
        restitution=np.array([garment.restitution for garment in garments]),
    )
    plastic, set_ = plastic_of(garments, cloth)
    alike = {field: _once(getattr(cloth, field)) for field in ALIKE}
    cloth = cloth._replace(matrix=lay_out(cloth), second=second_of(garments, cloth), plastic=plastic, **alike)
    x = np.ascontiguousarray(x_start - origin)
    return cloth, State(x, np.zeros_like(x), np.zeros(len(x), np.uint8), set_, np.zeros((len(garments), 2)))


def _once(rows):
    """Rows, in memory once where they are all alike, for what no kernel reads: 123 bytes a vertex of plain cloth."""
    return np.broadcast_to(rows[:1].copy(), rows.shape) if len(rows) and (rows == rows[:1]).all() else rows


def repin(cloth, pin):
    """The cloth with other pin weights (n,), for a frame: without the springs and hinges that join what is held."""
    pin = pin.copy()
    np.maximum.at(pin, cloth.twins[:, 1], pin[cloth.twins[:, 0]])
    inv_mass = np.where(pin < 1.0, cloth.inv_mass, 0.0)
    spring = matters(inv_mass, cloth.edges, cloth.couples)
    hinge = bends(cloth.mass, inv_mass, cloth.bend_stencils, cloth.bend_weight)
    cloth = cloth._replace(pin=pin, inv_mass=inv_mass, **kept_parts(cloth, spring, hinge))
    return cloth._replace(matrix=lay_out(cloth))


def kept_parts(cloth, spring, hinge):
    """The fields of a cloth about its springs and hinges, of some of them alone; spring (e,), hinge (b,) bool."""
    kept = {field: getattr(cloth, field)[spring] for field in SPRING_FIELDS}
    kept |= {field: getattr(cloth, field)[hinge] for field in HINGE_FIELDS}
    sewn = spring[cloth.seams]
    kept["seams"] = (np.cumsum(spring) - 1)[cloth.seams[sewn]].astype(np.int32)
    kept |= _keep_couples(spring, cloth.couples, cloth.coupling) | kept_rest(cloth, spring, hinge)
    return kept | {field: getattr(cloth, field)[sewn] for field in SEAM_FIELDS}


def matters(inv_mass, edges, couples):
    """Whether each spring pulls on what is not held, itself or through the springs that it is coupled with."""
    free = np.einsum("ek->e", inv_mass[edges]) > 0.0
    matters = free.copy()
    matters[couples[free[couples].any(axis=1)]] = True
    return matters


def _keep_couples(kept, couples, coupling):
    """What couples springs of which some are `kept` (e,), in the numbers of those."""
    both = kept[couples].all(axis=1)
    couples = (np.cumsum(kept) - 1)[couples[both]]
    return {"couples": couples.astype(np.int32), "coupling": coupling[both]}


def bends(mass, inv_mass, stencils, weight):
    """Whether each hinge has an end that is not held: one with no more weight than rounding does not count."""
    squares = weight**2
    free, all_ends = (np.einsum("hk,hk->h", share[stencils], squares) for share in (inv_mass, 1.0 / mass))
    return free > LIGHTEST_PARTICLE**2 * all_ends


def _build_part(garment):
    """Springs, hinges and masses of one checked garment."""
    x = np.asarray(garment.x, dtype=np.float64)
    x = x - x.mean(axis=0)
    faces = clean_faces(x, np.asarray(garment.triangles))
    if not len(faces.kept):
        raise ValueError(f"'{garment.name}' has no area: all {len(garment.triangles)} faces are points or lines.")
    uv = None if garment.uv is None else np.asarray(garment.uv, dtype=np.float64)[faces.kept]
    if uv is not None and not np.isfinite(uv).all():
        raise ValueError(f"'{garment.name}': the UV map holds numbers that are not finite; unwrap it again.")
    quads, edges = np.asarray(garment.quads), np.asarray(garment.edges)
    springs = find_springs(faces.triangles, quads, edges, len(x))
    mass, inv_mass = masses(garment, faces, springs)
    stretched = _resist_stretch(garment, x, faces, springs, uv)
    pairs, is_mesh_edge, rest_length, stiffness, threads, couples, coupling = stretched
    damping = np.asarray(garment.damping, dtype=np.float64)
    rate, seam = 0.5 * np.einsum("sk->s", damping[pairs]), find_seams(garment, springs, len(pairs))
    rest_length *= 0.5 * np.einsum("sk->s", sizes(garment)[pairs])
    rest_length[seam], stiffness[seam] = 0.0, np.maximum(stiffness[seam], SEAM_STIFFNESS)
    rate[seam] = seam_damping(garment, pairs[seam], stiffness[seam], inv_mass)
    taut = taut_rest(garment, rest_length, np.where(seam, 0.0, threads))
    band = lay_bands(garment, pairs, ~seam, rest_length, stiffness, taut)
    alone = ~band[couples].any(axis=1)
    useful = (stiffness > 0.0) & matters(inv_mass, pairs, couples) & (garment.model != "RIGID")
    hinges = _build_hinges(garment, x, faces, springs, uv, mass, inv_mass)
    return _Part(
        triangles=faces.triangles,
        mass=mass,
        inv_mass=inv_mass,
        edges=pairs[useful],
        rest_length=rest_length[useful],
        edge_stiffness=stiffness[useful],
        edge_damping=rate[useful],
        is_mesh_edge=(is_mesh_edge & ~seam & ~band)[useful],
        taut=taut[useful],
        **{name: value[useful] for name, value in seam_numbers(garment, pairs, seam).items()},
        **_keep_couples(useful, couples[alone], coupling[alone]),
        **hinges,
    )


def _resist_stretch(garment, x, faces, springs, uv):
    """`_Stretched` of a garment as its model has it."""
    stretch, shear, bending = (
        np.asarray(getattr(garment, name), dtype=np.float64)
        for name in ("stretch_stiffness", "shear_stiffness", "bending_stiffness")
    )
    pairs, is_mesh_edge, threads = springs.pairs, springs.is_mesh_edge, np.zeros(len(springs.pairs))
    couples, coupling = np.zeros((0, 2), np.int64), np.zeros(0)
    if garment.strain_limit > 0.0:
        threads = thread_stiffness(x, faces, springs, uv, stretch, garment.weft_stretch)
    if garment.model == "SPRINGS":
        pairs, rest_length, stiffness, is_mesh_edge = network(x, faces, springs, stretch, shear, bending)
        threads = np.where(is_mesh_edge, stiffness, 0.0)
    elif garment.model == "MEMBRANE":
        fabric = stretch, garment.weft_stretch * stretch, shear, np.full(len(x), garment.poisson)
        rest_length, stiffness, couples, coupling = membrane(x, faces, springs, uv, fabric)
    else:
        rest_length, stiffness = spring_rest(x, faces, springs, uv, stretch, garment.weft_stretch, shear)
    return _Stretched(pairs, is_mesh_edge, rest_length, stiffness, threads, couples, coupling)


def _build_hinges(garment, x, faces, springs, uv, mass, inv_mass):
    """The fields of `_Part` about what resists bending; the network of springs has none of it."""
    bending, damping = (
        np.asarray(getattr(garment, name), dtype=np.float64) for name in ("bending_stiffness", "damping")
    )
    hinges = bend_hinges(faces, find_hinges(faces, len(x)), springs, len(x))
    if garment.model in ("SPRINGS", "RIGID"):
        hinges = Hinges(*(array[:0] for array in hinges))
    plain = turn_rigidity(x, faces, uv, hinges, garment.weft_bending)
    hinges = fit_hinges(x, faces, plain, springs.halves, uv, garment.weft_bending)
    hinges, fold = pleated(x, faces.triangles, plain, hinges, garment.pleats)
    changes = garment.yields or garment.x_second is not None
    start = None if changes else np.asarray(garment.x_start, dtype=np.float64)
    stencils, *bend = bending_rest(x, hinges, bending, fold, start)
    movable = bends(mass, inv_mass, stencils, bend[0])
    stencils, weight, rest_angle, bend_stiffness, is_damped = (array[movable] for array in (stencils, *bend))
    folds = x, faces.triangles, stencils, weight, bend_stiffness
    weight = weight / (0.25 * np.einsum("hk->h", sizes(garment)[stencils]))[:, None]  # of smaller triangles
    rate = np.where(is_damped, 0.25 * np.einsum("hk->h", damping[stencils]), 0.0)
    rate += slowed(garment.bending_damping, bend_stiffness, stencils, weight, inv_mass)
    return {
        "bend_stencils": stencils,
        "bend_weight": weight,
        "rest_angle": rest_angle,
        "bend_stiffness": bend_stiffness,
        "bend_damping": pleat_damping(rate, folds, inv_mass, garment.pleats),
    }


def _join(parts, start):
    """Arrays of all parts end to end, indices shifted to the merged particles and springs."""
    joined, springs = {}, np.cumsum([0, *(len(part.edges) for part in parts)])
    for field in _Part._fields:
        arrays = [getattr(part, field) for part in parts]
        if field in ("triangles", "edges", "bend_stencils", "couples"):
            firsts = springs if field == "couples" else start
            arrays = [array + first for array, first in zip(arrays, firsts[:-1], strict=True)]
            joined[field] = np.ascontiguousarray(np.concatenate(arrays), dtype=np.int32)
        else:
            joined[field] = np.concatenate(arrays)
    return joined | in_tree_order(joined)


def in_tree_order(joined):
    """The tree of groups, and springs and hinges in its order."""
    leaf = grow(joined["edges"], joined["rest_length"], len(joined["inv_mass"]))
    result = {"leaf": leaf}
    springs, hinges = (np.argsort(leaf[joined[ends]].min(axis=1), kind="stable") for ends in ("edges", "bend_stencils"))
    for fields, order in ((*SPRING_FIELDS, *SEAM_FIELDS), springs), (HINGE_FIELDS, hinges):
        result |= {field: np.ascontiguousarray(joined[field][order]) for field in fields}
    result["couples"] = np.argsort(springs).astype(np.int32)[joined["couples"]]
    result["seams"] = np.flatnonzero(sewn := result["seam_speed"] > 0.0).astype(np.int32)
    return result | {field: result[field][sewn] for field in SEAM_FIELDS}


def meetings(garments):
    """(g, g) which garments touch which: two of them where each meets the other, one itself where it is to."""
    meets = np.ones((len(garments), len(garments)), bool)
    for row, garment in zip(meets, garments, strict=True):
        if garment.meets is not None:
            if len(garment.meets) != len(garments):
                raise ValueError(
                    f"'{garment.name}' tells of {len(garment.meets)} garments whether it meets them; "
                    f"there are {len(garments)}."
                )
            row[:] = garment.meets
    meets = meets & meets.T
    np.fill_diagonal(meets, [garment.self_collision for garment in garments])
    return meets


def mask(garments, field):
    """(n,) bool: whether particles collide, of one of the garments' masks."""
    masks = (getattr(garment, field) for garment in garments)
    parts = [np.ones(len(g.x), bool) if m is None else m for g, m in zip(garments, masks, strict=True)]
    return np.concatenate(parts).astype(bool)


def _twins(garments, start):
    welded = [g.twins + first for g, first in zip(garments, start, strict=False) if g.twins is not None]
    return np.concatenate([np.zeros((0, 2)), *welded]).astype(np.int32)


def per_vertex(garments, field):
    """(n,) one of the garments' values, end to end."""
    return np.concatenate([np.asarray(getattr(garment, field), dtype=np.float64) for garment in garments])
