# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact of cloth with bodies and with cloth: distance, broad phase, detection, response."""
