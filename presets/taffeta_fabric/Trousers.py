# SPDX-License-Identifier: GPL-3.0-or-later
# Woven trouser cloth, 65 % cotton, 35 % polyester.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.22  # [kg/m2] Wang et al. 2011, trousers
cloth.thickness.value = 0.0004  # [m] by eye
cloth.stretch_stiffness.value = 2110.0  # [N/m] mean of 2094 and 2129: Wang et al. 2011, trousers
cloth.shear_stiffness.value = 59.0  # [N/m] Wang et al. 2011, trousers
cloth.bending_stiffness.value = 4.28e-05  # [N m] mean of 47.4, 33.3 and 47.6: Wang et al. 2011, trousers
cloth.damping.value = 3.0  # [1/s] by eye
cloth.friction.value = 0.35  # [1] ZOZO preset, cotton
