"""The tables of "Parsing as Reduction" (Fernández-González and Martins, 2015).

One-shot: the labels are the d-parser's. Two-stage: the d-parser has learned heads without labels, and the
labeler finds the labels (section 4.2 of the paper).

Tables 3 and 4 are of many treebanks, with gold and with predicted tags. There one d-parser is trained for
each treebank and kind of tags, with labels; labeler and chart convert its d-trees without them. (UDPipe and
spaCy find worse heads where they learn no labels: Table 1.)
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from statistics import fmean
from typing import Any, NamedTuple

from d2c.experiments.rows import GOLD
from d2c.protocols.route import Route
from d2c.reduction.encodings import ENCODINGS
from d2c.trees.scores.brackets import bracket_scores
from d2c.trees.unaries import restore_unaries, strip_unaries
from experiments.experiment import UNLABELLED, Fitted
from experiments.store import digest
from papers.charts import chart
from papers.experiment import PaperExperiment
from papers.scores import ALL, GAPS, LENGTHS, PUNCTUATION, Scored
from papers.systems import of_file, other_systems, trained_systems
from papers.table import Cell, Table, bars

PROJECTIVE = re.compile(r"transition.*|udpipe(:projective.*)?")  # their arcs never cross
ONE_SHOT, TWO_STAGE, SEQUENCE = "d-parser", "labeler", "sequence model"
TAGS, OWN_TAGS = ("gold", "predicted"), "its own"
STAGES = (
    "Labels by the d-parser: one stage. Labeler, sequence model: the second of two, after a d-parser that "
    "has learned heads alone; the sequence model is that of section 4.2, the labeler also asks that the "
    "labels of a head fit together."
)
WITH_GAPS = "The delta encoding is for continuous trees; some of these have gaps."


def encodings(experiment: PaperExperiment) -> Table:
    """Table 1, on dev: every d-parser one-shot and, in each encoding, two-stage, with the labels of the
    labeler and, of continuous trees, of the paper's own sequence model; gold d-trees come last."""
    own, columns = experiment.spec.route.encoding, ("UAS", "LAS", "F1", "exact", "tokens/s")
    rows, f1 = list[Sequence[Cell]](), defaultdict[str, dict[str, float]](dict)
    one_shot = {own: experiment.route("reduction")}
    names, series = possible_encodings(experiment), [(ONE_SHOT, own, one_shot)]
    for by, constrained in ((TWO_STAGE, True), (SEQUENCE, False))[: 1 + experiment.continuous]:
        two_stage = {name: labeler(experiment, name, constrained) for name in names}
        series.append((by, UNLABELLED, two_stage))
    for by, learned, routes in series:
        for parses in (*experiment.all_parses("dev", learned), experiment.parses(GOLD, "dev", learned)):
            for encoding, route in routes.items():
                scored = experiment.score(route, parses)
                dtrees = experiment.encoded(encoding, "train")
                labels = len({label for dtree in dtrees for label in dtree.labels or ()})
                rows.append([parses.source, by, encoding, labels, *scored.cells(columns)])
                f1[f"{by}, {encoding}"][parses.source] = scored.f1
    notes = ["UAS and LAS leave out punctuation.", STAGES, *[WITH_GAPS][: not experiment.continuous]]
    header = ("d-parser", "labels by", "encoding", "labels", *columns)
    return experiment.table(header, rows, *notes, draw=bars(f1, "F1"))


def systems(experiment: PaperExperiment) -> Table:
    """Table 2, on test: the reduction with each d-parser, the chart on the same d-trees, other systems."""
    part, encoding = experiment.treebank.reported, best_encoding(experiment)
    own, columns = experiment.spec.route.encoding, ("LR", "LP", "F1", "exact", "tokens/s")
    found, bare = (experiment.all_parses(part, learned) for learned in (own, UNLABELLED))
    two_stage, one_shot, cky = labeler(experiment, encoding), experiment.route("reduction"), chart(experiment)
    scored = dict[str, Scored]()
    for labelled, unlabelled in zip(found, bare, strict=True):
        source, score = labelled.source, experiment.score
        scored[f"two-stage reduction, {encoding}, {source}"] = score(two_stage, unlabelled)
        scored[f"one-shot reduction, {own}, {source}"] = score(one_shot, labelled)
        scored[f"cky, {source}"] = score(cky, labelled)
    scored |= other_systems(experiment, part)
    rows = [[name, *one.cells(columns)] for name, one in scored.items()]
    return experiment.table(("parser", *columns), rows, part=part)


