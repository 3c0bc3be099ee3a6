# SPDX-License-Identifier: GPL-3.0-or-later
"""Freed bakes: into the trash and back, whole at any moment, and never a file of somebody else."""

import os
import sys

import numpy as np
import pytest
from taffeta.solver.cache import about, moves, names, recipe, trash
from taffeta.solver.cache.frames import cached_frames, open_cache
from taffeta.solver.cache.moves import copy_aside, copy_frames, put_back, set_aside
from taffeta.solver.cache.whose import claim, owner_of

COUNT = 7  # vertices
links = pytest.mark.skipif(sys.platform == "win32", reason="links")


def bake(path, last=3, owner=""):
    with open_cache(path, COUNT, 1, 24.0, owner) as cache:
        for frame in range(1, last + 1):
            x = np.full((COUNT, 3), float(frame))
            cache.append(frame, b"%d" % frame, x, x, -x)
    about.write(path, about.About("wide", "the one that Ann liked", "2026-01-02 03:04", "{}"))
    path.with_suffix(".report.json").write_text("{}")
    recipe.write(path, recipe.Recipe({}, {}))
    return path


def contents(path):
    return {
        file.name.removeprefix(path.stem): file.read_bytes() for file in (*names.parts(path), *names.companions(path))
    }


def test_a_bake_comes_back_from_the_trash_as_it_was(tmp_path):
    path = bake(tmp_path / "shirt.pc2")
    before = contents(path)
    gone = trash.put(path)
    assert os.listdir(tmp_path) == ["trash"] and trash.trashed(tmp_path) == [gone]
    assert contents(gone) == before and trash.size_of([gone]) == sum(map(len, before.values()))
    assert trash.restore(gone) == path and contents(path) == before
    assert not (tmp_path / "trash").exists()
    assert trash.put(tmp_path / "nothing.pc2") is None


def test_a_bake_whose_place_is_taken_comes_back_as_an_older_one(tmp_path):
    path = bake(tmp_path / "shirt.pc2", 2)
    before, first = contents(path), trash.put(path)
    trash.put(bake(path, 3))
    now = contents(bake(path, 4))
    assert trash.restore(first) == tmp_path / "shirt.bak1.pc2"
    assert contents(tmp_path / "shirt.bak1.pc2") == before and contents(path) == now
    assert [cached_frames(gone) for gone in trash.trashed(tmp_path)] == [range(1, 4)]


def test_what_is_deleted_is_whole_bakes_of_ours(tmp_path):
    gone = trash.put(bake(tmp_path / "shirt.pc2"))
    for stranger in (gone.parent / "letter.txt", tmp_path / "trash" / "thesis.pc2"):
        stranger.write_bytes(b"four years")
    (tmp_path / "trash" / "coat~1").mkdir()
    (tmp_path / "trash" / "coat~1" / "coat.journal").write_bytes(b"day 1: nothing")
    assert trash.trashed(tmp_path) == [gone]
    trash.delete(gone)
    left = sorted(str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file())
    assert left == ["trash/coat~1/coat.journal", "trash/shirt~1/letter.txt", "trash/thesis.pc2"]


def test_what_taffeta_did_not_write_is_not_freed(tmp_path):
    (tmp_path / "trousers.pc2").write_bytes(b"foreign")
    with pytest.raises(ValueError, match="not baked by Taffeta"):
        trash.put(tmp_path / "trousers.pc2")
    assert os.listdir(tmp_path) == ["trousers.pc2"]


@links
def test_a_trash_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    path = bake(tmp_path / "cache" / "shirt.pc2")
    before = contents(path)
    (path.parent / "trash").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="trash is a link or a file: remove it"):
        trash.put(path)
    assert contents(path) == before and not os.listdir(tmp_path / "elsewhere")
    bake(tmp_path / "elsewhere" / "shirt~1" / "shirt.pc2")
    assert trash.trashed(path.parent) == [], "what lies behind a link is not listed"


@pytest.mark.parametrize("done", range(1, 6))
@pytest.mark.parametrize("way", ["in", "out"])
def test_a_move_that_was_cut_short_is_taken_back(tmp_path, monkeypatch, way, done):
    """After each number of files that were moved."""
    path = bake(tmp_path / "shirt.pc2")
    bake(tmp_path / "coat.pc2")
    before, order = contents(path), trash._in_order
    gone = trash.put(path) if way == "out" else None
    cut = slice(None, done) if way == "in" else slice(6 - done, None)
    with monkeypatch.context() as patch:
        patch.setattr(trash, "_in_order", lambda which: order(which)[cut])
        trash.put(path) if way == "in" else trash.restore(gone)
    trash.mend(tmp_path)
    assert contents(path) == before and trash.trashed(tmp_path) == []
    assert trash.restore(trash.put(path)) == path and contents(path) == before


