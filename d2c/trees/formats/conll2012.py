"""CoNLL-2012 and OntoNotes (`*_conll`): a word on a line, its part of the tree among columns between blanks.

    #begin document (bc/own/00/own_0000); part 000
    bc/own/00/own_0000  0  0  They   PRP  (TOP(S(NP*)  -      -   -  Ann  *  (ARG0*)  (3)
    bc/own/00/own_0000  0  1  slept  VBD  (VP*)))      sleep  01  -  Ann  *  (V*)     -

With tags and words in place of the stars this is `(TOP (S (NP (PRP They)) (VP (VBD slept))))`. The lemma is
the seventh column. Lines that begin with # are comments of the next sentence: the document as `newdoc id`, as
CoNLL-U has it, and the part. If a sentence has one speaker, that becomes a comment, too. Senses, named
entities, arguments and coreference are left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from d2c.base.files import AnyPath, open_input
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import escape
from d2c.trees.formats.format import CFormat, Malformed, Options, item_reader
from d2c.trees.formats.treestrings import tree_over

_CELL = re.compile(r"[^ \t\r\n]+")
_DOCUMENT = re.compile(r"#begin document \(?([^ \t();]+)\)?;?(?:[ \t]+part[ \t]+([0-9]+))?")
_END = "#end document"
_WORD, _TAG, _PART, _LEMMA, _SPEAKER, _ENTITY = 3, 4, 5, 6, 9, 10
_FEWEST = 6  # columns
_MISSING = "[WORD]"  # stands for each word where the words may not be distributed
_ROW = re.compile(
    r"^[^ \t\n#]+[ \t]+[0-9]+[ \t]+[0-9]+[ \t]+[^ \t\n]+[ \t]+[^ \t\n]+[ \t]+\([^ \t\n()*]+[^ \t\n)*]*\*",
    re.MULTILINE,
)
_OF_DTREES = "; CoNLL-U, CoNLL-X, CoNLL-2008 and CoNLL-2009 have d-trees, of which `d2c decode` makes c-trees"
_NOTHING = ("-", "_")
_BIT = re.compile(r"((?:\([^()*]+)*)\*(\)*)")
_Block = tuple[tuple[str, ...], list[str]]  # comments and rows


def _items(path: AnyPath, options: Options) -> Iterator[tuple[int, _Block]]:
    """Yield the comments and rows of each sentence, after the number of its first row's line."""
    comments: list[str] = []
    rows: list[str] = []
    number = 0
    with open_input(path, options.charset) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip() and not line.startswith("#"):
                rows.append(line)
                continue
            if rows:
                yield number - len(rows), (tuple(comments), rows)
                comments, rows = [], []
            comments += _comments(line)
    if rows:
        yield number + 1 - len(rows), (tuple(comments), rows)
    else:
        options.left_out["comments"] += len(comments)


def _comments(line: str) -> list[str]:
    """Return the comments that a line makes for the sentence below it; none of a line without #."""
    if document := _DOCUMENT.match(line):
        part = [f"part = {document[2]}"] if document[2] else []
        return [f"newdoc id = {document[1]}", *part]
    return [line[1:].strip()] if line.startswith("#") and not line.startswith(_END) else []


def _tree(block: _Block, options: Options) -> CTree:
    comments, lines = block
    rows: list[list[str]] = list(map(_CELL.findall, lines))
    text: list[str] = []
    for number, row in enumerate(rows):
        if len(row) < _FEWEST:
            raise Malformed(f"expected {_FEWEST} columns or more between blanks, found {len(row)}", number)
        if row[_WORD] == _MISSING:
            raise Malformed(f"the word is missing ({_MISSING}); skeleton2conll puts the words in", number)
        bit = _BIT.fullmatch(row[_PART])
        if not bit:
            other = _OF_DTREES if rows[0][0] == "1" else ""
            raise Malformed(f"{row[_PART][:40]!r} is no part of a tree, such as (NP*){other}", number)
        text.append(f"{bit[1].replace('(', ' (')} ({escape(row[_TAG])} {escape(row[_WORD])}){bit[2]}")
    tree = tree_over("".join(text))
    speakers = _said(rows, _SPEAKER)
    if len(set(speakers)) == 1:
        comments = (*comments, f"speaker = {speakers[0]}")
    _count(rows, options)
    options.left_out["speakers"] += len(speakers) if len(set(speakers)) > 1 else 0
    lemmas = tuple([row[_LEMMA] if len(row) > _LEMMA and row[_LEMMA] != "-" else "_" for row in rows])
    known = lemmas if set(lemmas) != {"_"} else None
    return replace(tree, tokens=replace(tree.tokens, lemmas=known, comments=comments))


def _said(rows: list[list[str]], place: int) -> list[str]:
    return [row[place] for row in rows if len(row) > place and row[place] not in _NOTHING]


def _count(rows: list[list[str]], options: Options) -> None:
    """Count what trees do not keep."""
    left_out = options.left_out
    for place, name in ((7, "frames of predicates"), (8, "word senses")):
        left_out[name] += len(_said(rows, place))
    for row in rows:
        left_out["named entities"] += row[_ENTITY].count("(") if len(row) > _ENTITY else 0
        left_out["arguments of predicates"] += "".join(row[_ENTITY + 1 : -1]).count("(")
        left_out["mentions"] += row[-1].count("(") if len(row) > _ENTITY + 1 else 0


CONLL2012 = CFormat(
    "conll2012",
    ("_conll", ".conll12"),
    item_reader(_items, _tree),
    holds=("lemmas", "comments"),
    named_as="conllu",
    looks_so=lambda start: _ROW.search(start) is not None,
)
