"""The report of a comparison: one HTML file that shows what is behind the table, readable without network.

Everything except the table is about the d-parser's d-trees, if there is a d-parser. The browser of sentences
is that of `d2c.viewing`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from d2c.base.counting import ranked
from d2c.base.files import open_output
from d2c.experiments.analysis import (
    ERRORS,
    RULE_CLASSES,
    SENTENCE_LENGTHS,
    SPAN_LENGTHS,
    Bracket,
    Sides,
    by_length,
    class_name,
    judge,
    length_class,
    table5,
    tally,
)
from d2c.experiments.charts import COLOURS, line_chart, scatter_chart
from d2c.experiments.reliability import COVERAGES, Reliability, reliabilities
from d2c.experiments.rows import (
    COMPARED,
    Comparison,
    Row,
    Table,
    Trees,
    oracle_lines,
)
from d2c.experiments.significance import difference_rows, how_compared
from d2c.trees.ctree import CTree, canonical
from d2c.trees.dtree import DTree
from d2c.trees.heads import induce_heads
from d2c.trees.scores.matches import Matches
from d2c.viewing.page import Json, Sentences, page


def write_report(comparison: Comparison, path: Path, table: Table = COMPARED) -> None:
    """Write the report of a comparison, or of scored files; the file appears whole or not at all."""
    with open_output(path) as stream:
        stream.write(render(comparison, table))


def render(comparison: Comparison, table: Table = COMPARED) -> str:
    """Return the HTML. Raises ValueError where no row has the trees that it was scored on."""
    gold, routes = analysed(comparison)
    names, lengths = [route.row.route for route in routes], [len(ctree.tokens) for ctree in gold]
    by_sentence = [by_length(lengths, route.row.scores) for route in routes]
    by_span = [tally(route.judged, _span_class) for route in routes]
    errors, rules = list(map(_errors, routes)), [table5(gold, route.trees.guess) for route in routes]
    times = {route.row.route: [(n, 1000 * seconds) for n, seconds in route.trees.times] for route in routes}
    found = table.differences(comparison.rows)
    browser = Browser(comparison.gold.dtrees, gold, routes)
    pieces = page(
        "d2c.experiments",
        "report.html",
        command=table.title,
        columns=table.columns,
        text_columns=table.names,
        table=list(map(table.cells, comparison.rows)),
        differences=difference_rows(found),
        how_compared=how_compared(len(found)),
        settings=" ".join([*oracle_lines(comparison.rows), table.settings(comparison)]),
        routes=names,
        colours=COLOURS,
        d_trees=routes[0].row.d_trees,
        head_rules=comparison.head_rules,
        count=len(gold),
        tokens=sum(lengths),
        labels=_by_label([tally(route.judged, lambda b: b.label) for route in routes]),
        lengths=_classes(names, by_sentence, SENTENCE_LENGTHS, "tokens in the sentence"),
        spans=_classes(names, by_span, SPAN_LENGTHS, "tokens in the span") if any(by_span) else None,
        errors=[(error, [counts[error] for counts in errors]) for error in ERRORS],
        rule_classes=[(known, [counts[known] for counts in rules]) for known in RULE_CLASSES],
        times=Markup(scatter_chart(times, "tokens in the sentence", "milliseconds"))
        if any(times.values())
        else "",
        repairs=_repairs(routes),
        confidences=_confidences(routes),
        sentences=browser.sentences(),
        data=browser.data,
    )
    return "".join(pieces)


def _span_class(bracket: Bracket) -> int:
    return length_class(bracket.tokens.bit_count(), SPAN_LENGTHS)


def _errors(route: Analysed) -> dict[str, tuple[int, int]]:
    """Return, for each class, how many brackets of gold are missed, and how many of the guess are wrong."""
    missed, wrong = (Counter(b.error for pair in route.judged for b in pair[side]) for side in (0, 1))
    return {error: (missed[error], wrong[error]) for error in ERRORS}


def _by_label(tallies: Sequence[dict[str, Matches]]) -> list[tuple[str, int, list[float]]]:
    """Return rows of label, number in gold, and F1 of each route; the commonest label first."""
    labels = {label: matches.gold for side in tallies for label, matches in side.items()}
    return [
        (label, labels[label], [side.get(label, Matches()).f1 for side in tallies])
        for label in ranked(labels)
    ]


def _classes(
    routes: Sequence[str], tallies: Sequence[dict[int, Matches]], limits: Sequence[int], axis: str
) -> dict[str, Any]:
    """Return a chart of F1 over classes of length, and the same as rows: class, number in gold, F1 of each
    route."""
    present = sorted({number for side in tallies for number in side})
    names = [class_name(number, limits) for number in present]
    f1 = [[side.get(number, Matches()).f1 for number in present] for side in tallies]
    counts = [max(side.get(number, Matches()).gold for side in tallies) for number in present]
    chart = line_chart(names, dict(zip(routes, f1, strict=True)), axis, "F1")
    return {"chart": Markup(chart), "rows": list(zip(names, counts, zip(*f1, strict=True), strict=True))}


def _confidences(routes: Iterable[Analysed]) -> dict[str, Any] | None:
    """Return a reliability diagram, in percent, and rows of name, expected calibration error and precisions
    at coverages; None where no route gives confidences."""
    found: dict[str, Reliability] = {}
    for name, one in ((route.row.route, reliabilities(route.trees.judged())) for route in routes):
        found |= {name: one.raw} if one else {}
        found |= {f"{name}, calibrated": one.calibrated} if one and one.calibrated else {}
    points = {
        name: [(100 * mean, 100 * share) for mean, share in zip(one.means, one.right, strict=True)]
        for name, one in found.items()
    }
    rows = [(name, 100 * one.error, [100 * share for share in one.precisions]) for name, one in found.items()]
    chart = Markup(scatter_chart(points, "mean confidence, %", "right, %"))
    return {"chart": chart, "rows": rows, "coverages": COVERAGES} if found else None


def _repairs(routes: Iterable[Analysed]) -> list[tuple[str, list[float]]]:
    """Return the kinds of repairs, the commonest first, and their number per 1,000 tokens in each route."""
    repairs = [route.row.repairs for route in routes]
    counts = sum((one.counts for one in repairs), Counter[str]())
    return [(kind, [one.per_thousand(kind) for one in repairs]) for kind, n in counts.most_common() if n]


class Analysed(NamedTuple):
    """A row with its trees in canonical form, and their brackets compared with those of gold."""

    row: Row
    trees: Trees
    judged: Sequence[Sides]


def analysed(comparison: Comparison) -> tuple[list[CTree], list[Analysed]]:
    """Return the gold trees in canonical form, and the routes on the d-parser's d-trees, or the files.

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
        given = (None if score.failed else b for b, score in zip(guess, row.scores, strict=True))
        judged = [judge(a, b, standard.metric) for a, b in zip(gold, given, strict=True)]
        routes.append(Analysed(row, trees._replace(guess=guess), judged))
    return gold, routes


