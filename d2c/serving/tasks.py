"""What a worker of the server does: it reads a request, parses it and writes the answer.

All that is in a request is read here, in a process that may die of it. A request is a batch of its own: its
answer depends on no other, and is that of `d2c parse`.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from d2c.parsing.options import JSON, ParseOptions
from d2c.serving.limits import MOST_TREES, ServeLimits

if TYPE_CHECKING:  # its imports take a second
    from d2c.parsing.sentence import Sentence

FIELDS = {"text", "sentences", "best"}
_FILE = "<request>"  # what errors name


class Task(NamedTuple):
    """A request. page: the answer is for the page of `d2c serve`; otherwise, JSON as of `d2c parse`"""

    body: bytes
    page: bool = False


class Answer(NamedTuple):
    """An answer: the status of HTTP, and JSON."""

    status: int
    body: bytes


class _TooLong(ValueError):
    """More words than a request may have."""


def refusal(status: int, why: str) -> Answer:
    """Return an answer that says why there is no other."""
    return Answer(status, json.dumps({"error": why}).encode())


@dataclass(frozen=True)
class Service:
    """What workers need to know. It is pickled.

    options: how the model is loaded
    """

    model: Path
    options: ParseOptions
    limits: ServeLimits

    def worker(self) -> Callable[[Task | None], Answer]:
        """Load the model, and return what answers a task; None: there is nothing to do yet. Raises
        ModelError."""
        from d2c.models.model import load_models
        from d2c.parsing.input import sentences_of
        from d2c.parsing.rules import rules_of
        from d2c.parsing.stream import BatchParser, batched, format_batch
        from d2c.viewing.view import page_data

        [model] = load_models([self.model], **self.options.of_model)
        rules = rules_of(self.model, lambda: model)

        @cache
        def parser(kind: str, best: int) -> BatchParser:
            return BatchParser(model, ParseOptions(kind=kind, best=best, confidences=True), alone=False)

        def work(task: Task | None) -> Answer:
            if task is None:
                parser("split", 1)
                return Answer(200, b"")
            try:
                lines, kind, best = _read(task.body)
                given = [*self._limited(sentences_of(lines, kind, rules, _FILE))]
            except _TooLong as error:
                return refusal(413, str(error))
            except (ValueError, RecursionError) as error:
                return refusal(400, str(error))
            parsed = parser(kind, best).over(batched(given, self.options.batch_size))
            if task.page:
                shown = page_data(one for batch in parsed for one in batch.sentences)
                return Answer(200, json.dumps(shown, ensure_ascii=False).encode())
            texts = (format_batch("json", _FILE, batch).text for batch in parsed)
            found = ",\n".join("".join(texts).split("\n")[:-1])
            return Answer(200, f'{{"sentences": [\n{found}\n]}}\n'.encode())

        return work

    def _limited(self, sentences: Iterator[Sentence]) -> Iterator[Sentence]:
        """Yield the sentences of a request. Raises _TooLong as soon as they have too many words; one that
        cannot be read counts as a word."""
        left = self.limits.max_words
        for sentence in sentences:
            left -= max(1, len(sentence.tokens))
            if left < 0:
                raise _TooLong(f"more than {self.limits.max_words:,} words; send it in parts")
            yield sentence


def _read(body: bytes) -> tuple[Iterator[str], str, int]:
    """Return the lines of a request, of which kind they are, and how many trees are wanted of a sentence.
    Raises ValueError."""
    shown = json.loads(body.decode())
    wanted = 'no JSON object with `text`, or with `sentences`: [{"tokens": ["They", "slept"]}]'
    if not isinstance(shown, dict) or ("text" in shown) == ("sentences" in shown):
        raise ValueError(wanted)
    if unknown := [*shown.keys() - FIELDS]:
        raise ValueError(f"unknown field {unknown[0]!r}; known are {', '.join(sorted(FIELDS))}")
    best = shown.get("best", 1)
    if type(best) is not int or not 1 <= best <= MOST_TREES:
        raise ValueError(f"`best` is {best!r:.40}, not a number from 1 to {MOST_TREES}")
    if isinstance(text := shown.get("text"), str):
        return io.StringIO(text, newline=""), "split", best
    if "text" in shown or not isinstance(shown["sentences"], list):
        raise ValueError(wanted)
    return map(_line, shown["sentences"]), JSON, best


def _line(sentence: Any) -> str:
    return json.dumps(sentence) + "\n"
