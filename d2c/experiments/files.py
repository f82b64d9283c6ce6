"""Files of trees compared with gold: a table with a row for each, significance, the report of comparisons.

The files may come from d2c or any other parser. Figures and classes of errors are those of `d2c compare`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from d2c.base.counting import many
from d2c.base.errors import FormatError
from d2c.base.inputs import Paths, names_of
from d2c.experiments.rows import Column, Comparison, GoldStandard, Row, Table, Trees
from d2c.experiments.significance import Difference, differences_of
from d2c.trees.conversion import to_labelled_dependencies
from d2c.trees.ctree import CTree, is_failed
from d2c.trees.formats.pairs import Pairs
from d2c.trees.formats.reading import Read
from d2c.trees.heads import HeadRules
from d2c.trees.scores.attachment import Attachment
from d2c.trees.scores.brackets import Metric
from d2c.trees.scores.matches import notes


def compare_files(files: Sequence[Pairs], read: Read, metric: Metric, head_rules: HeadRules) -> Comparison:
    """Score each file of guesses against gold, which they share; gold sentences without a tree are left out.
    Raises FormatError.

    head_rules: find the heads of trees in which no head is marked
    """
    every, headed = list(read(files[0].gold)), head_rules.headed
    gold = [ctree for ctree in every if not is_failed(ctree.tokens)]
    names = [Path(names_of(pairs.guess)).name for pairs in files]
    if len(set(names)) < len(names):
        names = [names_of(pairs.guess) for pairs in files]

    def row(name: str, pairs: Pairs) -> Row:
        def again(path: Paths) -> Iterator[CTree]:
            return iter(every) if path == pairs.gold else read(path)

        guess = [tree for _, tree in pairs.of(again)]
        scores = metric.score(gold, guess)
        if len(scores) < len(gold):  # DISC_ONLY of a .prm file
            message = "these parameters leave sentences out; score one file, without a report"
            raise FormatError(names_of(pairs.guess), 0, 0, message)
        scored = zip(gold, guess, scores, strict=True)
        trees = [headed(_flat(a) if score.failed else _over(a, metric.visible(b))) for a, b, score in scored]
        shown = Trees(trees, list(map(to_labelled_dependencies, trees)), ())
        return Row(name, "", Attachment(), scores, metric.summary(scores), trees=shown)

    visible = [headed(metric.visible(ctree)) for ctree in gold]
    standard = GoldStandard(visible, list(map(to_labelled_dependencies, visible)), metric)
    return Comparison(standard, list(map(row, names, files)), head_rules=head_rules.name)


def _over(gold: CTree, guess: CTree) -> CTree:
    """Return the guess with gold's tags, so that its heads do not depend on its own."""
    return replace(guess, tokens=gold.tokens) if len(gold.tokens) == len(guess.tokens) else _flat(gold)


def _flat(gold: CTree) -> CTree:
    """Return what the report shows for a sentence that has no tree over gold's tokens."""
    return CTree(gold.tokens, ("FAILED",), (tuple(range(len(gold.tokens))),), (0,), "TOP")


def file_lines(comparison: Comparison, width: int | None) -> Iterator[str]:
    """Yield the table, then significance, notes on what sums do not tell of sentences, and the settings of
    the scorer.

    width: of the terminal that shows them
    """
    rows = comparison.rows
    yield from EVALUATED.lines(rows, width)
    yield ""
    yield from EVALUATED.significance(rows, width)
    yield from (f"{row.route}: {note}" for row in rows for note in notes(row.scores))
    yield EVALUATED.settings(comparison)


def _cells(row: Row) -> list[str]:
    b = row.brackets
    shares = (b.recall, b.precision, b.f1, b.complete_match, b.accuracy)
    return [
        row.route,
        *(f"{share:.2f}" for share in shares),
        f"{sum(score.failed for score in row.scores):,}",
    ]


def _differences(rows: Sequence[Row]) -> dict[str, Difference]:
    """Return the difference between every two files."""
    pairs = combinations(rows, 2)
    return differences_of((f"{b.route} against {a.route}", a.scores, b.scores) for a, b in pairs)


def _settings(comparison: Comparison) -> str:
    gold = comparison.gold
    return f"{many(len(gold.ctrees), 'sentence')}, all of which count. Brackets: {gold.metric.title}."


_COLUMNS = (
    Column("file", ""),
    Column("recall", "%"),
    Column("prec.", "%"),
    Column("F1", "%"),
    Column("exact", "%"),
    Column("tags", "%"),
    Column("failed", "sent."),
)
EVALUATED = Table("d2c evaluate", _COLUMNS, 1, _cells, _differences, _settings)
