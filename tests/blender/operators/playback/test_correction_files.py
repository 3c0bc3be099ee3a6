# SPDX-License-Identifier: GPL-3.0-or-later
"""Corrections of many frames go where their bake goes, and one whose file is gone is told of."""

import shutil
import tempfile

import bpy
import numpy as np
import pytest
from taffeta.operators.checks import problem_list
from taffeta.operators.read import correction, offsets
from taffeta.solver.cache import moves, pc2

LAST = 5


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Where files are saved; beside it is the system's temporary folder."""
    for name in ("tmp", "old", "new"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path


@pytest.fixture
def corrected(scene, make, home):
    """corrected(path): a cloth that was baked and smoothed, before its file was saved there or, with None, in a file without a place."""

    def bake(path=None):
        scene.frame_end = LAST
        obj = make.cloth(make.grid(count=4, location=(0, 0, 2)))
        obj.taffeta_cloth.mass.value = 0.2
        if path is not None:
            bpy.ops.wm.save_as_mainfile(filepath=str(path))
        assert bpy.ops.taffeta.bake() == {"FINISHED"}
        bpy.context.view_layer.objects.active = obj
        obj.select_set(True)
        assert bpy.ops.taffeta.smooth_in_time(width=2.0) == {"FINISHED"}
        assert np.abs(shown(obj) - plain(obj)).max() > 1e-4
        return obj

    return bake


def shown(obj):
    bpy.context.scene.frame_set(3)
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    return np.array([vertex.co for vertex in mesh.vertices], np.float32)


def plain(obj):
    (tree,) = trees(obj)
    tree[correction.MUTED] = True
    correction.follow_cache(obj)
    found = shown(obj)
    tree[correction.MUTED] = False
    correction.follow_cache(obj)
    return found


def trees(obj):
    return [modifier.node_group for modifier in correction.corrections_of(obj)]


def file_of(obj):
    (tree,) = trees(obj)
    return offsets.file_of(tree)


def rows(*words):
    bpy.context.view_layer.update()
    return [p for p in problem_list.latest(bpy.context.scene) if any(word in p.sentence for word in words)]


def reopened():
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    return bpy.data.objects["Cloth"]


def test_they_are_brought_beside_the_file_with_the_bake(corrected, home):
    obj = corrected()
    wanted, wedge = shown(obj), "Cloth.mass=0.4"
    bpy.ops.taffeta.wedge_add(path="Cloth.mass", values="0.4")
    assert bpy.ops.taffeta.wedges_bake() == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=str(home / "new" / "shot.blend"))
    frames = next((home / "tmp").rglob(f"{wedge}/Cloth.pc2")).read_bytes()
    assert bpy.ops.taffeta.fix_temporary(object="Cloth") == {"FINISHED"}
    assert file_of(obj).parent == home / "new" / "taffeta_cache" / "corrections"
    shutil.rmtree(home / "tmp")
    obj = reopened()
    assert np.array_equal(shown(obj), wanted) and not rows("temporary", "missing")
    assert (home / "new" / "taffeta_cache" / "wedges" / wedge / "Cloth.pc2").read_bytes() == frames
    assert [item.name for item in bpy.context.window_manager.taffeta_wedges] == [wedge]
    assert bpy.ops.taffeta.wedge_adopt(wedge=wedge) == {"FINISHED"}


def test_those_that_were_left_behind_are_brought_alone(corrected, home):
    """As by a Taffeta that brought bakes alone."""
    obj = corrected()
    wanted = shown(obj)
    bpy.ops.wm.save_as_mainfile(filepath=str(home / "new" / "shot.blend"))
    lay = file_of(obj)
    assert bpy.ops.taffeta.fix_temporary(object="Cloth") == {"FINISHED"}
    offsets.source_of(trees(obj)[0]).modifiers[0].filepath = str(lay)
    (row,) = rows("temporary")
    assert row.sentence.startswith("Cloth's corrections lie in a temporary folder")
    assert bpy.ops.taffeta.fix_temporary(object="Cloth") == {"FINISHED"}
    shutil.rmtree(home / "tmp")
    assert np.array_equal(shown(reopened()), wanted) and not rows("temporary", "missing")
    assert len(list((home / "new" / "taffeta_cache" / "corrections").iterdir())) == 1, "the same is not copied twice"


