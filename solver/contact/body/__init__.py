# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of cloth with bodies: their motion, association by a layered depth image, response, pinches."""
