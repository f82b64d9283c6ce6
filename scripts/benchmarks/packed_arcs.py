"""A route over more and fewer heads per word: oracle, F1 and time, a line for each number.

The weights of arcs are learned on the held-out part, for 1.5 heads per word, or, where the route has learned
over packed arcs, for the number that is best there. Before the table stand the gain of minimum Bayes risk on
dev, if held-out sentences chose it, and F1 with these weights. The table is of best derivations. Columns:
heads per word, share of words with their gold head among them, oracle (of the chart) and F1, exact matches,
where trees have gaps the F1 of constituents with gaps (disco-dop's), milliseconds of CPU time for a sentence,
sentences that were left to the single d-tree, milliseconds for sentences of some lengths. The first line is
the single d-tree; the last one is without the beam, if the route has one. Below stands the metric of F1, and
last the gain from the d-parser's probabilities of labels.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from benchmarks.shared import Line, print_table
from d2c.experiments.rows import with_tags_of
from d2c.experiments.significance import approximate_randomisation, counted_matches
from d2c.packed.arcs import packed_arcs, with_packed_arcs
from d2c.packed.scoring import least_probability
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.repair import ARCS_UNDONE, Repairs
from d2c.trees.scores import disco
from d2c.trees.scores.brackets import Metric
from d2c.trees.scores.prm import DiscoParameters

HEADER = ("heads/word", "gold among, %", "oracle", "F1", "exact", "gaps", "ms", "single", "ms by length")
HEADS_PER_WORD = (1.0, 1.2, 1.5, 2.0)
ONLY_GAPS = replace(DiscoParameters.proper(), disc_only=True)
LENGTHS = (10, 20, 30, 40, 60)  # upper bounds


class Part(NamedTuple):
    """Gold c-trees, and the d-trees of a d-parser, with packed arcs."""

    gold: Sequence[CTree]
    dtrees: Sequence[DTree]


def packed_table(route: Any, metric: Metric, held_out: Part, dev: Part) -> None:
    """Print the figures of a route over the packed arcs of a d-parser."""
    over_arcs = route.arcs_.learned
    if not over_arcs:
        route.fit_arcs(*held_out)
    if over_arcs and route.abilities.oracle:
        print_gain_of_risk(route, metric, dev)
    f1 = metric.summary(metric.score(dev.gold, route.decode_all(dev.dtrees))).f1
    print(f"learned on {len(held_out.gold)} sentences: {route.arcs_}, F1 {f1:.2f}", flush=True)
    route.arcs_ = route.arcs_._replace(scale=0.0)
    rows = [line_of(route, metric, dev, heads_per_word) for heads_per_word in HEADS_PER_WORD]
    if route.abilities.oracle:  # a chart, which has a beam
        route.arcs_ = route.arcs_._replace(beam=math.inf)
        rows.append(line_of(route, metric, dev, 1.5))
    print_table(HEADER, rows)
    print(f"F1: {metric.title}", flush=True)
    if not over_arcs:
        print_gain_of_labels(route, metric, held_out, dev)


def line_of(route: Any, metric: Metric, dev: Part, heads_per_word: float) -> Line:
    """Return the figures with so many heads per word."""
    arcs = [packed_arcs(dtree) for dtree in dev.dtrees]
    if heads_per_word > 1:
        least = least_probability(dev.dtrees, heads_per_word)
        route.arcs_ = route.arcs_._replace(least=least)
        pairs = zip(arcs, dev.dtrees, strict=True)
        chosen = [one and one.kept(least, dtree.heads) for one, dtree in pairs]
    else:
        chosen = [None] * len(arcs)
    return line(route, metric, Part(dev.gold, list(map(with_packed_arcs, dev.dtrees, chosen))))


def print_gain_of_risk(route: Any, metric: Metric, dev: Part) -> None:
    """Print what minimum Bayes risk gains, if the route has been given a scale for it."""
    if not route.arcs_.scale:
        print("minimum risk: not used", flush=True)
        return
    scores, times = [], []
    for feature in (route.arcs_._replace(scale=0.0), route.arcs_):
        route.arcs_, start = feature, time.process_time()
        scores.append(metric.score(dev.gold, route.decode_all(dev.dtrees)))
        times.append(1000 * (time.process_time() - start) / len(dev.gold))
    best, least = (metric.summary(one) for one in scores)
    gain = approximate_randomisation(counted_matches(scores[0]), counted_matches(scores[1]))
    print(f"best derivations: F1 {best.f1:.2f}, exact {best.complete_match:.2f}, {times[0]:.1f} ms")
    print(f"minimum risk: F1 {least.f1:.2f}, exact {least.complete_match:.2f}, {times[1]:.1f} ms", end="; ")
    print(f"{gain.points:.2f} points, p = {gain.p:.4f}", flush=True)


def print_gain_of_labels(route: Any, metric: Metric, held_out: Part, dev: Part) -> None:
    """Print the gain from the d-parser's probabilities of labels, at 1.5 heads per word."""
    if all(arcs is None or arcs.labels is None for arcs in map(packed_arcs, dev.dtrees)):
        return
    scores = []
    for name, how in (("without", unlabelled), ("with", lambda dtree: dtree)):
        learned, parsed = (list(map(how, part.dtrees)) for part in (held_out, dev))
        guess = route.fit_arcs(held_out.gold, learned).decode_all(parsed)
        scores.append(metric.score(dev.gold, guess))
        print(f"{name} labels: {route.arcs_}, F1 {metric.summary(scores[-1]).f1:.2f}", flush=True)
    gain = approximate_randomisation(counted_matches(scores[0]), counted_matches(scores[1]))
    print(f"labels gain {gain.points:.2f} points, p = {gain.p:.4f}")


