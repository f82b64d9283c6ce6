"""Treebank files of any format that d2c knows, told by name or by content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TextIO, TypedDict, Unpack

from d2c.base.errors import FormatError, Refusals, Refuse, stop
from d2c.base.files import AnyPath, file_name, open_input
from d2c.trees.ctree import CTree
from d2c.trees.formats.alpinoxml import read_alpinoxml, write_alpinoxml
from d2c.trees.formats.brackets import read_brackets, write_brackets
from d2c.trees.formats.discbracket import is_discbracket, read_discbracket, write_discbracket
from d2c.trees.formats.export import read_export, write_export
from d2c.trees.formats.floresta import read_floresta
from d2c.trees.formats.format import Read, Reader, Write, parse_all
from d2c.trees.formats.historical import read_historical
from d2c.trees.formats.sinica import read_sinica
from d2c.trees.formats.tigerxml import read_tigerxml, write_tigerxml
from d2c.trees.graphs import LeftOut, resolve_traces


class Options(TypedDict, total=False):
    """How trees are read.

    clean:     of brackets, remove traces and function tags; other formats have none
    marked:    with the head children that the treebank marks; an error in formats that mark none
    traces:    with antecedents in the places of their traces, without indices, and cleaned; formats that
               mark heads have none
    left_out:  counts what graphs have and trees have not
    """

    clean: bool
    marked: bool
    traces: bool
    left_out: LeftOut | None


class Format(NamedTuple):
    """read: the trees of a path; `refuse` takes what is wrong with a sentence
    write: trees into a stream; None where d2c reads the format only
    suffixes: of file names
    accepts:  which of the `Options` `read` takes
    holds:    what a file holds beside continuous trees and words: gaps, heads, columns (lemmas, morphology),
              brackets in tags, blanks in words
    in_parts: whether parts of a file can be written apart
    """

    read: Read[CTree]
    write: Write[CTree] | None
    suffixes: tuple[str, ...]
    accepts: Set[str] = frozenset()
    holds: Set[str] = frozenset()
    in_parts: bool = False


_GRAPHS, _HELD = {"marked", "left_out"}, {"gaps", "brackets", "heads", "columns"}

FORMATS = {
    "brackets": Format(
        *(read_brackets, write_brackets, (".mrg", ".brackets", ".ptb", ".parse", ".tree", ".trees")),
        accepts={"clean"},
        in_parts=True,
    ),
    "discbracket": Format(
        *(read_discbracket, write_discbracket, (".discbracket", ".dbr")),
        holds={"gaps", "brackets"},
        in_parts=True,
    ),
    "export": Format(read_export, write_export, (".export", ".negra"), _GRAPHS, _HELD),
    "tigerxml": Format(
        read_tigerxml, write_tigerxml, (".tiger.xml", ".tigerxml"), _GRAPHS, _HELD | {"blanks"}
    ),
    "alpinoxml": Format(read_alpinoxml, write_alpinoxml, (".alpino.xml",), _GRAPHS, _HELD | {"blanks"}),
    "historical": Format(read_historical, None, (".psd",), {"traces"}),
    "sinica": Format(read_sinica, None, (".sinica",), {"marked"}),
    "floresta": Format(read_floresta, None, (".floresta",), {"marked"}),
}
_SNIFFED = 4096  # characters
_OTHERS = {  # endings of files that are no treebanks, and what they are
    (".conllu", ".conll"): "has d-trees, not c-trees; `d2c decode` makes c-trees of them",
    (".json", ".jsonl"): "has JSON lines, which only combine, draw, phrases, search and view read",
    (".parquet",): "is a table; write its column of brackets into a file",
}


def format_of(path: AnyPath, default: str = "brackets") -> str:
    """Return the format of a file by its name, of *.xml and brackets by its content; the default where the
    name says nothing. Raises FormatError for names of other files.

    `parse` and `decode` write discbracket to standard output and *.txt where a model knows gaps; read as
    brackets its words would be called `0=What`, and nobody would be told.
    """
    name = file_name(path).removesuffix(".gz")
    for endings, what in _OTHERS.items():
        if name.endswith(endings):
            raise FormatError(str(path), 0, 0, f"{what}; --format says what else it is")
    if name.endswith(".xml"):
        return "alpinoxml" if "<alpino" in _start(path) else "tigerxml"
    known = _by_name(path, default)
    return "discbracket" if known == "brackets" and is_discbracket(_start(path)) else known


def _start(path: AnyPath) -> str:
    """Return the first characters of a file, or of standard input, whose reader gets them, too; of a pipe
    that has a name, where they would be lost, none."""
    if str(path) != "-" and not Path(path).is_file():
        return ""
    with open_input(path, "latin-1") as stream:
        if str(path) != "-":
            start = stream.read(_SNIFFED)
        else:
            peek = getattr(stream.buffer, "peek", None)
            start = peek(1)[:_SNIFFED].decode("latin-1") if peek else ""
    return start.replace("\0", "")  # of UTF-16


def format_to_write(path: AnyPath, default: str = "brackets", others: Iterable[str] = ()) -> str:
    """Return the format that the name of a new file says; a plain *.xml is TIGER XML.

    default: of names without an ending, and of *.txt; others: endings that are also known, for the message
    Raises FormatError where d2c only reads that format, and for other endings.
    """
    ending = Path(file_name(path).removesuffix(".gz")).suffix
    name = _by_name(path, default if ending in ("", ".txt") else "")
    if not name:
        known = chain(others, *(form.suffixes for form in FORMATS.values() if form.write))
        message = f"no format of trees is called {ending}; say --to, or one of {' '.join(known)}"
        raise FormatError(str(path), 0, 0, message)
    if FORMATS[name].write is None:
        raise FormatError(str(path), 0, 0, f"d2c reads the format {name}, but does not write it")
    return name


def _by_name(path: AnyPath, default: str) -> str:
    name = file_name(path).removesuffix(".gz")
    for format_name, known in FORMATS.items():
        if name.endswith(known.suffixes):
            return format_name
    return "tigerxml" if name.endswith(".xml") else default


def read_treebank(
    path: AnyPath, format_name: str | None = None, refuse: Refuse = stop, **options: Unpack[Options]
) -> Iterator[CTree]:
    """Yield the trees of a file (`-`: standard input), one at a time. Raises FormatError.

    refuse: is given what is wrong with a sentence
    """
    name = format_name or format_of(path)
    if name not in FORMATS:
        raise FormatError(file_name(path), 0, 0, f"no such format: {name}; known are {', '.join(FORMATS)}")
    ctrees = FORMATS[name].read(path, refuse=refuse, **_accepted(path, name, options))
    return _resolved(ctrees, name, options)


def items_of(path: AnyPath, name: str, **options: Unpack[Options]) -> Iterator[tuple[int, Any]]:
    """Yield what `trees_of` reads, elsewhere: items of a file, each after the number of its first line.

    Arguments and errors as of `read_treebank`.
    """
    read, accepted = FORMATS[name].read, _accepted(path, name, options)
    if isinstance(read, Reader):
        yield from read.items(path)
        return
    errors: list[FormatError] = []
    for ctree in chain(read(path, refuse=errors.append, **accepted), [None]):
        yield from ((error.line, ValueError(error.message)) for error in errors)
        errors.clear()
        yield 0, ctree


def trees_of(
    items: Iterable[tuple[int, Any]], path: AnyPath, name: str, refuse: Refuse, **options: Unpack[Options]
) -> Iterator[CTree]:
    """Yield the trees of some of the `items_of` a file; errors count sentences from the first of these."""
    read, accepted = FORMATS[name].read, _accepted(path, name, options)
    parse = partial(read.trees, **accepted) if isinstance(read, Reader) else lambda ctree: (ctree,)
    return _resolved(parse_all(items, parse, file_name(path), refuse, is_part=True), name, options)


def _accepted(path: AnyPath, name: str, options: Options) -> dict[str, object]:
    """Return the options that a format accepts. Traces are resolved before trees are cleaned."""
    accepts = FORMATS[name].accepts
    if options.get("marked") and "marked" not in accepts:
        raise FormatError(file_name(path), 0, 0, f"the format {name} marks no heads")
    wanted = {**options, "clean": options.get("clean") and not options.get("traces")}
    return {option: value for option, value in wanted.items() if value and option in accepts}


def _resolved(ctrees: Iterator[CTree], name: str, options: Options) -> Iterator[CTree]:
    """Yield trees without traces, if that is asked for and their format does not resolve them by itself."""
    if options.get("traces") and not {"marked", "traces"} & FORMATS[name].accepts:
        return filter(None, map(resolve_traces, ctrees))
    return ctrees


@dataclass
class Place:
    """Where the tree being written is from: its number among those of a file that were not refused."""

    file: AnyPath
    refusals: Refusals | None = None
    sentence: int = 0

    def error(self, message: str) -> FormatError:
        """Return an error of the sentence."""
        number = self.refusals.number(self.sentence) if self.refusals else self.sentence
        return FormatError(file_name(self.file), 0, number, message)


def write_treebank(ctrees: Iterable[CTree], format_name: str, stream: TextIO, place: Place) -> None:
    """Write trees in a format that d2c writes. Raises FormatError for a tree that the format cannot hold.

    place: of the first tree; an iterator over the trees of several files updates it
    """
    write = FORMATS[format_name].write
    assert write is not None

    def counted() -> Iterator[CTree]:
        for ctree in ctrees:
            place.sentence += 1
            yield ctree

    try:
        write(counted(), stream)
    except FormatError:
        raise
    except ValueError as error:
        raise place.error(str(error)) from None
