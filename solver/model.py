# SPDX-License-Identifier: GPL-3.0-or-later
"""The nouns of the solver: named tuples of arrays, SI units, world space, float64.

Blender (or a test) makes `Garment`s; `build.build` turns them into one `Cloth`; a shot feeds one `FrameInput` a frame;
`step.advance` changes a `State` in place and returns a `Report`. All positions are relative to `Cloth.origin`, so that a garment
10 km away loses no digits. Index arrays are int32, C-contiguous. Needs numpy only: numba is not imported here.
"""

from typing import NamedTuple

import numpy as np

#: Major and minor of blender_manifest.toml, in each frame's digest: no bake goes on with what another Taffeta has made.
RELEASE = "0.2"
IMPLICIT = "XPBD", "IMPLICIT_EULER", "IMPLICIT_THETA"
EXPLICIT = (
    "EULER", "SYMPLECTIC_EULER", "HEUN", "MIDPOINT", "RK4", "LEAPFROG", "VERLET", "BEEMAN", "GEAR", "THETA",
    "ADAPTIVE_MIDPOINT", "ADAPTIVE_RK4",
)  # fmt: skip
DYNAMICS = IMPLICIT + EXPLICIT
CLOTH_CONTACTS = "PAIRS", "VELOCITY_FIELD", "BOTH", "DEPTH_SEQUENCES", "DEPTH_STICKS"
BROAD_PHASES = "TREE", "HASH"
BODY_SEARCHES = "FOOTPRINTS", "FULL_IMAGES", "GROWN"
MODELS = "FABRIC", "MEMBRANE", "SPRINGS", "RIGID"
REFERENCE_FRAME = 1.0 / 24.0  # [s] the frame that `Settings.substeps` is meant for
ATTACHMENT, TACK, TORN = 1, 2, (4, 8)  # bits of `State.broken`; of a vertex' first and second joint on a tear line


class Pleats(NamedTuple):
    """Edges of a garment that are folded at rest (`elastic.pleats`)."""

    edges: np.ndarray  # (p, 2)
    angle: np.ndarray  # (p,) [rad] in the place of the rest shape's; above 0 a mountain on the side of the normals
    stiffness: np.ndarray  # (p,) times as stiff as unfolded cloth


class Bands(NamedTuple):
    """Edges of a garment onto which elastic is sewn (`elastic.bands`)."""

    edges: np.ndarray  # (k, 2)
    length: np.ndarray  # (k,) part of the edge's length that it strives for, between 0 and 1
    tension: np.ndarray  # (k,) [N] that it pulls with where the edge has its full length


