# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes as they lie on the disk, and the modifier that plays them."""
