# SPDX-License-Identifier: GPL-3.0-or-later
"""Stop, and Esc, which stops a bake over a Physics tab and nowhere else."""

from types import SimpleNamespace

import bpy
import pytest
from taffeta.operators.bake import job as jobs
from taffeta.operators.bake.order import read_order
from taffeta.operators.bake_cloth import TAFFETA_OT_bake


@pytest.fixture
def running(make):
    """A bake that is claimed and not yet begun."""
    make.cloth(make.grid())
    job = jobs.Job(read_order(bpy.context.scene))
    jobs.claim(job)
    yield job
    jobs.release()
    assert jobs.last().is_stopped == job.stop.is_set()  # a queue of takes ends by that
    jobs.forget_last()


def esc(x, y, tab="PHYSICS"):
    """What the bake's operator answers to Esc at a place of a window with a 3D view on the left, properties on the right."""
    spaces = SimpleNamespace(active=SimpleNamespace(context=tab))
    areas = [
        SimpleNamespace(type="VIEW_3D", x=0, y=0, width=600, height=500, spaces=None),
        SimpleNamespace(type="PROPERTIES", x=600, y=0, width=300, height=400, spaces=spaces),
    ]
    event = SimpleNamespace(type="ESC", value="PRESS", mouse_x=x, mouse_y=y)
    context = SimpleNamespace(screen=SimpleNamespace(areas=areas))
    return TAFFETA_OT_bake.modal(SimpleNamespace(_job=jobs._current), context, event)


def test_esc_over_the_physics_tab_stops_the_bake(running):
    assert esc(700, 100) == {"RUNNING_MODAL"}
    assert running.stop.is_set() and running.status == "Stopping"


@pytest.mark.parametrize("place", [(300, 100), (700, 450), (700, 100, "RENDER")])
def test_esc_anywhere_else_is_for_what_is_there(running, place):
    assert esc(*place) == {"PASS_THROUGH"}
    assert not running.stop.is_set()


def test_stop_ends_the_bake(running):
    assert bpy.ops.taffeta.stop() == {"FINISHED"}
    assert running.stop.is_set()


def test_stop_ends_a_live_simulation():
    session = bpy.context.window_manager.taffeta
    session.live = True
    assert bpy.ops.taffeta.stop() == {"FINISHED"}
    assert not session.live


def test_stop_with_nothing_to_stop_says_so():
    assert bpy.ops.taffeta.stop() == {"CANCELLED"}
