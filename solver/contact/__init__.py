# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact: cloth with cloth, cloth with bodies, and the guard that has the last word."""
