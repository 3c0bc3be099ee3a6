# SPDX-License-Identifier: GPL-3.0-or-later
"""`benchmarks/crowd_cycle.py` takes hours: it can be cut short and goes on as if it had not been."""

import crowd_cycle
from taffeta.solver.model import Settings


def fed(heap, frames):
    """A heap after one more shirt, and its frames."""
    heap.add()
    for _ in range(frames):
        heap.advance(False)
    return heap


def test_a_heap_that_is_taken_up_again_goes_on_with_the_same_bits(tmp_path):
    settings, path = Settings(cloth_contact="VELOCITY_FIELD", substeps=10), tmp_path / "heap.npz"
    whole = fed(crowd_cycle.Heap(settings, 0.8), 3)
    whole.keep(path)
    fed(whole, 2)
    again = crowd_cycle.Heap(settings, 0.8)
    again.take_up(path)
    fed(again, 2)
    assert again.frame == whole.frame == 5 and len(again.garments) == 2
    assert again.places().tobytes() == whole.places().tobytes()
    assert again.state.v.tobytes() == whole.state.v.tobytes()
