"""All file formats of trees, a row for each; a file's format told by its name or content."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from d2c.base.errors import FormatError, Refusals, Refuse, stop
from d2c.base.files import AnyPath, file_name, first_characters
from d2c.base.inputs import ending_of, is_called
from d2c.trees.ctree import CTree
from d2c.trees.formats.alpinoxml import ALPINOXML
from d2c.trees.formats.brackets import BRACKETS
from d2c.trees.formats.cess import CESS
from d2c.trees.formats.conll2012 import CONLL2012
from d2c.trees.formats.conllu import CONLLU
from d2c.trees.formats.constituency import CONSTITUENCY
from d2c.trees.formats.corenlp import CORENLP
from d2c.trees.formats.corenlpxml import CORENLPXML
from d2c.trees.formats.discbracket import DISCBRACKET
from d2c.trees.formats.export import EXPORT
from d2c.trees.formats.floresta import FLORESTA
from d2c.trees.formats.format import Format
from d2c.trees.formats.frenchxml import FRENCHXML
from d2c.trees.formats.genia import GENIA
from d2c.trees.formats.historical import HISTORICAL
from d2c.trees.formats.indexbracket import INDEXBRACKET
from d2c.trees.formats.jsonfiles import outer_keys
from d2c.trees.formats.jsontrees import JSONTREES
from d2c.trees.formats.nbest import NBEST
from d2c.trees.formats.parsed import PARSED_LINES, PARSED_ROWS
from d2c.trees.formats.sejong import SEJONG
from d2c.trees.formats.sinica import SINICA
from d2c.trees.formats.tigerxml import TIGERXML
from d2c.trees.formats.universal import UNIVERSAL


def _named(*rows: Format[CTree]) -> dict[str, Format[CTree]]:
    return {row.name: row for row in rows}


FORMATS = _named(
    BRACKETS,
    DISCBRACKET,
    INDEXBRACKET,
    EXPORT,
    TIGERXML,
    ALPINOXML,
    HISTORICAL,
    SINICA,
    FLORESTA,
    SEJONG,
    CESS,
    NBEST,
    CORENLP,
    CORENLPXML,
    JSONTREES,
    GENIA,
    FRENCHXML,
    CONLL2012,
    CONSTITUENCY,
    PARSED_LINES,
    PARSED_ROWS,
)
DTREE_SUFFIXES = (*CONLLU.suffixes, ".conllx", ".conll06", ".conll08", ".conll09")
WRITABLE = tuple(name for name, row in FORMATS.items() if row.write)
TARGETS = {**{name: FORMATS[name] for name in WRITABLE}, UNIVERSAL.name: UNIVERSAL}  # of `d2c convert`
SUFFIXES = tuple(suffix for row in FORMATS.values() for suffix in row.suffixes)
_SNIFFED, _SNIFFED_IN_CONLLU = 4096, 1 << 16  # characters; comments on a document may stand before its trees
_XML = "tigerxml"  # stands for any XML
_NO_CTREES = (
    "has d-trees, not c-trees (no CoNLL-2012, no comments `# constituency`); "
    "`d2c decode` makes c-trees of them"
)
_MOST_KEYS = 5  # that a message shows
_DTREES = re.compile(r"(?:#.*\n|\n)*1\t[^\t\n]+(?:\t[^\t\n]+){4,}")  # how CoNLL-U and its relatives begin
_OUTERMOST = re.compile(r"<([A-Za-z_][\w:.-]*)")


def format_of(path: AnyPath, default: str = "brackets") -> str:
    """Return the format of a file: the one that its content looks like, where several formats share its
    suffix, otherwise the one that its name says; the default where the name says nothing. Raises FormatError
    for XML, JSON and CoNLL in which no c-trees are found.

    `parse` and `decode` write discbracket to standard output and *.txt where a model knows gaps; if that were
    read as brackets, the words would be `0=What` and the like, without any warning.
    """
    if treebank_called(path) == PARSED_ROWS.name:  # no text
        return PARSED_ROWS.name
    start = _start(path)
    called = CONLLU.name if is_called(Path(path), DTREE_SUFFIXES) else default
    named = _kind_by_content(start, treebank_called(path, called), default)
    found = _by_looks(start, named) or named
    if (
        found == CONLLU.name
        or (found == _XML and _is_other_xml(start))
        or (found == PARSED_LINES.name and not PARSED_LINES.looks_so(start))
    ):
        raise FormatError(str(path), 0, 0, f"{_told_of(found, start)}; --format says what else it is")
    return found


def _by_looks(start: str, named: str) -> str:
    """Return the format that a file looks like, "" for none: of those whose `named_as` is `named`, and then,
    if `named` has a `named_as` itself, of `named` and those with the same `named_as`."""
    rows = [row for row in FORMATS.values() if row.named_as == named]
    if named in FORMATS and (kind := FORMATS[named].named_as):
        rows += [FORMATS[named], *(row for row in FORMATS.values() if row.named_as == kind)]
    return next((row.name for row in rows if row.looks_so(start)), "")


def treebank_in(path: AnyPath) -> str:
    """Return the format of the c-trees in a file, by its name or, if it is named as CoNLL-U, by what it looks
    like; "" where it has none."""
    called_conllu = is_called(Path(path), DTREE_SUFFIXES)
    return treebank_called(path) or (_by_looks(_start(path), CONLLU.name) if called_conllu else "")


def treebank_called(path: AnyPath, default: str = "") -> str:
    """Return the format of c-trees whose suffix fits the name of a file, the longest where several fit; the
    default where none fits."""
    name = file_name(path).removesuffix(".gz")
    found = [(len(end), row.name) for row in FORMATS.values() for end in row.suffixes if name.endswith(end)]
    return max(found, default=(0, default))[1]


def _start(path: AnyPath) -> str:
    called_conllu = is_called(Path(path), DTREE_SUFFIXES)
    return first_characters(path, _SNIFFED_IN_CONLLU if called_conllu else _SNIFFED)


def _kind_by_content(start: str, named: str, default: str) -> str:
    """Return the format that stands for all XML, JSON or CoNLL, where a file that is named as brackets or as
    nothing looks like one of these; otherwise `named`."""
    text = start.removeprefix("\xef\xbb\xbf").lstrip()
    if named not in (default, "brackets"):
        return named
    if text.startswith("<"):  # lines of the Chinese Treebank do so, too
        return _XML if text.startswith("<?xml") or _by_looks(start, _XML) else named
    if _DTREES.match(text) or _by_looks(start, CONLLU.name):
        return CONLLU.name
    return PARSED_LINES.name if text.startswith(("{", "[")) and outer_keys(text) else named


def _is_other_xml(start: str) -> bool:
    return _OUTERMOST.search(start) is not None and not FORMATS[_XML].looks_so(start)


def _told_of(kind: str, start: str) -> str:
    """Return the message for a file without readable trees: what it is, and which formats were tried."""
    if kind == CONLLU.name:
        return _NO_CTREES
    tried = ", ".join(row.name for row in FORMATS.values() if kind in (row.name, row.named_as))
    if kind == _XML:
        outermost = "".join(_OUTERMOST.findall(start)[:1])
        return f"is XML with <{outermost}> outermost, which is none of {tried}; convert it to one of them"
    shown = ", ".join(list(outer_keys(start))[:_MOST_KEYS])
    return f"is JSON with the keys {shown}, which is none of {tried} (of `d2c parse`)"


def format_to_write(path: AnyPath, default: str = "brackets", others: Iterable[str] = ()) -> str:
    """Return the format that the name of a new file says; a plain *.xml is TIGER XML.

    default: of names without an ending, and of *.txt; others: endings that are also known, for the message
    Raises FormatError where d2c only reads that format, and for other endings.
    """
    ending = ending_of(Path(path))
    name = treebank_called(path, default if ending in ("", ".txt") else "")
    if not name:
        known = chain(others, *(FORMATS[one].suffixes for one in WRITABLE))
        message = f"no format of trees is called {ending}; say --to, or one of {' '.join(known)}"
        raise FormatError(str(path), 0, 0, message)
    if name not in WRITABLE:
        raise FormatError(str(path), 0, 0, f"d2c reads the format {name}, but does not write it")
    return name


def treebank_format(path: AnyPath, name: str | None = None) -> Format[CTree]:
    """Return the format with the given name or, without a name, that of the file. Raises FormatError for an
    unknown name."""
    name = name or format_of(path)
    if name not in FORMATS:
        raise FormatError(file_name(path), 0, 0, f"no such format: {name}; known are {', '.join(FORMATS)}")
    return FORMATS[name]


def read_treebank(
    path: AnyPath, format_name: str | None = None, refuse: Refuse = stop, **options: Any
) -> Iterator[CTree]:
    """Yield the trees of a file (`-`: standard input), one at a time. Raises FormatError.

    refuse:  is given what is wrong with a sentence
    options: the fields of `d2c.trees.formats.format.Options`
    """
    return treebank_format(path, format_name).read(path, refuse, **options)


@dataclass
class Place:
    """Where the tree being written is from: a file, and its number among the trees that were not refused."""

    file: AnyPath
    refusals: Refusals | None = None
    sentence: int = 0

    def error(self, message: str) -> FormatError:
        """Return an error that names the file and the number of the sentence in it."""
        number = self.refusals.number(self.sentence) if self.refusals else self.sentence
        return FormatError(file_name(self.file), 0, number, message)


def write_treebank(ctrees: Iterable[CTree], format_name: str, stream: TextIO, place: Place) -> None:
    """Write trees in a format that d2c writes. Raises FormatError for a tree that the format cannot hold.

    place: of the first tree; an iterator over the trees of several files updates it
    """
    write = TARGETS[format_name].write
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
