"""What the report's browser of sentences shows, as compact JSON whose keys `_Sentences.json` explains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from d2c.compare.analysis import ERRORS, Bracket, Judged, judge, tally
from d2c.compare.rows import Comparison, Row
from d2c.trees.ctree import CTree, canonical
from d2c.trees.dtree import DTree
from d2c.trees.induced_heads import induce_heads
from d2c.trees.scores.matches import Matches

Json = dict[str, Any]


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


def sentences_json(gold_dtrees: Sequence[DTree], gold: Sequence[CTree], routes: Sequence[Analysed]) -> Json:
    """All sentences, worst first: those with the lowest F1 over all routes together."""
    sentences = _Sentences(gold_dtrees, gold, routes)
    shown = [sentences.json(i) for i in range(len(gold))]
    return {
        "routes": [route.row.route for route in routes],
        "errors": ERRORS,
        "labels": list(sentences.labels),
        "tags": list(sentences.tags),
        "arcs": list(sentences.arcs),
        "sentences": sorted(shown, key=lambda one: (one["q"], -len(one["w"]))),
    }


class _Sentences:
    """Writes sentences. Labels and tags are numbered as they come, so that each is in the file once."""

    def __init__(self, dtrees: Sequence[DTree], gold: Sequence[CTree], routes: Sequence[Analysed]) -> None:
        self.dtrees, self.gold, self.routes = dtrees, gold, routes
        self.labels, self.tags, self.arcs = (defaultdict[str, int](count().__next__) for _ in range(3))

    def json(self, i: int) -> Json:
        """One sentence.

        i: its number; q, f: F1 of all routes together, and of each; w, t: words, tags
        h, d: heads and labels of the d-parser's d-tree; a: [token, gold head] where that differs
        c: gold, then each route's tree: [parent of each node, label of each proper node, marks]; 0: as gold.
           A mark is [node, class of error], in gold with the route that misses the bracket.
        """
        gold, dtree = self.gold[i], self.routes[0].dtrees[i]
        judged = [route.judged[i] for route in self.routes]
        missed = [[*mark, k] for k, (of_gold, _) in enumerate(judged) for mark in _marks(of_gold)]
        heads = enumerate(zip(self.dtrees[i].heads, dtree.heads, strict=True))
        return {
            "i": i + 1,
            "q": round(_f1(judged), 1),
            "f": [round(_f1([pair]), 1) for pair in judged],
            "w": gold.tokens.forms,
            "t": [self.tags[tag] for tag in gold.tokens.tags],
            "h": dtree.heads,
            "d": [self.arcs[label] for label in dtree.labels or ()],
            "a": [[m, head] for m, (head, predicted) in heads if head != predicted],
            "c": [self._tree(gold, missed), *(self._guess(i, route) for route in self.routes)],
        }

    def _guess(self, i: int, route: Analysed) -> Any:
        guess, gold = route.guess[i], self.gold[i]
        if (guess.labels, guess.children) == (gold.labels, gold.children):
            return 0
        return self._tree(guess, _marks(route.judged[i][1]))

    def _tree(self, ctree: CTree, marks: list[list[int]]) -> list[Any]:
        return [ctree.parents(), [self.labels[label] for label in ctree.labels], marks]


def _marks(brackets: Iterable[Bracket]) -> list[list[int]]:
    return [[b.node, ERRORS.index(b.error)] for b in brackets if b.error is not None]


def _f1(judged: Iterable[Judged]) -> float:
    """100 where there is nothing to find and nothing is found."""
    matches = tally(judged, lambda _: None).get(None, Matches())
    return matches.f1 if matches.gold + matches.guess else 100.0
