# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache on disk: what is written, what a torn, foreign or edited file leaves, what a full disk does, names."""

import json
import os
import shutil
import subprocess
import sys
import zlib

import numpy as np
import pytest
from taffeta.solver.cache import names, pc2, trash
from taffeta.solver.cache.frames import cached_frames, open_cache

COUNT = 7  # vertices


def frame_data(frame, count=COUNT):
    """Sample, x and v of a frame: any numbers that depend on it."""
    x = np.sin(np.arange(3 * count).reshape(count, 3) + frame)
    return x + 1.0, x, -x


def bake(path, last, first=1, count=COUNT):
    with open_cache(path, count, first, 24.0) as cache:
        for frame in range(cache.good_frames().stop, last + 1):
            cache.append(frame, bytes([frame % 256] * 16), *frame_data(frame, count), np.array([1.0, 2.0, 3.0]))
    return path


def contents(path):
    return {part.suffix: part.read_bytes() for part in names.parts(path)}


def test_what_is_written_can_be_played_and_restarted(tmp_path):
    path = bake(tmp_path / "shirt.pc2", 5)
    expected = np.stack([frame_data(frame)[0] for frame in range(1, 6)]).astype(np.float32)
    assert np.array_equal(pc2.read(path), expected)
    assert cached_frames(path) == range(1, 6)
    with open_cache(path, COUNT, 1, 24.0) as cache:
        assert cache.good_frames() == range(1, 6)
        x, v, origin = cache.load(3)
        assert np.array_equal(x, frame_data(3)[1]) and np.array_equal(v, frame_data(3)[2])
        assert origin.tolist() == [1.0, 2.0, 3.0]
        assert cache.line(3).digest == bytes([3] * 16).hex()
        assert cache.older is None
    assert sorted(os.listdir(tmp_path)) == ["shirt.journal", "shirt.pc2", "shirt.state"]


def test_a_growing_file_can_be_played_at_any_moment(tmp_path):
    path = tmp_path / "shirt.pc2"
    with open_cache(path, COUNT, 1, 24.0) as cache:
        for frame in range(1, 4):
            cache.append(frame, b"", *frame_data(frame))
            assert np.array_equal(pc2.read(path)[-1], frame_data(frame)[0].astype(np.float32))


def test_frames_follow_each_other_and_have_the_right_size(tmp_path):
    with open_cache(tmp_path / "shirt.pc2", COUNT, 1, 24.0) as cache:
        with pytest.raises(ValueError, match="continues with frame 1, not 2"):
            cache.append(2, b"", *frame_data(2))
        with pytest.raises(ValueError, match="holds 7 vertices, frame 1 has 8"):
            cache.append(1, b"", *frame_data(1, 8))


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e39])
def test_what_is_not_finite_never_reaches_the_disk(tmp_path, bad):
    path = bake(tmp_path / "shirt.pc2", 2)
    before = contents(path)
    sample, x, v = frame_data(3)
    sample[0, 0] = bad  # 1e39 is finite in float64 only
    with open_cache(path, COUNT, 1, 24.0) as cache, pytest.raises(FloatingPointError, match="frame 3"):
        cache.append(3, b"", sample, x, v)
    assert contents(path) == before


def test_every_way_a_dying_process_can_tear_the_last_frame(tmp_path):
    """A frame is written sample, state, journal line, count: cut anywhere in that order, the frames before stay."""
    whole, before = contents(bake(tmp_path / "a" / "shirt.pc2", 4)), contents(bake(tmp_path / "b" / "shirt.pc2", 3))
    stages = []
    for suffix in (".pc2", ".state", ".journal"):
        for part in (0.0, 0.4, 1.0):
            torn = dict(before)
            for earlier in (".pc2", ".state", ".journal"):
                start, end = len(before[earlier]), len(whole[earlier])
                length = end if earlier != suffix else start + int(part * (end - start))
                torn[earlier] = before[earlier] + whole[earlier][start:length]
                if earlier == suffix:
                    break
            stages.append(torn)
    path = tmp_path / "c" / "shirt.pc2"
    for torn in stages:
        shutil.rmtree(path.parent, ignore_errors=True)
        path.parent.mkdir()
        for suffix, data in torn.items():
            path.with_suffix(suffix).write_bytes(data)
        finished = len(torn[".journal"]) == len(whole[".journal"])
        with open_cache(path, COUNT, 1, 24.0) as cache:
            assert cache.good_frames() == (range(1, 5) if finished else range(1, 4))
            assert cache.older is None
        assert contents(path) == (whole if finished else before)


