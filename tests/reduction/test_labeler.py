"""The two-stage labeler: search against brute force, constraints, files, and how it does on the sample."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from d2c.base.arrays import Longs
from d2c.base.errors import ModelError
from d2c.reduction.encodings import ENCODINGS
from d2c.reduction.labeler.backbones import Backbones
from d2c.reduction.labeler.joint import JointStates
from d2c.reduction.labeler.labeler import INEXACT, Labeler
from d2c.reduction.labeler.learning import label_heads, labels_score, shares_of
from d2c.reduction.labeler.scores import FREE, _best_of_each
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.reduction.reduction import Reduction
from d2c.trees.conversion import order_arcs, to_dependencies
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import read_brackets
from d2c.trees.labels import ROOT
from d2c.trees.repair import Repairs
from d2c.trees.scores.brackets import bracket_scores
from d2c.trees.unaries import strip_unaries
from tests.strategies import ctrees, tree_heads, words

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
TRAIN, DEV = (list(read_brackets(SAMPLE / f"{part}.mrg", clean=True)) for part in ("train", "dev"))
MOST = 400  # labellings of a head that are enumerated


def encoded(encoding: str, treebank: list[CTree]) -> list[DTree]:
    return [Reduction(encoding).encode(ctree) for ctree in treebank]


def unlabelled(dtree: DTree) -> DTree:
    return replace(dtree, symbols=None, events=None, labels=None)


def labels_of(labeler: Labeler, arcs: Backbones) -> tuple[Longs, int]:
    """The best labels by position; how many heads had none under the constraint."""
    best = np.zeros(len(arcs.tags), np.int64)
    heads = arcs.with_modifiers()
    failed = label_heads(labeler._scorer(), arcs, heads, best[:0], JointStates.new(labeler._table), best)
    return best, failed


@pytest.fixture(scope="module", params=ENCODINGS)
def labeler(request: pytest.FixtureRequest) -> Labeler:
    return Labeler(request.param, table_bits=16).fit(encoded(request.param, TRAIN))


@pytest.mark.parametrize("encoding", [*ENCODINGS, "unconstrained"])
@settings(max_examples=30, deadline=None)
@given(
    treebank=st.lists(ctrees(gaps=False), min_size=1, max_size=3), heads=tree_heads(5), seed=st.integers(0, 9)
)
def test_search_finds_the_best_of_all_labellings(
    encoding: str, treebank: list[CTree], heads: tuple[int, ...], seed: int
) -> None:
    own = "direct" if encoding == "unconstrained" else encoding
    labeler = Labeler(own, encoding != "unconstrained", epochs=1, table_bits=10).fit(encoded(own, treebank))
    labeler.weights_ = np.random.default_rng(seed).normal(size=1 << 10).astype(np.float32)
    dtree = DTree(words(len(heads)), heads)
    arcs, table, scorer = labeler._backbones([(dtree, None)]), labeler._table, labeler._scorer()
    best, failed = labels_of(labeler, arcs)
    nothing = np.full_like(best, -1)
    for h in range(len(heads) + 1):
        modifiers = arcs.modifiers[arcs.begin[h] : arcs.begin[h + 1]]
        rows = [table.rows[arcs.tags[h], arcs.tags[m], int(m > h)] for m in modifiers]
        sets = [table.candidates[table.begin[row] : table.begin[row + 1]] for row in rows]
        if not sets or np.prod([len(one) for one in sets]) > MOST:
            continue
        constraint = scorer.constraint if h else FREE
        found = labels_score(scorer, arcs, h, constraint, best, nothing)
        scores = []
        for chosen in product(*sets):
            given_labels = best.copy()
            given_labels[modifiers] = chosen
            scores.append(labels_score(scorer, arcs, h, constraint, given_labels, nothing))
        if max(scores) > -np.inf:
            assert found == pytest.approx(max(scores), abs=1e-4)
        else:
            assert failed or found > -np.inf  # with the longer row of candidates, or without constraints


@pytest.mark.parametrize("encoding", [*ENCODINGS, "unconstrained"])
@settings(max_examples=20, deadline=None)
@given(
    treebank=st.lists(ctrees(gaps=False), min_size=1, max_size=3), heads=tree_heads(5), seed=st.integers(0, 9)
)
def test_shares_are_those_of_all_labels_in_one_place(
    encoding: str, treebank: list[CTree], heads: tuple[int, ...], seed: int
) -> None:
    own = "direct" if encoding == "unconstrained" else encoding
    labeler = Labeler(own, encoding != "unconstrained", epochs=1, table_bits=10).fit(encoded(own, treebank))
    labeler.weights_ = np.random.default_rng(seed).normal(size=1 << 10).astype(np.float32) / 8
    arcs = labeler._backbones([(DTree(words(len(heads)), heads), None)])
    table, scorer, tags = labeler._table, labeler._scorer(), arcs.tags
    best, _ = labels_of(labeler, arcs)
    nothing = np.full_like(best, -1)
    shares = shares_of(scorer, arcs, arcs.with_modifiers(), best)
    for m, h in enumerate(heads, 1):
        row = table.rows[tags[h], tags[m], int(m > h)]
        constraints = (scorer.constraint if h else FREE, FREE)
        constraint = next(
            one for one in constraints if labels_score(scorer, arcs, h, one, best, nothing) > -np.inf
        )
        scores = {}
        for label in {best[m], *table.candidates[table.begin[row] : table.begin[row + 1]]}:
            other = best.copy()
            other[m] = label
            scores[label] = labels_score(scorer, arcs, h, constraint, other, nothing)
        total = sum(np.exp(value - scores[best[m]]) for value in scores.values())
        assert shares[m] == pytest.approx(1 / total, rel=1e-3)
        assert 0 < shares[m] <= 1


def test_how_sure_labels_are_says_which_are_wrong(labeler: Labeler) -> None:
    gold = encoded(labeler.settings.encoding, DEV)
    labelled = labeler.label_with_shares([unlabelled(dtree) for dtree in gold])
    assert [dtree for dtree, _ in labelled] == list(labeler.label_all(map(unlabelled, gold)))
    shares: dict[bool, list[float]] = {True: [], False: []}
    for one, (two, of_two) in zip(gold, labelled, strict=True):
        for a, b, share in zip(one.labels or (), two.labels or (), of_two, strict=True):
            assert 0 < share <= 1
            shares[a == b].append(share)
    means = {right: sum(values) / len(values) for right, values in shares.items()}
    assert means[False] < means[True] - 0.1


def test_labels_need_no_repair_on_any_projective_tree(labeler: Labeler) -> None:
    route = Reduction(labeler.settings.encoding).fit(TRAIN)
    noise = np.random.default_rng(1)
    repairs, counts = Repairs(), Counter[str]()
    for ctree in DEV[:40]:
        n = len(ctree.tokens)
        root = int(noise.integers(1, n + 1))
        heads = tuple(m - 1 if m > root else (m + 1 if m < root else 0) for m in range(1, n + 1))
        [labelled] = labeler.label_all([DTree(ctree.tokens, heads)], counts=counts)
        route.decode(labelled, repairs)
    assert repairs.tokens > 300
    if ENCODINGS[labeler.settings.encoding].constraint.joint:  # else not all that must fit is chosen together
        assert repairs.counts.total() <= counts[INEXACT]


def test_a_head_of_thousands_of_labels_takes_little_memory() -> None:
    n = 3_000
    labels = tuple(f"X#{event}" for event in range(1, n)) + ("ROOT",)
    dtree = DTree(words(n), (*(n,) * (n - 1), 0), labels=labels)
    labeler = Labeler("direct", epochs=1, table_bits=16).fit([dtree])
    assert {*(labeler.label(dtree).labels or ())} <= {*labels}  # all their pairs would take 108 GB


def test_of_too_many_candidates_the_best_are_kept_in_their_order() -> None:
    begin, scores = np.array([0, 3, 4, 8]), np.array([1, 3, 2, 5, 2, 9, 2, 2], np.float32)
    ends, kept = _best_of_each.py_func(begin, scores, 2)
    assert (ends.tolist(), kept.tolist()) == ([0, 2, 3, 5], [1, 2, 3, 4, 5])
    scores = np.random.default_rng(1).integers(0, 9, 40).astype(np.float32)
    for most in range(1, 42):
        best = np.sort(np.argsort(-scores, kind="stable")[:most])
        _, kept = _best_of_each.py_func(np.array([0, 0, 40]), scores, most)
        assert kept.tolist() == best.tolist()


def test_sample_is_labelled_well(labeler: Labeler) -> None:
    gold = encoded(labeler.settings.encoding, DEV)
    guess = labeler.label_all(map(unlabelled, gold))
    pairs = [
        (a, b)
        for one, two in zip(gold, guess, strict=True)
        for a, b in zip(one.labels or (), two.labels or (), strict=True)
    ]
    right = sum(a == b for a, b in pairs)
    assert len(pairs) == sum(len(ctree.tokens) for ctree in DEV)
    assert right / len(pairs) > (0.85 if labeler.settings.encoding == "spine" else 0.95)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_same_seed_same_labeler_and_files_come_back(encoding: str, tmp_path: Path) -> None:
    learned = encoded(encoding, TRAIN[:300])
    labeler, again = (Labeler(encoding, table_bits=16).fit(learned) for _ in range(2))
    np.testing.assert_array_equal(labeler.weights_, again.weights_)
    labeler.save(tmp_path)
    loaded = Labeler.load(tmp_path)
    backbones = [unlabelled(dtree) for dtree in encoded(encoding, DEV)]
    assert list(loaded.label_all(backbones)) == list(labeler.label_all(backbones))


@pytest.mark.parametrize("damage", ["format", "labels", "table", "cut"])
def test_broken_files_are_model_errors(damage: str, tmp_path: Path) -> None:
    Labeler(epochs=1, table_bits=10).fit(encoded("direct", TRAIN[:20])).save(tmp_path)
    settings_file, weights = tmp_path / "labeler.json", tmp_path / "labeler.npz"
    said = json.loads(settings_file.read_text(encoding="utf-8"))
    if damage == "format":
        said["format"] = 99
    elif damage == "labels":
        said["labels"] = said["labels"][:1]
    elif damage == "table":
        said["parameters"]["table_bits"] = 4
    else:
        weights.write_bytes(weights.read_bytes()[:100])
    settings_file.write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(ModelError, match="format 99" if damage == "format" else "is broken"):
        Labeler.load(tmp_path)


def test_morphology_helps_where_a_treebank_has_it(tmp_path: Path) -> None:
    """Same words, tags and heads; only morphology says which label is right."""
    tokens = Tokens(("a", "b"), ("A", "B"))
    told = [
        DTree(replace(tokens, morphs=(name, "b")), (2, 0), labels=(label, ROOT))
        for name, label in (("mass", "X#1"), ("count", "Y#1"))
    ]
    labeler = Labeler(table_bits=12).fit(told * 2)
    assert [labeler.label(unlabelled(dtree)) for dtree in told] == told
    labeler.save(tmp_path)
    assert [Labeler.load(tmp_path).label(unlabelled(dtree)) for dtree in told] == told
    assert labeler.label(DTree(tokens, (2, 0))).heads == (2, 0)  # without, too
    few = [DTree(tokens, (2, 0), labels=told[0].labels)] * 2 + told
    assert Labeler(table_bits=12, epochs=1).fit(few).lexicon_.morphs == {}


def test_untrained_labeler_says_so() -> None:
    with pytest.raises(ModelError, match="not trained"):
        Labeler().label(DTree(words(1), (0,)))
    with pytest.raises(ModelError, match="not trained"):
        Labeler().label_with_shares([])
    with pytest.raises(ModelError, match="not trained"):
        TwoStage().decode(DTree(words(1), (0,)))
    with pytest.raises(ValueError, match="unknown encoding"):
        Labeler("indirect")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_empty_treebank_teaches_the_root_only(encoding: str) -> None:
    labeler = Labeler(encoding, table_bits=10).fit([])
    assert labeler.label(DTree(words(3), (2, 0, 2))).labels == ("root",) * 3


def test_heads_out_of_range_are_refused(labeler: Labeler) -> None:
    with pytest.raises(ValueError, match="out of range"):
        labeler.label(DTree(words(2), (0, 3)))


@given(ctrees())
def test_own_heads_give_algorithm_1(ctree: CTree) -> None:
    unaryless, _ = strip_unaries(ctree)
    own = to_dependencies(unaryless)
    assert order_arcs(unaryless, own.heads) == own


@given(ctrees(gaps=False), st.data())
def test_other_heads_give_a_tree_that_decodes(ctree: CTree, data: st.DataObject) -> None:
    unaryless, _ = strip_unaries(ctree)
    n = len(ctree.tokens)
    heads = data.draw(tree_heads(n, n))
    ordered = order_arcs(unaryless, heads)
    arcs = zip(heads, ordered.events or (), strict=True)
    symbols = dict(zip(arcs, ordered.symbols or (), strict=True))
    for h, event, symbol in zip(heads, ordered.events or (), ordered.symbols or (), strict=True):
        assert (h == 0) == (event == 0)
        assert symbols[h, event] == symbol  # one event, one symbol
    if ordered.is_projective():
        assert ordered.is_nested()


def test_reduction_with_a_labeler(tmp_path: Path) -> None:
    route = TwoStage("delta").fit(TRAIN[:1000])
    gold = [unlabelled(dtree) for dtree in encoded("delta", DEV)]
    repairs = Repairs()
    guess = list(route.decode_all(gold, repairs))
    assert bracket_scores(DEV, guess).f1 > 97
    assert repairs.counts.total() == 0
    route.save(tmp_path)
    assert list(TwoStage.load(tmp_path).decode_all(gold)) == guess
    spoilt = [replace(dtree, heads=(len(dtree.heads) + 5,) * len(dtree.heads)) for dtree in gold]
    assert [ctree.tokens for ctree in route.decode_all(spoilt, repairs)] == [ctree.tokens for ctree in DEV]
    assert repairs.counts["head outside the sentence"] == sum(len(ctree.tokens) for ctree in DEV)


def test_confidences_come_with_the_trees_of_the_labelers_labels() -> None:
    route = TwoStage("direct").fit(TRAIN[:200])
    gold = [unlabelled(dtree) for dtree in encoded("direct", DEV[:100])]
    repairs = Repairs(), Repairs()
    found = list(route.confidences_all(gold, repairs[0]))
    assert [ctree for ctree, _ in found] == list(route.decode_all(gold, repairs[1]))
    assert repairs[0].counts == repairs[1].counts and repairs[0].tokens == repairs[1].tokens
    assert [route.decode(dtree) for dtree in route.relabel(gold)] == [ctree for ctree, _ in found]


def test_jackknifed_trees_and_their_labels_are_learned_from() -> None:
    treebank, jackknifed = TRAIN[:1000], list[DTree]()
    for dtree in encoded("direct", treebank):
        n = len(dtree.heads)
        heads = tuple(
            h if m % 5 else (0 if h == 0 else dtree.heads.index(0) + 1) for m, h in enumerate(dtree.heads)
        )
        jackknifed.append(DTree(dtree.tokens, heads, labels=dtree.labels if n % 3 else ("dep",) * n))
    route = TwoStage("direct").fit(treebank, dtrees=jackknifed)
    assert route.labeler_.stacked_
    gold = encoded("direct", DEV)
    assert bracket_scores(DEV, list(route.decode_all(gold))).f1 > 97
    with pytest.raises(ValueError, match="spines do not fit"):
        TwoStage("spine").fit(treebank, dtrees=jackknifed)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.lists(ctrees(unaries=False), min_size=1, max_size=4))
def test_trees_with_gaps_have_free_labels_and_keep_their_gaps(treebank: list[CTree]) -> None:
    route = TwoStage("direct").fit(treebank)
    assert route.labeler_.settings.constrained == all(ctree.is_continuous() for ctree in treebank)
    for ctree in treebank:
        dtree = unlabelled(route.encode(ctree))
        decoded = route.decode(dtree)
        assert decoded.tokens == ctree.tokens


@pytest.mark.parametrize(("sides", "count"), [(20, 0), (110, 1), (190, 1)])
def test_heads_of_which_the_search_is_not_exact_are_counted(sides: int, count: int) -> None:
    """Modifiers on either side; of 10,000 cells each has room for a dozen states, of 32,768 for none."""
    n = 2 * sides + 1
    head = sides + 1
    events = [1 + (abs(m - head) - 1) * 6 // sides for m in range(1, n + 1)]
    labels = tuple("ROOT" if m == head else f"X#{events[m - 1]}" for m in range(1, n + 1))
    dtree = DTree(words(n), tuple(0 if m == head else head for m in range(1, n + 1)), labels=labels)
    labeler, counts = Labeler(table_bits=10, epochs=1).fit([dtree]), Counter[str]()
    assert len(list(labeler.label_all([unlabelled(dtree)], counts=counts))) == 1
    assert counts[INEXACT] == count
