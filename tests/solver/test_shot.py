# SPDX-License-Identifier: GPL-3.0-or-later
"""A shot: digests, skipping, going stale, going on, pre-roll, restarts, and a process that is killed."""

import os
import random
import subprocess
import sys
import time
from collections import namedtuple

import numpy as np
import pytest
from taffeta.solver import shot
from taffeta.solver.cache import names, pc2
from taffeta.solver.cache.frames import cached_frames, open_cache
from taffeta.solver.cache.trash import put
from taffeta.solver.filed import object_samples
from taffeta.solver.model import Cloth, Collider, FrameInput, Report, Settings, State

SIZES = (5, 3)  # vertices of the two garments


def scene(seed=0, origin=(100.0, -7.0, 3.0)):
    """A `Cloth` with what `shot` reads filled in, and its start."""
    rng = np.random.default_rng(seed)
    fields = dict.fromkeys(Cloth._fields, np.zeros(0))
    start = np.concatenate(([0], np.cumsum(SIZES))).astype(np.int32)
    cloth = Cloth(**fields)._replace(origin=np.array(origin), garment_start=start, x_rest=rng.normal(size=(8, 3)))
    return cloth, State(cloth.x_rest.copy(), np.zeros((8, 3)))


def frame_input(frame, pull=1.0):
    """Input that differs from frame to frame, with a moving object matrix and a collider."""
    rng = np.random.default_rng(abs(frame))
    collider = Collider("body", rng.normal(size=(2, 4, 3)), np.array([[0, 1, 2]], np.int32), 0.3, 0.0, 0.005)
    matrix = np.tile(np.eye(4), (len(SIZES), 1, 1))
    matrix[1, :3, 3] = frame, 2.0, 3.0
    targets = rng.normal(size=(2, 8, 3))
    return FrameInput(1 / 24, targets, (collider,), np.array([0.0, 0.0, -9.81 * pull]), np.zeros(3), matrix)


def chaos(cloth, state, given, frame, settings):
    """In place of a solver: any change of state or input changes every later bit."""
    state.v[:] = np.sin(7.0 * state.x + given.targets[1] + given.gravity + settings.seed + frame)
    state.x[:] = 0.5 * state.x + state.v / 3.0
    return Report(frame, {}, 0.0, 0.0, 0, 0)


def paths(folder):
    return names.cache_paths(folder, ["shirt", "trousers"])


def bake(folder, frames=range(1, 9), inputs=None, first=None, settings=None, cloth_and_state=None, **options):
    """Bake to `folder`; returns which frames were simulated."""
    cloth, state = cloth_and_state or scene()
    inputs = inputs if inputs is not None else (frame_input(frame) for frame in frames)
    first = frames.start if first is None else first
    caches = []
    try:
        for path, size in zip(paths(folder), SIZES, strict=True):
            caches.append(open_cache(path, size, first, 24.0))
        options.setdefault("advance", chaos)
        steps = shot.run(cloth, state, inputs, frames, settings or Settings(), caches, **options)
        return [frame for frame, report in steps if report is not None]
    finally:
        for cache in caches:
            cache.close()


def contents(folder):
    return {part.name: part.read_bytes() for path in paths(folder) for part in names.parts(path)}


def test_a_second_run_simulates_nothing_and_changes_nothing(tmp_path):
    assert bake(tmp_path) == list(range(2, 9))
    before = contents(tmp_path)
    assert bake(tmp_path) == []
    assert contents(tmp_path) == before


def test_samples_are_in_object_space_and_the_first_is_the_start(tmp_path):
    bake(tmp_path)
    cloth, state = scene()
    shirt, trousers = map(pc2.read, paths(tmp_path))
    assert np.array_equal(shirt[0], (state.x[:5] + cloth.origin).astype(np.float32))
    assert np.abs(trousers[0] - (state.x[5:] + cloth.origin + [1.0, 2.0, 3.0])).max() < 1e-5
    chaos(cloth, state, frame_input(2), 2, Settings())
    assert np.abs(trousers[1] - (state.x[5:] + cloth.origin + [2.0, 2.0, 3.0])).max() < 1e-5


