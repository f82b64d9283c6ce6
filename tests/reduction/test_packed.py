"""The labeler over packed arcs: of the k best backbones the one whose labels and arcs score best."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import log
from pathlib import Path

import numpy as np
import pytest

from d2c.packed.arcs import ArcLabels, PackedDTree, arcs_of, single, with_packed_arcs
from d2c.packed.k_best import k_best_dtrees
from d2c.packed.scoring import ArcScoring
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.repair import ARCS_UNDONE, Repairs, projectivize
from d2c.trees.scores.brackets import bracket_scores
from tests.cky.test_arcs import wrong_head
from tests.cky.test_constrained_cky import sample


@cache
def fitted() -> TwoStage:
    return TwoStage().fit(sample("train", 600))


def spoilt(dev: Sequence[CTree], own: float = 0.5) -> list[DTree]:
    return [wrong_head(fitted().encode(ctree), own, seed) for seed, ctree in enumerate(dev)]


def bare(dtrees: Sequence[DTree]) -> list[DTree]:
    return [with_packed_arcs(dtree, None) for dtree in dtrees]


def test_one_head_for_each_word_changes_nothing() -> None:
    route, dtrees = fitted(), bare(spoilt(sample("dev", 40)))
    alone = [with_packed_arcs(dtree, single(dtree.heads)) for dtree in dtrees]
    repairs = Repairs(), Repairs()
    assert list(route.decode_all(alone, repairs[0])) == list(route.decode_all(dtrees, repairs[1]))
    assert repairs[0] == repairs[1]
    assert list(route.confidences_all(alone)) == list(route.confidences_all(dtrees))
    assert route.relabel(alone) == route.relabel(dtrees)


def test_the_right_heads_among_others_are_found() -> None:
    route, dev, repairs = fitted(), sample("dev", 60), Repairs()
    dtrees = spoilt(dev)
    packed = list(route.decode_all(dtrees, repairs))
    alone = bracket_scores(dev, list(route.decode_all(bare(dtrees)))).f1
    assert bracket_scores(dev, packed).f1 > alone + 2 and repairs.counts[ARCS_UNDONE] == 0
    assert [ctree for ctree, _ in route.confidences_all(dtrees)] == packed
    assert [route.decode(dtree) for dtree in bare(route.relabel(dtrees))] == packed


@pytest.mark.parametrize("weight", [0.1, 1.0, 10.0])
def test_the_best_of_labels_and_arcs_is_taken(weight: float) -> None:
    route = copy.copy(fitted())
    route.arcs_ = ArcScoring(weight, 0.02)
    for dtree in spoilt(sample("dev", 30), 0.8):
        assert isinstance(dtree, PackedDTree)
        trees = k_best_dtrees(dtree.arcs.kept(0.02, projectivize(dtree.heads)), 16, True)
        backbones = [with_packed_arcs(replace(dtree, heads=heads), None) for heads, _ in trees]
        labelled = route.labeler_.label_with_shares(backbones)
        sure = [sum(map(log, shares)) for _, shares in labelled]
        totals = [one + weight * tree.log for one, tree in zip(sure, trees, strict=True)]
        assert route.decode(dtree) == route.decode(backbones[totals.index(max(totals))])


@pytest.mark.parametrize("packed", [False, True])
def test_what_the_d_parser_says_of_labels_counts(packed: bool) -> None:
    """Here it knows the right ones, and the labeler nothing; with a weight they are found, with a greater one
    they are surer."""
    route, right, wrong = copy.copy(fitted()), 0, 0
    route.labeler_ = copy.copy(route.labeler_)
    route.labeler_.weights_ = np.zeros_like(route.labeler_.weights_)
    names = ("nothing", *fitted().labeler_.labels_)
    for seed, ctree in enumerate(sample("dev", 60)):
        gold = fitted().encode(ctree)
        dtree = wrong_head(gold, 0.5, seed) if packed else with_packed_arcs(gold, single(gold.heads))
        assert isinstance(dtree, PackedDTree) and gold.labels is not None
        shares = np.full((len(dtree.arcs.heads), len(names)), 0.01, np.float32)
        columns = [names.index(gold.labels[m]) for m in dtree.arcs.dependents()]
        shares[range(len(columns)), columns] = 0.5
        said = with_packed_arcs(dtree, dtree.arcs._replace(labels=ArcLabels(names, np.log(shares))))
        sure = []
        for weight in (0.0, 10.0, 20.0):
            route.arcs_ = ArcScoring(1.0, 0.02, weight)
            (found,) = route.relabel([said])
            if weight == 0:
                assert found == route.relabel([dtree])[0]
                wrong += found.labels != gold.labels
            elif found.heads == gold.heads:
                right += found.labels == gold.labels
                sure.append(sum(next(route.confidences_all([said]))[1]))
        assert not sure or sure[0] <= sure[1]
    assert wrong > 40 and right >= (80 if packed else 110)


def test_crossing_arcs_are_taken_where_trees_have_gaps() -> None:
    tokens = Tokens(tuple("abcd"), tuple("ABCD"))
    gold = CTree(tokens, ("X", "Y", "S"), ((0, 2), (1, 3), (4, 5)), (0, 1, 4))
    route = TwoStage("direct", "marked").fit([gold] * 4)
    assert route.gaps_ and route.encode(gold).heads == (0, 1, 1, 2)
    table = np.full((4, 5), 0.001)
    table[range(4), (0, 1, 1, 2)], table[2, 2] = 1.0, 0.01
    chain = PackedDTree(tokens, (0, 1, 2, 3), arcs=arcs_of(table, (0, 1, 2, 3), 0.0005))
    route.arcs_ = ArcScoring(100.0, 0.0001)
    assert route.relabel([chain])[0].heads == (0, 1, 1, 2)
    route.continuous = True
    assert route.relabel([chain])[0].heads == (0, 1, 2, 2)


def test_where_there_are_too_many_arcs_the_single_d_tree_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    (dtree,), repairs = spoilt(sample("dev", 1)), Repairs()
    monkeypatch.setattr("d2c.reduction.labeler.over_arcs.k_best_dtrees", lambda arcs, k, projective: [])
    (alone,) = bare([dtree])
    assert fitted().decode(dtree, repairs) == fitted().decode(alone)
    assert repairs.counts[ARCS_UNDONE] == 1


def test_what_arcs_count_for_is_learned_and_kept(tmp_path: Path) -> None:
    """Where wrong heads have a probability of 0.9, a lesser weight is best than where they have 0.1."""
    route, dev = copy.copy(fitted()), sample("dev", 60)
    weights = [route.fit_arcs(dev, spoilt(dev, own)).arcs_.weight for own in (0.9, 0.1)]
    assert weights[0] < weights[1]
    route.save(tmp_path)
    assert TwoStage.load(tmp_path).arcs_ == route.arcs_
    assert fitted().arcs_ == ArcScoring()
    with pytest.raises(ValueError, match="these d-trees have no packed arcs"):
        route.fit_arcs(dev, bare(spoilt(dev)))
