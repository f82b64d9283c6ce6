"""Training is never silent for long, and says at first what it does."""

from __future__ import annotations

import errno
import fcntl
import itertools
import logging
import os
import pty
import struct
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import suppress
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner

import d2c.commands.progress as heard
from d2c.base.errors import ModelError
from d2c.base.progress import counted, log
from d2c.commands.cli import cli
from d2c.commands.progress import PATIENCE, Heartbeat
from d2c.dparsers.settings import StanzaSettings
from d2c.protocols.training import Course, TrainingPlan, best_state
from d2c.training.train import warn_of_presets


class Clock:
    """Goes on by a second with each step of the work."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(heard, "say", lambda line: lines.append(str(line)))
    return lines


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Heartbeat, Clock]]:
    """One that hears what is told, without its thread: the test looks at the time."""
    clock, level = Clock(), log.level
    watching = Heartbeat(clock)
    monkeypatch.setattr(log, "handlers", [watching])
    log.setLevel(logging.DEBUG)
    yield watching, clock
    log.setLevel(level)


def test_steps_without_scores(said: list[str], watched: tuple[Heartbeat, Clock]) -> None:
    """100 steps of a second each, the first score after 60: never more than PATIENCE steps without a line."""
    watching, clock = watched
    gaps, last = [], 0

    def step() -> float:
        nonlocal last
        clock.now += 1
        before = len(said)
        watching.beat()
        if len(said) > before:
            gaps.append(clock.now - last)
            last = int(clock.now)
        return 1.0

    scored = list[int]()

    def evaluate(step: int, *_: float) -> float:
        scored.append(step)
        return 0.0

    best_state(Course(TrainingPlan("parser", 100, 60)), step, evaluate, lambda: None)
    assert scored == [60, 100]
    assert gaps == [PATIENCE] * 6
    assert said == [
        "parser: 100 steps at most on cpu, the first score after step 60",
        *(
            f"... parser: step {n} of 100, the next score after step {60 if n <= 60 else 100} ({n} s so far)"
            for n in (15, 30, 45, 60, 75, 90)
        ),
    ]


def test_long_phases_without_steps(said: list[str], watched: tuple[Heartbeat, Clock]) -> None:
    watching, clock = watched
    watching.say("reading")
    assert watching.beat() == PATIENCE
    for seconds in (7, 8, 14, 1):
        clock.now += seconds
        watching.beat()
    assert said == ["reading", "... reading (15 s so far)", "... reading (30 s so far)"]
    list(itertools.islice(counted(range(1000), "encoding"), 201))
    clock.now += PATIENCE
    assert watching.beat() == PATIENCE
    assert said[3:] == ["... encoding: sentence 201 (45 s so far)"]


def test_its_thread_ends_with_it(said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heard, "PATIENCE", 0.01)
    with pytest.raises(ModelError), Heartbeat() as watching:
        while not said:
            pass
        raise ModelError("over")
    assert not watching._thread.is_alive() and watching not in log.handlers and not log.level
    assert said[0].startswith("... starting (")


class Full(StringIO):
    def write(self, _: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_work_goes_on_where_standard_error_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Full())
    told: list[object] = []
    with heard.progress("parsing", every=0.0, tell=told.append) as more:
        for _ in range(3):
            time.sleep(1e-6)
            more(1, 1)
    assert len(told) == 3


def test_what_training_says_first_and_whom_it_overwrites(tmp_path: Path) -> None:
    for name, count in (("train", 3), ("dev", 2)):
        (tmp_path / f"{name}.mrg").write_text("(S (NP (DT a) (NN b)) (VB c))\n" * count, encoding="utf-8")
    train, dev, model = (str(tmp_path / name) for name in ("train.mrg", "dev.mrg", "model"))
    command = ["train", train, "--dev", dev, "-o", model, "--dparser", "gold"]
    done = CliRunner().invoke(cli, command)
    assert done.stderr.splitlines() == [
        f"training on {train}, choosing on {dev}: d-parser gold, route reduction; preset default",
        f"{train}: 3 sentences, 9 words, 3 labels of arcs",
        f"{dev}: 2 sentences, 6 words, 3 labels of arcs",
        "route reduction: learning to convert d-trees",
        "route reduction: learning how far its confidences can be trusted",
        f"{model}: trained",
    ]
    before = (tmp_path / "model" / "model.json").stat()
    refused = CliRunner().invoke(cli, command)
    assert isinstance(refused.exception, ModelError) and refused.stderr == ""
    assert str(refused.exception) == f"{model}: is a model already; --overwrite replaces it"
    (tmp_path / "train.mrg").write_text("(S (NP (DT a) (NN b))\n", encoding="utf-8")
    assert CliRunner().invoke(cli, [*command, "--overwrite"]).exit_code
    assert (tmp_path / "model" / "model.json").stat() == before
    (tmp_path / "train.mrg").write_text("(S (NP (DT a) (NN b)) (VB c))\n", encoding="utf-8")
    assert CliRunner().invoke(cli, [*command, "--overwrite"]).exit_code == 0
    assert (tmp_path / "model" / "model.json").stat() != before


def test_presets_for_gpus(said: list[str], watched: tuple[Heartbeat, Clock]) -> None:
    stanza = pytest.importorskip("d2c.dparsers.stanza.parser").StanzaParser
    small, on_gpu, default = ({"preset": "small", "device": "cpu"}, {"device": "cuda"}, {"device": "cpu"})
    warn_of_presets([stanza(StanzaSettings(**own)) for own in (small, on_gpu)])  # type: ignore[arg-type]
    assert said == []
    warn_of_presets([stanza(StanzaSettings(**default))] * 2)  # type: ignore[arg-type]
    assert said == ["the default preset is made for GPUs, and this is none; take --preset small on a CPU"]


ON_A_TERMINAL = """
from d2c.commands.progress import Heartbeat, progress
from d2c.commands.terminal import say
with progress("parsing x") as more, Heartbeat() as heartbeat:
    more(2, 11)
    heartbeat.say("a message")
    say("another")
    heartbeat.beat()
"""


def test_messages_and_bars_never_share_a_line() -> None:
    """A bar is wiped out before a message, and drawn again below it."""
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        os.execv(sys.executable, [sys.executable, "-c", ON_A_TERMINAL])
    written = ""
    with suppress(OSError):  # says the end
        while more := os.read(terminal, 4096):
            written += more.decode()
    assert os.waitpid(process, 0)[1] == 0
    lines = [line.rstrip("\r").rsplit("\r", 1)[-1] for line in written.replace("\x1b[A", "\n").split("\n")]
    assert "parsing x: 2 sentences" in written and "... a message (" in written
    assert [line for line in lines if "message" in line or "another" in line] == [
        "a message",
        "another",
        "... a message (00:00 so far)",
    ]
