# SPDX-License-Identifier: GPL-3.0-or-later
# Plain woven cotton, a shirt of 150 g/m2.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.15  # [kg/m2] Codim-IPC, after Penava 2014, woven cotton
cloth.thickness.value = 0.000318  # [m] Codim-IPC, after Penava 2014, woven cotton
cloth.stretch_stiffness.value = 2800.0  # [N/m] warp of Codim-IPC, second set, cotton
cloth.shear_stiffness.value = 194.0  # [N/m] Codim-IPC, second set, cotton
cloth.bending_stiffness.value = 1e-05  # [N m] by eye: bending length 1.9 cm, drape in the Cusick band
cloth.damping.value = 2.0  # [1/s] by eye
cloth.friction.value = 0.35  # [1] ZOZO preset
cloth.weft_stretch = 1.607  # [1] 4501 / 2800: Codim-IPC, second set, cotton
cloth.weft_bending = 1.0  # [1] by eye: not measured
cloth.bending_damping = 0.04  # [s] by eye
cloth.poisson = 0.243  # [1] Codim-IPC, after Penava 2014, woven cotton
cloth.strain_limit = 0.06  # [1] Codim-IPC, after Penava 2014, woven cotton
cloth.stiffening = 5.0  # [1] by eye: not measured
