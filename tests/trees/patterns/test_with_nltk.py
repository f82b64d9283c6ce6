"""Patterns that nltk.tgrep reads, too, find the same nodes there: random trees, random patterns.

nltk has no captures, variables, options, chains, heads, and none of `$+`, `$-`, `<<-`, `>>-`. It differs from
Tregex in two things: words have no relations of their own (`with > IN` finds nothing), and `<<-` and `>>-`
are written `<<'` and `>>'`.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tgrep import tgrep_positions
from nltk.tree import ParentedTree

from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from d2c.trees.patterns.language import compiled
from d2c.trees.patterns.matches import find
from d2c.trees.patterns.nodes import TreeNodes
from tests.strategies import LABELS, ctrees
from tests.trees.patterns.manual import PATTERNS, TREES

SIMPLE = dict(zip((*LABELS, "DT", "NN", "."), "ABCDEFGHI", strict=True))
RELATIONS = (
    *("<", ">", "<<", ">>", "<,", ">,", "<-", ">-", "<1", ">1", "<2", "<-2", ">-2", "<:", ">:"),
    *("<<,", "<<`", ">>,", ">>`", ".", "..", ",", ",,", "$", "$.", "$..", "$,", "$,,"),
)


@st.composite
def patterns(draw: st.DrawFn, depth: int = 0) -> str:
    """Patterns that both read."""
    count = draw(st.integers(0, 2 if depth < 2 else 0))
    label = draw(st.sampled_from((*"ABCDEFGH", "A|B", "/^[A-I]$/", *(() if count else ("__", "w0", "w1")))))
    relations = []
    for _ in range(count):
        negation, sign = draw(st.sampled_from(("", "", "!"))), draw(st.sampled_from(RELATIONS))
        relations.append(f"{negation}{sign} ({draw(patterns(depth + 1))})")
    joint = draw(st.sampled_from((" & ", " | "))) if len(relations) > 1 else ""
    return f"{label} {joint.join(relations)}".strip()


def simple(ctree: CTree) -> CTree:
    tags = tuple(SIMPLE[tag] for tag in ctree.tokens.tags)
    labels = tuple(SIMPLE[label] for label in ctree.labels)
    return replace(ctree, tokens=Tokens(ctree.tokens.forms, tags), labels=labels, top="ROOT")


def ours(pattern: str, ctree: CTree) -> list[int]:
    return [row[0] for row in find(compiled(pattern), TreeNodes([ctree]))[0].tolist()]


def theirs(pattern: str, ctree: CTree) -> list[int]:
    tree = ParentedTree.fromstring(format_bracket(ctree))
    numbers = {position: number for number, position in enumerate(tree.treepositions("preorder"))}
    [positions] = tgrep_positions(pattern.replace("`", "'"), [tree])
    return sorted({numbers[position] for position in positions})


@settings(max_examples=100, deadline=None)
@given(ctrees(gaps=False, max_tokens=6).map(simple), patterns())
def test_random_patterns(ctree: CTree, pattern: str) -> None:
    assert ours(pattern, ctree) == theirs(pattern, ctree)


NOT_THERE = ("#", "=", "?", "+", "...", "@", '"', ":", "ROOT |", "| !", "| (", "$-", "<<-", ">>-")


@pytest.mark.parametrize("pattern", [one for one in PATTERNS if not any(sign in one for sign in NOT_THERE)])
def test_patterns_of_the_manual(pattern: str) -> None:
    for line in TREES.splitlines():
        ctree = replace(parse_bracket(line), top="ROOT")
        assert ours(pattern, ctree) == theirs(pattern, ctree)
