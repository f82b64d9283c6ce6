"""`d2c serve` under load: many clients, hostile requests among theirs, workers killed on the way.

    python scripts/bench_serve.py [TREES...] [--model en-small] [--requests N] [--clients N] [--hostile N]

Each client sends one request after another over its own connection: sentences of TREES (default: the bundled
sample), or, every so many times (--hostile, 0: never), something hostile. A request is lost if no answer
comes, or one with another status than it should have. Different answers to the same text are counted: models
on encoders round otherwise in other batches. The words that are parsed in a second are compared with those of
`d2c parse` in one process, both without loading. --sentences: the number of sentences in a request.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from itertools import cycle, islice
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

import click

import d2c
from benchmarks.shared import FilePath, run, say

SAMPLE = Path(__file__).resolve().parents[1] / "data" / "sample" / "dev.mrg"
HOSTILE = (  # bodies of requests, and what is answered
    (json.dumps({"text": "<script>alert(1)</script> </b> & \u202e \u2028 \u200b\ufeff {{ 1 }}"}), 200),
    (json.dumps({"text": "a\0b \ud800 c"}), 200),
    (json.dumps({"text": "x" * 100_000}), 200),
    (json.dumps({"text": "(" * 500 + " -LRB- ||| ROOT #1 (S (NP"}), 200),
    (json.dumps({"text": "💥" * 300 + "\u0301" * 300}), 200),
    (json.dumps({"text": " \n\n\t"}), 200),
    (json.dumps({"sentences": [{"tokens": ["a", "", "b"]}, 3, {"tokens": ["a"], "require": [[0, 9]]}]}), 200),
    (json.dumps({"text": "word " * 6_000}), 413),
    (json.dumps({"text": "y" * 1_000_001}), 413),
    (json.dumps({"text": 1, "best": -1}), 400),
    ("[" * 200_000, 400),
    ("\0\xff", 400),
)


class Replied(NamedTuple):
    """What became of a request: its body, the status (0: no answer), the body of the answer, seconds."""

    body: str
    status: int
    answer: bytes
    seconds: float


@contextmanager
def served(model: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Provide a server and its port."""
    command = [sys.executable, "-m", "d2c", "serve", model, "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        try:
            found = (re.search(r"http://.*:(\d+)/", line) for line in process.stderr)
            yield process, int(next(filter(None, found))[1])
        finally:
            process.terminate()


def ask(port: int, bodies: Iterator[str]) -> Iterator[Replied]:
    """Yield the answers to one request after another."""
    connection = HTTPConnection("127.0.0.1", port, timeout=120)
    for body in bodies:
        begun, status, answer = time.perf_counter(), 0, b""
        try:
            connection.request("POST", "/parse", body.encode(errors="surrogatepass"))
            said = connection.getresponse()
            status, answer = said.status, said.read()
        except (OSError, HTTPException):
            connection.close()  # the next request opens it again
        yield Replied(body, status, answer, time.perf_counter() - begun)


def workers_of(process: int) -> list[int]:
    """Return the processes that parse."""
    files = Path(f"/proc/{process}/task").glob("*/children")
    children = {int(number) for file in files for number in file.read_text().split()}
    return [one for one in children if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]


def peak(process: int) -> int:
    """Return the most memory of a process so far, in MB."""
    return int(Path(f"/proc/{process}/status").read_text().split("VmHWM:")[1].split()[0]) // 1000


@click.command()
@click.argument("trees", type=FilePath, nargs=-1)
@click.option("--model", default="en-small", show_default=True)
@click.option("--requests", default=10_000, show_default=True)
@click.option("--clients", default=16, show_default=True)
@click.option("--kills", default=1, show_default=True, help="Kill this many workers, evenly over the run.")
@click.option("--sentences", default=1, show_default=True, help="The number of sentences in a request.")
@click.option(
    "--hostile", "every", default=8, show_default=True, help="Make every Nth request hostile; 0: none."
)
def main(
    trees: tuple[Path, ...], model: str, requests: int, clients: int, kills: int, sentences: int, every: int
) -> None:
    """Send requests, and print what became of them."""
    texts = [" ".join(tree.words) for path in trees or (SAMPLE,) for tree in d2c.read(path)]
    texts = ["\n\n".join(texts[i : i + sentences]) for i in range(0, len(texts), sentences)]
    expected = dict(HOSTILE)
    hostile, good = cycle(expected), cycle(json.dumps({"text": text}) for text in texts)
    bodies = [next(hostile if every and i % every == 0 else good) for i in range(requests)]
    given, asking, replies = iter(bodies), threading.Lock(), list[Replied]()

    def shared() -> Iterator[str]:
        while True:
            with asking:
                body = next(given, None)
            if body is None:
                return
            yield body

    def client(_: int) -> None:
        for reply in ask(port, shared()):
            replies.append(reply)

    killed, memory = 0, list[int]()
    with served(model) as (process, port), ThreadPoolExecutor(clients) as pool:
        begun = time.perf_counter()
        done = [pool.submit(client, i) for i in range(clients)]
        while not all(one.done() for one in done):
            time.sleep(0.01)
            if killed < kills and len(replies) >= (killed + 1) * requests // (kills + 1):
                [worker] = workers_of(process.pid)
                memory.append(peak(worker))
                os.kill(worker, signal.SIGKILL)
                killed += 1
                say(f"killed a worker after {len(replies):,} answers")
        seconds = time.perf_counter() - begun
        for one in done:
            one.result()
        memory = [peak(process.pid), *memory, *map(peak, workers_of(process.pid))]
    report(replies, expected, seconds, clients, killed)
    click.echo(f"peak memory {memory[0]} MB, of the worker {max(memory[1:])} MB")
    words = sum(
        len(one["tokens"])
        for reply in replies
        if reply.body not in expected and reply.status == 200
        for one in json.loads(reply.answer)["sentences"]
    )
    alone = seconds_of_parse(model, [json.loads(body)["text"] for body in bodies if body not in expected])
    click.echo(f"words/s {words / seconds:,.0f}; d2c parse {words / alone:,.0f}: {alone / seconds:.2f} of it")


def report(
    replies: list[Replied], expected: dict[str, int], seconds: float, clients: int, killed: int
) -> None:
    """Print how many requests were answered, and how fast; exit status 1 where some were not."""
    lost = [one for one in replies if one.status != expected.get(one.body, 200)]
    answers = dict[str, bytes]()
    other = sum(answers.setdefault(one.body, one.answer) != one.answer for one in replies)
    statuses = ", ".join(
        f"{status}: {count:,}" for status, count in Counter(r.status for r in replies).items()
    )
    click.echo(f"{len(replies):,} requests of {clients} clients, {killed} worker(s) killed; {statuses}")
    click.echo(
        f"answered {len(replies) - len(lost):,}, lost {len(lost)}, answered otherwise than before {other}"
    )
    cut = quantiles([one.seconds for one in replies], n=100)
    p50, p95, p99 = (f"{1000 * cut[k - 1]:,.0f}" for k in (50, 95, 99))
    most = 1000 * max(one.seconds for one in replies)
    latency = f"ms p50 {p50}, p95 {p95}, p99 {p99}, most {most:,.0f}"
    click.echo(f"{len(replies) / seconds:,.0f} requests/s; {latency}")
    for one in islice(lost, 5):
        say(f"lost: {one.status} {one.body[:80]!r} {one.answer[:200]!r}")
    if lost:
        sys.exit(1)


def seconds_of_parse(model: str, texts: list[str]) -> float:
    """Return how long `d2c parse` takes for texts, without what it takes for the first of them."""
    with tempfile.TemporaryDirectory() as directory:
        files = [Path(directory, name) for name in ("one.txt", "all.txt")]
        for file, part in zip(files, (texts[:1], texts), strict=True):
            file.write_text("\n\n".join(part), encoding="utf-8")
        command = [sys.executable, "-m", "d2c", "parse", model, "--split", "--to", "json"]
        one, all_ = (run([*command, str(file)]).seconds for file in files)
    return all_ - one


if __name__ == "__main__":
    main()
