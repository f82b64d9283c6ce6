"""What `d2c corpus` reads and leaves: columns of all types, records, edited manifests; streams left open."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import d2c.commands.corpus as command
from d2c.base.workers import Failed
from d2c.corpora.manifest import NAME
from d2c.corpora.rows import SCHEMA
from d2c.corpora.worker import Job, WorkerTask
from d2c.models.model import Model
from fuzzing.children import Fault, Limits
from fuzzing.commands import REFUSED, d2c
from fuzzing.edits import edited
from fuzzing.frame import Case, Group, Kind
from fuzzing.inputs import MODEL, with_model
from fuzzing.models import edit

LIMITS = Limits(20, 4_000_000_000)
TEXT = "They slept .\nThe dog barks .\n\nÉlan 漢字 😀\nbad \udcff\n" * 6
BYTES = [
    b"They slept .",
    "Élan\n漢字".encode(),
    b"\xff\xfe",
    b"a\xed\xa0\x80",
    b"",
    b"\0",
    b"b'x'",
    None,
]
SMALL = ("--shard-size", "7", "--batch-size", "3", "--backend", "processes")
RECORDS: list[Any] = [
    {"id": 1, "text": "They slept . She left ."},
    {"id": "a", "text": ["They", "slept"]},
    {"id": "a", "text": "bad \ud83d half"},
    {"id": None, "text": ""},
    {"id": {"x": [1]}, "text": ["", " "]},
    {"text": {"a": 1}},
]
STREAM = """
import gc, os, signal, sys, time
from itertools import islice
from threading import Thread
from d2c.base.workers import in_order

class Work:
    def __call__(self):
        return self.work
    def work(self, item):
        time.sleep(600 if item > {taken} + 1 else 0)
        return os.getpid()

if __name__ == "__main__":
    stream = in_order(Work(), range(99), {jobs}, {fresh})
    print(*islice(stream, {taken}), flush=True)
    {ending}
