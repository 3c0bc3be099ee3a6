# SPDX-License-Identifier: GPL-3.0-or-later
# Worsted wool suiting, 235 g/m2.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.235  # [kg/m2] Codim-IPC, after Penava 2014, woven wool
cloth.thickness.value = 0.000568  # [m] Codim-IPC, after Penava 2014, woven wool
cloth.stretch_stiffness.value = 97.0  # [N/m] Codim-IPC, after Penava 2014, woven wool
cloth.shear_stiffness.value = 38.0  # [N/m] stretch / (2 (1 + nu)) with nu = 0.277 from the same source
cloth.bending_stiffness.value = 1e-05  # [N m] by eye: bending length 1.6 cm; Cusick drape of suiting is 40 to 70 %
cloth.damping.value = 4.0  # [1/s] by eye
cloth.friction.value = 0.4  # [1] ZOZO preset
cloth.weft_stretch = 1.0  # [1] by eye: measured along one thread alone
cloth.weft_bending = 1.0  # [1] by eye: not measured
cloth.bending_damping = 0.05  # [s] by eye
cloth.poisson = 0.277  # [1] Codim-IPC, after Penava 2014, woven wool
cloth.strain_limit = 0.085  # [1] Codim-IPC, after Penava 2014, woven wool
cloth.stiffening = 5.0  # [1] by eye: not measured
