"""A route over more and fewer heads per word: oracle, F1 and time, a line for each number.

What arcs count for is learned on the held-out part, for 1.5 heads per word. Columns: heads per word, share of
the words with their gold head among them, oracle (of the chart) and F1 (EVALB, collins.prm), exact matches,
milliseconds for a sentence, sentences that were left to the single d-tree. The first line is the single
d-tree. Below each: milliseconds by length. Last what is gained by what the d-parser says of labels.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from d2c.experiments.experiment import Fitted
from d2c.experiments.rows import with_tags_of
from d2c.packed.dtree import packed_arcs, with_packed_arcs
from d2c.packed.feature import least_probability
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.repair import ARCS_UNDONE, Repairs
from d2c.trees.scores.brackets import METRICS, bracket_scores
from d2c.trees.scores.significance import approximate_randomisation

HEADS_PER_WORD = (1.0, 1.2, 1.5, 2.0)
METRIC = METRICS["evalb"]
LENGTHS = (10, 20, 30, 40, 60)  # upper bounds


class ParsedParts(Protocol):
    """The d-trees of a d-parser, with packed arcs."""

    @property
    def held_out(self) -> Sequence[DTree]:
        """From which is learned what arcs count for."""

    @property
    def dev(self) -> Sequence[DTree]:
        """That are scored."""


def packed_table(
    parsed: ParsedParts, fitted: Fitted[Any], held_out: Sequence[CTree], dev: list[CTree]
) -> None:
    """Print the figures of a route over the packed arcs of a d-parser."""
    route = fitted.route.fit_arcs(held_out, parsed.held_out)
    print(f"learned on {len(held_out)} sentences: {route.arcs_}")
    print("heads/word  gold among  oracle     F1   exact  ms/sentence  single", flush=True)
    for heads_per_word in HEADS_PER_WORD:
        chosen = [with_packed_arcs(dtree, None) for dtree in parsed.dev]
        if heads_per_word > 1:
            least = least_probability(parsed.dev, heads_per_word)
            route.arcs_ = route.arcs_._replace(least=least)
            chosen = [with_likely_arcs(dtree, least) for dtree in parsed.dev]
        print_line(route, dev, chosen)
    print_gain_of_labels(route, (held_out, parsed.held_out), (dev, parsed.dev))


def print_gain_of_labels(
    route: Any,
    held_out: tuple[Sequence[CTree], Sequence[DTree]],
    dev: tuple[Sequence[CTree], Sequence[DTree]],
) -> None:
    """Print what is gained by what the d-parser says of labels, at 1.5 heads per word."""
    if all(arcs is None or arcs.labels is None for arcs in map(packed_arcs, dev[1])):
        return
    scores = []
    for labelled in (False, True):
        learned, parsed = (
            part[1] if labelled else list(map(unlabelled, part[1])) for part in (held_out, dev)
        )
        guess = with_tags_of(dev[0], route.fit_arcs(held_out[0], learned).decode_all(parsed))
        scores.append(METRIC.score(dev[0], guess))
        f1 = METRIC.summary(scores[-1]).f1
        print(f"{'with' if labelled else 'without'} labels: {route.arcs_}, F1 {f1:.2f}", flush=True)
    gain = approximate_randomisation(scores[0], scores[1])
    print(f"labels gain {gain.points:.2f} points, p = {gain.p:.4f}")


def unlabelled(dtree: DTree) -> DTree:
    """Return a d-tree without what is said of the labels of its packed arcs."""
    arcs = packed_arcs(dtree)
    return with_packed_arcs(dtree, arcs and arcs._replace(labels=None))


def with_likely_arcs(dtree: DTree, least: float) -> DTree:
    """Return a d-tree with fewer packed arcs, as the route takes them."""
    arcs = packed_arcs(dtree)
    return with_packed_arcs(dtree, arcs and arcs.kept(least, dtree.heads))


def print_line(route: Any, dev: list[CTree], dtrees: Sequence[DTree]) -> None:
    """Print the figures of some d-trees."""
    words = sum(len(dtree.heads) for dtree in dtrees)
    arcs, among = (sum(column) for column in zip(*map(counts, map(route.encode, dev), dtrees), strict=True))
    repairs, times, guess = Repairs(), list[float](), list[CTree]()
    route.decode(dtrees[0])
    for dtree in dtrees:
        start = time.perf_counter()
        guess.append(route.decode(dtree, repairs))
        times.append(1000 * (time.perf_counter() - start))
    scores, oracle = bracket_scores(dev, with_tags_of(dev, guess)), "     -"
    if route.has_oracle:
        nearest = with_tags_of(dev, map(route.oracle, with_tags_of(dtrees, dev), dtrees))
        oracle = f"{bracket_scores(dev, nearest).f1:6.2f}"
    print(
        f"{arcs / words:10.2f}  {100 * among / words:10.1f}  {oracle} {scores.f1:6.2f}  "
        f"{scores.complete_match:6.2f}  {np.mean(times):11.1f}  {repairs.counts[ARCS_UNDONE]:6d}"
    )
    lengths = np.array([len(dtree.heads) for dtree in dtrees])
    by_length = np.digitize(lengths, LENGTHS, right=True)
    means = [
        f"{lengths[by_length == k].mean():.0f} words {np.array(times)[by_length == k].mean():.1f}"
        for k in np.unique(by_length)
    ]
    print(f"    ms by length: {', '.join(means)}", flush=True)


def counts(gold: DTree, dtree: DTree) -> tuple[int, int]:
    """Return how many arcs a d-tree has, and how many words have their gold head among them."""
    arcs = packed_arcs(dtree)
    if arcs is None:
        return len(dtree.heads), sum(a == b for a, b in zip(gold.heads, dtree.heads, strict=True))
    return len(arcs.heads), sum(arcs.among(gold.heads))
