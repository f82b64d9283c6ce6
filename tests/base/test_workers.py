"""Worker processes: order, errors, how much is read ahead, and that they end with the first process."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from d2c.base.errors import FormatError
from d2c.base.workers import ProcessPool, Retrying, Scheduler, Work, in_order
from tests.errors import faulty
from tests.processes import alive, all_end

ENDLESS = """
import os, time
from d2c.base.workers import in_order
from tests.errors import faulty

def work(item):
    os.write(1, b"%d\\n" % os.getpid())  # at once, since both workers say theirs
    time.sleep(600)

for _ in in_order(lambda: work, range(9), 2):
    pass
"""


def uneven(item: int) -> tuple[int, int]:
    time.sleep(0.02 if item % 4 == 0 else 0)
    return item * item, os.getpid()


def refuse(item: int) -> int:
    if item == 5:
        raise FormatError("a.mrg", 7, 2, "no")
    return item


class OfLibrary(Exception):
    """Cannot be read again where it is sent: its arguments are not those that it was made of."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")


def raise_of_library(_: int) -> int:
    raise OfLibrary(3, "no")


def raise_with_function(_: int) -> int:
    raise ValueError("no", lambda: 0)  # which cannot be sent


def make(log: Path) -> Work[int, int]:
    with open(log, "a") as stream:
        stream.write(f"{os.getpid()}\n")
    return abs


def thresholds() -> Work[int, tuple[int, int, int]]:
    return lambda _: gc.get_threshold()


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_results_come_in_order(jobs: int) -> None:
    found = list(in_order(lambda: uneven, range(40), jobs))
    assert [square for square, _ in found] == [item * item for item in range(40)]
    processes = {process for _, process in found}
    assert processes == {os.getpid()} if jobs == 1 else os.getpid() not in processes and len(processes) > 1


@pytest.mark.parametrize("fresh", [False, True])
def test_workers_look_for_cycles_as_often_as_the_first_process(fresh: bool) -> None:
    before = gc.get_threshold()
    gc.set_threshold(12_345, 6, 7)
    try:
        assert {*in_order(thresholds, range(3), 2, fresh)} == {(12_345, 6, 7)}
    finally:
        gc.set_threshold(*before)


@pytest.mark.parametrize("count", [0, 1, 4])
@pytest.mark.parametrize("jobs", [1, 2])
def test_what_comes_before_an_error_of_the_items_is_worked_on(jobs: int, count: int) -> None:
    def items() -> Iterator[int]:
        yield from range(count)
        raise FormatError("a.mrg", 7, 2, "no")

    found = in_order(lambda: abs, items(), jobs)
    assert [next(found) for _ in range(count)] == [*range(count)]
    with faulty("a.mrg", 7, 2, about="no"):
        next(found)


@pytest.mark.parametrize("items", [0, 1])
def test_one_item_needs_no_process(items: int) -> None:
    assert list(in_order(lambda: lambda item: os.getpid(), range(items), 4)) == [os.getpid()] * items


def test_little_is_read_ahead() -> None:
    read: list[int] = []

    def items() -> Iterator[int]:
        for item in range(1000):
            read.append(item)
            yield item

    for number, item in enumerate(in_order(lambda: abs, items(), 2)):
        assert item == number and len(read) <= number + 8


@pytest.mark.parametrize("fresh", [False, True])
def test_each_process_makes_its_work_once(fresh: bool, tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert list(in_order(partial(make, log), range(-50, 0), 2, fresh)) == list(range(50, 0, -1))
    makers = log.read_text().split()
    assert len(set(makers)) == len(makers) <= 2 and str(os.getpid()) not in makers


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_comes_after_what_was_before_it(jobs: int) -> None:
    done = in_order(lambda: refuse, range(100), jobs)
    assert [next(done) for _ in range(5)] == [0, 1, 2, 3, 4]
    with faulty("a.mrg", 7, 2, about="no"):
        next(done)


@pytest.mark.parametrize("work", [raise_of_library, raise_with_function])
def test_an_error_that_cannot_be_sent_is_told(work: Work[int, int]) -> None:
    with pytest.raises(RuntimeError, match="^(OfLibrary: line 3: no|ValueError: .*no)"):
        list(in_order(lambda: work, range(9), 2))


def test_work_that_cannot_be_made() -> None:
    def fails() -> Work[int, int]:
        raise FormatError("model", 0, 0, "is broken")

    with faulty("model", about="is broken"):
        list(in_order(fails, range(9), 2))


def test_a_worker_that_dies() -> None:
    with pytest.raises(ChildProcessError, match="^a worker process died"):
        list(in_order(lambda: lambda item: os.kill(os.getpid(), signal.SIGKILL), range(9), 2))


def test_workers_do_not_outlive_the_iterator() -> None:
    done = in_order(lambda: lambda item: item and time.sleep(600) or os.getpid(), range(9), 2)
    process = next(done)
    done.close()  # which waits for no item
    assert not alive(process)


class Slow:
    """Like a package that takes long to import where a fresh worker unpickles what it is to do."""

    def __setstate__(self, state: dict[str, str]) -> None:
        os.write(1, b"%d\n" % os.getpid())
        time.sleep(600)

    def __call__(self) -> Work[int, int]:
        return abs

    def __getstate__(self) -> dict[str, str]:
        return {"": ""}


def test_fresh_workers_end_before_they_work() -> None:
    code = (
        "from tests.base.test_workers import Slow\nfrom d2c.base.workers import in_order\n"
        "if __name__ == '__main__': list(in_order(Slow(), range(9), 2, fresh=True))"
    )
    root = Path(__file__).parents[2]
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=root) as process:
        assert process.stdout
        worker = int(process.stdout.readline())
        process.kill()
    assert all_end([worker])


