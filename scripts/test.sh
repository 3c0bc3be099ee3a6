#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs the tests: scripts/test.sh all | 4.5 | 5.2 | gui
# A part that fails does not keep the next from running; the exit status tells of all of them.
set -u
cd "$(dirname "$0")/.."
part=${1:-all}
failed=0

pytest() { # environment, what to test...
    local environment=$1
    shift
    # Blender 4.5 as a module can hang at exit: a limit, so that no run waits for ever.
    timeout -k 20 2400 "$environment/bin/python" -m pytest "$@" || failed=1
}

blender_5_2() {
    python3 scripts/setup.py 5.2
    case $? in
        0) echo "== Blender 5.2 =="; pytest .venv-5.2 tests --ignore=tests/gui ;;
        3) echo "== Blender 5.2: not tested, because this machine has no Python 3.13 (pyenv install 3.13) ==" ;;
        *) failed=1 ;;
    esac
}

blender_4_5() { # everything, the window included: it comes last, so its closing line closes the run
    bash scripts/gui_root.sh make
    case $? in
        0 | 3) ;; # 3: cannot be made here; it has said why, and the window's tests are skipped
        *) failed=1 ;;
    esac
    echo "== Blender 4.5, and the window =="
    pytest .venv tests
}

case $part in
    all) blender_5_2; blender_4_5 ;;
    5.2) blender_5_2 ;;
    4.5) echo "== Blender 4.5 =="; pytest .venv tests --ignore=tests/gui ;;
    gui) bash scripts/gui_root.sh make; pytest .venv tests/gui ;;
    *) echo "usage: scripts/test.sh all | 4.5 | 5.2 | gui" >&2; exit 2 ;;
esac
[ $failed = 0 ] || echo "Some tests failed: see above." >&2
exit $failed
