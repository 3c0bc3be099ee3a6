# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong or doubtful before a bake, and what was changed since."""