@pytest.mark.parametrize("options", [{"resume": True}, {"from_frame": 4}, {}])
@pytest.mark.parametrize("was_saved", [True, False])
def test_they_go_along_to_where_a_file_that_was_saved_elsewhere_bakes(corrected, home, options, was_saved):
    obj = corrected(home / "old" / "x.blend" if was_saved else None)
    wanted, lay = shown(obj), file_of(obj)
    before = lay.read_bytes()
    bpy.ops.wm.save_as_mainfile(filepath=str(home / "new" / "y.blend"))
    assert bpy.ops.taffeta.bake(**options) == {"FINISHED"}
    assert lay.read_bytes() == before, "it is a copy"
    shutil.rmtree(home / ("old" if was_saved else "tmp"))
    obj = reopened()
    assert file_of(obj).parent == home / "new" / "taffeta_cache" / "corrections"
    assert np.array_equal(shown(obj), wanted) and not rows("temporary", "missing")


def test_one_that_cannot_be_copied_leaves_all_as_it_is(corrected, home, monkeypatch):
    obj = corrected()
    wanted, lay = shown(obj), file_of(obj)
    bpy.ops.wm.save_as_mainfile(filepath=str(home / "new" / "shot.blend"))

    def full(source, out, size, go_on=None):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(moves, "_pour", full)
        with pytest.raises(RuntimeError, match="cannot be copied"):
            bpy.ops.taffeta.bake(resume=True)
    assert file_of(obj) == lay and np.array_equal(shown(obj), wanted)
    assert not list((home / "new").rglob("*.pc2*"))


def test_what_is_no_correction_of_the_garment_is_not_copied(corrected, home):
    """A strange .blend may name any file."""
    obj = corrected()
    for name, write in (
        ("secret.txt", lambda path: path.write_text("secret")),
        ("other.pc2", lambda path: pc2.write(path, np.zeros((2, 3, 3)), 1)),
        ("link.pc2", lambda path: path.symlink_to(file_of(obj))),
    ):
        write(home / "old" / name)
        bpy.ops.wm.save_as_mainfile(filepath=str(home / "new" / f"{name}.blend"))
        lay = offsets.source_of(trees(obj)[0]).modifiers[0].filepath
        offsets.source_of(trees(obj)[0]).modifiers[0].filepath = str(home / "old" / name)
        assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
        assert not [
            path for path in (home / "new").rglob("*") if path.name.startswith(name[:5]) and "blend" not in path.name
        ]
        offsets.source_of(trees(obj)[0]).modifiers[0].filepath = lay


def test_one_whose_file_is_gone_is_told_and_comes_back_with_it(corrected, home, capsys):
    obj = corrected(home / "old" / "x.blend")
    wanted, lay = shown(obj), file_of(obj)
    assert not rows("missing")
    lay.rename(home / "aside.pc2")
    obj = reopened()
    (row,) = rows("missing")
    (modifier,) = correction.corrections_of(obj)
    assert row.severity == "WARNING" and row.object == "Cloth" and str(lay) in row.sentence
    assert modifier.name in row.sentence and "Bring the file back" in row.remedy
    assert not modifier.show_viewport and not modifier.show_render
    assert f"Taffeta: {row.sentence}" in capsys.readouterr().out
    assert bpy.ops.taffeta.export(filepath=str(home / "out.obj"), object="Cloth") == {"FINISHED"}
    assert row.sentence in capsys.readouterr().out
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}, "a bake needs nothing of it"
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.taffeta.correction_mute(index=0) == {"FINISHED"} and not rows("missing")
    assert bpy.ops.taffeta.correction_mute(index=0) == {"FINISHED"} and rows("missing")
    (home / "aside.pc2").rename(lay)
    obj = reopened()
    assert not rows("missing") and np.array_equal(shown(obj), wanted)
