# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake on disk that survives a killed process and can go on from any frame.

Three files a garment, side by side:

- `NAME.pc2`: object-space positions, float32, which Blender's Mesh Cache plays (`pc2`);
- `NAME.state`: x then v of each frame, float64, 48 bytes a particle, and behind them what stayed of bending and stretch in
  cloth that yields, so that any frame can be restarted exactly;
- `NAME.journal`: a JSON header, then one JSON line a frame with the checksums of its sample and its state, the
  digest of all that led to it (`shot`) and what ties are broken. A frame exists when its journal line is whole and both checksums agree.

A frame is written in the order sample, state, journal line, number of samples in the PC2 header: whatever moment a
process dies at, the frames before are whole, and opening the cache cuts the torn rest away. Frames that are more than
such a torn rest are never dropped without a copy (`set_aside`). A killed process loses nothing that it handed to the
operating system; against a power cut the files are synced to the disk, at most every `SYNC_INTERVAL` seconds, because
a disk takes milliseconds for it and a frame does not.
"""

import contextlib
import os
import time
import zlib
from pathlib import Path
from typing import BinaryIO

import numpy as np

from . import pc2
from .files import is_plain
from .intact import good_count, state_bytes
from .journal import JOURNAL_FORMAT, NEVER_STILL, Line, line_bytes, pack_broken, read_journal, unpack_broken
from .moves import copy_aside, set_aside
from .names import lock_file, older_name, parts, release_lock, take_lock
from .open_files import is_at, is_outgrown, write_at, written_anew

SYNC_INTERVAL = 1.0  # [s]


class FrameCache:
    """One garment's bake, open for writing; use it as a context manager or call `close`.

    path, vertex_count, first_frame and fps as given to `open_cache`. `older` is where an earlier bake was
    set aside to when that was needed, else None. `borrowed`: its frames are a copy of those of a bake that stays
    (`moves.copy_frames`), so that they may be dropped without another one. `remade`: files that somebody deleted while they were
    written.
    """

    def __init__(self, path: Path, vertex_count: int, first_frame: int, fps: float, owner: str = ""):
        self.path = path
        self.vertex_count = vertex_count
        self.first_frame = first_frame
        self.fps = fps
        self.owner = owner
        self.older: Path | None = None
        self.borrowed = False
        self.remade: list[Path] = []
        self._lines: list[Line] = []
        self._journal_end: list[int] = []  # size of the journal after each line; [0] after the header
        self._files: dict[str, BinaryIO] = {}
        self._lock: BinaryIO | None = None
        self._synced_at = 0.0

    def __enter__(self) -> "FrameCache":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def good_frames(self) -> range:
        """Frames that are whole on disk, from `first_frame` on without a gap."""
        return range(self.first_frame, self.first_frame + len(self._lines))

    def line(self, frame: int) -> Line:
        """Journal line of a good frame."""
        return self._lines[frame - self.first_frame]

    def append(
        self,
        frame: int,
        digest: bytes,
        sample: np.ndarray,
        x: np.ndarray,
        v: np.ndarray,
        origin: np.ndarray | None = None,
        restart: bool = False,
        broken: np.ndarray | None = None,
        plastic: np.ndarray | None = None,
        still: tuple[float, float] = NEVER_STILL,
    ) -> None:
        """Add the frame after the last good one.

        sample : (n, 3) [m] object space, stored as float32.
        x, v : (n, 3) [m], [m/s] float64, x relative to `origin` (3,).
        broken : (n,) uint8, as in `State`.
        plastic, still : (k,) float64, the garment's part of `State.plastic`, and its row of `State.still`.

        Raises
        ------
        FloatingPointError
            A coordinate is not finite: nothing is written.
        OSError
            Disk full or folder gone: a sentence; the frames before stay good.
        """
        index = len(self._lines)
        if frame != self.first_frame + index:
            raise ValueError(f"{self.path} continues with frame {self.first_frame + index}, not {frame}")
        with np.errstate(over="ignore"):  # too large for float32 is found below
            points = np.ascontiguousarray(sample, "<f4")
        state = np.ascontiguousarray(np.stack((x, v)), "<f8")
        if points.shape != (self.vertex_count, 3) or state.shape != (2, self.vertex_count, 3):
            raise ValueError(f"{self.path} holds {self.vertex_count} vertices, frame {frame} has {len(points)}")
        plastic = np.ascontiguousarray(np.zeros(0) if plastic is None else plastic, "<f8")
        if not (np.isfinite(points).all() and np.isfinite(state).all() and np.isfinite(plastic).all()):
            raise FloatingPointError(
                f"{self.path}: frame {frame} has coordinates that are not finite; it was not written"
            )
        at = (0.0, 0.0, 0.0) if origin is None else tuple(float(value) for value in origin)
        crcs = zlib.crc32(points), zlib.crc32(plastic, zlib.crc32(state))
        line = Line(frame, *crcs, digest.hex(), at, restart, pack_broken(broken), len(plastic), still)
        try:
            write_at(self._files[".pc2"], pc2.sample_offset(self.vertex_count, index), points.data)
            behind = state_bytes(self.vertex_count, self._lines)
            behind += write_at(self._files[".state"], behind, state.data)
            if len(plastic):
                write_at(self._files[".state"], behind, plastic.data)
            end = self._journal_end[-1]
            end += write_at(self._files[".journal"], end, line_bytes(line._asdict()))
        except OSError as error:
            self._cut_files()
            raise _full(self.path, index, error) from error
        self._lines.append(line)
        self._journal_end.append(end)
        pc2.patch_count(self._files[".pc2"], index + 1)
        if time.monotonic() - self._synced_at > SYNC_INTERVAL:
            self._sync()
            self.check_place()

    def load(self, frame: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """State of a good frame: x (n, 3) [m] relative to origin, v (n, 3) [m/s], origin (3,) [m]."""
        values = self._state(frame)[: 6 * self.vertex_count]
        x, v = values.reshape(2, self.vertex_count, 3).copy()
        return x, v, np.array(self.line(frame).origin)

    def plastic(self, frame: int) -> np.ndarray:
        """(k,) float64, what stayed of bending and stretch in a good frame: the garment's part of `State.plastic`."""
        return self._state(frame)[6 * self.vertex_count :].copy()

    def _state(self, frame: int) -> np.ndarray:
        """All numbers of the state of a good frame."""
        before = self._lines[: frame - self.first_frame]
        file = self._files[".state"]
        file.seek(state_bytes(self.vertex_count, before))
        return np.frombuffer(file.read(state_bytes(self.vertex_count, [self.line(frame)])), "<f8")

    def broken(self, frame: int) -> np.ndarray:
        """(n,) uint8, what ties are broken in a good frame, as in `State`."""
        return unpack_broken(self.line(frame).broken, self.vertex_count)

    def truncate_to(self, frame: int) -> None:
        """Keep the frames up to and with `frame`, drop those after it; more than one goes only after a copy."""
        keep = max(0, min(frame + 1 - self.first_frame, len(self._lines)))
        dropped = len(self._lines) - keep
        is_loss = dropped > 1 and not self.borrowed
        if is_loss and not keep:
            self._close_files()
            self.older = set_aside(self.path)
            _open_files(self)
        elif dropped:
            if is_loss:
                self.older = copy_aside(self.path)
            del self._lines[keep:]
            del self._journal_end[keep + 1 :]
            self._cut_files()

    def check_place(self) -> None:
        """Write files anew, from the open ones, that somebody has deleted or moved while they are written, alone or with their folder,
        also by a copy of the folder on another disk, to which a link leads now.

        Raises
        ------
        FileNotFoundError
            Something else stands there, or they cannot be written: a sentence.
        """
        for part in parts(self.path):
            gone = self._files[part.suffix]
            if is_at(gone, part):
                continue
            if os.path.lexists(part) and not is_outgrown(gone, part):
                if (kept := self._kept_elsewhere()) is None:
                    raise FileNotFoundError(
                        f"Something else was put in the place of {part} during the bake, and its frames are lost: remove that and bake again"
                    )
                raise FileNotFoundError(
                    f"Something else was put in the place of {part} during the bake: its frames are kept as {kept.name}; remove "
                    "what was put there and bake again"
                )
            try:
                self._files[part.suffix] = written_anew(gone, part)
            except OSError as error:
                raise FileNotFoundError(
                    f"{part} was deleted or moved during the bake, and cannot be written anew ({error.strerror or error}), so that "
                    "its frames are lost: make room there and bake again"
                ) from error
            gone.close()
            self.remade.append(part)
        if self._lock is not None and not os.path.lexists(lock_file(self.path)):
            self._lock.close()  # of a file that is no more: another bake would not see that this one writes
            self._lock = None
            with contextlib.suppress(OSError):  # who has it by now puts files in the place of these, which is told then
                self._lock = take_lock(self.path)

    def _kept_elsewhere(self) -> Path | None:
        """Write the frames under the name of an older bake, because something else has the place of a file; None if that fails."""
        place, copies = older_name(self.path), []
        try:
            for copy in parts(place):
                copies.append(written_anew(self._files[copy.suffix], copy))
        except OSError:
            for copy, part in zip(copies, parts(place), strict=False):
                copy.close()
                part.unlink()
            return None
        for copy in copies:
            copy.close()
        return place

    def close(self) -> None:
        """Sync to the disk and let go of the files; those of a bake without a frame are deleted."""
        if self._files:
            self._sync()
        is_empty = bool(self._files) and not self._lines
        self._close_files()
        if is_empty:
            _discard_empty(self.path)
        release_lock(self._lock)
        self._lock = None

    def _close_files(self) -> None:
        for file in self._files.values():
            file.close()
        self._files = {}

    def _sync(self) -> None:
        for file in self._files.values():
            os.fsync(file.fileno())
        self._synced_at = time.monotonic()

    def _cut_files(self) -> None:
        """Make the three files hold the good frames and nothing else, the header of the PC2 first."""
        count = len(self._lines)
        pc2.patch_count(self._files[".pc2"], count)
        self._files[".journal"].truncate(self._journal_end[-1])
        self._files[".pc2"].truncate(pc2.sample_offset(self.vertex_count, count))
        self._files[".state"].truncate(state_bytes(self.vertex_count, self._lines))


