"""Confidences that mean what they say: of constituents with 0.8, four of five are right.

What a route says of a constituent (a posterior, the share of a label's score) ranks, if that: a d-parser's
labels say nothing at all. A logistic regression over that and over what is plain to see, its label, length,
place, tags and how common its rule is in the treebank, is fitted to parses of held-out sentences. Rules that
are new tell text of another kind, where more is wrong. Platt, "Probabilistic
Outputs for Support Vector Machines" (1999); with other features as in Nguyen and O'Connor, "Posterior
Calibration and Exploratory Analysis for Natural Language Processing Models" (EMNLP 2015). Linear time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
_RULES = 10_000  # that are known at most
_FEWEST = 1000  # constituents from which something can be learned
_DECAY = 0.3  # inverse strength of the penalty on squared weights


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
    """What turns a route's confidences into probabilities: a weight for each feature; how often each rule,
    a label over labels and tags, is in the treebank that was learned from."""

    weights: dict[str, float]
    rules: dict[str, int]

    @classmethod
    def fit(cls, parses: Iterable[Judged], ctrees: Iterable[CTree]) -> Self | None:
        """Learn from held-out sentences; None where these are too few, or all right or all wrong.

        ctrees: the treebank that the parser learned from
        """
        known = dict(Counter(rule for ctree in ctrees for rule in _rules(ctree)).most_common(_RULES))
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
        for row in _features(ctree, shares, self.rules):
            total = weights.get(BIAS, 0.0)
            total += sum([value * weights.get(name, 0.0) for name, value in row.items()])
            found.append(1 / (1 + exp(-max(-30.0, min(30.0, total)))))
        return tuple(found)

    def save(self, path: Path) -> None:
        """Write a file of JSON."""
        rounded = {name: round(weight, 5) for name, weight in self.weights.items()}
        write_settings(path, FORMAT, Calibration(rounded, self.rules))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return what `save` wrote. Raises ModelError."""
        return read_as(path, FORMAT, cls)


def _features(ctree: CTree, shares: Sequence[float], known: Mapping[str, int]) -> Iterator[dict[str, float]]:
    """Yield what is seen of each node [K]: names and values."""
    n, tags = len(ctree.tokens), ("^", *ctree.tokens.tags, "$")
    blocks, parents = ctree.blocks(), ctree.parents()
    seen = [1] * n + [known.get(rule, 0) for rule in _rules(ctree)]
    new = 3 * seen.count(0) / len(seen[n:])
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
            "rule": log(1 + seen[node]) / 5,
            "new": float(not seen[node]),
            "new above": float(parents[node] >= 0 and not seen[parents[node]]),
            "new below": float(not all(seen[kid] for kid in kids)),
            "new in sentence": new,
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


def _rules(ctree: CTree) -> Iterator[str]:
    """Yield the rule of each node [K]: its label, and the labels and tags below it."""
    for label, kids in zip(ctree.labels, ctree.children, strict=True):
        yield " ".join([label, *map(ctree.label, kids)])


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
