"""Grammars that are closed: rules whose halves were seen with the parent, if not together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from d2c.base.errors import ModelError
from d2c.cky import grammar
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.cky.grammar import Grammar, Rule
from d2c.trees.binarization import GRAMMARS, LEFT, Symbol
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


def test_its_size_is_known_before_it_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Binary rules count, which closing makes; a model with more cannot be trained, nor read."""
    trees = sample("train", 60)
    route = ConstrainedCKY(grammar="closed", epochs=1, table_bits=14).fit(trees)
    route.save(tmp_path)
    size = sum(rule.modifier is not None for rule in route.grammar_.rules)
    monkeypatch.setattr(grammar, "_MOST_CLOSED", size)
    assert ConstrainedCKY.load(tmp_path).grammar_ == route.grammar_ == route.observed_.closed()
    monkeypatch.setattr(grammar, "_MOST_CLOSED", size - 1)
    message = f"a closed grammar of {size:,} rules; it may have {size - 1:,}: take the observed one"
    with pytest.raises(ValueError, match=f"^{message}$"):
        ConstrainedCKY(grammar="closed").fit_grammar(trees)
    with pytest.raises(ModelError, match=f"cky.json: is broken \\({message}\\)"):
        ConstrainedCKY.load(tmp_path)


def test_a_few_thousand_rules_are_not_closed_to_millions() -> None:
    """Each takes another symbol over another head: 1,001,000 pairs of 2,001 rules."""

    def rule(head: int, modifier: int) -> Rule:
        return Rule(LEFT, Symbol(f"H{head}"), Symbol(f"M{modifier}"), Symbol("S"))

    seen = Grammar.of([rule(0, i) for i in range(1_000)] + [rule(i, 0) for i in range(1_001)])
    with pytest.raises(ValueError, match="a closed grammar of 1,001,000 rules"):
        seen.closed()


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