class Garment(NamedTuple):
    """One garment at rest, as the animator sees it: a mesh and a physical value per vertex."""

    name: str  # the object's name, used in every message about this garment
    x: np.ndarray  # (n, 3) [m] rest positions: edge lengths and angles are measured here
    x_start: np.ndarray  # (n, 3) [m] where the simulation starts (often equal to x), world space
    triangles: np.ndarray  # (t, 3) triangulated faces
    quads: np.ndarray  # (q, 4) faces that are quads in the mesh, in order round the face; (0, 4) if none
    edges: np.ndarray  # (e, 2) the mesh's own edges, loose ones included
    uv: np.ndarray | None  # (t, 3, 2) pattern-space coordinates per triangle corner, u along the warp
    mass: np.ndarray  # (n,) [kg/m2] area density
    thickness: np.ndarray  # (n,) [m]
    stretch_stiffness: np.ndarray  # (n,) [N/m] tension per width and strain of a strip along the warp
    shear_stiffness: np.ndarray  # (n,) [N/m]
    bending_stiffness: np.ndarray  # (n,) [N m] plate rigidity against curving the warp
    damping: np.ndarray  # (n,) [1/s] rate at which neighbours lose their relative velocity
    friction: np.ndarray  # (n,) Coulomb coefficient
    pin: np.ndarray  # (n,) in [0, 1]: 0 free, 1 follows the animated pose exactly
    pin_distance: np.ndarray  # (n,) [m] largest distance from the animated pose; inf where free
    layer: int  # 0 is innermost
    self_collision: bool
    meets: tuple[bool, ...] | None = None  # whether it may touch each garment of the bake, in order; None: all
    meets_bodies: np.ndarray | None = None  # (n,) bool: False where bodies let it through; None: nowhere
    meets_itself: np.ndarray | None = None  # (n,) bool: False where its own folds do; None: nowhere
    restitution: float = 0.0  # of cloth on cloth, in [0, 1]: between two garments the root of both ones' product
    pin_moves: bool = False  # whether frames say anew how firmly it is pinned (`FrameInput.pin`)
    shrink: np.ndarray | None = None  # (n,) part by which cloth is smaller than its rest shape, below 1; None: 0
    sewing: bool = False  # whether edges without a face pull shut
    sewing_time: float = 0.5  # [s] in which they do
    sewing_force: float = np.inf  # [N] that each of them pulls with at most
    sewing_speed: float = 0.5  # [m/s] at which the ends of each come together at most
    seam_bending: float = 0.0  # times as stiff against bending as the cloth a seam is that is welded
    model: str = "FABRIC"  # one of MODELS: elastic/fabric or membrane, and bending; or elastic/network
    weft_stretch: float = 1.0  # stretch stiffness along the weft, in that along the warp
    weft_bending: float = 1.0  # the same of the rigidity
    bending_damping: float = 0.0  # [s] retardation time of bending (`bending.slowed`)
    poisson: float = 0.0  # part of its lengthening by which a strip narrows; geometric mean of warp's and weft's
    strain_limit: float = 0.0  # strain of a thread beyond which it is stiffer; 0: it never is
    stiffening: float = 5.0  # how many times as stiff it is there
    twins: np.ndarray | None = None  # (k, 2) vertices without faces, and those that they are welded to; None: none
    added_mass: np.ndarray | None = None  # (n,) [kg] that vertices carry, as a button; None: nothing
    tear_edges: np.ndarray | None = None  # (k, 2) edges of borders that lie on each other and hold together; None: none
    tear_strength: np.ndarray | None = None  # (k,) [N/m] tension from which on each does not
    tear_most: int = 4  # vertices that open in a substep at most
    tear_piece: int = 12  # vertices of the smallest piece that comes off
    tear_run_on: float = 0.7  # part of the strength that is left beside what is torn
    zip_edges: np.ndarray | None = None  # (z, 2) seams that open and close by a key (`zips`); None: none
    zip_opens: np.ndarray | None = None  # (z,) how far zips are open, above 0 up to 1, when each does
    pleats: Pleats | None = None
    x_second: np.ndarray | None = None  # (n, 3) [m] a second rest shape, for `FrameInput.rest_blend`; None: none
    yields: bool = False  # whether bending and stretch may stay (`rest`)
    bands: Bands | None = None
    band_pull: float = 1.0  # part of their tension that elastic bands have


class Pattern(NamedTuple):
    """Cloth as it was cut: the vertices of garments at rest, also of those of which seams have made one particle (`join`)."""

    x: np.ndarray  # (m, 3) [m]
    triangles: np.ndarray  # (t, 3) corners of `Cloth.triangles` in it
    place: np.ndarray  # (m,) particle of each vertex; this and the next two are (0,) where no seam is welded
    partner_start: np.ndarray  # (m + 1,) first partner of each vertex
    partner: np.ndarray  # (k,) vertices that are one particle with it


class TearLines(NamedTuple):
    """Where cloth that was cut beforehand holds together until it is torn. A joint is two vertices at one place at rest."""

    joints: np.ndarray  # (j, 2) particles, the lower first
    bit: np.ndarray  # (j,) uint8 of `State.broken` of the first, one of `TORN`
    length: np.ndarray  # (j,) [m] of line that each holds
    strength: np.ndarray  # (j,) [N/m]
    beside: np.ndarray  # (k, 2) joints that are neighbours on a line
    # hinges over the lines and beside them, numbered by the first particle of each place
    bend_stencils: np.ndarray  # (b, 4)
    bend_weight: np.ndarray  # (b, 4)
    rest_angle: np.ndarray  # (b,)
    bend_stiffness: np.ndarray  # (b,)
    bend_damping: np.ndarray  # (b,)
    most: np.ndarray  # (g,) as `Garment.tear_most`, like the next two
    piece: np.ndarray  # (g,)
    run_on: np.ndarray  # (g,)