def test_a_garment_far_away_keeps_its_digits_in_object_space():
    cloth, state = scene(origin=(1e7, -1e7, 3.0))
    turn = np.eye(4)
    turn[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    turn[:3, 3] = -turn[:3, :3] @ cloth.origin
    samples = object_samples(cloth, state, np.stack([turn, turn]))
    assert np.abs(samples[0] - state.x[:5] @ turn[:3, :3].T).max() < 1e-15


def test_a_longer_range_goes_on_where_the_shorter_ended(tmp_path):
    assert bake(tmp_path / "a", range(1, 5)) == [2, 3, 4]
    assert bake(tmp_path / "a", range(1, 9)) == [5, 6, 7, 8]
    bake(tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert bake(tmp_path / "a", range(1, 4)) == []
    assert cached_frames(paths(tmp_path / "a")[0]) == range(1, 9)


@pytest.mark.parametrize("changed", [1, 4, 8])
def test_a_bake_is_stale_from_the_first_frame_that_changed(tmp_path, changed):
    bake(tmp_path / "a")
    old = contents(tmp_path / "a")
    inputs = [frame_input(frame, 1.0 if frame < changed else 0.5) for frame in range(1, 9)]
    assert bake(tmp_path / "a", inputs=inputs) == list(range(max(2, changed), 9))
    bake(tmp_path / "b", inputs=inputs)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    if changed < 8:  # more than one frame went: the old bake is still there
        kept = {part.name: part.read_bytes() for path in paths(tmp_path / "a") for part in names.parts(
            path.with_name(f"{path.stem}.bak1.pc2"))}  # fmt: skip
        assert list(kept.values()) == list(old.values())


def test_what_a_body_is_called_makes_no_bake_stale(tmp_path):
    bake(tmp_path)
    given = map(frame_input, range(1, 9))
    renamed = [each._replace(colliders=tuple(b._replace(name="Anna") for b in each.colliders)) for each in given]
    assert bake(tmp_path, inputs=renamed) == []


@pytest.mark.parametrize("field", FrameInput._fields)
def test_every_input_of_a_frame_counts(field):
    given = frame_input(3)
    value = getattr(given, field)
    if field == "colliders":
        for part in Collider._fields:
            known = {"name": "other", "meets": (True, False)}
            other = known[part] if part in known else getattr(value[0], part) + 1
            changed = given._replace(colliders=(value[0]._replace(**{part: other}),))
            assert shot.digest_of(changed) != shot.digest_of(given)
        return
    is_number = isinstance(value, (float, np.ndarray))
    other = np.nextafter(value, 1e9) if is_number else (1.0,)  # what most frames do not have is None or ()
    assert shot.digest_of(given._replace(**{field: other})) != shot.digest_of(given)


def test_settings_and_the_garments_themselves_count(tmp_path):
    bake(tmp_path)
    assert bake(tmp_path, settings=Settings(seed=1)) == list(range(2, 9))
    cloth, state = scene()
    for field in Cloth._fields:
        changed = cloth._replace(**{field: np.concatenate((np.ravel(getattr(cloth, field)), [1.0]))})
        assert shot.digest_of(changed) != shot.digest_of(cloth)


def test_what_is_left_off_makes_no_bake_stale_that_was_made_before_it_could_be_chosen(tmp_path):
    before = namedtuple("Before", Settings._fields[:-1])
    before.untangle_each = True  # all that there is counts
    bake(tmp_path, settings=before(*Settings()[:-1]))
    assert bake(tmp_path, settings=Settings()) == []
    assert bake(tmp_path, settings=Settings(untangle_each=True)) == list(range(2, 9))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.zeros(2), np.zeros((2, 1))),
        (np.zeros(2, np.float32), np.zeros(1, np.float64)),
        (("ab", "c"), ("a", "bc")),
        (((1, 2), 3), ((1,), 2, 3)),
        (1, 1.0),
        (0, False),
        (None, ()),
        (0.0, -0.0),
        (b"a", "a"),
        ((np.zeros(0), np.ones(1)), (np.ones(1), np.zeros(0))),
    ],
)
def test_different_things_have_different_digests(one, other):
    assert shot.digest_of(one) != shot.digest_of(other)


def test_a_digest_does_not_depend_on_how_an_array_lies_in_memory():
    array = np.arange(12.0).reshape(3, 4)
    assert shot.digest_of(np.asfortranarray(array)) == shot.digest_of(array)
    assert shot.digest_of(np.repeat(array, 2, axis=0)[::2]) == shot.digest_of(array)


def test_one_garment_behind_the_other_after_a_kill(tmp_path):
    bake(tmp_path)
    whole = contents(tmp_path)
    with open_cache(paths(tmp_path)[1], 3, 1, 24.0) as cache:
        cache.truncate_to(7)
    assert bake(tmp_path) == [8]
    assert contents(tmp_path) == whole
    assert len(os.listdir(tmp_path)) == 6


