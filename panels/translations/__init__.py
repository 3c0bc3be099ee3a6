# SPDX-License-Identifier: GPL-3.0-or-later
"""Other languages: a .po file here each, `taffeta.pot` the template of all that is to be translated (`scripts/messages.py`).

Blender itself translates labels, tooltips and whole sentences by what is registered here. A sentence with names and numbers
in it is none that it knows: `translated` knows it again by its pattern, "{} has no faces". So the solver, which knows nothing of
Blender, writes sentences where they arise, and they are translated where they are shown.
"""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import bpy

FOLDER = Path(__file__).resolve().parent
CONTEXT = "Taffeta"  # of words of ours that Blender has in another sense: else its own come first
CONTEXTS = "*", "Operator", CONTEXT  # of settings and panels; of buttons and searches
IN_ANOTHER_SENSE = frozenset((
    "At", "Attribute", "Blend", "Cache", "Cage", "Compression", "Delete Bake", "Detach", "Drag", "Dynamics", "Elastic", "Fade",
    "Final", "Flip", "Frame", "Free", "Grab", "Hold", "Layer", "Layers", "Lift", "Max Distance", "Mesh", "Meshes", "Only Selected", "Overlay",
    "Patch", "Pattern", "Pin", "Pinch", "Report", "Seed", "Selected Only", "Shear", "Shift", "Smooth", "Stiffness", "Stretch",
    "Stroke", "Subframes", "Threads", "To", "Trim", "Unpin",
))  # fmt: skip
ENTRY = re.compile(r'^msgid ((?:".*"\n)+)msgstr ((?:".*"\n?)+)', re.MULTILINE)
HOLE = "{}"
SETTING = type(bpy.props.BoolProperty())  # what an annotation is until it is registered
FEWEST = 4  # letters of a message with holes; others fit too much, and say the same in each language, as "{} mm"


def read(path: Path) -> dict[str, str]:
    """Translations of a .po file by their English text, "" where there is none, or one that is marked as fuzzy."""
    found = {}
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        for english, words in ENTRY.findall(block):
            found[_text(english)] = "" if "#, fuzzy" in block else _text(words)
    found.pop("", None)  # what a file says of itself
    return found


def _text(quoted: str) -> str:
    """What strings in quotes, one a line, say together. Most need no evaluation, which takes ten times as long."""
    return "".join(ast.literal_eval(line) if "\\" in line else line[1:-1] for line in quoted.splitlines())


def languages() -> dict[str, Path]:
    """The .po files by language, as "de"."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.po"))}


def translated(sentence: str) -> str:
    """A sentence, also one with names and numbers in it, in the language of the window; itself where that has none."""
    if not bpy.context.preferences.view.use_translate_interface:
        return sentence
    return _translated(sentence, bpy.app.translations.locale)


@lru_cache(maxsize=4096)
def _translated(sentence: str, locale: str) -> str:
    whole = _words(locale).get(sentence) or bpy.app.translations.pgettext_iface(
        sentence
    )  # Blender has words of its own
    if whole != sentence:
        return whole
    for pattern, form in _patterns(locale):
        if match := pattern.fullmatch(sentence):
            # What fills a hole may be a part of a sentence; a single word is taken to be somebody's name.
            *parts, stop = (_translated(part, locale) if " " in part else part for part in match.groups())
            return form.removesuffix(".").format(*parts) + stop if form else sentence
    return sentence


@lru_cache(maxsize=4)
def _words(locale: str) -> dict[str, str]:
    """All messages, by their English, in a locale as "de_DE"; empty if there is none."""
    known = languages()
    path = known.get(locale) or known.get(locale.partition("_")[0])
    return read(path) if path else {}


@lru_cache(maxsize=4)
def _patterns(locale: str) -> list[tuple[re.Pattern, str]]:
    """Of a locale as "de_DE": patterns of English sentences with holes, those that say most first, and what they are there.

    What is not translated has its pattern, too, so that none that says less takes its place. What begins as the end of a sentence,
    "; also in {}", is known behind what else fills a hole.
    """
    words = _words(locale)
    forms = {text: form for text, form in words.items() if HOLE in text}
    forms |= {HOLE + text: form and HOLE + form for text, form in words.items() if _is_end(text)}
    holes = sorted(forms, key=letters, reverse=True)
    ends = {text.partition(HOLE)[0] for text in words if _is_end(text)} - {" and "}  # which joins names, too
    return [(_pattern(text, words, "|".join(map(re.escape, sorted(ends)))), forms[text]) for text in holes]


def _is_end(text: str) -> bool:
    return text[0] in " ,;.(" and letters(text) >= FEWEST


def _pattern(text: str, words: dict[str, str], ends: str) -> re.Pattern:
    """Of a message, with or without a full stop. A hole right behind another one is empty or an end; one before an end takes as much as
    it can."""
    said = re.escape(text.removesuffix(".").replace(HOLE, "\0")) + r"(\.?)"
    said = said.replace("\0\0", f"\0((?:{ends}).*?|)" if ends else "\0(.*?)")
    if text.startswith(HOLE) and (text[len(HOLE)] in ",;." or text.removeprefix(HOLE) in words):
        said = said.replace("\0", "(.*)", 1)
    return re.compile(said.replace("\0", "(.*?)"))


def letters(text: str) -> int:
    """How many letters a message has besides what is filled in."""
    return sum(letter.isalpha() for letter in text)


def take_apart():
    """Let Blender look up what is named by a word `IN_ANOTHER_SENSE` as ours: settings, with their choices, operators and panels, before
    they are registered. What is named by others has Blender's own words, in all of its languages."""
    ours = __package__.removesuffix(".panels.translations") + "."
    for base in (bpy.types.PropertyGroup, bpy.types.Operator, bpy.types.Panel):
        for kind in _below(base):
            if kind.__module__.startswith(ours):
                if getattr(kind, "bl_label", "") in IN_ANOTHER_SENSE:
                    kind.bl_translation_context = CONTEXT
                for annotation in _annotations(kind):
                    _settle(annotation)


def _below(kind: type) -> Iterator[type]:
    for below in kind.__subclasses__():
        yield below
        yield from _below(below)


def _annotations(kind: type) -> Iterator[SETTING]:
    """What will be its properties."""
    for base in kind.__mro__[:-1]:
        found = getattr(base, "__annotations__", {}).values()
        yield from (annotation for annotation in found if isinstance(annotation, SETTING))


def _settle(annotation: SETTING):
    known = annotation.keywords
    items = known.get("items")
    items = items if isinstance(items, tuple | list) else ()  # a function's are nobody's words
    names = [known.get("name"), *(item[1] for item in items if item)]
    if not IN_ANOTHER_SENSE.isdisjoint(names):
        known.setdefault("translation_context", CONTEXT)


def register():
    """Tell Blender all translations, and what is to be looked up as ours."""
    take_apart()
    known = {
        language: {(context, text): word for text, word in read(path).items() if word for context in CONTEXTS}
        for language, path in languages().items()
    }
    bpy.app.translations.register(__name__, known)


def unregister():
    """Take them off again."""
    bpy.app.translations.unregister(__name__)