@pytest.mark.parametrize("suffix, key", [(".pc2", "sample_crc"), (".state", "state_crc")])
def test_a_frame_that_is_not_finite_is_not_good_whatever_its_checksum_says(tmp_path, suffix, key):
    path = bake(tmp_path / "shirt.pc2", 6)
    file, journal = path.with_suffix(suffix), path.with_suffix(".journal")
    data = bytearray(file.read_bytes())
    head = pc2.HEADER_SIZE * (suffix == ".pc2")
    size = (len(data) - head) // 6
    at = head + 3 * size  # of frame 4
    bad = np.full(1, np.nan, "<f4" if suffix == ".pc2" else "<f8").tobytes()
    data[at : at + len(bad)] = bad
    file.write_bytes(data)
    lines = journal.read_bytes().splitlines(keepends=True)
    forged = json.loads(lines[4]) | {key: zlib.crc32(data[at : at + size])}
    lines[4] = json.dumps(forged).encode() + b"\n"
    journal.write_bytes(b"".join(lines))
    with open_cache(path, COUNT, 1, 24.0) as cache:
        assert cache.good_frames() == range(1, 4)


@pytest.mark.parametrize("suffix", [".pc2", ".state"])
@pytest.mark.parametrize("frame", [1, 4])
def test_a_flipped_bit_costs_the_frames_from_there_and_a_copy_is_kept(tmp_path, suffix, frame):
    path = bake(tmp_path / "shirt.pc2", 6)
    file = path.with_suffix(suffix)
    data = bytearray(file.read_bytes())
    size = (len(data) - pc2.HEADER_SIZE * (suffix == ".pc2")) // 6
    data[pc2.HEADER_SIZE * (suffix == ".pc2") + size * (frame - 1) + 5] ^= 16
    file.write_bytes(data)
    damaged = contents(path)
    with open_cache(path, COUNT, 1, 24.0) as cache:
        assert cache.good_frames() == range(1, frame)
        older = cache.older
    assert contents(older) == damaged
    bake(path, 6)
    assert contents(path) == contents(bake(tmp_path / "other" / "shirt.pc2", 6))


def edited(line, **changes):
    return json.dumps({**json.loads(line), **changes}).encode() + b"\n"


@pytest.mark.parametrize(
    "edit",
    [
        lambda line: b"\n",
        lambda line: b"[" * 100_000 + b"\n",
        lambda line: b"[" * 900 + b"\n",
        lambda line: b"\xff\xfe\x00\n",
        lambda line: b"42\n",
        lambda line: line[:-1],
        lambda line: edited(line, frame=9),
        lambda line: edited(line, frame=True),
        lambda line: edited(line, sample_crc="1"),
        lambda line: edited(line, digest="zz"),
        lambda line: edited(line, origin=[0.0, 0.0]),
        lambda line: edited(line, origin=[0.0, 0.0, float("nan")]),
        lambda line: edited(line, origin=[0.0, 0.0, "__import__('os')"]),
        lambda line: edited(line, still=[1.0]),
        lambda line: edited(line, still=[1.0, float("inf")]),
        lambda line: edited(line, still="1"),
        lambda line: edited(line, more=1),
        lambda line: json.dumps({"frame": 3}).encode() + b"\n",
    ],
)
def test_a_line_edited_by_hand_ends_the_bake_there(tmp_path, edit):
    path = bake(tmp_path / "shirt.pc2", 5)
    journal = path.with_suffix(".journal")
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[3] = edit(lines[3])
    journal.write_bytes(b"".join(lines))
    with open_cache(path, COUNT, 1, 24.0) as cache:
        assert cache.good_frames() == range(1, 3)
    bake(path, 5)
    assert contents(path) == contents(bake(tmp_path / "other" / "shirt.pc2", 5))


def test_headers_that_promise_terabytes_take_no_memory_and_lose_nothing(tmp_path):
    path = bake(tmp_path / "shirt.pc2", 3)
    path.with_suffix(".journal").write_bytes(
        b'{"format":"taffeta-cache-1","vertex_count":1000000000000,"first_frame":1,"fps":24.0}\n'
        b'{"frame":1,"sample_crc":0,"state_crc":0,"digest":"","origin":[0.0,0.0,0.0],"restart":false}\n'
    )
    path.write_bytes(pc2.pack_header(2**31 - 1, 1, 2**31 - 1))
    damaged = contents(path)
    assert cached_frames(path) is None
    with open_cache(path, COUNT, 1, 24.0) as cache:
        assert len(cache.good_frames()) == 0
        assert contents(cache.older) == damaged
    with pytest.raises(ValueError, match="not 2147483648"):
        open_cache(tmp_path / "huge.pc2", 2**31, 1, 24.0)


