# SPDX-License-Identifier: GPL-3.0-or-later
"""Farm jobs, as farms read them: the Flamenco job type compiled by a JavaScript engine against the documented API and its
commands run; the Open Job Description template checked and run by that project's own tool.
"""

import json
import shlex
import shutil
import subprocess
import sys
from types import SimpleNamespace

import bpy
import launcher
import pytest
import quickjs
from taffeta.operators import command
from taffeta.operators.playback import owners
from taffeta.presets import farm

WEDGES = "Skirt.mass=0.1,0.3; scene.wind.x=9"
NAMES = ["Skirt.mass=0.1,scene.wind.x=9", "Skirt.mass=0.3,scene.wind.x=9"]
# What Flamenco Manager's job compiler gives a script: author.Task, author.Command, the methods of a task and a job, print.
API = """
"use strict";
const tasks = [];
const print = () => undefined;
const author = {
    Task(name, type) {
        if (!name.trim() || !type.trim()) throw new Error("author.Task(name, type): both are required");
        return { name, type, commands: [], needs: [],
                 addCommand(command) { this.commands.push(command); },
                 addDependency(task) { this.needs.push(task.name); } };
    },
    Command(name, parameters) { return { name, parameters }; },
};
const addTask = (task) => { tasks.push(task); };
"""


def compiled(**settings):
    """The tasks of a job of these settings, as Flamenco would get them."""
    engine = quickjs.Context()
    engine.eval(API + farm.FLAMENCO.read_text())
    engine.eval(f"compileJob({{ settings: {json.dumps(settings)}, addTask }})")
    return [SimpleNamespace(**task) for task in json.loads(engine.eval("JSON.stringify(tasks)"))]


def job_type():
    engine = quickjs.Context()
    engine.eval(API + farm.FLAMENCO.read_text())
    return json.loads(engine.eval("JSON.stringify(JOB_TYPE)"))


def command_line(task, exe="blender", arguments="-b -y"):
    """What a Flamenco Worker runs: {exe} {exeArgs} {argsBefore} {blendfile} {args}."""
    (one,) = task.commands
    assert one["name"] == "blender-render" and task.type == "blender"
    given = one["parameters"]
    assert (given["exe"], given["exeArgs"]) == ("{blender}", "{blenderArgs}"), "variables that the Manager knows"
    every = [*given["argsBefore"], given["blendfile"], *given["args"]]
    assert all(isinstance(word, str) for word in every)
    return [exe, *shlex.split(arguments), *every]


@pytest.fixture
def blend(saved, make, tmp_path):
    """shot.blend in a folder of its own: a small skirt in wind."""
    saved.frame_end = 3
    make.cloth(make.grid("Skirt", count=4, location=(0, 0, 2)))
    for path, values in (part.split("=") for part in WEDGES.split("; ")):
        bpy.ops.taffeta.wedge_add(path=path, values=values)
    bpy.ops.wm.save_mainfile()
    return tmp_path / "shot.blend"


def cache(blend, name):
    return blend.parent / "taffeta_cache" / "wedges" / name / "Skirt.pc2"


def test_the_job_type_describes_itself_as_flamenco_wants(blend):
    told = job_type()
    assert told["label"] == "Taffeta Wedges"
    keys = {setting["key"]: setting for setting in told["settings"]}
    for setting in keys.values():
        assert setting["type"] in {"string", "int32", "float", "bool"}
        assert setting.get("subtype", "file_path") in {"file_path", "dir_path", "file_name", "hashed_file_path"}
        assert setting.get("visible", "web") in {"visible", "hidden", "submission", "web"}
    names = {"C": bpy.context, "bpy": bpy}
    given = {key: eval(keys[key]["eval"], names) for key in ("wedges", "scene")}
    assert given == {"wedges": WEDGES, "scene": "Scene"}, "what the add-on fills in"


def test_a_task_a_wedge_and_one_that_waits_for_all(blend, capfd):
    tasks = compiled(wedges=WEDGES, export_path="", blendfile=str(blend), scene="Scene")
    assert [task.name for task in tasks] == ["wedge-1", "wedge-2", "sheet"]
    assert [task.needs for task in tasks] == [[], [], ["wedge-1", "wedge-2"]]
    lines = [command_line(task) for task in tasks]
    assert command.run([*launcher.command_arguments(lines[0][1:]), "--frames", "1-2"]) == 0, "as if it were killed"
    for line in lines[:2]:
        assert command.run(launcher.command_arguments(line[1:])) == 0
    assert "2 of them as they were" in capfd.readouterr().out, "a retry goes on"
    assert (
        command.run(["bake", str(blend), "--set", "Skirt.mass=0.1", "--set", "scene.wind.x=9", "--name", "whole"]) == 0
    )
    assert cache(blend, NAMES[0]).read_bytes() == cache(blend, "whole").read_bytes()
    assert cache(blend, NAMES[1]).is_file()