def open_cache(path: Path, vertex_count: int, first_frame: int, fps: float, owner: str = "") -> FrameCache:
    """Open the bake at `path` (NAME.pc2) to go on with it, or start one.

    owner : whose bake it is if it is a new one (`whose.owner_of`): the .blend, as seen from the folder of the cache.

    A torn last frame is cut away. A bake of another shape, first frame or rate, a file that is not ours, and a bake
    with damage further back are set aside first (`FrameCache.older` says where), so nothing is lost.

    Raises
    ------
    ValueError
        `path` does not end in .pc2, or vertex_count is below 1.
    OSError
        The folder cannot be written, or another bake is writing here: a sentence.
    """
    path = Path(path)
    if path.suffix != ".pc2" or not 1 <= vertex_count < 1 << 31:
        raise ValueError(f"{path}: a cache is a .pc2 file of 1 to 2147483647 vertices, not {vertex_count}")
    cache = FrameCache(path, int(vertex_count), int(first_frame), float(fps), owner)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        cache._lock = take_lock(path)
        _open_files(cache)
    except BlockingIOError:
        raise
    except OSError as error:
        cache._close_files()
        release_lock(cache._lock)
        reason = error.strerror or error
        raise OSError(f"The cache {path} cannot be written ({reason}): choose another cache folder") from error
    return cache