@pytest.mark.parametrize("change", [{"vertex_count": 8}, {"first_frame": 2}, {"fps": 25.0}])
def test_a_bake_of_something_else_is_set_aside(tmp_path, change):
    path = bake(tmp_path / "shirt.pc2", 3)
    old = contents(path)
    given = {"vertex_count": COUNT, "first_frame": 1, "fps": 24.0} | change
    with open_cache(path, **given) as cache:
        assert len(cache.good_frames()) == 0
        assert cache.older == tmp_path / "shirt.bak1.pc2"
    bake(path, 2)  # the empty bake in between needs no copy
    with open_cache(path, **given) as cache:
        assert cache.older == tmp_path / "shirt.bak2.pc2"
    assert contents(tmp_path / "shirt.bak1.pc2") == old
    assert names.older_bakes(path) == [tmp_path / "shirt.bak1.pc2", tmp_path / "shirt.bak2.pc2"]


def test_a_file_of_another_program_is_set_aside_not_overwritten(tmp_path):
    (tmp_path / "shirt.pc2").write_bytes(b"somebody's only copy")
    with open_cache(tmp_path / "shirt.pc2", COUNT, 1, 24.0) as cache:
        assert cache.older.read_bytes() == b"somebody's only copy"


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    outside = tmp_path / "thesis.txt"
    outside.write_bytes(b"four years")
    folder = tmp_path / "cache"
    folder.mkdir()
    for suffix in names.BAKE_SUFFIXES:
        (folder / f"shirt{suffix}").symlink_to(outside)
    bake(folder / "shirt.pc2", 2)
    assert outside.read_bytes() == b"four years"
    assert cached_frames(folder / "shirt.pc2") == range(1, 3)


def test_links_to_a_bake_elsewhere_do_not_let_it_be_written(tmp_path):
    elsewhere = bake(tmp_path / "elsewhere" / "shirt.pc2", 2)
    old = contents(elsewhere)
    folder = tmp_path / "cache"
    folder.mkdir()
    for suffix in names.BAKE_SUFFIXES:
        (folder / f"shirt{suffix}").symlink_to(elsewhere.with_suffix(suffix))
    bake(folder / "shirt.pc2", 4)
    assert contents(elsewhere) == old


def test_a_bake_killed_before_its_first_frame_leaves_no_copies(tmp_path):
    with open_cache(tmp_path / "shirt.pc2", COUNT, 1, 24.0):
        begun = contents(tmp_path / "shirt.pc2")
    for suffix in (".pc2", ".state"):
        (tmp_path / f"shirt{suffix}").write_bytes(begun[suffix])
    with open_cache(tmp_path / "shirt.pc2", COUNT, 5, 24.0) as cache:
        assert cache.older is None


@pytest.mark.parametrize("keep", [0, 3, 5])
def test_cutting_back_keeps_a_copy_of_what_goes(tmp_path, keep):
    path = bake(tmp_path / "shirt.pc2", 6)
    old = contents(path)
    with open_cache(path, COUNT, 1, 24.0) as cache:
        cache.truncate_to(keep)
        assert cache.good_frames() == range(1, keep + 1)
        older = cache.older
        cache.append(keep + 1, b"new", *frame_data(99))
    assert cached_frames(path) == range(1, keep + 2)
    assert np.array_equal(pc2.read(path)[-1], frame_data(99)[0].astype(np.float32))
    assert older is None if keep == 5 else contents(older) == old


def test_a_bake_that_ends_before_its_first_frame_leaves_nothing(tmp_path):
    path = tmp_path / "shirt.pc2"
    open_cache(path, COUNT, 1, 24.0).close()
    assert not os.listdir(tmp_path)
    old = contents(bake(path, 3))
    open_cache(path, COUNT, 1, 24.0).close()
    assert contents(path) == old


def test_two_bakes_of_one_garment_do_not_mix(tmp_path):
    path = tmp_path / "shirt.pc2"
    command = "import sys; from taffeta.solver.cache.frames import open_cache\nopen_cache(sys.argv[1], 7, 1, 24.0)"
    with open_cache(path, COUNT, 1, 24.0) as cache:
        cache.append(1, b"", *frame_data(1))
        with pytest.raises(OSError, match="being baked by another bake"):
            open_cache(path, COUNT, 1, 24.0)
        with pytest.raises(OSError, match="being baked right now"):
            trash.put(path)
        other = subprocess.run([sys.executable, "-c", command, path], capture_output=True, text=True)
        assert "being baked by another bake" in other.stderr
        cache.append(2, b"", *frame_data(2))
    assert subprocess.run([sys.executable, "-c", command, path]).returncode == 0
    assert cached_frames(path) == range(1, 3)


