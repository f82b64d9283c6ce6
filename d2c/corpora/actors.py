"""A pool of actors on Ray: on this machine, or on a cluster that runs already.

The one file that knows Ray; `tests/corpora/test_actors.py` checks what it uses of `ray._private`.
"""

from __future__ import annotations

import logging
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from d2c.base.errors import needs
from d2c.base.model_files import first_line
from d2c.base.temporary import scratch
from d2c.base.workers import DIED, Failed
from d2c.corpora.worker import Job, WorkerTask

_STORE = 100 << 20  # 100 MiB of shared memory on this machine; a worker's answer takes less than 1 MiB
_STARTS = 3  # of Ray that are tried
_LONGEST = 30  # characters of a directory, so that the names of Ray's sockets in it are not too long


class Actor:
    """A worker that loads the model with its first task."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._work: Callable[[WorkerTask], pa.Table | Failed] | None = None

    def work(self, task: WorkerTask) -> pa.Table | Failed:
        """Do a task as the job says."""
        self._work = self._work or self._job.worker()
        return self._work(task)


class ActorPool:
    """A `WorkerPool` of actors.

    local: the directory of a Ray that is started for the pool, and anew if it dies; None: a cluster's Ray
    """

    def __init__(self, ray: Any, size: int, job: Job, local: Path | None) -> None:
        self.size, self._ray, self._job, self._local = size, ray, job, local
        self._lost: list[int] = []
        self._begin()

    def _begin(self) -> None:
        if self._local:
            here = {"address": "local", "num_cpus": self.size, "object_store_memory": _STORE}
            _start(self._ray, **here, include_dashboard=False, _temp_dir=str(self._local))
        self._tasks: dict[Any, int] = {}  # by the reference to the answer
        self._actors = [self._actor() for _ in range(self.size)]

    def _actor(self) -> Any:
        device = self._job.options.device or ""
        options = {"num_cpus": 1, "num_gpus": 1 if device.startswith("cuda") else 0, "max_restarts": 0}
        return self._ray.remote(**options)(Actor).remote(self._job)

    def submit(self, worker: int, task: WorkerTask) -> None:
        """Give a task to an actor that has none."""
        self._tasks[self._actors[worker].work.remote(task)] = worker

    def answers(self, seconds: float) -> list[tuple[int, pa.Table | Failed]]:
        """Return what actors, by number, made of their tasks, or `Failed`; wait so long for the first."""
        lost, self._lost = self._lost, []
        if lost or not self._tasks:
            return [(worker, DIED) for worker in lost]
        references = [*self._tasks]
        first, _ = self._ray.wait(references, timeout=seconds)
        ready, _ = self._ray.wait(references, num_returns=len(references), timeout=0) if first else ([], [])
        return [(self._tasks.pop(reference), self._answer(reference)) for reference in ready]

    def _answer(self, reference: Any) -> pa.Table | Failed:
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except errors.RayTaskError as error:
            return Failed(str(error.cause), error=error.cause or error)
        except errors.RayError:  # its process, its node, or the connection
            return DIED

    def renew(self, worker: int) -> None:
        """End an actor, whatever it does, and start another one; if a local Ray has died, start all anew."""
        self._tasks = {reference: number for reference, number in self._tasks.items() if number != worker}
        if self._local and _has_died(self._ray):
            self._lost = [*self._tasks.values()]
            self._ray.shutdown()
            self._begin()
            return
        with suppress(self._ray.exceptions.RayError):
            self._ray.kill(self._actors[worker])
        self._actors[worker] = self._actor()


@contextmanager
def actors(size: int | None, job: Job, address: str | None) -> Iterator[ActorPool]:
    """Provide a pool of so many actors, one core each, which end with the block.

    size:    None: as many as there are cores
    address: of a cluster, as Ray has it (`auto`, HOST:PORT, ray://HOST:PORT); None: this machine alone

    Raises ChildProcessError where Ray cannot be started or reached, ModelError where it is not installed.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # else Ray would report to its makers
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # actors share GPUs, as processes do
    os.environ.setdefault("RAY_worker_niceness", "0")  # the priority that processes have
    os.environ.setdefault("RAY_agent_register_timeout_ms", "300000")  # its parts are slow on a busy machine
    ray = needs("ray", "ray")
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    temporary = tempfile.gettempdir()
    parent = Path(temporary if len(temporary) <= _LONGEST else "/tmp")
    with scratch(parent, "d2c-ray-") as directory:
        try:
            if address:
                _start(ray, address=address)
                size = size or int(ray.cluster_resources().get("CPU", 1))
            yield ActorPool(ray, size or os.cpu_count() or 1, job, None if address else directory)
        finally:
            ray.shutdown()


def _start(ray: Any, **options: Any) -> None:
    """Start Ray, or join a cluster; keep our signal handlers. Tried again, as a busy machine may be slow."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    for left in reversed(range(_STARTS)):
        try:
            ray.init(log_to_driver=False, configure_logging=False, **options)
            return
        except Exception as error:  # of any kind: Ray raises plain ones, too
            ray.shutdown()
            if not left:
                raise ChildProcessError(f"Ray cannot be used: {first_line(error)}") from None
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _has_died(ray: Any) -> bool:
    """Return whether a process of the Ray started here has died; Ray's public API tells it a minute later."""
    node = ray._private.worker._global_node
    return node is None or bool(node.dead_processes())