def cached_frames(path: Path) -> range | None:
    """Frames that a bake at `path` says it holds, without touching or checking it; None if there is none."""
    journal = Path(path).with_suffix(".journal")
    try:
        header, lines, _ = read_journal(journal)
        samples = pc2.read_header(Path(path))
    except (OSError, ValueError):
        return None
    if header is None or samples.vertex_count != header["vertex_count"]:
        return None
    first = header["first_frame"]
    return range(first, first + min(len(lines), samples.sample_count))


def _open_files(cache: FrameCache) -> None:
    path = cache.path
    wanted = {
        "format": JOURNAL_FORMAT,
        "vertex_count": cache.vertex_count,
        "first_frame": cache.first_frame,
        "fps": cache.fps,
    }
    ours = all(map(is_plain, parts(path)))
    header, lines, ends = read_journal(path.with_suffix(".journal")) if ours else (None, [], [0])
    fits = header is not None and header | {"owner": ""} == wanted | {"owner": ""}
    good = good_count(path, cache.vertex_count, cache.first_frame, lines) if fits else 0
    if not fits or len(lines) - good > 1:
        if fits and good:
            cache.older = copy_aside(path)
        else:
            if not _discard_empty(path):
                cache.older = set_aside(path)
            header, good = None, 0
    mode = "r+b" if header is not None else "x+b"
    for part in parts(path):
        cache._files[part.suffix] = part.open(mode, buffering=0)
    if header is None:
        ends = [write_at(cache._files[".journal"], 0, line_bytes(wanted | {"owner": cache.owner}))]
        write_at(cache._files[".pc2"], 0, pc2.pack_header(cache.vertex_count, cache.first_frame, 0))
    cache._lines = lines[:good]
    cache._journal_end = ends[: good + 1]
    cache._cut_files()
    cache._sync()


def _discard_empty(path: Path) -> bool:
    """Delete the files of a bake that was killed before its first frame; False if there is anything to lose."""
    samples, states, journal = parts(path)
    present = [part for part in parts(path) if os.path.lexists(part)]
    if any(part.is_symlink() or not part.is_file() for part in present):
        return False
    size = {part: part.stat().st_size for part in present}
    if size.get(samples, 0) > pc2.HEADER_SIZE or size.get(states, 0):
        return False
    if size.get(samples, 0) and not samples.read_bytes().startswith(pc2.PC2_MAGIC[: size[samples]]):
        return False
    if size.get(journal, 0) and (read_journal(journal)[0] is None or read_journal(journal)[1]):
        return False
    for part in present:
        part.unlink()
    return True


def _full(path: Path, good_count: int, error: OSError) -> OSError:
    frames = "1 frame is" if good_count == 1 else f"{good_count} frames are"
    return OSError(
        f"The cache {path} cannot be written ({error.strerror or error}): {frames} kept; make room there, then resume: it goes "
        "on in that folder, also where another Cache Folder is chosen"
    )
