# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds the rules of ARCHITECTURE.md that ruff cannot: who imports whom, and how large and how named things are.

    panels -> solver.model                operators -> panels, gpu_ldi, solver, presets, patterns
    gpu_ldi -> solver.ldi, solver.model   presets -> patterns
    standalone -> solver                  patterns -> numpy, scipy, ezdxf, mathutils
    solver -> numpy, scipy, numba and Python itself

Inside `solver/` and `operators/` rooms are in an order (`ORDERS`), and a file imports from its own room and from those
before it. No files and no folders import each other in a circle. Operators import solver modules that need numba inside
functions, so that enabling the extension does not load it. Blender's arrays are read and written in one room (`BORDER`).

Functions have at most `PARAMETERS` parameters and `FUNCTION_LINES` lines. What does not keep to that stands in `EXCEPTIONS`
with its figures, and the list may only get shorter: a function that has become smaller than it says is a complaint, too.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAYERS = "panels", "operators", "gpu_ldi", "solver", "presets", "patterns", "standalone"
ALLOWED = {
    "panels": ("panels", "solver.model"),
    "operators": ("operators", "panels", "gpu_ldi", "solver", "presets", "patterns"),
    "gpu_ldi": ("gpu_ldi", "solver.ldi", "solver.model"),
    "solver": ("solver",),
    "presets": ("presets", "patterns"),
    "patterns": ("patterns",),
    "standalone": ("standalone", "solver"),
}
OUTSIDE_SOLVER = "bpy", "gpu", "mathutils", "bmesh", "bl_ui", "blf"
#: rooms from the ground up; those of one line do not import each other
ORDERS = {
    "solver": (
        ("model", "grey", "digest"),
        ("kernel",),
        ("geometry",),
        ("broad_phase", "elastic", "forces", "ldi"),
        ("integrate", "contact.cloth", "contact.body"),
        ("contact.guard",),
        ("contact.resolve", "contact.brace", "contact.passing"),
        ("contact.frame",),
        ("velocity_field", "depth_layers", "untangle", "cache"),
        ("rest", "filed", "flat"),
        ("check",),
        ("build",),
        ("crossings", "refit"),
        ("correct", "shown", "besides_pairs", "tear"),
        ("join", "parts", "sleep"),
        ("zips",),
        ("step", "doubts"),
        ("shot",),
        ("precompile",),
    ),
    "operators": (("read",), ("playback",), ("checks",), ("bake",), ("live", "overlay", "work"), ("drape",)),
}
BORDER = "operators/read/"
LINES, TEST_LINES = 400, 600
PARAMETERS, FUNCTION_LINES = 12, 60
COLUMNS = 6  # a box has so many; a number beyond them is a column that wants a name
#: file:function -> parameters and lines that it has, where these are more than they may be
EXCEPTIONS: dict[str, tuple[int, int]] = {}


class Source:
    """One source file: its path relative to the checkout, its text and tree."""

    def __init__(self, path: Path):
        self.path = path.relative_to(ROOT)
        self.name = str(self.path.with_suffix("")).replace("/", ".").removesuffix(".__init__")
        self.layer = self.path.parts[0]
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        self.imports = list(self._imports())

    def _imports(self) -> Iterator[tuple[int, str, bool]]:
        """Line, dotted name relative to the package (after "/" if from outside), whether at top level."""
        top, package = set(map(id, self.tree.body)), self.path.parent.parts
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, "/" + name.name, id(node) in top) for name in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                yield node.lineno, "/" + node.module, id(node) in top
            elif isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1]
                base = ".".join((*base, node.module) if node.module else base)
                yield from ((node.lineno, f"{base}.{name.name}".lstrip("."), id(node) in top) for name in node.names)


def file_of(name: str) -> Path | None:
    """The source file that a dotted name means, relative to the checkout, if any."""
    while name:
        base = ROOT.joinpath(*name.split("."))
        for file in (base.with_suffix(".py"), base / "__init__.py"):
            if file.is_file():
                return file.relative_to(ROOT)
        name = name.rpartition(".")[0]
    return None


