# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulation that follows the timeline, and what shows it on the garments."""
