# SPDX-License-Identifier: GPL-3.0-or-later
# Light woven silk, 83 g/m2.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.083  # [kg/m2] Codim-IPC, second set, silk
cloth.thickness.value = 0.00018  # [m] Codim-IPC, second set, silk
cloth.stretch_stiffness.value = 774.0  # [N/m] warp of Codim-IPC, second set, silk
cloth.shear_stiffness.value = 103.0  # [N/m] Codim-IPC, second set, silk
cloth.bending_stiffness.value = 8e-07  # [N m] by eye: bending length 1.0 cm, drape in the Cusick band
cloth.damping.value = 1.0  # [1/s] by eye
cloth.friction.value = 0.25  # [1] ZOZO preset
cloth.weft_stretch = 2.313  # [1] 1790 / 774: Codim-IPC, second set, silk
cloth.weft_bending = 1.0  # [1] by eye: not measured
cloth.bending_damping = 0.02  # [s] by eye
cloth.poisson = 0.25  # [1] by eye, as woven cotton
cloth.strain_limit = 0.0  # [1] by eye: none, as no curve was measured
cloth.stiffening = 5.0  # [1] by eye: not measured
