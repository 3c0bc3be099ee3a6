# SPDX-License-Identifier: GPL-3.0-or-later
"""What lines of the report mean, in words, and the button that goes where it happened.

The report is a file, or text in a .blend, that anybody may have edited: what is not as it should be says nothing here.
"""

import json
import math
from functools import lru_cache
from typing import NamedTuple

from .translations import translated

GOOD, LOOK, AGAIN = "good", "look here", "re-bake"
ICONS = {GOOD: "CHECKMARK", LOOK: "ZOOM_IN", AGAIN: "FILE_REFRESH"}
# Strain of the longest edge: up to the first, nobody sees it; beyond the second, nobody overlooks it (`solver.doubts`).
SEEN_STRETCH, MOST_STRETCH = 0.2, 0.5
SEEN_GAP = 0.002  # [m] of a seam: as wide as a stitch is long
HELPS = 2.0  # Step Quality for motion wilder than a run
LAST_FRAME = 1048574  # of Blender
LONGEST_SENTENCE = 1000  # letters
MOST_RUNS = 6  # of frames in a row that a line names


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
    stretch = number(report, "worst_stretch")
    if stretch is not None:
        word = GOOD if stretch <= SEEN_STRETCH else LOOK if stretch <= MOST_STRETCH else AGAIN
        found["Stretch:"] = Verdict(word, "STRETCH", frame_of(report, "worst_stretch_frame"))
    crossings = number(report, "crossings")
    if crossings is not None:
        where = frame_of(report, "frame_end") if crossings else None
        found["Crossings"] = Verdict(AGAIN if crossings else GOOD, "CROSSINGS", where)
    most = number(report, "most_crossings")
    if most:
        found["Meanwhile:"] = Verdict(LOOK, "MOST_CROSSINGS", frame_of(report, "most_crossings_frame"))
    gap = number(report, "seam_gap")
    if gap is not None:
        word = GOOD if gap <= SEEN_GAP else LOOK
        found["Seams:"] = Verdict(word, "SEAMS", frame_of(report, "frame_end") if gap > 0.0 else None)
    pinched = number(report, "pinched")
    if pinched is not None:
        where = frame_of(report, "pinched_frame") if pinched else None
        found["Pinched"] = Verdict(LOOK if pinched else GOOD, "PINCHED", where)
    return found


def number(report: dict, name: str) -> float | None:
    """A figure of a report, if it is a number."""
    value = report.get(name)
    good = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e12
    return float(value) if good and math.isfinite(value) else None


def frame_of(report: dict, name: str) -> int | None:
    """A frame that a report names, if it is one of Blender's."""
    value = number(report, name)
    return int(value) if value is not None and value == int(value) and abs(value) <= LAST_FRAME else None


def taken_again(report: dict) -> list[tuple[list[int], str]]:
    """Frames of which a report tells that a part was taken again, and why."""
    listed = report.get("taken_again")
    items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    found = [(_frames(item.get("frames")), item.get("why")) for item in items]
    return [(frames, why) for frames, why in found if frames and _is_sentence(why)]


def warnings(report: dict) -> list[tuple[int, str]]:
    """Frame and sentence of what a report warns of."""
    listed = report.get("warnings")
    pairs = [item for item in listed if isinstance(item, list) and len(item) == 2] if isinstance(listed, list) else []
    return [(frame, text) for frame, text in pairs if _frames([frame]) and _is_sentence(text)]


def _is_sentence(text) -> bool:
    return isinstance(text, str) and text.isprintable() and len(text) <= LONGEST_SENTENCE


def _frames(listed) -> list[int]:
    known = listed if isinstance(listed, list) else ()
    return [f for f in known if isinstance(f, int) and not isinstance(f, bool) and abs(f) <= LAST_FRAME]


def in_words(frames: list[int]) -> str:
    """Frame numbers in ascending order as an animator writes them: "Frame 37", "Frames 37 to 41 and 50"."""
    runs = []
    for frame in frames:
        if runs and frame == runs[-1][1] + 1:
            runs[-1][1] = frame
        else:
            runs.append([frame, frame])
    parts = [f"{first}" if first == last else f"{first}{translated(' to ')}{last}" for first, last in runs]
    more = translated(f"{len(parts) - MOST_RUNS} more places") if len(parts) > MOST_RUNS else None
    parts = [*parts[:MOST_RUNS], more] if more else parts
    words = translated(" and ").join(filter(None, (", ".join(parts[:-1]), parts[-1])))
    return f"Frames {words}" if len(frames) > 1 else f"Frame {words}"


def pinched_vertices(report: dict, name: str, count: int) -> list[int]:
    """Vertices of the garment `name`, of `count`, that a report lists as pinched."""
    lists = report.get("pinched_vertices")
    listed = lists.get(name) if isinstance(lists, dict) else None
    known = listed if isinstance(listed, list) else ()
    return [v for v in known if isinstance(v, int) and not isinstance(v, bool) and 0 <= v < count]


def sentence(verdict: Verdict, settings) -> str:
    """A verdict as the panel says it; `settings` are the scene's."""
    if verdict.word == GOOD:
        return translated("good")
    if verdict.word == LOOK:
        return LOOK
    if settings.small_steps < HELPS:
        return f"re-bake with {settings.bl_rna.properties['small_steps'].name} {HELPS:g}"
    return f"re-bake with more {settings.bl_rna.properties['substeps'].name}"


def draw_verdict(layout, context, line: str):
    """Below a line of the report: its verdict, and the button that shows where."""
    obj = context.object
    verdict = verdicts(obj.taffeta_cloth.report_json).get(line.split(" ", 1)[0])
    if verdict is None:
        return
    row = layout.row()
    row.label(text=translated(sentence(verdict, context.scene.taffeta)), icon=ICONS[verdict.word])
    if verdict.frame is not None:
        button = row.operator(
            "taffeta.report_show", text=translated(f"Show in Frame {verdict.frame}"), icon="VERTEXSEL"
        )
        button.subject, button.object = verdict.subject, obj.name