def labeler(experiment: PaperExperiment, encoding: str, constrained: bool = True) -> Fitted[Route]:
    """Return a fitted labeler, the second of two stages; constrained: the labels of a head fit together."""
    changes: dict[str, Any] = {} if constrained else {"constrained": False}
    return experiment.route("labeler", encoding=encoding, **changes)


def possible_encodings(experiment: PaperExperiment) -> list[str]:
    """Return the encodings that take all trees of the treebank, those with most labels first, as in the
    paper."""
    names = ("spine", "direct", "delta")
    return [name for name in names if experiment.continuous or not ENCODINGS[name].continuous_only]


def best_encoding(experiment: PaperExperiment) -> str:
    """Return the paper's choice: delta, and direct for trees with gaps."""
    return "delta" if experiment.continuous else "direct"


class Result(NamedTuple):
    """A row of Table 4, and a cell of Table 3."""

    treebank: str
    route: str
    tags: str
    scored: Scored


def spmrl(experiments: Sequence[PaperExperiment]) -> Table:
    """Table 3: F1 by the scorer of SPMRL, which counts all tokens; a column for each treebank."""
    f1 = defaultdict[tuple[str, str], dict[str, float]](dict)
    names = [experiment.treebank.name for experiment in experiments]
    dparsers = {one.treebank.name: one.treebank.dparser or one.dparsers[0] for one in experiments}
    for treebank, route, tags, scored in measured(experiments, dparsers):
        f1[route, tags][treebank] = scored.figure("f1", "spmrl")
    rows = [
        [*row, *map(of.get, names), fmean(of.values()) if len(of) == len(names) else None]
        for row, of in f1.items()
    ]
    notes = [
        *_notes(experiments, dparsers),
        "F1: EVALB of SPMRL 2013; gaps are raised on both sides first.",
    ]
    drawn = bars({f"{route}, {tags} tags": of for (route, tags), of in f1.items()}, "F1 (SPMRL)")
    return Table(("route", "tags", *names, "average"), rows, notes, drawn)


def gaps(experiments: Sequence[PaperExperiment]) -> Table:
    """Table 4: F1 and exact match by disco-dop's metric, up to some lengths, on the treebanks with gaps. Each
    has its own d-parser, or the first whose arcs may cross. Punctuation counts where the treebank says so."""
    with_gaps = [experiment for experiment in experiments if not experiment.continuous]
    chosen, lengths = with_gaps or experiments, [*map(str, LENGTHS), ALL]
    drawn, rows = defaultdict[str, dict[str, float]](dict), list[Sequence[Cell]]()
    metrics = {one.treebank.name: PUNCTUATION if one.treebank.punctuation else "disco" for one in chosen}
    dparsers = {one.treebank.name: one.treebank.dparser or crossing(one.dparsers) for one in chosen}
    for treebank, route, tags, scored in measured(chosen, dparsers, skipping=True):
        by_length = scored.brackets[metrics[treebank]]
        cells = [by_length[length][name] for length in lengths for name in ("f1", "exact")]
        rows.append([treebank, route, tags, *cells, scored.brackets[GAPS][ALL]["f1"]])
        drawn[f"{route}, {tags} tags"][treebank] = scored.figure("f1", metrics[treebank])
    shown = [length if length == ALL else f"L ≤ {length}" for length in lengths]
    titles = [f"{what}, {length}" for length in shown for what in ("F1", "EX")]
    notes = [] if with_gaps else ["None of these treebanks has gaps."]
    with_marks = [name for name, metric in metrics.items() if metric == PUNCTUATION]
    but = f", but of {', '.join(with_marks)} with punctuation" if with_marks else ""
    notes += [*_notes(chosen, dparsers), f"F1 and exact match: disco-dop, without root and punctuation{but}."]
    for dparser in dict.fromkeys(filter(PROJECTIVE.fullmatch, dparsers.values())):
        notes.append(f"No arcs of {dparser} cross, so its c-trees have no gaps; stanza:graph's may.")
    header = ("treebank", "route", "tags", *titles, "F1 of constituents with gaps")
    return Table(header, rows, notes, bars(drawn, "F1 (disco-dop)"))


