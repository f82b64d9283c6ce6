"""disco-dop's discbracket, trees with gaps in brackets: `(S (VP (VB 0=is) (JJ 2=rich)) (NP (NN 1=Mary)))`.

A leaf is the token's index from 0, `=` and the word. All else is as in `d2c.trees.formats.brackets`, escapes
included: a tag `$(` is read back, a tag -LRB- stays as it is.
"""

from __future__ import annotations

import re

from d2c.trees.cleaning import check_names
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.formats.brackets import bracket_items, bracket_trees, escape
from d2c.trees.formats.format import (
    CFormat,
    Malformed,
    Reader,
    Writer,
    check_text,
    whole_number,
)

NO_TAG = "_"  # of a leaf that shares its node with others

# A bracket with its label and, if the leaf is alone in the node, the leaf; or a leaf beside others
_NODE_OR_LEAF = re.compile(
    r"(\([ \t\r\n]*+[^ \t\r\n()]*+(?:[ \t\r\n]++[^ \t\r\n()]++[ \t\r\n]*+\))?+)|([^ \t\r\n()]++)"
)
_LAST_WORD = re.compile(r"[ \t\r\n]([^ \t\r\n()]+)[ \t\r\n]*\)")  # of its node
_LEAF = re.compile(r"([0-9]+)=(.*)", re.DOTALL)


def format_discbracket(ctree: CTree) -> str:
    """Return a tree on one line. Raises ValueError for empty names and lone surrogates."""
    check_names(ctree)
    n, forms = len(ctree.tokens), ctree.tokens.forms
    texts: list[str] = []
    stack: list[int | None] = [ctree.root]  # None: a node ends
    while stack:
        node = stack.pop()
        if node is None:
            texts.append(")")
        elif node < n:
            texts.append(f" ({escape(ctree.tokens.tags[node])} {node}={escape(forms[node])})")
        else:
            texts.append(f" ({escape(ctree.labels[node - n])}")
            stack.append(None)
            stack += reversed(ctree.children[node - n])
    text = "".join(texts)[1:]
    return check_text(text if ctree.top is None else f"({ctree.top} {text})")


write_discbracket = Writer[CTree](lambda ctree, _: format_discbracket(ctree) + "\n")


def is_discbracket(text: str) -> bool:
    """Return whether brackets are discbracket: each word begins with a number and `=`."""
    words = _LAST_WORD.findall(text)
    return bool(words) and all(map(_LEAF.fullmatch, words))


def parse_discbracket(text: str) -> CTree:
    """Return the one tree of a text. Raises ValueError."""
    ctrees = list(map(by_number, leaf_trees(text)))
    if len(ctrees) != 1:
        raise ValueError(f"expected one tree, found {len(ctrees)}")
    return ctrees[0]


def leaf_trees(text: str) -> list[CTree]:
    """Return the trees of a text with its leaves, such as `2=rich`, as words; leaves that share a node have
    the tag NO_TAG. Raises Malformed."""
    try:
        return list(bracket_trees(text))
    except Malformed:  # perhaps only because leaves share a node
        tagged = _NODE_OR_LEAF.sub(lambda one: one[1] or f"({NO_TAG} {one[2]})", text)
        found = list(bracket_trees(tagged))
        if not all(one.labels for one in found):  # leaves stand outside of brackets
            raise
        return found


def by_number(ctree: CTree) -> CTree:
    """Return a tree with its words in the order of the numbers in them, `2=rich`. Raises ValueError."""
    n, leaves = len(ctree.tokens), list[tuple[int, str, str]]()
    for form, tag in zip(ctree.tokens.forms, ctree.tokens.tags, strict=True):
        number, mark, word = form.partition("=")
        if not mark:
            raise ValueError(f"expected a leaf like 0=word, found {form[:20]!r}")
        if not word:
            raise ValueError(f"the token {number[:20]} has no word")
        leaves.append((whole_number(number), word, tag))
    for place, (given, _, _) in enumerate(by_place := sorted(leaves)):
        if given != place:
            raise ValueError(
                f"the token {min(given, place)} {'is missing' if given > place else 'comes twice'}"
            )
    _, forms, tags = zip(*by_place, strict=True)
    children = [[leaves[kid][0] if kid < n else kid for kid in kids] for kids in ctree.children]
    return build_ctree(Tokens(forms, tags), ctree.labels, children, ctree.root, None, ctree.top)


read_discbracket = Reader(bracket_items, lambda text, _: map(by_number, leaf_trees(text)))
DISCBRACKET = CFormat(
    "discbracket",
    (".discbracket", ".dbr"),
    read_discbracket,
    write_discbracket,
    holds=("gaps", "traces", "indices"),
    named_as="brackets",
    looks_so=is_discbracket,
)
