"""The tables of "Transforming Dependencies into Phrase Structures" (Kong, Rush and Smith, 2015) on accuracy.

Those on speed are in `pad_speed`, on errors in `pad_errors`, on settings in `pad_tuning`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.cky.settings import ChartSettings
from d2c.trees.binarization import BINARIZATIONS
from d2c.trees.refinement import REFINEMENTS
from d2c.trees.route import Route
from papers.experiment import GOLD, Fitted, PaperExperiment, Parses
from papers.pad_chart import all_parses, best_parses, chart, oracle
from papers.table import Cell, Draw, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TENTH = ((0.1, "a tenth of train"), (1.0, "train"))
LITTLE = (0.05, 0.1, 0.2, 1.0)
UAS, F1 = "UAS", "F1"


def gold_dependencies(experiment: PaperExperiment) -> Table:
    """Table 2: rule-based conversion and constrained CKY on gold d-trees, with little and with all data.

    With gold tags, as in the paper, and with those of the settings.
    """
    rows: list[list[Cell]] = []
    for tags in dict.fromkeys((GOLD, experiment.settings.tags)):
        one = experiment.with_tags(tags)
        routes: dict[str, Callable[[float], Fitted[Route]]] = {
            "rules": partial(one.route, "rules"),
            "cky": partial(chart, experiment, tags=tags),
        }
        for name, make in routes.items():
            for share, trained_on in TENTH:
                scored = one.score(make(share), one.parses(GOLD, "dev"))
                figures = (scored.figure(figure) for figure in ("precision", "recall", "f1"))
                rows.append([name, trained_on, tags, *figures])
    notes = [experiment.described("dev")]
    return Table(("route", "trained on", "tags", "precision", "recall", F1), rows, notes)


def dparsers(experiment: PaperExperiment) -> Table:
    """Table 4: how good d-trees are, what constrained CKY makes of them, how fast, and what it could make.

    Beside the paper's columns the other routes' F1 on the same d-trees.
    """
    found, missing = experiment.all_parses("dev")
    fitted = chart(experiment)
    others = [experiment.route(name) for name in ("reduction", "labeler")]
    rows = [_dparser(experiment, fitted, others, parses) for parses in found]
    gold = _dparser(experiment, fitted, others, experiment.parses(GOLD, "dev"))
    notes = [
        experiment.described("dev"),
        "Sentences a second: d-parser and cky together; of gold d-trees, cky alone. Oracle: the c-trees of "
        "cky's chart that are nearest to gold.",
        *missing,
    ]
    header = ("d-parser", UAS, F1, "sentences/s", "oracle", "F1 of reduction", "F1 of labeler")
    return Table(header, [*rows, gold], notes, _f1_against_uas(header, rows) if rows else None)


def _dparser(
    experiment: PaperExperiment,
    fitted: Fitted[ConstrainedCKY],
    others: Sequence[Fitted[Route]],
    parses: Parses,
) -> list[Cell]:
    scored = experiment.score(fitted, parses)
    speed, best = scored.sentences / scored.seconds, oracle(experiment, fitted, parses)
    f1 = (experiment.score(other, parses).f1 for other in others)
    return [parses.source, scored.uas, scored.f1, speed, best, *f1]


def _f1_against_uas(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Draw:
    """The columns of F1 against that of UAS, one mark for each d-parser."""
    uas, f1, best = (header.index(title) for title in (UAS, F1, "oracle"))
    by_uas = sorted(rows, key=lambda row: float(row[uas] or 0))

    def draw(axes: Axes) -> None:
        for column in (f1, best):
            points = [[row[uas], row[column]] for row in by_uas]
            axes.plot(*zip(*points, strict=True), marker="o", label=header[column])
        for row in by_uas:
            axes.annotate(str(row[0]), (row[uas], row[best]), xytext=(0, 5), textcoords="offset points")
        axes.set(xlabel=UAS, ylabel=F1)

    return draw


def recovery(experiment: PaperExperiment) -> Table:
    """Section 7, "Recovering Phrase-Structure Treebanks": few c-trees, a d-parser trained on all d-trees."""
    best, missing = best_parses(experiment)
    gold = experiment.parses(GOLD, "dev")
    rows: list[list[Cell]] = []
    for share in LITTLE:
        fitted = chart(experiment, share)
        f1 = (experiment.score(fitted, parses).f1 for parses in (best, gold))
        rows.append([f"{100 * share:g} %", len(experiment.trees("train", share)), *f1])
    header = ("c-trees", "sentences", f"F1 on {best.source}'s d-trees", "F1 on gold d-trees")
    return Table(header, rows, [experiment.described("dev"), *missing])


def binarization(experiment: PaperExperiment) -> Table:
    """Section 3.3: what did not help, Markovized grammars (vertical: with the parent's label) and collapsed
    unary nodes."""
    best, missing = best_parses(experiment)
    gold = experiment.parses(GOLD, "dev")
    rows: list[list[Cell]] = []
    grammars: list[dict[str, Any]] = [{"binarization": name} for name in BINARIZATIONS]
    grammars += [{"symbols": name} for name in REFINEMENTS if name != ChartSettings.symbols]
    for settings in grammars:
        fitted = chart(experiment, **settings)
        grammar = fitted.route.grammar_
        scored = [experiment.score(fitted, parses) for parses in (best, gold)]
        speed = scored[0].sentences / scored[0].converting
        rows.append(
            [*settings.values(), len(grammar.symbols), len(grammar.rules), *(one.f1 for one in scored), speed]
        )
    f1 = (f"F1 on {best.source}'s d-trees", "F1 on gold d-trees")
    notes = (experiment.described("dev"), "Sentences a second: cky alone, on predicted d-trees.", *missing)
    return Table(("grammar", "symbols", "rules", *f1, "sentences/s"), rows, notes)


def jackknife(experiment: PaperExperiment) -> Table:
    """Section 6: whether it helps to learn from d-trees with the d-parser's mistakes. The paper's was hurt.

    Of the d-parsers the one that is trained fastest: it is trained once more for each fold.
    """
    found, missing = all_parses(experiment)
    quickest = min(found, key=lambda parses: experiment.dparser(parses.source, parses.encoding).seconds)
    gold = experiment.parses(GOLD, "dev")
    rows: list[list[Cell]] = []
    for name, dtrees in (("gold", None), ("jackknifed", experiment.jackknifed(quickest.source))):
        fitted = chart(experiment, dtrees=dtrees)
        rows.append([name, *(experiment.score(fitted, parses).f1 for parses in (quickest, gold))])
    folds = f"Jackknifed: by {quickest.source}, trained on the other of {experiment.settings.folds} folds."
    header = ("learned from d-trees", f"F1 on {quickest.source}'s d-trees", "F1 on gold d-trees")
    return Table(header, rows, [folds, experiment.described("dev"), *missing])
