"""Programs that are run: what they say, how they end, and that nothing of them is left."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from d2c.base.children import Child, run
from tests.processes import alive, all_end

FAMILY = (
    "sleep 600 & echo $! >>{log}; (setsid sleep 600 & echo $! >>{log}); "
    "(trap '' TERM HUP INT; sleep 600) & echo $! >>{log}; echo $$ >>{log}; echo ready >&2; {end}"
)


def family(log: Path, end: str) -> list[str]:
    return ["sh", "-c", FAMILY.format(log=log, end=end)]


def python(code: str) -> list[str]:
    return [sys.executable, "-c", f"import os, sys, time; {code}"]


def failure(command: list[str], seconds: float | None = None) -> str:
    with pytest.raises(ChildProcessError) as error:
        for _ in run(command, seconds=seconds):
            pass
    return str(error.value)


def test_it_is_given_a_text_and_says_lines() -> None:
    code = "sys.stderr.write(sys.stdin.read() + '\\n \\nnext\\rlast')"
    assert list(run(python(code), "given \u00e9\n" + "x" * 5000)) == [
        "given \u00e9",
        "x" * 4096,
        "x" * 904,
        "next",
        "last",
    ]


def test_how_it_fails(tmp_path: Path) -> None:
    assert (
        failure(python("sys.stderr.write('one\\ntwo\\n\\n'); sys.exit(3)")) == "failed (exit status 3): two"
    )
    assert failure(python("os.kill(os.getpid(), 9)")) == "failed (exit status -9): no message"
    assert failure(["no-such-program"]) == "cannot be run: No such file or directory"
    (tmp_path / "x").write_bytes(b"\0")
    assert failure([str(tmp_path / "x")]) == "cannot be run: Permission denied"
    (tmp_path / "x").chmod(0o700)
    assert failure([str(tmp_path / "x")]) == "failed (exit status 126): Exec format error"


def test_its_signals_are_as_usual() -> None:
    assert list(run(["sh", "-c", "trap 'echo caught >&2' TERM; kill -TERM $$"])) == ["caught"]
    assert failure(["sh", "-c", "kill -PIPE $$"]) == "failed (exit status -13): no message"


def test_an_endless_line_takes_no_memory() -> None:
    lengths = set()
    message = ""
    try:
        for line in run(python("\nwhile True: sys.stderr.write('x' * 100_000)"), seconds=1):
            lengths.add(len(line))
    except ChildProcessError as error:
        message = str(error)
    assert message == "was ended after 1 s, as --timeout says"
    assert max(lengths) == 4096


@pytest.mark.parametrize("code", ["time.sleep(600)", "sys.stderr.close(); os.close(2); time.sleep(600)"])
def test_one_that_hangs_is_ended(code: str) -> None:
    assert failure(python(code), seconds=0.3) == "was ended after 0.3 s, as --timeout says"
    with Child(python(code)) as child:
        pass
    assert not alive(child.process.pid)


@pytest.mark.parametrize("end", ["exit 0", "wait"])
def test_nothing_that_it_has_started_is_left(end: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    for _ in run(family(log, end), seconds=None if end == "exit 0" else 600):
        break
    assert len(log.read_text().split()) == 4 and all_end(map(int, log.read_text().split()))


def test_all_end_with_the_first_process(tmp_path: Path) -> None:
    log = tmp_path / "log"
    each = f"for line in run({family(log, 'wait')!r}): print(line, flush=True)"
    code = f"from d2c.base.children import run\n{each}"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as first:
        assert first.stdout and first.stdout.readline() == b"ready\n"
        processes = [*map(int, log.read_text().split())]
        assert len(processes) == 4 and all(map(alive, processes))
        first.kill()
    assert all_end(processes)
