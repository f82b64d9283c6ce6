"""Training is never silent for long, and says at first what it does."""

from __future__ import annotations

import errno
import gzip
import itertools
import logging
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import d2c.commands.progress as heard
from d2c.base.errors import ModelError
from d2c.base.files import bytes_read, open_input
from d2c.base.progress import counted, log
from d2c.commands.cli import cli
from d2c.commands.progress import PATIENCE, Heartbeat, ReadShare
from d2c.dparsers.settings import StanzaSettings
from d2c.protocols.training import Course, TrainingPlan, best_state
from d2c.training.train import warn_of_presets
from tests.commands.test_terminal import screen


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
    assert said[3:] == ["... encoding: sentence 201 of 1000 (45 s so far)"]


def test_its_thread_ends_with_it(said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heard, "PATIENCE", 0.01)
    before = threading.enumerate()
    with pytest.raises(ModelError), Heartbeat() as watching:
        while not said:
            pass
        raise ModelError("over")
    assert threading.enumerate() == before and watching not in log.handlers and not log.level
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


def test_the_time_left_of_a_resumed_job_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half is done before; loading takes 30 s, then a hundredth comes each 10 s, later each 20 s."""
    now, share, left = 30.0, 0.5, heard.TimeLeft()
    monkeypatch.setattr("time.monotonic", lambda: now)
    assert left.after(share) is None
    for every, last in ((10.0, 0.7), (20.0, 1.0)):
        while share < last - 1e-9:
            now, share = now + every, share + 0.01
            told, true = left.after(share), every * (1 - share) * 100
            if share < 0.7 or share > 0.85:  # half of the run was as fast as the rest
                assert told == pytest.approx(true, rel=0.25, abs=1)
    assert told == pytest.approx(0, abs=1e-6)


ON_A_TERMINAL = """
from d2c.commands.progress import Heartbeat, progress
from d2c.commands.terminal import printing_above_bars, say
with printing_above_bars(), progress("parsing x") as more, Heartbeat() as heartbeat:
    more(2, 11, 0.5)
    heartbeat.say("a message")
    say("another")
    print("a r", end="")
    heartbeat.beat()
    print("ow")
    heartbeat.beat()
"""


def test_messages_rows_and_bars_never_share_a_line() -> None:
    """A bar is wiped out before a line, and drawn again below it."""
    written, _ = screen(ON_A_TERMINAL, 80)
    assert " 50% |██████      | 00:00, parsing x: 2 sentences" in written
    lines = [line.rstrip("\r").rsplit("\r", 1)[-1] for line in written.replace("\x1b[A", "\n").split("\n")]
    said = [line for line in lines if "message" in line or "another" in line or "a r" in line or "ow" in line]
    assert [line for line in said if not line.startswith("... ")] == ["a message", "another", "a row"]
    assert {line for line in said if line.startswith("... ")} == {"... 00:00, a message"}


LONG = """
import time
import d2c.commands.progress as heard
heard._TICK = 0.05
with heard.progress("parsing x") as more:
    more(2, 11, 0.5)
    time.sleep(1.3)
"""


def test_the_time_of_a_bar_goes_on_during_a_long_batch() -> None:
    written, lines = screen(LONG, 80)
    assert " 50% |██████      | 00:01, parsing x: 2 sentences" in written
    assert [line for line in lines if line.strip()] == []


TRAINING = """
from d2c.base.progress import at_step, counted
from d2c.commands.progress import Heartbeat
from d2c.learning.learner import Epoch
from d2c.protocols.dparser import Evaluation
with Heartbeat() as heartbeat:
    heartbeat.say("begins")
    for step in (2, 4, 6):
        at_step((step - 1) / 8, "parser: step %d of %d", step, 8)
        heartbeat.beat()
        heartbeat.say(Evaluation(step, 8, 0.5, {"LAS": step / 10}, 3.0))
        list(counted(range(9), "something else"))
        heartbeat.beat()
    for epoch in (1, 2):
        heartbeat.say(Epoch("cky", epoch, 2, 0.25, 80.0, 1.0, (1, 1)))
