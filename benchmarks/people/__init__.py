# SPDX-License-Identifier: GPL-3.0-or-later
"""Shots in which characters move: bodies, motions and garments made from numbers, nothing from files."""
