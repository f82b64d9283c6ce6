"""Tables 1 and 2 of "Parsing as Reduction" (Fernández-González and Martins, 2015).

One-shot: the labels are the d-parser's. Two-stage: the d-parser has learned heads without labels, and the
labeler finds them (section 4.2).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from d2c.reduction.encodings import ENCODINGS
from d2c.trees.route import Route
from papers.experiment import GOLD, UNLABELLED, Fitted, PaperExperiment
from papers.pad_chart import chart
from papers.plots import bars
from papers.scores import Scored
from papers.systems import other_systems
from papers.table import Cell, Draw, Table

ONE_SHOT, TWO_STAGE = "d-parser", "labeler"
WITH_GAPS = "The delta encoding is for continuous trees; some of these have gaps."


def encodings(experiment: PaperExperiment) -> Table:
    """Table 1, on dev: every d-parser one-shot and, in each encoding, two-stage; gold d-trees come last."""
    found, missing = experiment.all_parses("dev")
    bare, _ = experiment.all_parses("dev", UNLABELLED)
    own, rows = experiment.settings.encoding, list[Sequence[Cell]]()
    reduction = experiment.route("reduction")
    for parses in (*found, experiment.parses(GOLD, "dev")):
        scored = experiment.score(reduction, parses)
        rows.append([parses.source, ONE_SHOT, own, *_figures(experiment, own, scored)])
    for parses in (*bare, experiment.parses(GOLD, "dev", UNLABELLED)):
        for encoding in possible_encodings(experiment):
            scored = experiment.score(labeler(experiment, encoding), parses)
            rows.append([parses.source, TWO_STAGE, encoding, *_figures(experiment, encoding, scored)])
    notes = [experiment.described("dev"), "UAS and LAS leave out punctuation.", *missing]
    if not experiment.continuous:
        notes.append(WITH_GAPS)
    header = ("d-parser", "labels by", "encoding", "labels", "UAS", "LAS", "F1", "exact", "tokens/s")
    return Table(header, rows, notes, _f1_of(rows))


def systems(experiment: PaperExperiment) -> Table:
    """Table 2, on test: the reduction with each d-parser, the chart on the same d-trees, other systems."""
    part, encoding = experiment.treebank.reported, best_encoding(experiment)
    own, rows = experiment.settings.encoding, list[Sequence[Cell]]()
    found, missing = experiment.all_parses(part)
    bare, _ = experiment.all_parses(part, UNLABELLED)
    two_stage, one_shot = labeler(experiment, encoding), experiment.route("reduction")
    cky, (others, absent) = chart(experiment), other_systems(experiment, part)
    for labelled, unlabelled in zip(found, bare, strict=True):
        of = {
            f"two-stage reduction, {encoding}": experiment.score(two_stage, unlabelled),
            f"one-shot reduction, {own}": experiment.score(one_shot, labelled),
            "cky": experiment.score(cky, labelled),
        }
        rows += [[f"{route}, {labelled.source}", *_accuracy(scored)] for route, scored in of.items()]
    rows += [[name, *_accuracy(scored)] for name, scored in others.items()]
    notes = [experiment.described(part), *missing, *absent]
    return Table(("parser", "LR", "LP", "F1", "exact", "tokens/s"), rows, notes)


def labeler(experiment: PaperExperiment, encoding: str) -> Fitted[Route]:
    """The second of two stages."""
    return experiment.route("labeler", encoding=encoding)


def possible_encodings(experiment: PaperExperiment) -> list[str]:
    """Those that take all trees of the treebank, the one with the most labels first, as in the paper."""
    names = ("spine", "direct", "delta")
    return [name for name in names if experiment.continuous or not ENCODINGS[name].continuous_only]


def best_encoding(experiment: PaperExperiment) -> str:
    """The paper's: delta, and direct for trees with gaps."""
    return "delta" if experiment.continuous else "direct"


def speed(scored: Scored) -> int | None:
    """Tokens a second from tokens to c-trees; None on gold d-trees and of files, which took no time."""
    parsed = scored.parsing or scored.attachment is None and scored.converting
    return round(scored.tokens / scored.seconds) if parsed else None


def _figures(experiment: PaperExperiment, encoding: str, scored: Scored) -> list[Cell]:
    dtrees = experiment.encoded(encoding, "train")
    labels = len({label for dtree in dtrees for label in dtree.labels or ()})
    return [labels, scored.uas, scored.las, scored.f1, scored.figure("exact"), speed(scored)]


def _accuracy(scored: Scored) -> list[Cell]:
    return [*(scored.figure(name) for name in ("recall", "precision", "f1", "exact")), speed(scored)]


def _f1_of(rows: Sequence[Sequence[Cell]]) -> Draw:
    """Of each d-parser, by who labels."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for name, by, encoding, *_, f1, _exact, _speed in rows:
        assert isinstance(f1, float)
        found[f"{by}, {encoding}"][str(name)] = f1
    return bars(found, "F1")