class Browser:
    """The sentences of the report, as `d2c.viewing.page` has them, with more about each:

    q, f: F1 of all routes together, and of each
    a:    [token, gold head] where the head in the d-parser's d-tree is another one
    c:    gold, then each route's tree, or 0 where it equals gold. What the page says of nodes are marks:
          [node, class of error], in gold with the number of the route that misses the bracket
    """

    def __init__(self, dtrees: Sequence[DTree], gold: Sequence[CTree], routes: Sequence[Analysed]) -> None:
        """Begin a report without sentences. dtrees: of gold."""
        self.dtrees, self.gold, self.routes, self._sentences = dtrees, gold, routes, Sentences()

    def sentences(self) -> list[Json]:
        """Return all sentences, worst first: those with the lowest F1 over all routes together."""
        return sorted(map(self._json, range(len(self.gold))), key=lambda one: (one["q"], -len(one["w"])))

    def data(self) -> Json:
        """Return the names of what the sentences so far refer to by number."""
        return {
            "routes": [route.row.route for route in self.routes],
            "errors": ERRORS,
            **self._sentences.names,
        }

    def _json(self, i: int) -> Json:
        gold, dtree = self.gold[i], self.routes[0].trees.dtrees[i]
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
        guess, gold = route.trees.guess[i], self.gold[i]
        if (guess.labels, guess.children) == (gold.labels, gold.children):
            return 0
        return self._sentences.ctree(guess, _marks(route.judged[i][1]))


def _marks(brackets: Iterable[Bracket]) -> list[list[int]]:
    return [[b.node, ERRORS.index(b.error)] for b in brackets if b.error is not None]


def _f1(judged: Iterable[Sides]) -> float:
    """Return F1; 100 where there is nothing to find and nothing is found."""
    matches = tally(judged, lambda _: None).get(None, Matches())
    return matches.f1 if matches.gold + matches.guess else 100.0