class SeamHinges(NamedTuple):
    """Hinges over seams, each there while the ends of the two edges that are sewn are one (`elastic.seam_bending`)."""

    bend_stencils: np.ndarray  # (b, 4) ends of the first edge, and the corners opposite on both sides
    others: np.ndarray  # (b, 2) ends of the second edge, that of the first one's start first
    # as the fields of `Cloth`
    bend_weight: np.ndarray
    rest_angle: np.ndarray
    bend_stiffness: np.ndarray
    bend_damping: np.ndarray


class Second(NamedTuple):
    """What the second rest shapes of garments have instead of the first ones'; where there is none, that of the first."""

    rest_length: np.ndarray  # (e,) [m]
    rest_angle: np.ndarray  # (b,) [rad]


class Plastic(NamedTuple):
    """Where `State.plastic` belongs to: of each garment first its hinges, then its springs."""

    start: np.ndarray  # (g + 1,) first number of each garment; as many as the one before where it does not yield
    place: np.ndarray  # (k,) of each number: its hinge, or how many hinges there are plus its spring; -1: it is held


class Cloth(NamedTuple):
    """Every garment of a bake as one particle system; constant during the bake."""

    origin: np.ndarray  # (3,) [m] world position of the local origin of every array below
    garment_start: np.ndarray  # (g + 1,) first particle of each garment
    garment: np.ndarray  # (n,) index of the garment a particle belongs to
    x_rest: np.ndarray  # (n, 3) [m]
    triangles: np.ndarray  # (t, 3)
    mass: np.ndarray  # (n,) [kg] lumped
    inv_mass: np.ndarray  # (n,) [1/kg]; 0 = kinematic (pinned, or loose and following the pose)
    thickness: np.ndarray  # (n,) [m]
    friction: np.ndarray  # (n,)
    damping: np.ndarray  # (n,) [1/s]
    pin: np.ndarray  # (n,) in [0, 1]
    pin_distance: np.ndarray  # (n,) [m]
    layer: np.ndarray  # (n,)
    meets: np.ndarray  # (g, g) bool: which garments touch which; on the diagonal, which touch themselves
    meets_bodies: np.ndarray  # (n,) bool: bodies touch a particle, and faces and edges that it belongs to
    meets_itself: np.ndarray  # (n,) bool: the same of the garment's own folds
    twins: np.ndarray  # (k, 2) kinematic particles, and those that they are welded to, where each frame ends
    # springs, in the order of the tree below, so that neighbours in memory are neighbours in the cloth
    edges: np.ndarray  # (e, 2)
    rest_length: np.ndarray  # (e,) [m]
    edge_stiffness: np.ndarray  # (e,) [N/m]
    edge_damping: np.ndarray  # (e,) [1/s]
    # (e,) bool: False for diagonals of faces, which shear alone lengthens, and for elastic, which is longer than at rest on purpose
    is_mesh_edge: np.ndarray
    taut: np.ndarray  # (e, 2) length [m] beyond which a spring is stiffer, inf: nowhere, and by how much [N/m]
    couples: np.ndarray  # (c, 2) pairs of springs that pull for each other's lengthening
    coupling: np.ndarray  # (c,) [N/m] how hard
    seams: np.ndarray  # (s,) edges that are sewn: their stiffness changes as they close
    seam_force: np.ndarray  # (s,) [N] with which they pull at most
    seam_distance: np.ndarray  # (s,) [m] that contact keeps their sides apart
    seam_speed: np.ndarray  # (s,) [m/s] at which they close at most
    seam_opens: np.ndarray  # (s,) how far its garment's zips are open, from 0 to 1, when each does; inf: it is no zip
    # bending stencils (e0, e1, o0, o1): the shared edge and the two vertices opposite, in that order, too
    bend_stencils: np.ndarray  # (b, 4)
    bend_weight: np.ndarray  # (b, 4) [1/m] gradient of the angle when flat; the rows sum to 0
    rest_angle: np.ndarray  # (b,) [rad] dihedral angle, 0 = flat
    bend_stiffness: np.ndarray  # (b,) [J/rad2]
    bend_damping: np.ndarray  # (b,) [1/s]
    leaf: np.ndarray  # (n,) smallest node that holds the particle, of a tree of groups, heap order (integrate/tree.py)
    matrix: NamedTuple  # springs and hinges as the stiffness matrix (integrate/stiffness_matrix.py)
    pattern: Pattern  # as it was cut
    tears: TearLines | None = None  # None: nothing can tear
    seam_hinges: SeamHinges | None = None  # None: no seam resists bending
    second: Second | None = None
    plastic: Plastic | None = None
    rigid: np.ndarray | None = None  # (g,) bool: garments that keep their shape (velocity_field/rigid); None: none
    restitution: np.ndarray | None = None  # (g,) of each garment; None: 0
    grain: float = 0.0  # [m] by which files may bring two particles nearer to each other, in a frame (`filed`)


