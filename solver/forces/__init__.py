# SPDX-License-Identifier: GPL-3.0-or-later
"""What moves cloth from outside: air, force fields, pressure, random force."""
