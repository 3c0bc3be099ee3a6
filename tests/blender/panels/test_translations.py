# SPDX-License-Identifier: GPL-3.0-or-later
"""Every text that panels show can be translated: the template has it, and what is filled into a sentence stays."""

import ast
import re
from pathlib import Path
from string import Formatter

import bpy
import messages
import pytest
from taffeta.panels import fabric, translations

ROOT = Path(__file__).resolve().parents[3]
GERMAN = "de_DE"  # what Blender calls it
# One German word for each thing, wherever it is: English -> German, as regular expressions.
GLOSSARY = {
    r"attach(ed|ments?)?": "efestig", r"attributes?": "attribut", r"bending": "bieg", r"bodies|body": "körper", r"cages?": "käfig",
    r"caches?": "cache", r"colliders?": "kollision", r"corrections?": "korrektur", r"damping": "dämpf", r"(?<!on )edges?": "kante|'edges'",
    r"cross(es|ings?)?": "durchd", r"draped?|draping": "drap|fällt", r"drivers?": "treiber", r"edit mode": "bearbeitungsmodus",
    r"elastic( bands?)?": "gummi|elast", r"fabrics?": "stoff", r"faces?": "fläche", r"friction": "reibung", r"garments?": "kleidungsstück",
    r"frames?": "bild|frame", r"linked": "verknüpft", r"modifiers?": "modifikator", r"object mode": "objektmodus",
    r"pins?|pinned": "fixier", r"pleats?": "falten?", r"presets?": "vorgabe", r"preflight": "vorprüfung", r"queue": "warteschlange",
    r"rest shapes?": "ruheform", r"saved?|saving": "speicher", r"seams?": "naht|näht", r"sewing edges?": "nähkante",
    r"shape keys?": "formschlüssel", r"shear": "scher", r"stretch(ed|es)?": "dehn", r"substeps?": "teilschritt", r"tacked": "heftet",
    r"tear lines?": "reißlinie", r"thickness": "dicke", r"trash": "papierkorb", r"triangles?": "dreieck", r"trims?": "besatz",
    r"untangled?": "entwirr|untangled", r"uv maps?": "uv-map", r"vertex groups?": "punktgruppe", r"vertex|vertices": "punkt|'vertices'",
    r"warp": "kett", r"wedges?": "variante", r"weft": "schuss|schüsse", r"zips?": "reißversch",
}  # fmt: skip


@pytest.fixture(scope="module")
def known(registered):
    """All messages, and where they are from."""
    return messages.messages()


def test_the_template_and_each_language_have_the_messages_that_there_are(known):
    hint = "run .venv/bin/python scripts/messages.py"
    assert len(known) > 1000
    for path in (messages.TEMPLATE, *translations.languages().values()):
        assert list(translations.read(path)) == list(known), f"{path.name}: {hint}"


def test_a_fabric_that_was_chosen_is_no_message(known, make):
    """Blender calls a menu of presets by what was chosen from it."""
    bpy.context.view_layer.objects.active = make.cloth(make.grid())
    menu = bpy.types.TAFFETA_PT_fabric_presets
    path = bpy.utils.preset_find("Wool_Coat", fabric.PRESET_SUBDIR)
    assert bpy.ops.script.execute_preset(filepath=path, menu_idname=menu.__name__) == {"FINISHED"}
    assert menu.bl_label == "Wool Coat"
    assert list(messages.messages()) == list(known)


def test_the_template_has_labels_tooltips_and_sentences(known):
    cloth = bpy.types.Object.bl_rna.properties["taffeta_cloth"].fixed_type
    assert known["Self-Collision"] == ["TaffetaClothSettings.self_collision"]
    assert cloth.properties["self_collision"].description in known
    assert "bpy.ops.taffeta.untangle" in known["Untangle Cloth"] and "panels/more.py" in known["Tearing"]
    for sentence in ("{} of {} frames kept", "Play It", "{} has no faces", "Re-Bake from {}", "good"):
        assert sentence in known, sentence
    assert known["{} follows no cage"] == ["operators/cage.py"], "a report"
    assert "solver/cache/pc2.py" in known["{} is not a PC2 point cache: choose a .pc2 file"], "an error of the solver"


def test_each_report_that_is_filled_in_is_translated():
    """Blender translates whole sentences alone."""
    found = []
    for path in sorted((ROOT / "operators").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".report") and len(node.args) == 2:
                said = ast.unparse(node.args[1])
                is_filled = isinstance(node.args[1], ast.JoinedStr | ast.Call) and not said.startswith("translated(")
                found += [f"{path.name}:{node.lineno}: {said}"] if is_filled else []
    assert found == []


def holes(text):
    """How many different things are filled in: `{}`, or `{1}` and `{0}` in another order."""
    found = [name for _, name, _, _ in Formatter().parse(text) if name is not None]
    return len(found) if "" in found else len(set(found))


@pytest.mark.parametrize("language", translations.languages())
def test_a_translation_fills_in_as_much_as_the_english(language):
    words = translations.read(translations.languages()[language])
    done = {text: word for text, word in words.items() if word}
    assert done
    assert {text: word for text, word in done.items() if holes(text) != holes(word)} == {}
    ends = {text: word for text, word in done.items() if (text[0] == " ") != (word[0] == " ")}
    assert ends == {}


