# SPDX-License-Identifier: GPL-3.0-or-later
# Woven polyester, a tablecloth or a light lining, 128 g/m2.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.128  # [kg/m2] Wang et al. 2011, tablecloth
cloth.thickness.value = 0.000252  # [m] Codim-IPC, after Penava 2014, woven polyester
cloth.stretch_stiffness.value = 2090.0  # [N/m] warp of Wang et al. 2011, tablecloth
cloth.shear_stiffness.value = 40.0  # [N/m] Wang et al. 2011, tablecloth
cloth.bending_stiffness.value = 1.11e-05  # [N m] warp 11.1: Wang et al. 2011, tablecloth
cloth.damping.value = 1.5  # [1/s] by eye
cloth.friction.value = 0.3  # [1] ZOZO preset, banner
cloth.weft_stretch = 1.017  # [1] 2126 / 2090: Wang et al. 2011, tablecloth
cloth.weft_bending = 0.577  # [1] 6.4 / 11.1: Wang et al. 2011, tablecloth
cloth.bending_damping = 0.03  # [s] by eye
cloth.poisson = 0.381  # [1] Codim-IPC, after Penava 2014, woven polyester
cloth.strain_limit = 0.065  # [1] Codim-IPC, after Penava 2014, woven polyester
cloth.stiffening = 5.0  # [1] by eye: not measured
