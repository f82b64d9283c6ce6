"""The estimator of constrained CKY: learns a small treebank, decodes anything, is saved and loaded."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib import resources
from itertools import islice
from operator import eq
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from d2c.base.errors import ModelError
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.cky.decoding import GLUE_USED, PRUNING_UNDONE
from d2c.learning.learner import Epoch
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import parse_bracket, read_brackets
from d2c.trees.formats.discbracket import parse_discbracket
from d2c.trees.heads import load_head_rules
from d2c.trees.repair import CROSSING, CYCLE, Repairs
from d2c.trees.scores.brackets import bracket_scores
from tests.compiled import LISTENER


def sample(part: str, count: int) -> list[CTree]:
    with resources.as_file(resources.files("d2c.data") / "sample" / f"{part}.mrg") as path:
        return list(islice(read_brackets(path, clean=True), count))


@cache
def fitted(binarization: str = "simple") -> ConstrainedCKY:
    losses: list[float] = []
    route = ConstrainedCKY(binarization=binarization, epochs=3, table_bits=18)
    route.fit(sample("train", 300), progress=lambda epoch: losses.append(epoch.loss))
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
    assert repairs.sentences == 100 and repairs.counts[GLUE_USED] <= 10  # 300 sentences do not show all rules


@pytest.mark.parametrize("symbols", ["vertical", "collapsed"])
def test_refined_symbols_are_the_grammars_own_business(symbols: str) -> None:
    """C-trees have plain labels, and a confidence for each node; the oracle of a gold d-tree is gold."""
    route, trees = ConstrainedCKY(symbols=symbols, epochs=3, table_bits=16), sample("train", 40)
    heads = load_head_rules("collins")
    route.fit(trees)
    labels = {label for ctree in trees for label in ctree.labels}
    assert any(symbol.bar == "" and symbol.label not in labels for symbol in route.grammar_.symbols)
    dtrees = list(map(route.encode, trees))
    assert sum(map(eq, route.decode_all(dtrees), map(heads.apply, trees))) > 30
    for ctree, dtree in zip(trees, dtrees, strict=True):
        assert route.oracle(ctree, dtree) == heads.apply(ctree)
        decoded, shares = route.confidences(dtree)
        assert decoded == route.decode(dtree) and len(shares) == len(decoded.labels)


def test_what_is_loaded_decodes_alike(tmp_path: Path) -> None:
    route, dev = fitted(), sample("dev", 30)
    route.save(tmp_path)
    loaded = ConstrainedCKY.load(tmp_path)
    assert (loaded.weights_ == route.weights_).all()
    for ctree in dev:
        assert loaded.decode(route.encode(ctree)) == route.decode(route.encode(ctree))
    (tmp_path / "weights.npz").write_bytes(b"junk")
    with pytest.raises(ModelError, match=r"weights\.npz"):
        ConstrainedCKY.load(tmp_path)
    (tmp_path / "cky.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(ModelError, match=r"cky\.json.* 99"):
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
    assert min(repairs.counts[kind] for kind in (GLUE_USED, CROSSING, CYCLE)) > 0


def test_crossing_arcs_may_stay() -> None:
    gold = parse_bracket("(TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT the) (NN dog))) (. .)))")
    route = ConstrainedCKY(epochs=5, table_bits=14, continuous=False).fit([gold] * 5)
    dtree = route.encode(gold)
    assert route.decode(dtree) == load_head_rules("collins").apply(gold)
    crossing = DTree(dtree.tokens, (2, 3, 0, 2, 3, 3))  # the second article belongs to the first noun
    repairs = Repairs()
    ctree = route.decode(crossing, repairs)
    assert not ctree.is_continuous() and repairs.counts[CROSSING] == 0


def test_trees_with_gaps_are_learned_scored_and_decoded() -> None:
    text = "(S (NP (D 0=a) (N 3=d)) (VP (V 1=b) (X 2=c)))"
    bare = parse_discbracket(text)
    gold = replace(bare, head_children=tuple(kids[1 - k % 2] for k, kids in enumerate(bare.children)))
    assert not gold.is_continuous() and [gold.label(head) for head in gold.head_children or ()]
    route = ConstrainedCKY(epochs=2, table_bits=12).fit([gold] * 3, [gold])
    assert route.decode(route.encode(gold)) == gold
    other = Tokens(bare.tokens.forms, ("O", "P", "Q", "R"))  # tags of a tree that nothing is learned from
    unused = load_head_rules("leftmost").apply(replace(bare, tokens=other))
    route = ConstrainedCKY(epochs=2, table_bits=12).fit([gold, unused])
    assert route.decode(DTree(other, route.encode(gold).heads)).tokens == other
    with pytest.raises(ValueError, match="no tree of the treebank has a derivation"):
        ConstrainedCKY(head_rules="leftmost", epochs=1, table_bits=8).fit([bare])


def test_trees_that_teach_nothing_are_counted_and_named(caplog: pytest.LogCaptureFixture) -> None:
    """Those whose gaps are not nested, and those over whose predicted heads the grammar has no tree."""
    plain = parse_bracket("(S (NP (D a) (N b)) (VP (V c) (X d)))")
    crossing = parse_discbracket("(S (NP (D 0=a) (N 3=d)) (VP (V 1=b) (X 2=c)))")
    not_nested = load_head_rules("leftmost").apply(crossing)
    route = ConstrainedCKY(epochs=1, table_bits=8, head_rules="leftmost")
    with caplog.at_level("WARNING", "d2c.progress"):
        route.fit([plain, *[not_nested] * 6, plain])
        dtrees = [route.encode(plain), replace(route.encode(plain), heads=(4, 1, 1, 0))]
        route.fit([plain] * 2, dtrees=dtrees)
        ConstrainedCKY(epochs=1, table_bits=8, max_unaries=0).fit([plain, parse_bracket("(S (N a))")])
        ConstrainedCKY(epochs=1, table_bits=8).fit([parse_bracket("(A (B (C (D (E a)))))")])
    first, second, third, fourth = caplog.messages
    assert first.startswith("cky: nothing is learned from 6 trees of 8 (sentences 2, 3, 4, 5, 6, ...): a gap")
    assert second.startswith("cky: nothing is learned from 1 tree of 2 (sentence 2): the grammar makes no")
    assert third.startswith("cky: nothing is learned from 1 tree of 2: --pruning and --max-unaries leave")
    assert fourth.startswith("cky: nothing is learned from 1 tree of 1: --pruning and --max-unaries leave")


def test_very_flat_d_trees_need_little_memory() -> None:
    """One word with 3,000 dependents on either side: nine million items if they came in any order."""
    n = 6001
    tokens = Tokens(("a",) * n, ("NN",) * n)
    heads = [3001] * n
    heads[3000] = 0
    ctree = fitted().decode(DTree(tokens, tuple(heads)))
    assert ctree.tokens == tokens and ctree.is_continuous()


def test_counts_of_derivations() -> None:
    gold = parse_bracket("(TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT the) (NN dog))) (. .)))")
    route = ConstrainedCKY(epochs=1, table_bits=14).fit([gold])
    assert route.count(route.encode(gold)) == 1


@pytest.mark.parametrize("pruning", ["1", "2", "1+2"])
def test_pruning_makes_the_chart_smaller_and_keeps_a_parse(pruning: str) -> None:
    route, dev = copy.copy(fitted()), sample("dev", 60)
    dtrees = [route.encode(ctree) for ctree in dev]
    before = [route.count(dtree) for dtree in dtrees]
    route.settings = replace(route.settings, pruning=pruning)
    after = [route.count(dtree) for dtree in dtrees]
    assert all(b <= a for a, b in zip(before, after, strict=True)) and sum(after) < sum(before)
    repairs = Repairs()
    assert len(list(route.decode_all(dtrees, repairs))) == 60
    assert repairs.counts[PRUNING_UNDONE] == after.count(0)


def test_method_1_is_what_was_seen_with_the_tag() -> None:
    """Both sentences' rules are in the grammar; a verb's are not for a noun."""
    gold = [
        parse_bracket("(TOP (S (NP (DT a) (NN b)) (VP (VBD c))))"),
        parse_bracket("(TOP (S (NP (DT a) (NN b)) (VP (VBZ c))))"),
        parse_bracket("(TOP (FRAG (VP (VBZ c))))"),
    ]
    route = ConstrainedCKY(epochs=1, table_bits=10, pruning="1").fit(gold)
    assert [route.count(route.encode(ctree)) for ctree in gold] == [1, 1, 1]
    only_noun = DTree(Tokens(("c",), ("VBD",)), (0,))
    assert route.count(only_noun) == 0  # VBD never was all of a FRAG
    route.settings = replace(route.settings, pruning="none")
    assert route.count(only_noun) == 1


def test_method_2_fixes_the_side_where_it_was_always_the_same() -> None:
    gold = [parse_bracket("(TOP (S (NP (DT a)) (VP (VBD c) (NP (NN b)))))")] * 3
    other = parse_bracket("(TOP (VP (VP (NP (DT a)) (VBD c)) (NP (NN b))))")
    route = ConstrainedCKY(epochs=1, table_bits=10, pruning="2", gamma=0.7).fit([*gold, other])
    dtree = route.encode(other)
    assert route.count(dtree) == 1  # right first: three in four
    route.allowed_ = route.allowed_._replace(sides=route.allowed_.sides[:0])
    assert route.count(dtree) == 2
    as_probable = ConstrainedCKY(epochs=1, table_bits=10, pruning="2", gamma=0.75).fit([*gold, other])
    assert as_probable.count(dtree) == 2  # p > γ


def test_the_oracle_is_the_gold_tree_wherever_the_chart_has_it() -> None:
    route, heads = fitted(), load_head_rules("collins")
    for ctree in sample("train", 100):
        assert route.oracle(ctree, route.encode(ctree)) == heads.apply(ctree)


def test_the_oracle_for_a_wrong_d_tree_beats_every_other_tree() -> None:
    """The d-tree hangs the PP from the verb; gold has it in the NP. All else can be right."""
    gold = parse_bracket(
        "(TOP (S (NP (PRP I)) (VP (VBD saw) (NP (NP (DT a) (NN man)) (PP (IN with) (NP (NNS eyes)))))))"
    )
    other = parse_bracket(
        "(TOP (S (NP (PRP I)) (VP (VBD saw) (NP (DT a) (NN man)) (PP (IN with) (NP (NNS eyes))))))"
    )
    route = ConstrainedCKY(epochs=1, table_bits=12).fit([gold, other])
    assert route.oracle(gold, route.encode(other)) == load_head_rules("collins").apply(other)


def test_confidences_are_shares_of_the_derivations() -> None:
    """With weights of 0 every derivation counts alike: here two, (X (Y a) ...) or (X a ...)."""
    gold = [
        parse_bracket("(TOP (S (NP (NN a)) (VBD b)))"),
        parse_bracket("(TOP (S (NN a) (VBD b)))"),
    ]
    route = ConstrainedCKY(table_bits=8)
    route.fit_grammar(gold)
    route.weights_ = np.zeros(1 << 8, np.float32)
    ctree, shares = route.confidences(route.encode(gold[0]))
    assert dict(zip(ctree.labels, shares, strict=True)) == pytest.approx(
        {"S": 1.0} if len(ctree.labels) == 1 else {"S": 1.0, "NP": 0.5}
    )
    for dtree in map(fitted().encode, sample("dev", 20)):
        ctree, shares = fitted().confidences(dtree)
        assert ctree == fitted().decode(dtree) and len(shares) == len(ctree.labels)
        assert all(0 < share <= 1 for share in shares)


def test_the_k_best_trees_come_in_order_and_once() -> None:
    route = fitted()
    for dtree in map(route.encode, sample("dev", 20)):
        trees = route.decode_k_best(dtree, 5)
        assert trees[0][1] == route.decode(dtree)
        assert sorted((score for score, _ in trees), reverse=True) == [score for score, _ in trees]
        assert len({ctree for _, ctree in trees}) == len(trees) <= 5
        assert all(ctree.tokens == dtree.tokens for _, ctree in trees)


def test_labels_help_where_they_tell_trees_apart() -> None:
    """Same words, tags and heads; only the d-label says whether there is an NP."""
    flat, deep = (
        parse_bracket("(TOP (S (NN a) (VP (VBD b))))"),
        parse_bracket("(TOP (S (NP (NN a)) (VP (VBD b))))"),
    )
    dtrees = [DTree(flat.tokens, (2, 0), labels=(label, "root")) for label in ("bare", "phrase")]
    route = ConstrainedCKY(epochs=10, table_bits=12, labels=True).fit([flat, deep], dtrees=dtrees)
    heads = load_head_rules("collins")
    assert [route.decode(dtree) for dtree in dtrees] == [heads.apply(flat), heads.apply(deep)]
    assert route.decode(DTree(flat.tokens, (2, 0))).tokens == flat.tokens  # without labels, too


def test_training_on_predicted_d_trees_learns_the_oracle() -> None:
    gold = parse_bracket("(TOP (S (NP (DT a) (NN b)) (VP (VBD c) (NP (DT d) (NN e)))))")
    wrong = DTree(gold.tokens, (2, 3, 0, 3, 3), labels=("x",) * 5)  # the second article hangs from the verb
    flat = parse_bracket("(TOP (S (NP (DT a) (NN b)) (VP (VBD c) (DT d) (NN e))))")  # the grammar's for this
    route = ConstrainedCKY(epochs=3, table_bits=12).fit([gold] * 3 + [flat], dtrees=[wrong] * 4)
    assert route.decode(wrong) == route.oracle(gold, wrong)


def test_the_best_epoch_is_kept() -> None:
    epochs: list[Epoch] = []
    train, dev = sample("train", 120), sample("dev", 40)
    route = ConstrainedCKY(epochs=4, table_bits=14).fit(train, dev, progress=epochs.append)
    best = max(epoch.f1 or 0.0 for epoch in epochs)
    scored = bracket_scores(dev, list(route.decode_all(map(route.encode, dev))))
    assert len(epochs) == 4 and scored.f1 == pytest.approx(best)


def test_an_interrupted_training_goes_on(tmp_path: Path) -> None:
    train, dev = sample("train", 80), sample("dev", 20)

    def stop(epoch: Epoch) -> None:
        if epoch.number == 2:
            raise KeyboardInterrupt

    def new(checkpoints: Path | None = None, seed: int = 0) -> ConstrainedCKY:
        return ConstrainedCKY(epochs=4, table_bits=14, seed=seed, checkpoints=checkpoints)

    with pytest.raises(KeyboardInterrupt):
        new(tmp_path).fit(train, dev, progress=stop)
    epochs: list[Epoch] = []
    resumed = new(tmp_path).fit(train, dev, progress=epochs.append)
    assert [epoch.number for epoch in epochs] == [3, 4]
    assert np.array_equal(resumed.weights_, new().fit(train, dev).weights_)
    with pytest.raises(ModelError, match="is of another treebank or other settings"):
        new(tmp_path, seed=1).fit(train, dev)
    (tmp_path / "checkpoint.npz").write_bytes(b"junk")
    with pytest.raises(ModelError, match="is broken"):
        new(tmp_path).fit(train, dev)


WARM = (
    LISTENER
    + """
