"""Random c-trees of all shapes and random d-trees of any kind, drawn by hypothesis or by a seed."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.dtree import DTree

SYMBOLS = ("S", "NP", "VP", "PP", "ADVP|PRT", "X#1", "a:b", "50%", "%")
JUNK_LABELS = (
    "root",
    "ROOT",
    "dep",
    "nsubj",
    "S#x",
    "S#0",
    "#",
    "",
    "_",
    "NP#1",
    "NP#2",
    "VP#1",
    "S#3",
    "X#99999999",
)
SPINE_LABELS = ("root|S|VP", "NP|S#1", "#2", "NP#7", "VP|VP|VP#1", "root|", "|#1", "NP||S#2")


def tokens_of(n: int) -> Tokens:
    """n different words."""
    return Tokens(tuple(f"w{i}" for i in range(n)), tuple(f"T{i % 3}" for i in range(n)))


def random_ctree(rng: random.Random, n: int, gaps: bool, unaries: bool) -> CTree:
    """A tree made by joining random nodes (neighbours, unless gaps are wanted) until one is left."""
    labels: list[str] = []
    children: list[list[int]] = []
    heads: list[int] = []

    def add(kids: list[int]) -> int:
        labels.append(rng.choice(SYMBOLS))
        children.append(kids)
        heads.append(rng.choice(kids))
        return n + len(labels) - 1

    def maybe_unary(node: int) -> int:
        while unaries and rng.random() < 0.3:
            node = add([node])
        return node

    nodes = [maybe_unary(token) for token in range(n)]
    while len(nodes) > 1:
        size = rng.randint(2, min(4, len(nodes)))
        start = rng.randrange(len(nodes) - size + 1)
        chosen = rng.sample(nodes, size) if gaps else nodes[start : start + size]
        at = nodes.index(chosen[0])
        joined = maybe_unary(add(chosen))
        nodes[at] = joined
        nodes = [node for node in nodes if node not in chosen]
    return build_ctree(tokens_of(n), labels, children, nodes[0], heads, rng.choice((None, "TOP", "")))


def random_dtree(rng: random.Random, n: int) -> DTree:
    """Heads and labels without any sense: cycles, several roots, heads outside, crossing arcs, junk."""
    junk = rng.random()
    heads = [rng.randint(-2, n + 3) if rng.random() < junk else rng.randint(0, n) for _ in range(n)]
    known = [f"{rng.choice(SYMBOLS[:4])}#{rng.randint(0, 4)}" for _ in range(4)]
    labels = [rng.choice(JUNK_LABELS + SPINE_LABELS + tuple(known * 4)) for _ in range(n)]
    return DTree(tokens_of(n), tuple(heads), labels=tuple(labels))


@st.composite
def ctrees(draw: st.DrawFn, gaps: bool | None = None, unaries: bool = True) -> CTree:
    """C-trees with head children; gaps None: with or without."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    wanted = draw(st.booleans()) if gaps is None else gaps
    return random_ctree(rng, draw(st.integers(1, 12)), wanted, unaries)
