# SPDX-License-Identifier: GPL-3.0-or-later
"""Distance fields of garments, and untangling layers at rest with them (Buffet 2021, chapter 2)."""
