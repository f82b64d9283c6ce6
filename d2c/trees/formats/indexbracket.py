"""Brackets over the numbers of words, and after a tab the words: treetools' discobrackets, once disco-dop's,
too; read only.

    (S (VP (VB 0) (JJ 2)) (NP 1))<tab>is Mary rich

A line is a tree. Words are numbered from 0 or from 1, as the numbers of each tree show: treetools 1.0.2
writes one and reads the other. Leaves may share a node, `(NP 1 2)`, and have no tags then. Labels and
words are as in discbracket, but words may hold brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from d2c.base.counting import many
from d2c.base.files import AnyPath, open_input
from d2c.trees.cleaning import unescape
from d2c.trees.ctree import CTree
from d2c.trees.formats.discbracket import by_number, leaf_trees
from d2c.trees.formats.format import CFormat, Malformed, Options, Reader, whole_number

_BLANKS = " \t\r\n"
_WORD = re.compile(f"[^{_BLANKS}]+")
_LABEL = r"\([ ]*[^ \t\r\n()]*"
_PARTS = rf"\s*(?=\()(?:{_LABEL}[ ]*|[ ]*[0-9]+[ ]*|\)[ ]*)++"
_LOOKS_SO = re.compile(rf"{_PARTS}(\t[^\t\r\n]|(?:{_LABEL})?$)")  # a long line may go on
_NUMBERED = re.compile(r"[( ][0-9]+[ ]*\)")
_SURE = 1000  # characters that are enough to recognize a tree whose end is cut off


def _items(path: AnyPath, options: Options) -> Iterator[tuple[int, str | Malformed]]:
    """Yield the lines that begin with a bracket, with their numbers."""
    with open_input(path, options.charset) as stream:
        for number, line in enumerate(stream, 1):
            if line.lstrip(_BLANKS).startswith("("):
                yield number, line
            elif line.strip(_BLANKS):
                yield from options.outside(line, number)


def _trees(line: str, _options: Options) -> Iterator[CTree]:
    """Yield the tree of a line. Raises ValueError."""
    text, tab, after = line.lstrip(_BLANKS).partition("\t")
    words = _WORD.findall(after)
    if not tab:
        raise ValueError("expected a tab and the words of the sentence behind the tree")
    found = leaf_trees(text)
    if len(found) != 1:
        raise ValueError(f"expected one tree on a line, found {len(found)}")
    yield by_number(_with_words(found[0], words))


def _with_words(ctree: CTree, words: list[str]) -> CTree:
    """Return a tree over the numbers of words with leaves such as `2=rich` instead. Raises ValueError."""
    numbers = list(map(whole_number, ctree.tokens.forms))
    first = min(numbers)
    if first > 1:
        raise ValueError(f"its words are numbered from {first}, not from 0 or 1")
    if len(numbers) != len(words):
        raise ValueError(f"{many(len(numbers), 'number')} in the tree for {many(len(words), 'word')}")
    for number in numbers:
        if number - first >= len(words):
            raise ValueError(f"there is no word {number} behind the tree")
    forms = tuple([f"{number - first}={unescape(words[number - first])}" for number in numbers])
    return replace(ctree, tokens=replace(ctree.tokens, forms=forms))


def looks_like_index_brackets(start: str) -> bool:
    """Return whether a file begins with a tree over numbers and the words after it."""
    match = _LOOKS_SO.match(start)
    if match is None or not _NUMBERED.search(match[0]):
        return False
    return match[1].startswith("\t") or len(start) > _SURE


read_indexbracket = Reader(_items, _trees)
INDEXBRACKET = CFormat(
    "indexbracket",
    (".indexbracket", ".discobrackets"),
    read_indexbracket,
    holds=("gaps", "traces", "indices"),
    named_as="brackets",
    looks_so=looks_like_index_brackets,
)
