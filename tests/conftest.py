# SPDX-License-Identifier: GPL-3.0-or-later
"""What says the same in every Blender comes last, and is left out, loudly, where a slow machine has no time left for it."""

import os
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BEGAN = time.monotonic()
MEASURES = {"benchmarks", "scripts"}  # folders of tests of programs that nobody installs, and of the texts
MINUTES = float(os.environ.get("TAFFETA_TEST_MINUTES", "inf"))  # after which no test begins that is marked `once`


def is_once(item) -> bool:
    return item.get_closest_marker("once") is not None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if not MEASURES.isdisjoint(item.path.relative_to(HERE).parts):
            item.add_marker(pytest.mark.once)
    items.sort(key=is_once)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if is_once(item) and time.monotonic() > BEGAN + 60.0 * MINUTES:
        pytest.skip(
            f"marked `once`, and no time was left for it after {MINUTES:.0f} minutes on this machine: `make test-4.5` runs it"
        )
