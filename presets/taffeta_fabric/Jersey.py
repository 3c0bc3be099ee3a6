# SPDX-License-Identifier: GPL-3.0-or-later
# T-shirt jersey (interlock knit), 60 % cotton, 40 % polyester.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.187  # [kg/m2] Wang et al. 2011, interlock
cloth.thickness.value = 0.0006  # [m] by eye
cloth.stretch_stiffness.value = 84.0  # [N/m] warp of Wang et al. 2011, interlock
cloth.shear_stiffness.value = 20.0  # [N/m] by eye, after the sweater knit of Wang et al. 2011: 19
cloth.bending_stiffness.value = 7.6e-06  # [N m] warp 7.6: Wang et al. 2011, interlock
cloth.damping.value = 3.0  # [1/s] by eye
cloth.friction.value = 0.35  # [1] ZOZO preset, cotton
cloth.weft_stretch = 3.345  # [1] 281 / 84: Wang et al. 2011, interlock
cloth.weft_bending = 0.526  # [1] 4.0 / 7.6: Wang et al. 2011, interlock
cloth.bending_damping = 0.04  # [s] by eye
cloth.poisson = 0.3  # [1] by eye, as no knit of this kind was measured
cloth.strain_limit = 0.0  # [1] by eye: none, because Stretch is a mean over the curve of Wang et al. 2011
cloth.stiffening = 5.0  # [1] by eye: not measured
