# SPDX-License-Identifier: GPL-3.0-or-later
# Ponte roma, a firm double knit for jackets and dresses, 60 % polyester, 40 % rayon.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.284  # [kg/m2] Wang et al. 2011, ponte roma
cloth.thickness.value = 0.0009  # [m] by eye
cloth.stretch_stiffness.value = 96.0  # [N/m] warp of Wang et al. 2011, ponte roma
cloth.shear_stiffness.value = 17.0  # [N/m] Wang et al. 2011, ponte roma
cloth.bending_stiffness.value = 1e-05  # [N m] warp 10.0: Wang et al. 2011, ponte roma
cloth.damping.value = 5.0  # [1/s] by eye
cloth.friction.value = 0.35  # [1] by eye
cloth.weft_stretch = 1.74  # [1] 167 / 96: Wang et al. 2011, ponte roma
cloth.weft_bending = 0.75  # [1] 7.5 / 10.0: Wang et al. 2011, ponte roma
cloth.bending_damping = 0.05  # [s] by eye
cloth.poisson = 0.3  # [1] by eye, as no knit of this kind was measured
cloth.strain_limit = 0.0  # [1] by eye: none, because Stretch is a mean over the curve of Wang et al. 2011
cloth.stiffening = 5.0  # [1] by eye: not measured
