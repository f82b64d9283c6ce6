"""Words in other letters than those of a treebank, read as if in these: capitals, and typography.

Models learn from few sentences in capitals; in capitals they do not recognize words that they know in small
letters. Two words in capitals may be abbreviations, as in `(620 KB EPS)`; more are not likely to be. For
quotation marks, treebanks of the Penn Treebank's kind have `` and '', and no typographic ones. -LRB- is how
their files escape a bracket, and how words that were cut elsewhere often have it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TypeVar

from d2c.trees.cleaning import unescape
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree

Tree = TypeVar("Tree", CTree, DTree)
Forms = tuple[str, ...]

_FEWEST = 3  # words in capitals
_OPEN, _CLOSED = QUOTES = ("``", "''")  # what `"` becomes
# Quotation marks that open, and that close, where nothing beside them says otherwise, as in „Wort“ and »Wort«
OPENING, CLOSING = "“„‟«‹「『", "”»›」』"
# What typographic marks become, and the marks of Chinese and Japanese; ’ is an apostrophe everywhere
FULL_WIDTH = {chr(0xFF01 + i): chr(0x21 + i) for i in range(94) if not chr(0x21 + i).isalnum()}
FULL_WIDTH |= {"、": ",", "。": ".", "｡": "."}
TYPOGRAPHIC = dict.fromkeys(OPENING, _OPEN) | dict.fromkeys(CLOSING, _CLOSED)
TYPOGRAPHIC |= {"‘": "`", "‚": "`", "…": "..."}
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
MONEY = dict.fromkeys("£€¥₹", "$")  # the only one that treebanks have often
_READ = TYPOGRAPHIC | FULL_WIDTH | _BRACKETS | MONEY
_MARKS = re.compile(f'["’{"".join(map(re.escape, TYPOGRAPHIC | FULL_WIDTH | MONEY))}]')


def as_in_treebanks(forms: Forms) -> Forms:
    """Return the words as models of English have learned them: as `small` does, with the treebanks' marks.

    The first, third, ... `"` opens, unless it is the last word; “ closes what „ has opened.
    """
    joined = "".join(forms)
    if "B-" not in joined and not _MARKS.search(joined):
        return small(forms)
    words, inside, low = list[str](), False, False
    for number, form in enumerate(forms, 1):
        if form == '"':
            inside = not inside and number < len(forms)
            words.append(_OPEN if inside else _CLOSED)
        elif form == "“" and low:
            words.append(_CLOSED)
            low = False
        else:
            low = low or form == "„"
            words.append(_READ.get(form, form).replace("’", "'"))
    return small(tuple(words))


def small(forms: Forms) -> Forms:
    """Return the words of a sentence in small letters if it has no small letter, and at least three words in
    capitals; otherwise as they are."""
    if "".join(forms).isupper() and sum(map(str.isupper, forms)) >= _FEWEST:
        return tuple(map(str.lower, forms))
    return forms


def as_learned(forms: Forms, small_letters: bool) -> Forms:
    """Return the words as a model reads them: by `as_in_treebanks`, if it has `small_letters`; otherwise only
    with round brackets for -LRB- and -RRB-, as treebanks are read."""
    if small_letters:
        return as_in_treebanks(forms)
    return tuple(map(unescape, forms)) if "RB-" in "".join(forms) else forms


def as_read(tree: Tree, small_letters: bool) -> Tree:
    """Return the tree with its words as a model reads them."""
    return spelled(tree, as_learned(tree.tokens.forms, small_letters))


def spelled(tree: Tree, forms: Forms) -> Tree:
    """Return the tree with its words in these letters."""
    if tree.tokens.forms == forms:
        return tree
    return replace(tree, tokens=replace(tree.tokens, forms=forms))
