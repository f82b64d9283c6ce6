"""What `d2c parse` writes: trees in several formats, and JSON lines for other programs."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket
from d2c.trees.formats.conllu import format_conllu
from d2c.trees.formats.discbracket import format_discbracket
from d2c.trees.formats.export import format_export
from d2c.trees.spans import Source, spans_of

if TYPE_CHECKING:  # its imports take a second: NLTK
    from d2c.parsing.input import Sentence

Handler = Callable[[int, FrameType | None], Any]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed sentence, which is the number-th.

    dtree: the d-parser's; ctree: where the format shows it; confidences: one for each node of it [K]
    error: why they are NO_DTREE and NO_CTREE
    """

    sentence: Sentence
    number: int
    dtree: DTree | None = None
    ctree: CTree | None = None
    confidences: tuple[float, ...] | None = None
    error: str = ""


# What stands in the place of a sentence that could not be parsed.
_ERROR = Tokens(("ERROR",), ("ERROR",))
NO_CTREE = CTree(_ERROR, ("ERROR",), ((0,),), (0,), "TOP")
NO_DTREE = DTree(_ERROR, (0,), labels=("root",))


def failed(parsed: Parsed, error: str) -> Parsed:
    """The sentence with a marked empty tree; says on one line what is wrong with it."""
    return Parsed(parsed.sentence, parsed.number, NO_DTREE, NO_CTREE, error=" ".join(error.split()))


def format_json(parsed: Parsed) -> str:
    """One line: tokens, tags, where the sentence begins, and a span for each node, the higher first.

    A span has its label, its first token and the one after its last, its head token; its tokens where it has
    gaps; its first character and the one after its last where the input was text; its confidence if known.
    There is nothing of all this, but an error, where the sentence could not be parsed.
    """
    ctree, sentence = parsed.ctree, parsed.sentence
    assert ctree is not None
    if parsed.error:
        nothing: dict[str, list[str]] = {"tokens": [], "tags": [], "spans": []}
        return _json_line({"line": sentence.line, "error": parsed.error} | nothing)
    shown: dict[str, Any] = {"line": sentence.line, "tokens": ctree.tokens.forms, "tags": ctree.tokens.tags}
    if sentence.offsets:
        shown["offsets"] = sentence.offsets
    if sentence.tokens.comments:
        shown["comments"] = sentence.tokens.comments
    source = Source(ctree.tokens.forms, sentence.offsets)
    spans = spans_of(ctree, confidences=parsed.confidences, source=source)
    return _json_line(shown | {"spans": [span.to_dict() for span in spans]})


def _json_line(shown: dict[str, Any]) -> str:
    return json.dumps(shown, ensure_ascii=False) + "\n"


def format_dtree(parsed: Parsed) -> str:
    """A sentence of CoNLL-U with the input's comments; one more says why it could not be parsed."""
    assert parsed.dtree is not None
    comment = f"# error = {parsed.error}\n" if parsed.error else ""
    return comment + format_conllu(parsed.dtree, parsed.sentence.tokens.comments)


class OutputFormat(NamedTuple):
    """A format of `d2c parse`.

    text:        of a `Parsed` that has what is shown; raises ValueError for what the format cannot hold
    header:      before all sentences; suffixes: of files, where no treebank format has them
    ctrees:      whether it shows c-trees, not d-trees; confidences: whether it shows those of their nodes
    """

    text: Callable[[Any], str]
    header: str = ""
    suffixes: tuple[str, ...] = ()
    ctrees: bool = True
    confidences: bool = False


FORMATS = {
    "brackets": OutputFormat(lambda parsed: format_bracket(parsed.ctree) + "\n"),
    "discbracket": OutputFormat(lambda parsed: format_discbracket(parsed.ctree) + "\n"),
    "export": OutputFormat(lambda parsed: format_export(parsed.ctree, parsed.number), "#FORMAT 4\n"),
    "conllu": OutputFormat(format_dtree, "", (".conllu",), ctrees=False),
    "json": OutputFormat(format_json, suffixes=(".json", ".jsonl"), confidences=True),
}


def format_by_name(path: Path) -> str | None:
    """The format that the name of a file says, unless it is one of treebanks."""
    suffix = Path(path.name.removesuffix(".gz")).suffix
    return next((name for name, form in FORMATS.items() if suffix in form.suffixes), None)


@contextmanager
def whole_texts(stream: BinaryIO) -> Iterator[Callable[[str], None]]:
    """A function that writes texts and flushes; signals wait until the text at hand is written.

    A second one does not wait: who reads the output may have stopped reading.
    """
    waiting: list[tuple[int, FrameType | None]] = []
    handlers: dict[int, Handler] = {}
    writing = False

    def receive(number: int, frame: FrameType | None) -> None:
        if writing and not waiting:
            waiting.append((number, frame))
        else:
            handlers[number](number, frame)

    def write(text: str) -> None:
        nonlocal writing
        writing = True
        rest = text.encode()
        try:
            while rest:  # without a buffer (PYTHONUNBUFFERED) a signal ends a write before its end
                rest = rest[stream.write(rest) :]
            stream.flush()
        finally:
            writing = False
        if waiting:
            number, frame = waiting.pop()
            handlers[number](number, frame)

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            before = signal.getsignal(number)
            if callable(before):  # not where it is ignored
                handlers[number] = before
                signal.signal(number, receive)
    try:
        yield write
    finally:
        for caught, before in handlers.items():
            signal.signal(caught, before)
