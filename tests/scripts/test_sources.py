# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/sources.md cannot rot: fifty rows, and each test, button, element, example and file that it names is there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "sources.md").read_text()
ROWS = {
    cells[1].strip(): [cell.strip() for cell in cells[2:-1]]
    for line in PAGE.splitlines()
    if re.match(r"\| [BGHUP]\d+ \|", line) and (cells := line.split("|"))
}
COUNTS = {"B": 16, "G": 5, "H": 10, "U": 9, "P": 10}


def literals(*folders):
    """Every string that stands in the code of these folders."""
    found = set()
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        nodes = ast.walk(ast.parse(path.read_text()))
        found |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return found


def missing_tests(text):
    """Tests that a text names and that no file has."""
    missing = []
    for file, name in re.findall(r"`([\w/]+\.py)::(\w+)`", text):
        path = ROOT / "tests" / file
        defined = path.is_file() and re.search(rf"^def {name}\(", path.read_text(), re.MULTILINE)
        missing += [] if defined else [f"{file}::{name}"]
    return missing


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


def test_each_label_stands_in_the_panels():
    known = literals("panels", "operators")
    labels = {label for _, where, *_ in ROWS.values() for label in re.findall(r"\*([^*]+)\*", where)}
    assert len(labels) > 30 and labels - known == set()


def test_each_operator_element_example_and_file_is_there():
    code = literals("operators", "presets/scenes", "standalone")
    named = " ".join(where for _, where, *_ in ROWS.values())
    operators, elements = re.findall(r"`(taffeta\.\w+)`", named), re.findall(r"`<(\w+)>`", named)
    examples = [
        name for part in re.findall(r"examples? ((?:`\w+`(?:, )?)+)", named) for name in re.findall(r"`(\w+)`", part)
    ]
    assert operators and len(elements) > 10 and len(examples) > 14
    assert {*operators, *elements, *examples} - code == set()
    files = re.findall(r"`((?:solver|benchmarks)/[\w/]+\.py)`", named)
    assert files and [file for file in files if not (ROOT / file).is_file()] == []


def test_links_lead_to_pages():
    links = re.findall(r"\]\((\w+\.md)(?:#[\w-]+)?\)", PAGE)
    assert links and [link for link in links if not (ROOT / "docs" / link).is_file()] == []
