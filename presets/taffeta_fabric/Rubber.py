# SPDX-License-Identifier: GPL-3.0-or-later
# Latex sheet of 0.4 mm.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.38  # [kg/m2] 0.4 mm of 950 kg/m3
cloth.thickness.value = 0.0004  # [m] a common sheet
cloth.stretch_stiffness.value = 600.0  # [N/m] E h with E = 1.5 MPa, by eye for natural rubber
cloth.shear_stiffness.value = 200.0  # [N/m] E h / 3: rubber keeps its volume, nu = 0.5
cloth.bending_stiffness.value = 1.07e-05  # [N m] E h^3 / 12 (1 - nu^2)
cloth.damping.value = 1.0  # [1/s] by eye: it snaps back
cloth.friction.value = 0.9  # [1] by eye
cloth.weft_stretch = 1.0  # [1] by eye: it has no threads
cloth.weft_bending = 1.0  # [1] by eye: it has no threads
cloth.bending_damping = 0.01  # [s] by eye: it snaps back
cloth.poisson = 0.5  # [1] by eye: rubber keeps its volume
cloth.strain_limit = 0.0  # [1] by eye: none
cloth.stiffening = 5.0  # [1] by eye: not measured
