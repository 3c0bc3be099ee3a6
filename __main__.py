# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m taffeta SCENE.xml`: cloth without Blender (docs/scene_files.md)."""

import sys

from .standalone.run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
