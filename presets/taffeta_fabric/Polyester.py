# SPDX-License-Identifier: GPL-3.0-or-later
# Woven polyester, a tablecloth or a light lining, 128 g/m2.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.128  # [kg/m2] Wang et al. 2011, tablecloth
cloth.thickness.value = 0.000252  # [m] Codim-IPC, after Penava 2014, woven polyester
cloth.stretch_stiffness.value = 2110.0  # [N/m] mean of 2090 and 2126: Wang et al. 2011, tablecloth
cloth.shear_stiffness.value = 40.0  # [N/m] Wang et al. 2011, tablecloth
cloth.bending_stiffness.value = 7.77e-06  # [N m] mean of 11.1, 5.8 and 6.4: Wang et al. 2011, tablecloth
cloth.damping.value = 1.5  # [1/s] by eye
cloth.friction.value = 0.3  # [1] ZOZO preset, banner
