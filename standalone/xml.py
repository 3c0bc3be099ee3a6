# SPDX-License-Identifier: GPL-3.0-or-later
"""XML in, the plain part of it: elements, attributes and text. No document type, so no entities and no other files."""

from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from ..solver.cache.files import read_whole

LARGEST_SCENE = 1 << 20  # bytes of a scene file
DEEPEST_NESTING = 16  # elements inside each other


class Element(NamedTuple):
    """One element."""

    tag: str
    values: dict[str, str]  # its attributes, and its children that hold nothing but text, by name
    children: list["Element"]  # the others
    text: list[str]  # pieces, in order


def read(path: Path) -> Element:
    """The root of a file.

    Raises
    ------
    ValueError
        No well-formed XML, a document type, or too large: a sentence naming the file.
    OSError
        It cannot be read.
    """
    content = read_whole(path, LARGEST_SCENE)
    open_elements = [Element("", {}, [], [])]
    parser = expat.ParserCreate()

    def refuse(*_):
        raise ValueError(f"{path} has a DOCTYPE: remove it, scene files need none")

    def begin(tag, attributes):
        if len(open_elements) > DEEPEST_NESTING:
            raise ValueError(
                f"{path}, line {parser.CurrentLineNumber}: more than {DEEPEST_NESTING} elements inside each other"
            )
        open_elements.append(Element(tag, dict(attributes), [], []))

    def end(tag):
        element, parent = open_elements.pop(), open_elements[-1]
        if element.values or element.children or len(open_elements) == 1:
            parent.children.append(element)
        elif tag in parent.values:
            raise ValueError(f"{path}, line {parser.CurrentLineNumber}: {tag} stands twice in {parent.tag}")
        else:
            parent.values[tag] = "".join(element.text).strip()

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.CharacterDataHandler = lambda text: open_elements[-1].text.append(text)
    try:
        parser.Parse(content, True)
    except (LookupError, ValueError) as error:
        if str(path) in str(error):  # ours
            raise
        raise ValueError(f"{path} is in an encoding that cannot be read ({error}): save it as UTF-8") from error
    except expat.ExpatError as error:
        raise ValueError(f"{path} is not well-formed XML: {error}") from error
    return open_elements[0].children[0]
