"""What the report's browser of sentences shows: marks of wrong brackets beside what all pages show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from d2c.experiments.analysis import ERRORS, Bracket, Judged, judge, tally
from d2c.experiments.rows import Comparison, Row
from d2c.trees.ctree import CTree, canonical
from d2c.trees.dtree import DTree
from d2c.trees.heads import induce_heads
from d2c.trees.scores.matches import Matches
from d2c.viewing.page import Json, Sentences


@dataclass(frozen=True)
class Analysed:
    """A row with its trees in canonical form, and their brackets held against those of gold."""

    row: Row
    guess: Sequence[CTree]
    dtrees: Sequence[DTree]
    times: Sequence[tuple[int, float]]
    judged: Sequence[Judged]


def analysed(comparison: Comparison) -> tuple[list[CTree], list[Analysed]]:
    """The gold trees in canonical form, and the routes on the d-parser's d-trees.

    Raises ValueError where no row has the trees that it was scored on.
    """
    standard = comparison.gold
    gold = [
        canonical(induce_heads(ctree, dtree.heads))
        for ctree, dtree in zip(standard.ctrees, standard.dtrees, strict=True)
    ]
    # Rows on the d-parser's d-trees come after those on gold ones.
    rows = {row.route: (row, row.trees) for row in comparison.rows if row.trees is not None}
    if not rows:
        raise ValueError("no row has the trees that it was scored on")
    routes = []
    for row, trees in rows.values():
        guess = list(map(canonical, trees.guess))
        judged = [judge(a, b, standard.metric) for a, b in zip(gold, guess, strict=True)]
        routes.append(Analysed(row, guess, trees.dtrees, trees.times, judged))
    return gold, routes


class Browser:
    """The sentences of the report, as `d2c.viewing.page` says, with more about each:

    q, f: F1 of all routes together, and of each
    a:    [token, gold head] where that of the d-parser's d-tree differs
    c:    gold, then each route's tree, or 0 where it is as gold. What is said of nodes are marks:
          [node, class of error], in gold with the route that misses the bracket
    """

    def __init__(self, dtrees: Sequence[DTree], gold: Sequence[CTree], routes: Sequence[Analysed]) -> None:
        """dtrees: of gold."""
        self.dtrees, self.gold, self.routes, self._sentences = dtrees, gold, routes, Sentences()

    def sentences(self) -> list[Json]:
        """All sentences, worst first: those with the lowest F1 over all routes together."""
        return sorted(map(self._json, range(len(self.gold))), key=lambda one: (one["q"], -len(one["w"])))

    def data(self) -> Json:
        """The names of what the sentences so far have by number."""
        return {
            "routes": [route.row.route for route in self.routes],
            "errors": ERRORS,
            **self._sentences.names,
        }

    def _json(self, i: int) -> Json:
        gold, dtree = self.gold[i], self.routes[0].dtrees[i]
        judged = [route.judged[i] for route in self.routes]
        missed = [[*mark, k] for k, (of_gold, _) in enumerate(judged) for mark in _marks(of_gold)]
        heads = enumerate(zip(self.dtrees[i].heads, dtree.heads, strict=True))
        ctrees = [self._sentences.ctree(gold, missed), *(self._guess(i, route) for route in self.routes)]
        return {
            **self._sentences.json(i + 1, gold.tokens, dtree, ctrees),
            "q": round(_f1(judged), 1),
            "f": [round(_f1([pair]), 1) for pair in judged],
            "a": [[m, head] for m, (head, predicted) in heads if head != predicted],
        }

    def _guess(self, i: int, route: Analysed) -> Any:
        guess, gold = route.guess[i], self.gold[i]
        if (guess.labels, guess.children) == (gold.labels, gold.children):
            return 0
        return self._sentences.ctree(guess, _marks(route.judged[i][1]))


def _marks(brackets: Iterable[Bracket]) -> list[list[int]]:
    return [[b.node, ERRORS.index(b.error)] for b in brackets if b.error is not None]


def _f1(judged: Iterable[Judged]) -> float:
    """100 where there is nothing to find and nothing is found."""
    matches = tally(judged, lambda _: None).get(None, Matches())
    return matches.f1 if matches.gold + matches.guess else 100.0
