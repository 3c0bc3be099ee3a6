#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs the tests: scripts/test.sh all | 4.5 | 5.2 | gui
# A part that fails does not keep the next from running; the exit status tells of all of them.
set -u
cd "$(dirname "$0")/.."
part=${1:-all}
failed=0
niceness=0

pytest() { # environment, what to test...
    local environment=$1
    shift
    # Blender 4.5 as a module can hang at exit: a limit, so that no run waits for ever.
    nice -n "$niceness" timeout -k 20 2400 "$environment/bin/python" -m pytest "$@"
}

blender_4_5() { # what of the tests...
    echo "== Blender 4.5: $* =="
    pytest .venv -rs --ignore=tests/gui "$@"
}

set_up_5_2() { # sets `ready`: 0, or 3 where this machine has no Python for it
    python3 scripts/setup.py 5.2
    ready=$?
}

blender_5_2() { # what of the tests...
    case $ready in
        0) echo "== Blender 5.2 =="; pytest .venv-5.2 tests --ignore=tests/gui "$@" ;;
        3) echo "== Blender 5.2: not tested, because this machine has no Python 3.13 (pyenv install 3.13) ==" ;;
        *) return 1 ;;
    esac
}

make_window() { # status 3: it cannot be made here; it has said why, and the window's tests are skipped
    bash scripts/gui_root.sh make || [ $? = 3 ]
}

window() { make_window && echo "== The window ==" && pytest .venv tests/gui; }

# All three beside each other, and told of one after the other, the window last, so its closing line closes the run. Its
# stories are told in a person's time, and the others take what it and its software renderer leave (`nice`). The window solves on
# all threads, the others on one each, for no processor is left over (`tests/solver/test_thread_count.py` has its own). It
# begins when 5.2 is set up, because both may install Debian packages.
#
# In 5.2 nothing runs that says the same in every Blender: tests of the solver alone, of the texts and of programs that
# measure, and those marked `once` (pyproject.toml, tests/conftest.py); nor what installs the zip, which the window's 5.2 does
# where it can be made. Those marked `once` run in 4.5, in two halves, when the others are through there and in 5.2; what of them
# has not begun after so many minutes is skipped, and told.
ONCE_UNTIL=36 # [min]

once() { # what of the tests...
    TAFFETA_TEST_MINUTES=$((ONCE_UNTIL - SECONDS / 60)) NUMBA_NUM_THREADS=1 blender_4_5 "$@" -m once
}

every() {
    local told pid
    told=$(mktemp -d)
    niceness=10
    beside "$told" >"$told/5.2" 2>&1 &
    pid=$!
    NUMBA_NUM_THREADS=1 blender_4_5 tests -m "not once" || failed=1
    once tests/solver tests/scripts || failed=1
    wait "$pid" || failed=1
    cat "$told/5.2" "$told/window"
    rm -rf "$told"
}

beside() { # folder for what the window's tests tell
    local own=0 pid
    set_up_5_2
    (niceness=0; window) >"$1/window" 2>&1 &
    pid=$!
    NUMBA_NUM_THREADS=1 blender_5_2 --ignore=tests/solver --ignore=tests/standalone --ignore=tests/scripts \
        --ignore=tests/benchmarks --ignore=tests/blender/benchmarks --ignore=tests/blender/scripts -m "not once" || own=1
    once tests --ignore=tests/solver --ignore=tests/scripts || own=1
    wait "$pid" && return $own
}

case $part in
    all) every ;;
    4.5) blender_4_5 tests || failed=1 ;;
    5.2) set_up_5_2; blender_5_2 || failed=1 ;;
    gui) window || failed=1 ;;
    *) echo "usage: scripts/test.sh all | 4.5 | 5.2 | gui" >&2; exit 2 ;;
esac
[ $failed = 0 ] || echo "Some tests failed: see above." >&2
exit $failed
