"""Routes side by side on a dev treebank: attachment scores, EVALB scores, speed and repairs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from d2c.model import Model, Route
from dparsers.protocol import DependencyParser
from trees.ctree import CTree
from trees.dtree import DTree
from trees.formats.brackets import read_brackets
from trees.repair import Repairs
from trees.scores.attachment import Attachment, score_attachment
from trees.scores.evalb import Summary, bracket_scores


@dataclass
class Row:
    """One line of the table.

    d_trees:    where the d-trees come from, `gold` or the d-parser
    attachment: of the d-trees, without punctuation
    brackets:   EVALB's counts under collins.prm
    parsing:    seconds that the d-parser took, 0 for gold d-trees
    converting: seconds that the route took to turn d-trees into c-trees
    training:   seconds of fitting route and d-parser
    """

    route: str
    d_trees: str
    attachment: Attachment
    brackets: Summary
    parsing: float
    converting: float
    training: float
    repairs: Repairs = field(default_factory=Repairs)

    @property
    def tokens_per_second(self) -> tuple[float, float]:
        """Of the conversion alone, and from tokens to c-trees."""
        tokens = self.repairs.tokens
        return tokens / self.converting, tokens / (self.converting + self.parsing)


def compare_on(dev: Path, model: Model, training: float = 0.0) -> list[Row]:
    """The model's route on the gold d-trees of a bracket file, and on those of its d-parser."""
    gold = list(read_brackets(dev, clean=True))
    gold_dtrees = [model.route.encode(ctree) for ctree in gold]
    start = time.perf_counter()
    predicted = list(model.dparser.parse(ctree.tokens for ctree in gold))
    parsing = time.perf_counter() - start
    rows = []
    for name, dtrees, seconds in (("gold", gold_dtrees, 0.0), (model.dparser_name, predicted, parsing)):
        row = score(model.route, gold, gold_dtrees, dtrees)
        row.route, row.d_trees, row.parsing, row.training = model.route_name, name, seconds, training
        rows.append(row)
    return rows


def score(route: Route, gold: Sequence[CTree], gold_dtrees: Sequence[DTree], dtrees: Sequence[DTree]) -> Row:
    """Converts d-trees and scores them and the result."""
    repairs = Repairs()
    start = time.perf_counter()
    guess = list(route.decode_all(dtrees, repairs))
    converting = time.perf_counter() - start
    attachment = sum(map(score_attachment, gold_dtrees, dtrees), Attachment())
    return Row("", "", attachment, bracket_scores(gold, guess), 0.0, converting, 0.0, repairs)


def train_and_compare(
    train: Path,
    dev: Path,
    directory: Path,
    route: tuple[str, Route],
    dparser: tuple[str, DependencyParser],
    progress: object = None,
) -> list[Row]:
    """Trains a model into a directory and compares on the dev treebank."""
    start = time.perf_counter()
    model = Model.train(*route, *dparser, train, dev, directory, progress)  # type: ignore[arg-type]
    return compare_on(dev, model, time.perf_counter() - start)


def table_lines(rows: Sequence[Row]) -> Iterator[str]:
    """The table, then the repairs, then the settings of the scorers."""
    yield (
        f"{'route':<20}{'d-trees':<9}{'UAS':>7}{'LAS':>7}{'recall':>8}{'prec.':>7}{'F1':>7}{'exact':>7}"
        f"{'repairs':>9}{'convert':>10}{'overall':>10}{'train':>8}"
    )
    yield (
        f"{'':<29}{'%':>7}{'%':>7}{'%':>8}{'%':>7}{'%':>7}{'%':>7}"
        f"{'/1000':>9}{'tok/s':>10}{'tok/s':>10}{'s':>8}"
    )
    for row in rows:
        b, (convert, overall) = row.brackets, row.tokens_per_second
        training = f"{row.training:.0f}" if row.training else "-"
        yield (
            f"{row.route:<20}{row.d_trees:<9}{row.attachment.uas:>7.2f}{row.attachment.las:>7.2f}"
            f"{b.recall:>8.2f}{b.precision:>7.2f}{b.fmeasure:>7.2f}{b.complete_match:>7.2f}"
            f"{row.repairs.per_thousand():>9.2f}{convert:>10,.0f}{overall:>10,.0f}{training:>8}"
        )
    yield ""
    for row in rows:
        yield f"{row.route}, {row.d_trees} d-trees: {repair_line(row.repairs)}"
    yield "UAS and LAS leave out punctuation; recall, precision, F1, exact match: EVALB, collins.prm."


def repair_line(repairs: Repairs) -> str:
    """Repairs per 1,000 tokens, by kind."""
    kinds = [f"{kind} {repairs.per_thousand(kind):.2f}" for kind, n in repairs.counts.most_common() if n]
    return f"{repairs.per_thousand():.2f} repairs per 1,000 tokens" + (
        f" ({'; '.join(kinds)})" if kinds else ""
    )
