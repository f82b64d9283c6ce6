"""Steps: made once, found again by content, whole or not there, their time counted once."""

from __future__ import annotations

import fcntl
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest

from d2c.base.errors import ModelError
from d2c.base.files import digest_of_file
from d2c.base.progress import log
from experiments import store as store_module
from experiments.store import Store, StoredStep, described, digest

# Makes `first`, and is killed in the middle of `second`, with a file half-written.
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
KILLED = """
import os, signal, sys
from pathlib import Path
from experiments.store import Store
store = Store(Path(sys.argv[1]))
store.step("first", {"of": 1}, lambda directory: (directory / "file").write_text("whole") and {"found": 1})
def second(directory):
    (directory / "file").write_text("ha")
    os.kill(os.getpid(), signal.SIGKILL)
store.step("second", {"of": 2}, second)
"""


class Maker:
    """Makes a file, and counts how often."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.facts, self.count = facts, 0

    def __call__(self, directory: Path) -> Mapping[str, Any]:
        self.count += 1
        (directory / "file").write_text("content")
        return self.facts


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_a_step_is_made_once(tmp_path: Path) -> None:
    made_of, make = {"name of file": "a", "share": 0.5, "none": None}, Maker({"f1": 12.5, "counts": {"a": 1}})
    first = Store(tmp_path).step("score", made_of, make)
    assert make.count == 1 and first.facts == {"f1": 12.5, "counts": {"a": 1}}
    assert (first.directory / "file").read_text() == "content"
    assert first.directory.parent == tmp_path and first.directory.name == f"score-{first.key[:12]}"
    again = Store(tmp_path)  # another run, which names things in another order
    assert again.step("score", dict(reversed(made_of.items())), make) == first and make.count == 1
    assert again.used == {first.key: first}


@pytest.mark.parametrize(
    ("name", "made_of"), [("other", {"a": 1}), ("step", {"a": 2}), ("step", {"b": 1}), ("step", {"a": "1"})]
)
def test_what_is_made_of_other_things_is_another_step(
    name: str, made_of: Mapping[str, Any], tmp_path: Path
) -> None:
    make, store = Maker({}), Store(tmp_path)
    one, other = store.step("step", {"a": 1}, make), store.step(name, made_of, make)
    assert make.count == 2 and one.key != other.key and one.directory != other.directory


def test_another_version_makes_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = Maker({})
    Store(tmp_path).step("step", {"a": 1}, make)
    monkeypatch.setattr(store_module, "__version__", "0.0.0")
    Store(tmp_path).step("step", {"a": 1}, make)
    assert make.count == 2


@pytest.mark.parametrize("error", [ModelError("no"), KeyboardInterrupt(), SystemExit(143)])
def test_an_error_leaves_nothing(error: BaseException, tmp_path: Path) -> None:
    def fail(directory: Path) -> Mapping[str, Any]:
        (directory / "file").write_text("half")
        raise error

    store, make = Store(tmp_path), Maker({})
    with pytest.raises(type(error)):
        store.step("step", {"a": 1}, fail)
    assert names(tmp_path) == [] and store.used == {} and store.seconds == 0
    store.step("step", {"a": 1}, make)
    assert make.count == 1


def test_what_is_no_json_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        Store(tmp_path).step("step", {"a": 1}, Maker({"path": Path()}))
    assert names(tmp_path) == []


def test_a_run_that_was_killed_goes_on(tmp_path: Path) -> None:
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", KILLED, tmp_path], env=ENVIRONMENT, timeout=600)
        assert done.returncode == -signal.SIGKILL
    whole = [name for name in names(tmp_path) if not name.startswith(".")]
    assert len(whole) == 1 and whole[0].startswith("first-")
    store, make = Store(tmp_path), Maker({"found": 2})
    first = store.step("first", {"of": 1}, make)
    assert make.count == 0 and first.facts == {"found": 1}
    assert (first.directory / "file").read_text() == "whole"
    second = store.step("second", {"of": 2}, make)
    assert make.count == 1 and second.facts == {"found": 2}


def test_seconds_of_steps_in_steps_count_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(store_module.time, "perf_counter", lambda: now[0])
    store = Store(tmp_path)

    def take(name: str, seconds: float, *needed: tuple[str, float]) -> StoredStep:
        def make(_: Path) -> Mapping[str, Any]:
            now[0] += seconds / 2
            for one, other in needed:
                take(one, other)
            now[0] += seconds / 2
            return {}

        return store.step(name, {}, make)

    outer = take("outer", 3, ("a", 10), ("b", 20))
    assert outer.seconds == 3 and store.seconds == 33
    last = take("last", 4, ("a", 10))  # finds `a`
    assert last.seconds == 4 and store.seconds == 37
    store.used.clear()
    assert take("outer", 99).seconds == 3 and store.seconds == 3


def test_a_broken_step_is_one_clear_error(tmp_path: Path) -> None:
    step = Store(tmp_path).step("step", {"a": 1}, Maker({}))
    file = step.directory / "step.json"
    for text in ("{", '{"format": 99}', '{"format": 1}', '{"format": 1, "facts": [], "seconds": 1}'):
        file.write_text(text)
        with pytest.raises(ModelError) as error:
            Store(tmp_path).step("step", {"a": 1}, Maker({}))
        assert str(error.value).startswith(str(file)) and "\n" not in str(error.value)


def test_digests(tmp_path: Path) -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1}) != digest({"a": 1})
    (tmp_path / "x").write_text("abc")
    assert digest_of_file(tmp_path / "x").startswith("ba7816bf8f01cfea")
    shown = described({"route": "cky", "train": digest("x"), "share": 0.1, "dtrees": None})
    assert shown == "route cky, share 0.1, dtrees None"


def test_two_that_want_a_step_make_it_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    began, waiting, made = threading.Event(), threading.Event(), list[str]()

    def waits(record: logging.LogRecord) -> bool:
        if record.getMessage().endswith(": another process makes it"):
            waiting.set()
        return True

    def make(who: str) -> Mapping[str, Any]:
        made.append(who)
        began.set()
        assert waiting.wait(600)
        return {"by": who}

    def ask(who: str) -> StoredStep:
        return Store(tmp_path).step("first", {"of": 1}, lambda directory: make(who))

    caplog.handler.addFilter(waits)
    with caplog.at_level(logging.INFO, log.name), ThreadPoolExecutor(2) as pool:
        one = pool.submit(ask, "one")
        assert began.wait(600)
        other = pool.submit(ask, "other")
        assert one.result().facts == other.result().facts == {"by": "one"}
    assert made == ["one"] and names(tmp_path) == [one.result().directory.name]


def test_who_has_waited_for_one_that_failed_is_waited_for(tmp_path: Path) -> None:
    """The lock of a failed run is removed: who waited for it must not hold the removed one alone."""
    lock = tmp_path / f".first-{Store.key('first', {'of': 1})[:12]}.step.d2c-lock"
    held = open(lock, "wb")  # noqa: SIM115 (closed below, as by a run that has failed)
    fcntl.flock(held, fcntl.LOCK_EX)

    def make(_: Path) -> Mapping[str, Any]:
        with open(lock, "rb") as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # as a third one would
        return {}

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lambda: Store(tmp_path).step("first", {"of": 1}, make))
        assert not wait([waiting], 0.2).done
        lock.unlink()
        held.close()
        directory = waiting.result(600).directory
    assert names(tmp_path) == [directory.name]
