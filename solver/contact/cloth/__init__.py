# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of cloth with cloth: proximity, response, what lies on what."""
