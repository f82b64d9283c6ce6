"""Hypothesis strategies: c-trees of every shape, head-ordered d-trees, and heads that form no tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from d2c.trees.ctree import CTree, Tokens, build_ctree, canonical
from d2c.trees.dtree import DTree

LABELS = ("S", "NP", "VP", "ADVP|PRT", "NP-SBJ-1", "X#2")
FUNCTIONS = ("", "", "SB", "HD", "hd", "H", "NK", "MO-HD", "cnj", "P")


def words(n: int) -> Tokens:
    """n different words with few tags."""
    return Tokens(tuple(f"w{i}" for i in range(n)), tuple(("DT", "NN", ".")[i % 3] for i in range(n)))


@st.composite
def ctrees(
    draw: st.DrawFn,
    gaps: bool = True,
    unaries: bool = True,
    binary: bool = False,
    max_tokens: int = 9,
    min_tokens: int = 1,
) -> CTree:
    """C-trees with random head children: single tokens, flat trees, deep chains, and all between.

    gaps: yields may have gaps; unaries: chains of unary nodes anywhere; binary: others have two children.
    """
    n = draw(st.integers(min_tokens, max_tokens))
    labels: list[str] = []
    children: list[list[int]] = []
    heads: list[int] = []

    def add(kids: list[int]) -> int:
        labels.append(draw(st.sampled_from(LABELS)))
        children.append(kids)
        heads.append(draw(st.sampled_from(kids)))
        return n + len(labels) - 1

    def with_chain(node: int) -> int:
        for _ in range(draw(st.sampled_from((0, 0, 0, 1, 2, 3))) if unaries else 0):
            node = add([node])
        return node

    nodes = [with_chain(token) for token in range(n)]
    growing = draw(st.booleans())  # always join the last new node: a chain as deep as the sentence is long
    at = 0
    while len(nodes) > 1:
        size = 2 if binary or growing else draw(st.integers(2, len(nodes)))
        if gaps and draw(st.booleans()):
            nodes = nodes[at:] + nodes[:at]
            places = draw(st.permutations(range(1, len(nodes))))[: size - 1] if growing else None
            chosen = sorted([0, *places] if places else draw(st.permutations(range(len(nodes))))[:size])
        else:
            low = min(at, len(nodes) - size) if growing else draw(st.integers(0, len(nodes) - size))
            chosen = list(range(low, low + size))
        joined = with_chain(add([nodes[i] for i in chosen]))
        at = chosen[0]
        nodes[at] = joined
        nodes = [node for i, node in enumerate(nodes) if i == at or i not in chosen]
    top = draw(st.sampled_from((None, "", "TOP")))
    return build_ctree(words(n), labels, children, nodes[0], heads, top)


@st.composite
def graphs(draw: st.DrawFn, /, **options: Any) -> CTree:
    """C-trees with functions and secondary edges, as files may have them."""
    ctree = draw(ctrees(**options))
    nodes = ctree.root + 1
    functions = tuple(draw(st.lists(st.sampled_from(FUNCTIONS), min_size=nodes, max_size=nodes)))
    proper = st.integers(len(ctree.tokens), ctree.root)
    edge = st.tuples(st.integers(0, ctree.root), st.sampled_from(FUNCTIONS), proper)
    edges = draw(st.lists(edge, max_size=4)) if ctree.labels else []
    top = None if ctree.top is None else "TOP"  # what graph formats call a label-less wrapper
    known = functions if any(functions) else None
    return canonical(replace(ctree, top=top, functions=known, secondary=tuple(edges)))


def beside(ctree: CTree) -> tuple[object, ...]:
    """What a tree says beside its nodes."""
    one = canonical(ctree)
    return one, one.functions, one.secondary


@st.composite
def tree_heads(draw: st.DrawFn, max_tokens: int = 9, min_tokens: int = 1) -> tuple[int, ...]:
    """Heads that form a tree, projective or not."""
    order = draw(st.permutations(range(draw(st.integers(min_tokens, max_tokens)))))
    heads = [0] * len(order)
    for i, m in enumerate(order[1:], 1):
        heads[m] = draw(st.sampled_from(order[:i])) + 1
    return tuple(heads)


@st.composite
def ordered_dtrees(draw: st.DrawFn, strict: bool = False) -> DTree:
    """Head-ordered d-trees whose event indices may have gaps; strict: no two modifiers share an event."""
    heads = draw(tree_heads())
    events = [0 if h == 0 else draw(st.integers(1, 5)) for h in heads]
    if strict:
        places = draw(st.permutations(range(1, len(heads) + 1)))
        events = [0 if h == 0 else place for h, place in zip(heads, places, strict=True)]
    symbol = {key: draw(st.sampled_from(LABELS)) for key in sorted(set(zip(heads, events, strict=True)))}
    symbols = ["" if h == 0 else symbol[h, event] for h, event in zip(heads, events, strict=True)]
    return DTree(words(len(heads)), heads, tuple(symbols), tuple(events))


@st.composite
def any_heads(draw: st.DrawFn, max_tokens: int = 9) -> tuple[int, ...]:
    """What a d-parser may predict: cycles, several roots or none, heads outside the sentence."""
    n = draw(st.integers(1, max_tokens))
    low, high = draw(st.sampled_from(((0, n), (1, n), (-2, n + 2), (-(10**9), 10**9))))
    return tuple(draw(st.lists(st.integers(low, high), min_size=n, max_size=n)))


def event_ranks(dtree: DTree) -> DTree:
    """The same d-tree with the events of each head numbered 1, 2, ... without gaps."""
    assert dtree.events is not None
    pairs = list(zip(dtree.heads, dtree.events, strict=True))
    ranks = [len({e for head, e in pairs if head == h and e <= event}) if h else 0 for h, event in pairs]
    return replace(dtree, events=tuple(ranks))