"""
ENDINGS = (
    *("pass", "sys.exit(3)", "os._exit(0)", "os.kill(os.getpid(), 9)", "raise ValueError"),
    *("stream.throw(KeyError)", "stream.close()", "del stream", "del stream; gc.collect()"),
    *("os.kill(os.getpid(), signal.SIGTERM)", "loop = [stream]; loop.append(loop); del loop, stream"),
    *("for _ in stream: break", "outer = (one for one in stream); next(outer); outer.close()"),
    *("os._exit(0) if os.fork() == 0 else next(stream)", "Thread(target=next, args=[stream]).start()"),
)


def group(model: Model) -> Group:
    """Return the kinds; `d2c corpus` is given this model, and its only worker is its own process."""

    def here(judge: Callable[[Case], str]) -> Callable[[Case], str]:
        def judged(case: Case) -> str:
            command._pool = lambda *given: nullcontext(Here(given[-1]))
            return judge(case)

        return with_model(model, judged)

    kinds = {
        "parquet": Kind(_parquet, here(_judge_rows)),
        "records": Kind(_records, here(_judge_rows)),
        "manifest": Kind(_manifest, here(_judge_manifest)),
        "stream": Kind(_stream, _judge_stream),
    }
    return Group("jobs", kinds, LIMITS, 5)


class Here:
    """A `d2c.base.workers.WorkerPool` of one worker, which is this process."""

    size = 1

    def __init__(self, job: Job) -> None:
        self._work, self._answers = job.worker(), list[tuple[int, Any]]()

    def submit(self, worker: int, task: WorkerTask) -> None:
        """Do a task at once."""
        try:
            answer = self._work(task)
        except Exception as error:  # as a worker process has it
            answer = Failed(str(error), error=error)
        self._answers.append((worker, answer))

    def answers(self, _seconds: float) -> list[tuple[int, Any]]:
        """Return the answers to all tasks since the last call."""
        answers, self._answers = self._answers, []
        return answers

    def renew(self, worker: int) -> None:
        """Do nothing: this process stays the worker."""


def column(rng: Random) -> pa.Array:
    """Return four values of any type: text, bytes that are no text, lists of these, and other things."""
    values = rng.choices(BYTES, k=4)
    raw = pa.array(values, pa.binary())
    words = pa.array([rng.choices(BYTES, k=rng.randrange(4)) for _ in values], pa.list_(pa.binary()))
    number = rng.choice((0, -1, 1 << 62, -(1 << 63)))
    columns: list[Callable[[], pa.Array]] = [
        *[lambda: raw, lambda: raw.view(pa.string()), lambda: raw.cast(pa.large_binary())] * 2,
        *[lambda: raw.dictionary_encode(), lambda: words, lambda: words.view(pa.list_(pa.string()))] * 2,
        lambda: pa.array([b"abc"] * 4, pa.binary(3)),
        lambda: pa.array([number] * 4, pa.timestamp("ms")),
        lambda: pa.array([number] * 4, pa.duration("us")),
        lambda: pa.array([number] * 4),
        lambda: pa.array([float("nan"), 1e308, None, -0.0]),
        lambda: pa.array([{"a": 1}] * 4),
        lambda: pa.array([[["a"]]] * 4),
        lambda: pa.nulls(4),
        lambda: pa.array([True, False, None, True]),
    ]
    return rng.choice(columns)()


def _parquet(rng: Random, kind: str) -> Case:
    table = pa.table({name: column(rng) for name in rng.sample(("text", "id", "x"), 3)[: rng.choice((2, 3))]})
    pq.write_table(table, stream := io.BytesIO())
    content = stream.getvalue()
    return _corpus(rng, kind, "in.parquet", edited(rng, content) if rng.random() < 0.4 else content)


def _records(rng: Random, kind: str) -> Case:
    lines = [json.dumps(record) for record in rng.choices(RECORDS, k=5)]
    return _corpus(rng, kind, "in.jsonl", edited(rng, "\n".join(lines).encode()))


def _corpus(rng: Random, kind: str, name: str, content: bytes) -> Case:
    text = rng.choice(((), ("--split",), ("--tokenized",)))
    return Case(kind, {name: content}, {"arguments": [name, "-o", "out", "--model", MODEL, *SMALL, *text]})


def _judge_rows(case: Case) -> str:
    """Parse a corpus. Raises Fault for a row with neither tree nor error, and for words such as "b'x'"."""
    case.put(Path())
    if d2c("corpus", *case.given["arguments"]).status == REFUSED:
        return "refused"
    for file in sorted(Path("out").glob("*.parquet")):
        table = pq.read_table(file)
        if not table.schema.equals(pq.read_schema(file)) or table.schema.names != SCHEMA.names:
            raise Fault(f"{file.name} has other columns: {table.schema}")
        for row in table.to_pylist():
            if (row["error"] is None) != bool(row["tokens"]):
                raise Fault(f"a row has neither a tree nor an error: {row}")
            if any(form.startswith(("b'b", 'b"')) for form in row["tokens"]):
                raise Fault(f"words are bytes as Python shows them: {row}")
    return "read"


def _manifest(rng: Random, kind: str) -> Case:
    options = rng.choice(((), (), ("--retry-failed",)))
    arguments = ["in.txt", "-o", "out", "--model", MODEL, *SMALL, "--tokenized"]
    given = {"arguments": arguments, "options": ["--resume", *options], "seed": rng.random()}
    return Case(kind, {"in.txt": TEXT.encode("utf-8", "surrogateescape")}, given)


def _judge_manifest(case: Case) -> str:
    """Run a job to its end, change what it left, and go on: this leaves the same files, or is refused."""
    case.put(Path())
    d2c("corpus", *case.given["arguments"])
    whole, rng = _parts(), Random(case.given["seed"])
    if len(whole) < 3:
        raise Fault(f"the job made {[*whole]}")
    if rng.random() < 0.2:
        part = Path("out") / rng.choice([*whole])
        content = part.read_bytes()
        part.write_bytes(rng.choice((edited(rng, content), rng.randbytes(len(content)), b"")))
    else:
        manifest = Path("out") / NAME
        manifest.write_bytes(_changed(rng, manifest.read_bytes()))
    if d2c("corpus", *case.given["arguments"], *case.given["options"]).status == REFUSED:
        return "refused"
    if _parts() != whole:
        raise Fault("the files are others than those of an undisturbed run")
    return "read"


def _changed(rng: Random, manifest: bytes) -> bytes:
    """Return a manifest with another value in a row, or rows that are missing, double or in another order."""
    if rng.random() < 0.4:
        return edited(rng, manifest)
    lines = manifest.splitlines(keepends=True)
    match rng.randrange(4):
        case 0:
            lines.pop(rng.randrange(len(lines)))
        case 1:
            rng.shuffle(lines)
        case 2:
            lines.append(rng.choice(lines))
        case _:
            number = rng.randrange(len(lines))
            row = json.loads(lines[number])
            edit(rng, row)
            lines[number] = json.dumps(row).encode("utf-8", "surrogatepass") + b"\n"
    return b"".join(lines)


def _parts() -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in Path("out").glob("*.parquet")}


def _stream(rng: Random, kind: str) -> Case:
    given = {"taken": rng.randrange(1, 9), "jobs": rng.randint(2, 4), "fresh": rng.random() < 0.5}
    script = STREAM.format(ending=rng.choice(ENDINGS), **given)
    return Case(kind, {"open.py": script.encode()})


def _judge_stream(case: Case) -> str:
    """Run a script that leaves a stream open: it must end, and its workers at most a second later."""
    case.put(Path())
    with subprocess.Popen(
        [sys.executable, "open.py"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as one:
        assert one.stdout
        workers, ended = [*map(int, one.stdout.readline().split())], one.wait(60)
        until = time.monotonic() + 1
        while (left := [worker for worker in workers if _runs(worker)]) and time.monotonic() < until:
            time.sleep(0.01)
    if left or not workers:
        raise Fault(f"of the workers {workers} still run {left} after the end with status {ended}")
    return "read"


def _runs(process: int) -> bool:
    with suppress(OSError):
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
