"""Full disks, closed streams, signals: one line, the documented exit status, nothing half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEV = ROOT / "data" / "sample" / "dev.mrg"
FULL = "cannot be written: No space left on device"
SLOW = """
import signal, sys, time
class Slow:
    def find_spec(self, name, path, target=None):
        if name == "d2c.commands.info":
            print("importing", flush=True)
            time.sleep(60)
sys.meta_path.insert(0, Slow())
sys.argv[0] = "d2c"
from d2c.__main__ import main
main()
"""


def shell(line: str, directory: Path) -> tuple[int, str, str]:
    """What a line of shell does, where $d2c is the command and $dev the sample: status, output, errors."""
    names = {"d2c": f"{sys.executable} -m d2c", "dev": str(DEV), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["sh", "-c", line], cwd=directory, env=os.environ | names, capture_output=True, text=True, timeout=600
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("$d2c encode $dev >/dev/full", f"<stdout>: {FULL}"),
        ("$d2c encode $dev -o /dev/full", f"/dev/full: {FULL}"),
        ("$d2c evaluate $dev $dev >/dev/full", "<stdout>: No space left on device"),
        ("$d2c --help >/dev/full", "<stdout>: No space left on device"),
        ("$d2c heads $dev >&-", "<stdout>: cannot be written: Bad file descriptor"),
        ("$d2c convert - x.mrg <&-", "<stdin>: cannot be read: Bad file descriptor"),
        ("ulimit -f 1; $d2c encode $dev -o x.conllu", "x.conllu: cannot be written: File too large"),
        ("ulimit -f 1; $d2c encode $dev -o x.conllu.gz", "x.conllu.gz: cannot be written: File too large"),
        ("ulimit -f 1; $d2c draw $dev --svg -o x.svg", "x.svg: cannot be written: File too large"),
    ],
)
def test_what_cannot_be_written(line: str, said: str, tmp_path: Path) -> None:
    assert shell(line, tmp_path) == (2, "", f"d2c: {said}\n")
    assert list(tmp_path.iterdir()) == []


def test_work_goes_on_where_nobody_listens(tmp_path: Path) -> None:
    assert shell("$d2c encode $dev -o a --stats && mv a A", tmp_path)[0] == 0
    assert shell("$d2c encode $dev -o b --stats 2>/dev/full && mv b B", tmp_path) == (0, "", "")
    assert shell("$d2c encode $dev -o c --stats <&- >&- 2>&- && mv c C", tmp_path) == (0, "", "")
    assert shell("$d2c encode no-such-file 2>&-", tmp_path) == (2, "", "")
    assert (tmp_path / "A").read_bytes() == (tmp_path / "B").read_bytes() == (tmp_path / "C").read_bytes()


@pytest.mark.parametrize(
    ("number", "said"), [(signal.SIGINT, b"d2c: interrupted\n"), (signal.SIGTERM, b""), (signal.SIGHUP, b"")]
)
def test_signals_before_anything_runs(number: signal.Signals, said: bytes) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, "info", "x"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    ) as process:
        assert process.stdout and process.stdout.readline() == b"importing\n"
        process.send_signal(number)
        process.send_signal(number)  # as shells do
        assert process.communicate(timeout=600)[1] == said
    assert process.returncode == 128 + number


FIRST = """
import os, signal, sys
before = {*sys.modules}
sys.path.insert(0, sys.argv[1])
from d2c.__main__ import main
signal.signal = lambda *_: print(*sorted({*sys.modules} - before), flush=True) or os._exit(0)
main()
"""


def test_nothing_large_is_imported_before_signals_are_handled() -> None:
    done = subprocess.run([sys.executable, "-I", "-S", "-c", FIRST, ROOT], capture_output=True, text=True)
    assert done.stdout.split() == ["__future__", "d2c", "d2c.__main__", "gc"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_leave_nothing(number: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "d2c", "encode", "-", "-o", str(tmp_path / "x.conllu"), "--jobs", "2"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(ROOT)}
    ) as process:
        assert process.stdin and process.stderr
        process.stdin.write(10 * DEV.read_bytes())
        process.stdin.flush()
        while not list(tmp_path.iterdir()):
            time.sleep(0.01)
        process.send_signal(number)
        assert process.stderr.read() == (b"d2c: interrupted\n" if number == signal.SIGINT else b"")
    assert process.returncode == 128 + number
    assert list(tmp_path.iterdir()) == []


def test_nohup_is_heard(tmp_path: Path) -> None:
    code = (
        "import signal, d2c.__main__, d2c.commands.cli as cli\n"
        "cli.run = lambda _: print(signal.getsignal(signal.SIGHUP).name) or 0\n"
        "d2c.__main__.main()"
    )
    assert shell(f"trap '' HUP; {sys.executable} -c '{code}'", tmp_path) == (0, "SIG_IGN\n", "")
