"""The report of a comparison: one HTML file that shows what is behind the table, readable without network.

Everything but the table is about the d-parser's d-trees. The browser of sentences is drawn by the script in
templates/report.html from compact JSON; what its keys mean is said at `_sentence`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from d2c.compare.analysis import (
    ERRORS,
    RULE_CLASSES,
    SENTENCE_LENGTHS,
    SPAN_LENGTHS,
    Bracket,
    Measure,
    Tally,
    by_length,
    class_name,
    judge,
    length_class,
    table5,
    tally,
)
from d2c.compare.charts import COLOURS, line_chart, scatter_chart
from d2c.compare.rows import COLUMNS, Row, Trees, cells, significance_lines
from d2c.trees.ctree import CTree, canonical
from d2c.trees.files import open_output
from d2c.trees.induced_heads import induce_heads

Judged = tuple[list[Bracket], list[Bracket]]
Json = dict[str, Any]


def write_report(rows: Sequence[Row], path: Path) -> None:
    """Writes the report of what `compare_on` gave; the file appears whole or not at all."""
    with open_output(path) as stream:
        stream.write(render(rows))


def render(rows: Sequence[Row]) -> str:
    """The HTML. Raises ValueError where no row has the trees that it was scored on."""
    routes = _routes(rows)
    first = routes[0]
    environment = Environment(
        loader=PackageLoader("d2c.compare"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}
    spans = [
        {length_class(b.tokens.bit_count(), SPAN_LENGTHS) for b in side} for r in routes for side in r.all
    ]
    return environment.get_template("report.html").render(
        columns=COLUMNS,
        table=list(map(cells, rows)),
        significance=list(significance_lines(rows)),
        routes=[route.row.route for route in routes],
        colours=COLOURS,
        d_trees=first.row.d_trees,
        sentences=len(first.trees.gold),
        tokens=sum(first.lengths),
        labels=_by_label(routes),
        lengths=_classes(routes, SENTENCE_LENGTHS, _Route.by_length, "tokens in the sentence"),
        spans=_classes(routes, SPAN_LENGTHS, _Route.by_span, "tokens in the span") if any(spans) else None,
        errors=[(error, [route.errors[error] for route in routes]) for error in ERRORS],
        rule_classes=[(known, [route.table5[known] for route in routes]) for known in RULE_CLASSES],
        times=Markup(
            scatter_chart(
                {r.row.route: [(n, 1000 * seconds) for n, seconds in r.trees.times] for r in routes},
                "tokens in the sentence",
                "milliseconds",
            )
        ),
        repairs=_repairs(routes),
        data=_data(routes),
    )


@dataclass
class _Route:
    """A row with what the analysis finds in it."""

    row: Row
    trees: Trees
    judged: list[Judged]

    @property
    def all(self) -> Iterable[list[Bracket]]:
        return (side for pair in self.judged for side in pair)

    @cached_property
    def lengths(self) -> list[int]:
        return [len(ctree.tokens) for ctree in self.trees.gold]

    def by_length(self) -> dict[int, Tally]:
        return by_length(self.lengths, self.row.scores)

    def by_span(self) -> dict[int, Tally]:
        return tally(self.judged, lambda b: length_class(b.tokens.bit_count(), SPAN_LENGTHS))

    @cached_property
    def errors(self) -> dict[str, tuple[int, int]]:
        """Of each class, how many gold brackets are missed, and how many of the guess are wrong."""
        missed, wrong = (Counter(b.error for pair in self.judged for b in pair[side]) for side in (0, 1))
        return {error: (missed[error], wrong[error]) for error in ERRORS}

    @cached_property
    def table5(self) -> dict[Any, tuple[int, int]]:
        return dict(table5(self.trees.gold, self.trees.guess))


def _routes(rows: Sequence[Row]) -> list[_Route]:
    """The routes on the d-parser's d-trees, which come after those on gold d-trees, with canonical trees."""
    of_route = {row.route: (row, row.trees) for row in rows if row.trees is not None}
    if not of_route:
        raise ValueError("no row has the trees that it was scored on")
    scored = list(of_route.values())
    of_first = scored[0][1]
    pairs = zip(of_first.gold, of_first.gold_dtrees, strict=True)
    gold = [canonical(induce_heads(ctree, dtree.heads)) for ctree, dtree in pairs]
    guesses = [list(map(canonical, trees.guess)) for _, trees in scored]
    routes = []
    for (row, trees), guess in zip(scored, guesses, strict=True):
        measure = Measure.of([*gold, *guess])
        judged = [judge(a, b, measure) for a, b in zip(gold, guess, strict=True)]
        routes.append(_Route(row, trees._replace(gold=gold, guess=guess), judged))
    return routes


