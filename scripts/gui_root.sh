#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A real Blender with a window, for tests: Debian unstable's, in a folder of its own.
#
#   scripts/gui_root.sh make                 make the folder (once: about 4 minutes, 1.7 GB)
#   scripts/gui_root.sh run OUT COMMAND...   run a command in it; this checkout is /checkout (read-only), OUT is /out
#
# The folder is $TAFFETA_GUI_ROOT, else ~/.cache/taffeta/gui-root. Root rights are needed (it is a chroot); without
# them, and wherever debootstrap cannot be had, `make` says so and ends with status 3.
set -euo pipefail

root=${TAFFETA_GUI_ROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/taffeta/gui-root}
checkout=$(cd "$(dirname "$0")/.." && pwd)
mirror=${TAFFETA_DEBIAN_MIRROR:-$(grep -rhoE 'https?://[^ ]+/debian/?($| )' /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null | head -1 || true)}
packages=(blender libegl1 libegl-mesa0 libgl1 libglx-mesa0 libgl1-mesa-dri python3-numpy python3-requests python3-zstandard xvfb xdotool imagemagick)

refuse() { echo "Window test: $1" >&2; exit 3; }

make_root() {
    [ -e "$root/taffeta-ready" ] && return
    [ "$(id -u)" = 0 ] || refuse "needs root rights to make its Debian folder; run 'sudo make gui-root' once, or do without it."
    if ! command -v debootstrap >/dev/null; then
        (apt-get update -qq && apt-get install -y --no-install-recommends debootstrap debian-archive-keyring) >/dev/null ||
            refuse "needs the package debootstrap, and apt-get could not install it."
    fi
    echo "Making a Debian with Blender for the window test in $root (once; about 4 minutes, 1.7 GB)..."
    rm -rf "$root"
    mkdir -p "$root"
    debootstrap --variant=minbase sid "$root" ${mirror:+"$mirror"} >"$root.log" 2>&1 ||
        refuse "debootstrap failed: $(tail -1 "$root.log")"
    # A mirror may lag by weeks; for a test that does not matter.
    DEBIAN_FRONTEND=noninteractive chroot "$root" sh -ec "apt-get -o Acquire::Check-Valid-Until=false update
        apt-get install -y --no-install-recommends ${packages[*]}
        apt-get clean" >>"$root.log" 2>&1 || refuse "apt-get failed in $root: $(tail -1 "$root.log")"
    touch "$root/taffeta-ready"
}

run_inside() {
    local out=$1
    shift
    [ -e "$root/taffeta-ready" ] || refuse "its Debian folder is not there: run 'make gui-root'."
    [ "$(id -u)" = 0 ] || refuse "needs root rights to enter its Debian folder."
    mkdir -p "$root/checkout" "$root/out" "$out"
    # A mount namespace of its own: nothing stays mounted, however this ends. And no network: Taffeta needs none.
    exec unshare --mount --pid --net --fork --kill-child bash -ec '
        root=$1 checkout=$2 out=$3; shift 3
        mount --make-rprivate /
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount -t tmpfs tmpfs "$root/tmp"
        mount --bind "$checkout" "$root/checkout"
        mount -o remount,bind,ro "$root/checkout"
        mount --bind "$out" "$root/out"
        exec chroot "$root" env -i PATH=/usr/bin:/bin:/usr/sbin HOME=/root LANG=C.UTF-8 LIBGL_ALWAYS_SOFTWARE=1 "$@"
    ' inside "$root" "$checkout" "$out" "$@"
}

case ${1:-} in
    make) make_root ;;
    run) shift; run_inside "$@" ;;
    *) echo "usage: scripts/gui_root.sh make | run OUT COMMAND..." >&2; exit 2 ;;
esac