@pytest.mark.parametrize("lacking", [0, 1])
@pytest.mark.parametrize("preroll", [0, 3])
def test_one_garment_without_a_frame_begins_all_anew(tmp_path, lacking, preroll):
    frames = range(1 - preroll, 9)
    bake(tmp_path, frames, first=1)
    whole, path = contents(tmp_path), paths(tmp_path)[1 - lacking]
    put(paths(tmp_path)[lacking])
    assert bake(tmp_path, frames, first=1) == list(frames)[1:]
    assert contents(tmp_path) == whole
    older = names.parts(names.older_bakes(path)[0])
    assert [part.read_bytes() for part in older] == [whole[part.name] for part in names.parts(path)]


def test_pre_roll_is_simulated_but_not_written_and_skipped_when_all_is_good(tmp_path):
    assert bake(tmp_path / "a", range(-3, 5), first=1) == list(range(-2, 5))
    assert cached_frames(paths(tmp_path / "a")[0]) == range(1, 5)
    bake(tmp_path / "b", range(-3, 5))
    assert np.array_equal(pc2.read(paths(tmp_path / "a")[0]), pc2.read(paths(tmp_path / "b")[0])[4:])
    assert bake(tmp_path / "a", range(-3, 5), first=1) == []
    changed = [frame_input(frame, 0.5 if frame == -1 else 1.0) for frame in range(-3, 5)]
    assert bake(tmp_path / "a", range(-3, 5), first=1, inputs=changed) == list(range(-2, 5))
    later = [*changed[:6], *(frame_input(frame, 0.2) for frame in (3, 4))]
    assert bake(tmp_path / "a", range(-3, 5), first=1, inputs=later) == [3, 4]
    bake(tmp_path / "c", range(-3, 5), first=1, inputs=later)
    assert contents(tmp_path / "a") == contents(tmp_path / "c")


def test_from_a_frame_on_keeps_those_before_whatever_they_were_made_of(tmp_path):
    bake(tmp_path / "a")
    old = contents(tmp_path / "a")
    silk = Settings(seed=5)
    assert bake(tmp_path / "a", settings=silk, from_frame=5) == [5, 6, 7, 8]
    new = pc2.read(paths(tmp_path / "a")[0])
    size = 32 + 12 * 5 * 4
    assert contents(tmp_path / "a")["shirt.pc2"][32:size] == old["shirt.pc2"][32:size]
    assert not np.array_equal(new[4], np.frombuffer(old["shirt.pc2"][32:], "<f4").reshape(8, 5, 3)[4])
    # That is what the animator wanted: it is not stale, and a later run goes on from it.
    assert bake(tmp_path / "a", settings=silk) == []
    assert bake(tmp_path / "a", range(1, 11), settings=silk) == [9, 10]
    earlier = [frame_input(frame, 0.5 if frame == 2 else 1.0) for frame in range(1, 9)]
    assert bake(tmp_path / "a", settings=silk, inputs=earlier) == []  # those were kept as they are, so they may differ
    assert bake(tmp_path / "a", settings=Settings(seed=6)) == [5, 6, 7, 8]


def test_from_a_frame_on_with_another_origin_does_not_jump(tmp_path):
    bake(tmp_path)
    before = pc2.read(paths(tmp_path)[0])[3].copy()
    moved = scene(origin=(0.0, 0.0, 0.0))
    still = lambda cloth, state, given, frame, settings: Report(frame, {}, 0.0, 0.0, 0, 0)  # noqa: E731
    bake(tmp_path, cloth_and_state=moved, from_frame=5, advance=still)
    assert np.abs(pc2.read(paths(tmp_path)[0])[4] - before).max() < 1e-5


def test_from_the_first_frame_on_bakes_everything_anew(tmp_path):
    bake(tmp_path)
    assert bake(tmp_path, from_frame=1) == list(range(2, 9))
    assert bake(tmp_path, from_frame=-5) == list(range(2, 9))


def test_from_a_frame_that_has_nothing_before_it_gets_a_sentence(tmp_path):
    bake(tmp_path, range(1, 4))
    with pytest.raises(ValueError, match="has good frames up to 3: bake from frame 4 on"):
        bake(tmp_path, from_frame=6)
    assert bake(tmp_path, from_frame=4) == [4, 5, 6, 7, 8]


def test_caches_that_do_not_fit_get_a_sentence(tmp_path):
    with pytest.raises(ValueError, match="do not fit caches that start at 20"):
        bake(tmp_path, range(1, 9), first=20)
    with pytest.raises(ValueError, match="frames 5 to 4 do not fit"):
        bake(tmp_path, range(5, 5))


