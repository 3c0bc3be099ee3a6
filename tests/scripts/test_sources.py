# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/sources.md cannot rot: fifty rows; each test that it names is collected and runs; each button, element, example and file is
there, as what it is said to be.
"""

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from taffeta.standalone import tables

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "sources.md").read_text()
ROWS = {
    cells[1].strip(): [cell.strip() for cell in cells[2:-1]]
    for line in PAGE.splitlines()
    if re.match(r"\| [BGHUP]\d+ \|", line) and (cells := line.split("|"))
}
COUNTS = {"B": 16, "G": 5, "H": 10, "U": 9, "P": 10}


def trees(*folders):
    """The code of these folders, parsed."""
    return [ast.parse(path.read_text()) for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def text_of(node):
    """A string that a node is; else None."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def labels_of(node):
    """What a window shows of a node of the code: a property's name, a button's text, an operator's label, an item of a menu."""
    if isinstance(node, ast.Call):
        called = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if called == "Mapped":
            return [text_of(node.args[1])]
        is_shown = called.endswith("Property") or called in ("operator", "prop", "number")
        return [text_of(word.value) for word in node.keywords if is_shown and word.arg in ("name", "text")]
    if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "bl_label" for target in node.targets):
        return [text_of(node.value)]
    if isinstance(node, ast.Tuple) and len(node.elts) >= 3 and all(text_of(part) is not None for part in node.elts[:3]):
        return [text_of(node.elts[1])]
    return []


def shown():
    """Every label of a property, operator, panel or item of a menu, without its unit."""
    found = {label for tree in trees("panels", "operators") for node in ast.walk(tree) for label in labels_of(node)}
    return {re.sub(r" \([^()]*\)$", "", label) for label in found - {None}}


def registered():
    """What operators are called in scripts."""
    assigned = (node for tree in trees("operators") for node in ast.walk(tree) if isinstance(node, ast.Assign))
    return {text_of(node.value) for node in assigned if any(getattr(t, "id", "") == "bl_idname" for t in node.targets)}


def example_names():
    """What examples are called in scripts: the first word of each row of the menu's table."""
    (tree,) = [ast.parse((ROOT / "operators" / "scenes.py").read_text())]
    (table,) = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "EXAMPLES"
    ]
    return {text_of(row.elts[0]) for row in table.elts}


COLLECT = """
import sys
import pytest
from _pytest.skipping import evaluate_skip_marks

class Told:
    def pytest_collection_modifyitems(self, items):
        for item in items:
            if evaluate_skip_marks(item) is None:
                print("RUNS", item.nodeid.partition("[")[0])

pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *sys.argv[1:]], plugins=[Told()])
"""


@cache
def collected(files):
    """Tests of these files below tests/ that pytest finds, and does not skip in this Blender: "FILE::NAME"."""
    about = dict(cwd=ROOT / "tests", env=dict(os.environ), capture_output=True, text=True)
    told = subprocess.run([sys.executable, "-c", COLLECT, *files], **about).stdout
    return {line.removeprefix("RUNS ").removeprefix("tests/") for line in told.splitlines() if line.startswith("RUNS ")}


def missing_tests(text):
    """Tests that a text names and that pytest would not run."""
    named = re.findall(r"`([\w/]+\.py::\w+)`", text)
    every = re.findall(r"`([\w/]+\.py)::\w+`", PAGE) + [name.partition("::")[0] for name in named]
    there = tuple(sorted({file for file in every if (ROOT / "tests" / file).is_file()}))
    return [name for name in named if name not in collected(there)]


def test_all_fifty_rows_are_there():
    assert [*ROWS] == [f"{letter}{number}" for letter, count in COUNTS.items() for number in range(1, count + 1)]
    for row, (what, where, test, theirs, ours) in ROWS.items():
        assert what and where and theirs and ours and "::" in test, row


@pytest.mark.parametrize("row", ROWS)
def test_each_row_names_tests_that_are_there(row):
    assert missing_tests(ROWS[row][2]) == []
    assert missing_tests("`solver/test_step.py::test_nothing`, `gone.py::test_a`") == [
        "solver/test_step.py::test_nothing",
        "gone.py::test_a",
    ]


def test_each_label_is_that_of_a_property_an_operator_or_an_item():
    labels = {label for _, where, *_ in ROWS.values() for label in re.findall(r"\*([^*]+)\*", where)}
    assert len(labels) > 30 and labels - shown() == set()
    assert not {"Velocity", "Nothing baked yet", "taffeta.bake"} & shown(), "words of messages are no labels"


def test_each_operator_element_example_and_file_is_there():
    named = " ".join(where for _, where, *_ in ROWS.values())
    operators, elements = re.findall(r"`(taffeta\.\w+)`", named), re.findall(r"`<(\w+)>`", named)
    examples = [
        name for part in re.findall(r"examples? ((?:`\w+`(?:, )?)+)", named) for name in re.findall(r"`(\w+)`", part)
    ]
    assert operators and len(elements) > 10 and len(examples) > 14
    assert set(operators) - registered() == set() and set(examples) - example_names() == set()
    known = {*tables.GENERAL, *tables.FILES, *tables.SETTINGS, *tables.STATIC}
    assert {tables.plain(name) for name in elements} - {tables.plain(name) for name in known} == set()
    files = re.findall(r"`((?:solver|benchmarks)/[\w/]+\.py)`", named)
    assert files and [file for file in files if not (ROOT / file).is_file()] == []


def test_links_lead_to_pages():
    links = re.findall(r"\]\((\w+\.md)(?:#[\w-]+)?\)", PAGE)
    assert links and [link for link in links if not (ROOT / "docs" / link).is_file()] == []
