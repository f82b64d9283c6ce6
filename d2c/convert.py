"""Treebank files through a route, chunk by chunk: brackets to CoNLL-U text and back."""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO
from typing import NamedTuple

from d2c.model import Route
from d2c.statistics import Statistics
from trees.errors import FormatError
from trees.formats.brackets import format_bracket, parse_brackets
from trees.formats.chunks import Chunk
from trees.formats.conllu import format_conllu, parse_conllu
from trees.repair import Repairs


class Converted(NamedTuple):
    """A chunk's text in the other format, what was counted, or, instead of both, the error met.

    An error is handed on as a value: it counts sentences from the chunk's beginning, and only who knows the
    chunks before it can say which sentence of the file it means.
    """

    text: str
    sentences: int
    statistics: Statistics | None = None
    repairs: Repairs | None = None
    error: FormatError | None = None


@dataclass(frozen=True)
class Encode:
    """c-trees in brackets → d-trees in CoNLL-U."""

    route: Route
    file: str
    clean: bool
    statistics: bool

    def __call__(self, chunk: Chunk) -> Converted:
        statistics = Statistics() if self.statistics else None
        lines: list[str] = []
        try:
            for ctree in parse_brackets(chunk, self.file, self.clean):
                try:
                    dtree = self.route.encode(ctree)
                    lines.append(format_conllu(dtree))
                except FormatError:
                    raise
                except ValueError as error:
                    raise FormatError(self.file, 0, len(lines) + 1, str(error)) from None
                if statistics:
                    statistics.count(ctree, dtree)
        except FormatError as error:
            return Converted("", len(lines), error=error)
        return Converted("".join(lines), len(lines), statistics)


@dataclass(frozen=True)
class Decode:
    """d-trees in CoNLL-U → c-trees in brackets."""

    route: Route
    file: str

    def __call__(self, chunk: Chunk) -> Converted:
        repairs, text = Repairs(), StringIO()
        sentences = 0
        try:
            for ctree in self.route.decode_all(parse_conllu(chunk, self.file), repairs):
                sentences += 1
                try:
                    text.write(format_bracket(ctree) + "\n")
                except ValueError as error:
                    raise FormatError(self.file, 0, sentences, str(error)) from None
        except FormatError as error:
            return Converted("", sentences, error=error)
        return Converted(text.getvalue(), sentences, repairs=repairs)
