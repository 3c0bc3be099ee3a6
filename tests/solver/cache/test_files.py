# SPDX-License-Identifier: GPL-3.0-or-later
"""Links, pipes and folders in the place of files: nothing is written or deleted through them, and nothing waits."""

import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from taffeta.solver.cache import moves, obj, pc2, png
from taffeta.solver.cache.frames import cached_frames, open_cache
from taffeta.solver.cache.names import take_lock
from taffeta.solver.cache.trash import put
from taffeta.solver.cache.whose import owner_of
from taffeta.standalone import xml

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")

TRIANGLE = obj.Mesh(np.eye(3), *(np.array(value, np.int32) for value in ([[0, 1, 2]], [0, 1, 2], [0, 3])))
KEPT = b"four years"


@pytest.fixture(autouse=True)
def no_hanging():
    """A pipe that is opened waits for ever, and the tests with it: end that."""

    def give_up(*_):
        raise TimeoutError("it waits for a pipe")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(60)
    yield
    signal.alarm(0)


@pytest.fixture
def thesis(tmp_path):
    """A file outside of the folder that is written to."""
    path = tmp_path / "thesis.txt"
    path.write_bytes(KEPT)
    (tmp_path / "out").mkdir()
    return path


def write(folder):
    obj.write(folder / "flag_0001.obj", TRIANGLE.x, b"f 1 2 3\n")


def test_no_frame_is_written_through_a_link(thesis):
    folder = thesis.parent / "out"
    (folder / "flag_0001.obj.part").symlink_to(thesis)
    with pytest.raises(OSError, match=r"flag_0001.obj.part is a link, a folder or a pipe: remove it"):
        write(folder)
    assert thesis.read_bytes() == KEPT and (folder / "flag_0001.obj.part").is_symlink()


def test_a_frame_that_a_killed_process_left_half_is_written_anew(thesis):
    folder = thesis.parent / "out"
    (folder / "flag_0001.obj.part").write_bytes(b"# Taffeta\nv 0.")
    write(folder)
    assert os.listdir(folder) == ["flag_0001.obj"] and np.array_equal(obj.read(folder / "flag_0001.obj").x, np.eye(3))


@pytest.mark.parametrize("make", ["link", "nowhere", "pipe"])
def test_what_is_no_file_is_not_taken_for_an_older_frame(thesis, make):
    path = thesis.parent / "out" / "flag_0001.obj"
    if make == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(thesis if make == "link" else thesis.parent / "nowhere")
    with pytest.raises(ValueError, match="was not written by Taffeta"):
        write(path.parent)
    assert thesis.read_bytes() == KEPT and os.path.lexists(path) and not (thesis.parent / "nowhere").exists()


@pytest.mark.parametrize("make", ["link", "nowhere", "pipe"])
def test_a_lock_is_a_file_of_its_own(thesis, make):
    lock = thesis.parent / "out" / "shirt.lock"
    if make == "pipe":
        os.mkfifo(lock)
    else:
        lock.symlink_to(thesis if make == "link" else thesis.parent / "nowhere")
    with pytest.raises(OSError, match=r"shirt.lock is a link, a folder or a pipe: remove it"):
        open_cache(lock.with_suffix(".pc2"), 3, 1, 24.0)
    with pytest.raises(OSError, match="is a link"):
        take_lock(lock.with_suffix(".pc2"))
    assert thesis.read_bytes() == KEPT and not (thesis.parent / "nowhere").exists() and os.path.lexists(lock)


def test_a_folder_below_the_caches_is_none_elsewhere(thesis, tmp_path):
    """As the folder of corrections; the cache folder itself may be a link."""
    elsewhere, cache = tmp_path / "elsewhere", tmp_path / "cache"
    elsewhere.mkdir()
    cache.symlink_to(elsewhere)
    source = tmp_path / "sleeve.pc2"
    source.write_bytes(b"frames")
    assert moves.bring_file(source, cache / "corrections") == cache / "corrections" / "sleeve.pc2"
    (elsewhere / "away").mkdir()
    (elsewhere / "linked").symlink_to(elsewhere / "away")
    with pytest.raises(OSError, match=r"^.*linked is a link or a file: remove it, Taffeta makes a folder there$"):
        moves.bring_file(source, cache / "linked")
    assert os.listdir(elsewhere / "away") == []


def test_pipes_are_no_bake(thesis):
    """Opening a pipe waits for somebody who writes to it, and a .blend that is opened looks for its bakes."""
    path = thesis.parent / "out" / "shirt.pc2"
    os.mkfifo(path.with_suffix(".journal"))
    assert cached_frames(path) is None and owner_of(path) == ""
    with pytest.raises(ValueError, match="was not baked by Taffeta"):
        put(path)
    os.mkfifo(path)
    with pytest.raises(ValueError, match="is a folder, a pipe or a device"):
        pc2.read_header(path)
    with open_cache(path, 3, 1, 24.0) as cache:
        assert not cache.good_frames() and cache.older == path.with_name("shirt.bak1.pc2")


@pytest.mark.parametrize(
    "read",
    [obj.read, lambda path: obj.read_uv(path, TRIANGLE), png.read_grey, xml.read],
    ids=["mesh", "uv", "map", "scene"],
)
def test_pipes_are_not_waited_for(thesis, read):
    os.mkfifo(thesis.parent / "body.obj")
    with pytest.raises(ValueError, match=r"body.obj is a folder, a pipe or a device: choose a file"):
        read(thesis.parent / "body.obj")
    with pytest.raises(ValueError, match="is a folder"):
        read(Path("/dev/zero"))