def test_the_copy_that_flamenco_submits_bakes_for_the_shot(blend):
    copy = blend.with_name("shot.flamenco.blend")
    shutil.copyfile(blend, copy)
    tasks = compiled(wedges=WEDGES, export_path="", blendfile=str(copy), scene="Scene")
    assert command.run(launcher.command_arguments(command_line(tasks[0])[1:])) == 0
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    assert owners.maker_of(cache(blend, NAMES[0])) == ""
    assert bpy.ops.taffeta.wedge_adopt(wedge=NAMES[0]) == {"FINISHED"}


def test_the_sheet_waits_and_exports(blend, tmp_path):
    out = tmp_path / "out" / "cloth.obj"
    tasks = compiled(wedges=WEDGES, export_path=str(out), blendfile=str(blend), scene="Scene")
    lines = [launcher.command_arguments(command_line(task)[1:]) for task in tasks]
    assert command.run(lines[2]) == 1, "nothing is baked"
    for line in lines[:2]:
        assert command.run(line) == 0
    assert command.run([*lines[2], "--size", "32"]) == 0
    assert (blend.parent / "taffeta_cache" / "wedges" / "sheet.png").is_file()
    assert len(list(out.parent.glob("*.obj"))) == 6


@pytest.mark.parametrize("path", ["//out/cloth.obj", "out/cloth.obj"])
def test_an_export_beside_the_shot_lies_there_wherever_a_worker_runs(blend, tmp_path, monkeypatch, path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    *bakes, sheet = compiled(wedges="Skirt.mass=0.1", export_path=path, blendfile=str(blend), scene="Scene")
    for task in bakes:
        assert command.run(launcher.command_arguments(command_line(task)[1:])) == 0
    assert command.run([*launcher.command_arguments(command_line(sheet)[1:]), "--size", "32"]) == 0
    assert len(list((blend.parent / "out").glob("cloth-Skirt.mass=0.1*.obj"))) == 3
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize(
    ("blendfile", "folder"),
    [("P:\\shots\\a.blend", "P:\\shots\\"), ("{shots}/010/a.blend", "{shots}/010/"), ("a.blend", ".")],
)
def test_the_folder_of_a_shot_on_windows_and_of_one_behind_a_variable_of_the_manager(blendfile, folder):
    *_, sheet = compiled(wedges="a.b=1", export_path="//c.abc", blendfile=blendfile, scene="S")
    assert sheet.commands[0]["parameters"]["args"][-4:] == ["--folder", folder, "--export", "c.abc"]


@pytest.mark.parametrize(
    "wedges", ["", " ; ", "Skirt.mass", "=1", "Skirt.mass=1,,2", ";".join(f"a.{k}=1,2" for k in range(10))]
)
def test_what_is_no_wedge_makes_no_job(wedges):
    with pytest.raises(quickjs.JSException, match="is no wedge|There is no wedge|1000 are the most"):
        compiled(wedges=wedges, export_path="", blendfile="/s.blend", scene="Scene")


def test_a_manager_is_given_the_job_type_by_one_command(tmp_path, capsys):
    for _ in range(2):
        assert command.run(["flamenco", str(tmp_path)]) == 0
    assert (tmp_path / "scripts" / "taffeta_wedges.js").read_bytes() == farm.FLAMENCO.read_bytes()
    assert command.run(["flamenco", str(tmp_path / "nowhere")]) == 1
    assert "There is no folder" in capsys.readouterr().err


def openjd(*arguments):
    line = [sys.executable, "-m", "openjd", *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.once
def test_the_template_is_run_by_openjd(blend, tmp_path):
    """Checked, then run: a wedge and the sheet that depends on it, each a process of its own."""
    template = tmp_path / "job.yaml"
    assert command.run(["openjd", str(template)]) == 0
    assert openjd("check", template) == (0, f"Template at '{template}' passes validation checks.\n")
    one = "Skirt.mass=0.3; scene.wind.x=9"
    given = {"Project": tmp_path, "BlendFile": "shot.blend", "Wedges": one, "Count": 1, "Export": "cloth.obj"}
    given["Blender"] = launcher.script(tmp_path)
    status, said = openjd("summary", template, *parameters(given | {"Wedges": WEDGES, "Count": 2}))
    assert status == 0 and "Total tasks: 3" in said, "a task a wedge, and the sheet"
    status, said = openjd("run", template, "--step", "Sheet", "--run-dependencies", *parameters(given))
    assert status == 0, said[-3000:]
    assert cache(blend, NAMES[1]).is_file() and "roughness" in said
    assert (tmp_path / "taffeta_cache" / "wedges" / "sheet.png").is_file()
    assert len(list(tmp_path.glob("cloth-*.obj"))) == 3


def parameters(given):
    return [part for name, value in given.items() for part in ("-p", f"{name}={value}")]


def test_a_count_that_is_too_large_fails_its_task(blend, capsys):
    """As the template would run it with a Count of 3."""
    assert command.run(["bake", str(blend), "--resume", "--wedge", WEDGES, "--only", "3"]) == 1
    assert "There is no wedge 3: these are 2" in capsys.readouterr().err
