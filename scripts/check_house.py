# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds the rules of ARCHITECTURE.md that ruff cannot: who imports whom, licence lines, file lengths.

    panels -> solver.model, panels        operators -> panels, gpu_ldi, solver, operators
    gpu_ldi -> solver.ldi                 solver -> numpy, scipy, numba and Python itself
    standalone -> solver

Operators import solver modules that need numba inside functions, so that enabling the extension does not load it.
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAYERS = "panels", "operators", "gpu_ldi", "solver", "presets", "standalone"
ALLOWED = {
    "panels": ("panels", "solver.model"),
    "operators": ("operators", "panels", "gpu_ldi", "solver", "presets"),
    "gpu_ldi": ("gpu_ldi", "solver.ldi", "solver.model"),
    "solver": ("solver",),
    "presets": ("presets", "solver.model"),
    "standalone": ("standalone", "solver"),
}
OUTSIDE_SOLVER = "bpy", "gpu", "mathutils", "bmesh", "bl_ui", "blf"
LINES, TEST_LINES = 450, 600


def targets(path: Path):
    """Dotted names, relative to the package, that a file imports: (line, name, at top level)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = set(map(id, tree.body))
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, "/" + name.name, id(node) in top) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.lineno, "/" + node.module, id(node) in top
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1]
            base = ".".join((*base, node.module) if node.module else base)
            yield from ((node.lineno, f"{base}.{name.name}".lstrip("."), id(node) in top) for name in node.names)


def file_of(name: str) -> Path | None:
    """The source file that a dotted name means, if any."""
    while name:
        base = ROOT.joinpath(*name.split("."))
        for file in (base.with_suffix(".py"), base / "__init__.py"):
            if file.is_file():
                return file
        name = name.rpartition(".")[0]
    return None


def loads_numba(path: Path, seen: set) -> bool:
    """Whether importing a file imports numba, at top level, directly or through its own imports."""
    if path in seen:
        return False
    seen.add(path)
    for _, name, top in targets(path):
        if top and name.split(".")[0] == "/numba":
            return True
        if top and not name.startswith("/") and (file := file_of(name)) and loads_numba(file, seen):
            return True
    return False


def complaints(path: Path):
    """Sentences about one source file."""
    layer, text = path.relative_to(ROOT).parts[0], path.read_text(encoding="utf-8")
    if not text.startswith("# SPDX-License-Identifier: GPL-3.0-or-later\n"):
        yield "1: the licence line is missing"
    limit = TEST_LINES if layer == "tests" else LINES
    if text.count("\n") > limit:
        yield f"1: {text.count(chr(10))} lines; split it by idea (at most {limit})"
    if layer not in ALLOWED:
        return
    for line, name, _ in targets(path):
        head = name.lstrip("/").split(".")[0]
        if name.startswith("/"):
            if head == "taffeta":
                yield f"{line}: imports inside the project are relative"
            if layer == "solver" and head in OUTSIDE_SOLVER:
                yield f"{line}: solver/ knows nothing of Blender ({head})"
            if layer == "panels" and head == "numba":
                yield f"{line}: enabling the extension must not load numba"
        elif head in LAYERS and not any(name == ok or name.startswith(ok + ".") for ok in ALLOWED[layer]):
            yield f"{line}: {layer} must not import {name}"
    if layer in ("panels", "operators") and loads_numba(path, set()):
        yield "1: importing this file loads numba; import the solver inside the function that needs it"


def main() -> int:
    """Print every complaint; 1 when there are any."""
    files = [ROOT / "__init__.py", ROOT / "__main__.py"]
    for folder in (*LAYERS, "scripts", "benchmarks", "tests"):
        files += sorted((ROOT / folder).rglob("*.py"))
    found = [f"{path.relative_to(ROOT)}:{words}" for path in files for words in complaints(path)]
    print("\n".join(found) or f"{len(files)} files keep the rules of the house")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
