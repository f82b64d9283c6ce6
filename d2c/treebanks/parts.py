"""Treebank files through a route, part by part, on several cores: c-trees to CoNLL-U text and back."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from d2c.training.routes import Route
from d2c.treebanks.reading import Part, Reading
from d2c.treebanks.statistics import Statistics
from d2c.trees.ctree import CTree
from d2c.trees.errors import FormatError, each_located
from d2c.trees.files import file_name, open_output
from d2c.trees.formats.chunks import Chunk
from d2c.trees.formats.conllu import format_conllu, parse_conllu
from d2c.trees.formats.treebanks import write_treebank
from d2c.trees.repair import Repairs
from d2c.trees.workers import in_order


class Converted(NamedTuple):
    """The text of a part in the other format, what was counted, or, instead of both, the error met.

    It counts sentences from the part's beginning; the parts before say which one of the file that is.
    """

    text: str
    sentences: int
    statistics: Statistics | None = None
    repairs: Repairs | None = None
    error: FormatError | None = None


@dataclass(frozen=True)
class Encode:
    """c-trees → d-trees in CoNLL-U."""

    route: Route
    file: Path
    reading: Reading
    statistics: bool

    def __call__(self, part: Part) -> Converted:
        statistics = Statistics() if self.statistics else None
        lines: list[str] = []

        def encoded(ctree: CTree) -> str:
            dtree = self.route.encode(ctree)
            if statistics:
                statistics.count(ctree, dtree)
            return format_conllu(dtree)

        try:
            lines.extend(each_located(encoded, self.reading.trees_of(part, self.file), file_name(self.file)))
        except FormatError as error:
            return Converted("", len(lines), error=error)
        return Converted("".join(lines), len(lines), statistics)


@dataclass(frozen=True)
class Decode:
    """d-trees in CoNLL-U → c-trees in a format of which parts can be written apart."""

    route: Route
    file: str
    format_name: str

    def __call__(self, chunk: Chunk) -> Converted:
        repairs, text = Repairs(), StringIO()
        ctrees = self.route.decode_all(parse_conllu(chunk, self.file), repairs)
        try:
            write_treebank(ctrees, self.format_name, text, self.file)
        except FormatError as error:
            return Converted("", 0, error=error)
        return Converted(text.getvalue(), repairs.sentences, repairs=repairs)


def convert_parts(
    work: Callable[[Any], Converted], parts: Iterable[Part], source: Path, output: Path, jobs: int
) -> Iterator[Converted]:
    """Converts the parts of a file and hands out what was counted; the output appears at the end."""
    # Trees hold no reference cycles; looking for some among so many small objects takes a tenth of the time.
    gc.set_threshold(1_000_000)
    sentences = 0
    with open_output(output) as out:
        for part in in_order(lambda: work, parts, jobs):
            if part.error:
                raise part.error.after(sentences)
            out.write(part.text)
            sentences += part.sentences
            yield part
        if not sentences:
            raise FormatError(file_name(source), 1, 0, "no sentence found in this file")
