# SPDX-License-Identifier: GPL-3.0-or-later
"""Many processes within memory: real ones, that take memory and say when they began and ended."""

import os
import sys

import pytest
from taffeta.operators.work import many, memory

# Says when it begins, takes so many megabytes, holds them for some looks, says when it ends. By SIGINT it finishes what it is at.
PROCESS = """
import sys, time
log, name, size, seconds = sys.argv[1:]
def say(word):
    with open(log, "a") as file:
        file.write(f"{word} {name}\\n")
    print(f"Taffeta: {word} {name}", flush=True)
say("begin")
try:
    taken = bytearray(int(size) << 20)
    taken[::4096] = b"x" * len(taken[::4096])
    time.sleep(float(seconds))
except KeyboardInterrupt:
    time.sleep(1.0 if name == "b" else 0.2)
    say("stopped")
    sys.exit(1)
say("end")
"""
MEGABYTE = 1 << 20


@pytest.fixture
def task(tmp_path):
    log = tmp_path / "log"

    def make(name, size, seconds, again=None):
        command = [sys.executable, "-c", PROCESS, str(log), name, str(size)]
        return many.Task(name, [*command, str(seconds)], [*command, str(seconds if again is None else again)])

    make.lines = lambda: log.read_text().split("\n")[:-1]
    return make


def most_at_once(lines):
    count, most = 0, 0
    for line in lines:
        count += 1 if line.startswith("begin") else -1
        most = max(most, count)
    return most


def test_memory_is_told():
    assert 100 * MEGABYTE < memory.available() < 1 << 50
    assert 10 * MEGABYTE < memory.used_by(os.getpid()) < memory.available() * 100
    assert memory.used_by(2**22 + 1) == 0


def test_as_many_as_there_is_room_for(task, monkeypatch):
    monkeypatch.setattr(many, "FIRST_GUESS", 10 * MEGABYTE)
    heard = []
    done = many.run([task(name, 5, 0.6) for name in "abcd"], 2, 1 << 40, lambda *words: heard.append(words))
    assert done == dict.fromkeys("abcd", 0) and most_at_once(task.lines()) == 2
    assert ("a", "Taffeta: begin a") in heard and len(heard) == 8


def test_one_after_another_where_there_is_not(task):
    done = many.run([task(name, 5, 0.3) for name in "abc"], 3, 100 * MEGABYTE)
    assert done == dict.fromkeys("abc", 0)
    assert task.lines()[:2] == ["begin a", "end a"], "until one has shown what it wants, nobody begins beside it"


def test_those_of_one_place_run_one_after_another(task, monkeypatch):
    monkeypatch.setattr(many, "FIRST_GUESS", MEGABYTE)
    tasks = [task("a", 1, 0.4)._replace(place="x"), task("b", 1, 0.1)._replace(place="x"), task("c", 1, 0.1)]
    assert many.run(tasks, 3, 1 << 40) == {"a": 0, "b": 0, "c": 0}
    lines = task.lines()
    assert lines.index("end a") < lines.index("begin b") and lines.index("begin c") < lines.index("end a")


def test_one_that_grows_too_large_makes_the_last_wait(task, monkeypatch):
    monkeypatch.setattr(many, "FIRST_GUESS", MEGABYTE)
    done = many.run([task("a", 90, 1.5), task("b", 90, 60.0, again=0.1)], 2, 150 * MEGABYTE)
    assert done == {"a": 0, "b": 0}
    assert [line for line in task.lines() if "b" in line.split()] == ["begin b", "stopped b", "begin b", "end b"]


def test_a_failure_is_told_and_holds_up_nobody(task):
    bad = many.Task("bad", [sys.executable, "-c", "raise SystemExit(3)"], [])
    assert many.run([bad, task("a", 1, 0.1)], 1, 1 << 40) == {"bad": 3, "a": 0}


def test_an_interrupt_stops_them_all(task):
    def interrupt(name, line):
        raised.append(line)

    raised = []

    def sleep(seconds, usual=many.time.sleep):
        usual(seconds)
        if len(raised) == 2:
            raised.append("once")
            raise KeyboardInterrupt

    many.time.sleep, before = sleep, many.time.sleep
    try:
        with pytest.raises(KeyboardInterrupt):
            many.run([task("a", 1, 60.0), task("b", 1, 60.0)], 2, 1 << 40, interrupt)
    finally:
        many.time.sleep = before
    assert sorted(task.lines()) == ["begin a", "begin b", "stopped a", "stopped b"]
