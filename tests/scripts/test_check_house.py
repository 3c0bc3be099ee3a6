# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of the house: each complains of a small house that breaks it, and of that alone."""

import ast
import importlib.util
import re
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check_house.py"
LICENCE = "# SPDX-License-Identifier: GPL-3.0-or-later\n"


@pytest.fixture
def house():
    """The script as a module, fresh."""
    spec = importlib.util.spec_from_file_location("check_house", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def complaints(house, tmp_path, monkeypatch):
    """From files (path -> text), what the lint says of a house of these."""
    monkeypatch.setattr(house, "ROOT", tmp_path)
    monkeypatch.setattr(house, "EXCEPTIONS", {})

    def of(files, exceptions=()):
        house.EXCEPTIONS.update(exceptions)
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(LICENCE + text)
        return list(
            house.complaints({path.relative_to(tmp_path): house.Source(path) for path in tmp_path.rglob("*.py")})
        )

    return of


def test_a_good_house_is_not_complained_of(complaints):
    assert not complaints({
        "solver/model.py": "",
        "solver/kernel/jit.py": "import numba\n",
        "solver/geometry/distance.py": "from ..kernel.jit import inner\nFAR = 1.0\n",
        "solver/contact/guard/zones.py": "from ..body import collide\n\ndef f(x, pair):\n    return x[pair, 2]\n",
        "solver/contact/body/collide.py": "from ...geometry import distance\nNEAR = 2.0\n",
        "operators/read/mesh_io.py": "def read(mesh, x):\n    mesh.foreach_get('co', x)\n",
        "operators/bake/job.py": "from ..read import mesh_io\n\ndef f():\n    from ...solver.kernel import jit\n",
        "panels/cloth.py": "from ..solver import model\n",
    })  # fmt: skip


LONG = "def f(x):\n" + "    x += 1\n" * 60
MANY = f"def f({', '.join(f'a{k}' for k in range(13))}):\n    pass\n"


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"solver/geometry/a.py": "from ..contact.body import b\n", "solver/contact/body/b.py": ""}, "does not come before"),
        ({"solver/contact/cloth/a.py": "from ..body import b\n", "solver/contact/body/b.py": ""}, "does not come before"),
        ({"operators/read/a.py": "from ..bake import b\n", "operators/bake/b.py": ""}, "does not come before"),
        ({"solver/kernel/a.py": "from . import b\n", "solver/kernel/b.py": "from .a import c\n"}, "files import each other"),
        ({"panels/a/c.py": "from ..b import d\n", "panels/b/d.py": "from ..a import e\n", "panels/a/e.py": ""},
         "folders import each other"),
        ({"solver/a.py": "import bpy\n"}, "knows nothing of Blender"),
        ({"panels/a.py": "from ..operators import b\n", "operators/b.py": ""}, "panels must not import operators"),
        ({"operators/a.py": "from ..solver import b\n", "solver/b.py": "import numba\n"}, "loads numba"),
        ({"operators/a.py": "def f(mesh, x):\n    mesh.foreach_get('co', x)\n"}, "foreach_get belongs into operators/read/"),
        ({"solver/a.py": LONG}, "1 parameters and 61 lines"),
        ({"solver/a.py": MANY}, "13 parameters and 2 lines"),
        ({"solver/a.py": "FAR = 1.0\n", "solver/b.py": "NEAR, FAR = 0.1, 2.0\n"}, "FAR is also a constant"),
        ({"solver/a.py": "def f(touches, p):\n    return touches[6][p, 1]\n"}, "what is number 6?"),
        ({"solver/a.py": "def f(memory, p):\n    return memory[p, 8]\n"}, "a numbered column"),
        ({"solver/a.py": "def f(g, support):\n    g(*support[:5])\n"}, "a splat of part of a tuple"),
        ({"solver/a.py": "\n" * 400}, "split it by idea"),
    ],
)  # fmt: skip
def test_each_rule_complains(complaints, files, words):
    found = complaints(files)
    assert found and all(words in sentence for sentence in found), found


def test_the_list_of_exceptions_may_only_shrink(complaints):
    assert not complaints({"solver/a.py": LONG}, {"solver/a.py:f": (1, 61)})
    assert "they may only shrink" in complaints({"solver/a.py": LONG}, {"solver/a.py:f": (1, 70)})[0]
    assert "no exception any more" in complaints({"solver/a.py": "def f(x):\n    pass\n"}, {"solver/a.py:f": (1, 2)})[0]
    assert "is gone" in complaints({"solver/a.py": ""}, {"solver/a.py:f": (1, 61)})[0]


def test_each_file_of_the_solver_has_a_room(house):
    files = [
        path.relative_to(house.ROOT) for path in (house.ROOT / "solver").rglob("*.py") if path.name != "__init__.py"
    ]
    names = [".".join(path.with_suffix("").parts) for path in files]
    assert len(names) > 100 and [name for name in names if house.room_of(name) is None] == []


@pytest.mark.parametrize(
    "room", ["", "contact", "contact/body", "contact/cloth", "contact/guard", "integrate", "kernel", "cache"]
)
def test_a_large_room_names_its_files(house, room):
    folder = house.ROOT / "solver" / room
    told = set(re.findall(r"\w+", ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))))
    assert {path.stem for path in folder.glob("*.py")} - told == {"__init__"}


def test_rooms_are_in_the_order_that_the_architecture_tells(house):
    page = (house.ROOT / "ARCHITECTURE.md").read_text()
    told = re.search(r"^    (model, .* < precompile)$", page, re.MULTILINE | re.DOTALL)[1]
    storeys = [{room.strip() for room in storey.split(",")} for storey in told.split("<")]
    assert storeys == [{room.replace(".", "/") for room in rooms} for rooms in house.ORDERS["solver"]]
