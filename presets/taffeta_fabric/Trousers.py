# SPDX-License-Identifier: GPL-3.0-or-later
# Woven trouser cloth, 65 % cotton, 35 % polyester.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.22  # [kg/m2] Wang et al. 2011, trousers
cloth.thickness.value = 0.0004  # [m] by eye
cloth.stretch_stiffness.value = 2094.0  # [N/m] warp of Wang et al. 2011, trousers
cloth.shear_stiffness.value = 59.0  # [N/m] Wang et al. 2011, trousers
cloth.bending_stiffness.value = 4.74e-05  # [N m] warp 47.4: Wang et al. 2011, trousers
cloth.damping.value = 3.0  # [1/s] by eye
cloth.friction.value = 0.35  # [1] ZOZO preset, cotton
cloth.weft_stretch = 1.017  # [1] 2129 / 2094: Wang et al. 2011, trousers
cloth.weft_bending = 1.004  # [1] 47.6 / 47.4: Wang et al. 2011, trousers
cloth.bending_damping = 0.05  # [s] by eye
cloth.poisson = 0.25  # [1] by eye, as woven cotton
cloth.strain_limit = 0.0  # [1] Wang et al. 2011, trousers: at a strain of 0.17 it is only 5 to 6 % stiffer than at none
cloth.stiffening = 5.0  # [1] by eye: not measured
