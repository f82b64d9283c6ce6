"""Trees that stand as strings of brackets in other files, beside their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from d2c.base.counting import many
from d2c.trees.cleaning import unescape
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats.brackets import bracket_trees, escape
from d2c.trees.formats.format import Malformed


def tree_over(text: str, words: Sequence[str] = (), tags: Sequence[str] = ()) -> CTree:
    """Return the one tree of a string. Raises ValueError.

    words: as they stand beside the string, or none; they replace those in the string, in which some parsers
           do not escape brackets
    tags:  of the words, or none
    """
    text = text.replace("\n", " ")  # its lines are not those of the file
    try:
        ctrees = list(bracket_trees(text))
    except Malformed:
        if not words:
            raise
        ctrees = list(bracket_trees(_escaped(text, words, tags)))
    if len(ctrees) != 1:
        raise ValueError(f"expected one tree, found {len(ctrees)}")
    tree = ctrees[0]
    if not words:
        return tree
    if "" in words:
        raise ValueError(f"word {words.index('') + 1} beside the tree is empty")
    if len(tree.tokens) != len(words):
        raise ValueError(f"the tree has {many(len(tree.tokens), 'word')}, beside it are {len(words)}")
    return replace(tree, tokens=Tokens(tuple(map(unescape, words)), tree.tokens.tags))


def _escaped(text: str, words: Sequence[str], tags: Sequence[str]) -> str:
    """Return the string of a tree, on one line, with brackets and blanks in its words escaped. Linear
    time."""
    parts, begin = list[str](), 0
    for i, word in enumerate(words):
        if (safe := escape(word)) != word:
            before = f"({tags[i]} " if i < len(tags) else " "
            found = text.find(f"{before}{word})".replace("\n", " "), begin)
            if found < 0:
                break
            found += len(before)
            parts += [text[begin:found], safe]
            begin = found + len(word)
    return "".join([*parts, text[begin:]])
