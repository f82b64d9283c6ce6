"""CoNLL-U: one token a line, ten columns; dependency labels are whole (never cut at a colon).

Tags are written to XPOS and UPOS and read from XPOS; in sentences without any, from UPOS, unless the file
shows that UPOS holds another tagset: a token has two different tags. Multi-word ranges and empty nodes are
skipped; comments are kept. Columns are split at tabs here, because the `conllu` package also splits a form at
two spaces; that package decides what is an id or a number wherever a file departs from the plain case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from conllu.exceptions import ParseException
from conllu.parser import parse_id_value, parse_int_value

from d2c.base.errors import Refuse, stop
from d2c.base.files import AnyPath, open_input
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.format import (
    AS_IT_IS,
    Format,
    Malformed,
    Options,
    Reader,
    Writer,
    check_text,
    parse_all,
)

COLUMNS = 10
_TAGS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
UPOS = frozenset(_TAGS.split())
_HUGE = re.compile("-?[0-9]{10,}")
_BLANK_LINE = re.compile(r"^[ \t]+$", re.MULTILINE)
_ID, _FORM, _HEAD = 0, 1, 6
_TWO_TAGS = re.compile(r"^[0-9]+\t[^\t\n]*\t[^\t\n]*\t(?!_\t)([^\t\n]+)\t(?!_?\t|\1\t)", re.MULTILINE)
_LONGEST_ID = 40  # characters
_MISPLACED = "a line that begins with # is a comment, which stands before the first token: move it there"
_FEW_IDS = tuple(map(str, range(1, 1001)))
_CHUNK_SIZE = 1 << 18  # characters

_Block = tuple[str, Callable[[], bool]]


class Chunk(NamedTuple):
    """Some whole sentences of a file; line is the number of the first line of the text."""

    line: int
    text: str


def read_conllu_chunks(path: AnyPath) -> Iterator[Chunk]:
    """Yield chunks of a file, cut between sentences, that can be parsed apart. Raises FormatError."""
    first = 1
    with open_input(path) as stream:
        while lines := stream.readlines(_CHUNK_SIZE):
            while lines[-1].strip() and (line := stream.readline()):
                lines.append(line)
            yield Chunk(first, "".join(lines))
            first += len(lines)


def has_two_tagsets(text: str) -> bool:
    """Return whether a token of a text has a tag in UPOS and another one in XPOS."""
    return _TWO_TAGS.search(text) is not None


def parse_conllu(chunk: Chunk, file: str, refuse: Refuse = stop, xpos: bool = False) -> Iterator[DTree]:
    """Yield the labelled d-trees of a chunk, sentences counted from 1.

    Heads need not form a tree; a head `_` is read as -1, outside the sentence. Raises FormatError naming
    file, line and sentence.

    xpos: read tags from XPOS only, as where UPOS and XPOS of the chunk hold two tagsets
    """
    return parse_all(_blocks([chunk], xpos), _dtrees, file, refuse, may_be_empty=True)


def format_conllu(dtree: DTree, comments: Sequence[str] | None = None) -> str:
    """Return a d-tree's comments (or others), its lines and the empty line after them.

    Heads outside the sentence are read back as `read_conllu` says. Raises ValueError for what CoNLL-U cannot
    express: empty columns, tabs, line breaks, half characters.
    """
    tokens = dtree.tokens
    n = len(tokens.forms)
    nothing = ("_",) * n
    words = _ids(n), tokens.forms, tokens.lemmas or nothing, tokens.tags, tokens.tags
    arcs = tokens.morphs or nothing, map(str, dtree.heads), dtree.labels or nothing, nothing, nothing
    text = "\n".join(map("\t".join, zip(*words, *arcs, strict=True))) + "\n\n"
    if text.count("\t") != (COLUMNS - 1) * n or text.count("\n") != n + 1 or "\t\t" in text or "\r" in text:
        raise ValueError("a form or tag is empty or holds a tab or a line break")
    for comment in reversed(tokens.comments if comments is None else comments):
        text = f"# {' '.join(comment.splitlines())}\n{text}"
    return check_text(text)


def save_conllu(dtrees: Iterable[DTree], path: Path) -> None:
    """Write a file of d-trees. Raises OSError, and what `write_conllu` raises."""
    with open(path, "w", encoding="utf-8") as stream:
        write_conllu(dtrees, stream)


def comment_of(comments: Iterable[str], name: str) -> str | None:
    """Return the value of a name in comments: `1` of `sent_id = 1`."""
    for comment in comments:
        key, equals, value = comment.partition("=")
        if equals and key.strip() == name:
            return value.strip()
    return None


def _ids(n: int) -> tuple[str, ...]:
    return _FEW_IDS[:n] if n <= len(_FEW_IDS) else tuple(map(str, range(1, n + 1)))


def _blocks(chunks: Iterable[Chunk], xpos: bool = False) -> Iterator[tuple[int, _Block]]:
    """Yield the text between empty lines, and whether UPOS and XPOS of its chunk hold two tagsets."""
    for number, text in chunks:
        two_tagsets = cache(lambda text=text: xpos or has_two_tagsets(text))
        for block in _BLANK_LINE.sub("", text).split("\n\n"):
            yield number, (block, two_tagsets)
            number += block.count("\n") + 2


def _dtrees(block: _Block, _options: Options = AS_IT_IS) -> tuple[DTree, ...]:
    """Return the sentence of a block, if it holds one. Raises Malformed."""
    text, two_tagsets = block
    lines = text.split("\n")
    begin = 0
    while begin < len(lines) and (not lines[begin] or lines[begin][0] == "#"):
        begin += 1
    rows = [line.split("\t") for line in lines[begin:] if line]
    if not rows:
        return ()
    try:
        if "\t\t" in text:
            raise ValueError("an empty column")
        dtree = _sentence(rows, two_tagsets)
    except ValueError:
        dtree = _irregular_sentence(lines, begin, two_tagsets)
    if comments := tuple([line[1:].strip() for line in lines[:begin] if line]):
        dtree = replace(dtree, tokens=replace(dtree.tokens, comments=comments))
    return (dtree,)


def _sentence(rows: list[list[str]], two_tagsets: Callable[[], bool]) -> DTree:
    """Return a sentence of plain rows. Raises ValueError for any other."""
    ids, forms, lemmas, upos, xpos, feats, heads, labels, _, _ = zip(*rows, strict=True)
    n = len(rows)
    digits = "".join(heads)
    if ids != _ids(n) or not digits.isdecimal() or not digits.isascii() or max(map(len, heads)) > 9:
        raise ValueError
    return DTree(
        Tokens(
            forms,
            upos if xpos.count("_") == n and not two_tagsets() else xpos,
            None if lemmas.count("_") == n else lemmas,
            None if feats.count("_") == n else feats,
        ),
        tuple(map(int, heads)),
        labels=labels,
    )


def _irregular_sentence(lines: list[str], begin: int, two_tagsets: Callable[[], bool]) -> DTree:
    """Return a sentence with ranges, empty nodes, unknown heads or empty columns; after `begin` lines of
    comments. Raises Malformed."""
    rows: list[list[str]] = []
    for number, line in enumerate(lines[begin:], begin):
        if not line.strip():
            continue
        row = line.split("\t")
        try:
            if line.startswith("#"):
                raise ParseException(_MISPLACED)
            if len(row) != COLUMNS:
                raise ParseException(f"expected {COLUMNS} columns separated by tabs, found {len(row)}")
            if len(row[_ID]) > _LONGEST_ID:
                raise ParseException(f"'{row[_ID][:20]}...' is not a valid ID.")
            identifier = parse_id_value(row[_ID])
            if isinstance(identifier, tuple):
                continue  # a multi-word range or an empty node: no token of its own
            if identifier != len(rows) + 1:
                raise ParseException(f"expected the id {len(rows) + 1}, found {row[_ID]!r}")
            if not row[_FORM]:
                raise ParseException("the form is empty")
            head = -1 if _HUGE.fullmatch(row[_HEAD]) else parse_int_value(row[_HEAD])
        except ParseException as error:
            raise Malformed(str(error), number) from None
        # Any head outside the sentence is repaired later on, like this one.
        row[_HEAD] = "-1" if head is None or head < 0 else str(head)
        rows.append([cell or "_" for cell in row])
    if not rows:
        raise ValueError("a sentence without tokens")
    columns = list(zip(*rows, strict=True))
    heads = tuple(map(int, columns[_HEAD]))
    columns[_HEAD] = ("0",) * len(rows)
    plain = _sentence([list(row) for row in zip(*columns, strict=True)], two_tagsets)
    return DTree(plain.tokens, heads, labels=plain.labels)


read_conllu = Reader(lambda path, _: _blocks(read_conllu_chunks(path)), _dtrees)
write_conllu = Writer[DTree](lambda dtree, _: format_conllu(dtree))
CONLLU = Format(
    "conllu",
    (".conllu", ".conll"),
    read_conllu,
    write_conllu,
    holds=("lemmas", "morphology", "functions", "comments", "blanks"),
)