def test_words_that_blender_has_in_another_sense_are_looked_up_as_ours(registered):
    """A number that is called Drag is no drag of a mouse; what is called Wind has Blender's word in each of its languages."""
    scene, cloth = (owner.bl_rna.properties[name].fixed_type for owner, name in (
        (bpy.types.Scene, "taffeta"), (bpy.types.Object, "taffeta_cloth"),
    ))  # fmt: skip
    contexts = {name: scene.properties[name].translation_context for name in ("air_drag", "air_lift", "wind")}
    assert contexts == {"air_drag": translations.CONTEXT, "air_lift": translations.CONTEXT, "wind": "*"}
    assert cloth.properties["quality"].translation_context == translations.CONTEXT, "of a choice: Final"
    assert (
        cloth.properties["stretch_stiffness"].fixed_type.properties["value"].translation_context == translations.CONTEXT
    )
    assert bpy.types.TAFFETA_PT_layers.bl_translation_context == translations.CONTEXT
    assert bpy.ops.taffeta.bake_delete.get_rna_type().translation_context == translations.CONTEXT
    assert bpy.ops.taffeta.bake.get_rna_type().translation_context == "Operator"
    assert translations.IN_ANOTHER_SENSE <= set(messages.messages())


@pytest.mark.parametrize("english", GLOSSARY)
def test_a_thing_has_one_german_word(english):
    said = re.compile(rf"(?<![.\w])({english})(?![=\w])", re.IGNORECASE)
    words = translations.read(translations.languages()["de"])
    about = {text: word for text, word in words.items() if word != text and said.search(text)}
    assert about
    other = {text: word for text, word in about.items() if not re.search(GLOSSARY[english], word, re.IGNORECASE)}
    assert other == {}


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("12 of 60 frames kept", "12 von 60 Bildern behalten"),
        ("Coat crosses Shirt at the start: 12 pairs of triangles, 5 of its vertices",
         "Coat durchdringt am Anfang Shirt: 12 Paare von Dreiecken, 5 seiner Punkte"),
        ("Frame 3 of 60, 2 min 5 s left", "Bild 3 von 60, noch 2 min 5 s"),  # a part of a sentence in a sentence
        ("Plays /c/Hose im Wind.pc2", "Spielt /c/Hose im Wind.pc2"),
        ("Body has a scale of zero by its parent Rig: it is flat",
         "Body hat eine Skalierung von null durch das übergeordnete Objekt Rig: es ist flach"),
        ("Skirt has the settings of take 2; not as they were: the image 'a' is damaged: the present one is used",
         "Skirt hat die Einstellungen von take 2; nicht, wie sie waren: das Bild „a“ ist beschädigt: Es wird genommen, was jetzt da ist"),
        ("12 sewing edges added to Skirt; one side is 2.00 times as long and gathers; Sewing is on now",  # ends behind a hole
         "12 Nähkanten zu Skirt hinzugefügt; eine Seite ist 2.00-mal so lang und kräuselt sich; Nähen ist jetzt an"),
        ("Coat has no faces; add some before you bake. No frame was finished",  # its full stop is no part of the message
         "Coat hat keine Flächen; vor dem Backen welche hinzufügen. Kein Bild wurde fertig"),
        ("In frame 4, 'Coat': the thickness is 0 m at vertex 3 (9 of 9 vertices are too low); it must be above 0: change the value or its "
         "map. Frames 1 to 3 are kept; Resume goes on from there",
         "In Bild 4: „Coat“: die Dicke ist 0 m am Punkt 3 (9 von 9 Punkten sind zu niedrig); nötig ist mehr als 0: den Wert oder seine "
         "Map ändern. Bilder 1 bis 3 sind behalten; Fortsetzen macht dort weiter"),
        ("3 vertices of Coat are attached to Body", "3 Punkte von Coat sind an Body befestigt"),
        ("Nobody has written this", "Nobody has written this"),
    ],
)  # fmt: skip
def test_a_sentence_with_names_in_it_is_known_by_its_pattern(english, german):
    assert translations._translated(english, GERMAN) == german
    assert translations._translated(english, "fr_FR") == english


def test_what_fills_a_sentence_may_hold_what_looks_like_a_hole():
    name = "{0} {}"
    assert translations._translated(f"{name} has no faces", GERMAN) == f"{name} hat keine Flächen"


def test_an_untranslated_sentence_is_not_taken_for_one_that_says_less(tmp_path, monkeypatch):
    path = tmp_path / "xx.po"
    path.write_text(
        'msgid ""\nmsgstr ""\n\nmsgid "{} has {}"\nmsgstr "{} zzz {}"\n\nmsgid "{} has no faces"\nmsgstr ""\n\n'
        '#, fuzzy\nmsgid "{} is odd"\nmsgstr "not looked at"\n\nmsgid "a \\"quoted\\" "\n"\\n word"\nmsgstr "q"\n'
    )
    monkeypatch.setattr(translations, "FOLDER", tmp_path)
    words = translations.read(path)
    assert words["{} is odd"] == "" and words['a "quoted" \n word'] == "q" and "" not in words
    assert translations._translated("Coat has legs", "xx") == "Coat zzz legs"
    assert translations._translated("Coat has no faces", "xx") == "Coat has no faces"


def test_no_panel_hands_blender_a_sentence_that_it_has_filled_in_itself():
    """Blender knows whole messages: what is filled in goes through `translated`, or `sentences`, which asks it."""
    found = []
    for path in sorted((ROOT / "panels").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "text":
                parts = [part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)]
                is_filled = isinstance(node.value, ast.JoinedStr)
                words = [part for part in parts if isinstance(part, str) and any(map(str.isalpha, part))]
                found += [f"{path.name}: {ast.unparse(node.value)}"] if is_filled and words else []
    assert found == []
