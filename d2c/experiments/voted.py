"""Rows of several d-parsers: every route on the d-trees of each, and what two and three of them vote for.

All votes count alike: weights would have to be learned on sentences that neither the parsers nor the table
have seen. Constituents: those of more than half of the trees that all routes make of all the d-parsers'
d-trees, of three trees at least. Arcs, of three d-parsers: every route on the voted d-trees.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from d2c.combination.arc_voting import combine_arcs
from d2c.combination.constituents import Parse, combine
from d2c.experiments.rows import GoldStandard, Parses, Row, attachment, score
from d2c.trees.ctree import CTree
from d2c.trees.repair import Repairs
from d2c.trees.route import Route
from d2c.trees.scores.significance import approximate_randomisation

VOTED = "voted"
_LEAST, _MOST = 3, 3  # trees of a vote; d-parsers in it


def several(
    gold: GoldStandard, routes: Mapping[str, Route], parsed: Sequence[Parses], first: Sequence[Row]
) -> list[Row]:
    """The rows that follow when there are more d-parsers than one.

    parsed: the d-trees of each; first: the rows of all routes on those of the first one
    """
    rows = {parsed[0].source: list(first)}
    for parses in parsed[1:]:
        rows[parses.source] = [score(name, route, gold, parses) for name, route in routes.items()]
    made = [row for parses in parsed[1:] for row in rows[parses.source]]
    for size in range(2, min(len(parsed), _MOST) + 1):
        for chosen in combinations(parsed, size):
            singles = [row for parses in chosen for row in rows[parses.source]]
            if len(singles) >= _LEAST:
                made.append(_constituents(gold, next(iter(routes.values())), chosen, singles))
            if size >= _LEAST:
                arcs = _arcs(chosen)
                made += [score(name, route, gold, arcs) for name, route in routes.items()]
    return [replace(row, trees=None) for row in made]  # the report is about the first d-parser


def _name(chosen: Iterable[Parses]) -> str:
    return "+".join(parses.source for parses in chosen)


def _arcs(chosen: Sequence[Parses]) -> Parses:
    start = time.perf_counter()
    dtrees = [combine_arcs(row) for row in zip(*(parses.dtrees for parses in chosen), strict=True)]
    return Parses(_name(chosen), dtrees, sum(one.seconds for one in chosen) + time.perf_counter() - start)


def _constituents(gold: GoldStandard, route: Route, chosen: Sequence[Parses], rows: Sequence[Row]) -> Row:
    """UAS and LAS are those of the d-trees that the route encodes the voted c-trees as."""
    start = time.perf_counter()
    trees = zip(*(row.trees.guess for row in rows if row.trees), strict=True)
    guess: list[CTree] = [combine(list(map(Parse, row))).ctree for row in trees]
    converting = sum(row.converting for row in rows) + time.perf_counter() - start
    scores = gold.metric.score(gold.ctrees, guess)
    return Row(
        *(VOTED, _name(chosen), attachment(gold, map(route.encode, guess)), scores),
        gold.metric.summary(scores),
        repairs=Repairs(rows[0].repairs.tokens, rows[0].repairs.sentences),
        converting=converting,
        parsing=sum(parses.seconds for parses in chosen),
    )


def voted_lines(rows: Sequence[Row]) -> Iterator[str]:
    """What the voted rows count, and how far each is from the best row of one of its d-parsers."""
    for row in rows:
        singles = [one for one in rows if one.converting and one.d_trees in row.d_trees.split("+")]
        if "+" in row.d_trees and singles:
            best = max(singles, key=lambda one: one.brackets.f1)
            points, p = approximate_randomisation(best.scores, row.scores)
            names = f"{row.route}, {row.d_trees}, against {best.route}, {best.d_trees}, the best single one"
            yield f"{names}: {points:+.2f} F1, p = {p:.4f}"
    if any("+" in row.d_trees for row in rows):
        yield (
            "voted: constituents of more than half of the trees by all routes from these d-parsers' d-trees; "
            "others with +: on voted d-trees. All votes count alike: nothing is learned on dev."
        )
