"""Morphology as a feature of the chart, where a treebank has it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.heads import load_head_rules
from tests.cky.test_constrained_cky import sample


def test_morphology_helps_where_a_treebank_has_it(tmp_path: Path) -> None:
    """Same words, tags and heads; only morphology says whether there is an NP."""
    bare = [
        parse_bracket("(TOP (S (NN a) (VP (VBD b))))"),
        parse_bracket("(TOP (S (NP (NN a)) (VP (VBD b))))"),
    ]
    told = [
        replace(ctree, tokens=replace(ctree.tokens, morphs=(name, "b")))
        for ctree, name in zip(bare, ("mass", "count"), strict=True)
    ]
    route, heads = ConstrainedCKY(epochs=10, table_bits=12), load_head_rules("collins")
    route.fit(told * 2)
    assert [route.decode(route.encode(ctree)) for ctree in told] == [heads.apply(ctree) for ctree in told]
    route.save(tmp_path)
    loaded = ConstrainedCKY.load(tmp_path)
    assert [loaded.decode(loaded.encode(ctree)) for ctree in told] == [heads.apply(ctree) for ctree in told]
    assert route.decode(route.encode(bare[0])).tokens == bare[0].tokens  # without, too


def test_what_few_sentences_have_is_no_feature() -> None:
    """Weights are those of the treebank without it."""
    bare = sample("train", 30)
    some = [replace(ctree, tokens=replace(ctree.tokens, morphs=ctree.tokens.tags)) for ctree in bare]
    routes = [
        ConstrainedCKY(epochs=1, table_bits=14).fit([*some[:number], *bare[number:]])
        for number in (0, 15, 16)
    ]
    assert [route.vocabulary_.columns for route in routes] == [set(), set(), {"morph"}]
    assert routes[0].vocabulary_ == routes[1].vocabulary_
    assert np.array_equal(routes[0].weights_, routes[1].weights_) and routes[0].weights_.any()
    assert not np.array_equal(routes[0].weights_, routes[2].weights_)
