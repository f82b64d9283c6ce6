"""The search of pages, templates/search.js, finds what Python finds: run by Node.js on hand-checked patterns,
and on random patterns in random trees, gaps and heads included."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.heads import load_head_rules
from d2c.trees.patterns.language import compiled
from d2c.trees.patterns.matches import find
from d2c.trees.patterns.nodes import TreeNodes
from d2c.viewing.page import Sentences
from tests.strategies import ctrees
from tests.trees.patterns.manual import PATTERNS, TREES

SCRIPT = Path(__file__).parents[2] / "d2c" / "viewing" / "templates" / "search.js"
NODE = shutil.which("node") or ""
pytestmark = pytest.mark.skipif(not NODE, reason="Node.js is not installed")

SIGNS = (
    *(
        "<",
        ">",
        "<<",
        ">>",
        "<<<",
        "<,",
        ">,",
        "<-",
        ">-",
        "<1",
        ">1",
        "<2",
        "<-2",
        ">-2",
        "<:",
        ">:",
        "<=",
        "==",
    ),
    *("<<,", "<<-", ">>,", ">>-", "<<:", ">>:", "<#", ">#", "<<#", ">>#", ":", "<+(NN)", ">+(!DT)", ".+(__)"),
    *(",+(/^N/)", ".", "..", ",", ",,", "$", "$+", "$-", "$++", "$--", "$.", "$..", "$,", "$,,"),
)
BASES = (
    "S",
    "NP",
    "VP",
    "__",
    "__",
    "DT|NN",
    "w1",
    "@ADVP|NP",
    "!S",
    "!@NP",
    "/^[NV]P$/",
    "/w([0-3])/#1%w",
    '"w2"',
    '"w1 w*"',
)


@st.composite
def patterns(draw: st.DrawFn) -> str:
    """Patterns with negations, options, alternatives, names and references."""
    names: list[str] = []

    def node(depth: int, hidden: bool) -> str:
        choice = draw(st.integers(0, 9))
        if choice < 2 and names and depth:
            return draw(st.sampled_from("=~")) + draw(st.sampled_from(names))
        text = draw(st.sampled_from(BASES))
        if choice > 6 and not hidden and len(names) < 3 and not text.startswith('"'):
            names.append("xyz"[len(names)])
            text += "=" + names[-1]
        parts = [relation(depth, hidden) for _ in range(draw(st.integers(0, 2 if depth < 2 else 0)))]
        if len(parts) == 2 and not names and draw(st.booleans()):
            parts = [f"[{parts[0]} | {parts[1]}]"]
        return " ".join([text, *parts])

    def relation(depth: int, hidden: bool) -> str:
        before = draw(st.sampled_from(("", "", "", "!", "?")))
        inner = node(depth + 1, hidden or before == "!")
        return f"{before}{draw(st.sampled_from(SIGNS))} " + (inner if inner[0] in "=~" else f"({inner})")

    return node(0, False)


def in_page(ctrees: Sequence[CTree], cases: Sequence[tuple[str, int]]) -> list[Any]:
    """What the page's script finds of each case: a pattern and the number of a tree."""
    written, route = Sentences(), Reduction("direct", "collins")
    sentences = [
        written.json(i, ctree.tokens, route.encode(ctree), [written.ctree(ctree, [])])
        for i, ctree in enumerate(ctrees)
    ]
    given = json.dumps({"data": {"sentences": sentences, **written.names}, "cases": cases})
    command = [NODE, str(Path(__file__).with_name("search_cases.js")), str(SCRIPT)]
    run = subprocess.run(command, input=given, capture_output=True, text=True, timeout=100)
    assert run.returncode == 0, run.stderr
    return [sorted(found) if isinstance(found, list) else found for found in json.loads(run.stdout)]


def in_python(ctrees: Sequence[CTree], cases: Sequence[tuple[str, int]]) -> list[Any]:
    return [find(compiled(pattern), TreeNodes([ctrees[tree]]))[0].tolist() for pattern, tree in cases]


def test_patterns_of_the_manual() -> None:
    rules = load_head_rules("collins")
    trees = [rules.apply(parse_bracket(line)) for line in TREES.splitlines()]
    cases = [(pattern, tree) for pattern in PATTERNS for tree in range(len(trees))]
    found = in_page(trees, cases)
    assert found == in_python(trees, cases)
    assert sum(map(len, found)) == sum(PATTERNS.values())


@settings(max_examples=13, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(ctrees(max_tokens=6), min_size=1, max_size=4), st.lists(patterns(), min_size=20, max_size=60))
def test_random_patterns(trees: list[CTree], texts: list[str]) -> None:
    cases = [(text, tree) for text in texts for tree in range(len(trees))]
    for case, ours, theirs in zip(cases, in_python(trees, cases), in_page(trees, cases), strict=True):
        assert ours == theirs, case


@pytest.mark.parametrize(
    "pattern",
    [
        "NP <",
        "NP PP",
        "(NP < PP",
        "NP [< PP)",
        "NP /x",
        "NP < =x",
        "NP=x | =x",
        "NP=x < PP=x",
        "NP !< PP=x",
        "NP <0 PP",
        '""',
        "!/(a)/#1%x",
        "/a/#1%x",
    ],
)
def test_what_cannot_be_read_says_the_same(pattern: str) -> None:
    with pytest.raises(ValueError) as error:
        compiled(pattern)
    assert in_page([parse_bracket("(S (A a))")], [(pattern, 0)]) == [str(error.value)]


def test_tags_with_a_dollar_and_the_root() -> None:
    tree = load_head_rules("collins").apply(parse_bracket("(NP (PRP$ her) (NN cat) (WP$ whose))"))
    patterns = ("PRP$", "NN|WP$", "PRP$ $+ NN", "NN$PRP$", "_ROOT_ < NP", "_ROOT_|NP", "PRP$+NN", "WP$|PRP$")
    cases = [(pattern, 0) for pattern in patterns]
    found = in_page([tree], cases)
    assert found == in_python([tree], cases) and [*map(len, found)] == [1, 2, 1, 1, 1, 2, 0, 2]


def test_arcs() -> None:
    tree = load_head_rules("leftmost").apply(parse_bracket("(S (NP (PRP They)) (VP (VBD slept)))"))
    assert in_page([tree], [("arc:root", 0), ("NP !<< arc:root", 0), ("S < (__ << arc:S*)", 0)]) == [
        [[4]],
        [],
        [[1]],
    ]
