# SPDX-License-Identifier: GPL-3.0-or-later
"""Hostile inputs, by kind, and how each is judged: what `attack.py` throws at Taffeta."""
