# SPDX-License-Identifier: GPL-3.0-or-later
"""What the F3 search lists: each operator under a label of its own, with a tooltip of one piece."""

from collections import defaultdict

import bpy
import pytest


@pytest.fixture
def verbs(scene):
    """Our operators by name, and what Blender knows of each."""
    found = {name: getattr(bpy.ops.taffeta, name) for name in dir(bpy.ops.taffeta)}
    assert len(found) > 90
    return {name: (verb.get_rna_type(), verb.bl_options) for name, verb in found.items()}


def listed_of_blender():
    """Labels that the search lists already, and the operators that have them."""
    found = defaultdict(list)
    for group in set(dir(bpy.ops)) - {"taffeta"}:
        for name in dir(getattr(bpy.ops, group)):
            verb = getattr(getattr(bpy.ops, group), name)
            if "INTERNAL" not in verb.bl_options:
                found[verb.get_rna_type().name].append(verb.idname_py())
    return found


def test_no_two_labels_are_alike(verbs):
    names = defaultdict(list)
    for name, (kind, _) in verbs.items():
        names[kind.name].append(name)
    assert {label: same for label, same in names.items() if len(same) > 1} == {}


def test_no_label_that_is_searched_for_is_one_of_blenders_own(verbs):
    theirs = listed_of_blender()
    assert len(theirs) > 1000
    searched = {kind.name for kind, options in verbs.values() if "INTERNAL" not in options}
    assert {label: theirs[label] for label in searched & theirs.keys()} == {}


def test_labels_are_titles_and_tooltips_sentences_without_a_period_in_one_piece(verbs):
    for name, (kind, _) in verbs.items():
        label, tooltip = kind.name, kind.description
        assert label[0].isupper() and not label.endswith("."), name
        assert len(tooltip) > 15 and tooltip[0].isupper() and not tooltip.endswith("."), name
        assert "\n" not in tooltip and "  " not in tooltip, name


def test_what_needs_a_line_of_a_list_is_not_searched_for(verbs):
    """Such a verb would work on whatever line comes first, or on nothing."""
    lines = "index", "path", "wedge", "subject"
    rows = {name for name, (kind, _) in verbs.items() if any(line in kind.properties for line in lines)}
    assert {"bake_delete", "take_remove", "wedge_adopt", "correction_mute"} <= rows
    open_ones = {name for name in rows if "INTERNAL" not in verbs[name][1]}
    assert open_ones <= {"detach", "wedge_add"}  # without a number all are let go; a path is of a setting there