"""


def test_training_updates_one_line_of_a_terminal() -> None:
    """What was reached last is said once that training is over; elsewhere each evaluation is a line."""
    written, lines = screen(TRAINING, 80)
    assert [line for line in lines if line.strip()] == [
        "begins",
        "step 6/8  loss 0.500  dev LAS 60.00  3 s, about 1 s left",
        "cky: epoch 2 of 2, loss per gold part 0.2500, dev F1 80.00, 1.0 s",
    ]
    shown = [line.strip() for line in written.replace("\n", "\r").split("\r") if "%" in line]
    steps = [line.partition(", ") for line in dict.fromkeys(shown)]
    assert [(share[:4].strip(), line) for share, _, line in steps] == [
        ("12%", "parser: step 2 of 8"),
        ("25%", "step 2/8  loss 0.500  dev LAS 20.00"),
        ("38%", "step 2/8  loss 0.500  dev LAS 20.00"),
        ("50%", "step 4/8  loss 0.500  dev LAS 40.00"),
        ("62%", "step 4/8  loss 0.500  dev LAS 40.00"),
        ("75%", "step 6/8  loss 0.500  dev LAS 60.00"),
        ("50%", "cky: epoch 1 of 2, loss per gold part 0.2500, dev F1 80.00"),
    ]
    plain = subprocess.run([sys.executable, "-c", TRAINING], capture_output=True, text=True)
    assert plain.stdout == "" and plain.stderr.splitlines() == [
        "begins",
        *(
            f"step {n}/8  loss 0.500  dev LAS {n}0.00  3 s, about {left} s left"
            for n, left in ((2, 9), (4, 3), (6, 1))
        ),
        *(f"cky: epoch {n} of 2, loss per gold part 0.2500, dev F1 80.00, 1.0 s" for n in (1, 2)),
    ]


CONVERTING = """
import os, sys
from d2c.commands.cli import cli
from d2c.commands.terminal import printing_above_bars
read, write = os.pipe()
with open(write, "w") as pipe:
    pipe.write("(S (A a))\\n" * 3)
with printing_above_bars(), open(read) as sys.stdin:
    cli(["convert", {!r}, {!r}], standalone_mode=False)
"""


def test_convert_shows_how_far_it_is(tmp_path: Path) -> None:
    """Of standard input it shows a count and a rate."""
    path = tmp_path / "x.mrg"
    path.write_text("(S (A a))\n" * 3)
    written, lines = screen(CONVERTING.format(str(path), str(tmp_path / "y.export")), 80)
    assert f"converting {path}: 0 trees [00:00, ? trees/s]"[:79] in written.replace("\r", "\n")
    written, lines = screen(CONVERTING.format("-", str(tmp_path / "y.export")), 80)
    assert "converting <stdin>: 0 trees [00:00, ? trees/s]" in written
    assert [line for line in lines if line.strip()] == []


@pytest.mark.parametrize("opened", [open, gzip.open])
def test_the_share_of_files_that_is_read(opened: Any, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}{'.gz' * (opened is gzip.open)}" for name in ("one", "other")]
    for path in paths:
        with opened(path, "wt") as stream:
            stream.writelines(f"{random.random()}\n" for _ in range(40_000))
    share, shares, others = ReadShare(paths), [0.0], bytes_read()
    for path in paths:
        with open_input(path) as stream:
            for number, _ in enumerate(stream):
                if number % 100 == 0:
                    shares.append(share())
    middle = (len(shares) + 1) // 2
    assert shares == sorted(shares) and shares[-1] == share() == 1.0
    assert 0.5 <= shares[middle] < 0.6 and 0.2 < shares[middle // 2] < 0.4
    assert bytes_read() == others
    share.read, share.done = 200, 50
    assert share.after(50) == 0.5  # all is read, and half of it done
    assert ReadShare([Path("/dev/null"), *paths])() == ReadShare([Path("-")])() == 0.0
