# SPDX-License-Identifier: GPL-3.0-or-later
# Sheep garment leather of 0.7 mm.
import bpy

cloth = bpy.context.object.taffeta_cloth

cloth.mass.value = 0.5  # [kg/m2] by eye: 0.7 mm of about 700 kg/m3
cloth.thickness.value = 0.0007  # [m] by eye
cloth.stretch_stiffness.value = 10000.0  # [N/m] by eye: E of about 14 MPa times 0.7 mm
cloth.shear_stiffness.value = 3800.0  # [N/m] by eye: stretch / (2 (1 + nu)), nu = 0.3; it has no threads to turn
cloth.bending_stiffness.value = 3e-05  # [N m] by eye: bending length 1.8 cm, drape in the Cusick band
cloth.damping.value = 8.0  # [1/s] by eye
cloth.friction.value = 0.5  # [1] ZOZO preset
cloth.weft_stretch = 1.0  # [1] by eye: it has no threads
cloth.weft_bending = 1.0  # [1] by eye: it has no threads
cloth.bending_damping = 0.08  # [s] by eye
cloth.poisson = 0.3  # [1] by eye
cloth.strain_limit = 0.0  # [1] by eye: none
cloth.stiffening = 5.0  # [1] by eye: not measured
