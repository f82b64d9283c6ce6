"""Packed arcs in the estimator: what it makes of them, what they count for, what is left where they fail."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.packed.arcs import ArcLabels, arcs_of, packed_arcs, single, with_packed_arcs
from d2c.packed.scoring import ArcScoring
from d2c.routes.voting.constituents import constituents
from d2c.trees.constraints import SpanConstraints
from d2c.trees.dtree import DTree
from d2c.trees.labels import quote
from d2c.trees.repair import ARCS_UNDONE, Repairs
from d2c.trees.scores.brackets import bracket_scores
from tests.cky.test_constrained_cky import fitted, sample


def wrong_head(dtree: DTree, own: float, seed: int = 0) -> DTree:
    """One word of the d-tree hangs from another; its arcs give the right one the rest of the probability."""
    rng, heads = np.random.default_rng(seed), list(dtree.heads)
    places = [m for m, h in enumerate(heads) if h and heads[h - 1] and heads[h - 1] != m + 1]
    table = np.zeros((len(heads), len(heads) + 1))
    table[np.arange(len(heads)), heads] = 1.0
    if places:
        m = int(rng.choice(places))
        right, heads[m] = heads[m], heads[heads[m] - 1]  # its grandparent: the d-tree stays projective
        table[m, right], table[m, heads[m]] = 1 - own, own
    return with_packed_arcs(replace(dtree, heads=tuple(heads)), arcs_of(table, heads))


@pytest.mark.slow
def test_the_right_heads_among_others_are_found() -> None:
    route, dev = fitted(), sample("dev", 60)
    dtrees = [wrong_head(route.encode(ctree), 0.5, seed) for seed, ctree in enumerate(dev)]
    repairs = Repairs()
    packed = bracket_scores(dev, list(route.decode_all(dtrees, repairs))).f1
    alone = bracket_scores(dev, [route.decode(with_packed_arcs(dtree, None)) for dtree in dtrees]).f1
    assert packed > alone + 2 and repairs.counts[ARCS_UNDONE] == 0
    nearest = bracket_scores(dev, list(map(route.oracle, dev, dtrees))).f1
    of_single = [
        route.oracle(ctree, with_packed_arcs(dtree, None)) for ctree, dtree in zip(dev, dtrees, strict=True)
    ]
    assert nearest > bracket_scores(dev, of_single).f1 + 2 and nearest > packed


def test_the_beam_leaves_the_best_d_tree_alone_but_for_constraints() -> None:
    """With none at all the c-tree is that over the best d-tree of the arcs; what is asked for has no beam."""
    narrow, wide, found = copy.copy(fitted()), copy.copy(fitted()), 0
    narrow.arcs_, wide.arcs_ = (fitted().arcs_._replace(beam=beam) for beam in (0.0, np.inf))
    for seed, ctree in enumerate(sample("dev", 30)):
        right = narrow.encode(ctree)
        dtree = wrong_head(right, 0.3, seed)
        best = narrow.decode(dtree)
        assert best == narrow.decode(right)
        for label, tokens, _ in constituents(narrow.decode(wrong_head(right, 1.0, seed))):
            span = (tokens & -tokens).bit_length() - 1, tokens.bit_length(), label
            wanted = SpanConstraints.of([span], None, len(right.heads))
            assert wanted is not None
            ctree, shares = narrow.with_posteriors(dtree, Repairs(), wanted)
            assert (ctree, shares) == wide.with_posteriors(dtree, Repairs(), wanted)
            found += len(wanted.broken(best)) > len(wanted.broken(ctree))
    assert found > 5


def test_one_head_for_each_word_changes_nothing() -> None:
    route = fitted()
    for ctree in sample("dev", 20):
        dtree = route.encode(ctree)
        arcs = single(dtree.heads)
        assert route.decode(with_packed_arcs(dtree, arcs)) == route.decode(dtree)
        assert route.confidences(with_packed_arcs(dtree, arcs)) == route.confidences(dtree)


def test_confidences_and_k_best_are_of_all_d_trees() -> None:
    route, changed = fitted(), 0
    for seed, ctree in enumerate(sample("dev", 20)):
        dtree = wrong_head(route.encode(ctree), 0.5, seed)
        best, shares = route.confidences(dtree)
        assert best == route.decode(dtree) and all(0 <= share <= 1 for share in shares)
        (_, first), *others = route.decode_k_best(dtree, 3)
        assert first == best and len({first, *(other for _, other in others)}) == 1 + len(others)
        changed += best != route.decode(with_packed_arcs(dtree, None))
    assert changed > 3


def test_trees_that_differ_in_head_children_alone_are_one() -> None:
    route = ConstrainedCKY(epochs=1, table_bits=16, grammar="closed").fit(sample("train", 300))
    dtree = route.encode(sample("dev", 3)[2])
    assert dtree.tokens.forms == ("He", "reads", "short", "letters", "and", "books", ".")
    table = np.eye(8)[[*dtree.heads]]
    table[[3, 3, 5, 5], [2, 6, 4, 2]] = 0.5  # `letters` or `books` is the object, the head of the other
    both = with_packed_arcs(dtree, arcs_of(table, dtree.heads))
    found = [(one.labels, one.children) for _, one in route.decode_k_best(both, 8)]
    assert len(found) == len({*found}) == 8


def test_where_packed_arcs_fail_the_single_d_tree_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    route, (ctree,) = fitted(), sample("dev", 1)
    dtree, repairs = wrong_head(route.encode(ctree), 0.5), Repairs()
    monkeypatch.setattr("d2c.cky.decoding.packed_skeleton_of", lambda *arguments: None)
    assert route.decode(dtree, repairs) == route.decode(with_packed_arcs(dtree, None))
    assert repairs.counts[ARCS_UNDONE] == 1


def labelled(dtree: DTree, own: float) -> DTree:
    """Its arcs give their labels, `X#1` for `X`, this probability, and the rest to another."""
    assert dtree.labels is not None
    names = tuple(f"{quote(label)}#{number}" for label in sorted(set(dtree.labels)) for number in (1, 2))
    arcs = packed_arcs(dtree) or single(dtree.heads)
    shares = np.full((len(arcs.heads), len(names)), (1 - own) / (len(names) - 1), np.float32)
    columns = [names.index(f"{quote(dtree.labels[m])}#1") for m in arcs.dependents()]
    shares[range(len(columns)), columns] = own
    return with_packed_arcs(dtree, arcs._replace(labels=ArcLabels(names, np.log(shares))))


def test_what_labels_say_counts() -> None:
    """Over right heads, and among wrong ones; here to a chart that knows nothing else."""
    route, dev = copy.copy(fitted()), sample("dev", 60)
    route.weights_ = np.zeros_like(route.weights_)
    right = [labelled(route.encode(ctree), 0.9) for ctree in dev]
    spoilt = [labelled(wrong_head(route.encode(ctree), 0.5, seed), 0.9) for seed, ctree in enumerate(dev)]
    for dtrees in (right, spoilt):
        route.arcs_ = ArcScoring()
        without = bracket_scores(dev, list(route.decode_all(dtrees))).f1
        route.arcs_ = ArcScoring(labels=10.0)
        assert bracket_scores(dev, list(route.decode_all(dtrees))).f1 > without + 2
    assert route.fit_arcs(dev, spoilt).arcs_.labels > 0
    found = [route.decode(dtree) for dtree in right]
    assert [route.confidences(dtree)[0] for dtree in right] == found
    assert [route.decode_k_best(dtree, 2)[0][1] for dtree in right] == found


def test_what_arcs_count_for_is_learned_and_kept(tmp_path: Path) -> None:
    """Where wrong heads have a probability of 0.9, the least weight is best, and of 0.1, a greater one."""
    route, dev = copy.copy(fitted()), sample("dev", 60)
    weights = []
    for own in (0.9, 0.1):
        dtrees = [wrong_head(route.encode(ctree), own, seed) for seed, ctree in enumerate(dev)]
        weights.append(route.fit_arcs(dev, dtrees).arcs_.weight)
    assert weights[0] < 1 <= weights[1]
    route.save(tmp_path)
    assert ConstrainedCKY.load(tmp_path).arcs_ == route.arcs_
    assert fitted().arcs_ == ArcScoring()
    with pytest.raises(ValueError, match="these d-trees have no packed arcs"):
        route.fit_arcs(dev, map(route.encode, dev))