class State(NamedTuple):
    """All that changes from frame to frame; a checkpoint is a `State` and nothing else. It says what is welded, too: what is at one
    place with one velocity, to the bit (`join`)."""

    x: np.ndarray  # (n, 3) [m], relative to Cloth.origin
    v: np.ndarray  # (n, 3) [m/s]
    broken: np.ndarray | None = None  # (n,) uint8: a particle's broken ties, `ATTACHMENT`, `TACK`, `TORN`; None: none
    plastic: np.ndarray | None = None  # (k,) rest angles [rad] and strains that stayed, as of `Plastic`; None: none can
    still: np.ndarray | None = None  # (g, 2) of garments: [s] slow for so long, and what it lay on (`sleep`)


class Collider(NamedTuple):
    """A body over one frame: its vertices at s + 1 equally spaced times, both ends of the frame included."""

    name: str
    x: np.ndarray  # (s + 1, m, 3) [m] world space
    triangles: np.ndarray  # (t, 3)
    friction: float  # Coulomb coefficient
    restitution: float  # in [0, 1]
    aura: float  # [m] shell around the body that cloth is kept out of
    meets: tuple[bool, ...] | None = None  # whether each garment may touch it, in order; None: all
    viscosity: float = 0.0  # [1/s] viscous friction: part of its speed along the surface that cloth loses, over time


class FieldNumbers(NamedTuple):
    """What of a force field can move or be keyframed, at one instant. Lengths are in Blender units (`Field.unit`)."""

    x: tuple[float, float, float]  # [m] centre, world space
    axis: tuple[float, float, float]  # its z axis, world space, length 1
    strength: float  # [Pa] force per area of cloth; per unit of distance where the kind says so
    flow: float  # [Pa s/m] resistance of what flows
    wind_factor: float  # part that acts along the cloth's normal alone, in [0, 1]
    damping: float  # of HARMONIC a pure number; of DRAG [Pa s/m]
    size: float  # of the eddies of TURBULENCE
    rest_length: float  # of HARMONIC
    noise: float  # [Pa] chance added to the strength
    power: float  # of the falloff with distance
    least: float  # distance up to which there is no falloff
    most: float  # distance beyond which there is no field; below 0 everywhere
    radial_power: float  # the same across the axis: distances of a TUBE, degrees of a CONE
    radial_least: float
    radial_most: float


class Field(NamedTuple):
    """A force field over one frame."""

    name: str
    kind: str  # FORCE, WIND, VORTEX, MAGNET, HARMONIC, TURBULENCE or DRAG
    shape: str  # what distance is measured to: POINT, LINE or PLANE
    falloff: str  # SPHERE, TUBE or CONE
    side: int  # 1 only where the axis points to, -1 only behind, 0 both
    inverse_square: bool  # of FORCE: falls with the square of the distance
    in_world: bool  # of TURBULENCE: its pattern stands still in the world
    seed: int
    unit: float  # [m] a Blender unit
    start: FieldNumbers  # at the start of the frame
    end: FieldNumbers


class Attachments(NamedTuple):
    """Particles that springs pull to points that move, as on a body, over one frame."""

    particles: np.ndarray  # (m,)
    targets: np.ndarray  # (s + 1, m, 3) [m] those points, world space, at the times of `FrameInput.targets`
    stiffness: np.ndarray  # (m,) [N/m]
    damping: np.ndarray  # (m,) [N s/m] against the point's velocity
    breaking: np.ndarray  # (m,) [N] of the spring, from which on it is broken for good; inf: it never is


