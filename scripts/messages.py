# SPDX-License-Identifier: GPL-3.0-or-later
"""Collects every text that an animator can read into panels/translations/taffeta.pot, and brings each language's .po up to it.

    .venv/bin/python scripts/messages.py

Names and tooltips come from the registered properties, operators and panels; sentences from the source of what a window shows, and
errors from that of the solver; `{}` stands for what is filled in. A translation whose English is gone goes, too.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import bpy
import taffeta
from taffeta.panels import translations

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "panels" / "translations"
TEMPLATE = FOLDER / "taffeta.pot"
SPOKEN = "panels", "operators"  # whose sentences a window shows
REFUSING = "solver", "patterns", "presets"  # of which it shows errors
UNSEEN = "command", "farm", "contact_sheet", "bake_all", "console"  # what prints to a terminal, in English
CODE = re.compile(r"[A-Z_]+ [A-Z_ ]*|.*(\n|%[A-Za-z]|\\\w|\w = bpy\.).*", re.DOTALL)  # texts for programs
OWNERS = bpy.types.Object, bpy.types.Scene, bpy.types.WindowManager
BLENDERS = bpy.types.PropertyGroup.bl_rna.properties["name"].description  # of each group, and it changes with Blender
HEAD = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Language: {}\\n"\n'


def messages() -> dict[str, list[str]]:
    """Every English text, and where it is from; Taffeta must be registered."""
    found = defaultdict(set)
    for text, place in (*_registered(), *_written()):
        enough = translations.FEWEST if translations.HOLE in text else 2
        if translations.letters(text) >= enough and not CODE.fullmatch(text):
            found[text].add(place)
    return {text: sorted(found[text]) for text in sorted(found)}


def _registered() -> Iterator[tuple[str, str]]:
    """Labels and tooltips of operators and settings, and tooltips of panels, as Blender has them. A panel's label is in the source:
    a menu of presets is called by what was chosen from it last."""
    for verb in dir(bpy.ops.taffeta):
        kind = getattr(bpy.ops.taffeta, verb).get_rna_type()
        yield from _of_type(kind, f"bpy.ops.taffeta.{verb}")
        yield from ((text, f"bpy.ops.taffeta.{verb}") for text in (kind.name, kind.description))
    for name in dir(bpy.types):
        kind = getattr(bpy.types, name)
        if name.startswith(("TAFFETA_PT_", "TAFFETA_MT_")):
            yield kind.bl_rna.description, name
    seen = set()
    for prop in (prop for owner in OWNERS for prop in owner.bl_rna.properties if prop.identifier.startswith("taffeta")):
        yield from _of_group(prop, seen)


def _of_group(prop, seen: set) -> Iterator[tuple[str, str]]:
    """Of a property that is a group of ours, or a list of them, and of the groups in it."""
    kind = getattr(prop, "fixed_type", None)
    if kind is None or kind.identifier in seen or not kind.identifier.startswith("Taffeta"):
        return
    seen.add(kind.identifier)
    yield from _of_type(kind, kind.identifier)
    for inner in kind.properties:
        yield from _of_group(inner, seen)


def _of_type(kind, place: str) -> Iterator[tuple[str, str]]:
    for prop in kind.properties:
        if prop.identifier == "rna_type" or prop.name in ("", prop.identifier):  # what has no name is never drawn
            continue
        if prop.description != BLENDERS:
            yield from ((text, f"{place}.{prop.identifier}") for text in (prop.name, prop.description))
            for item in getattr(prop, "enum_items_static", ()):
                yield from ((text, f"{place}.{prop.identifier}") for text in (item.name, item.description))


def _written() -> Iterator[tuple[str, str]]:
    """Sentences in the source of panels, and of what they show."""
    for folder in (*SPOKEN, *REFUSING):
        for path in sorted(set((ROOT / folder).rglob("*.py")) - set(FOLDER.rglob("*.py"))):
            place, tree = path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))
            parts = [tree] if folder in SPOKEN else list(_of_errors(tree))
            if not path.stem.startswith(UNSEEN):
                yield from ((text, place) for part in parts for text in sentences_of(part))


def _of_errors(tree: ast.AST) -> Iterator[ast.AST]:
    """What is raised in a source file, and what is filled into that: rules, and what a loop with a `raise` goes through."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise):
            yield node
        elif isinstance(node, ast.For) and any(isinstance(inner, ast.Raise) for inner in ast.walk(node)):
            yield node.iter
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).endswith("_RULES"):
            yield node.value


def sentences_of(tree: ast.AST) -> Iterator[str]:
    """Texts in a source file that are for people: those after `text=`, and all others with a space, but docstrings and what
    describes a property, which is registered."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.arg) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            continue
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Property"):
            continue
        given = getattr(getattr(node, "value", None), "value", None)
        if isinstance(given, str) and _names_what_is_shown(node):
            yield given
        elif isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            if " " in text:
                yield text
            for part in node.values:
                if isinstance(part, ast.FormattedValue):
                    yield from sentences_of(part)
        elif isinstance(node, ast.Constant):
            text = node.value
            if isinstance(text, str) and "\n" not in text and (" " in text or _is_asked_for(tree)):
                yield text
        else:
            yield from sentences_of(node)


def _is_asked_for(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "translated"


def _names_what_is_shown(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.keyword)
        and node.arg == "text"
        or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "bl_label")
    )


def page(language: str, known: dict[str, str]) -> str:
    """A .po of all messages, with the translations that are known."""
    parts = [HEAD.format(language)]
    for text, places in messages().items():
        parts.append(f"#: {' '.join(places)}\nmsgid {quoted(text)}\nmsgstr {quoted(known.get(text, ''))}\n")
    return "\n".join(parts)


def quoted(text: str) -> str:
    """A text as it stands in a .po."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def main():
    """Write the template and each language's file, and say how complete they are."""
    taffeta.register()
    TEMPLATE.write_text(page("", {}), encoding="utf-8")
    for path in sorted(FOLDER.glob("*.po")):
        known, count = translations.read(path), len(messages())
        path.write_text(page(path.stem, known), encoding="utf-8")
        done = sum(bool(known.get(text)) for text in messages())
        print(f"{path.name}: {done} of {count}, {len(known.keys() - messages().keys())} gone")
    sys.stdout.flush()
    taffeta.unregister()


if __name__ == "__main__":
    main()
