"""Learning over packed arcs: the features of arcs, the step, what is learned, kept and decoded with."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from math import log2
from pathlib import Path

import numpy as np
import pytest

from d2c.base.arrays import Ints
from d2c.base.errors import ModelError
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.cky.learning.svm import (
    BEGIN,
    SQUARES,
    ChartExample,
    ExampleColumns,
    columns_of,
    step_over_arcs,
    train_on,
)
from d2c.cky.search.deduction import Chart
from d2c.cky.search.derivations import ChartInput
from d2c.cky.search.packed_chart import MOST_EDGES, build_packed_chart, score_arcs
from d2c.cky.search.parts import Parts, losses, parts_of
from d2c.cky.search.scoring import Scorer, score_edges
from d2c.cky.search.skeleton import heads_of
from d2c.learning.adagrad import AdaGrad, Gradient
from d2c.learning.learner import Epoch, fingerprint_of
from d2c.learning.weights import rounded
from d2c.packed.arc_features import VALUED
from d2c.packed.arcs import packed_arcs, single, with_packed_arcs
from d2c.packed.scoring import FEWER, WEIGHTS, ArcScoring, least_probability
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.dtree import DTree, is_projective
from d2c.trees.repair import ARCS_UNDONE, Repairs
from d2c.trees.scores.brackets import bracket_scores
from tests.cky.parts import features_of
from tests.cky.test_arcs import labelled, wrong_head
from tests.cky.test_constrained_cky import sample
from tests.cky.test_learning import derivations, small


def with_weights(route: ConstrainedCKY, seed: int, bits: int = 12) -> ConstrainedCKY:
    """The same route, with weights drawn anew, those of arcs among them."""
    route = copy.copy(route)
    route.weights_ = (np.random.default_rng(seed).normal(size=1 << bits) / 4).astype(np.float32)
    route.arcs_ = BEGIN._replace(least=0.001)
    return route


def input_of(route: ConstrainedCKY, one: ChartExample) -> ChartInput:
    scorer = Scorer(route.templates, route.grammar_.keys, route.weights_)
    assert one.arcs is not None
    return ChartInput(route.query, one.observed, scorer, route.packed(one.arcs, one.observed, np.inf))


def test_over_single_arcs_a_step_is_that_of_the_single_chart() -> None:
    made, wrong = small(), 0
    for number in made.numbers[:30]:
        route = with_weights(made.route, number)
        observed, gold, _ = made.examples[number]
        learners = [AdaGrad.new(1 << 12, 0.1, 1e-3) for _ in range(2)]
        for learner in learners:
            learner.weights[:] = route.weights_
        one, other = learners
        scorer = Scorer(route.templates, route.grammar_.keys, one.weights)
        columns, gradient = ExampleColumns.of(made.examples), Gradient.of(one)
        expected = train_on(one, gradient, columns, np.array([number]), route.query, scorer)
        route.weights_ = other.weights
        asked = input_of(route, ChartExample(observed, gold, single(heads_of(observed).tolist())))
        assert step_over_arcs(other, Gradient.of(other), asked, gold) == expected
        assert np.array_equal(one.weights, other.weights) and other.clock[0] == 1
        wrong += expected[0] > 0
    assert wrong > 15


def features(asked: ChartInput, parts: Parts) -> Counter[int]:
    """f(y): what stands in each slot, by definition."""
    observed, scorer, packed = asked.observed, asked.scorer, asked.packed
    assert packed is not None and packed.features is not None
    slots = features_of(observed, parts.sites, parts.rules, scorer, len(scorer.weights) - 1)
    found = Counter[int]()
    for slot in slots[slots >= 0].tolist():
        found[slot] += 1
    number = {pair: a for a, pair in enumerate(zip(packed.arcs.dependents(), packed.arcs.heads, strict=True))}
    for site, rule in zip(parts.sites, parts.rules, strict=True):
        attaches = site["m"] >= 0
        if not attaches and not (site["g"] == 0 and site["k"] == -1):
            continue
        arc = number[(site["m"], site["h"] + 1) if attaches else (site["h"], 0)]
        rows = [(packed.features.arcs[arc], packed.arcs.logs[arc])]
        if attaches:
            symbol = asked.query.rules.parent[rule]
            rows.append((packed.features.symbols[arc, symbol], packed.features.labels[arc, symbol]))
        for own, log in rows:
            for place, slot in enumerate(own.tolist()):
                found[slot] += float(log) if place < VALUED else 1  # type: ignore[assignment]
    return found


def enumerated(route: ConstrainedCKY) -> Iterator[tuple[ChartInput, Chart, list[Ints], Parts]]:
    """Short sentences over packed arcs with labels: the chart, all derivations, the gold parts."""
    for seed, ctree in enumerate(one for one in sample("train", 400) if 2 < len(one.tokens) < 9):
        dtree = labelled(wrong_head(route.encode(ctree), 0.5, seed), 0.6)
        arcs, gold = packed_arcs(dtree), route.gold(ctree)
        assert arcs is not None
        if gold.derivation is None or arcs.is_single:
            continue
        observed = route.vocabulary_.observe(dtree.tokens, dtree.heads, None)
        asked = input_of(route, ChartExample(observed, gold.parts(route.grammar_), arcs))
        if asked.packed is None or asked.packed.skeleton is None:  # its d-tree is not projective
            continue
        chart, _ = build_packed_chart(route.query, observed, asked.packed.skeleton, MOST_EDGES)
        if every := derivations(chart):
            yield asked, chart, every, gold.parts(route.grammar_)


def test_scores_are_sums_of_features_times_weights_and_a_step_is_along_their_difference() -> None:
    """y' is the best of all by s(y') + Δ(y, y'); y the nearest to the gold tree, the best of equal ones."""
    route, rate, checked, wrong = with_weights(small().route, 3), 0.1, 0, 0
    for asked, chart, every, gold in enumerated(route):
        assert asked.packed is not None
        scores = score_edges(chart, asked.observed, asked.scorer, 0.0)
        scores += score_arcs(chart, asked.packed, asked.query.rules.parent)
        loss, weight, of_labels = losses(chart, gold), BEGIN.weight, BEGIN.labels
        found = [features(asked, parts_of(chart, edges)[0]) for edges in every]
        for edges, counts in zip(every, found, strict=True):
            total = sum(float(route.weights_[slot]) * value for slot, value in counts.items())
            plain = asked.packed._replace(
                scores=weight * asked.packed.arcs.logs,
                symbols=of_labels * asked.packed.features.labels,  # type: ignore[union-attr]
            )
            total += float(score_arcs(chart, plain, asked.query.rules.parent)[edges].sum())
            assert float(scores[edges].sum()) == pytest.approx(total, abs=1e-3)
        values = [(float(scores[edges].sum()), float(loss[edges].sum())) for edges in every]
        guess = max(range(len(every)), key=lambda y: sum(values[y]))
        target = max(range(len(every)), key=lambda y: (-values[y][1], values[y][0]))
        learner = AdaGrad.new(1 << 12, rate, 0.0)
        learner.weights[:] = route.weights_
        assert step_over_arcs(learner, Gradient.of(learner), asked, gold)[1] == len(gold.rules)
        changed = np.zeros(1 << 12)
        for y, sign in ((guess, -1), (target, 1)):
            for slot, value in found[y].items():
                changed[slot] += sign * value
        moved = (learner.weights - route.weights_)[np.abs(changed) > 1e-3]
        assert moved == pytest.approx(rate * np.sign(changed[np.abs(changed) > 1e-3]), abs=1e-4)
        checked, wrong = checked + len(every), wrong + (guess != target)
    assert checked > 100 and wrong > 10


def spoilt(route: ConstrainedCKY, ctrees: Sequence[CTree]) -> list[DTree]:
    """D-trees with a wrong head in most, which the arcs give 0.6, or 0.4 in every third."""
    trees = enumerate(ctrees)
    return [wrong_head(route.encode(ctree), 0.4 if seed % 3 == 0 else 0.6, seed) for seed, ctree in trees]


@cache
def learned() -> ConstrainedCKY:
    route = ConstrainedCKY(table_bits=18)
    said = list[str]()
    train = sample("train", 300)
    route.fit(train, dtrees=spoilt(route, train), progress=lambda one: said.append(str(one)))
    assert [one.partition(":")[0] for one in said] == ["cky", *["cky over packed arcs"] * 3]
    return route


def without_arcs(route: ConstrainedCKY, train: Sequence[CTree]) -> ConstrainedCKY:
    """What has learned from the same d-trees without arcs."""
    plain = ConstrainedCKY(table_bits=18, epochs=4)
    return plain.fit(train, dtrees=[with_packed_arcs(dtree, None) for dtree in spoilt(route, train)])


def test_it_learns_from_d_trees_with_packed_arcs(tmp_path: Path) -> None:
    """It finds more than what has learned from the same d-trees without arcs, and is kept whole."""
    route, dev = learned(), sample("dev", 100)
    dtrees = spoilt(route, dev)
    plain = without_arcs(route, sample("train", 300))
    assert plain.arcs_ == ArcScoring() and route.arcs_.learned == 1 and route.arcs_.least < 0.4
    plain.arcs_ = route.arcs_._replace(learned=0)
    f1, other = (bracket_scores(dev, list(one.decode_all(dtrees))).f1 for one in (route, plain))
    assert f1 > other + 1
    route.save(tmp_path)
    again = ConstrainedCKY.load(tmp_path)
    assert again.arcs_ == route.arcs_ and list(again.decode_all(dtrees)) == list(route.decode_all(dtrees))


def test_what_arcs_count_for_is_chosen_on_held_out_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """The weight with the best F1 is kept, and the weights that were learned; then risk may be minimised."""
    route, asked = ConstrainedCKY(table_bits=18), list[float]()

    def decode_all(self: ConstrainedCKY, dtrees: object) -> Iterator[CTree]:
        asked.append(self.arcs_.weight)
        return iter(())

    class Scores:
        @property
        def f1(self) -> float:
            return -abs(log2(asked[-1]) - 2)

    def fit_risk(route: ConstrainedCKY, gold: Iterable[CTree], dtrees: Iterable[DTree]) -> None:
        assert ([*gold], [*dtrees]) == (train[:1], dtrees[:1])
        route.arcs_ = route.arcs_._replace(scale=0.7, threshold=0.5)

    monkeypatch.setattr(ConstrainedCKY, "decode_all", decode_all)
    for module in ("d2c.packed.scoring", "d2c.cky.constrained_cky"):
        monkeypatch.setattr(f"{module}.bracket_scores", lambda gold, guess, gaps: Scores())
    monkeypatch.setattr("d2c.cky.constrained_cky.fit_risk", fit_risk)
    train = sample("train", 60)
    dtrees = spoilt(route, train)
    route.fit(train, train[:1], dtrees=dtrees, dev_dtrees=dtrees[:1])
    least = least_probability(dtrees[:1], FEWER[0])
    assert route.arcs_ == BEGIN._replace(least=least, weight=4.0, scale=0.7, threshold=0.5)
    assert asked[:3] == [1.0] * 3 and {*asked} == {*WEIGHTS}


def extraposed(ctree: CTree) -> CTree:
    """The last PP that does not end the sentence stands behind all else: mostly a tree with a gap."""
    yields, n = ctree.yields(), len(ctree.tokens)
    phrases = [below for label, below in zip(ctree.labels, yields[n:], strict=True) if label == "PP"]
    behind = next((below for below in reversed(phrases) if below[-1] < n - 2), ())
    order = [*(i for i in range(n) if i not in behind), *behind]
    forms, tags = ([own[i] for i in order] for own in (ctree.tokens.forms, ctree.tokens.tags))
    place = {old: new for new, old in enumerate(order)}
    children = [[place.get(kid, kid) for kid in kids] for kids in ctree.children]
    return build_ctree(Tokens(tuple(forms), tuple(tags)), ctree.labels, children, n + len(children) - 1)


@cache
def learned_with_gaps() -> tuple[ConstrainedCKY, list[CTree], list[CTree]]:
    """A chart, and trees of train and dev."""
    train, dev = (list(map(extraposed, sample(part, 300))) for part in ("train", "dev"))
    route = ConstrainedCKY(table_bits=18)
    return route.fit(train, dtrees=spoilt(route, train)), train, dev


def test_it_learns_over_arcs_of_trees_with_gaps_and_looks_at_those_that_cross() -> None:
    route, train, dev = learned_with_gaps()
    assert route.gaps_ and route.arcs_.learned == 1
    plain = without_arcs(route, train)
    plain.arcs_ = route.arcs_._replace(learned=0)
    pairs = zip(dev, spoilt(route, dev), strict=True)
    gold, dtrees = zip(*((one, d) for one, d in pairs if not is_projective(d.heads)), strict=True)
    assert len(gold) > 50
    repairs, single = Repairs(), [with_packed_arcs(dtree, None) for dtree in dtrees]
    found = list(route.decode_all(dtrees, repairs))
    assert repairs.counts[ARCS_UNDONE] < 10  # no derivation
    guesses = found, plain.decode_all(dtrees), route.decode_all(single)
    f1, other, of_single = (bracket_scores(gold, guess, gaps=True).f1 for guess in guesses)
    assert f1 > other + 1 and other > of_single + 5
    for dtree, ctree in zip(dtrees[:30], found, strict=False):
        assert route.confidences(dtree)[0] == route.decode_k_best(dtree, 3)[0][1] == ctree


def test_confidences_and_k_best_have_the_features_of_arcs() -> None:
    route, changed = learned(), 0
    plain = copy.copy(route)
    plain.arcs_ = route.arcs_._replace(learned=0)
    for dtree in spoilt(route, sample("dev", 30)):
        best, shares = route.confidences(dtree)
        assert best == route.decode(dtree) and all(0 <= share <= 1 for share in shares or ())
        (log, first), *_ = route.decode_k_best(dtree, 3)
        assert first == best and log <= 0
        changed += plain.confidences(dtree)[1] != shares
    assert changed > 5


def test_a_model_without_features_of_arcs_is_what_it_was(tmp_path: Path) -> None:
    """Files had three numbers of arcs, or none."""
    route, dtrees = copy.copy(learned()), spoilt(learned(), sample("dev", 30))
    route.arcs_ = ArcScoring(2.0, 0.01, 0.5)
    route.save(tmp_path)
    file = tmp_path / "cky.json"
    text = json.loads(file.read_text(encoding="utf-8"))
    text["arcs"] = text["arcs"][:3]
    file.write_text(json.dumps(text), encoding="utf-8")
    again = ConstrainedCKY.load(tmp_path)
    assert again.arcs_ == route.arcs_ == ArcScoring(2.0, 0.01, 0.5)
    assert list(again.decode_all(dtrees)) == list(route.decode_all(dtrees))
    packed = again.packed(single(dtrees[0].heads), again.vocabulary_.observe(*seen(dtrees[0])), np.inf)
    assert packed.features is None


def seen(dtree: DTree) -> tuple:  # type: ignore[type-arg]
    return dtree.tokens, dtree.heads, dtree.labels


def test_an_interrupted_training_over_arcs_goes_on(tmp_path: Path) -> None:
    train = sample("train", 40)

    def stop(epoch: Epoch) -> None:
        if epoch.number == 2:
            raise KeyboardInterrupt

    def learn(into: Path | None, says: Callable[[Epoch], None] | None = None) -> ConstrainedCKY:
        route = ConstrainedCKY(table_bits=14, checkpoints=into)
        return route.fit(train, dtrees=spoilt(route, train), progress=says)

    with pytest.raises(KeyboardInterrupt):
        learn(tmp_path, stop)
    epochs = list[Epoch]()
    resumed = learn(tmp_path, epochs.append)
    assert [(epoch.name, epoch.number) for epoch in epochs] == [("cky over packed arcs", 3)]
    np.testing.assert_array_equal(resumed.weights_, learn(None).weights_)
    resumed.weights_ = rounded(resumed.weights_)  # it has begun with others
    with pytest.raises(ModelError, match="is of another treebank or other settings"):
        resumed.go_on(train, spoilt(resumed, train), 3)


def test_labels_of_arcs_tell_trainings_apart() -> None:
    route, (ctree,) = copy.copy(small().route), sample("dev", 1)
    route.arcs_, prints = BEGIN, list[bytes]()
    for own in (0.9, 0.2):
        dtree = labelled(wrong_head(route.encode(ctree), 0.5), own)
        columns = columns_of(route._examples_over_arcs([route.gold(ctree, dtree)], [dtree]))
        prints.append(fingerprint_of(None, columns).tobytes())
    assert prints[0] != prints[1]


def test_a_chart_goes_on_over_arcs_from_its_own_weights() -> None:
    """One step over the arcs that are kept and the gold ones; what arcs count for and grammar stay."""
    ctree = next(one for one in sample("train", 400) if len(one.tokens) == 12)
    route = with_weights(ConstrainedCKY(epochs=1, table_bits=12).fit(sample("train", 60)), 3)
    route.arcs_ = ArcScoring(2.0, 0.001, 0.5)
    dtree = labelled(wrong_head(route.encode(ctree), 0.5, 1), 0.6)
    arcs, gold, before = packed_arcs(dtree), route.gold(ctree, dtree), route.weights_.copy()
    assert arcs is not None and gold.derivation is not None
    learner = AdaGrad.after(before, SQUARES, 0.1, 1e-6)
    other = copy.copy(route)
    other.weights_, other.arcs_ = learner.weights, ArcScoring(2.0, 0.001, 0.5, 1.0)
    observed = route.vocabulary_.observe(ctree.tokens, gold.heads, gold.labels)
    kept = arcs.kept(0.001, gold.heads, gold.gold_heads)
    asked, parts = (
        input_of(other, ChartExample(observed, gold.parts(route.grammar_), kept)),
        gold.parts(route.grammar_),
    )
    assert step_over_arcs(learner, Gradient.of(learner), asked, parts)[0] > 0
    assert route.go_on([ctree], [dtree], 1) is route
    assert np.array_equal(route.weights_, rounded(learner.truncated_average()))
    assert not np.array_equal(route.weights_, before) and route.arcs_ == ArcScoring(2.0, 0.001, 0.5, 1.0)
    with pytest.raises(ValueError):
        route.go_on([ctree], [], 1)