def unaries(experiments: Sequence[PaperExperiment]) -> Table:
    """Section 4.4: how many classes the classifier of unary nodes has, what share of the nodes is unary, how
    many candidates a node has, and F1 on gold unaryless c-trees; a row for each treebank."""
    rows = list[Sequence[Cell]]()
    for experiment in experiments:
        gold = experiment.trees(experiment.treebank.reported)
        classifier = experiment.route("reduction", encoding="direct").route.unaries_
        stripped = [strip_unaries(ctree)[0] for ctree in gold]
        restored = list(map(restore_unaries, stripped, classifier.predict(stripped)))
        sizes = [len(kids) for ctree in experiment.trees("train") for kids in ctree.children]
        figures = (100 * sizes.count(1) / len(sizes), float(classifier.candidates(stripped).mean()))
        f1 = bracket_scores(gold, restored, gaps=not experiment.continuous).f1
        rows.append([experiment.treebank.name, len(classifier.chains_), *figures, f1])
    header = ("treebank", "classes", "% of train's nodes unary", "candidates a node", "F1 on gold c-trees")
    notes = ["Candidates: the chains seen in train above a node's symbol, and none; words are nodes."]
    return Table(header, rows, notes)


def crossing(dparsers: Sequence[str]) -> str:
    """Return the first d-parser whose arcs may cross, or the first."""
    return next((name for name in dparsers if not PROJECTIVE.fullmatch(name)), dparsers[0])


def measured(
    experiments: Sequence[PaperExperiment], dparsers: Mapping[str, str], skipping: bool = False
) -> Iterator[Result]:
    """Yield the results of routes and other systems on the part of each treebank that is reported on, with
    gold and with predicted tags; files of trees, which have their own tags, come last.

    dparsers: by treebank; skipping: also the labeler without the recovery of unary nodes
    """
    for experiment in experiments:
        for tags in TAGS:
            one, part = experiment.with_tags(tags), experiment.treebank.reported
            parses = one.parses(dparsers[one.treebank.name], part)
            routes: dict[str, Fitted[Route]] = {
                "reduction": one.route("reduction"),
                "labeler": labeler(one, best_encoding(one)),
                "cky": chart(experiment, tags=tags),
            }
            if skipping:
                routes["labeler, unary nodes skipped"] = without_unaries(routes["labeler"])
            found = {name: one.score(route, parses) for name, route in routes.items()}
            found |= trained_systems(one, part)
            experiment.missing |= one.missing
            for name, scored in found.items():
                yield Result(one.treebank.name, name, tags, scored)
        for name, path in experiment.treebank.systems.items():
            yield Result(experiment.treebank.name, name, OWN_TAGS, of_file(experiment, path, part))


def without_unaries(fitted: Fitted[Route]) -> Fitted[Route]:
    """Return a reduction without its last stage, the recovery of unary nodes."""
    route, key = copy(fitted.route), digest([fitted.step.key, "unary nodes skipped"])
    route.unaries_ = None  # type: ignore[attr-defined]
    return Fitted(route, replace(fitted.step, key=key))


def _notes(experiments: Sequence[PaperExperiment], dparsers: Mapping[str, str]) -> Iterator[str]:
    for experiment in experiments:
        one, part = experiment.with_tags("predicted"), experiment.treebank.reported
        rules = f"head rules: {one.treebank.head_rules}; the labeler's encoding: {best_encoding(one)}"
        share = f"{one.gaps[part]:.1f} % of the sentences of {part} have gaps"
        yield f"{one.described(part)} {share}; {rules}; d-parser: {dparsers[one.treebank.name]}."
        yield from experiment.missing.values()
    yield "The labeler has d-trees without their labels."
