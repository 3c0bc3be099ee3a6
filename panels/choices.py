# SPDX-License-Identifier: GPL-3.0-or-later
"""What there is to choose from for the whole bake: identifiers of the solver, names, and a sentence that menus show."""

# Identifiers are those of `solver.model.CLOTH_CONTACTS`.
CLOTH_CONTACTS = (
    (
        "PAIRS",
        "Pairs",
        "Every pair of triangles that may meet is looked after, and nothing passes through: for garments, "
        "from a start in which nothing crosses",
        0,
    ),
    (
        "VELOCITY_FIELD",
        "Velocity Field",
        "A velocity field keeps layers apart by about an edge of the mesh. Never locks, tangled or not, and costs the "
        "same however cloth lies: for heaps of many garments. Shallow crossings can occur. Garments that meet a "
        "common one are kept apart, too",
        1,
    ),
    (
        "BOTH",
        "Both",
        "The velocity field first, then pairs: heaps in which nothing may cross. Needs a start without crossings, and "
        "the time of both",
        2,
    ),
    (
        "DEPTH_SEQUENCES",
        "Depth Sequences",
        "Layers keep the order in which they lie on each other, seen along gravity in a depth image of the cloth: the "
        "fastest, for previews of layers that lie. Shallow crossings occur; cloth beside cloth is not seen",
        3,
    ),
    (
        "DEPTH_STICKS",
        "Depth Sticks",
        "Each vertex is kept on its side of the triangles that a depth image finds at its place, from all directions and "
        "with friction: for previews of piles of few sheets and, with 20 Substeps, of folds. Cloth that crumples passes through itself and shakes",
        4,
    ),
)

# Identifiers are those of `solver.model.BROAD_PHASES`.
BROAD_PHASES = (
    (
        "TREE",
        "Tree",
        "A tree of boxes over the cloth, fitted anew in each search and shared out to all processors: the faster one, "
        "by far where much cloth lies together",
        0,
    ),
    (
        "HASH",
        "Hash",
        "Boxes of the cloth are entered in a table by where they are in space, one processor alone: slower in all that "
        "was measured, here to compare with",
        1,
    ),
)

# Identifiers are those of `solver.model.BODY_SEARCHES`.
BODY_SEARCHES = (
    (
        "FOOTPRINTS",
        "Footprints",
        "Each triangle once, larger by its own motion, in every pixel that it touches: nothing is missed, at any size of "
        "the image",
        0,
    ),
    (
        "FULL_IMAGES",
        "Three Full Images",
        "All triangles along each of three axes at pixel centres, and of those at a point's place the closest alone, as "
        "Bargmann had it in 2003: slower; what is thin or moves fast comes through, and pulls cloth long",
        1,
    ),
    (
        "GROWN",
        "Grown Image",
        "One image along gravity, grown by a pixel, as Bargmann began in 2003: steep sides and thin parts are missed, and "
        "cloth trembles there",
        2,
    ),
)

# Identifiers are those of `operators.bake.images`.
BODY_IMAGES = (
    (
        "AUTOMATIC",
        "Automatic",
        "The graphics card, wherever Blender has a graphics context and images cost less than a tenth of a frame "
        "with it, as the first frames show; else the processor",
        0,
    ),
    (
        "CARD",
        "Graphics Card",
        "The graphics card, whatever that costs; a bake without a graphics context does not begin",
        1,
    ),
    ("PROCESSOR", "Processor", "The processor: no graphics context is looked for", 2),
)

# Identifiers are those of `solver.model.DYNAMICS`.
DYNAMICS = (
    (
        "XPBD",  # as files keep it
        "Linearly Implicit",
        "Springs, pins and supports solved together in small substeps, each by linearly implicit Euler: one Newton step, "
        "solved by preconditioned conjugate gradients. Fast, calm, for every shot",
        0,
    ),
    (
        "IMPLICIT_EULER",
        "Implicit Euler",
        "The same equations solved until they hold, a tenth of the speed: when a "
        "stretch must be right to the digit, or as a check on Linearly Implicit",
        1,
    ),
    (
        "IMPLICIT_THETA",
        "Implicit Theta",
        "Solved as fully at a point between the substep's ends: keeps more motion than "
        "implicit Euler, for lively cloth in few substeps",
        2,
    ),
    ("EULER", "Euler", "Order 1. Feeds every oscillation: tens of thousands of steps a frame, only to compare", 3),
    (
        "SYMPLECTIC_EULER",
        "Symplectic Euler",
        "Order 1, keeps energy. The cheapest explicit one, for soft cloth that swings freely",
        4,
    ),
    ("HEUN", "Heun", "Order 2, feeds oscillations slowly: to compare, Verlet does better for less", 5),
    ("MIDPOINT", "Midpoint (RK2)", "Order 2, feeds oscillations slowly: to compare, Verlet does better for less", 6),
    ("RK4", "Runge-Kutta 4", "Order 4. For reference solutions of cloth that touches nothing", 7),
    ("LEAPFROG", "Leapfrog", "Order 2, keeps energy over thousands of swings: for free motion without damping", 8),
    ("VERLET", "Velocity Verlet", "Order 2, keeps energy. The explicit one to try first: soft cloth, free motion", 9),
    ("BEEMAN", "Beeman", "Order 2, the path of Verlet with better velocities: to compare energies", 10),
    ("GEAR", "Gear (order 5)", "Order 5, but the smallest steps: for smooth and slow motion where digits count", 11),
    (
        "THETA",
        "Explicit Theta",
        "Order 2: Heun's method, its second slope asked for twice, which feeds nothing: to compare",
        12,
    ),
    (
        "ADAPTIVE_MIDPOINT",
        "Midpoint, adaptive (RK2A)",
        "Midpoint with steps that are halved where it is off by a micron",
        13,
    ),
    (
        "ADAPTIVE_RK4",
        "Runge-Kutta 4, adaptive (RK4A)",
        "Runge-Kutta 4 with steps that are halved where it is off by a micron",
        14,
    ),
)
