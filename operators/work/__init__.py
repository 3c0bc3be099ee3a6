# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work that leaves the window alive: its steps, and the operator that takes them beside the window."""
