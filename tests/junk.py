"""Junk d-trees, as a d-parser might predict them, and what every c-tree made of one must be."""

from __future__ import annotations

from dataclasses import replace
from operator import contains
from random import Random

from hypothesis import strategies as st

from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.dtree import DTree

TAGS = ("NN", "VB", "DT", ".", "é", "$(", "-NONE-", "%%", "#500")
WORDS = """
    NP#1 NP#2 VP#1 VP#2 S#3 S#0 PP#1 X#1 NP|VP#1 S|VP#2 #1 VP#1 root root|S root|S|VP ROOT nsubj dep nmod:poss
    _ # | || % %#1 S#x S#-1 NP# NP##1 NP#999999 NP#9999999 |#1 root|#1 root|S#1 %ZZ#1 %FF#1 NP#1#2 NP#１
    root||NP acl:relcl#2 NP|NP|NP#1 S||#1 TOP#1 VROOT#1 -NONE-#1 (#1 )#1 NP#9999999999999999999 NP#+1"""
FORMS = ("-LRB-", "(", "#BOS", "#500", "%%", "0=x", "a\xa0b", "&<>\"'", "=", "--", "\x01", "漢", "\u2028")

labels = st.sampled_from(("", "N P#1", *WORDS.split())) | st.text("SNVP#|%:1290 -xé", max_size=8)


@st.composite
def heads(draw: st.DrawFn, n: int) -> tuple[int, ...]:
    """Draw heads from -3 to n + 3, or a tree, often with crossing arcs."""
    if draw(st.booleans()):
        return tuple(draw(st.lists(st.integers(-3, n + 3), min_size=n, max_size=n)))
    order, tree = draw(st.permutations(range(n))), [0] * n
    for i, m in enumerate(order[1:], 1):
        tree[m] = order[draw(st.integers(0, i - 1))] + 1
    return tuple(tree)


@st.composite
def dtrees(draw: st.DrawFn, most: int = 12) -> DTree:
    """Draw a d-tree with junk heads, labels, words and tags."""
    n = draw(st.integers(1, most))
    words = st.sampled_from((*(f"w{i}" for i in range(20)), *FORMS))
    forms = draw(st.lists(words, min_size=n, max_size=n))
    tags = draw(st.lists(st.sampled_from(TAGS), min_size=n, max_size=n))
    names = draw(st.none() | st.lists(labels, min_size=n, max_size=n).map(tuple))
    return DTree(Tokens(tuple(forms), tuple(tags)), draw(heads(n)), labels=names)


def check(ctree: CTree, tokens: Tokens, symbols: frozenset[str]) -> None:
    """Assert that this is a tree over these tokens, of these symbols."""
    assert ctree.tokens == tokens
    children = ctree.head_children
    assert build_ctree(tokens, ctree.labels, ctree.children, ctree.root, children, ctree.top) == ctree
    assert all(max(kids) < node for node, kids in enumerate(ctree.children, len(tokens)))
    assert children is None or all(map(contains, ctree.children, children))
    assert symbols.issuperset(ctree.labels)


def with_gaps(rng: Random, ctree: CTree) -> CTree:
    """Return the tree with two of its tokens exchanged, which makes gaps if they are not sisters."""
    n = len(ctree.tokens)
    order = [*range(n)]
    i, j = rng.randrange(n), rng.randrange(n)
    order[i], order[j] = order[j], order[i]
    first, rows = [*range(n)], []
    for kids in ctree.children:
        moved = (order[kid] if kid < n else kid for kid in kids)
        rows.append(tuple(sorted(moved, key=first.__getitem__)))
        first.append(first[rows[-1][0]])
    return replace(ctree, children=tuple(rows))
