# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be shown of Windows and macOS without them: nothing that is installed calls what only POSIX has, but where it has
asked for the system first."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAYERS = "gpu_ldi", "operators", "panels", "patterns", "presets", "solver", "standalone"
MODULES = set("fcntl resource pwd grp termios tty pty posix syslog readline curses crypt".split())
# Of these modules Windows, or macOS, lacks these names.
LACKING = {
    "os": set(
        "fork forkpty getuid geteuid getgid getegid getpgid setsid killpg mkfifo mknod chown lchown chroot nice statvfs sysconf uname"
        " wait waitpid wait3 wait4 sched_getaffinity sched_setaffinity sched_yield posix_fallocate O_NOFOLLOW O_NONBLOCK"
        " O_DIRECTORY memfd_create sendfile".split()
    ),
    "signal": set(
        "SIGKILL SIGALRM SIGHUP SIGUSR1 SIGUSR2 SIGQUIT SIGSTOP SIGCONT SIGCHLD SIGPIPE alarm setitimer pause pthread_kill sigwait".split()
    ),
    "time": {"clock_gettime", "tzset"},
    "socket": {"AF_UNIX"},
}


def asks_for_the_system(node: ast.AST) -> bool:
    """Whether a statement looks at sys.platform or os.name."""
    return any(
        isinstance(part, ast.Attribute) and (ast.unparse(part) in ("sys.platform", "os.name"))
        for part in ast.walk(node)
    )


def bound(text: str) -> list[str]:
    """What a source file does that only some systems have, as "line: what"."""
    found = []

    def visit(node, is_asked):
        if isinstance(node, ast.Try):
            caught = " ".join(ast.unparse(handler.type) for handler in node.handlers if handler.type)
            inner = is_asked or "ImportError" in caught or "AttributeError" in caught
            for part in node.body:
                visit(part, inner)
            for part in (*node.handlers, *node.orelse, *node.finalbody):
                visit(part, is_asked)
            return
        if isinstance(node, ast.Import) and not is_asked:
            found.extend(f"{node.lineno}: {name.name}" for name in node.names if name.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and not is_asked and (node.module or "") in MODULES:
            found.append(f"{node.lineno}: {node.module}")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and not is_asked:
            if node.attr in LACKING.get(node.value.id, ()):
                found.append(f"{node.lineno}: {ast.unparse(node)}")
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("ExternalFunction"):
            if isinstance(node.args[0], ast.Constant):
                found.append(f"{node.lineno}: {ast.unparse(node)}")  # the process ends where LLVM does not find it
        asked = is_asked
        for field in ast.iter_child_nodes(node):
            visit(field, asked)
            if isinstance(node, (ast.FunctionDef, ast.If)):  # all after a question has been asked
                asked = asked or (isinstance(field, (ast.If, ast.Compare)) and asks_for_the_system(field))

    visit(ast.parse(text), False)
    return found


def test_nothing_that_is_installed_needs_one_system():
    files = [ROOT / "__init__.py", ROOT / "__main__.py", *(f for layer in LAYERS for f in (ROOT / layer).rglob("*.py"))]
    assert len(files) > 200
    assert [
        f"{file.relative_to(ROOT)}:{what}" for file in files for what in bound(file.read_text(encoding="utf-8"))
    ] == []


@pytest.mark.parametrize(
    "text",
    [
        "import fcntl",
        "def f():\n    import resource",
        "from pwd import getpwnam",
        "import os\nos.getuid()",
        "import signal\ndef f(p):\n    p.send_signal(signal.SIGKILL)",
        "import os\ndef f():\n    os.sysconf('SC_PAGE_SIZE')\n    if sys.platform == 'win32':\n        return 0",
        "go = types.ExternalFunction('sched_yield', types.int32())",
    ],
)
def test_a_call_of_one_system_is_found(text):
    assert len(bound(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import fcntl\nexcept ImportError:\n    fcntl = None",
        "def f():\n    if sys.platform == 'win32':\n        return 0\n    return os.sysconf('SC_PAGE_SIZE')",
        "if sys.platform != 'win32':\n    os.nice(5)",
        "import os\nos.replace('a', 'b')",
    ],
)
def test_a_call_behind_a_question_is_not(text):
    assert bound(text) == []


def test_no_two_files_differ_in_case_alone_and_none_has_a_name_that_windows_refuses():
    tracked = [
        path
        for part in (*LAYERS, "docs", "tests")
        for path in (ROOT / part).rglob("*")
        if "__pycache__" not in path.parts
    ]
    names = [str(path.relative_to(ROOT)) for path in tracked]
    assert len(names) > 500 and len({name.casefold() for name in names}) == len(names)
    devices = {"con", "prn", "aux", "nul", *(f"{port}{k}" for port in ("com", "lpt") for k in range(10))}
    for name in names:
        parts = Path(name).parts
        assert not [
            part for part in parts if part.split(".")[0].casefold() in devices or set(part) & set('<>:"\\|?*')
        ], name
        assert not [part for part in parts if part.endswith((".", " "))] and len(name) < 160, name


def test_the_public_workflow_runs_the_tests_on_three_systems_in_both_blenders():
    yaml = pytest.importorskip("yaml")
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())["jobs"]
    job = jobs["tests"]
    matrix = job["strategy"]["matrix"]
    assert [name.partition("-")[0] for name in matrix["system"]] == ["ubuntu", "windows", "macos"]
    assert [blender["version"] for blender in matrix["blender"]] == ["4.5", "5.2"]
    for blender in matrix["blender"]:
        assert (ROOT / "requirements" / f"blender-{blender['version']}.txt").is_file()
    assert any("pytest tests" in step.get("run", "") for step in job["steps"])
    assert any("scripts/build_zip.py" in step.get("run", "") for step in jobs["zips"]["steps"])
