"""Kernels compiled by a second process, `python -m d2c.training.warm_up train|parse|packed ROUTE...`.

It fills numba's cache while the first process trains or loads a d-parser and later finds the kernels there. A
note beside what Python caches says what was compiled from which sources, so that the second process is
started only where there is something to compile. If a note is wrong, kernels are compiled when they are used.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from importlib import metadata
from pathlib import Path

from d2c.base.children import Child
from d2c.base.progress import log
from d2c.models.model import ARCS, ModelSettings
from d2c.routes.registry import ROUTES, route_class

PACKED = "packed"
PATIENCE = 30.0  # seconds that the first process waits in the end


@contextmanager
def warmed_up(routes: Iterable[str], train: bool, packed: bool = False) -> Iterator[None]:
    """Compile kernels of routes while the block runs, and wait for them at its end.

    train: those of `fit`, too; packed: those of decoding over packed arcs, in one more process

    Whatever goes wrong, the kernels are compiled later, in this process.
    """
    known = [name for name in routes if name in ROUTES]  # a broken model may name any other
    children = list[Child]()
    with ExitStack() as stack:
        for purpose in ("train" if train else "parse", *([PACKED] if packed else [])):
            names = [name for name in known if ROUTES[name].kernels and not _is_noted(_note(purpose, name))]
            if names and sys.executable:
                command = [sys.executable, "-m", __name__, purpose, *names]
                with suppress(OSError):
                    children.append(stack.enter_context(Child(command, heard=False)))
        yield
        until = time.monotonic() + PATIENCE
        for child in children:
            log.debug("compiling kernels")
            with suppress(subprocess.TimeoutExpired):
                child.process.wait(max(0.0, until - time.monotonic()))


def warmed_up_for(models: Iterable[ModelSettings]) -> AbstractContextManager[None]:
    """Compile what models with these settings parse with, as `warmed_up`."""
    settings = [*models]
    packed = any(one.arcs == ARCS[1] for one in settings)
    return warmed_up([one.route for one in settings], train=False, packed=packed)


def main() -> None:
    """Compile; leave a note of each route."""
    os.nice(10)
    purpose, *names = sys.argv[1:]
    for name in names:
        route = route_class(name)
        if purpose == PACKED:
            route.warm_up_packed()
        else:
            route.warm_up(train=purpose == "train")
        _note(purpose, name).parent.mkdir(parents=True, exist_ok=True)
        _note(purpose, name).write_text(_sources(), encoding="utf-8")


def _note(purpose: str, route: str) -> Path:
    directory = os.environ.get("NUMBA_CACHE_DIR") or Path(__file__).parent / "__pycache__"
    return Path(directory, f"d2c.{purpose}.{route}")


def _is_noted(note: Path) -> bool:
    with suppress(OSError):
        return note.read_text(encoding="utf-8") == _sources()
    return False


def _sources() -> str:
    """Return a text that changes with the files that kernels are compiled from, and with the compiler."""
    from d2c.learning.kernels import sources

    return f"{sources()} {metadata.version('numba')} {sys.version}"


if __name__ == "__main__":
    main()
