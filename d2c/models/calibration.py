"""Where the confidence of a span comes from: how a route's share of it becomes a probability.

For each node of the c-tree that it decodes, a route gives a number from 0 to 1, the node's share
(`confidences_all` of `d2c.protocols.route.Route`): the chart the posterior of the constituent
(`d2c.cky.decoding.ChartDecoder`, `with_posteriors`), the reduction the share of its unary classifier, or 1
for what a d-parser's labels say (`d2c.reduction.reduction`), the labeler the share of a label's score in
place of this 1, several models the share of the votes (`d2c.routes.voting`). `calibrated`, which
`d2c.parsing.stream` calls, turns shares into what JSON lines, tables and `Span.confidence` show:

1. the model's `Calibration`, if one was learned in training, turns the share into the probability that the
   constituent is right, from 0.005 to 0.995;
2. constituents that users require with their label are certain, 1;
3. constituents that are at least as sure as `--min-confidence` stay, and the root;
4. where the c-tree then breaks constraints of users, `obeying` mends it: constituents that they require are
   put in, those that they forbid are taken out.

Calibrated confidences mean what they say: of constituents with 0.8, four of five are right. A route's share
at best ranks constituents: a d-parser's labels say nothing at all. A logistic regression over the share and
over what is plain to see (the label, length, place and tags of a constituent, and how common its rule is in
the treebank) is fitted to parses of held-out sentences. New rules and words are a sign of another kind of
text, where more is wrong; what tags around a constituent say holds only for one kind, and is penalized more.
Platt, "Probabilistic Outputs for Support Vector Machines" (1999); with other features as in Nguyen and
O'Connor, "Posterior Calibration and Exploratory Analysis for Natural Language Processing Models" (EMNLP
2015). Among the surest and the least sure the regression is off. Isotonic regression (Zadrozny and Elkan, KDD
2002) over its sums puts that right; each sum is found without its own part of the sentences. Linear time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

import msgspec
import numpy as np

from d2c.base.arrays import Doubles
from d2c.base.model_files import read_as, write_settings
from d2c.base.numbers import Count, Share, Weight
from d2c.routes.voting.constituents import constituents
from d2c.trees.constraints import SpanConstraints, obeying
from d2c.trees.ctree import CTree
from d2c.trees.transforms import collapse

_VERSION = 1  # of the file
BIAS = "bias"
_LEAST, _MOST = 1e-4, 1 - 1e-4  # of a route's share
_RARE = 10  # constituents: a feature of fewer is left out
_KNOWN = 10_000  # rules and words at most
_LONGEST = 4_000  # characters of a rule
_FEWEST = 1000  # constituents from which something can be learned
_DECAY = 0.3  # inverse strength of the penalty on squared weights
_TAGS = re.compile(" (after|before|begins|ends) ")  # in the names of features
_OF_TAGS = 0.3  # the value of such features in the regression, for ten times the penalty
_LEAST_SURE, _SUREST = 0.005, 0.995  # of what isotonic regression says
_FOLDS = 5


class Judged(NamedTuple):
    """A parse of a sentence: the gold c-tree, the parse, and what the route says of its nodes [K]."""

    gold: CTree
    ctree: CTree
    shares: Sequence[float]

    def right(self) -> list[bool]:
        """Return whether each node [K] is in the gold tree."""
        known = set(constituents(self.gold))
        return [one in known for one in constituents(self.ctree)]


def calibrated(
    ctree: CTree,
    shares: Sequence[float],
    calibration: Calibration | None = None,
    least: float = 0.0,
    wanted: SpanConstraints | None = None,
) -> tuple[CTree, tuple[float, ...] | None]:
    """Return what users see of a c-tree of K nodes: its confident constituents, and how sure each is.

    shares: [K] what the route says of each node
    least:  confidence of what stays; the children of other constituents move up
    wanted: constituents that must be there, or must not, whatever their confidence
    """
    if calibration is None:
        shares = [min(1.0, max(0.0, share)) for share in shares]  # sums of many that are rounded
    else:
        shares = calibration(ctree, shares)
    if wanted is not None:
        required = wanted.required(ctree)
        shares = [1.0 if here else share for here, share in zip(required, shares, strict=True)]
    if least > 0:
        kept = [share >= least for share in shares[:-1]] + [True] * len(shares[-1:])
        ctree, shares = (
            collapse(ctree, kept),
            [share for share, stay in zip(shares, kept, strict=True) if stay],
        )
    return (ctree, tuple(shares)) if wanted is None else obeying(ctree, wanted, shares)


@dataclass(frozen=True)
class Calibration:
    """What turns a route's confidences into probabilities.

    weights: of each feature
    rules:   how often each rule, a label over labels and tags, is in the treebank that was learned from
    words:   of that treebank; of rules and words the commonest
    sums, shares: points, rising, of the line from the sum of weighted features to the probability, straight
             between them
    """

    weights: dict[str, Weight]
    rules: Annotated[dict[str, Count], msgspec.Meta(max_length=_KNOWN)]
    words: Annotated[frozenset[str], msgspec.Meta(max_length=_KNOWN)]
    sums: tuple[Weight, ...]
    shares: tuple[Share, ...]

    def __post_init__(self) -> None:
        rising = [all(a <= b for a, b in pairwise(one)) for one in (self.sums, self.shares)]
        if not self.sums or not all(rising) or len(self.sums) != len(self.shares):
            raise ValueError("what sums of features mean is not rising")

    @classmethod
    def fit(cls, parses: Iterable[Judged], ctrees: Iterable[CTree]) -> Self | None:
        """Learn from held-out sentences; None where these are too few, or all right or all wrong.

        ctrees: the treebank that the parser learned from
        """
        seen = list(ctrees)
        rules = _commonest(rule for ctree in seen for rule in _rules(ctree))
        words = _commonest(form for ctree in seen for form in ctree.tokens.forms)
        plain = cls({}, rules, frozenset(words), (0.0,), (0.0,))
        rows, right, sentences = list[dict[str, float]](), list[bool](), list[int]()
        for number, judged in enumerate(parses):
            rows += plain.features(judged.ctree, judged.shares)
            right += judged.right()
            sentences += [number] * (len(right) - len(sentences))
        if len(rows) < _FEWEST or len({*right}) < 2:
            return None
        weights, sums = _fitted(rows, right, sentences)
        return replace(plain, weights=weights, **_isotonic(sums, right))

    def __call__(self, ctree: CTree, shares: Sequence[float]) -> tuple[float, ...]:
        """Return the probability of each node of a c-tree [K]. shares: what the route says of it [K]"""
        weights = self.weights
        found = [
            weights.get(BIAS, 0.0) + sum([value * weights.get(name, 0.0) for name, value in row.items()])
            for row in self.features(ctree, shares)
        ]
        return tuple(np.interp(found, self.sums, self.shares).tolist())

    def features(self, ctree: CTree, shares: Sequence[float]) -> Iterator[dict[str, float]]:
        """Yield the features of each node [K]: names and values."""
        n, tags = len(ctree.tokens), ("^", *ctree.tokens.tags, "$")
        blocks, parents = ctree.blocks(), ctree.parents()
        seen = [1] * n + [self.rules.get(rule, 0) for rule in _rules(ctree)]
        new = 3 * seen.count(0) / max(1, len(ctree.labels))  # there may be one word and no node
        unknown = 3 * sum(form not in self.words for form in ctree.tokens.forms) / n
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
                "rule": log(1 + seen[node]) / 5,
                "new": float(not seen[node]),
                "new above": float(parents[node] >= 0 and not seen[parents[node]]),
                "new below": float(not all(seen[kid] for kid in kids)),
                "new in sentence": new,
                "unknown in sentence": unknown,
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

    def save(self, path: Path) -> None:
        """Write a file of JSON."""
        rounded = {name: round(weight, 5) for name, weight in self.weights.items()}
        sums, shares = (tuple([round(one, 5) for one in column]) for column in (self.sums, self.shares))
        write_settings(path, _VERSION, replace(self, weights=rounded, sums=sums, shares=shares))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return what `save` wrote. Raises ModelError."""
        return read_as(path, _VERSION, cls)


