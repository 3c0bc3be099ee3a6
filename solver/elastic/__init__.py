# SPDX-License-Identifier: GPL-3.0-or-later
"""Elastic energies, a file each, and what fabrics make of them."""
