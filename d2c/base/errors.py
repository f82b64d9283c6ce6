"""The errors that users see: one line that says where and what, raised where both are known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from d2c.base.counting import many

Item = TypeVar("Item")
Made = TypeVar("Made")


_LONGEST = 400  # characters of a message, which may quote a file
_LONGEST_WITH_PATHS = 1_000
NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # what XML 1.0 cannot hold


def printable(text: str) -> str:
    """Return a text as a terminal may show it: what cannot be printed is escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shortened(text: str, longest: int) -> str:
    """Return a text, without its middle if it has more than so many characters."""
    if len(text) <= longest:
        return text
    half = (longest - 3) // 2
    return f"{text[:half]}...{text[-half:]}"


_SHORT_OF_MEMORY = "allocate memory", "out of memory", "bad_alloc"  # on a CPU, on a GPU, in C++


class FormatError(ValueError):
    """Malformed input: `FILE:LINE: sentence S: what is wrong`. Lines and sentences from 1, 0 = unknown."""

    def __init__(self, file: str, line: int, sentence: int, message: str) -> None:
        message = shortened(printable(" ".join(message.splitlines())), _LONGEST)
        super().__init__(file, line, sentence, message)
        self.file, self.line, self.sentence, self.message = file, line, sentence, message

    def __str__(self) -> str:
        line = f":{self.line}" if self.line else ""
        sentence = f": sentence {self.sentence}" if self.sentence else ""
        file = shortened(printable(self.file), _LONGEST_WITH_PATHS)
        return f"{file}{line}{sentence}: {self.message}"

    def after(self, sentences: int) -> FormatError:
        """Return the error with its sentence counted after so many earlier sentences."""
        return type(self)(self.file, self.line, self.sentence and self.sentence + sentences, self.message)


class NoTree(FormatError):
    """A sentence without a tree. That is no fault of the file: the sentence is left out, its number kept."""


class FormatErrors(FormatError):
    """Several errors of one file, a line each; more: how many others there are."""

    def __init__(self, errors: Sequence[FormatError], more: int = 0) -> None:
        first = errors[0]
        super().__init__(first.file, first.line, first.sentence, first.message)
        self.args = (errors, more)
        self.errors, self.more = errors, more

    def __str__(self) -> str:
        told = f"and {many(self.more, 'more error')}; --max-errors sets how many are shown"
        rest = [f"{printable(self.file)}: {told}"] if self.more else []
        return "\n".join([*map(str, self.errors), *rest])

    def after(self, sentences: int) -> FormatError:
        """Return the errors, each with its sentence counted after so many earlier sentences."""
        return FormatErrors([error.after(sentences) for error in self.errors], self.more)


def is_short_of_memory(error: BaseException) -> bool:
    """Return whether an error says that memory is short, as torch's RuntimeErrors may."""
    said = str(error)
    return isinstance(error, MemoryError) or any(one in said for one in _SHORT_OF_MEMORY)


class ModelError(ValueError):
    """A model directory that cannot be loaded, or one that does not fit what is asked of it."""

    def __init__(self, message: str) -> None:
        super().__init__(shortened(printable(message), _LONGEST_WITH_PATHS))  # it may quote a file


class TooManyErrors(ValueError):
    """More errors than MAX_ERROR allows: EVALB stops here, before the sentence's line and the summaries."""


class ParameterError(ModelError):
    """A parameter that is unknown, out of range or missing. The message is `before`, its name, and `after`.

    Its option on the command line has the same name, with dashes (`as_option`).
    """

    def __init__(self, before: str, parameter: str, after: str = "") -> None:
        super().__init__(f"{before}{parameter}{after}")
        self.args, self._message = (before, parameter, after), str(self)
        self.parameter = parameter

    def __str__(self) -> str:
        return getattr(self, "_message", "") or super().__str__()

    def as_option(self) -> str:
        """Return the message with the parameter as it is typed: `--bert-model`."""
        before, parameter, after = self.args
        return f"{before}--{parameter.replace('_', '-')}{after}"


def install(extra: str) -> str:
    """Return how to install an extra: from a clone, until some index has d2c-parser (d2c is another's)."""
    return f"in the clone of d2c, pip install -e '.[{extra}]'"


