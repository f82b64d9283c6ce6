"""Labels and heads learned together: the candidates, the step, what is learned, kept and decoded with."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from d2c.base.errors import ModelError
from d2c.learning.adagrad import AdaGrad, Gradient
from d2c.packed.arc_features import VALUED, ArcFeatures
from d2c.packed.arcs import PackedDTree, packed_arcs, single, with_packed_arcs
from d2c.packed.scoring import ArcScoring, least_probability
from d2c.reduction.labeler.backbones import Backbones, Repeated
from d2c.reduction.labeler.joint import JointStates
from d2c.reduction.labeler.labeler import Labeler
from d2c.reduction.labeler.learning import add_all, label_heads
from d2c.reduction.labeler.over_arcs import FIRST_SCORING, PACE, ArcExample, Candidates, add_step
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.trees.conversion import order_arcs
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.scores.brackets import bracket_scores
from d2c.trees.unaries import strip_unaries
from tests.cky.test_arcs import wrong_head
from tests.cky.test_constrained_cky import sample

BITS = 16


def spoilt(ctrees: Sequence[CTree]) -> list[DTree]:
    """D-trees with a wrong head in most, which the arcs give 0.6, or 0.4 in every third; without labels."""
    route, trees = TwoStage(), enumerate(ctrees)
    wrong = (wrong_head(route.encode(ctree), 0.4 if seed % 3 == 0 else 0.6, seed) for seed, ctree in trees)
    return [replace(dtree, labels=None) for dtree in wrong]


def bare(dtrees: Sequence[DTree]) -> list[DTree]:
    return [with_packed_arcs(dtree, None) for dtree in dtrees]


@cache
def learned() -> TwoStage:
    said, train = list[str](), sample("train", 300)
    route = TwoStage().fit(train, dtrees=spoilt(train), progress=lambda one: said.append(str(one)))
    assert [one.partition(":")[0] for one in said] == ["labeler"] * 10 + ["labeler over packed arcs"] * 3
    return route


def examples() -> Iterator[tuple[Labeler, CTree, ArcExample]]:
    """Short sentences with several candidates, for a labeler with weights drawn anew."""
    route, train = copy.copy(learned()), sample("train", 300)
    labeler = copy.copy(route.labeler_)
    labeler.weights_ = (np.random.default_rng(1).normal(size=1 << BITS) / 4).astype(np.float32)
    for ctree, example in zip(train, route._examples(train, spoilt(train)), strict=True):
        if len(ctree.tokens) < 15 and len(example.dtrees) > 1:
            yield labeler, ctree, example


def features(labeler: Labeler, dtree: DTree, labels: Sequence[str], example: ArcExample) -> Counter[int]:
    """f(d-tree, labels): what stands in each slot."""
    learner = AdaGrad.new(1 << BITS, 0.1, 0.0)
    gradient, numbers = Gradient.of(learner), list(map(labeler.labels_.index, labels))
    backbones = labeler._backbones([(dtree, None)])
    by_position = np.zeros(len(backbones.tags), np.int64)
    by_position[backbones.tokens] = numbers
    add_all(labeler._scorer(), backbones, backbones.with_modifiers(), by_position, 1.0, gradient)
    found = Counter[int]()
    for i in range(gradient.touched[0]):
        found[int(gradient.slots[i])] += float(gradient.values[i])  # type: ignore[assignment]
    arcs = example.arcs
    own = ArcFeatures.of(example.observed, arcs, np.zeros((0, 0), np.float32), 1 << BITS)
    for place in arcs.places(np.arange(len(dtree.heads)), np.array(dtree.heads)).tolist():
        for number, slot in enumerate(own.arcs[place].tolist()):
            found[slot] += PACE * (float(arcs.logs[place]) if number < VALUED else 1)  # type: ignore[assignment]
    return found


def test_scores_are_sums_of_features_times_weights_and_a_step_is_along_their_difference() -> None:
    """The best of all candidates by s + Δ, against the nearest with gold labels, the best of equal ones."""
    wrong = changed = 0
    for labeler, ctree, example in islice(examples(), 60):
        scorer, states = labeler._scorer(), JointStates.new(labeler._table)
        gold_heads = TwoStage().encode(ctree).heads
        scores, found, targets = list[float](), list[Counter[int]](), list[Counter[int]]()
        losses, right = list[int](), list[float]()
        for k, dtree in enumerate(example.dtrees):
            backbones = labeler._backbones([(dtree, None)])
            gold, guess = np.zeros((2, len(backbones.tags)), np.int64)
            names = TwoStage().encoder.label(order_arcs(strip_unaries(ctree)[0], dtree.heads)).labels or ()
            gold[backbones.tokens] = [labeler.labels_.index(name) for name in names]
            label_heads(scorer, backbones, backbones.with_modifiers(), gold, states, guess)
            guessed = [labeler.labels_[number] for number in guess[backbones.tokens]]
            losses.append(sum(a != b for a, b in zip(dtree.heads, gold_heads, strict=True)))
            assert losses[-1] == example.wrong[k]
            logs = example.arcs.logs[example.places[k]].sum()
            for labels, rows, totals in ((guessed, found, scores), (names, targets, right)):
                rows.append(features(labeler, dtree, labels, example))
                total = sum(float(labeler.weights_[slot]) * value for slot, value in rows[-1].items())
                totals.append(total + float(logs))
            losses[-1] += sum(a != b for a, b in zip(guessed, names, strict=True))
        best = max(range(len(scores)), key=lambda k: scores[k] + losses[k])
        nearest = max(range(len(scores)), key=lambda k: (-example.wrong[k], right[k]))
        learner = AdaGrad.new(1 << BITS, 0.1, 0.0)
        gradient = Gradient.of(learner)
        several = labeler._backbones([(dtree, None) for dtree in example.dtrees])
        loss, labels_seen = add_step(scorer, several, states, example, gradient)
        assert (loss, labels_seen) == (losses[best] - example.wrong[nearest], len(ctree.tokens))
        expected = np.zeros(1 << BITS)
        for slot, value in found[best].items():
            expected[slot] += value
        for slot, value in targets[nearest].items():
            expected[slot] -= value
        actual = np.zeros(1 << BITS)
        touched = gradient.touched[0]
        actual[gradient.slots[:touched]] = gradient.values[:touched]
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-3)
        wrong, changed = wrong + (loss > 0), changed + (best != nearest)
    assert wrong > 50 and changed > 20


def test_candidates_are_the_likeliest_and_the_d_parsers_own() -> None:
    dtree = spoilt(sample("train", 3))[2]
    arcs, own = packed_arcs(dtree), tuple(dtree.heads)
    assert arcs is not None and not arcs.is_single
    plain, found = (Candidates.of(dtree, one, 16, True) for one in (ArcScoring(), FIRST_SCORING))
    assert found.dtrees[0] == own and sorted(found.dtrees) == sorted(plain.dtrees)
    assert found.logs[0] == pytest.approx(plain.logs[list(plain.dtrees).index(own)])
    assert list(Candidates.of(dtree, FIRST_SCORING, 1, True).dtrees) == [own]
    (alone,) = bare([dtree])
    assert Candidates.of(alone, FIRST_SCORING, 16, True)[:2] == ([own], [0.0])


def test_it_learns_from_d_trees_with_packed_arcs(tmp_path: Path) -> None:
    """It finds more than what chooses by shares of labels, and is kept whole."""
    route, dev, train = learned(), sample("dev", 100), sample("train", 300)
    dtrees = spoilt(dev)
    plain = TwoStage().fit(train, dtrees=bare(spoilt(train)))
    assert plain.arcs_ == ArcScoring()
    assert route.arcs_ == FIRST_SCORING._replace(least=least_probability(spoilt(train)))
    plain.arcs_ = route.arcs_._replace(learned=0)
    guesses = route.decode_all(dtrees), plain.decode_all(dtrees), route.decode_all(bare(dtrees))
    f1, other, alone = (bracket_scores(dev, list(guess)).f1 for guess in guesses)
    assert f1 > other + 1 and f1 > alone + 5
    route.save(tmp_path)
    again = TwoStage.load(tmp_path)
    assert again.arcs_ == route.arcs_ and list(again.decode_all(dtrees)) == list(route.decode_all(dtrees))
    assert np.array_equal(again.labeler_.weights_, route.labeler_.weights_)


def test_all_that_decodes_takes_the_same_d_tree() -> None:
    route, dtrees = learned(), spoilt(sample("dev", 40))
    best = list(route.decode_all(dtrees))
    assert [ctree for ctree, _ in route.confidences_all(dtrees)] == best
    assert [route.decode(dtree) for dtree in bare(route.relabel(dtrees))] == best
    for dtree, ctree in zip(dtrees, best, strict=True):
        (log, first), *others = route.decode_k_best(dtree, 3)
        assert first == ctree and log is not None and log <= 0
        assert all(one is not None and one <= log for one, _ in others)
    alone = [with_packed_arcs(dtree, single(dtree.heads)) for dtree in dtrees]
    assert list(route.decode_all(alone)) == list(route.decode_all(bare(dtrees)))


def test_held_out_trees_choose_the_pass_and_what_arcs_count_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """F1 falls from pass to pass, and is greatest with a weight of 4."""
    asked, train = list[tuple[float, int]](), sample("train", 40)

    def decode_all(self: TwoStage, dtrees: Sequence[DTree]) -> Iterator[CTree]:
        asked.append((self.arcs_.weight, hash(self.labeler_.weights_.tobytes())))
        return iter(())

    class Falling:
        @property
        def f1(self) -> float:
            return 50 - abs(np.log2(asked[-1][0]) - 2) - len({weights for _, weights in asked})

    monkeypatch.setattr(TwoStage, "decode_all", decode_all)
    for module in ("d2c.packed.scoring", "d2c.reduction.labeler.two_stage"):
        monkeypatch.setattr(f"{module}.bracket_scores", lambda gold, guess, gaps: Falling())
    route, dtrees = TwoStage(), spoilt(train)
    route.fit(train, train[:9], dtrees=dtrees, dev_dtrees=dtrees[:9])
    assert (route.arcs_.weight, route.arcs_.learned) == (4.0, 1.0)
    passes = list(dict.fromkeys(weights for _, weights in asked))
    assert len(passes) == 3 and hash(route.labeler_.weights_.tobytes()) == passes[0]


def test_what_is_out_of_range_is_refused(tmp_path: Path) -> None:
    learned().save(tmp_path)
    file = tmp_path / "reduction.json"
    text = json.loads(file.read_text(encoding="utf-8"))
    for number in (2.0, -1.0, "1"):
        text["arcs"][3] = number
        file.write_text(json.dumps(text), encoding="utf-8")
        with pytest.raises(ModelError, match=r"reduction\.json: "):
            TwoStage.load(tmp_path)


def test_labels_that_nothing_was_learned_of_are_no_candidates() -> None:
    """The d-tree over which the gold tree would have such a label is left out, the own one never."""
    route, train = copy.copy(learned()), sample("train", 300)
    route.labeler_ = copy.copy(route.labeler_)
    every = list(route._examples(train, spoilt(train)))
    number = next(i for i, one in enumerate(every) if not {*one.labels[1:].flat} <= {*one.labels[0]})
    known = {route.labeler_.labels_[label] for label in every[number].labels[0]}
    route.labeler_.labels_ = [label for label in route.labeler_.labels_ if label in known]
    (fewer,) = route._examples(train[number : number + 1], spoilt(train)[number : number + 1])
    assert 1 <= len(fewer.dtrees) < len(every[number].dtrees) and isinstance(fewer.dtrees[0], PackedDTree)


def test_heads_that_come_again_are_labelled_once() -> None:
    """In the second d-tree word 4 hangs from 5, which changes what is seen of the heads 2, 3 and 5; the third
    is the first again, and the fourth of another sentence."""
    trees = (2, 0, 2, 3, 3), (2, 0, 2, 5, 3), (2, 0, 2, 3, 3), (2, 0, 2, 3, 3)
    columns, nothing = np.ones((4, 20), np.int64), np.zeros((0, 0), np.float32)
    backbones = Backbones.of(np.full(4, 5), np.array(trees).ravel(), columns, nothing)
    repeated = Repeated.of(backbones, np.array([0, 0, 0, 1]))
    assert repeated.trees.tolist() == [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert repeated.heads[repeated.first].tolist() == [0, 2, 3, 0, 8, 9, 11, 0, 2, 3, 18, 20, 21]
    assert repeated.source.tolist() == [2, 1, 3, 4, 5, 2, 7, 9, 11, 10, 2, 1, 3, 4, 5, 20, 19, 21, 22, 23]
    gold = np.zeros(len(backbones.tags), np.int64)
    gold[16] = 1  # of word 4 in the third
    other = Repeated.of(backbones, np.zeros(4, np.int64), gold)
    assert other.heads[other.first].tolist() == [0, 2, 3, 0, 8, 9, 11, 0, 2, 15, 0, 2, 3]


def test_labels_and_scores_are_those_of_each_d_tree_alone() -> None:
    labeler, several = learned().labeler_, 0
    for dtree in spoilt(sample("dev", 20)):
        found = Candidates.of(dtree, learned().arcs_, 16, True).dtrees
        dtrees = [replace(dtree, heads=heads) for heads in found]
        labelled, scores = labeler.label_with_scores([*dtrees, *dtrees], [0] * len(found) + [1] * len(found))
        assert labelled == [*labeler.label_all(dtrees)] * 2
        alone = [float(labeler.label_with_scores([one], [0])[1][0]) for one in dtrees]
        assert scores.tolist() == pytest.approx(alone * 2)
        several += len(found) > 1
    assert several > 10
