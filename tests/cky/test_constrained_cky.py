"""The estimator of route 2: learns a small treebank, decodes anything, is saved and loaded."""

from __future__ import annotations

import json
import random
from functools import cache
from importlib import resources
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from cky.constrained_cky import GLUED, ConstrainedCKY
from trees.ctree import CTree, Tokens
from trees.dtree import DTree
from trees.errors import ModelError
from trees.formats.brackets import parse_bracket, read_brackets
from trees.heads import load_head_rules
from trees.repair import CROSSING, CYCLE, Repairs


def sample(part: str, count: int) -> list[CTree]:
    with resources.as_file(resources.files("data") / "sample" / f"{part}.mrg") as path:
        return list(islice(read_brackets(path, clean=True), count))


@cache
def fitted(binarization: str = "simple") -> ConstrainedCKY:
    losses: list[float] = []
    route = ConstrainedCKY(binarization=binarization, epochs=3, table_bits=18)
    route.fit(sample("train", 300), lambda epoch, loss: losses.append(loss))
    assert len(losses) == 3 and losses[2] < losses[0]
    return route


@pytest.mark.parametrize("binarization", ["simple", "markovized"])
def test_it_recovers_trees_from_gold_d_trees(binarization: str) -> None:
    route, dev = fitted(binarization), sample("dev", 100)
    repairs = Repairs()
    decoded = list(route.decode_all((route.encode(ctree) for ctree in dev), repairs))
    heads = load_head_rules("collins")
    same = sum(guess == heads.apply(gold) for guess, gold in zip(decoded, dev, strict=True))
    assert same >= 80
    assert repairs.sentences == 100 and repairs.counts[GLUED] <= 10  # 300 sentences do not show all rules


def test_what_is_loaded_decodes_alike(tmp_path: Path) -> None:
    route, dev = fitted(), sample("dev", 30)
    route.save(tmp_path)
    loaded = ConstrainedCKY.load(tmp_path)
    assert (loaded.weights_ == route.weights_).all()
    for ctree in dev:
        assert loaded.decode(route.encode(ctree)) == route.decode(route.encode(ctree))
    (tmp_path / "weights.npz").write_bytes(b"junk")
    with pytest.raises(ModelError, match="is broken"):
        ConstrainedCKY.load(tmp_path)
    (tmp_path / "cky.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(ModelError, match="has format 99; this version of d2c reads 1"):
        ConstrainedCKY.load(tmp_path)


def test_a_seed_gives_the_same_weights() -> None:
    trees = sample("train", 60)
    first, second = (ConstrainedCKY(epochs=2, table_bits=14, seed=3).fit(trees) for _ in range(2))
    assert np.array_equal(first.weights_, second.weights_) and first.weights_.any()


def test_any_heads_and_tags_give_a_tree_over_the_tokens() -> None:
    route, rng = fitted(), random.Random(0)
    repairs = Repairs()
    for _ in range(300):
        n = rng.randint(1, 12)
        tokens = Tokens(
            tuple(f"w{i}" for i in range(n)), tuple(rng.choice(("NN", "DT", "VBD", "??")) for _ in range(n))
        )
        ctree = route.decode(DTree(tokens, tuple(rng.randint(-1, n + 1) for _ in range(n))), repairs)
        assert ctree.tokens == tokens and ctree.is_continuous()
        assert ctree.yields()[ctree.root] == tuple(range(n))
    assert min(repairs.counts[kind] for kind in (GLUED, CROSSING, CYCLE)) > 0


def test_crossing_arcs_may_stay() -> None:
    gold = parse_bracket("(TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT the) (NN dog))) (. .)))")
    route = ConstrainedCKY(epochs=5, table_bits=14, continuous=False).fit([gold] * 5)
    dtree = route.encode(gold)
    assert route.decode(dtree) == load_head_rules("collins").apply(gold)
    crossing = DTree(dtree.tokens, (2, 3, 0, 2, 3, 3))  # the second article belongs to the first noun
    repairs = Repairs()
    ctree = route.decode(crossing, repairs)
    assert not ctree.is_continuous() and repairs.counts[CROSSING] == 0


def test_counts_of_derivations() -> None:
    gold = parse_bracket("(TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT the) (NN dog))) (. .)))")
    route = ConstrainedCKY(epochs=1, table_bits=14).fit([gold])
    assert route.count(route.encode(gold)) == 1
