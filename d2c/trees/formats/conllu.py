"""CoNLL-U: one token a line, ten columns; dependency labels are whole (never cut at a colon).

Tags are written to XPOS and UPOS and read from XPOS; in sentences without any, from UPOS, unless the file
so far shows that UPOS holds another tagset: a token has two different tags. The tokens of a tree keep the
lines that were read (`Tokens.source`). Where the tree is written, only what it says differently changes in
them: so comments, multi-word ranges, empty nodes, UPOS beside XPOS, DEPS and MISC go through, byte for byte.
Empty columns become `_`, and so do heads below 0 and heads of ten digits and more. An empty form is an error,
and so is a head that is no number.

Columns are split at tabs here, because the `conllu` package also splits a form at two spaces; that package
decides what is an id or a number wherever a file departs from the plain case. Rows of CoNLL-X, CoNLL-2008 and
CoNLL-2009 are read, too (`d2c.trees.formats.conll`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from conllu.exceptions import ParseException
from conllu.parser import parse_id_value, parse_int_value

from d2c.base.errors import Refuse, stop
from d2c.base.files import AnyPath, open_input
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conll import MISPLACED, layout_of
from d2c.trees.formats.conll2012 import CONLL2012
from d2c.trees.formats.format import (
    AS_IT_IS,
    Attribute,
    Format,
    Malformed,
    Options,
    Reader,
    Writer,
    check_text,
    parse_all,
)

COLUMNS = 10
_ROW, _BETWEEN = (
    COLUMNS + 1,
    "\t\n\t",
)  # cells of a row with the line break that follows it, a cell of its own
_TAGS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
UPOS = frozenset(_TAGS.split())
_LARGEST = 10**9
_HUGE = re.compile("-?[0-9]{10,}")
_BREAKS = str.maketrans("\r\n", "  ")
_BLANK_LINE = re.compile(r"^[ \t]+$", re.MULTILINE)
_ID, _FORM, _LEMMA, _UPOS, _XPOS, _FEATS, _HEAD, _LABEL, _DEPS, _MISC = range(10)
_KEPT = _FORM, _LEMMA, _XPOS, _FEATS, _LABEL
_NO_WORD = re.compile(r"(?:([1-9][0-9]{0,8})-([1-9][0-9]{0,8})|[0-9]{1,9}\.[1-9][0-9]{0,8})(?:\t[^\t\n]+){9}")
_TWO_TAGS = re.compile(r"\n[0-9]++\t[^\t\n]*+\t[^\t\n]*+\t(?!_\t)([^\t\n]++)\t(?!_?\t|\1\t)")
_LONGEST_ID = 40  # characters
_EXPECTED = f"expected {COLUMNS} columns separated by tabs"
_OF_2012 = "this is CoNLL-2012, which has c-trees, not d-trees; `d2c encode` makes d-trees of them"
_FEW_IDS = tuple(map(str, range(1, 1001)))
_CHUNK_SIZE = 1 << 18  # characters

_Block = tuple[str, Callable[[], bool]]


class Chunk(NamedTuple):
    """Some whole sentences of a file; line: the number of the first line of the text.

    xpos: whether UPOS and XPOS are known to hold two tagsets in the file up to the end of the chunk
    """

    line: int
    text: str
    xpos: bool = False


def read_conllu_chunks(path: AnyPath, charset: str | None = None) -> Iterator[Chunk]:
    """Yield chunks of a file, cut between sentences, that can be parsed separately. Raises FormatError."""
    first, xpos = 1, False
    with open_input(path, charset) as stream:
        while lines := stream.readlines(_CHUNK_SIZE):
            while lines[-1].strip() and (line := stream.readline()):
                lines.append(line)
            text = "".join(lines)
            xpos = xpos or has_two_tagsets(text)
            yield Chunk(first, text, xpos)
            first += len(lines)


def has_two_tagsets(text: str) -> bool:
    """Return whether a token of a text has a tag in UPOS and another one in XPOS."""
    return _TWO_TAGS.search("\n" + text) is not None


def parse_conllu(chunk: Chunk, file: str, refuse: Refuse = stop) -> Iterator[DTree]:
    """Yield the labelled d-trees of a chunk, sentences counted from 1.

    Heads need not form a tree; a head `_` is read as -1, outside the sentence. Raises FormatError naming
    file, line and sentence.
    """
    return parse_all(_blocks([chunk]), _dtrees, file, refuse, may_be_empty=True)


def format_conllu(dtree: DTree, comments: Sequence[str] | None = None) -> str:
    """Return a d-tree's comments (or others), its lines and the empty line after them.

    Heads below 0 are written `_`, other heads outside the sentence as they are.
    Raises ValueError for what CoNLL-U cannot express: empty columns, tabs, line breaks, lone surrogates.
    """
    tokens, said = dtree.tokens, dtree.tokens.comments if comments is None else comments
    n = len(tokens.forms)
    nothing = ("_",) * n
    heads = [str(head) if head >= 0 else "_" for head in dtree.heads]
    words = _ids(n), tokens.forms, tokens.lemmas or nothing, tokens.tags, tokens.tags
    columns = *words, tokens.morphs or nothing, heads, dtree.labels or nothing, nothing, nothing
    above, rows = _over_source(tokens.source, columns, said) if tokens.source else ([], [])
    if not rows:
        above, rows = _as_lines(said), [list(row) for row in zip(*columns, strict=True)]
    text = "\n".join(map("\t".join, rows)) + "\n\n"
    lines = len(rows)
    if (
        text.count("\t") != (COLUMNS - 1) * lines
        or text.count("\n") != lines + 1
        or "\t\t" in text
        or "\r" in text
    ):
        raise ValueError("a form or tag is empty or holds a tab or a line break")
    return check_text("".join([*above, text]))


def _over_source(
    source: str, columns: Sequence[Sequence[str]], comments: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    """Return the lines of comments and the rows that were read, with the columns that have changed since; two
    empty lists where the number of words has changed."""
    begin, rows = _comments_end(source), _rows(source)
    words = [row for row in rows if row[_ID].isdecimal()]
    if len(words) != len(columns[_ID]):
        return [], []
    read = [*zip(*words, strict=True)]
    upos, xpos, tags = read[_UPOS], read[_XPOS], tuple(columns[_XPOS])
    changed = {place: columns[place] for place in (_FORM, _LEMMA, _FEATS, _HEAD, _LABEL)}
    if tags != xpos and (tags != upos or xpos.count("_") < len(xpos)):
        changed[_XPOS] = tags
        changed[_UPOS] = [tag if u == x else u for u, x, tag in zip(upos, xpos, tags, strict=True)]
    for place, column in changed.items():
        if tuple(column) != read[place]:
            for row, cell in zip(words, column, strict=True):
                row[place] = cell
    return _as_lines(comments, source[:begin]), rows


def _as_lines(comments: Iterable[str], read: str = "") -> list[str]:
    """Return the lines of comments; a line that was read stays as it is where it says the same."""
    if read and _comments(read) == tuple(comments):
        return [read]
    lines = {line[1:].strip(): f"{line}\n" for line in read.split("\n") if line}
    return [lines.get(comment) or f"# {comment.translate(_BREAKS)}\n" for comment in comments]


def in_source(tokens: Tokens) -> dict[Attribute, int]:
    """Count what the lines that tokens were read from say besides comments and the columns of tokens."""
    if not tokens.source:
        return {}
    rows = _rows(tokens.source)
    words = [row for row in rows if row[_ID].isdecimal()]
    tagged = [({row[_UPOS], row[_XPOS]}, tag) for row, tag in zip(words, tokens.tags, strict=False)]
    return {
        "universal tags": sum(not tags <= {tag, "_"} for tags, tag in tagged),
        "dependencies": sum(row[_HEAD] != "_" for row in words),
        "enhanced dependencies": sum(row[_DEPS] != "_" for row in rows),
        "multi-word ranges": sum("-" in row[_ID] for row in rows),
        "empty nodes": sum("." in row[_ID] for row in rows),
        "MISC": sum(row[_MISC] != "_" for row in rows),
    }


def tag_columns(tokens: Tokens) -> dict[str, list[str]]:
    """Return UPOS and XPOS [n] in the lines that tokens were read from; without lines, the tags for both."""
    words = [row for row in _rows(tokens.source) if row[_ID].isdecimal()] if tokens.source else []
    columns = {"UPOS": [row[_UPOS] for row in words], "XPOS": [row[_XPOS] for row in words]}
    return columns if words else dict.fromkeys(columns, [*tokens.tags])


def comments_in(source: str) -> tuple[str, ...]:
    """Return the comments in the lines of a sentence, a `source` of tokens."""
    return _comments(source[: _comments_end(source)])


def tree_in(source: str) -> DTree | None:
    """Return the d-tree in the lines of a sentence, a `source` of tokens; None where there are none."""
    return next(iter(_dtrees((source, lambda: False))), None)


def _rows(source: str) -> list[list[str]]:
    return [line.split("\t") for line in source[_comments_end(source) :].split("\n")]


def _ids(n: int) -> tuple[str, ...]:
    return _FEW_IDS[:n] if n <= len(_FEW_IDS) else tuple(map(str, range(1, n + 1)))


def _blocks(chunks: Iterable[Chunk], options: Options = AS_IT_IS) -> Iterator[tuple[int, _Block]]:
    """Yield the text between empty lines, with a function that tells whether UPOS and XPOS of the file hold
    two tagsets, up to the end of the chunk.

    Comments between empty lines are those of the sentence that follows; where none follows they are counted.
    """
    held = ""  # such comments, with the empty lines after them
    for number, text, known in chunks:
        held = held and held.rstrip("\n") + "\n\n"
        two_tagsets = cache(lambda text=text, known=known: known or has_two_tagsets(text))
        for block in _BLANK_LINE.sub("", text).split("\n\n"):
            lines = block.count("\n") + 2
            if block.startswith("#", block.rfind("\n", 0, -1) + 1) and _comments_end(block) == len(block):
                held += f"{block}\n\n"
                if len(held) > _CHUNK_SIZE:  # no sentence has so many
                    options.left_out["comments"] += len(_comments(held))
                    held = ""
            elif not held:
                yield number, (block, two_tagsets)
            elif block.strip("\n"):
                yield number - held.count("\n"), (held + block, two_tagsets)
                held = ""
            else:
                held += f"{block}\n\n"
            number += lines
    options.left_out["comments"] += len(_comments(held))


def _comments_end(text: str) -> int:
    """Return where the first row begins, after lines of comments and empty ones."""
    begin = 0
    while text.startswith(("#", "\n"), begin):
        begin = text.find("\n", begin) + 1 or len(text)
    return begin


def _comments(text: str) -> tuple[str, ...]:
    return tuple([line[1:].strip() for line in text.split("\n") if line]) if text else ()


def _dtrees(block: _Block, options: Options = AS_IT_IS) -> tuple[DTree, ...]:
    """Return the sentence of a block, if it holds one. Raises Malformed."""
    text, two_tagsets = block
    source = text.strip("\n")
    begin = _comments_end(source)
    if begin == len(source):
        return ()
    comments, rows = _comments(source[:begin]), source[begin:]
    try:
        return (_sentence(rows, two_tagsets, comments, source),)
    except ValueError:
        line = text.count("\n", 0, _comments_end(text))
    if layout := layout_of(rows):
        rows = layout.as_conllu(rows, line, options)
        source = source[:begin] + rows
    try:
        return (_sentence(_words_of(rows), two_tagsets, comments, source),)
    except ValueError:
        pass
    return (_irregular_sentence(rows, line, two_tagsets, comments, source[:begin]),)


def _sentence(rows: str, two_tagsets: Callable[[], bool], comments: tuple[str, ...], source: str) -> DTree:
    """Return a sentence of plain rows. Raises ValueError for any other.

    All rows are cut at once; between two of them is one cell more, a line break.
    """
    cells = rows.replace("\n", _BETWEEN).split("\t")
    n = (len(cells) + 1) // _ROW
    if len(cells) != _ROW * n - 1 or cells[COLUMNS::_ROW].count("\n") != n - 1:
        raise ValueError("other columns")
    forms, lemmas, xpos, feats, labels = [tuple(cells[k::_ROW]) for k in _KEPT]
    heads = cells[_HEAD::_ROW]
    digits = "".join(heads)
    if tuple(cells[::_ROW]) != _ids(n) or "" in cells or not (digits.isdecimal() and digits.isascii()):
        raise ValueError("an empty column, other ids, or heads that are no numbers")
    numbers = tuple(map(int, heads))
    if max(numbers) > _LARGEST:
        raise ValueError("a head far outside the sentence")
    return DTree(
        Tokens(
            forms,
            xpos if xpos.count("_") < n or two_tagsets() else tuple(cells[_UPOS::_ROW]),
            None if lemmas.count("_") == n else lemmas,
            None if feats.count("_") == n else feats,
            comments,
            source,
        ),
        numbers,
        labels=labels,
    )


def _words_of(rows: str) -> str:
    """Return rows without those of multi-word ranges and empty nodes, where nothing is wrong with these."""
    found = ((row, _NO_WORD.fullmatch(row)) for row in rows.split("\n"))
    words = [row for row, other in found if not other or (other[1] and int(other[1]) > int(other[2]))]
    return "\n".join(words)


def _irregular_sentence(
    text: str, begin: int, two_tagsets: Callable[[], bool], comments: tuple[str, ...], above: str
) -> DTree:
    """Return a sentence that may have unknown heads, empty columns, multi-word ranges or empty nodes. Raises
    Malformed. begin: the line of the first row, from 0 in its block; above: the lines of comments"""
    rows: list[list[str]] = []
    source: list[str] = []
    for number, line in enumerate(text.split("\n"), begin):
        if not line.strip():
            continue
        row = line.split("\t")
        try:
            if line.startswith("#"):
                raise ParseException(MISPLACED)
            if len(row) != COLUMNS:
                raise ParseException(
                    _OF_2012 if CONLL2012.looks_so(line) else f"{_EXPECTED}, found {len(row)}"
                )
            if len(row[_ID]) > _LONGEST_ID:
                raise ParseException(f"'{row[_ID][:20]}...' is not a valid ID.")
            identifier = parse_id_value(row[_ID])
            is_word = not isinstance(identifier, tuple)  # no multi-word range or empty node
            if is_word and identifier != len(rows) + 1:
                raise ParseException(f"expected the id {len(rows) + 1}, found {row[_ID]!r}")
            if is_word and not row[_FORM]:
                raise ParseException("the form is empty")
            head = _head(row[_HEAD]) if is_word else None
        except ParseException as error:
            raise Malformed(str(error), number) from None
        row = [cell or "_" for cell in row]
        source.append("\t".join(row))
        if is_word:
            # Any head outside the sentence is repaired later on, like this one.
            row[_HEAD] = "-1" if head is None or head < 0 else str(head)
            rows.append(row)
    if not rows:
        raise Malformed("a sentence without tokens", begin)
    heads = tuple([int(row[_HEAD]) for row in rows])
    plain = "\n".join(["\t".join([*row[:_HEAD], "0", *row[_LABEL:]]) for row in rows])
    dtree = _sentence(plain, two_tagsets, comments, above + "\n".join(source))
    return replace(dtree, heads=heads)


def _head(cell: str) -> int | None:
    """Return the head that a cell says, None for none. Raises ParseException for what is no number."""
    try:
        return -1 if _HUGE.fullmatch(cell) else parse_int_value(cell)
    except ParseException:
        raise ParseException(f"the head {cell!r} is no number") from None


read_conllu = Reader(
    lambda path, options: _blocks(read_conllu_chunks(path, options.charset), options), _dtrees
)
write_conllu = Writer[DTree](lambda dtree, _: format_conllu(dtree))
save_conllu = write_conllu.save
CONLLU = Format("conllu", (".conllu", ".conll"), read_conllu, write_conllu)
