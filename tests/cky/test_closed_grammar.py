"""Grammars that are closed: rules whose halves were seen with the parent, if not together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.trees.binarization import GRAMMARS
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.heads import load_head_rules
from d2c.trees.scores.brackets import bracket_scores
from tests.cky.test_constrained_cky import sample

SEEN = (
    "(S (NP (DT a) (JJ big) (NN cat)) (VP (VBD slept)))",
    "(S (NP (NN dogs) (PP (IN of) (NN men))) (VP (VBD slept)))",
)


def test_it_joins_what_was_seen_apart(tmp_path: Path) -> None:
    """No tree has a PP in an NP with a determiner."""
    trees = [parse_bracket(text) for text in SEEN]
    new = parse_bracket("(S (NP (DT a) (NN cat) (PP (IN of) (NN men))) (VP (VBD slept)))")
    observed, closed = (
        ConstrainedCKY(grammar=grammar, epochs=1, table_bits=14).fit(trees) for grammar in GRAMMARS
    )
    gold = load_head_rules("collins").apply(new)
    dtree = closed.encode(new)
    assert observed.count(dtree) == 0 < closed.count(dtree)
    assert closed.oracle(new, dtree) == gold
    closed.save(tmp_path)
    loaded = ConstrainedCKY.load(tmp_path)
    assert loaded.grammar_ == closed.grammar_
    assert loaded.observed_ == closed.observed_ == observed.grammar_ == observed.observed_


@pytest.mark.parametrize("pruning", ["1", "1+2"])
def test_pruning_keeps_what_closing_allows_for_the_heads_tag(pruning: str, tmp_path: Path) -> None:
    """Rules whose halves were seen with NN as the tag of the head word; with NNS only the PP was seen."""
    more = "(S (NP (NNS men) (PP (IN of) (NN cats))) (VP (VBD slept)))"
    trees = [parse_bracket(text) for text in (*SEEN, more)]
    both, alone = (
        parse_bracket(f"(S (NP (DT a) ({tag} cat) (PP (IN of) (NN men))) (VP (VBD slept)))")
        for tag in ("NN", "NNS")
    )
    observed, closed = (
        ConstrainedCKY(grammar=grammar, pruning=pruning, epochs=1, table_bits=14).fit(trees)
        for grammar in GRAMMARS
    )
    dtrees = [closed.encode(ctree) for ctree in (both, alone)]
    assert [observed.count(dtree) for dtree in dtrees] == [0, 0]
    assert [closed.count(dtree) > 0 for dtree in dtrees] == [True, False]
    assert closed.oracle(both, dtrees[0]) == load_head_rules("collins").apply(both)
    closed.save(tmp_path)
    assert ConstrainedCKY.load(tmp_path).count(dtrees[0]) == closed.count(dtrees[0])
    closed.settings = replace(closed.settings, pruning="none")
    assert closed.count(dtrees[1]) > 0


@pytest.mark.parametrize("binarization", ["simple", "markovized"])
def test_more_trees_are_in_reach(binarization: str) -> None:
    trees, dev = sample("train", 60), sample("dev", 60)
    route = ConstrainedCKY(binarization=binarization, grammar="closed")
    route.fit_grammar(trees)
    assert route.grammar_.closed() == route.grammar_
    assert set(route.grammar_.rules) > set(route.observed_.rules)
    before = ConstrainedCKY(binarization=binarization)
    before.fit_grammar(trees)
    assert before.grammar_ == route.observed_
    f1 = [
        bracket_scores(dev, [one.oracle(ctree, one.encode(ctree)) for ctree in dev]).f1
        for one in (before, route)
    ]
    assert f1[0] < f1[1]
