"""Kernels compiled by a second process, `python -m d2c.training.warm_up train|parse ROUTE...`.

It fills numba's cache while the first process trains or loads a d-parser; then that one finds them there. A
note beside what Python caches says what was compiled from which sources, so that the second process is
started only where it has something to do. Where a note is wrong, kernels are compiled when they are used.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import metadata
from pathlib import Path

from d2c.base.children import Child
from d2c.base.progress import log
from d2c.routes.registry import ROUTES, route_class

PATIENCE = 30.0  # seconds that the first process waits in the end


@contextmanager
def warmed_up(routes: Iterable[str], train: bool) -> Iterator[None]:
    """Compiles kernels of routes while the block runs, and waits for them at its end.

    train: those of `fit`, too. Whatever goes wrong, the kernels are compiled later, in this process.
    """
    purpose = "train" if train else "parse"
    known = [name for name in routes if name in ROUTES]  # a broken model may name any other
    names = [name for name in known if ROUTES[name].kernels and not _is_noted(_note(purpose, name))]
    with ExitStack() as stack:
        child = None
        if names and sys.executable:
            with suppress(OSError):
                child = stack.enter_context(
                    Child([sys.executable, "-m", __name__, purpose, *names], heard=False)
                )
        yield
        if child is not None:
            log.debug("compiling kernels of %s", ", ".join(names))
            with suppress(subprocess.TimeoutExpired):
                child.process.wait(PATIENCE)


def main() -> None:
    """Compiles; leaves a note of each route."""
    os.nice(10)
    purpose, *names = sys.argv[1:]
    for name in names:
        route_class(name).warm_up(train=purpose == "train")
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
    """A text that changes with the files that kernels are compiled from, and with the compiler."""
    from d2c.linear.kernels import sources

    return f"{sources()} {metadata.version('numba')} {sys.version}"


if __name__ == "__main__":
    main()
