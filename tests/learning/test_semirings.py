"""Semirings and k-best on random forests, against enumeration of their derivations."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from d2c.learning.semirings import Forest, count_derivations, k_best, marginals, viterbi


def random_forest(rng: random.Random) -> Forest:
    """Up to eight vertices, of which the first are axioms; derivations are trees or share vertices."""
    vertices = rng.randint(2, 8)
    edges = [
        (head, rng.randrange(head), rng.randrange(-1, head))
        for head in range(rng.randint(1, vertices - 1), vertices)
        for _ in range(rng.randint(1, 2))
    ]
    head, tail, modifier = np.array(edges, np.int32).T.copy()
    return Forest(head, tail, modifier, vertices)


def derivations(forest: Forest, vertex: int) -> Iterator[tuple[int, ...]]:
    """The edges of each derivation of a vertex, as often as they are used."""
    edges = [edge for edge, head in enumerate(forest.head) if head == vertex]
    if not edges:
        yield ()
    for edge in edges:
        others = [()] if forest.modifier[edge] < 0 else list(derivations(forest, int(forest.modifier[edge])))
        for below, beside in product(derivations(forest, int(forest.tail[edge])), others):
            yield (*below, *beside, edge)


@pytest.mark.parametrize("seed", range(60))
def test_semirings_equal_enumeration(seed: int) -> None:
    rng = random.Random(seed)
    forest = random_forest(rng)
    every = list(derivations(forest, forest.vertices - 1))
    scores = np.array([rng.uniform(-1, 1) for _ in forest.head], np.float32)
    totals = [float(sum(scores[edge] for edge in edges)) for edges in every]
    assert count_derivations(forest) == len(every)
    log_sum, shares = marginals(forest, scores)
    assert log_sum == pytest.approx(math.log(sum(map(math.exp, totals))), abs=1e-4)
    expected = np.zeros(len(scores))
    for edges, total in zip(every, totals, strict=True):
        np.add.at(expected, list(edges), math.exp(total - log_sum))
    assert shares == pytest.approx(expected, abs=1e-4)
    best_totals, _, begin = k_best(forest, scores, 4)
    assert best_totals == pytest.approx(sorted(totals, reverse=True)[:4], abs=1e-4)
    assert len(begin) == len(best_totals) + 1
    best = set(every[int(np.argmax(totals))])
    assert set(viterbi(forest, scores).tolist()) == best or totals.count(max(totals)) > 1


def test_the_first_of_equally_good_derivations_is_the_best() -> None:
    """As docs/encodings.md says of ties."""
    forest = Forest(*np.array([[1, 1, 2, 2], [0, 0, 1, 1], [-1] * 4], np.int32), 3)
    scores = np.array([1, 1, 0, 0], np.float32)
    assert viterbi(forest, scores).tolist() == k_best(forest, scores, 1)[1].tolist() == [0, 2]