def imported_files(source: Source, top_only: bool = False) -> Iterator[tuple[int, Path]]:
    """Files of the project that a file imports, with the line where it does."""
    for line, name, top in source.imports:
        if not name.startswith("/") and (top or not top_only) and (file := file_of(name)) and file != source.path:
            yield line, file


def loads_numba(source: Source, sources: dict[Path, Source], seen: set) -> bool:
    """Whether importing a file imports numba, at top level, directly or through its own imports."""
    if source.path in seen:
        return False
    seen.add(source.path)
    if any(top and name.split(".")[0] == "/numba" for _, name, top in source.imports):
        return True
    return any(loads_numba(sources[file], sources, seen) for _, file in imported_files(source, True))


def of_text(source: Source) -> Iterator[str]:
    """The licence line, and how long a file is."""
    if not source.text.startswith("# SPDX-License-Identifier: GPL-3.0-or-later\n"):
        yield "1: the licence line is missing"
    limit, count = TEST_LINES if source.layer == "tests" else LINES, source.text.count("\n")
    if count > limit:
        yield f"1: {count} lines; split it by idea (at most {limit})"


def of_imports(source: Source) -> Iterator[str]:
    """Arrows between layers, and between the rooms of a layer, that point back."""
    for line, name, _ in source.imports:
        head = name.lstrip("/").split(".")[0]
        if name.startswith("/"):
            if head == "taffeta":
                yield f"{line}: imports inside the project are relative"
            if source.layer == "solver" and head in OUTSIDE_SOLVER:
                yield f"{line}: solver/ knows nothing of Blender ({head})"
            if source.layer == "panels" and head == "numba":
                yield f"{line}: enabling the extension must not load numba"
        elif head in LAYERS and not any(name == ok or name.startswith(ok + ".") for ok in ALLOWED[source.layer]):
            yield f"{line}: {source.layer} must not import {name}"
        elif head == source.layer and (file := file_of(name)):
            other = str(file.with_suffix("")).replace("/", ".").removesuffix(".__init__")
            room, asked = room_of(source.name), room_of(other)
            if room and asked and room[1] != asked[1] and asked[0] >= room[0]:
                yield f"{line}: {room[1]} must not import {asked[1]}, which does not come before it"


def room_of(name: str) -> tuple[int, str] | None:
    """Storey and room of a module that has one."""
    layer, _, inner = name.partition(".")
    for storey, rooms in enumerate(ORDERS.get(layer, ())):
        for room in rooms:
            if inner == room or inner.startswith(room + "."):
                return storey, f"{layer}.{room}"
    return None


def of_functions(source: Source) -> Iterator[str]:
    """Functions that are too long or take too much, unless that is known."""
    for node in ast.walk(source.tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        arguments = node.args
        count = len(arguments.posonlyargs + arguments.args + arguments.kwonlyargs)
        size, place = (count, node.end_lineno - node.lineno + 1), f"{source.path}:{node.name}"
        known = EXCEPTIONS.get(place)
        if known and known != size:
            yield f"{node.lineno}: {node.name} has {size} parameters and lines, EXCEPTIONS says {known}: they may only shrink"
        elif known is None and (size[0] > PARAMETERS or size[1] > FUNCTION_LINES):
            limits = f"at most {PARAMETERS} and {FUNCTION_LINES}"
            yield f"{node.lineno}: {node.name} has {size[0]} parameters and {size[1]} lines ({limits})"
        elif known and size[0] <= PARAMETERS and size[1] <= FUNCTION_LINES:
            yield f"{node.lineno}: {node.name} is no exception any more; take it out of EXCEPTIONS"


def of_columns(source: Source) -> Iterator[str]:
    """Numbers where a name belongs: `touches[6][p, 1]`, `memory[p, 8]`, `*support[:5]`."""
    if source.layer != "solver":
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Subscript):
            inner, index = node.value, node.slice
            if isinstance(inner, ast.Subscript) and is_number(inner.slice) and isinstance(index, ast.Tuple):
                yield f"{node.lineno}: {ast.unparse(node)}: what is number {ast.unparse(inner.slice)}? Give it a name"
            if isinstance(index, ast.Tuple) and any(is_number(k) and k.value >= COLUMNS for k in index.elts):
                yield f"{node.lineno}: {ast.unparse(node)}: a numbered column; give it a name"
        elif isinstance(node, ast.Call):
            for given in node.args:
                part = given.value if isinstance(given, ast.Starred) else None
                if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Slice):
                    yield f"{node.lineno}: {ast.unparse(given)}: a splat of part of a tuple; pass it whole"


