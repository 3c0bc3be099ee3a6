# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight tells of bodies that cloth moves or shapes: what a bake sees of them is not what is shown."""

import bpy
import pytest


def by_parent(body, cloth):
    body.parent, body.parent_type = cloth, "VERTEX"


def by_modifier(body, cloth):
    body.modifiers.new("Wrap", "SHRINKWRAP").target = cloth


def by_constraint(body, cloth):
    """Of what carries the body."""
    body.parent = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(body.parent)
    body.parent.constraints.new("COPY_LOCATION").target = cloth


@pytest.mark.parametrize("hang", [by_parent, by_modifier, by_constraint])
def test_a_body_that_hangs_on_cloth(shot, hang, only, cloth, body):
    hang(body(), cloth())
    only("WARNING", "Body", "hangs on Cloth", "without the simulation")


def test_one_that_hangs_on_a_bake(shot, baked, found, body):
    """Bake Selected Only takes it as it is shown, and cloth that is worn over it is baked so."""
    body().modifiers.new("Wrap", "SHRINKWRAP").target = baked()
    told = [problem for problem in found() if "hangs on Cloth" in problem.sentence]
    assert [(problem.severity, problem.object) for problem in told] == [("INFO", "Body")]