def test_stopping_keeps_what_is_done(tmp_path):
    cloth, state = scene()
    with open_cache(paths(tmp_path)[0], 5, 1, 24.0) as first, open_cache(paths(tmp_path)[1], 3, 1, 24.0) as second:
        steps = shot.run(
            cloth, state, map(frame_input, range(1, 9)), range(1, 9), Settings(), [first, second], advance=chaos
        )
        assert [next(steps)[0] for _ in range(3)] == [1, 2, 3]
        steps.close()
    assert bake(tmp_path) == [4, 5, 6, 7, 8]
    bake(tmp_path / "b")
    whole = contents(tmp_path / "b")
    assert contents(tmp_path) == whole


def test_a_simulation_that_leaves_the_finite_numbers_keeps_the_frames_before(tmp_path):
    def explode(cloth, state, given, frame, settings):
        if frame == 5:
            raise FloatingPointError("shirt is not finite at frame 5")
        return chaos(cloth, state, given, frame, settings)

    with pytest.raises(FloatingPointError, match="shirt"):
        bake(tmp_path, advance=explode)
    assert cached_frames(paths(tmp_path)[0]) == range(1, 5)
    assert bake(tmp_path) == [5, 6, 7, 8]


KILLED = """
import sys
sys.path.insert(0, sys.argv[2])
import test_shot

def tell(*arguments):
    print(arguments[3], flush=True)
    return test_shot.chaos(*arguments)

test_shot.bake(sys.argv[1], range(1, 301), advance=tell)
print("done", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_killed_at_random_moments_a_bake_ends_with_the_same_bytes(tmp_path):
    """At most the frame in flight is lost each time, and the end is that of an uninterrupted run, bit for bit."""
    rng = random.Random(20)
    folder, done = tmp_path / "a", 0
    for _ in range(60):
        command = [sys.executable, "-c", KILLED, str(folder), os.path.dirname(__file__)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            last, lines_left = done, rng.randrange(1, 60)
            for line in process.stdout:
                if line == "done\n":
                    break
                last, lines_left = int(line), lines_left - 1
                if lines_left == 0:
                    time.sleep(rng.random() * 2e-3)
                    process.kill()
                    break
            told = [last] + [int(line) for line in process.stdout if line != "done\n"]
        done = cached_frames(paths(folder)[0]).stop - 1 if cached_frames(paths(folder)[0]) else 0
        assert done >= told[-1] - 1  # the frame that was told of last is the one in flight
        if line == "done\n":
            break
    assert line == "done\n"
    assert bake(folder, range(1, 301)) == []
    bake(tmp_path / "b", range(1, 301))
    assert contents(folder) == contents(tmp_path / "b")
    assert sorted(os.listdir(folder)) == sorted(contents(folder))


def test_the_real_solver_goes_on_with_the_same_bits(tmp_path):
    from taffeta.solver.build import build
    from taffeta.solver.model import Garment

    side = 7
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side), [0.0], indexing="ij"), -1).reshape(-1, 3) * 0.03
    index = np.arange(side * side).reshape(side, side)
    quads = np.stack([index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]], -1).reshape(-1, 4)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int32)
    edges = np.unique(
        np.sort(np.concatenate([quads[:, [0, 1]], quads[:, [1, 2]], quads[:, [2, 3]], quads[:, [3, 0]]])), axis=0
    )
    pin = np.zeros(side * side)
    pin[0] = 1.0
    value = dict(mass=0.15, thickness=2e-3, stretch_stiffness=2e3, shear_stiffness=1e2, bending_stiffness=1e-5)
    value |= dict(damping=2.0, friction=0.3, pin_distance=np.inf)
    arrays = {name: np.full(side * side, number) for name, number in value.items()}
    garment = Garment(
        "flag", grid, grid + 1e4, triangles, quads.astype(np.int32), edges.astype(np.int32), None,
        pin=pin, layer=0, self_collision=True, **arrays,
    )  # fmt: skip

    def run(folder, last):
        cloth, state = build([garment], Settings())
        given = FrameInput(
            1 / 24, (grid + 1e4)[None].repeat(2, 0), (), np.array([0, 0, -9.81]), np.array([0.0, 3.0, 0.0])
        )
        with open_cache(folder / "flag.pc2", side * side, 1, 24.0) as cache:
            steps = shot.run(cloth, state, [given] * last, range(1, last + 1), Settings(), [cache])
            return [frame for frame, report in steps if report is not None]

    assert run(tmp_path / "a", 3) == [2, 3]
    assert run(tmp_path / "a", 6) == [4, 5, 6]
    assert run(tmp_path / "b", 6) == [2, 3, 4, 5, 6]
    for suffix in names.BAKE_SUFFIXES:
        assert (tmp_path / "a" / f"flag{suffix}").read_bytes() == (tmp_path / "b" / f"flag{suffix}").read_bytes()
