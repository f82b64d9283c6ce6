"""The c-tree of minimum Bayes risk, from the posteriors of a forest.

Goodman, "Parsing Algorithms and Metrics" (ACL 1996).

The c-tree of the best derivation is the one most likely to be entirely right. The c-tree of minimum Bayes
risk has the greatest expected number of right constituents, less a threshold for each of its constituents
(`d2c.trees.compatible.minimum_bayes_risk`): a constituent is supported by all derivations that contain it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from d2c.cky.grammar import RuleTable
from d2c.cky.search.derivations import Posteriors
from d2c.cky.search.parts import constituents
from d2c.trees.binarization import UNARY
from d2c.trees.compatible import Constituent, minimum_bayes_risk
from d2c.trees.ctree import CTree, bits_of, tree_of
from d2c.trees.unaries import Chain

RAREST = 1e-5  # edges that are not more probable than this are left out


def expected(
    found: Posteriors, rules: RuleTable, chains: Sequence[Chain], n: int
) -> tuple[dict[Constituent, float], dict[Constituent, float], dict[int, Counter[int]]]:
    """Return the expected number of each constituent of n words, from 0 to 1; its mean height in a chain of
    unary nodes; and for each set of tokens the weight of each word as its head.

    chains: [S] the labels that each symbol shows, topmost first
    """
    chart = found.chart
    edges, sites, keys = constituents(chart, rules, n, found.shares > RAREST)
    unary, under = sites["side"] == UNARY, chart.symbols[chart.forest.tail[edges]]
    # Of each edge: its place in a chain of unary nodes, bottom-up; the symbol of the node right below, or -1
    levels, tails = np.where(unary, sites["k"], -1), np.where(unary & rules.nodes[under], under, -1)
    rows, inverse = np.unique(np.stack((keys, sites["h"], levels, tails)), axis=1, return_inverse=True)
    sums = np.bincount(inverse.ravel(), found.shares[edges])
    numbers = defaultdict[tuple[str, int], Counter[int]](Counter)  # by how many of this label are right below
    heights, heads = Counter[tuple[str, int]](), defaultdict[int, Counter[int]](Counter)
    for key, word, level, tail, share in zip(*rows.tolist(), sums.tolist(), strict=True):
        span, symbol = key % (n + 1) ** 2, key // (n + 1) ** 2
        tokens = (2 << span % (n + 1)) - (1 << span // (n + 1))
        heads[tokens][word] += share
        chain, below = chains[symbol], Counter[str](chains[tail] if tail >= 0 else ())
        for place, label in enumerate(reversed(chain)):
            numbers[label, tokens][below[label]] += share
            heights[label, tokens] += share * (level + place / len(chain))
            below[label] += 1
    support, height = dict[Constituent, float](), dict[Constituent, float]()
    for bracket, shares in numbers.items():
        # Only the node right below was seen, not the rest of the chain: a number beyond 1 is another node.
        mean, below_it, rest = heights[bracket] / shares.total(), 0, float(shares[0])
        while rest > 0:
            one = Constituent(*bracket, below_it)
            support[one], height[one] = min(1.0, rest), mean
            below_it, rest = below_it + 1, max(0.0, rest - 1) + shares[below_it + 1]
    return support, height, heads


def least_risk(
    best: CTree,
    found: Posteriors,
    rules: RuleTable,
    chains: Sequence[Chain],
    threshold: float,
    required: Sequence[int],
) -> tuple[CTree, tuple[float, ...]]:
    """Return the c-tree of minimum Bayes risk with the expected number of each of its nodes [K].

    best:     the c-tree of the best derivation; its root is taken if no other label covers the sentence
    required: sets of tokens, as bits, that are to be constituents
    """
    n = len(best.tokens)
    support, height, heads = expected(found, rules, chains, n)
    root = Constituent(best.labels[-1], (1 << n) - 1)
    support.setdefault(root, 0.0)
    height.setdefault(root, 0.0)
    chosen = minimum_bayes_risk(support, threshold, [root.tokens, *required])
    chosen.sort(key=lambda one: (one.tokens.bit_count(), height[one], one.below))
    nodes = [(one.label, [*bits_of(one.tokens)]) for one in chosen]
    words = [heads[one.tokens].most_common(1)[0][0] for one in chosen]
    return tree_of(best.tokens, nodes, best.top, words), tuple(support[one] for one in chosen)