def _by_label(routes: Sequence[_Route]) -> list[tuple[str, int, list[float]]]:
    """Label, number in gold, F1 of each route; the commonest first."""
    tallies = [tally(route.judged, lambda b: b.label) for route in routes]
    labels = {label: one.gold for side in tallies for label, one in side.items()}
    return [
        (label, count, [side.get(label, Tally()).f1 for side in tallies])
        for label, count in sorted(labels.items(), key=lambda item: (-item[1], item[0]))
    ]


def _classes(
    routes: Sequence[_Route], limits: Sequence[int], of: Callable[[_Route], dict[int, Tally]], axis: str
) -> Json:
    """A chart of F1 over classes of length, and the same as rows: class, number in gold, F1 of each route."""
    tallies = list(map(of, routes))
    present = sorted({number for side in tallies for number in side})
    names = [class_name(number, limits) for number in present]
    f1 = [[side.get(number, Tally()).f1 for number in present] for side in tallies]
    counts = [max(side.get(number, Tally()).gold for side in tallies) for number in present]
    series = {route.row.route: values for route, values in zip(routes, f1, strict=True)}
    rows = list(zip(names, counts, zip(*f1, strict=True), strict=True))
    return {"chart": Markup(line_chart(names, series, axis, "F1")), "rows": rows}


def _repairs(routes: Sequence[_Route]) -> list[tuple[str, list[float]]]:
    """Kinds of repairs, the commonest first, and how many for each 1,000 tokens in each route."""
    counts = sum((route.row.repairs.counts for route in routes), Counter[str]())
    kinds = [kind for kind, count in counts.most_common() if count]
    return [(kind, [route.row.repairs.per_thousand(kind) for route in routes]) for kind in kinds]


class _Numbers:
    """Strings numbered as they come, so that each stands in the file once."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.ids.setdefault(text, len(self.ids))


def _data(routes: Sequence[_Route]) -> Json:
    """What the browser shows, worst sentences first: those with the lowest F1 over all routes together."""
    labels, tags, arcs = _Numbers(), _Numbers(), _Numbers()
    number = len(routes[0].trees.gold)
    sentences = [_sentence(i, routes, labels, tags, arcs) for i in range(number)]
    return {
        "routes": [route.row.route for route in routes],
        "errors": ERRORS,
        "labels": list(labels.ids),
        "tags": list(tags.ids),
        "arcs": list(arcs.ids),
        "sentences": sorted(sentences, key=lambda one: (one["q"], -len(one["w"]))),
    }


def _sentence(i: int, routes: Sequence[_Route], labels: _Numbers, tags: _Numbers, arcs: _Numbers) -> Json:
    """One sentence.

    i: its number; q, f: F1 of all routes together, and of each; w, t: words, tags
    h, d: heads and labels of the d-parser's d-tree; a: [token, gold head] where that differs
    c: gold, then each route's tree: [parent of each node, label of each proper node, marks]; 0: as gold.
       A mark is [node, class of error], in gold with the route that misses the bracket.
    """
    trees = routes[0].trees
    gold, dtree = trees.gold[i], trees.dtrees[i]
    judged = [route.judged[i] for route in routes]
    missed = [
        [b.node, ERRORS.index(b.error), at]
        for at, (side, _) in enumerate(judged)
        for b in side
        if b.error is not None
    ]
    gold_heads = trees.gold_dtrees[i].heads
    return {
        "i": i + 1,
        "q": round(_f1(judged), 1),
        "f": [round(_f1([pair]), 1) for pair in judged],
        "w": gold.tokens.forms,
        "t": list(map(tags, gold.tokens.tags)),
        "h": dtree.heads,
        "d": list(map(arcs, dtree.labels or ())),
        "a": [[m, head] for m, head in enumerate(gold_heads) if head != dtree.heads[m]],
        "c": [
            [*_shape(gold, labels), missed],
            *(_guess(route.trees.guess[i], gold, route.judged[i][1], labels) for route in routes),
        ],
    }


def _guess(guess: CTree, gold: CTree, judged: Iterable[Bracket], labels: _Numbers) -> Any:
    if (guess.labels, guess.children) == (gold.labels, gold.children):
        return 0
    wrong = [[b.node, ERRORS.index(b.error)] for b in judged if b.error is not None]
    return [*_shape(guess, labels), wrong]


def _shape(ctree: CTree, labels: _Numbers) -> tuple[list[int], list[int]]:
    return ctree.parents(), list(map(labels, ctree.labels))


def _f1(judged: Sequence[Judged]) -> float:
    """100 where there is nothing to find and nothing is found."""
    total = sum(len(side) for pair in judged for side in pair)
    matched = sum(b.error is None for gold, _ in judged for b in gold)
    return 200 * matched / total if total else 100.0
