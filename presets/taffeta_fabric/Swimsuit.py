# SPDX-License-Identifier: GPL-3.0-or-later
# Stretchy knit, 87 % nylon, 13 % spandex.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.204  # [kg/m2] Wang et al. 2011, swimsuit
cloth.thickness.value = 0.0005  # [m] by eye
cloth.stretch_stiffness.value = 81.5  # [N/m] mean of 50 and 113: Wang et al. 2011, swimsuit
cloth.shear_stiffness.value = 13.0  # [N/m] Wang et al. 2011, swimsuit
cloth.bending_stiffness.value = 1.25e-05  # [N m] mean of 13.8, 12.5 and 11.3: Wang et al. 2011, swimsuit
cloth.damping.value = 5.0  # [1/s] by eye
cloth.friction.value = 0.3  # [1] by eye