def _commonest(names: Iterable[str]) -> dict[str, int]:
    """Return the commonest names with their counts, except names that are too long for the file."""
    counts = Counter(names).most_common(_KNOWN)
    return {name: count for name, count in counts if len(name) <= _LONGEST}


def _rules(ctree: CTree) -> Iterator[str]:
    """Yield the rule of each node [K]: its label, and the labels and tags below it."""
    for label, kids in zip(ctree.labels, ctree.children, strict=True):
        yield " ".join([label, *map(ctree.label, kids)])


def _fitted(
    rows: Sequence[dict[str, float]], right: Sequence[bool], sentences: Sequence[int]
) -> tuple[dict[str, float], Doubles]:
    """Return weights by logistic regression; rare features have none.

    rows, right, sentences: [N] features of each constituent, whether it is right, and its sentence

    Also return, for each row [N], the sum of its weighted features, by weights that were learned without its
    part of the sentences. Parts are runs of sentences, so that most of a document is in one part.
    """
    from scipy.sparse import csr_array
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    features = DictVectorizer()
    seen = csr_array(features.fit_transform(rows))
    every = features.get_feature_names_out()
    learned = np.bincount(seen.indices) >= _RARE
    names = every[learned].tolist()
    scale = np.array([_OF_TAGS if _TAGS.search(name) else 1.0 for name in names])
    table = seen[:, learned] * scale
    parts, good = np.array(sentences) * _FOLDS // (sentences[-1] + 1), np.array(right)
    model, other = (LogisticRegression(C=_DECAY, max_iter=1000) for _ in range(2))
    sums = model.fit(table, good).decision_function(table)
    for part in range(_FOLDS):
        own = parts == part
        if own.any() and len({*good[~own].tolist()}) == 2:
            sums[own] = other.fit(table[~own], good[~own]).decision_function(table[own])
    weights = map(float, model.coef_[0] * scale)
    return {BIAS: np.ravel(model.intercept_).item(), **dict(zip(names, weights, strict=True))}, sums


def _isotonic(sums: Doubles, right: Sequence[bool]) -> dict[str, Any]:
    """Return `sums` and `shares` of a calibration. sums, right: [N] of each constituent"""
    from sklearn.isotonic import IsotonicRegression

    found = IsotonicRegression(y_min=_LEAST_SURE, y_max=_SUREST).fit(sums, right)
    return {"sums": tuple(found.X_thresholds_.tolist()), "shares": tuple(found.y_thresholds_.tolist())}
