# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done to baked frames: cloth out of bodies, smoother in time, smoother in space."""
