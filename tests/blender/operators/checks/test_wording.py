# SPDX-License-Identifier: GPL-3.0-or-later
"""One of a thing is one thing, and a row says what to do once."""

import numpy as np
from taffeta.operators.checks import problem_list


def test_one_doubled_vertex(shot, make, found):
    x = [(0, 3, 0), (1, 3, 0), (0, 4, 0), (1, 4, 0), (-1, 3, 0), (0, 2, 0), (0, 3, 0)]
    make.cloth(make.mesh("Patches", x, [(0, 1, 3, 2), (6, 4, 5)]))
    told = [problem.sentence for problem in found() if "taffeta.fix_weld" in problem.verbs]
    assert told == ["Patches has 1 doubled vertex along open edges, and would come apart there"]


def test_one_edge_without_a_face(shot, make, only):
    x = [(0, 3, 0), (1, 3, 0), (0, 4, 0), (0, 3, 1), (1, 3, 1), (0, 4, 1)]
    make.cloth(make.mesh("Panels", x, [(0, 1, 2), (3, 5, 4)], edges=[(0, 3)]))
    only("INFO", "Panels", "Panels has 1 edge without a face: it keeps its length")


def test_a_vertex_that_is_hardly_inside(saved, make):
    """Its depth is no 0.0 mm, and it is one."""
    box = np.array([(x, y, z) for z in (-1, 0) for y in (-1, 1) for x in (-1, 1)], float) * 0.5
    make.collider(
        make.mesh("Box", box, [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)])
    )
    x = np.array([(0, 0, -1e-5), (0.1, 0, 0.1), (0.1, 0.1, 0.1), (0, 0.1, 0.1)])
    make.cloth(make.mesh("Cloth", x + (0.01, 0.02, 0), [(0, 1, 2, 3)]))
    told = [p.sentence for p in problem_list.check_thoroughly(saved) if "inside" in p.sentence]
    assert len(told) == 1 and told[0].endswith("; 1 is inside, up to 0.1 mm deep"), told


def test_what_is_to_be_done_is_said_once(shot, baked, found):
    baked().data.vertices.add(1)
    (problem,) = [p for p in found() if "was edited after the bake" in p.sentence]
    text = f"{problem.sentence}. {problem.remedy}"
    assert text.lower().count("bake again") == 1 and "list of bakes" in text


def test_a_tiny_garment_ends_as_a_sentence(shot, found):
    shot.unit_settings.scale_length = 0.01
    (problem,) = [p for p in found() if "a scarf for a mouse" in p.sentence]
    assert problem.sentence[-1].isalpha()
