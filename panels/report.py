# SPDX-License-Identifier: GPL-3.0-or-later
"""What lines of the report mean, in words, and the button that goes where it happened.

The report is a file, or text in a .blend, that anybody may have edited: what is not as it should be says nothing here.
"""

import json
import math
from functools import lru_cache
from typing import NamedTuple

GOOD, LOOK, AGAIN = "good", "look here", "re-bake"
ICONS = {GOOD: "CHECKMARK", LOOK: "ZOOM_IN", AGAIN: "FILE_REFRESH"}
# Strain of the longest edge: up to the first, nobody sees it; beyond the second, nobody overlooks it (`solver.doubts`).
SEEN_STRETCH, MOST_STRETCH = 0.2, 0.5
HELPS = 2.0  # Step Quality for motion wilder than a run
LAST_FRAME = 1048574  # of Blender


class Verdict(NamedTuple):
    """What a line of the report comes to."""

    word: str  # GOOD, LOOK or AGAIN
    subject: str  # as `taffeta.report_show` takes it
    frame: int | None  # where to look; None where there is nothing to see


def read_report(report_json: str) -> dict:
    """The figures of a report; none where it cannot be read."""
    try:
        report = json.loads(report_json or "{}")
    except (ValueError, RecursionError):
        return {}
    return report if isinstance(report, dict) else {}


@lru_cache(maxsize=8)
def verdicts(report_json: str) -> dict[str, Verdict]:
    """What lines of a report mean, by the word that they begin with."""
    report, found = read_report(report_json), {}
    stretch = _number(report, "worst_stretch")
    if stretch is not None:
        word = GOOD if stretch <= SEEN_STRETCH else LOOK if stretch <= MOST_STRETCH else AGAIN
        found["Stretch:"] = Verdict(word, "STRETCH", frame_of(report, "worst_stretch_frame"))
    crossings = _number(report, "crossings")
    if crossings is not None:
        where = frame_of(report, "frame_end") if crossings else None
        found["Crossings"] = Verdict(AGAIN if crossings else GOOD, "CROSSINGS", where)
    pinched = _number(report, "pinched")
    if pinched is not None:
        where = frame_of(report, "pinched_frame") if pinched else None
        found["Pinched"] = Verdict(LOOK if pinched else GOOD, "PINCHED", where)
    return found


def _number(report, name) -> float | None:
    value = report.get(name)
    good = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e12
    return float(value) if good and math.isfinite(value) else None


def frame_of(report: dict, name: str) -> int | None:
    """A frame that a report names, if it is one of Blender's."""
    value = _number(report, name)
    return int(value) if value is not None and value == int(value) and abs(value) <= LAST_FRAME else None


def pinched_vertices(report: dict, name: str, count: int) -> list[int]:
    """Vertices of the garment `name`, of `count`, that a report lists as pinched."""
    lists = report.get("pinched_vertices")
    listed = lists.get(name) if isinstance(lists, dict) else None
    known = listed if isinstance(listed, list) else ()
    return [v for v in known if isinstance(v, int) and not isinstance(v, bool) and 0 <= v < count]


def sentence(verdict: Verdict, settings) -> str:
    """A verdict as the panel says it; `settings` are the scene's."""
    if verdict.word != AGAIN:
        return verdict.word
    if settings.small_steps < HELPS:
        return f"{AGAIN} with {settings.bl_rna.properties['small_steps'].name} {HELPS:g}"
    return f"{AGAIN} with more {settings.bl_rna.properties['substeps'].name}"


def draw_verdict(layout, context, line: str):
    """Below a line of the report: its verdict, and the button that shows where."""
    obj = context.object
    verdict = verdicts(obj.taffeta_cloth.report_json).get(line.split(" ", 1)[0])
    if verdict is None:
        return
    row = layout.row()
    row.label(text=sentence(verdict, context.scene.taffeta), icon=ICONS[verdict.word])
    if verdict.frame is not None:
        button = row.operator("taffeta.report_show", text=f"Show in Frame {verdict.frame}", icon="VERTEXSEL")
        button.subject, button.object = verdict.subject, obj.name
