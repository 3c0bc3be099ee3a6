# SPDX-License-Identifier: GPL-3.0-or-later
"""What takes long comes last, and is left out, loudly, where a slow machine has no time left for it."""

import os
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BEGAN = time.monotonic()
MEASURES = {"benchmarks", "scripts"}  # folders of tests of programs that nobody installs, and of the texts
MINUTES = float(os.environ.get("TAFFETA_TEST_MINUTES", "inf"))  # after which no test begins that takes long


def takes_long(item) -> bool:
    return item.get_closest_marker("once") is not None or not MEASURES.isdisjoint(item.path.relative_to(HERE).parts)


def pytest_collection_modifyitems(items):
    items.sort(key=takes_long)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if takes_long(item) and time.monotonic() > BEGAN + 60.0 * MINUTES:
        pytest.skip(
            f"takes long, and the tests before it took {MINUTES:.0f} minutes on this machine: `make test-4.5` runs it"
        )
