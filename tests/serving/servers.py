"""Servers for tests: `d2c serve` as users start it, and one whose workers do as they are told."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

from d2c.serving.limits import ServeLimits
from d2c.serving.tasks import Answer, Task

REPOSITORY = Path(__file__).parents[2]
START = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests run in the background
from d2c.__main__ import main
main()
"""
Said = tuple[int, Any, dict[str, str]]


class Server(NamedTuple):
    """Where a server is; process: its own, if it is not this one; said: what it has said, if it is."""

    port: int
    process: subprocess.Popen[str] | None = None
    said: Sequence[str] = ()

    def asked(
        self, path: str, body: Any = None, headers: dict[str, str] | None = None, method: str = ""
    ) -> Said:
        """Status, JSON (or text) and headers of an answer; body: bytes, or what becomes JSON."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method or ("GET" if body is None else "POST"), path, sent, headers or {})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        names = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, json.loads(text) if "json" in names["content-type"] else text, names

    def workers(self) -> list[int]:
        """The worker processes, those that are being started, too."""
        process = self.process.pid if self.process else os.getpid()
        tasks = Path(f"/proc/{process}/task").glob("*/children")  # of each thread
        children = {int(number) for file in tasks for number in file.read_text().split()}
        return [one for one in children if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]


@contextmanager
def served(*options: str) -> Iterator[Server]:
    """`d2c serve en-small` in a process of its own."""
    command = [sys.executable, "-c", START, "serve", "en-small", "--port", "0", *options]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *sys.path])}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr
        try:
            said = list[str]()
            for line in process.stderr:
                said.append(line)
                if found := re.search(r"http://.*:(\d+)/", line):
                    break
            else:
                raise AssertionError("".join(said))
            yield Server(int(found[1]), process)
        finally:
            process.kill()


class Toy(NamedTuple):
    """A service whose workers do what the body of a request says.

    dies N: the worker dies, until the file at hand has N lines; sleeps S: so many seconds
    loading: seconds until a worker is ready
    """

    log: Path
    limits: ServeLimits
    loading: float = 0.0

    def worker(self) -> Callable[[Sequence[Task]], list[Answer]]:
        time.sleep(self.loading)
        return self.work

    def work(self, tasks: Sequence[Task]) -> list[Answer]:
        with open(self.log, "a") as stream:
            stream.write("".join(f"{task.body.decode()}\n" for task in tasks))
        return [self.one(*task.body.decode().split()) for task in tasks]

    def one(self, what: str, number: str = "0") -> Answer:
        if what == "dies" and self.log.read_text().count("dies") <= int(number):
            os.kill(os.getpid(), signal.SIGKILL)
        if what == "fails":
            raise ArithmeticError("one that nobody has thought of")
        time.sleep(float(number) if what == "sleeps" else 0)
        return Answer(200, json.dumps(what).encode())


@contextmanager
def toy(log: Path, jobs: int = 1, loading: float = 0.0, **limits: Any) -> Iterator[Server]:
    """A server with such workers, in a thread."""
    import uvicorn

    from d2c.serving.app import Site
    from d2c.serving.workers import Workers

    service: Any = Toy(log, ServeLimits(**limits), loading)
    said = list[str]()
    workers = Workers(service, jobs, said.append)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        application = Site(workers, "127.0.0.1", {"name": "toy", "most_trees": 20}).application()
        server = uvicorn.Server(
            uvicorn.Config(application, log_config=None, log_level="critical", lifespan="off", ws="none")
        )
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield Server(listening.getsockname()[1], said=said)
        finally:
            server.should_exit = server.force_exit = True
            thread.join()
            workers.close()
