# SPDX-License-Identifier: GPL-3.0-or-later
# Stretchy knit, 87 % nylon, 13 % spandex.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.204  # [kg/m2] Wang et al. 2011, swimsuit
cloth.thickness.value = 0.0005  # [m] by eye
cloth.stretch_stiffness.value = 50.0  # [N/m] warp of Wang et al. 2011, swimsuit
cloth.shear_stiffness.value = 13.0  # [N/m] Wang et al. 2011, swimsuit
cloth.bending_stiffness.value = 1.38e-05  # [N m] warp 13.8: Wang et al. 2011, swimsuit
cloth.damping.value = 5.0  # [1/s] by eye
cloth.friction.value = 0.3  # [1] by eye
cloth.weft_stretch = 2.26  # [1] 113 / 50: Wang et al. 2011, swimsuit
cloth.weft_bending = 0.819  # [1] 11.3 / 13.8: Wang et al. 2011, swimsuit
cloth.bending_damping = 0.03  # [s] by eye
cloth.poisson = 0.3  # [1] by eye, as no knit of this kind was measured
cloth.strain_limit = 0.0  # [1] Wang et al. 2011, swimsuit: at a strain of 0.17 it is as stiff as at none, within 20 %
cloth.stiffening = 5.0  # [1] by eye: not measured
