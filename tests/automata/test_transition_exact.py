"""The d-parser `transition:...;exact`, on the sample: its best trees, the k best and the arcs' shares."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from d2c.automata.exact import Exact
from d2c.automata.oracles import LinearOracle
from d2c.automata.settings import TransitionSettings
from d2c.automata.static_oracles import SYSTEMS
from d2c.automata.transition_parser import TransitionParser
from d2c.base.errors import ModelError
from d2c.learning.semirings import viterbi
from d2c.packed.arcs import PackedDTree
from d2c.reduction.reduction import Reduction
from d2c.training.spec import TrainingSpec
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import read_brackets
from tests.dparsers.sentences import odd_sentences, write

SAMPLE = Path(__file__).parents[2] / "data" / "sample"


def plain(name: str, most: int | None = None) -> list[DTree]:
    """D-trees of the sample, labelled with the phrase symbols alone."""
    encoded = map(Reduction("direct").encode, islice(read_brackets(SAMPLE / f"{name}.mrg"), most))
    return [replace(d, labels=tuple(label.partition("#")[0] for label in d.labels or ())) for d in encoded]


DEV = plain("dev")


@pytest.fixture(scope="module", params=SYSTEMS)
def parser(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TransitionParser:
    directory = tmp_path_factory.mktemp("transition")
    train, dev = (
        write(directory / "train.conllu", plain("train", 700)),
        write(directory / "dev.conllu", DEV[:20]),
    )
    made = TransitionParser(TransitionSettings(system=request.param, epochs=1, search="exact"))
    made.train(train, dev, directory / "model")
    loaded = TransitionParser.load(directory / "model")
    assert (loaded.settings.system, loaded.settings.search) == (request.param, "exact")
    return loaded


def oracle(parser: TransitionParser) -> LinearOracle:
    assert parser.oracle_ is not None
    return parser.oracle_


def test_a_deterministic_chart_is_the_greedy_parser(parser: TransitionParser) -> None:
    sentences = [dtree.tokens for dtree in DEV]
    assert len(sentences) == 300
    assert Exact(oracle(parser), 1.0).parse(sentences) == oracle(parser).parse(sentences)


def test_the_best_tree_is_never_below_the_greedy_one(parser: TransitionParser) -> None:
    better, exact, greedy = 0, Exact(oracle(parser), 0.1), Exact(oracle(parser), 1.0)
    for dtree in DEV[:100]:
        chart, path = exact.chart(dtree.tokens), greedy.chart(dtree.tokens)
        best = chart.scores[viterbi(chart.forest, chart.scores)].sum(dtype=np.float64)
        assert best >= path.scores.sum(dtype=np.float64) - 1e-3
        better += best > path.scores.sum() + 1e-3
    assert better


def test_k_best_and_shares(parser: TransitionParser) -> None:
    for dtree in DEV[:8]:
        tokens = dtree.tokens
        found, (best,) = parser.k_best(tokens, 5), parser.parse([tokens])
        assert 1 <= len(found) <= 5 and found[0].tree == best
        assert len({one.tree for one in found}) == len(found)
        assert all(one.tree.is_projective() and one.tree.tokens == tokens for one in found)
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
        assert sum(one.share for one in found) <= 1 + 1e-5
        arcs, each = parser.arcs(tokens), np.arange(len(tokens))
        assert arcs.sum(axis=1) == pytest.approx(np.ones(len(tokens)), abs=1e-5)
        for one in found:
            assert (arcs[each, list(one.tree.heads)] >= one.share - 1e-5).all()


def test_any_sentence_gets_a_projective_tree(parser: TransitionParser) -> None:
    sentences = odd_sentences(7, (1, 0, 2, 90, 1, 400, 0, 3))
    predicted = [*parser.parse(sentences)]
    assert [dtree.tokens for dtree in predicted] == sentences
    assert all(not dtree.heads or dtree.is_projective() for dtree in predicted)
    assert all(dtree.heads.count(0) == min(1, len(dtree.heads)) for dtree in predicted)


def test_names_of_searches() -> None:
    with pytest.raises(ModelError, match="transition:standard;beam"):
        TrainingSpec.of(Path(), Path(), dparser="transition:standard;beam").dparser.make()
    exact = TrainingSpec.of(Path(), Path(), dparser="transition:eager;exact").dparser.make()
    assert isinstance(exact, TransitionParser) and (exact.settings.system, exact.settings.search) == (
        "eager",
        "exact",
    )


def test_packed_arcs_are_the_shares(parser: TransitionParser) -> None:
    assert parser.abilities.packed_arcs
    sentences = [Tokens((), ()), *(dtree.tokens for dtree in DEV[:5])]
    for dtree, plain_one in zip(parser.parse_packed(sentences), parser.parse(sentences), strict=True):
        assert dtree == plain_one and isinstance(dtree, PackedDTree)
        assert (dtree.arcs.of_tree(dtree.heads) >= 0).all()
        if dtree.heads:
            shares = parser.arcs(dtree.tokens)[dtree.arcs.dependents(), dtree.arcs.heads]
            sums = np.add.reduceat(shares, dtree.arcs.begin[:-1])
            expected = shares / np.repeat(sums, np.diff(dtree.arcs.begin))
            assert np.exp(dtree.arcs.logs) == pytest.approx(expected, abs=1e-4)