@contextmanager
def needing(what: str, extra: str) -> Iterator[None]:
    """Turn a failed import into a ModelError that says what needs which extra."""
    try:
        yield
    except ImportError as error:
        raise ModelError(f"{what} needs a package ({error}): {install(extra)}") from None


def needs(module: str, extra: str = "corpora") -> Any:
    """Return a module that not every installation has. Raises ModelError that says how to install it.

    Such modules are imported where they are used, as an import takes a second.
    """
    with needing("this", extra):
        return import_module(module)


@contextmanager
def located(file: str, sentence: int = 0) -> Iterator[None]:
    """Turn what a ValueError says into a FormatError that names the file and the sentence."""
    try:
        yield
    except (FormatError, ModelError):
        raise
    except ValueError as error:
        raise FormatError(file, 0, sentence, str(error)) from error


Refuse = Callable[[FormatError], None]
"""Is given what is wrong with a sentence: raises it, or the reader goes on with the next sentence."""


def stop(error: FormatError) -> None:
    """Raise the error, unless it only says that a sentence has no tree."""
    if not isinstance(error, NoTree):
        raise error from None


@dataclass(frozen=True)
class Faults:
    """What a reader does with a file in which sentences cannot be read.

    limit:   how many errors are told, together at the end of the file, with the number of all others; if it
             is 1, reading ends at the first error
    skipped: is given each error, and the file is read without these sentences; None: errors are raised
    no_tree: is given each sentence without a tree, if `skipped` is None
    """

    limit: int = 1
    skipped: Refuse | None = None
    no_tree: Refuse = field(default=stop, compare=False)


class Refusals:
    """A `Refuse` that follows a `Faults` in one pass over a file."""

    def __init__(self, faults: Faults = Faults()) -> None:
        self.faults, self.file = faults, ""
        self._sentences: list[int] = []
        self._errors: list[FormatError] = []
        self._more = 0  # errors beyond the limit

    @property
    def count(self) -> int:
        """Return the number of sentences refused so far."""
        return len(self._sentences)

    def number(self, left: int) -> int:
        """Return the number in the file of the sentence with number `left` among those not refused."""
        for refused in sorted(self._sentences):
            left += refused <= left
        return left

    def __call__(self, error: FormatError) -> None:
        self._sentences.append(error.sentence)
        self.file = error.file
        if self.faults.skipped:
            self.faults.skipped(error)
        elif isinstance(error, NoTree):
            self.faults.no_tree(error)
        elif self.faults.limit == 1:
            self.fail(error)
        elif len(self._errors) < self.faults.limit:
            self._errors.append(error)
        else:
            self._more += 1

    def fail(self, *last: FormatError) -> NoReturn:
        """Raise the errors so far, and, if given, a last one, after which nothing can be read."""
        errors, self._errors = [*self._errors, *last], []
        raise (errors[0] if len(errors) == 1 else FormatErrors(errors, self._more)) from None

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items; raise, at the end, the errors of the file, or that nothing in it can be read."""
        readable = False
        try:
            for item in items:
                readable = True
                yield item
        except FormatError as error:
            self.fail(error)
        if self._errors:
            self.fail()
        if self.count and not readable:
            raise FormatError(self.file, 0, 0, "none of its sentences can be read")


def refusing(read: Callable[[Path, Refusals], Iterable[Item]], path: Path, faults: Faults) -> Iterator[Item]:
    """Yield what `read` reads of a file, in one pass that follows `faults`."""
    refusals = Refusals(faults)
    return refusals.over(read(path, refusals))


def each_located(
    work: Callable[[Item], Made],
    items: Iterable[Item],
    file: str,
    refusals: Refusals | None = None,
) -> Iterator[Made]:
    """Yield the result of work on each sentence of a file, with errors as of `located`, but faster.

    refusals: of the same pass over the file; the sentences that they refused are numbered with these
    """
    refusals = refusals or Refusals()
    # Before an item: how many sentences of the file are no items; how many were refused in all.
    missing, refused_before = 0, refusals.count
    for sentence, item in enumerate(items, 1):
        missing += refusals.count - refused_before
        try:
            result = work(item)
        except (FormatError, ModelError):
            raise
        except ValueError as error:
            refusals(FormatError(file, 0, sentence + missing, str(error)))
        else:
            yield result
        refused_before = refusals.count
