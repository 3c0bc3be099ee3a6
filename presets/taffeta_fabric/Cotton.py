# SPDX-License-Identifier: GPL-3.0-or-later
# Plain woven cotton, a shirt of 150 g/m2.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.15  # [kg/m2] Codim-IPC, after Penava 2014, woven cotton
cloth.thickness.value = 0.000318  # [m] Codim-IPC, after Penava 2014, woven cotton
cloth.stretch_stiffness.value = 3650.0  # [N/m] mean of warp 2800 and weft 4501: Codim-IPC, second set, cotton
cloth.shear_stiffness.value = 194.0  # [N/m] Codim-IPC, second set, cotton
cloth.bending_stiffness.value = 1e-05  # [N m] by eye: bending length 1.9 cm, drape in the Cusick band
cloth.damping.value = 2.0  # [1/s] by eye
cloth.friction.value = 0.35  # [1] ZOZO preset
