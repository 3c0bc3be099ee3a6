# SPDX-License-Identifier: GPL-3.0-or-later
# Jeans denim of 11 oz, 99 % cotton, 1 % spandex.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.324  # [kg/m2] Wang et al. 2011, jeans
cloth.thickness.value = 0.00066  # [m] Codim-IPC, second set, denim
cloth.stretch_stiffness.value = 223.0  # [N/m] warp of Wang et al. 2011, jeans
cloth.shear_stiffness.value = 69.0  # [N/m] Wang et al. 2011, jeans
cloth.bending_stiffness.value = 1.34e-05  # [N m] warp 13.4: Wang et al. 2011, jeans
cloth.damping.value = 4.0  # [1/s] by eye
cloth.friction.value = 0.5  # [1] ZOZO preset
cloth.weft_stretch = 4.7  # [1] 1048 / 223: Wang et al. 2011, jeans
cloth.weft_bending = 1.933  # [1] 25.9 / 13.4: Wang et al. 2011, jeans
cloth.bending_damping = 0.03  # [s] by eye
cloth.poisson = 0.25  # [1] by eye, as woven cotton
cloth.strain_limit = 0.0  # [1] Wang et al. 2011, jeans: at a strain of 0.17 it is only 4 to 13 % stiffer than at none
cloth.stiffening = 5.0  # [1] by eye: not measured