def test_workers_end_in_the_middle_of_an_answer() -> None:
    """What is left of it in a pipe is not waited for."""
    for _ in range(5):
        done = in_order(lambda: lambda item: bytes(1 << 22), range(9), 2)
        assert len(next(done)) == 1 << 22
        done.close()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_end_with_their_process_and_say_nothing(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    ) as process:
        assert process.stdout and process.stderr
        try:
            workers = [int(process.stdout.readline()) for _ in range(2)]
            if number == signal.SIGINT:
                os.killpg(process.pid, number)  # as a terminal sends it
            else:
                process.send_signal(number)
            process.wait(600)
        finally:
            process.kill()  # or, after an error, the block waits until it ends
        said = process.stderr.read()
    assert said.count("Traceback") == (number == signal.SIGINT) and said.count("SpawnProcess") == 0
    assert all_end(workers)


OPEN = """
import gc, os, sys, time
from itertools import islice
from threading import Thread
from d2c.base.workers import in_order

class Work:
    def __call__(self):
        return self.work
    def work(self, item):
        time.sleep(600 if item > 3 else 0)
        return os.getpid()

if __name__ == "__main__":
    stream = in_order(Work(), range(9), 2, {fresh})
    print(next(stream), next(stream), flush=True)
    {ending}
"""


ENDINGS = {
    "open": "pass",
    "exit": "sys.exit(0)",
    "killed": "os.kill(os.getpid(), 9)",
    "exception": "raise ValueError",
    "thrown": "stream.throw(ValueError)",
    "closed": "stream.close()",
    "deleted": "del stream",
    "break": "for _ in stream: break",
    "islice": "[*islice(stream, 1)]",
    "cycle": "loop = [stream]; loop.append(loop); del loop, stream; gc.collect()",
    "generator": "outer = (one for one in stream); next(outer); outer.close()",
    "fork": "os._exit(0) if os.fork() == 0 else next(stream)",
    "thread": "one = Thread(target=next, args=[stream]); one.start(); one.join()",
}


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_a_stream_that_is_left_open_ends_with_the_interpreter(
    ending: str, fresh: bool, tmp_path: Path
) -> None:
    script = tmp_path / "open.py"
    script.write_text(OPEN.format(fresh=fresh, ending=ending))
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout
        try:
            workers = [*map(int, process.stdout.readline().split())]
            began = time.monotonic()
            status = process.wait(60)
            assert status == (1 if "ValueError" in ending else -9 if "kill" in ending else 0)
            assert time.monotonic() - began < 3  # most of it is Python's own end, on a busy machine
            assert workers and all_end(workers, 1)
        finally:
            process.kill()


@pytest.mark.parametrize("how", ["break", "collected", "closed", "error"])
def test_a_stream_that_nobody_wants_any_more(how: str) -> None:
    done = in_order(lambda: lambda item: item > 1 and time.sleep(600) or os.getpid(), range(9), 2)
    workers = [next(done)]
    began = time.monotonic()
    if how == "break":
        for worker in done:
            workers.append(worker)
            break
    if how in ("break", "collected"):
        del done
    elif how == "closed":
        done.close()  # type: ignore[attr-defined]
    else:
        with pytest.raises(ValueError):
            done.throw(ValueError)  # type: ignore[attr-defined]
    assert time.monotonic() - began < 1 and not any(map(alive, workers))


def test_an_item_whose_worker_was_killed_is_tried_again(tmp_path: Path) -> None:
    def work(item: int) -> int:
        if item == 3 and not (tmp_path / "killed").exists():
            (tmp_path / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    assert list(in_order(lambda: work, range(20), 2)) == [*range(20)]


def test_a_worker_that_dies_while_it_has_nothing_to_do() -> None:
    with ProcessPool(lambda: lambda item: os.getpid(), 2, fresh=False) as pool:
        pool.submit(0, None)
        [(_, process)] = pool.answers(60)
        os.kill(process, signal.SIGKILL)
        assert all_end([process])
        processes = [*Scheduler(pool, _item, 4).run(range(9))]
    assert len(processes) == 9 and process not in processes


def _item(item: int) -> Retrying[int]:
    return (yield item)