def test_notes_go_where_their_bake_goes(tmp_path):
    path = bake(tmp_path / "shirt.pc2")
    before = contents(path)
    assert contents(copy_aside(path)) == before
    assert contents(set_aside(path)) == before and not names.companions(path)[0].exists()
    assert put_back(tmp_path / "shirt.bak2.pc2", path) and contents(path) == before
    assert not put_back(tmp_path / "shirt.bak1.pc2", path), "the place is taken"


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"label": 3}', '{"label": "a\\u0000b"}', "[" * 50000, "x" * (1 << 17)]
)
def test_notes_that_somebody_edited_are_harmless(tmp_path, text):
    path = bake(tmp_path / "shirt.pc2")
    path.with_suffix(".about.json").write_text(text)
    assert about.read(path).label in ("", "a?b")
    about.write(path, about.About("x" * 1000))
    assert about.read(path).label == "x" * about.LONGEST_ABOUT


def test_frames_are_copied_to_go_on_from(tmp_path):
    path = bake(tmp_path / "shirt.pc2", 5, "one.blend")
    before = contents(path)
    assert copy_frames(path, tmp_path / "b" / "all.pc2", "../two.blend")
    assert copy_frames(path, tmp_path / "some.pc2", "two.blend", before=4)
    assert not copy_frames(path, tmp_path / "none.pc2", "two.blend", before=1)
    assert contents(path) == before and not list(tmp_path.glob("none*"))
    assert (
        owner_of(tmp_path / "b" / "all.pc2") == "../two.blend"
        and about.read(tmp_path / "b" / "all.pc2").label == "wide"
    )
    for name, count in (("b/all.pc2", 5), ("some.pc2", 3)):
        with open_cache(tmp_path / name, COUNT, 1, 24.0) as cache:
            assert cache.good_frames() == range(1, count + 1) and cache.older is None
            assert cache.load(3)[0].tolist() == np.full((COUNT, 3), 3.0).tolist()
    with pytest.raises(OSError, match="not copied over another one"):
        copy_frames(path, tmp_path / "some.pc2", "")


@links
@pytest.mark.parametrize("suffix", [".pc2", ".state"])
def test_no_pipe_and_no_link_is_copied(tmp_path, suffix):
    path = bake(tmp_path / "shirt.pc2")
    part = path.with_suffix(suffix)
    part.rename(tmp_path / "elsewhere")
    part.symlink_to(tmp_path / "elsewhere")
    assert not copy_frames(path, tmp_path / "copy.pc2", "")
    part.unlink()
    os.mkfifo(part)
    assert not copy_frames(path, tmp_path / "copy.pc2", "") and not list(tmp_path.glob("copy*"))


def test_a_copy_that_is_stopped_or_fails_leaves_nothing(tmp_path):
    path = bake(tmp_path / "shirt.pc2", 5)
    before = sorted(os.listdir(tmp_path))
    answers = iter([True, False])
    assert not copy_frames(path, tmp_path / "copy.pc2", "", go_on=lambda share: next(answers))
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match="cannot be copied to .*copy.pc2"):
        copy_frames(path, tmp_path / "file" / "copy.pc2", "")
    (tmp_path / "file").unlink()
    assert sorted(os.listdir(tmp_path)) == before


def test_a_copy_tells_how_far_it_is_and_appears_when_it_is_whole(tmp_path, monkeypatch):
    """A process that is killed at any moment leaves unfinished files alone, which the next one takes away."""
    monkeypatch.setattr(moves, "COPIED_BYTES", 100)
    path, target, shares = bake(tmp_path / "shirt.pc2", 5), tmp_path / "copy.pc2", []

    def go_on(share):
        shares.append(share)
        assert not [part for part in (*names.parts(target), *names.companions(target)) if part.exists()]
        return True

    (tmp_path / "copy.state.part").write_bytes(b"half")
    assert copy_frames(path, target, "", go_on=go_on)
    assert shares[0] == 0.0 and shares == sorted(set(shares)) and 0.9 < shares[-1] < 1.0 and len(shares) > 15
    assert contents(target).keys() == contents(path).keys() and not list(tmp_path.glob("*.part"))


def test_copied_frames_are_dropped_without_another_copy(tmp_path):
    path = bake(tmp_path / "shirt.pc2", 5)
    copy_frames(path, tmp_path / "copy.pc2", "")
    with open_cache(tmp_path / "copy.pc2", COUNT, 1, 24.0) as cache:
        cache.borrowed = True
        cache.truncate_to(0)
        assert cache.older is None and not cache.good_frames()


def test_a_bake_of_nobody_gets_an_owner_once(tmp_path):
    path = bake(tmp_path / "shirt.pc2")
    before = contents(path)
    assert claim(path, "a.blend") and not claim(path, "b.blend") and owner_of(path) == "a.blend"
    after = contents(path)
    assert after.pop(".journal").split(b"\n")[1:] == before.pop(".journal").split(b"\n")[1:] and after == before
    with open_cache(path, COUNT, 1, 24.0) as cache:
        assert cache.good_frames() == range(1, 4)
        assert not claim(path, "")
