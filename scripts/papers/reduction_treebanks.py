"""Tables 3 and 4 of "Parsing as Reduction": many treebanks, with gold and with predicted tags.

The first of the d-parsers is trained once for each treebank and kind of tags, on the labels of the settings;
labeler and chart convert its d-trees without them. (UDPipe and spaCy find worse heads where they learn no
labels: Table 1.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

from papers.experiment import PaperExperiment
from papers.pad_chart import chart
from papers.plots import bars
from papers.reduction import best_encoding, labeler
from papers.scores import ALL, GAPS, LENGTHS, Scored
from papers.table import Cell, Table

TAGS = ("gold", "predicted")


class Result(NamedTuple):
    """A row of Table 4, and a cell of Table 3."""

    treebank: str
    route: str
    tags: str
    scored: Scored


def spmrl(experiments: Sequence[PaperExperiment]) -> Table:
    """Table 3: F1 by the scorer of SPMRL, which counts all tokens; a column for each treebank."""
    results = [result for experiment in experiments for result in measured(experiment)]
    f1: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for treebank, route, tags, scored in results:
        f1[tags, route][treebank] = scored.figure("f1", "spmrl")
    rows: list[Sequence[Cell]] = [
        [route, tags, *of.values(), fmean(of.values())] for (tags, route), of in f1.items()
    ]
    names = [experiment.treebank.name for experiment in experiments]
    notes = [*_notes(experiments), "F1: EVALB of SPMRL 2013; gaps are raised on both sides first."]
    drawn = bars({f"{route}, {tags} tags": of for (tags, route), of in f1.items()}, "F1 (SPMRL)")
    return Table(("route", "tags", *names, "average"), rows, notes, drawn)


def gaps(experiments: Sequence[PaperExperiment]) -> Table:
    """Table 4: F1 and exact match by disco-dop's metric, up to some lengths; of the treebanks with gaps."""
    with_gaps = [experiment for experiment in experiments if not experiment.continuous]
    notes = [] if with_gaps else ["None of these treebanks has gaps."]
    chosen = with_gaps or experiments
    results = [result for experiment in chosen for result in measured(experiment)]
    lengths = [str(most) for most in LENGTHS] + [ALL]
    rows: list[Sequence[Cell]] = []
    for treebank, route, tags, scored in results:
        of = [scored.brackets["disco"][length] for length in lengths]
        cells = [cell for figures in of for cell in (figures["f1"], figures["exact"])]
        rows.append([treebank, route, tags, *cells, scored.brackets[GAPS][ALL]["f1"]])
    titles = [f"{what}, {_up_to(length)}" for length in lengths for what in ("F1", "EX")]
    notes += [*_notes(chosen), "F1 and exact match: disco-dop, proper.prm, without root and punctuation."]
    header = ("treebank", "route", "tags", *titles, "F1 of constituents with gaps")
    drawn: dict[str, dict[str, float]] = defaultdict(dict)
    for treebank, route, tags, scored in results:
        drawn[f"{route}, {tags} tags"][treebank] = scored.figure("f1", "disco")
    return Table(header, rows, notes, bars(drawn, "F1 (disco-dop)"))


def measured(experiment: PaperExperiment) -> Iterator[Result]:
    """The routes on the part of a treebank that is reported on, with gold and with predicted tags."""
    name, part = experiment.settings.dparsers[0], experiment.treebank.reported
    for tags in TAGS:
        one = experiment.with_tags(tags)
        parses = one.parses(name, part)
        of = {
            "reduction": one.score(one.route("reduction"), parses),
            "labeler": one.score(labeler(one, best_encoding(one)), parses),
            "cky": one.score(chart(experiment, tags=tags), parses),
        }
        yield from (Result(one.treebank.name, route, tags, scored) for route, scored in of.items())


def _notes(experiments: Sequence[PaperExperiment]) -> Iterator[str]:
    for experiment in experiments:
        one, part = experiment.with_tags("predicted"), experiment.treebank.reported
        rules = f"head rules: {one.treebank.head_rules}; the labeler's encoding: {best_encoding(one)}"
        share = f"{one.gaps[part]:.1f} % of the sentences of {part} have gaps"
        yield f"{one.described(part)} {share}; {rules}."
    names = {experiment.settings.dparsers[0]: None for experiment in experiments}
    yield f"d-parser: {', '.join(names)}; the labeler has its d-trees without their labels."


def _up_to(length: str) -> str:
    return length if length == ALL else f"L ≤ {length}"