def unlabelled(dtree: DTree) -> DTree:
    """Return a d-tree without the probabilities of labels of its packed arcs."""
    arcs = packed_arcs(dtree)
    return with_packed_arcs(dtree, arcs and arcs._replace(labels=None))


def line(route: Any, metric: Metric, dev: Part) -> Line:
    """Return the figures of some d-trees."""
    gold, dtrees = dev
    words = sum(len(dtree.heads) for dtree in dtrees)
    arcs, among = (sum(one) for one in zip(*map(counts, map(route.encode, gold), dtrees), strict=True))
    repairs, times, guess = Repairs(), list[float](), list[CTree]()
    route.decode(dtrees[0])
    for dtree in dtrees:
        start = time.process_time()
        guess.append(route.decode(dtree, repairs))
        times.append(1000 * (time.process_time() - start))
    scores, oracle = metric.summary(metric.score(gold, guess)), None
    if route.abilities.oracle:
        nearest = map(route.oracle, with_tags_of(dtrees, gold), dtrees)
        oracle = metric.summary(metric.score(gold, nearest)).f1
    gaps = disco.evaluate_all(gold, guess, ONLY_GAPS).f1 if metric.gaps else None
    lengths, taken = np.array([len(dtree.heads) for dtree in dtrees]), np.array(times)
    classes = np.digitize(lengths, LENGTHS, right=True)
    means = [
        f"{lengths[classes == k].mean():.0f} words {taken[classes == k].mean():.1f}"
        for k in np.unique(classes)
    ]
    return [
        arcs / words,
        100 * among / words,
        oracle,
        *(scores.f1, scores.complete_match, gaps, float(taken.mean())),
        repairs.counts[ARCS_UNDONE],
        ", ".join(means),
    ]


def counts(gold: DTree, dtree: DTree) -> tuple[int, int]:
    """Return how many packed arcs a d-tree has, and how many words have their gold head among them."""
    arcs = packed_arcs(dtree)
    if arcs is None:
        return len(dtree.heads), sum(a == b for a, b in zip(gold.heads, dtree.heads, strict=True))
    return len(arcs.heads), int((arcs.of_tree(gold.heads) >= 0).sum())
