"""Lexicalised CKY, without a d-tree (Figure 3, left): the reference that constrained CKY is measured against.

An item is (i, j, h): words i to j with head word h, as any symbol. O(n^5 |R|) time and as many edges, so it
is for short sentences only. Its forest holds the derivations of the constrained charts of all projective
d-trees, each once: it is the forest of packed arcs (`d2c.cky.search.packed_chart`) where each word may have
any head. Parts have no d-tree around them here, so weights must be learned with `context=False`.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from d2c.base.arrays import Floats
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.cky.search.chart import Query
from d2c.cky.search.deduction import Chart
from d2c.cky.search.derivations import GLUE_SCORE, derivation, nearness
from d2c.cky.search.packed_chart import build_packed_chart
from d2c.cky.search.packed_skeleton import PackedSkeleton, packed_skeleton_of
from d2c.cky.search.pruning import UNPRUNED
from d2c.cky.search.scoring import score_edges
from d2c.cky.search.skeleton import Observed
from d2c.learning.semirings import viterbi
from d2c.packed.arcs import PackedArcs
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.repair import Repairs

NO_LIMIT = 1 << 31  # of the edges of a chart
LONGEST = 20  # words


def build_lexicalised_chart(query: Query, observed: Observed) -> Chart:
    """Return the chart of all derivations of a sentence, whatever their d-trees, without pruning."""
    skeleton = _skeleton_of_all_arcs(len(observed) - 2)
    chart: Chart
    chart, _ = build_packed_chart(query._replace(constraints=UNPRUNED), observed, skeleton, NO_LIMIT)
    return chart


@cache
def _skeleton_of_all_arcs(n: int) -> PackedSkeleton:
    """Return the skeleton of n words each of which may have any head."""
    heads = np.array([head for m in range(1, n + 1) for head in range(n + 1) if head != m], np.int32)
    begin = n * np.arange(n + 1, dtype=np.int32)
    skeleton = packed_skeleton_of(PackedArcs(begin, heads, np.zeros(len(heads), np.float32)), around=False)
    assert skeleton is not None  # there are projective d-trees, and few cells for so few words
    return skeleton


def parse_lexicalised(route: ConstrainedCKY, tokens: Tokens) -> CTree | None:
    """Return the best c-tree of a sentence under a fitted route's grammar and weights; None: there is none.

    Raises ValueError for weights of features that see a d-tree, and for more than LONGEST words.
    """
    if route.settings.context or route.settings.labels:
        raise ValueError("these weights need a d-tree; fit with context=False, labels=False")
    observed = _observed(route, tokens)
    chart = build_lexicalised_chart(route.query, observed)
    return _best(route, tokens, chart, score_edges(chart, observed, route.scorer, GLUE_SCORE))


def lexicalised_oracle(route: ConstrainedCKY, gold: CTree) -> CTree | None:
    """Return the tree nearest to a gold tree among all trees of its tokens in the route's grammar.

    Raises ValueError for more than LONGEST words.
    """
    chart, pair = build_lexicalised_chart(route.query, _observed(route, gold.tokens)), route.gold(gold)
    near = nearness(
        chart, route.query.rules, len(gold.tokens), pair.parts(route.grammar_), pair.brackets(route.grammar_)
    )
    return _best(route, gold.tokens, chart, near)


def _observed(route: ConstrainedCKY, tokens: Tokens) -> Observed:
    """Return what features see of a sentence without a d-tree. Raises ValueError for a long one."""
    if len(tokens) > LONGEST:
        raise ValueError(f"{len(tokens)} words; lexicalised CKY takes {LONGEST} at most")
    return route.vocabulary_.observe(tokens, range(len(tokens)), None)


def _best(route: ConstrainedCKY, tokens: Tokens, chart: Chart, scores: Floats) -> CTree | None:
    """Return the c-tree of a best derivation; None where there is none."""
    if not len(scores):
        return None
    found = derivation(chart, viterbi(chart.forest, scores), 0)
    return route.ctree(tokens, found, Repairs())
