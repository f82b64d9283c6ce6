"""Sentences in capitals, read as if in small letters.

Models learn from few of them, and words that they know in small letters are unknown to them in capitals. Two
words in capitals may be abbreviations, as in `(620 KB EPS)`, more are not likely to be.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree

Tree = TypeVar("Tree", CTree, DTree)
Forms = tuple[str, ...]

_FEWEST = 3  # words in capitals


def small(forms: Forms) -> Forms:
    """Return the words of a sentence in small letters, if it has no small letter, and three words or more in
    capitals; otherwise as they are."""
    if "".join(forms).isupper() and sum(map(str.isupper, forms)) >= _FEWEST:
        return tuple(map(str.lower, forms))
    return forms


def spelled(tree: Tree, forms: Forms) -> Tree:
    """Return the tree with its words in these letters."""
    if tree.tokens.forms == forms:
        return tree
    return replace(tree, tokens=replace(tree.tokens, forms=forms))
