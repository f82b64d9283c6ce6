"""Removing tokens or a wrapper from a tree, undoing escapes in words, and recognizing punctuation.

`conventions.py` knows which tokens are empty and what labels mean. Each function takes linear time.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, compress
from typing import Any

from d2c.base.counting import many
from d2c.trees.ctree import CTree, Tokens, trusted_ctree, trusted_tokens

WRAPPERS = ("", "TOP", "ROOT", "S1", "VROOT")
_BASIC = re.compile(r"(?:([-=|#^~_[]).*?\1|.)[^-=|#^~_[]*", re.DOTALL)


def take_wrapper(labels: list[str], children: list[Any], clean: bool) -> str | None:
    """Take a wrapper with one child from the end of lists of nodes, and return its label, None for none.

    If its child has no label, the child is a second wrapper, as in `(ROOT ( (S ...)))`; if this has several
    children, it stays as a node with the first wrapper's label, ROOT.

    clean: call a wrapper without a label TOP, even if it has several children and stays as a node
    """
    if not labels or labels[-1] not in WRAPPERS:
        return None
    labels[-1] = "TOP" if clean and not labels[-1] else labels[-1]
    while len(children[-1]) == 1:
        children.pop()
        top = labels.pop()
        if not labels or labels[-1]:
            return top
        labels[-1] = top
    return None


def unwrap(ctree: CTree, clean: bool) -> CTree:
    """Return the tree with its wrapper moved from the nodes to `top`; see `take_wrapper`."""
    if not ctree.labels or ctree.labels[-1] not in WRAPPERS:
        return ctree
    labels, children = list(ctree.labels), list(ctree.children)
    top, heads = take_wrapper(labels, children, clean), ctree.head_children
    end = len(ctree.tokens) + len(labels)
    functions = ctree.functions and ctree.functions[:end]
    secondary = tuple([edge for edge in ctree.secondary if max(edge[0], edge[2]) < end])
    return trusted_ctree(
        ctree.tokens,
        tuple(labels),
        tuple(children),
        heads and heads[: len(labels)],
        ctree.top if top is None else top,
        (functions, secondary),
    )


def check_names(ctree: CTree) -> None:
    """Raise ValueError for no words, an empty word, tag or symbol, or a wrapper that is not in WRAPPERS.

    A root without a wrapper may lack its symbol: `( (S ...) (. .))`.
    """
    tokens, named = ctree.tokens, ctree.labels if ctree.top is not None else ctree.labels[:-1]
    if not tokens.forms:
        raise ValueError("a tree without words cannot be written")
    for what, column in (("word", tokens.forms), ("tag", tokens.tags)):
        if "" in column:
            raise ValueError(f"token {column.index('') + 1} has an empty {what}, which no format holds")
    if "" in named:
        raise ValueError("a node has an empty label, which no format holds")
    if ctree.top is not None and ctree.top not in WRAPPERS:
        raise ValueError(f"the wrapper {ctree.top!r} is none of {', '.join(filter(None, WRAPPERS))}")


def basic_label(label: str) -> str:
    """Return a label up to the first mark in it, as Tregex's `@` does: NP of NP-SBJ-1; -LRB- is whole."""
    match = _BASIC.match(label)
    return match[0] if match else label


def without_tokens(ctree: CTree, gone: set[int]) -> CTree | None:
    """Remove the tokens in `gone`, and the nodes over nothing else, which are added to `gone`; return None
    where no token is left. If a node's head child is removed, the leftmost remaining child becomes its head
    child. Functions and secondary edges are dropped."""
    n, heads = len(ctree.tokens), ctree.head_children
    if len(gone) == n:
        return None
    rows: list[Sequence[int]] = []
    for node, kids in enumerate(ctree.children, n):
        if gone.isdisjoint(kids):
            rows.append(kids)
        elif left := [kid for kid in kids if kid not in gone]:
            rows.append(left)
        else:
            gone.add(node)
    stays = [True] * (n + len(ctree.labels))
    for node in gone:
        stays[node] = False
    new_id = [*accumulate(stays, initial=0)]
    children = tuple([tuple(map(new_id.__getitem__, kids)) for kids in rows])
    new_heads = None
    if heads is not None:
        kept = zip(compress(heads, stays[n:]), children, strict=True)
        new_heads = tuple([new_id[head] if stays[head] else kids[0] for head, kids in kept])
    labels = tuple(compress(ctree.labels, stays[n:]))
    return trusted_ctree(choose_tokens(ctree.tokens, stays), labels, children, new_heads, ctree.top)


def choose_tokens(tokens: Tokens, stays: Sequence[bool]) -> Tokens:
    """Return the tokens that stay, with lemmas, morphology and comments; stays: [n] whether each does."""
    forms, tags = tuple(compress(tokens.forms, stays)), tuple(compress(tokens.tags, stays))
    chosen = trusted_tokens(forms, tags)
    if tokens.lemmas is None and tokens.morphs is None and not tokens.comments:
        return chosen
    lemmas, morphs = [column and tuple(compress(column, stays)) for column in (tokens.lemmas, tokens.morphs)]
    return replace(chosen, lemmas=lemmas, morphs=morphs, comments=tokens.comments)


def unescape(word: str) -> str:
    """Put back the round brackets for which -LRB- and -RRB- stand."""
    return word.replace("-LRB-", "(").replace("-RRB-", ")")


@lru_cache(maxsize=1 << 12)
def unescape_label(label: str) -> str:
    """Put back the round brackets in a label or tag, as in `$(`, unless it is -LRB- or -RRB- itself."""
    return label if label in ("-LRB-", "-RRB-") else unescape(label)


@lru_cache(maxsize=1 << 16)
def is_punctuation(form: str) -> bool:
    """Return whether all characters of a form are punctuation (Unicode's category P)."""
    return all(unicodedata.category(character).startswith("P") for character in form)


@lru_cache(maxsize=1 << 16)
def punctuates(form: str) -> bool:
    """Return whether a form is punctuation only, or a quotation mark as treebanks write them: ``, ´´."""
    return is_punctuation(form) or not form.strip("`´")


def plain(form: str) -> str:
    """Return a word with its brackets unescaped, and without no-break spaces at its ends."""
    return unescape(form).strip("\N{NO-BREAK SPACE}")


class Spelling:
    """Tells words that are only spelled differently from different words, and counts the former."""

    def __init__(self) -> None:
        self.words = 0

    def same(self, forms: Sequence[str], expected: Sequence[str]) -> bool:
        """Return whether two sentences have the same words up to spelling; count those that differ in it."""
        if forms == expected:
            return True
        if list(map(plain, forms)) != list(map(plain, expected)):
            return False
        self.words += sum(a != b for a, b in zip(forms, expected, strict=True))
        return True

    def __str__(self) -> str:
        return f"{many(self.words, 'word')} written otherwise, as -LRB- for ( or without a no-break space"
