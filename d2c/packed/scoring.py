"""The weight of packed arcs' probabilities, and how many arcs are kept, learned on held-out trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import product
from math import log2
from typing import Annotated, NamedTuple, Protocol

import numpy as np
from msgspec import Meta

from d2c.base.numbers import Scale, Switch
from d2c.base.progress import counted
from d2c.packed.arcs import LEAST, packed_arcs
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.scores.brackets import bracket_scores, metric_for
from d2c.trees.scores.matches import Matches

HEADS_PER_WORD = 1.5
FEWER = 1.2, 1.35, HEADS_PER_WORD  # are tried for a route that has learned over packed arcs
ONE_HEAD = 2.0  # more than any probability: only the d-tree's own heads are kept
SCALES, THRESHOLDS = (0.5, 0.7, 1.0), (0.4, 0.5, 0.6, 0.7)  # are tried for minimum Bayes risk
WEIGHTS = tuple(2.0**power for power in range(-3, 5))  # are tried for each weight
BEAM, WIDER = 2.5, 4.0  # in logarithms; the wider one takes longer, so it must gain so many points of F1:
GAIN = 0.15


class ArcScoring(NamedTuple):
    """What probabilities of packed arcs count for, beside the features of a model.

    A model's files have them as a row in this order.

    weight: of the logarithm of an arc's probability; least: the least probability of an arc that is kept
    labels: weight of the logarithm of the probability of what an arc's label says, if the d-parser gives it
    learned: 1 where weights of features (`d2c.packed.arc_features`) are added to these; else 0
    scale, threshold: of minimum Bayes risk (Goodman, 1996): a factor of scores, and the support that a
             constituent needs; scale 0: the best derivation is looked for
    yields: weight of the logarithms of the probabilities of the first and last word of a dependent's yield,
             if the d-parser gives these
    beam:    what is only in projective d-trees that are further than this below the best one, by the sum of
             the logarithms of the probabilities of arcs and ends of yields, is left out of a chart
    """

    weight: Scale = 1.0
    least: Scale = 0.03
    labels: Scale = 0.0
    learned: Switch = 0.0
    scale: Scale = 0.0
    threshold: Annotated[float, Meta(ge=0, lt=1)] = 0.0
    yields: Scale = 0.0
    beam: Scale = BEAM


class OverArcs(Protocol):
    """A route that searches among packed arcs; arcs_: what these count for."""

    arcs_: ArcScoring

    @property
    def gaps_(self) -> bool:
        """Return whether training trees had gaps."""
        ...

    def decode_all(self, dtrees: Iterable[DTree]) -> Iterator[CTree]:
        """Yield the c-trees of d-trees."""
        ...


class RiskyRoute(OverArcs, Protocol):
    """A route over packed arcs that also looks for trees of minimum Bayes risk."""

    def by_risk(self, dtree: DTree, scorings: Sequence[ArcScoring]) -> list[CTree]:
        """Return the c-tree for the scale and the threshold of each scoring, all else being as it is."""
        ...


def fit_scoring(
    route: OverArcs, ctrees: Iterable[CTree], dtrees: Iterable[DTree], numbers: Sequence[str] = ("labels",)
) -> None:
    """Give a route the scoring with which it has the best F1 on held-out d-trees with packed arcs.

    numbers: names of the weights of what the route sees beside the probabilities of arcs

    Neither d-parser nor route has learned from these sentences. `learned` stays as it is. Raises ValueError
    if no d-tree has packed arcs.
    """
    parsed, learned = list(dtrees), route.arcs_.learned
    score = _score_of(route, ctrees, parsed)
    found = learn_scoring(lambda scoring: score(scoring._replace(learned=learned)), parsed, numbers)
    route.arcs_ = found._replace(learned=learned)


def fit_chosen(route: OverArcs, ctrees: Iterable[CTree], dtrees: Iterable[DTree]) -> None:
    """Choose which arcs are kept, and what they count for, on held-out d-trees with packed arcs, for a route
    that has learned over packed arcs; see `chosen`."""
    parsed = list(dtrees)
    route.arcs_ = chosen(_score_of(route, ctrees, parsed), route.arcs_, parsed)


def _score_of(
    route: OverArcs, ctrees: Iterable[CTree], dtrees: Sequence[DTree]
) -> Callable[[ArcScoring], float]:
    """Return the F1 of a route on held-out d-trees as a function of what packed arcs count for."""
    gold = list(ctrees)

    def f1(scoring: ArcScoring) -> float:
        route.arcs_ = scoring
        guesses = counted(route.decode_all(dtrees), f"packed arcs count {scoring.weight:g}")
        return bracket_scores(gold, list(guesses), gaps=route.gaps_).f1

    return f1


def learn_scoring(
    score: Callable[[ArcScoring], float], dtrees: Iterable[DTree], numbers: Sequence[str] = ("labels",)
) -> ArcScoring:
    """Return the scoring with which held-out d-trees with packed arcs score best; where their own heads alone
    score as well, only these are kept. Raises ValueError if no d-tree has packed arcs.

    The weights of arcs, and of the other numbers that the d-parser gives, are searched for in turn.
    """
    given, score = list(dtrees), cache(score)
    best = ArcScoring(least=least_probability(given))
    best = best._replace(weight=best_weight(lambda weight: score(best._replace(weight=weight))))
    for number in filter(partial(_gives, given), numbers):
        for name in (number, "weight"):
            best = _better(score, best, name)
    best, single = _widened(score, best, given), best._replace(least=ONE_HEAD)
    return best if score(best) > score(single) else single


def _gives(dtrees: Sequence[DTree], name: str) -> bool:
    """Return whether packed arcs of some of the d-trees have numbers of this name."""
    return any(getattr(packed_arcs(dtree), name, None) is not None for dtree in dtrees)


def _better(score: Callable[[ArcScoring], float], scoring: ArcScoring, name: str) -> ArcScoring:
    """Return the scoring with the best weight of this name, or as it is, if that is not better."""
    found = scoring._replace(**{name: best_weight(lambda weight: score(scoring._replace(**{name: weight})))})
    return found if score(found) > score(scoring) else scoring


def _widened(
    score: Callable[[ArcScoring], float], scoring: ArcScoring, dtrees: Sequence[DTree]
) -> ArcScoring:
    """Return the scoring with the wider beam where ends of yields count, and it gains enough: ends of yields
    that only repeat what arcs say, as posteriors of the same chart do, may leave out what is right."""
    wide = scoring._replace(beam=WIDER)
    counts = scoring.yields > 0 and _gives(dtrees, "yields")
    return wide if counts and score(wide) > score(scoring) + GAIN else scoring


def chosen(score: Callable[[ArcScoring], float], scoring: ArcScoring, dtrees: Iterable[DTree]) -> ArcScoring:
    """Return the scoring with the best threshold, weights and beam on held-out d-trees, for a route that has
    learned over packed arcs: the d-parser is better than those of the folds, whose arcs the route has seen
    and which have learned from fewer sentences.

    Threshold, weights and, since these may change it, threshold again are chosen in turn; then the beam.
    """
    given, score = list(dtrees), cache(score)
    thresholds = [least_probability(given, number) for number in FEWER]

    def with_threshold(scoring: ArcScoring) -> ArcScoring:
        return max((scoring._replace(least=least) for least in thresholds), key=score)

    return _widened(score, with_threshold(reweighted(score, with_threshold(scoring), given)), given)


def fit_weights(route: OverArcs, ctrees: Iterable[CTree], dtrees: Iterable[DTree]) -> None:
    """Choose what packed arcs count for as `fit_chosen` does, but keep the same arcs."""
    parsed = list(dtrees)
    route.arcs_ = reweighted(cache(_score_of(route, ctrees, parsed)), route.arcs_, parsed)


def reweighted(
    score: Callable[[ArcScoring], float], scoring: ArcScoring, dtrees: Sequence[DTree]
) -> ArcScoring:
    """Return the scoring with the best weights of arcs and, where these count, of ends of yields."""
    best = _better(score, scoring, "weight")
    return _better(score, best, "yields") if scoring.yields > 0 and _gives(dtrees, "yields") else best


def fit_risk(route: RiskyRoute, ctrees: Iterable[CTree], dtrees: Iterable[DTree]) -> list[float]:
    """Give a route the scale and threshold of minimum Bayes risk with which it has the best F1 on held-out
    d-trees with packed arcs. It gets none unless those that are best on one half beat best derivations on the
    other half, both ways. Return their gains in points of F1 on the second and on the first half."""
    gold, plain = list(ctrees), route.arcs_._replace(scale=0.0, threshold=0.0)
    metric, middle = metric_for(gold, route.gaps_), len(gold) // 2
    tried = [plain._replace(scale=scale, threshold=least) for scale, least in product(SCALES, THRESHOLDS)]

    def halves(guesses: Iterable[CTree]) -> tuple[Matches, Matches]:
        matches = [score.matches for score in metric.score(gold, guesses)]
        return sum(matches[:middle], Matches()), sum(matches[middle:], Matches())

    rows = [route.by_risk(dtree, [plain, *tried]) for dtree in counted(dtrees, "minimum Bayes risk")]
    before, *found = map(halves, zip(*rows, strict=True))
    chosen = [max(found, key=lambda pair: pair[half].f1) for half in (0, 1)]
    gains = [chosen[half][1 - half].f1 - before[1 - half].f1 for half in (0, 1)]
    best = max(range(len(tried)), key=lambda number: sum(found[number], Matches()).f1)
    route.arcs_ = tried[best] if min(gains) > 0 else plain
    return gains


def least_probability(dtrees: Iterable[DTree], heads_per_word: float = HEADS_PER_WORD) -> float:
    """Return the least probability of arcs that are kept, such that words have about so many heads; the
    d-trees' own heads are kept in any case. Raises ValueError if no d-tree has packed arcs."""
    words, others = 0, [np.zeros(0, np.float32)]
    for dtree in dtrees:
        arcs = packed_arcs(dtree)
        if arcs is not None and dtree.heads:
            own = np.array(dtree.heads)[arcs.dependents()]
            others.append(arcs.logs[arcs.heads != own])
            words += len(dtree.heads)
    if not words:
        raise ValueError("these d-trees have no packed arcs")
    falling, wanted = np.sort(np.concatenate(others))[::-1], round((heads_per_word - 1) * words)
    if wanted < 1:
        return 1.0
    return float(np.exp(falling[wanted - 1])) if wanted <= len(falling) else LEAST


def best_weight(score: Callable[[float], float]) -> float:
    """Return the best of WEIGHTS by a mean of its own score, which counts twice, and those of its neighbours:
    on a few hundred sentences there are peaks by chance. Of equally good ones, the one nearest to 1."""
    found = [score(weight) for weight in WEIGHTS]
    around = zip(found[:1] + found[:-1], found, found[1:] + found[-1:], strict=True)
    means = [(before + 2 * own + after) / 4 for before, own, after in around]
    return max(zip(means, WEIGHTS, strict=True), key=lambda pair: (pair[0], -abs(log2(pair[1]))))[1]
