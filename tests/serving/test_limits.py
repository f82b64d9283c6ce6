"""What a server does with too much, and with workers that die, hang and fail: every request is answered."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from d2c.base.errors import ModelError
from d2c.parsing.options import ParseOptions
from d2c.serving.app import Site
from d2c.serving.limits import ServeLimits
from d2c.serving.tasks import Service
from d2c.serving.workers import Workers
from tests.serving.servers import Server, Toy, toy


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("toy") / "log"


@pytest.fixture(scope="module")
def server(log: Path) -> Iterator[Server]:
    with toy(log, max_bytes=1000, max_seconds=2.0, max_waiting=3) as started:
        yield started


def is_well(server: Server) -> bool:
    """Whether it answers, if need be when it has a new worker: loading takes no time of a request's."""
    return server.asked("/parse", b"well")[0] == 200


def test_a_request_is_tried_again_where_its_worker_dies(tmp_path: Path) -> None:
    log, bodies = tmp_path / "log", (b"sleeps 0.5", b"well", b"dies 9", b"fails", b"well")
    with toy(log) as server, ThreadPoolExecutor(5) as pool:
        assert server.asked("/health")[:2] == (200, {"waiting": 0, "ready": 1})
        assert server.asked("/parse", b"dies 1")[:2] == (200, "dies")
        # Those that wait are a batch; of one that fails each is tried alone.
        said = [*pool.map(lambda body: server.asked("/parse", body), bodies)]
    assert [one[0] for one in said] == [200, 200, 503, 500, 200] and said[2][2]["retry-after"] == "1"
    assert said[2][1] == {"error": "it cannot be parsed: its worker died: it was killed, or memory was short"}


def test_another_worker_answers_where_one_dies(tmp_path: Path) -> None:
    """Without waiting for the new one; where none is ready, time does not count."""
    with toy(tmp_path / "log", jobs=2, loading=1.5, max_seconds=1.0) as server, ThreadPoolExecutor(5) as pool:
        begin = time.monotonic()
        assert server.asked("/parse", b"dies 1")[:2] == (200, "dies")
        assert time.monotonic() - begin < 1
        assert server.said[0].startswith("d2c: process ") and "is replaced: its worker died" in server.said[0]
        until = time.monotonic() + 20
        while server.asked("/health")[1]["ready"] < 2 and time.monotonic() < until:
            time.sleep(0.05)
        slow = [pool.submit(server.asked, "/parse", b"sleeps 600") for _ in range(2)]
        assert [one.result()[0] for one in slow] == [504] * 2
        small = [*pool.map(lambda _: server.asked("/parse", b"well"), range(3))]
        assert [one[0] for one in small] == [200] * 3
        assert server.said.count("d2c: 504: it took more than 1 s") == 2


def test_no_worker_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("d2c.serving.workers._PATIENCE", 0.2)
    with toy(tmp_path / "log", loading=2.0, max_seconds=0.2) as server:
        assert server.asked("/parse", b"sleeps 600")[0] == 504
        until = time.monotonic() + 1
        while server.asked("/health")[1]["ready"] and time.monotonic() < until:
            time.sleep(0.02)  # its request is answered at the same moment as its worker is given up
        assert server.asked("/health")[:2] == (503, {"waiting": 0, "ready": 0})
        status, said, headers = server.asked("/parse", b"well")
        assert (status, headers["retry-after"]) == (503, "1")
        assert said == {"error": "no process has loaded the model yet; try again later"}


def test_one_that_died_with_nothing_to_do_is_not_missed(server: Server) -> None:
    for _ in range(2):
        [worker] = server.workers()
        os.kill(worker, signal.SIGKILL)
        assert is_well(server) and worker not in server.workers()


def test_one_that_hangs_is_replaced(server: Server) -> None:
    [worker] = server.workers()
    assert server.asked("/parse", b"sleeps 600")[:2] == (504, {"error": "it took more than 2 s"})
    assert is_well(server) and worker not in server.workers()


def test_an_error_that_nobody_has_thought_of(server: Server) -> None:
    assert server.asked("/parse", b"fails")[:2] == (
        500,
        {"error": "it cannot be parsed: one that nobody has thought of"},
    )
    assert is_well(server)


def test_too_many_that_wait(server: Server) -> None:
    with ThreadPoolExecutor(8) as pool:
        said = [*pool.map(lambda _: server.asked("/parse", b"sleeps 0.3"), range(8))]
    full = [one for one in said if one[0] == 503]
    assert 1 <= len(full) <= 4 and {one[0] for one in said} == {200, 503}  # one is worked on, three wait
    assert full[0][1] == {"error": "3 requests are waiting; try again later"}
    assert full[0][2]["retry-after"] == "1"


def test_what_nobody_waits_for_is_not_worked_on(server: Server, log: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        hangs = pool.submit(server.asked, "/parse", b"sleeps 600")
        time.sleep(0.1)
        status = server.asked("/parse", b"never")[0]
    assert hangs.result()[0] == 504 and is_well(server)
    assert (status == 504) == ("never" not in log.read_text())


@pytest.mark.parametrize("chunked", [False, True])
def test_too_many_bytes(server: Server, chunked: bool) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        kind = "transfer-encoding: chunked" if chunked else "content-length: 1000000000"
        client.sendall(f"POST /parse HTTP/1.1\r\nhost: localhost\r\n{kind}\r\n\r\n".encode())
        if chunked:
            client.sendall(b"3e9\r\n" + b"x" * 1001 + b"\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 413 ")
    assert server.asked("/parse", b"x" * 1001)[:2] == (
        413,
        {"error": "more than 1,000 bytes; send it in parts"},
    )
    assert server.asked("/parse", b"x" * 1000)[0] == 200


def test_who_sends_slowly_is_not_waited_for(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(b"POST /parse HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\nwe")
        assert client.recv(1000).startswith(b"HTTP/1.1 504 ")
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(b"POST /parse HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\nwe")
    assert server.asked("/parse", b"well")[0] == 200


def test_who_hangs_up_in_the_middle_is_no_fault(tmp_path: Path) -> None:
    """Which the server would print with all that led to it."""

    async def hangs_up() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def nobody(_: object) -> None:
        pass

    workers = Workers(cast(Service, Toy(tmp_path / "log", ServeLimits())), 1, print)
    try:
        application = Site(workers, "127.0.0.1", {"name": "toy", "most_trees": 20}).application()
        headers = [(b"host", b"127.0.0.1"), (b"content-length", b"100")]
        scope = {"type": "http", "method": "POST", "path": "/parse", "query_string": b"", "headers": headers}
        with ThreadPoolExecutor(1) as thread:  # this one may have a loop of events: a browser's
            thread.submit(asyncio.run, application(scope, hangs_up, nobody)).result()
    finally:
        workers.close()


def test_a_model_that_cannot_be_loaded(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is no model of d2c's"):
        Workers(Service(tmp_path, ParseOptions(), ServeLimits()), 1, print)
