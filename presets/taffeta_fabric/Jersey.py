# SPDX-License-Identifier: GPL-3.0-or-later
# T-shirt jersey (interlock knit), 60 % cotton, 40 % polyester.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.187  # [kg/m2] Wang et al. 2011, interlock
cloth.thickness.value = 0.0006  # [m] by eye
cloth.stretch_stiffness.value = 183.0  # [N/m] mean of 84 and 281: Wang et al. 2011, interlock
cloth.shear_stiffness.value = 20.0  # [N/m] by eye, after the sweater knit of Wang et al. 2011: 19
cloth.bending_stiffness.value = 5.43e-06  # [N m] mean of 7.6, 4.7 and 4.0: Wang et al. 2011, interlock
cloth.damping.value = 3.0  # [1/s] by eye
cloth.friction.value = 0.35  # [1] ZOZO preset, cotton