class Tacks(NamedTuple):
    """Threads from particles to points on faces of other cloth, in one frame."""

    stencils: np.ndarray  # (k, 4) the particle, and the three corners of the face
    weight: np.ndarray  # (k, 3) barycentric, of the point
    length: np.ndarray  # (k,) [m] up to which a thread is slack
    stiffness: np.ndarray  # (k,) [N/m] beyond that
    breaking: np.ndarray  # (k,) [N] from which on it is broken for good; inf: it never is


class Ride(NamedTuple):
    """The rigid motion of what a garment rides on, over one frame, and the part of it that the cloth does not feel."""

    unfelt: float  # in [0, 1]: 0 feels all of it, 1 rides along as if nothing moved
    before: np.ndarray  # (2, 3) velocity [m/s] and angular velocity [rad/s] at the end of the frame before
    velocity: np.ndarray  # (s, 2, 3) the same in s equal parts of this frame
    place: np.ndarray  # (s + 1, 3) [m] the point that has these velocities, world space, at their ends


class FrameInput(NamedTuple):
    """Everything that Blender says about the time between two frames."""

    duration: float  # [s] from the frame before to this one
    targets: np.ndarray  # (s + 1, n, 3) [m] the garments' own animated pose, world space, all garments in order
    colliders: tuple[Collider, ...]
    gravity: np.ndarray  # (3,) [m/s2]
    wind: np.ndarray  # (3,) [m/s] velocity of the air
    to_object: np.ndarray | None = None  # (g, 4, 4) world to object space of each garment at this frame; None: the same
    fields: tuple[Field, ...] = ()
    field_weight: tuple[float, ...] | None = None  # part of the fields that each garment feels; None: all of them
    pressure: tuple[float, ...] | None = None  # [Pa] inside each garment; None: no pressure
    volume: tuple[float, ...] | None = None  # [m3] at which the gas in each garment is at ease; 0: the pressure is kept
    pin: np.ndarray | None = None  # (n,) pin weights in this frame; None: those of the cloth
    changed: tuple[tuple[str, float | tuple[float, ...]], ...] = ()  # `Settings` that are keyframed: name, value now
    noise_table: tuple[int, ...] | None = None  # (256,) order of the gradients of turbulence; None: one of our own
    pin_distance: np.ndarray | None = None  # (n,) [m] largest distances from the pose in this frame; None: the cloth's
    attachments: Attachments | None = None
    tacks: Tacks | None = None
    rides: tuple[Ride | None, ...] | None = None  # of each garment; None: what moves, it feels
    blend: np.ndarray | None = None  # (n, 2) pull to the pose, per mass: stiffness [1/s2], damping [1/s]; None: none
    tear_strength: tuple[float, ...] | None = None  # part of it that each garment has against tearing; None: all
    zip_open: tuple[float, ...] | None = None  # how far each garment's zips are open, 0 to 1; None: not at all
    garments: tuple[Garment, ...] | None = None  # as they are now, if something of them is animated (`refit`)
    rest_blend: tuple[float, ...] | None = None  # of each garment, 0 its own rest shape, 1 the second; None: its own
    yields: np.ndarray | None = None  # (g, 4) yield angle [rad], rate [1/s], strain, rate [1/s] (`rest`); None: elastic


