# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake: what is ordered, the job that simulates, the operator that starts it."""

PACKAGE = __package__.removesuffix(".operators.bake")  # taffeta, or bl_ext.<repository>.taffeta once it is installed
