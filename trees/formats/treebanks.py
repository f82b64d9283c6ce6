"""Treebank files of any format that d2c knows, told by name or by content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from functools import partial
from typing import NamedTuple, TextIO, TypedDict, Unpack

from d2c.base.errors import FormatError, Refusals, Refuse, stop
from d2c.base.files import AnyPath, file_name, open_input
from d2c.trees.ctree import CTree
from d2c.trees.formats.alpinoxml import read_alpinoxml, write_alpinoxml
from d2c.trees.formats.brackets import parse_brackets, read_brackets, write_brackets
from d2c.trees.formats.chunks import Chunk, Read, Write
from d2c.trees.formats.discbracket import parse_discbracket, read_discbracket, write_discbracket
from d2c.trees.formats.export import read_export, write_export
from d2c.trees.formats.floresta import read_floresta
from d2c.trees.formats.graphs import SecondaryEdges
from d2c.trees.formats.historical import parse_historical, read_historical
from d2c.trees.formats.sinica import read_sinica
from d2c.trees.formats.tigerxml import read_tigerxml, write_tigerxml
from d2c.trees.traces import resolve_traces


class Options(TypedDict, total=False):
    """How trees are read.

    clean:     of brackets, remove traces and function tags; other formats have none
    marked:    with the head children that the treebank marks; an error in formats that mark none
    traces:    with antecedents in the places of their traces, without indices, and cleaned
    secondary: counts secondary edges, which are left out
    """

    clean: bool
    marked: bool
    traces: bool
    secondary: SecondaryEdges | None


class Format(NamedTuple):
    """read: the trees of a path; `refuse` takes what is wrong with a sentence
    write: trees into a stream; None where d2c reads the format only
    suffixes: of file names
    accepts:  which of the `Options` `read` takes (and `parse`, but for marked, secondary)
    holds:    what a file holds beside continuous trees and words: gaps, heads, columns (lemmas, morphology),
              brackets in tags, blanks in words
    parse:    the trees of a chunk of a file, by its name, of `read_bracket_chunks`; None where it cannot
    """

    read: Read[CTree]
    write: Write[CTree] | None
    suffixes: tuple[str, ...]
    accepts: Set[str] = frozenset()
    holds: Set[str] = frozenset()
    parse: Callable[..., Iterator[CTree]] | None = None


_GRAPHS, _HELD = {"marked", "secondary"}, {"gaps", "brackets", "heads", "columns"}

FORMATS = {
    "brackets": Format(read_brackets, write_brackets, (".mrg", ".brackets"), {"clean"}, parse=parse_brackets),
    "discbracket": Format(
        read_discbracket,
        write_discbracket,
        (".discbracket", ".dbr"),
        holds={"gaps", "brackets"},
        parse=parse_discbracket,
    ),
    "export": Format(read_export, write_export, (".export", ".negra"), _GRAPHS, _HELD),
    "tigerxml": Format(
        read_tigerxml, write_tigerxml, (".tiger.xml", ".tigerxml"), _GRAPHS, _HELD | {"blanks"}
    ),
    "alpinoxml": Format(read_alpinoxml, write_alpinoxml, (".alpino.xml",), _GRAPHS, _HELD | {"blanks"}),
    "historical": Format(read_historical, None, (".psd",), {"traces"}, parse=parse_historical),
    "sinica": Format(read_sinica, None, (".sinica",), {"marked"}),
    "floresta": Format(read_floresta, None, (".floresta",), {"marked"}),
}
_SNIFFED = 4096  # characters


def format_of(path: AnyPath, default: str = "brackets") -> str:
    """Return the format of a file by its name, of *.xml by its content; the default where the name says
    nothing."""
    if file_name(path).removesuffix(".gz").endswith(".xml"):
        with open_input(path, "latin-1") as stream:
            head = stream.read(_SNIFFED).replace("\0", "")  # of UTF-16
            return "alpinoxml" if "<alpino" in head else "tigerxml"
    return _by_name(path, default)


def format_to_write(path: AnyPath, default: str = "brackets") -> str:
    """Return the format that the name of a new file says; a plain *.xml is TIGER XML.

    Raises FormatError where d2c only reads that format.
    """
    name = _by_name(path, default)
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
    if options.get("marked") and "marked" not in FORMATS[name].accepts:
        raise FormatError(file_name(path), 0, 0, f"the format {name} marks no heads")
    return _trees(name, options, partial(FORMATS[name].read, path, refuse=refuse))


def parse_treebank(
    chunk: Chunk, path: AnyPath, format_name: str, refuse: Refuse = stop, **options: Unpack[Options]
) -> Iterator[CTree]:
    """Yield the trees of a chunk of a file that can be cut; arguments and errors as for `read_treebank`."""
    parse = FORMATS[format_name].parse
    assert parse is not None
    return _trees(format_name, options, partial(parse, chunk, file_name(path), refuse))


def _trees(name: str, options: Options, read: Read[CTree]) -> Iterator[CTree]:
    """Yield trees, read with the options that their format accepts.

    Where the format does not resolve traces by itself, they are resolved here, before trees are cleaned.
    """
    accepts, traces = FORMATS[name].accepts, options.get("traces")
    wanted = {**options, "clean": options.get("clean") and not traces}
    ctrees = read(**{option: value for option, value in wanted.items() if value and option in accepts})
    return filter(None, map(resolve_traces, ctrees)) if traces and "traces" not in accepts else ctrees


def write_treebank(
    ctrees: Iterable[CTree],
    format_name: str,
    stream: TextIO,
    source: AnyPath,
    refusals: Refusals | None = None,
) -> None:
    """Write trees in a format that d2c writes. Raises FormatError for a tree that the format cannot hold.

    source:   the file that they come from, which the error names
    refusals: knows which sentences of that file are not among the trees
    """
    sentence, write = 0, FORMATS[format_name].write
    assert write is not None

    def counted() -> Iterator[CTree]:
        nonlocal sentence
        for ctree in ctrees:
            sentence += 1
            yield ctree

    try:
        write(counted(), stream)
    except FormatError:
        raise
    except ValueError as error:
        number = refusals.number(sentence) if refusals else sentence
        raise FormatError(file_name(source), 0, number, str(error)) from None
