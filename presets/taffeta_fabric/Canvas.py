# SPDX-License-Identifier: GPL-3.0-or-later
# Cotton canvas, 294 g/m2: bags, tents, workwear.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.294  # [kg/m2] Codim-IPC, second set, canvas
cloth.thickness.value = 0.00053  # [m] Codim-IPC, second set, canvas
cloth.stretch_stiffness.value = 2844.0  # [N/m] warp of Codim-IPC, second set, canvas
cloth.shear_stiffness.value = 1065.0  # [N/m] Codim-IPC, second set, canvas
cloth.bending_stiffness.value = 2.5e-05  # [N m] E h^3 / 12 (1 - nu^2) from Codim-IPC, second set, canvas
cloth.damping.value = 4.0  # [1/s] by eye
cloth.friction.value = 0.5  # [1] by eye, as denim
cloth.weft_stretch = 3.691  # [1] 10496 / 2844: Codim-IPC, second set, canvas
cloth.weft_bending = 1.0  # [1] by eye: not measured
cloth.bending_damping = 0.06  # [s] by eye
cloth.poisson = 0.25  # [1] by eye, as woven cotton
cloth.strain_limit = 0.0  # [1] by eye: none, as no curve was measured
cloth.stiffening = 5.0  # [1] by eye: not measured
