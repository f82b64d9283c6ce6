"""How much a vote counts: all alike, or as learned for each parser and label.

Sagae and Lavie (2006) and Fossum and Knight, "Combining Constituent Parsers" (NAACL 2009), weigh a vote by
how often its parser is right, for each label. Here these weights are those of a logistic regression: how
probable it is that a candidate (a constituent, an arc) with a label is right, given who votes for it,

    1 / (1 + exp(-(b + b[label] + sum over parsers i of e(vote[i]) · (w[i] + w[i, label]))))

so that a vote which repeats what others say counts less, and weights of rare labels stay near those of all.
A vote is 1, or the parser's own confidence, or 0; e is the logarithm of its odds, scaled (`evidence`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple

from d2c.base.errors import ModelError, needing
from d2c.base.model_files import read_as
from d2c.base.numbers import Share, Weight

VOTING_FORMAT = 2  # of the file; in 1 votes counted as they are
_CS = 0.01, 0.1, 1.0, 10.0  # of the regression, to choose from
_FOLDS = 5  # of the examples, each left out once for that
_SURE = 0.998  # the probability of what is certain
_MOST_ODDS = math.log(_SURE / (1 - _SURE))

Support = Callable[[str, Sequence[float]], float]
"""The support of a candidate, from 0 to 1, given its label and the vote of each parser."""


class Example(NamedTuple):
    """A candidate for which some parser votes, and whether it is right."""

    label: str
    votes: Sequence[float]
    right: bool


def equal_votes(_label: str, votes: Sequence[float]) -> float:
    """Return the mean vote; every parser's counts alike."""
    return sum(votes) / len(votes)


def weighted_votes(weights: Sequence[float]) -> Support:
    """Return a support: the mean of the votes' `evidence`, weighted by parser."""
    return lambda _label, votes: sum(map(mul, weights, map(evidence, votes))) / sum(weights)


def evidence(vote: float) -> float:
    """Return the logarithm of a vote's odds, scaled to run from 0 to 1; votes are cut off at _SURE."""
    cut_off = min(max(vote, 1 - _SURE), _SURE)
    return 0.5 + 0.5 * math.log(cut_off / (1 - cut_off)) / _MOST_ODDS


@dataclass(frozen=True)
class VotingWeights:
    """Learned weights of m parsers; they are a `Support`.

    kind:      what they are of: `constituents` or `arcs`
    threshold: constituents need more than this
    general:   [1 + m] b and w; labels: label → [1 + m] the same with what is added for it
    """

    kind: str
    threshold: Share
    general: tuple[Weight, ...]
    labels: Mapping[str, tuple[Weight, ...]]

    def __post_init__(self) -> None:
        if len(self.general) < 2 or any(len(row) != len(self.general) for row in self.labels.values()):
            raise ValueError("rows of weights have different lengths")

    @property
    def parsers(self) -> int:
        """Return m, the number of parsers."""
        return len(self.general) - 1

    def __call__(self, label: str, votes: Sequence[float]) -> float:
        bias, *weights = self.labels.get(label, self.general)
        score = bias + sum(w * evidence(vote) for w, vote in zip(weights, votes, strict=True))
        return 1 / (1 + math.exp(-max(-700.0, score)))

    def text(self) -> str:
        """Return the contents of a file: JSON."""
        columns = {name: getattr(self, name) for name in ("kind", "threshold", "general", "labels")}
        return json.dumps({"format": VOTING_FORMAT} | columns, ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def load(cls, path: Path) -> VotingWeights:
        """Load the weights of a file. Raises ModelError."""
        return read_as(path, VOTING_FORMAT, cls)


def learn_votes(kind: str, examples: Iterable[Example]) -> VotingWeights:
    """Learn weights by logistic regression, with the threshold 0.5. Raises ModelError for no examples."""
    with needing("learning weights", "train"):
        import numpy as np
        from scipy.sparse import csr_array

    rows = list(examples)
    if not rows:
        raise ModelError("there is nothing to learn from: no parser votes for anything")
    labels = {label: number for number, label in enumerate(sorted({row.label for row in rows}), 1)}
    width = 1 + len(rows[0].votes)
    columns, values, ends = list[int](), list[float](), [0]
    for row in rows:
        features = [(0, 1.0), *((i, evidence(vote)) for i, vote in enumerate(row.votes, 1) if vote)]
        for block in (0, labels[row.label]):
            columns += [block * width + i for i, _ in features]
            values += [value for _, value in features]
        ends.append(len(columns))
    # Two rows without features change no weight, and make sure that there is one of either kind.
    ends += ends[-1:] * 2
    right = [row.right for row in rows] + [False, True]
    size = len(rows) + 2, (1 + len(labels)) * width
    matrix = csr_array((np.array(values), np.array(columns), np.array(ends)), shape=size)
    table = _coefficients(matrix, np.array(right)).reshape(-1, width)
    summed = {label: _numbers(table[0] + table[number]) for label, number in labels.items()}
    return VotingWeights(kind, 0.5, _numbers(table[0]), summed)


def _coefficients(matrix: Any, right: Any) -> Any:
    """Return the coefficients with the C that gives left-out folds the greatest likelihood: many parsers that
    nearly always agree need a small C."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score

    regressions = {c: LogisticRegression(C=c, fit_intercept=False, max_iter=1000) for c in _CS}
    folds = min(_FOLDS, int(right.sum()), int((~right).sum()))

    def likelihood(c: float) -> float:
        scores = cross_val_score(regressions[c], matrix, right, cv=folds, scoring="neg_log_loss")
        return float(scores.mean())

    best = max(_CS, key=likelihood) if folds > 1 else 1.0
    return regressions[best].fit(matrix, right).coef_


def _numbers(row: Any) -> tuple[float, ...]:
    """Return numbers rounded as in files."""
    return tuple(round(float(number), 6) for number in row)
