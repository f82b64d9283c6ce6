"""The report of a comparison: one HTML file that shows what is behind the table, readable without network.

Everything but the table is about the d-parser's d-trees. The browser of sentences is that of `d2c.viewing`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from d2c.base.files import open_output
from d2c.experiments.analysis import (
    ERRORS,
    RULE_CLASSES,
    SENTENCE_LENGTHS,
    SPAN_LENGTHS,
    Bracket,
    by_length,
    class_name,
    length_class,
    table5,
    tally,
)
from d2c.experiments.browser import Analysed, Browser, analysed
from d2c.experiments.charts import COLOURS, line_chart, scatter_chart
from d2c.experiments.rows import Comparison
from d2c.experiments.table import COLUMNS, cells, settings_line, significance_lines
from d2c.trees.scores.matches import Matches
from d2c.viewing.page import page


def write_report(comparison: Comparison, path: Path) -> None:
    """Writes the report of what `compare_on` gave; the file appears whole or not at all."""
    with open_output(path) as stream:
        stream.write(render(comparison))


def render(comparison: Comparison) -> str:
    """The HTML. Raises ValueError where no row has the trees that it was scored on."""
    gold, routes = analysed(comparison)
    names, lengths = [route.row.route for route in routes], [len(ctree.tokens) for ctree in gold]
    by_sentence = [by_length(lengths, route.row.scores) for route in routes]
    by_span = [tally(route.judged, _span_class) for route in routes]
    errors, rules = list(map(_errors, routes)), [table5(gold, route.guess) for route in routes]
    times = {route.row.route: [(n, 1000 * seconds) for n, seconds in route.times] for route in routes}
    browser = Browser(comparison.gold.dtrees, gold, routes)
    pieces = page(
        "d2c.experiments",
        "report.html",
        columns=COLUMNS,
        table=list(map(cells, comparison.rows)),
        significance=list(significance_lines(comparison.rows)),
        settings=settings_line(comparison),
        routes=names,
        colours=COLOURS,
        d_trees=routes[0].row.d_trees,
        count=len(gold),
        tokens=sum(lengths),
        labels=_by_label([tally(route.judged, lambda b: b.label) for route in routes]),
        lengths=_classes(names, by_sentence, SENTENCE_LENGTHS, "tokens in the sentence"),
        spans=_classes(names, by_span, SPAN_LENGTHS, "tokens in the span") if any(by_span) else None,
        errors=[(error, [counts[error] for counts in errors]) for error in ERRORS],
        rule_classes=[(known, [counts[known] for counts in rules]) for known in RULE_CLASSES],
        times=Markup(scatter_chart(times, "tokens in the sentence", "milliseconds")),
        repairs=_repairs(routes),
        sentences=browser.sentences(),
        data=browser.data,
    )
    return "".join(pieces)


def _span_class(bracket: Bracket) -> int:
    return length_class(bracket.tokens.bit_count(), SPAN_LENGTHS)


def _errors(route: Analysed) -> dict[str, tuple[int, int]]:
    """Of each class, how many gold brackets are missed, and how many of the guess are wrong."""
    missed, wrong = (Counter(b.error for pair in route.judged for b in pair[side]) for side in (0, 1))
    return {error: (missed[error], wrong[error]) for error in ERRORS}


def _by_label(tallies: Sequence[dict[str, Matches]]) -> list[tuple[str, int, list[float]]]:
    """Label, number in gold, F1 of each route; the commonest first."""
    labels = {label: matches.gold for side in tallies for label, matches in side.items()}
    return [
        (label, count, [side.get(label, Matches()).f1 for side in tallies])
        for label, count in sorted(labels.items(), key=lambda item: (-item[1], item[0]))
    ]


def _classes(
    routes: Sequence[str], tallies: Sequence[dict[int, Matches]], limits: Sequence[int], axis: str
) -> dict[str, Any]:
    """A chart of F1 over classes of length, and the same as rows: class, number in gold, F1 of each route."""
    present = sorted({number for side in tallies for number in side})
    names = [class_name(number, limits) for number in present]
    f1 = [[side.get(number, Matches()).f1 for number in present] for side in tallies]
    counts = [max(side.get(number, Matches()).gold for side in tallies) for number in present]
    chart = line_chart(names, dict(zip(routes, f1, strict=True)), axis, "F1")
    return {"chart": Markup(chart), "rows": list(zip(names, counts, zip(*f1, strict=True), strict=True))}


def _repairs(routes: Iterable[Analysed]) -> list[tuple[str, list[float]]]:
    """Kinds of repairs, the commonest first, and how many for each 1,000 tokens in each route."""
    repairs = [route.row.repairs for route in routes]
    counts = sum((one.counts for one in repairs), Counter[str]())
    return [(kind, [one.per_thousand(kind) for one in repairs]) for kind, n in counts.most_common() if n]
