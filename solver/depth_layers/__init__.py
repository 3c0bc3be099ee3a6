# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth by layered depth images of the cloth itself (Bargmann 2003, chapters 5 and 7.1)."""
