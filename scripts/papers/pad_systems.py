"""Table 3 of PAD: constrained CKY as a whole c-parser, from tokens to trees, beside other c-parsers."""

from __future__ import annotations

from papers.experiment import PaperExperiment
from papers.pad_chart import best_parses, chart, pruned
from papers.scores import Scored
from papers.systems import other_systems
from papers.table import Cell, Table


def systems(experiment: PaperExperiment) -> Table:
    """Table 3: F1 and sentences a second on the part of the treebank on which results are reported.

    Our routes have the d-trees of the d-parser with the highest UAS on dev.
    """
    part = experiment.treebank.reported
    found, unheard = other_systems(experiment, part)
    best, missing = best_parses(experiment)
    parses = experiment.parses(best.source, part)
    fitted = chart(experiment)
    for name in ("reduction", "labeler"):
        found[f"{best.source}, {name}"] = experiment.score(experiment.route(name), parses)
    found[f"{best.source}, cky"] = experiment.score(fitted, parses)
    found[f"{best.source}, cky (pruned)"] = experiment.score(pruned(fitted, "1+2"), parses)
    notes = [
        "Sentences a second: from tokens with tags to c-trees, on one machine; of files it is not known.",
        experiment.described(part),
        *unheard,
        *missing,
    ]
    header = ("system", "recall", "precision", "F1", "F1 (SPMRL)", "sentences/s")
    return Table(header, [_row(name, scored) for name, scored in found.items()], notes)


def _row(name: str, scored: Scored) -> list[Cell]:
    figures = (scored.figure(figure) for figure in ("recall", "precision", "f1"))
    speed = scored.sentences / scored.seconds if scored.seconds else None
    return [name, *figures, scored.figure("f1", "spmrl"), speed]
