"""The work of the server's workers: they read requests, parse them together and write the answers.

The content of requests is read only here, in a process that may die of it.
"""

from __future__ import annotations

import io
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from d2c.parsing.options import JSON, ParseOptions
from d2c.serving.limits import MOST_TREES, ServeLimits

if TYPE_CHECKING:  # its imports take a second
    from d2c.parsing.sentence import Sentence
    from d2c.protocols.dparser import TextRules

FIELDS = {"text", "sentences", "best"}
_WANTED = '{"text": "They slept."} or {"sentences": [{"tokens": ["They", "slept"]}]}'
_FILE = "<request>"  # what errors name


class Task(NamedTuple):
    """A request. page: whether the answer is for the page of `d2c serve`, not JSON as from `d2c parse`"""

    body: bytes
    page: bool = False


# Parsed before the first request, which need not wait for what is loaded or compiled at its first use.
_FIRST = [Task(json.dumps({"text": "They slept.", "best": best}).encode()) for best in (1, 2)]


class Answer(NamedTuple):
    """An answer: its HTTP status, and JSON."""

    status: int
    body: bytes


class _Asked(NamedTuple):
    """What a request asks for: the sentences of a kind of input, and up to `best` trees of each."""

    kind: str
    best: int
    sentences: list[Sentence]


def refusal(status: int, why: str) -> Answer:
    """Return an answer that says why a request is refused."""
    return Answer(status, json.dumps({"error": why}).encode())


def too_late(limits: ServeLimits) -> Answer:
    """Return the answer to a request that took more time than it may."""
    return refusal(504, f"it took more than {limits.max_seconds:g} s")


@dataclass(frozen=True)
class Service:
    """What workers need to know. It is pickled.

    options: how the model is loaded, and the size of batches
    """

    model: Path
    options: ParseOptions
    limits: ServeLimits

    def worker(self) -> Callable[[Sequence[Task]], list[Answer]]:
        """Load the model, and return what answers requests, warmed up. Raises ModelError."""
        from d2c.models.model import load_models
        from d2c.parsing.rules import rules_of
        from d2c.parsing.stream import BatchParser, batched

        [model] = load_models([self.model], **self.options.of_model)
        rules = rules_of(self.model, lambda: model)

        @cache
        def parser(kind: str, best: int) -> BatchParser:
            return BatchParser(model, ParseOptions(kind=kind, best=best, confidences=True), alone=False)

        def work(tasks: Sequence[Task]) -> list[Answer]:
            answers = dict[int, Answer]()
            together: dict[tuple[str, int], dict[int, list[Sentence]]] = defaultdict(dict)
            for i, task in enumerate(tasks):
                read = self._read(task.body, rules)
                if isinstance(read, Answer):
                    answers[i] = read
                else:
                    together[read.kind, read.best][i] = read.sentences
            for (kind, best), given in together.items():
                batches = batched(chain.from_iterable(given.values()), self.options.batch_size)
                parsed = chain.from_iterable(one.sentences for one in parser(kind, best).over(batches))
                for i, sentences in given.items():
                    answers[i] = _written([*islice(parsed, len(sentences))], tasks[i].page)
            return [answers[i] for i in range(len(tasks))]

        parser("split", 1)  # raises what is wrong with the model
        work([*_FIRST, Task(_FIRST[0].body, page=True)])
        return work

    def _read(self, body: bytes, rules: TextRules) -> _Asked | Answer:
        """Return what a request asks for, or why it cannot be answered."""
        from d2c.parsing.input import sentences_of

        try:
            lines, kind, best = _lines(body)
            sentences: list[Sentence] = []
            left = self.limits.max_words
            for sentence in sentences_of(lines, kind, rules, _FILE):
                left -= max(1, len(sentence.tokens))  # a sentence that cannot be read has no tokens
                if left < 0:
                    return refusal(413, f"more than {self.limits.max_words:,} words; send it in parts")
                sentences.append(sentence)
        except (ValueError, RecursionError) as error:
            return refusal(400, str(error))
        return _Asked(kind, best, sentences)


def _written(sentences: list[Sentence], of_page: bool) -> Answer:
    """Return the answer that holds parsed sentences."""
    from d2c.parsing.stream import Batch, format_batch
    from d2c.viewing.view import page_data

    if of_page:
        return Answer(200, json.dumps(page_data(sentences), ensure_ascii=False).encode())
    found = ",\n".join(format_batch("json", _FILE, Batch(sentences)).text.split("\n")[:-1])
    return Answer(200, f'{{"sentences": [\n{found}\n]}}\n'.encode())


def _lines(body: bytes) -> tuple[Iterator[str], str, int]:
    """Return the lines of a request, their kind of input, and how many trees of a sentence are wanted. Raises
    ValueError."""
    shown = _object(body)
    if unknown := [*shown.keys() - FIELDS]:
        raise ValueError(f"unknown field {unknown[0]!r:.40}; known are {', '.join(sorted(FIELDS))}")
    if ("text" in shown) == ("sentences" in shown):
        raise ValueError(f"one of `text` and `sentences` is needed: {_WANTED}")
    best = shown.get("best", 1)
    if type(best) is not int or not 1 <= best <= MOST_TREES:
        raise ValueError(f"`best` is {best!r:.40}, not a number from 1 to {MOST_TREES}")
    if "text" in shown:
        if not isinstance(text := shown["text"], str):
            raise ValueError(f"`text` is {text!r:.40}, not a string")
        return io.StringIO(text, newline=""), "split", best
    if not isinstance(sentences := shown["sentences"], list):
        raise ValueError(f"`sentences` is {sentences!r:.40}, not a list: {_WANTED}")
    _check_fields(sentences)
    return map(_line, sentences), JSON, best


def _object(body: bytes) -> dict[str, Any]:
    """Return the JSON object in a body. Raises ValueError for any other body."""
    try:
        shown = json.loads(body.decode())
    except UnicodeDecodeError:
        raise ValueError("the body is not UTF-8; it must be JSON, and not compressed") from None
    except RecursionError:
        raise ValueError("the body is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"the body is not JSON such as {_WANTED}: {error}") from None
    if not isinstance(shown, dict):
        raise ValueError(f"the body is no JSON object such as {_WANTED}")
    return shown


def _check_fields(sentences: list[Any]) -> None:
    """Raise ValueError for a field known neither in input nor in output: it may be a misspelt constraint."""
    from d2c.parsing.json_lines import GIVEN

    for number, sentence in enumerate(sentences, 1):
        if isinstance(sentence, dict) and (unknown := [*sentence.keys() - GIVEN]):
            known = "tokens, tags, require, forbid"
            raise ValueError(f"sentence {number}: unknown field {unknown[0]!r:.40}; known are {known}")


def _line(sentence: Any) -> str:
    return json.dumps(sentence) + "\n"
