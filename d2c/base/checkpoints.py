"""Files from which trainings go on: written whole or not at all, one clear error where broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from d2c.base.errors import ModelError
from d2c.base.model_files import first_line
from d2c.base.temporary import staged_file


def write_checkpoint(path: Path, write: Callable[[Path], object]) -> None:
    """Have a file written, in a directory that is made if absent. Raises ModelError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with staged_file(path) as staged:
            write(staged)
    except (OSError, RuntimeError) as error:  # the latter is torch's where a disk is full
        raise ModelError(f"{path}: cannot be written: {first_line(error)}") from None


@contextmanager
def reading_checkpoint(path: Path) -> Iterator[None]:
    """Turn whatever a broken checkpoint leads to into a ModelError that names it."""
    try:
        yield
    except ModelError:
        raise ModelError(f"{path}: is broken; remove it") from None
    except Exception as error:  # of any kind: it is what damaged files led a library to do
        raise ModelError(f"{path}: is broken; remove it ({first_line(error)})") from None
