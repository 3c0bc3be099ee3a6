# SPDX-License-Identifier: GPL-3.0-or-later
# Jeans denim of 11 oz, 99 % cotton, 1 % spandex.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.324  # [kg/m2] Wang et al. 2011, jeans
cloth.thickness.value = 0.00066  # [m] Codim-IPC, second set, denim
cloth.stretch_stiffness.value = 635.0  # [N/m] mean of 223 and 1048: Wang et al. 2011, jeans
cloth.shear_stiffness.value = 69.0  # [N/m] Wang et al. 2011, jeans
cloth.bending_stiffness.value = 1.81e-05  # [N m] mean of 13.4, 14.9 and 25.9: Wang et al. 2011, jeans
cloth.damping.value = 4.0  # [1/s] by eye
cloth.friction.value = 0.5  # [1] ZOZO preset