import sys
from pathlib import Path
from typing import Any
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.trees.formats.brackets import read_brackets
ConstrainedCKY.warm_up(train=True)
event.register("numba:compile", Listener())
trees = list(read_brackets(Path(sys.argv[1]), clean=True))[:20]
route = ConstrainedCKY(epochs=1, table_bits=10, labels=True, pruning="1+2").fit(trees, trees)
route.save(Path(sys.argv[2]))
route = ConstrainedCKY.load(Path(sys.argv[2]))
for tree in trees:
    route.decode(route.encode(tree))
    route.oracle(tree, route.encode(tree))
route.confidences(route.encode(trees[0]))
print(compiled)
"""
)


def test_a_warm_route_compiles_nothing_more(tmp_path: Path) -> None:
    with resources.as_file(resources.files("d2c.data") / "sample" / "train.mrg") as path:
        command = [sys.executable, "-c", WARM, str(path), str(tmp_path)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert said.strip() == "[]"


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said["rules"].reverse(),
        lambda said: said["rules"][0].__setitem__(0, 7),
        lambda said: said["rules"][0].__setitem__(1, ["", "root"]),
        lambda said: said["levels"].pop(),
        lambda said: said["levels"].__setitem__(0, -1),
        lambda said: said["levels"].__setitem__(0, 1 << 40),
        lambda said: said["vocabulary"]["words"].update(x=-1),
        lambda said: said["vocabulary"]["tags"].update(NN=1 << 30),
        lambda said: said["vocabulary"]["morphs"].update(x=0),
        lambda said: said["vocabulary"].update(morphs=["x"]),
        lambda said: said["vocabulary"].update(unknown_tag="no such tag"),
        lambda said: said["settings"].update(table_bits=40),
        lambda said: said["settings"].update(max_unaries=1 << 30),
        lambda said: said["settings"].update(pruning="3"),
        lambda said: said.update(default=["no such symbol", ""]),
        lambda said: said.update(default=["NN", "tag"]),
        lambda said: said.update(gaps="no"),
        lambda said: said["rules"][0].__setitem__(3, ["NN", "tag"]),
        lambda said: said["rules"][0].__setitem__(2, ["S", "bar"]),
        lambda said: said["rules"][0].__setitem__(3, ["S", "glue"]),
        lambda said: said["settings"].update(labels=[1]),
        lambda said: said["settings"].update(gamma="x"),
        lambda said: said.update(settings={"table_bits": 10}),  # slots beyond the table
    ],
)
def test_what_does_not_fit_in_a_model_is_an_error(change: Callable[[Any], object], tmp_path: Path) -> None:
    fitted().save(tmp_path)
    said = json.loads((tmp_path / "cky.json").read_text())
    change(said)
    (tmp_path / "cky.json").write_text(json.dumps(said))
    with pytest.raises(ModelError, match=r"cky\.json|weights\.npz"):
        ConstrainedCKY.load(tmp_path)


def test_arrays_that_do_not_fit_are_an_error(tmp_path: Path) -> None:
    fitted().save(tmp_path)
    with np.load(tmp_path / "weights.npz") as file:
        arrays = dict(file)
    for name, wrong in (
        ("codes", arrays["codes"][:, :-1]),
        ("steps", arrays["steps"] * np.nan),
        ("by_tag", arrays["by_tag"][:, :-1]),
        ("sides", arrays["sides"][::-1]),
        ("next_side", arrays["next_side"] + 5),
    ):
        np.savez(tmp_path / "weights.npz", **arrays | {name: wrong})
        with pytest.raises(ModelError, match=r"weights\.npz"):
            ConstrainedCKY.load(tmp_path)
