"""The table of a comparison as text: its rows, significance, repairs, and the settings of the scorers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from d2c.experiments.rows import Comparison, Row
from d2c.trees.scores.significance import approximate_randomisation


class Column(NamedTuple):
    """Title and unit of a column of the table, and its width as text."""

    title: str
    unit: str
    width: int


COLUMNS = (
    *(Column("route", "", 12), Column("d-trees", "", 9), Column("UAS", "%", 7), Column("LAS", "%", 7)),
    *(Column("recall", "%", 8), Column("prec.", "%", 7), Column("F1", "%", 7), Column("exact", "%", 7)),
    *(Column("repairs", "/1000", 9), Column("convert", "tok/s", 10), Column("overall", "tok/s", 9)),
    *(Column("convert", "sent/s", 10), Column("overall", "sent/s", 9), Column("train", "s", 8)),
)


def table_lines(comparison: Comparison) -> Iterator[str]:
    """The table, then significance, gaps, repairs, and the settings of the scorers."""
    rows = comparison.rows
    width = max(COLUMNS[0].width, *(len(row.route) + 2 for row in rows))
    of_dtrees = max(COLUMNS[1].width, *(len(row.d_trees) + 2 for row in rows))
    titles, units, _ = zip(*COLUMNS, strict=True)
    for values in (titles, units, *map(cells, rows)):
        name, d_trees, *numbers = values
        filled = (f"{number:>{column.width}}" for number, column in zip(numbers, COLUMNS[2:], strict=True))
        yield f"{name:<{width}}{d_trees:<{of_dtrees}}{''.join(filled)}"
    yield ""
    yield from significance_lines(rows)
    if any("+" in row.d_trees for row in rows):
        from d2c.experiments.voted import voted_lines

        yield from voted_lines(rows)
    for row in rows:
        if row.gaps.gold:
            shown = f"{row.gaps.recall:.2f} recall, {row.gaps.precision:.2f} precision"
            yield f"{row.route}, {row.d_trees} d-trees: with gaps {row.gaps.f1:.2f} F1 ({shown})"
    for row in rows:
        if row.converting:
            yield f"{row.route}, {row.d_trees} d-trees: {row.repairs}"
    if seconds := comparison.training:
        yield f"d-parser trained in {seconds:.0f} s; the column has the routes' own training"
    if (tags := comparison.tags) is not None:
        yield f"tags predicted, accuracy {100 * tags:.2f}; the d-parser's time includes the tagger's"
    if not all(row.converting for row in rows):
        yield "oracle: of the c-trees that the grammar gives the d-trees, those nearest to gold."
    yield settings_line(comparison)


def settings_line(comparison: Comparison) -> str:
    """What the columns count."""
    metric = comparison.gold.metric.title
    return f"UAS and LAS leave out punctuation; recall, precision, F1, exact match: {metric}."


def cells(row: Row) -> list[str]:
    """The row's values of COLUMNS."""
    b, shown = row.brackets, (row.attachment.uas, row.attachment.las)
    percents = (*shown, b.recall, b.precision, b.f1, b.complete_match, row.repairs.per_thousand())
    speeds = ["-"] * 4
    if row.converting:
        speeds = [f"{speed:,.0f}" for speed in (*row.tokens_per_second, *row.sentences_per_second)]
    training = f"{row.training:.0f}" if row.training else "-"
    return [row.route, row.d_trees, *(f"{percent:.2f}" for percent in percents), *speeds, training]


def significance_lines(rows: Sequence[Row]) -> Iterator[str]:
    """The difference between each two routes on the same d-trees."""
    kept: dict[tuple[str, str], Row] = {}  # those on gold d-trees come twice where the d-parser is `gold`
    for row in rows:
        if row.converting:
            kept.setdefault((row.route, row.d_trees), row)
    for one, other in combinations(kept.values(), 2):
        if one.d_trees == other.d_trees and len(one.scores) == len(other.scores):
            difference = approximate_randomisation(one.scores, other.scores)
            yield (
                f"{other.route} against {one.route}, {one.d_trees} d-trees: {difference.points:+.2f} F1, "
                f"p = {difference.p:.4f} (paired approximate randomisation, 10,000 trials)"
            )
