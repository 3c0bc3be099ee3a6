# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a panel belongs about a body, by the words in its name, as files have them; else by its size."""

import re

#: what an animator chooses of: identifier, name, description
PLACES = (
    ("FRONT", "Front", "Before the trunk, its upper end at the shoulders"),
    ("BACK", "Back", "Behind the trunk, its upper end at the shoulders"),
    ("LEFT", "Left Side", "At the left of the trunk, its upper end below the arm"),
    ("RIGHT", "Right Side", "At the right of the trunk, its upper end below the arm"),
    ("LEFT_ARM", "Left Arm", "Around the left arm, its widest row where that begins"),
    ("RIGHT_ARM", "Right Arm", "Around the right arm, its widest row where that begins"),
    ("NECK", "Neck", "Around the neck, its middle at the back, its longer side across"),
    ("WAIST", "Waist", "Around the waist, its middle at the back, its longer side across"),
    ("FRONT_LOW", "Front below Waist", "Before hips and legs, its upper end at the waist"),
    ("BACK_LOW", "Back below Waist", "Behind hips and legs, its upper end at the waist"),
    ("LEFT_LOW", "Left Side below Waist", "At the left of hips and legs, its upper end at the waist"),
    ("RIGHT_LOW", "Right Side below Waist", "At the right of hips and legs, its upper end at the waist"),
    ("LEFT_LEG", "Left Leg", "Around the left leg, its widest row where that begins"),
    ("RIGHT_LEG", "Right Leg", "Around the right leg, its widest row where that begins"),
    ("STAY", "Stays", "It stays where it is"),
)
STAY = "STAY"
#: words of names, whole or, from four letters on, parts of longer ones: English, German, French, Italian, GarmentCode's
WORDS = {
    "front": ("front", "ftorso", "frt", "fr", "ft", "f", "cf", "vorder", "vorne", "vt", "devant", "davanti"),
    "back": ("back", "bck", "bk", "b", "cb", "btorso", "rück", "rueck", "hinter", "hinten", "ht", "dos", "dietro"),
    "left": ("left", "lft", "lt", "l", "links", "linke", "gauche", "sinistr", "sx"),
    "right": ("right", "rgt", "r", "rechts", "rechte", "droite", "destr", "dx"),
    "side": ("side", "seite", "côté"),
    "sleeve": ("sleeve", "slv", "sl", "ärmel", "aermel", "manche", "manica"),
    "neck": ("collar", "kragen", "col", "colletto", "neckband", "rib"),
    "waist": ("waistband", "waist", "bund", "wb", "ceinture", "cintura"),
    "low": ("skirt", "pant", "trouser", "short", "jean", "legging", "rock", "hose", "jupe", "gonna"),
    "other": ("pocket", "tasche", "cuff", "manschette", "facing", "beleg", "lining", "futter", "flap", "yoke", "passe", "hood", "kapuze",
              "belt", "gürtel", "label", "interlining", "fusible", "placket", "tab", "loop"),
}  # fmt: skip
ALIKE = 0.75  # times as large as the other one, the front of the two is: its neck is cut deeper
MIRRORED = "mirrored"  # as an import names the second of a pair


def told(name: str) -> set[str]:
    """Which of `WORDS` a name has."""
    words = [word for word in re.split(r"[^a-zäöüßéèô]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()) if word]
    return {
        kind
        for kind, known in WORDS.items()
        if any(word == each or len(each) > 3 and each in word for word in words for each in known)
    }


def guess(names: list[str], areas: list[float], garment: str = "") -> list[str]:
    """The identifier in `PLACES` of each panel.

    Parameters
    ----------
    names : of the panels
    areas : [m2] of the panels, by which those whose names tell nothing are front, back and sleeves
    garment : the name of what they are sewn to, which may say that it is a skirt
    """
    kinds = [told(name) for name in names]
    of_garment = told(garment) & {"low"}
    found = [_place(kind, name, of_garment) for kind, name in zip(kinds, names, strict=True)]
    _by_turns(found, names)
    taken = set(found)
    low = "_LOW" if of_garment else ""
    largest = sorted((k for k, place in enumerate(found) if not place), key=lambda k: -round(areas[k], 6))
    if len(largest) > 1 and areas[largest[1]] > ALIKE * areas[largest[0]] and not {f"FRONT{low}", f"BACK{low}"} & taken:
        largest[:2] = largest[1::-1]
    for k in largest:
        free = [place for place in (f"FRONT{low}", f"BACK{low}", "LEFT_ARM", "RIGHT_ARM") if place not in taken]
        found[k] = free[0] if free and not (low and free[0].endswith("ARM")) else STAY
        taken.add(found[k])
    return found


def _place(kind: set[str], name: str, of_garment: set[str]) -> str:
    """By words alone; "ARM" for one of both arms, "" where they tell nothing."""
    if "other" in kind:
        return STAY
    side = "LEFT" if "left" in kind else "RIGHT" if "right" in kind else ""
    if "sleeve" in kind:
        return f"{side}_ARM" if side else "ARM"
    if "neck" in kind:
        return "NECK"
    if "waist" in kind:
        return "WAIST"
    low = "_LOW" if (kind | of_garment) & {"low"} else ""
    for word in ("front", "back"):
        if word in kind:
            return word.upper() + low
    if side:
        return side + low
    if "side" in kind:
        return ("RIGHT" if name.endswith(MIRRORED) else "LEFT") + low
    return ""


def _by_turns(found: list[str], names: list[str]) -> None:
    """The first of a pair of sleeves to the left, the other one, or what is its mirror image, to the right."""
    last = "RIGHT"
    for k, place in enumerate(found):
        if place == "ARM":
            last = "RIGHT" if names[k].endswith(MIRRORED) or last == "LEFT" else "LEFT"
            found[k] = f"{last}_ARM"


def order(names: list[str], middles: list[int], is_back: bool) -> list[int]:
    """In which order panels of one place stand, from the left of who looks at them from outside.

    Parameters
    ----------
    names : of the panels
    middles : of each, on which of its sides it is straight, as at the middle of a body: 1 the right one, -1 the left one, 0 neither
    is_back : whether they are seen from behind, where a body's left is on the left
    """

    def key(k):
        kinds = told(names[k])
        half = -middles[k]
        if ("left" in kinds) != ("right" in kinds):
            half = 1 if ("left" in kinds) != is_back else -1
        elif "side" in kinds:
            half = 1 if names[k].endswith(MIRRORED) else -1
        return half * (2 if "side" in kinds else 1), k

    return sorted(range(len(names)), key=key)
