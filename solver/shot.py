# SPDX-License-Identifier: GPL-3.0-or-later
"""A shot: frame after frame, simulated and written, or skipped where the cache already holds the same.

Every frame has a digest: the hash of the frame before's digest and of all that this frame is made of, down to
the last bit; the first one hashes cloth, start state and settings. A cached frame is good as long as its digest
is the one that today's scene gives, so the first that differs says from where on a bake is stale, and a bake
that was killed, stopped or partly changed goes on from the frame before, with the same bits as if it had run
through.

Killing the process at any moment loses at most the frame in flight (`cache.frames`). To stop, close the generator.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from . import step
from .cache.frames import FrameCache
from .cache.journal import NEVER_STILL
from .digest import digest_of
from .filed import object_samples
from .model import RELEASE, Cloth, FrameInput, Report, Settings, State

Advance = Callable[[Cloth, State, FrameInput, int, Settings], Report]


def run(
    cloth: Cloth,
    state: State,
    inputs: Iterable[FrameInput],
    frames: range,
    settings: Settings,
    caches: Sequence[FrameCache],
    from_frame: int | None = None,
    advance: Advance = step.advance,
) -> Iterator[tuple[int, Report | None]]:
    """Bring every frame of `frames` to disk; yields (frame, report), report None where nothing was simulated.

    Parameters
    ----------
    cloth, state : what `build.build` gave. `state` is the start and is changed in place.
    inputs : one FrameInput for each frame, in order; may be a generator that blocks while frames are sampled.
        The first frame is the start state itself: of its input only `to_object` matters.
    frames : first to last frame; those before the caches' first frame are pre-roll, simulated and not written.
    caches : one per garment, opened with the same first frame; frames after the first that is stale, or that one of
        them lacks, are dropped from all, with a copy kept (`FrameCache.older`).
    from_frame : bake this frame and all after it anew, and keep those before whatever they were made of.
    advance : simulates one frame.

    Raises
    ------
    FloatingPointError
        The simulation left the finite numbers; frames before are on disk.
    OSError
        Disk full, folder gone: a sentence; frames before are on disk.
    ValueError
        The caches do not fit cloth and frames, or `from_frame` has no good frame before it.
    """
    _check(cloth, frames, caches)
    first = caches[0].first_frame
    restart = _restart_frame(caches) if from_frame is None else _checked_start(caches, from_frame)
    cached = any(cache.good_frames() for cache in caches)  # what one has alone goes at the first frame, set aside
    waiting: list[tuple[int, FrameInput]] = []  # pre-roll that nobody needs if the caches turn out good
    for frame, frame_input, digest in _digests(cloth, state, inputs, frames, settings, caches, restart):
        if cached and frame < first:
            waiting.append((frame, frame_input))
            continue
        if cached and (from_frame is None or frame < from_frame) and _is_good(caches, frame, digest, restart):
            waiting.clear()
            yield frame, None
            continue
        if cached:
            cached = False
            _return_to(cloth, state, caches, frame - 1)
            for earlier, earlier_input in waiting:
                yield (
                    earlier,
                    None if earlier == frames.start else advance(cloth, state, earlier_input, earlier, settings),
                )
        report = None if frame == frames.start else advance(cloth, state, frame_input, frame, settings)
        if frame >= first:
            samples = object_samples(cloth, state, frame_input.to_object)
            _write(cloth, state, caches, frame, digest, samples, frame == restart)
        yield frame, report


def _check(cloth: Cloth, frames: range, caches: Sequence[FrameCache]) -> None:
    counts = np.diff(cloth.garment_start).tolist()
    if [cache.vertex_count for cache in caches] != counts:
        raise ValueError(f"the caches hold {[cache.vertex_count for cache in caches]} vertices, the garments {counts}")
    starts = {cache.first_frame for cache in caches}
    if len(starts) != 1 or frames.step != 1 or not frames or starts.pop() not in frames:
        raise ValueError(
            f"frames {frames.start} to {frames.stop - 1} do not fit caches that start at {caches[0].first_frame}"
        )


def _checked_start(caches: Sequence[FrameCache], from_frame: int) -> int | None:
    """`from_frame`, or None where it means all frames; ValueError where frames before it are missing."""
    first = caches[0].first_frame
    if from_frame <= first:
        return None
    for cache in caches:
        if from_frame - 1 not in cache.good_frames():
            last = cache.good_frames().stop - 1
            held = f"good frames up to {last}" if last >= first else "no good frame"
            raise ValueError(f"{cache.path} has {held}: bake from frame {last + 1} on, or all of it")
    return from_frame


def _restart_frame(caches: Sequence[FrameCache]) -> int | None:
    """The last frame from which an animator had the bake made anew; the frames before are kept as they are."""
    common = range(caches[0].first_frame, min(cache.good_frames().stop for cache in caches))
    return next((frame for frame in reversed(common) if all(cache.line(frame).restart for cache in caches)), None)


def _digests(cloth, state, inputs, frames, settings, caches, restart) -> Iterator[tuple[int, FrameInput, bytes]]:
    # However patches are found, they are the same; and what untangles no frame is as before that could be chosen.
    named = settings._replace(broad_phase="")._asdict().items()
    told = tuple(value for name, value in named if value or name != "untangle_each")
    start = digest = digest_of(RELEASE, cloth, state, told, frames.start)
    for frame, frame_input in zip(frames, inputs, strict=False):
        if frame == restart:
            digest = digest_of(start, caches[0].line(frame - 1).digest)
        digest = digest_of(digest, _without_names(frame_input))
        yield frame, frame_input, digest


def _without_names(frame_input: FrameInput) -> FrameInput:
    """What a body is called changes nothing."""
    return frame_input._replace(colliders=tuple(body._replace(name="") for body in frame_input.colliders))


def _is_good(caches: Sequence[FrameCache], frame: int, digest: bytes, restart: int | None) -> bool:
    kept = restart is not None and frame < restart
    return all(frame in cache.good_frames() and (kept or cache.line(frame).digest == digest.hex()) for cache in caches)


def _return_to(cloth: Cloth, state: State, caches: Sequence[FrameCache], frame: int) -> None:
    """Drop what comes after `frame` from the caches and put the state back to it, if they reach back so far."""
    for cache, start, end in zip(caches, cloth.garment_start[:-1], cloth.garment_start[1:], strict=True):
        cache.truncate_to(frame)
        if frame >= cache.first_frame:
            x, v, origin = cache.load(frame)
            # Adding a zero would turn -0.0 into 0.0, and a resumed bake has to have the same bits.
            state.x[start:end] = x if np.array_equal(origin, cloth.origin) else x + (origin - cloth.origin)
            state.v[start:end] = v
            if state.broken is not None:
                state.broken[start:end] = cache.broken(frame)
    if state.still is not None:
        state.still[:] = [cache.line(frame).still if frame >= cache.first_frame else NEVER_STILL for cache in caches]
    _bring_back(cloth, state, caches, frame)


def _bring_back(cloth, state, caches, frame) -> None:
    """What stayed of bending and stretch; nothing where a garment did not yield when the frame was baked."""
    if state.plastic is None:
        return
    bounds = zip(cloth.plastic.start[:-1], cloth.plastic.start[1:], strict=True)
    for cache, (start, end) in zip(caches, bounds, strict=True):
        kept = cache.plastic(frame) if frame >= cache.first_frame else np.zeros(0)
        state.plastic[start:end] = kept if len(kept) == end - start else 0.0


def _write(cloth, state, caches, frame, digest, samples, restart) -> None:
    bounds = zip(cloth.garment_start[:-1], cloth.garment_start[1:], strict=True)
    for index, (cache, sample, (start, end)) in enumerate(zip(caches, samples, bounds, strict=True)):
        plastic = None
        if state.plastic is not None:
            plastic = state.plastic[cloth.plastic.start[index] : cloth.plastic.start[index + 1]]
        broken = None if state.broken is None else state.broken[start:end]
        motion = state.x[start:end], state.v[start:end]
        still = NEVER_STILL if state.still is None else tuple(state.still[index].tolist())
        cache.append(frame, digest, sample, *motion, cloth.origin, restart, broken, plastic, still)
