# SPDX-License-Identifier: GPL-3.0-or-later
"""Alembic and USD files are written by Blender in one go, which no window survives: another Blender does it, beside this one.

It is given the scene as a file in the folder that is written to, tells each frame, and is ended when the work is stopped.
When this Blender is killed, the other one deletes that folder and ends, too (`writers.write_there`).
"""

import subprocess
import threading
from collections import deque
from contextlib import contextmanager
from pathlib import Path

import bpy

from ...gpu_ldi.windowless import other_blender
from . import writers
from .steps import Step, Steps

SCENE_FILE = "taffeta_scene.blend"
POLL = 0.1  # [s] between two looks at how far it is
LAST_LINES = 5  # of what it says, to be told if it dies
SCRIPT = "import runpy\nrunpy.run_path({file!r})['write_there'](*{arguments!r})"


class _Told:
    """What the other Blender has said so far, by a thread that listens."""

    def __init__(self, process: subprocess.Popen):
        self.frame, self.fault, self.lines = None, "", deque(maxlen=LAST_LINES)
        self._thread = threading.Thread(target=self._listen, args=(process.stdout,), name="Taffeta export", daemon=True)
        self._thread.start()

    def _listen(self, stream) -> None:
        with stream:
            for line in stream:
                self._heed(line.decode("utf-8", "replace").strip())

    def _heed(self, text: str) -> None:
        if text.startswith(writers.FRAME_WORD):
            frame = int(text.removeprefix(writers.FRAME_WORD))
            self.frame = frame if self.frame is None else max(self.frame, frame)
        elif text.startswith(writers.FAULT_WORD):
            self.fault = text.removeprefix(writers.FAULT_WORD)
        elif text:
            self.lines.append(text)

    def all(self) -> "_Told":
        """After it has ended: everything."""
        self._thread.join()
        return self


def write_beside(context, targets: list[bpy.types.Object], path: Path, first: int, last: int) -> Steps:
    """Have another Blender write `targets` into the file `path`, in a folder that has nothing else; returns whether there is
    one that can. Whoever stops it ends the other Blender.

    Raises
    ------
    OSError
        It could not write, or died: a sentence.
    """
    blend = path.with_name(SCENE_FILE)
    names = [obj.name for obj in targets]
    about = str(blend), context.scene.name, context.view_layer.name, names, str(path), (first, last)
    arguments = *about, not bpy.app.autoexec_fail
    command = other_blender(SCRIPT.format(file=writers.__file__, arguments=arguments))
    if command is None:
        return False
    yield Step("Handing the scene to another Blender, which writes it")
    for obj in targets:
        if obj.mode == "EDIT":
            obj.update_from_editmode()
    try:
        bpy.data.libraries.write(str(blend), {context.scene}, path_remap="ABSOLUTE")
    except RuntimeError as error:
        raise OSError(f"{path.parent} cannot be written: {' '.join(str(error).split())}") from error
    try:
        with _running(command) as process:
            if process is None:
                return False
            told = _Told(process)
            while process.poll() is None:
                frame = first if told.frame is None else min(max(told.frame, first), last)
                share = (frame - first) / (last - first + 1)
                yield Step(f"Writing frame {frame} of {last}", share, lambda go_on: _wait(process))
            _refuse(process.returncode, told.all())
    finally:
        blend.unlink(missing_ok=True)
    return True


@contextmanager
def _running(command: list[str]):
    """The other Blender, while it is wanted; None if it cannot be started."""
    silent = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    silent["creationflags"] = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    try:
        process = subprocess.Popen(command, **silent)
    except OSError:
        yield None
        return
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdin.close()


def _wait(process: subprocess.Popen) -> None:
    try:
        process.wait(POLL)
    except subprocess.TimeoutExpired:
        pass


def _refuse(status: int, told: _Told) -> None:
    """Raise an OSError, with a sentence, if it has not ended as it should."""
    if told.fault:
        raise OSError(told.fault)
    if status:
        said = f" and said: {' '.join(told.lines)[:300]}" if told.lines else ""
        raise OSError(f"The Blender that wrote the file ended with status {status}{said}; is memory short?")
