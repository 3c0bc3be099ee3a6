# SPDX-License-Identifier: GPL-3.0-or-later
"""Files: frames on disk, checkpoints, OBJ."""
