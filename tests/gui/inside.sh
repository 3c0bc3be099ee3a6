#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs inside the Debian folder of scripts/gui_root.sh: a virtual screen, the extension installed from its zip
# (/out/taffeta.zip) the way a user does, then a story told in the window.
#   inside.sh /checkout/tests/gui/story.py WIDTH HEIGHT
set -eu
export HOME=/tmp/home DISPLAY=:99 PYTHONPATH=/out/site PYTHONDONTWRITEBYTECODE=1 TAFFETA_STORY=$1
mkdir -p "$HOME"
Xvfb :99 -screen 0 "$2x$3x24" -nolisten tcp >/out/xvfb.log 2>&1 &
extension() { blender --python-use-system-env --command extension "$@"; }
is_release=$([ "${1##*/}" = story.py ] && echo yes || true) # one story of them all is the whole life of a release
[ -z "$is_release" ] || extension validate /out/taffeta.zip >/out/validate.log 2>&1 || echo refused >>/out/validate.log
extension install-file -r user_default -e /out/taffeta.zip >/out/install.log 2>&1
# That one compiles as a new install does. The others go on with what it, and the windows before them, compiled; numba keeps
# a kernel for a file of one time, so each install gets the same.
find "$HOME" -path '*/taffeta/*.py' -exec touch -d 2000-01-01 {} +
[ -n "$is_release" ] || export TAFFETA_CACHE_DIR=/out/kernels
timeout 900 blender --python-use-system-env --window-geometry 0 0 "$2" "$3" --python /checkout/tests/gui/drive.py >/out/blender.log 2>&1
if [ -n "$is_release" ]; then
    [ -e /out/kernels ] || cp -r "$(find "$HOME" -type d -path '*taffeta/numba')" /out/kernels
    extension remove taffeta >/out/remove.log 2>&1
    find "$HOME" -path '*extensions*' -iname '*taffeta*' >/out/left.txt
    find "$HOME" \( -name 'numba*' -o -name 'llvmlite*' -o -name 'scipy*' \) -path '*site-packages*' >>/out/left.txt
fi