def is_number(node: ast.expr) -> bool:
    """Whether an index is an integer written out."""
    return isinstance(node, ast.Constant) and type(node.value) is int


def of_border(source: Source) -> Iterator[str]:
    """Arrays from and to Blender outside of the room for that."""
    if source.layer != "operators" or str(source.path).startswith(BORDER):
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and node.attr in ("foreach_get", "foreach_set"):
            yield f"{node.lineno}: {node.attr} belongs into {BORDER}"


def of_constants(sources: dict[Path, Source]) -> Iterator[str]:
    """Constants of the solver that two files define under one name."""
    places = defaultdict(list)
    for source in sources.values():
        for node in source.tree.body if source.layer == "solver" else ():
            for target in getattr(node, "targets", [getattr(node, "target", None)]):
                for name in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(name, ast.Name) and name.id.isupper() and not name.id.startswith("_"):
                        places[name.id].append(f"{source.path}:{node.lineno}")
    for name, found in places.items():
        if len(found) > 1:
            yield f"{found[0]}: {name} is also a constant of {', '.join(found[1:])}; say what each bounds"


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Groups of nodes that reach each other (Tarjan 1972), of two or more."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(arrows.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(arrows):
        if node not in index:
            visit(node)
    return found


def of_circles(sources: dict[Path, Source]) -> Iterator[str]:
    """Files, and folders, that import each other. A file beside folders is on its own: its room is the one above."""
    above = {path.parent.parent for path in sources}  # folders with folders in them
    files, folders = defaultdict(set), defaultdict(set)
    for path, source in sources.items():
        if source.layer not in LAYERS or path.name == "__init__.py":
            continue
        for _, other in imported_files(source):
            if other.name == "__init__.py":
                continue
            files[str(path)].add(str(other))
            here, there = (place if place.parent in above else place.parent for place in (path, other))
            if here != there:
                folders[str(here)].add(str(there))
    for kind, arrows in (("files", files), ("folders", folders)):
        for circle in circles(arrows):
            yield f"{circle[0]}: {kind} import each other in a circle: {', '.join(circle)}"


RULES = of_text, of_imports, of_functions, of_columns, of_border


def complaints(sources: dict[Path, Source]) -> Iterator[str]:
    """Sentences about all source files."""
    for path, source in sources.items():
        rules = RULES if source.layer in LAYERS else RULES[:1]
        yield from (f"{path}:{words}" for rule in rules for words in rule(source))
        if source.layer in ("panels", "operators") and loads_numba(source, sources, set()):
            yield f"{path}:1: importing this file loads numba; import the solver inside the function that needs it"
    yield from of_constants(sources)
    yield from of_circles(sources)
    names = {f"{path}:{node.name}" for path, source in sources.items() for node in ast.walk(source.tree)
             if isinstance(node, ast.FunctionDef)}  # fmt: skip
    yield from (
        f"scripts/check_house.py: {place} is gone; take it out of EXCEPTIONS" for place in EXCEPTIONS.keys() - names
    )


def main() -> int:
    """Print every complaint; 1 when there are any."""
    files = [ROOT / "__init__.py", ROOT / "__main__.py"]
    for folder in (*LAYERS, "scripts", "benchmarks", "tests"):
        files += sorted((ROOT / folder).rglob("*.py"))
    sources = {path.relative_to(ROOT): Source(path) for path in files}
    found = list(dict.fromkeys(complaints(sources)))
    print("\n".join(found) or f"{len(files)} files keep the rules of the house")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
