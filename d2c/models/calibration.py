"""Confidences that mean what they say: of constituents with 0.8, four of five are right.

What a route says of a constituent (a posterior, the share of a label's score) ranks, if that: a d-parser's
labels say nothing at all. A logistic regression over that and over what is plain to see, its label, length,
place, tags and how many words are known, is fitted to parses of held-out sentences. Platt, "Probabilistic
Outputs for Support Vector Machines" (1999); with other features as in Nguyen and O'Connor, "Posterior
Calibration and Exploratory Analysis for Natural Language Processing Models" (EMNLP 2015). Linear time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from typing import NamedTuple, Self

from d2c.base.model_files import read_as, write_settings
from d2c.combination.constituents import constituents
from d2c.trees.ctree import CTree

FORMAT = 1
BIAS = "bias"
_LEAST, _MOST = 1e-4, 1 - 1e-4  # of a route's share
_RARE = 10  # constituents: what fewer have is no feature
_WORDS = 30_000  # that are known at most, each of which was there twice
_FEWEST = 1000  # constituents from which something can be learned
_DECAY = 0.1  # inverse strength of the penalty on squared weights


class Judged(NamedTuple):
    """A parse of a sentence: the gold c-tree, the parse, and what the route says of its nodes [K]."""

    gold: CTree
    ctree: CTree
    shares: Sequence[float]

    def right(self) -> list[bool]:
        """Return whether each node [K] is in the gold tree."""
        known = set(constituents(self.gold))
        return [one in known for one in constituents(self.ctree)]


@dataclass(frozen=True)
class Calibration:
    """What turns a route's confidences into probabilities: a weight for each feature, known words."""

    weights: dict[str, float]
    words: frozenset[str]

    @classmethod
    def fit(cls, parses: Iterable[Judged], words: Iterable[str]) -> Self | None:
        """Learn from held-out sentences; None where these are too few, or all right or all wrong.

        words: of the treebank that the parser learned from
        """
        counts = Counter(word.lower() for word in words)
        known = frozenset(word for word, count in counts.most_common(_WORDS) if count > 1)
        rows, right = list[dict[str, float]](), list[bool]()
        for judged in parses:
            rows += _features(judged.ctree, judged.shares, known)
            right += judged.right()
        if len(rows) < _FEWEST or len({*right}) < 2:
            return None
        return cls(_fitted(rows, right), known)

    def __call__(self, ctree: CTree, shares: Sequence[float]) -> tuple[float, ...]:
        """Return the probability of each node of a c-tree [K]. shares: what the route says of it [K]"""
        weights, found = self.weights, list[float]()
        for row in _features(ctree, shares, self.words):
            total = weights.get(BIAS, 0.0)
            total += sum([value * weights.get(name, 0.0) for name, value in row.items()])
            found.append(1 / (1 + exp(-max(-30.0, min(30.0, total)))))
        return tuple(found)

    def save(self, path: Path) -> None:
        """Write a file of JSON."""
        rounded = {name: round(weight, 5) for name, weight in self.weights.items()}
        write_settings(path, FORMAT, Calibration(rounded, self.words))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return what `save` wrote. Raises ModelError."""
        return read_as(path, FORMAT, cls)


def _features(ctree: CTree, shares: Sequence[float], known: frozenset[str]) -> Iterator[dict[str, float]]:
    """Yield what is seen of each node [K]: names and values."""
    n, tags = len(ctree.tokens), ("^", *ctree.tokens.tags, "$")
    blocks, parents = ctree.blocks(), ctree.parents()
    unknown = [0]
    for form in ctree.tokens.forms:
        unknown.append(unknown[-1] + (form.lower() not in known))
    for node, share in enumerate(shares, n):
        (first, _), (_, end) = blocks[node][0], blocks[node][-1]
        label, kids = ctree.labels[node - n], ctree.children[node - n]
        parent = ctree.labels[parents[node] - n] if parents[node] >= 0 else ""
        bounded = min(_MOST, max(_LEAST, share))
        odds = log(bounded / (1 - bounded)) / 5
        size = f"{min(len(kids), 5)}{'w' if max(kids) < n else ''}"
        yield {
            "odds": odds,
            "length": log(end - first),
            "sentence": log(n),
            "unknown": (unknown[end] - unknown[first]) / (end - first),
            "unknown in sentence": unknown[n] / n,
            f"label {label}": 1.0,
            f"odds {label}": odds,
            f"length {label}": log(end - first),
            f"{label} under {parent}": 1.0,
            f"{label} of {size}": 1.0,
            f"{label} after {tags[first]}": 1.0,
            f"{label} before {tags[end + 1]}": 1.0,
            f"{label} begins {tags[first + 1]}": 1.0,
            f"{label} ends {tags[end]}": 1.0,
        }


def _fitted(rows: Sequence[dict[str, float]], right: Sequence[bool]) -> dict[str, float]:
    """Return weights by logistic regression; 0 of what is rare."""
    from scipy.sparse import csr_array
    from sklearn.linear_model import LogisticRegression

    counts = Counter(name for row in rows for name in row)
    names = sorted(name for name, count in counts.items() if count >= _RARE)
    column, cells = {name: number for number, name in enumerate(names)}, list[tuple[float, int, int]]()
    for i, row in enumerate(rows):
        cells += [(value, i, column[name]) for name, value in row.items() if name in column]
    values, *where = zip(*cells, strict=True)
    table = csr_array((values, where), shape=(len(rows), len(names)))
    model = LogisticRegression(C=_DECAY, max_iter=1000).fit(table, right)
    return {BIAS: float(model.intercept_[0]), **dict(zip(names, map(float, model.coef_[0]), strict=True))}
