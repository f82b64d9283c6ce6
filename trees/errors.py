"""The errors that users see: one line that says where and what, raised where it is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


class FormatError(ValueError):
    """Malformed input: `FILE:LINE: sentence S: what is wrong`. Lines and sentences from 1, 0 = unknown."""

    def __init__(self, file: str, line: int, sentence: int, message: str) -> None:
        super().__init__(file, line, sentence, message)
        self.file, self.line, self.sentence, self.message = file, line, sentence, message

    def __str__(self) -> str:
        line = f":{self.line}" if self.line else ""
        sentence = f": sentence {self.sentence}" if self.sentence else ""
        return f"{self.file}{line}{sentence}: {self.message}"

    def after(self, sentences: int) -> FormatError:
        """Adds the sentences that come before those from which the error counted."""
        return FormatError(self.file, self.line, self.sentence and self.sentence + sentences, self.message)


class ModelError(ValueError):
    """A model directory that cannot be loaded, or one that does not fit what is asked of it."""


@contextmanager
def located(file: str, sentence: int = 0) -> Iterator[None]:
    """Turns what a ValueError says into a FormatError that names the file and the sentence."""
    try:
        yield
    except (FormatError, ModelError):
        raise
    except ValueError as error:
        raise FormatError(file, 0, sentence, str(error)) from error


def each_located(work: Callable[[Item], Made], items: Iterable[Item], file: str) -> Iterator[Made]:
    """Does work on each of a file's sentences; `located`, but without its price for every one of them."""
    for sentence, item in enumerate(items, 1):
        try:
            made = work(item)
        except (FormatError, ModelError):
            raise
        except ValueError as error:
            raise FormatError(file, 0, sentence, str(error)) from error
        yield made
