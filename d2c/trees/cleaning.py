"""Trees without what treebanks add: wrappers, empty elements, function tags; words without what programs add;
what is punctuation. What a label says, by the conventions of treebanks, is said here alone.

Each function takes linear time.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from d2c.base.counting import many
from d2c.trees.ctree import CTree, Tokens

WRAPPERS = ("", "TOP", "ROOT", "S1", "VROOT")
EMPTY_TAG = "-NONE-"
_EMPTY_FORM = re.compile(r"\*(?:T|U|PRO|ICH|RNR|EXP|PPA|\?)\*(?:-\d+)?|\*-\d+")  # as in (NP *PRO*-1)

_FUNCTION = re.compile(r"(?<=.)[-=|].*", re.DOTALL)
_TAG = re.compile(r"-([^-=|]*[^-=|\d][^-=|]*)")  # no index
_PARTS = re.compile(r"-?=[^-=]*|-[^-=]*|[^-=]+")
_INDEX = re.compile(r"-?=[0-9A-Z]+|-(?:[0-9]+|NaN)")
_BASIC = re.compile(r"(?:([-=|#^~_[]).*?\1|.)[^-=|#^~_[]*", re.DOTALL)


def take_wrapper(labels: list[str], children: list[Any], clean: bool) -> str | None:
    """Take a wrapper with one child from the end of lists of nodes, and return its label, None for none.

    clean: a wrapper without a label is called TOP, also one with several children, which stays a node
    """
    if not labels or labels[-1] not in WRAPPERS:
        return None
    labels[-1] = "TOP" if clean and not labels[-1] else labels[-1]
    if len(children[-1]) > 1:
        return None
    children.pop()
    return labels.pop()


def unwrap(ctree: CTree, clean: bool) -> CTree:
    """Return the tree with its wrapper moved from the nodes to `top`; see `take_wrapper`."""
    labels, children = list(ctree.labels), list(ctree.children)
    top = take_wrapper(labels, children, clean)
    heads = None if ctree.head_children is None else ctree.head_children[: len(labels)]
    return CTree(ctree.tokens, tuple(labels), tuple(children), heads, ctree.top if top is None else top)


def strip_function(label: str) -> str:
    """Cut function tags, co-indices and second labels off a phrase label: NP-SBJ-1, NP=2, ADVP|PRT."""
    return _FUNCTION.sub("", label)


def functions_of(label: str) -> tuple[str, ...]:
    """Return the function tags of a phrase label, each once: LOC and PRD of PP-LOC-PRD-1."""
    suffix = _FUNCTION.search(label.partition("|")[0])
    return tuple(dict.fromkeys(_TAG.findall(suffix[0]))) if suffix else ()


@lru_cache(maxsize=1 << 12)
def without_indices(label: str) -> str:
    """Return a label of the Penn historical treebanks without the indices at its end, but with its dash tags;
    an index that is all of it stays."""
    fields = _PARTS.findall(label)
    while len(fields) > 1 and _INDEX.fullmatch(fields[-1]):
        fields.pop()
    return "".join(fields)


def basic_label(label: str) -> str:
    """Return a label up to the first mark in it, as Tregex's `@` does: NP of NP-SBJ-1; -LRB- is whole."""
    match = _BASIC.match(label)
    return match[0] if match else label


def empty_elements(forms: Sequence[str], tags: Sequence[str]) -> list[bool]:
    """Return which tokens are empty elements: by their tags or, where a treebank forgot one, their forms."""
    return [
        tag == EMPTY_TAG or (form[:1] == "*" and _EMPTY_FORM.fullmatch(form) is not None)
        for form, tag in zip(forms, tags, strict=True)
    ]


def remove_empty(ctree: CTree) -> CTree | None:
    """Remove empty elements and the nodes over nothing else; None where no word is left."""
    empty = empty_elements(ctree.tokens.forms, ctree.tokens.tags)
    return keep_tokens(ctree, [i for i, one in enumerate(empty) if not one])


def keep_tokens(ctree: CTree, indices: Sequence[int]) -> CTree | None:
    """Keep some of the tokens (indices, ascending) and the nodes above them, without head children; None for
    no tokens."""
    tokens = ctree.tokens
    if not indices:
        return None
    new_id = [-1] * (len(tokens) + len(ctree.labels))
    for new, old in enumerate(indices):
        new_id[old] = new
    labels: list[str] = []
    children: list[tuple[int, ...]] = []
    for node, kids in enumerate(ctree.children, len(tokens)):
        new_kids = tuple([new_id[kid] for kid in kids if new_id[kid] >= 0])
        if new_kids:
            new_id[node] = len(indices) + len(labels)
            labels.append(ctree.labels[node - len(tokens)])
            children.append(new_kids)
    words = Tokens(tuple([tokens.forms[i] for i in indices]), tuple([tokens.tags[i] for i in indices]))
    return CTree(words, tuple(labels), tuple(children), None, ctree.top)


def unescape(word: str) -> str:
    """Put round brackets back for which -LRB- and -RRB- stand."""
    return word.replace("-LRB-", "(").replace("-RRB-", ")")


@lru_cache(maxsize=1 << 16)
def is_punctuation(form: str) -> bool:
    """Return whether a form is punctuation only."""
    return all(unicodedata.category(character).startswith("P") for character in form)


def punctuates(form: str) -> bool:
    """Return whether a form is punctuation only, or a quotation mark as treebanks write them: ``, ´´."""
    return is_punctuation(form) or not form.strip("`´")


def plain(form: str) -> str:
    """Return what all spellings of a word share."""
    return unescape(form).strip("\N{NO-BREAK SPACE}")


class Spelling:
    """Tells words that are only written otherwise from other words, and counts them."""

    def __init__(self) -> None:
        self.words = 0

    def same(self, forms: Sequence[str], expected: Sequence[str]) -> bool:
        """Return whether the words of two sentences are the same."""
        if forms == expected:
            return True
        if list(map(plain, forms)) != list(map(plain, expected)):
            return False
        self.words += sum(a != b for a, b in zip(forms, expected, strict=True))
        return True

    def __str__(self) -> str:
        return f"{many(self.words, 'word')} written otherwise, as -LRB- for ( or without a no-break space"