class Settings(NamedTuple):
    """Numbers that hold for the whole bake, save for what a frame says in `FrameInput.changed`."""

    dynamics: str = "XPBD"  # one of DYNAMICS: what moves the particles in a substep
    theta: float = 0.6  # of IMPLICIT_THETA: 0.5 damps nothing, 1 is implicit Euler
    substeps: int = 10  # per frame of 1/24 s; scaled with the frame's duration so that dt stays the same
    small_steps: float = 1.0  # times as many small steps in a substep as its turning asks for; 0: one
    iterations: int = 16  # of a solve, at most
    tolerance: float = 0.05  # part of the residual at which the solve stops before that
    air_density: float = 1.225  # [kg/m3] at 15 degrees Celsius and 1 atm (ISO 2533)
    air_drag: float = 1.2  # drag coefficient of a sheet broadside on
    air_lift: float = 0.0  # lift coefficient
    constant_force: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [N/kg] on every particle
    random_force_min: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [N/kg] limits per axis
    random_force_max: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [N/kg]
    seed: int = 0
    pin_rate: float = 60.0  # [1/s] pull of a half-weight pin towards the animated pose
    neighbour_reach: float = 1.5  # search distance of cloth on cloth, in units of contact distance plus motion
    ldi_resolution: int = 64  # pixels along the longest side of the box
    body_search: str = BODY_SEARCHES[0]  # in which images what may be touched is looked for (`ldi.search`)
    max_speed: float = 50.0  # [m/s] faster particles are slowed to this
    sleep_speed: float = 0.01  # [m/s] a garment that has been slower for a while comes to rest (`sleep`); 0: never
    cloth_restitution: float = 0.0  # the least that every garment has
    guard_bodies: bool = True  # whether nothing may pass between cloth and bodies, at a quarter to a half more time
    broad_phase: str = BROAD_PHASES[0]  # how patches that may meet are found: the same bits in about the same time
    # one of CLOTH_CONTACTS: contact/cloth; velocity_field/avoid; that and then contact/cloth; depth_layers: above, and sticks
    cloth_contact: str = "PAIRS"
    field_cell: float = 1.5  # of the velocity field: side of its cells, in mean edges
    field_isotropic: bool = False  # whether it may not converge in any direction; else along the layers' normals alone
    untangle_each: bool = False  # whether what crosses where a frame ends is taken apart (`untangle.untangles`)


class LDI(NamedTuple):
    """A three-directional layered depth image: per direction and pixel the hits of triangles (Bargmann 2003, 3.4).

    Direction d looks along axis d; its image axes are (d + 1) % 3 and (d + 2) % 3. Pixel (i, j) of direction d is
    number p = first_pixel[d] + i * shape[(d + 2) % 3] + j; its hits are pixel_start[p] to pixel_start[p + 1], sorted
    by depth (contact's own image: by triangle). An image of one direction has no pixels in the other two.
    """

    low: np.ndarray  # (3,) [m] corner of the box
    pixel: float  # [m] side of a pixel, the same in all three images
    shape: np.ndarray  # (3,) pixels of the box along each axis
    first_pixel: np.ndarray  # (4,) first pixel of each direction, and the number of pixels
    pixel_start: np.ndarray  # (p + 1,) first hit of each pixel, offsets into the arrays below
    depth: np.ndarray  # (h,) [m] along the direction's axis
    triangle: np.ndarray  # (h,) index into the collider's triangles
    front: np.ndarray  # (h,) bool: the surface faces against the direction (a ray enters here)


class Trouble(NamedTuple):
    """What contact could not do in a substep as it usually does."""

    garments: tuple[int, ...]  # whose cloth it was about
    bodies: tuple[str, ...]  # that it could not be kept off; none: what held it back pulled it too long


class Report(NamedTuple):
    """What one frame cost and what it looks like; a figure that was not computed is None."""

    frame: int
    seconds: dict[str, float]  # by task: integration, volume collision, self-collision, LDI generation
    worst_stretch: float  # longest mesh edge over its rest length, minus 1
    mean_stretch: float
    body_contacts: int
    cloth_contacts: int
    # Pairs of triangles at its end, as in files; with bodies only where nothing is pinched, or in a bake's last frame, or `let_in`
    crossings: int | None = None
    seam_gap: float | None = None  # [m] of the seam that is open farthest, in the last frame of a bake
    pinched: np.ndarray | None = None  # indices of pinched vertices
    steps: int | None = None  # solved one after the other
    roughness: float | None = None  # [rad] mean angle between neighbouring faces
    folded_share: float | None = None  # of neighbours that are folded by over 60 degrees
    taken_again: tuple[Trouble, ...] = ()  # why substeps were taken again with contact in each small step
    let_in: tuple[Trouble, ...] = ()  # what all the same went into bodies
    torn: int = 0  # joints of tear lines that are open
