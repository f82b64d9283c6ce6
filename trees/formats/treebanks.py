"""Treebank files of any format that d2c knows, told by name or by content."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TextIO

from trees.ctree import CTree
from trees.errors import FormatError
from trees.files import file_name, open_input
from trees.formats.alpinoxml import read_alpinoxml, write_alpinoxml
from trees.formats.brackets import read_brackets, write_brackets
from trees.formats.discbracket import read_discbracket, write_discbracket
from trees.formats.export import read_export, write_export
from trees.formats.floresta import read_floresta
from trees.formats.historical import read_historical
from trees.formats.sinica import read_sinica
from trees.formats.tigerxml import read_tigerxml, write_tigerxml

Reader = Callable[..., Iterator[CTree]]


class Format(NamedTuple):
    """read: the trees of a path; write: trees into a stream, None where d2c reads the format only.

    suffixes: of file names; marks_heads: whether `read` takes marked=True
    """

    read: Reader
    write: Callable[[Iterable[CTree], TextIO], None] | None
    suffixes: tuple[str, ...]
    marks_heads: bool = False


FORMATS = {
    "brackets": Format(read_brackets, write_brackets, (".mrg", ".brackets")),
    "discbracket": Format(read_discbracket, write_discbracket, (".discbracket", ".dbr")),
    "export": Format(read_export, write_export, (".export", ".negra"), True),
    "tigerxml": Format(read_tigerxml, write_tigerxml, (".tiger.xml", ".tigerxml"), True),
    "alpinoxml": Format(read_alpinoxml, write_alpinoxml, (".alpino.xml",), True),
    "historical": Format(read_historical, None, (".psd",)),
    "sinica": Format(read_sinica, None, (".sinica",), True),
    "floresta": Format(read_floresta, None, (".floresta",), True),
}
_SNIFFED = 4096  # characters


def format_of(path: str | os.PathLike[str]) -> str:
    """The format of a file by its name, of *.xml by its content; brackets where the name says nothing."""
    if file_name(path).removesuffix(".gz").endswith(".xml"):
        with open_input(path) as stream:
            return "alpinoxml" if "<alpino" in stream.read(_SNIFFED) else "tigerxml"
    return format_to_write(path)


def format_to_write(path: str | os.PathLike[str]) -> str:
    """The format that the name of a new file says; a plain *.xml is TIGER XML."""
    name = file_name(path).removesuffix(".gz")
    for format_name, known in FORMATS.items():
        if name.endswith(known.suffixes):
            return format_name
    return "tigerxml" if name.endswith(".xml") else "brackets"


def read_treebank(
    path: str | os.PathLike[str], format_name: str | None = None, clean: bool = False, marked: bool = False
) -> Iterator[CTree]:
    """The trees of a file. Raises FormatError.

    clean:  of brackets, remove traces and function tags; other formats have none
    marked: with the head children that the treebank marks; an error in formats that mark none
    """
    name = format_name or format_of(path)
    if marked and not FORMATS[name].marks_heads:
        raise FormatError(file_name(path), 0, 0, f"the format {name} marks no heads")
    if name == "brackets":
        return read_brackets(path, clean)
    return FORMATS[name].read(path, marked=True) if marked else FORMATS[name].read(path)
