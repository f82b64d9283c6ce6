"""What `d2c parse` writes: trees in several formats, and JSON lines for other programs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO, NamedTuple

from d2c.base.inputs import ending_of
from d2c.parsing.json_lines import format_json
from d2c.parsing.options import JSON_LINES
from d2c.parsing.sentence import Sentence
from d2c.trees.ctree import CTree
from d2c.trees.formats.conllu import format_conllu
from d2c.trees.formats.format import Writer
from d2c.trees.formats.registry import FORMATS

Handler = Callable[[int, FrameType | None], Any]


def format_dtree(sentence: Sentence) -> str:
    """Return a sentence of CoNLL-U with the input's comments; one more says why it could not be parsed."""
    assert sentence.dtree is not None
    comment = f"# error = {sentence.why}\n" if sentence.error else ""
    return comment + format_conllu(sentence.dtree, sentence.tokens.comments)


class OutputFormat(NamedTuple):
    """A format of `d2c parse`.

    text:        of a sentence that has what is shown; raises ValueError for what the format cannot hold
    header:      before all sentences; suffixes: of files, where no treebank format has them
    ctrees:      whether it shows c-trees, not d-trees
    confidences: whether it shows those of their nodes, and other c-trees of a sentence
    """

    text: Callable[[Any], str]
    header: str = ""
    suffixes: tuple[str, ...] = ()
    ctrees: bool = True
    confidences: bool = False


def _of_ctrees(write: Writer[CTree]) -> OutputFormat:
    return OutputFormat(lambda one: write.text(one.tree, one.number), write.before)


OUTPUTS = {
    **{name: _of_ctrees(row.write) for name, row in FORMATS.items() if row.write and not row.write.after},
    "conllu": OutputFormat(format_dtree, "", (".conllu",), ctrees=False),
    "json": OutputFormat(format_json, suffixes=JSON_LINES, confidences=True),
}


def format_by_name(path: Path, formats: Mapping[str, Any] = OUTPUTS) -> str | None:
    """Return which of some formats (here not those of treebanks) the name of a file says."""
    return next((name for name, form in formats.items() if ending_of(path) in form.suffixes), None)


@contextmanager
def whole_texts(stream: BinaryIO) -> Iterator[Callable[[str], None]]:
    """Provide a function that writes texts and flushes; signals wait until the text at hand is written.

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
