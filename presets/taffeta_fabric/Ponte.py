# SPDX-License-Identifier: GPL-3.0-or-later
# Ponte roma, a firm double knit for jackets and dresses, 60 % polyester, 40 % rayon.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.284  # [kg/m2] Wang et al. 2011, ponte roma
cloth.thickness.value = 0.0009  # [m] by eye
cloth.stretch_stiffness.value = 131.5  # [N/m] mean of 96 and 167: Wang et al. 2011, ponte roma
cloth.shear_stiffness.value = 17.0  # [N/m] Wang et al. 2011, ponte roma
cloth.bending_stiffness.value = 8.27e-06  # [N m] mean of 10.0, 7.3 and 7.5: Wang et al. 2011, ponte roma
cloth.damping.value = 5.0  # [1/s] by eye
cloth.friction.value = 0.35  # [1] by eye