def test_a_folder_that_cannot_be_written_gets_a_sentence(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match="choose another cache folder") as caught:
        open_cache(tmp_path / "file" / "shirt.pc2", COUNT, 1, 24.0)
    assert str(tmp_path / "file") in str(caught.value)


FULL_DISK = """
import resource, signal, sys
sys.path.insert(0, sys.argv[3])
from test_frames import bake
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    bake(sys.argv[1], 40)
except OSError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are a POSIX thing")
@pytest.mark.parametrize("limit", [10, 40, 700, 2000, 5000])
def test_a_full_disk_keeps_the_frames_before_and_the_bake_goes_on_later(tmp_path, limit):
    """A limit on file sizes fails writes half way, as a full disk does."""
    path = tmp_path / "shirt.pc2"
    here = os.path.dirname(__file__)
    ran = subprocess.run([sys.executable, "-c", FULL_DISK, path, str(limit), here], capture_output=True, text=True)
    assert "cannot be written (File too large)" in ran.stdout and str(path) in ran.stdout, ran.stderr
    kept = limit // (48 * COUNT)  # the state is the largest file
    if kept:
        assert f"{kept} frame" in ran.stdout
        assert path.with_suffix(".state").stat().st_size == kept * 48 * COUNT  # the torn frame is cut off at once
        assert cached_frames(path) == range(1, kept + 1)
    bake(path, 40)
    assert contents(path) == contents(bake(tmp_path / "other" / "shirt.pc2", 40))


LONG = 3000  # vertices, so that a file of 6 frames is more than a disk takes at once


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are a POSIX thing")
@pytest.mark.parametrize("lacking", [200_000, 1000], ids=["none of it", "the last of it"])
def test_a_file_that_a_full_disk_does_not_let_be_written_anew(tmp_path, lacking):
    """A disk takes a part of what does not fit: that was taken for the whole, and the frames were told to be kept."""
    import resource

    path, limits = tmp_path / "shirt.pc2", resource.getrlimit(resource.RLIMIT_FSIZE)
    with open_cache(path, LONG, 1, 24.0) as cache:
        for frame in range(1, 7):
            cache.append(frame, bytes(16), *frame_data(frame, LONG))
        size = path.stat().st_size
        path.unlink()
        resource.setrlimit(resource.RLIMIT_FSIZE, (size - lacking, limits[1]))
        try:
            with pytest.raises(FileNotFoundError, match=r"shirt.pc2 .* cannot be written anew .* frames are lost"):
                cache.check_place()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert not path.exists() and not cache.remade
        cache.check_place()
        assert path.stat().st_size == size and cache.remade == [path], "there is room again"


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there, and open files cannot be removed")
@pytest.mark.parametrize("target", ["nowhere", "other.bin"])
def test_a_link_that_is_put_where_frames_are_written(tmp_path, target):
    """Nothing is written through it, and it is not taken for the frames."""
    other, path = tmp_path / "other.bin", tmp_path / "bake" / "shirt.pc2"
    other.write_bytes(b"of somebody else")
    with open_cache(path, COUNT, 1, 24.0) as cache:
        cache.append(1, b"", *frame_data(1))
        path.unlink()
        path.symlink_to(tmp_path / target)
        with pytest.raises(FileNotFoundError, match=r"put in the place of .*shirt.pc2 during the bake"):
            cache.check_place()
        cache.append(2, b"", *frame_data(2))
    assert other.read_bytes() == b"of somebody else" and not (tmp_path / "nowhere").exists()
    assert cached_frames(path.with_name("shirt.bak1.pc2")) == range(1, 2), "what was baked is kept"


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there, and open files cannot be removed")
def test_a_folder_that_is_copied_to_another_disk_while_it_is_written(tmp_path):
    """A link leads to the copy: frames went on into the files that were deleted, and were lost, though the bake called them done."""
    path, moved = tmp_path / "bake" / "shirt.pc2", tmp_path / "larger_disk"
    with open_cache(path, COUNT, 1, 24.0) as cache:
        for frame in range(1, 4):
            cache.append(frame, bytes([frame] * 16), *frame_data(frame), np.array([1.0, 2.0, 3.0]))
        cache.check_place()
        shutil.copytree(path.parent, moved)
        shutil.rmtree(path.parent)
        path.parent.symlink_to(moved)
        cache.check_place()
        for frame in range(4, 6):
            cache.append(frame, bytes([frame] * 16), *frame_data(frame), np.array([1.0, 2.0, 3.0]))
        cache.check_place()
        assert cache.remade == names.parts(path)
    assert cached_frames(path) == range(1, 6)
    assert contents(path) == contents(bake(tmp_path / "other" / "shirt.pc2", 5))


@pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be removed")
@pytest.mark.parametrize("moved", [False, True], ids=["deleted", "moved"])
def test_a_folder_that_is_gone_while_it_is_written(tmp_path, moved):
    """Files that are deleted alone were written anew; of those whose folder was deleted, too, every frame was given up."""
    path = tmp_path / "shot" / "cache" / "shirt.pc2"
    with open_cache(path, COUNT, 1, 24.0) as cache:
        for frame in range(1, 4):
            cache.append(frame, bytes([frame] * 16), *frame_data(frame), np.array([1.0, 2.0, 3.0]))
        if moved:
            path.parent.rename(tmp_path / "elsewhere")
        else:
            shutil.rmtree(path.parent.parent)
        cache.check_place()
        assert cache.remade == names.parts(path)
        assert names.in_use(path), "nobody else may write there meanwhile"
        for frame in range(4, 6):
            cache.append(frame, bytes([frame] * 16), *frame_data(frame), np.array([1.0, 2.0, 3.0]))
        cache.check_place()
    assert contents(path) == contents(bake(tmp_path / "other" / "shirt.pc2", 5))
    assert not names.in_use(path) and not names.lock_file(path).exists()
    if moved:
        assert cached_frames(tmp_path / "elsewhere" / "shirt.pc2") == range(1, 4), "what was moved stays as it was"


@pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be removed")
def test_a_folder_that_is_gone_and_cannot_be_made_again(tmp_path):
    """A file has its name."""
    path = tmp_path / "cache" / "shirt.pc2"
    with open_cache(path, COUNT, 1, 24.0) as cache:
        cache.append(1, b"", *frame_data(1))
        shutil.rmtree(path.parent)
        path.parent.write_bytes(b"of somebody else")
        with pytest.raises(FileNotFoundError, match=r"shirt.pc2 .* cannot be written anew .* frames are lost"):
            cache.check_place()
    assert path.parent.read_bytes() == b"of somebody else"


@pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be removed")
def test_a_file_of_somebody_else_in_the_place_of_frames_that_are_written(tmp_path):
    """As a link: it stays, and what was baked is kept under another name."""
    path = tmp_path / "shirt.pc2"
    with open_cache(path, COUNT, 1, 24.0) as cache:
        cache.append(1, b"", *frame_data(1))
        path.unlink()
        path.write_bytes(b"of somebody else")
        with pytest.raises(FileNotFoundError, match=r"place of .*shirt.pc2 during the bake: .* kept as shirt.bak1.pc2"):
            cache.check_place()
    assert path.read_bytes() == b"of somebody else"
    assert cached_frames(path.with_name("shirt.bak1.pc2")) == range(1, 2)


@pytest.mark.parametrize(
    "name",
    ["a/b", "a\\b", "..", ".", "", "../../etc/passwd", "C:evil", "CON", "nul.txt", "com1", "x" * 300, "ü" * 200, "a\nb",
     "a\0b", " lead", "trail ", "dot.", ".hidden", "shirt.bak1", "\ud800", 'q"<>|?*', "a\u202eb"],
)  # fmt: skip
def test_names_that_no_file_may_have(name, tmp_path):
    safe = names.safe_name(name)
    assert safe != name and safe == names.safe_name(name)
    path = names.cache_paths(tmp_path, [name])[0]
    assert path.parent == tmp_path
    assert len(path.with_suffix(".bak10.journal").name.encode()) <= 143
    with open_cache(path, COUNT, 1, 24.0) as cache:
        cache.append(1, b"", *frame_data(1))
    assert len(os.listdir(tmp_path)) == 3
    assert not names.OLDER_NAME.search(path.stem)


@pytest.mark.parametrize("name", ["Poncho", "poncho.001", "Kleid für Anna", "旗袍", "a-b_c (2)", "v1.2"])
def test_ordinary_names_are_kept(name):
    assert names.safe_name(name) == name


def test_different_objects_never_share_a_file(tmp_path):
    objects = ["a/b", "a\\b", "a_b", "Shirt", "shirt", "SHIRT", "shirt-2", "e\u0301", "\u00e9", "x" * 300, "x" * 301]
    paths = names.cache_paths(tmp_path, objects + ["twin", "twin"])
    assert len({str(path).casefold() for path in paths}) == len(objects) + 2
    assert paths[:3] == names.cache_paths(tmp_path, objects[:3])
