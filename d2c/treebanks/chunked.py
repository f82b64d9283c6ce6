"""Work on a treebank file chunk by chunk, on several cores, with the output in the order of the input."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import chain, islice
from typing import Any, TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")

_work: Callable[[Any], Any]  # in a worker process: what it was started for


def map_chunks(work: Callable[[Part], Result], chunks: Iterable[Part], jobs: int) -> Iterator[Result]:
    """work(chunk) for every chunk, in order, on `jobs` processes; a few chunks are held at a time.

    Processes are forked: `work` may hold large models, which are neither copied nor pickled.
    """
    stream = iter(chunks)
    first = list(islice(stream, 2))
    if jobs < 2 or len(first) < 2:
        yield from map(work, chain(first, stream))
        return
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(jobs, context, _start, (work,)) as pool:
        pending: deque[Future[Result]] = deque()
        try:
            for chunk in chain(first, stream):
                pending.append(pool.submit(_run, chunk))
                if len(pending) > 3 * jobs:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


def _start(work: Callable[[Any], Any]) -> None:
    global _work
    _work = work


def _run(chunk: object) -> Any:
    return _work(chunk)
