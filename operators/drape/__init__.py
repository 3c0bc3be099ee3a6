# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth under the animator's hands: a simulation at the frame that is shown, and what is done to it meanwhile."""
