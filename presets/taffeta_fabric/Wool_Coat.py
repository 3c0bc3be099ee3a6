# SPDX-License-Identifier: GPL-3.0-or-later
# Thick wool for coats, 481 g/m2.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.481  # [kg/m2] Codim-IPC, second set, wool
cloth.thickness.value = 0.00128  # [m] Codim-IPC, second set, wool
cloth.stretch_stiffness.value = 2931.0  # [N/m] warp of Codim-IPC, second set, wool
cloth.shear_stiffness.value = 475.0  # [N/m] Codim-IPC, second set, wool
cloth.bending_stiffness.value = 6.5e-05  # [N m] E h^3 / 12 (1 - nu^2) from Codim-IPC, second set, wool
cloth.damping.value = 6.0  # [1/s] by eye
cloth.friction.value = 0.4  # [1] ZOZO preset
cloth.weft_stretch = 0.969  # [1] 2840 / 2931: Codim-IPC, second set, wool
cloth.weft_bending = 1.0  # [1] by eye: not measured
cloth.bending_damping = 0.08  # [s] by eye
cloth.poisson = 0.277  # [1] Codim-IPC, after Penava 2014, woven wool
cloth.strain_limit = 0.0  # [1] by eye: none, as no curve was measured
cloth.stiffening = 5.0  # [1] by eye: not measured
