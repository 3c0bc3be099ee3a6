# SPDX-License-Identifier: GPL-3.0-or-later
"""Many processes at once, within memory: another begins where there is room for one like those before; where they grow beyond
that, the one that began last is stopped and begins again later.
"""

import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from . import memory

POLL = 0.2  # [s] between two looks
PATIENCE = 30.0  # [s] that a process may take to stop in peace
FIRST_GUESS = 1 << 30  # bytes that a process may want, before one has shown it


class Task(NamedTuple):
    """Something that a process does."""

    name: str
    command: list[str]
    again: list[str]  # the command that goes on after it was stopped
    place: str = ""  # tasks of one place, if they have one, run one after another


class Running:
    """A process of a task, and the most memory that it had."""

    def __init__(self, task: Task, heed: Callable[[str, str], None], **options):
        self.task, self.peak, self._is_asked = task, 0, False
        silent = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        silent["creationflags"] = getattr(subprocess, "CREATE_NO_WINDOW", 0)
        self.process = subprocess.Popen(task.command, **silent, **options)
        self._thread = threading.Thread(target=self._listen, args=(heed,), name="Taffeta shot", daemon=True)
        self._thread.start()

    def _listen(self, heed) -> None:
        with self.process.stdout as stream:
            for line in stream:
                heed(self.task.name, line.decode("utf-8", "replace").strip())

    def measure(self) -> int:
        """Bytes that it has now."""
        now = memory.used_by(self.process.pid)
        self.peak = max(self.peak, now)
        return now

    def ask(self) -> None:
        """Tell it to end, once: a second word would cut off what it does at its end."""
        if self._is_asked or self.process.poll() is not None:
            return
        self._is_asked = True
        if sys.platform == "win32":
            self.process.terminate()
        else:
            self.process.send_signal(signal.SIGINT)

    def stop(self) -> None:
        """End it: asked, it finishes what it is at; else it is killed."""
        self.ask()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def ended(self) -> int | None:
        """Its exit status, when it has said its last word."""
        status = self.process.poll()
        if status is not None:
            self._thread.join()
        return status


def run(
    tasks: Sequence[Task],
    most: int,
    budget: int,
    heed: Callable[[str, str], None] = lambda name, line: None,
    **options,
) -> dict[str, int]:
    """Exit status of each task, by its name; all stop when this is interrupted.

    most : processes at once
    budget : bytes that they may have together; one alone may have more
    heed : told of each line that a process says: name of the task, line
    """
    waiting, running, done, largest = deque(tasks), [], {}, 0
    try:
        while waiting or running:
            used = [one.measure() for one in running]
            if len(running) > 1 and sum(used) > budget:
                last = running.pop()
                heed(last.task.name, "Taffeta: stopped for want of memory; it goes on later")
                last.stop()
                waiting.appendleft(last.task._replace(command=last.task.again))
                most = max(1, len(running))
            for one in [one for one in running if one.ended() is not None]:
                running.remove(one)
                done[one.task.name], largest = one.process.returncode, max(largest, one.peak)
            guess = max([largest or FIRST_GUESS, *(one.peak for one in running)])
            wanted = sum(max(one.peak, guess) for one in running)
            taken = {one.task.place for one in running} - {""}
            following = next((task for task in waiting if task.place not in taken), None)
            if following and len(running) < most and (not running or wanted + guess <= budget):
                waiting.remove(following)
                running.append(Running(following, heed, **options))
            else:
                time.sleep(POLL)
    finally:
        for one in running:
            one.ask()  # all at once, then wait for each
        for one in running:
            one.stop()
    return done
