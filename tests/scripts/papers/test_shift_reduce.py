"""The constituent parser without a d-parser, on the sample."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from d2c.automata.static_oracles import constituent_actions
from d2c.automata.systems import SHIFT
from d2c.base.errors import ModelError
from d2c.trees.binarization import BINARIZATIONS
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.formats.brackets import read_brackets
from d2c.trees.repair import Repairs
from d2c.trees.scores.brackets import bracket_scores
from papers.shift_reduce import KIND, NEW_STEP, ShiftReduce
from papers.systems import SYSTEMS
from tests.automata.stacks import Stack, applicable, take
from tests.strategies import ctrees

SAMPLE = Path(__file__).parents[3] / "data" / "sample"
DEV = list(islice(read_brackets(SAMPLE / "dev.mrg"), 60))


def greedy_and_exact(parser: ShiftReduce) -> list[ShiftReduce]:
    other = ShiftReduce(search="exact")
    other.steps_, other.tags_, other.unaries_ = parser.steps_, parser.tags_, parser.unaries_
    other.top_, other.oracle_ = parser.top_, parser.oracle_
    return [parser, other]


@pytest.fixture(scope="module")
def parser() -> ShiftReduce:
    return ShiftReduce("small", epochs=2).fit(list(islice(read_brackets(SAMPLE / "train.mrg"), 600)), DEV)


def test_it_learns_constituents(parser: ShiftReduce) -> None:
    scores = []
    for one in greedy_and_exact(parser):
        guess = list(one.parse(ctree.tokens for ctree in DEV))
        assert all(a.top == b.top for a, b in zip(DEV, guess, strict=True))
        scores.append(bracket_scores(DEV, guess).f1)
    assert scores[0] > 83 and scores[1] > 83


def test_any_tokens_get_a_tree(parser: ShiftReduce) -> None:
    """Also many, none, and with words and tags that were never seen."""
    sentences = [
        *(Tokens(("x",) * n, ("TAG",) * n) for n in (0, 1, 2, 9)),
        *(Tokens(("(",) * n, (".",) * n) for n in (1, 5)),
        *(Tokens(ctree.tokens.forms[::-1], ctree.tokens.tags[::-1]) for ctree in DEV[:20]),
        Tokens(("the", "man", ".") * 300, ("DT", "NN", ".") * 300),
    ]
    for one in greedy_and_exact(parser):
        repairs = Repairs()
        found = list(one.parse(sentences[:-1] if one.search == "exact" else sentences, repairs))
        labels = {step.parent.label for step in one.steps_}
        for ctree, tokens in zip(found, sentences, strict=False):
            assert ctree.tokens == tokens and ctree.is_continuous()
            if len(tokens):
                assert set(ctree.labels) <= labels and ctree.labels
                same = build_ctree(tokens, ctree.labels, ctree.children, ctree.root, None, ctree.top)
                assert same.children == build_ctree(*parts(ctree)).children
        assert repairs.sentences == len(found) and repairs.tokens == sum(map(len, sentences[: len(found)]))


def test_steps_that_no_tree_has_are_counted() -> None:
    flat = CTree(Tokens(("a", "b", "c"), ("A", "B", "C")), ("S",), ((0, 1, 2),), (1,))
    learned, repairs = ShiftReduce().fit([flat], []), Repairs()
    assert [ctree.labels for ctree in learned.parse([flat.tokens], repairs)] == [("S",)]
    assert repairs.counts[NEW_STEP] == 0
    assert [ctree.labels for ctree in learned.parse([Tokens(("a",), ("A",))], repairs)] == [("S",)]
    assert repairs.counts[NEW_STEP] == 1 and (repairs.sentences, repairs.tokens) == (2, 4)


def parts(ctree: CTree) -> tuple[Tokens, tuple[str, ...], tuple[tuple[int, ...], ...], int]:
    return ctree.tokens, ctree.labels, ctree.children, ctree.root


@given(ctrees(gaps=False, max_tokens=6), st.sampled_from(sorted(BINARIZATIONS)))
@settings(max_examples=12, deadline=None)
def test_all_trees_can_be_learned(ctree: CTree, binarization: str) -> None:
    """Whatever their shape, with chains of unary nodes: the static oracle's actions apply."""
    if not ctree.labels:
        with pytest.raises(ModelError, match="no tree of the treebank has a constituent"):
            ShiftReduce().fit([ctree], [])
        return
    learned = ShiftReduce(epochs=1, binarization=binarization).fit([ctree], [])
    assert learned.oracle_ is not None
    system, tags = learned.oracle_.system, ctree.tokens.tags
    stack: Stack = []
    left = len(tags)
    for action in constituent_actions(ctree, BINARIZATIONS[binarization]):
        assert system.number_of[action] in applicable(system, stack, left)
        if action.kind == SHIFT:
            stack.append((system.leaf(tags[-left]), 0))
            left -= 1
        else:
            left = take(system, stack, left, system.number_of[action])
    (found,) = learned.parse([ctree.tokens])
    assert found.tokens == ctree.tokens and found.top == ctree.top


def test_load_gives_the_same_parser(parser: ShiftReduce, tmp_path: Path) -> None:
    parser.save(tmp_path / "model")
    loaded = ShiftReduce.load(tmp_path / "model")
    sentences = [ctree.tokens for ctree in DEV]
    assert list(loaded.parse(sentences)) == list(parser.parse(sentences))
    assert (loaded.preset, loaded.epochs, loaded.unaries_) == ("small", 2, parser.unaries_)
    path = tmp_path / "model" / KIND.file
    whole = json.loads(path.read_text(encoding="utf-8"))
    for changes in (
        *(
            {"steps": value}
            for value in (
                [],
                None,
                [[0, "NP"]],
                [[5, "NP", ""]],
                [[0.0, "NP", ""]],
                [[0, 3, ""]],
                [[0, "NP", "tag"]],
            )
        ),
        *({"unaries": value} for value in (0, None, 10**9, "1")),
        *({"tags": value} for value in (None, [1])),
        *({"binarization": value} for value in ("none", 1)),
        {"top": ["TOP"]},
    ):
        path.write_text(json.dumps(whole | changes), encoding="utf-8")
        with pytest.raises(ModelError) as error:
            ShiftReduce.load(tmp_path / "model")
        assert str(error.value) and "\n" not in str(error.value)


def test_what_it_cannot_learn_from() -> None:
    gap = CTree(Tokens(("a", "b", "c"), ("A", "B", "C")), ("X", "S"), ((0, 2), (3, 1)))
    with pytest.raises(ModelError, match="no trees with gaps"):
        ShiftReduce().fit([gap], [gap])
    with pytest.raises(ModelError, match="^unknown preset 'huge'; known are default, small$"):
        ShiftReduce("huge").fit(DEV, DEV)
    for use in (lambda parser: next(parser.parse([DEV[0].tokens])), lambda parser: parser.save(Path("x"))):
        with pytest.raises(ModelError, match="not trained"):
            use(ShiftReduce())


def test_it_is_a_system_of_tables() -> None:
    assert SYSTEMS["shift-reduce"].path == "papers.shift_reduce:ShiftReduce"
