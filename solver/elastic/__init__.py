# SPDX-License-Identifier: GPL-3.0-or-later
"""Elastic energies and external forces, a file each."""
