"""What `d2c parse` reads: CoNLL-U, text with a sentence on each line, tokenised or not, and free text.

All are streams of lines. A line or sentence that cannot be read is an error that names it; a caller may raise
it, or report it and go on with the others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from d2c.parsing.text import Line, Offsets, SentenceSplitter, Words, words_of
from d2c.trees.ctree import Tokens
from d2c.trees.errors import FormatError
from d2c.trees.files import file_name, open_input
from d2c.trees.formats.brackets import BLANKS
from d2c.trees.formats.chunks import Chunk
from d2c.trees.formats.conllu import parse_conllu

_BYTE_ORDER_MARK = "\ufeff"
_UNDECODED = re.compile("[\ud800-\udfff]")  # bytes that are no UTF-8, as `surrogateescape` has them
_WORD = re.compile(rf"[^{BLANKS}]+")

Refuse = Callable[[FormatError], None]  # raises the error, or reports it


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence to be parsed.

    tokens:  its tags are empty where the input has none
    line:    of the file, where it begins
    offsets: of its words, in characters from the file's beginning, any line break as one; None in CoNLL-U
    """

    tokens: Tokens
    line: int
    offsets: Offsets | None = None


def read_sentences(
    path: str | os.PathLike[str], kind: str, refuse: Refuse, abbreviations: Iterable[str] = ()
) -> Iterator[Sentence]:
    """The sentences of a file (`-`: standard input) of one of KINDS, one at a time. Empty lines are none.

    refuse:        is given what is wrong with a line; the sentence is left out then
    abbreviations: words that end in a full stop without ending a sentence
    Raises FormatError for a file that cannot be read at all.
    """
    with open_input(path, errors="surrogateescape") as stream:
        yield from KINDS[kind].read(_Reader(stream, file_name(path), refuse, abbreviations))


@dataclass(frozen=True)
class _Reader:
    """A file that is read as one of several kinds; see `read_sentences`."""

    stream: Iterable[str]
    file: str
    refuse: Refuse
    abbreviations: Iterable[str]

    def conllu(self) -> Iterator[Sentence]:
        """Sentences between empty lines, with tags."""
        count = 0
        for block in _blocks(self._lines(mark="")):
            first = block[0].number
            try:
                for line in block:
                    if _UNDECODED.search(line.text):
                        raise FormatError(self.file, line.number, 1, "not UTF-8 text")
                for dtree in parse_conllu(Chunk(first, "".join(line.text for line in block)), self.file):
                    yield Sentence(dtree.tokens, first)
                    count += 1
            except FormatError as error:
                self.refuse(error.after(count))
                count += 1

    def text(self) -> Iterator[Sentence]:
        """A sentence on each line."""
        return self._cut(self._decoded(), words_of)

    def tokenized(self) -> Iterator[Sentence]:
        """A sentence on each line, with blanks between tokens."""
        return self._cut(self._decoded(), _tokenized)

    def split(self) -> Iterator[Sentence]:
        """Free text."""
        return self._cut(SentenceSplitter(self.abbreviations).sentences(self._decoded()), words_of)

    def _cut(self, lines: Iterable[Line], words_of: Callable[[Line], Words]) -> Iterator[Sentence]:
        for line in lines:
            if line.text.strip():
                try:
                    words = words_of(line)
                except ValueError as error:
                    self.refuse(FormatError(self.file, line.number, 0, str(error)))
                else:
                    tokens = Tokens(words.forms, ("",) * len(words.forms))
                    yield Sentence(tokens, words.line, words.offsets)

    def _decoded(self) -> Iterator[Line]:
        for line in self._lines(mark=" "):  # offsets stay as they are
            if _UNDECODED.search(line.text):
                self.refuse(FormatError(self.file, line.number, 0, "not UTF-8 text"))
            else:
                yield line

    def _lines(self, mark: str) -> Iterator[Line]:
        """mark: stands for a byte order mark"""
        begin = 0
        for number, text in enumerate(self.stream, 1):
            if number == 1 and text.startswith(_BYTE_ORDER_MARK):
                text = mark + text[1:]
            yield Line(number, begin, text)
            begin += len(text)


class Kind(NamedTuple):
    """A kind of input: how it is read, and whether its sentences have tags."""

    read: Callable[[_Reader], Iterator[Sentence]]
    tagged: bool = False


KINDS = {
    "conllu": Kind(_Reader.conllu, tagged=True),
    "text": Kind(_Reader.text),
    "tokenized": Kind(_Reader.tokenized),
    "split": Kind(_Reader.split),
}


def _tokenized(line: Line) -> Words:
    """The words between blanks. Raises ValueError for words of nothing but other spaces."""
    found = [*_WORD.finditer(line.text)]
    for number, match in enumerate(found, 1):
        if match[0].isspace():
            raise ValueError(f"the token {number} is empty: it holds nothing but {ascii(match[0])}")
    offsets = [(line.begin + match.start(), line.begin + match.end()) for match in found]
    return Words(line.number, tuple([match[0] for match in found]), tuple(offsets))


def _blocks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Lines between empty ones."""
    for empty, block in groupby(lines, lambda line: not line.text.strip()):
        if not empty:
            yield list(block)
