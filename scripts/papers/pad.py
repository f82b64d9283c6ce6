"""The tables of "Transforming Dependencies into Phrase Structures" (Kong, Rush and Smith, 2015) on accuracy
and errors.

Its tables on speed are in `pad_speed`, on settings in `charts`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from d2c.base.progress import counted
from d2c.cky.settings import ChartSettings
from d2c.experiments.analysis import ERRORS, LABEL, RULE_CLASSES, UNARY, judge, table5
from d2c.experiments.rows import GOLD, Parses, with_tags_of
from d2c.protocols.route import Route
from d2c.routes.dparsers import DPARSERS, takes
from d2c.trees.binarization import BINARIZATIONS
from d2c.trees.refinement import REFINEMENTS
from d2c.trees.scores.brackets import metric_for
from d2c.trees.scores.matches import percent
from experiments.experiment import CUBED, UNLABELLED, Fitted
from papers.charts import chart, oracle, pruned
from papers.experiment import PaperExperiment
from papers.systems import other_systems
from papers.table import Cell, Draw, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TENTH = ((0.1, "a tenth of train"), (1.0, "train"))
LITTLE = (0.05, 0.1, 0.2, 1.0)
QUICK = ("transition", "udpipe", "spacy")  # d-parsers, the fastest to train first; measured times would vary
BEAMS = (1, 4, 16)  # of Table 4, "RS"
OTHERS = ("reduction", "labeler")  # routes beside the chart
ON_GOLD = "F1 on gold d-trees"


def gold_dependencies(experiment: PaperExperiment) -> Table:
    """Table 2: rule-based conversion and constrained CKY on gold d-trees, with little and with all data.

    With gold tags, as in the paper, and with those of the settings.
    """
    columns = ("precision", "recall", "F1")
    rows: list[list[Cell]] = []
    for tags in dict.fromkeys((GOLD, experiment.spec.tagger.tags)):
        one = experiment.with_tags(tags)
        routes: dict[str, Callable[[float], Fitted[Route]]] = {
            "rules": partial(one.route, "rules"),
            "cky": partial(chart, experiment, tags=tags),
        }
        for name, make in routes.items():
            for share, trained_on in TENTH:
                scored = one.score(make(share), one.parses(GOLD, "dev"))
                rows.append([name, trained_on, tags, *scored.cells(columns)])
    return experiment.table(("route", "trained on", "tags", *columns), rows)


def systems(experiment: PaperExperiment) -> Table:
    """Table 3: F1 and sentences a second of whole c-parsers on the part that is reported on; and UAS of their
    heads, as in Table 1 of the draft.

    Our routes convert the d-trees of the d-parser with the highest UAS on dev.
    """
    part, uas = experiment.treebank.reported, ("UAS", "UAS by head rules")
    columns = ("recall", "precision", "F1", "F1 (SPMRL)", *uas, "sentences/s")
    found = other_systems(experiment, part)
    parses = experiment.parses(experiment.best_parses().source, part)
    cky, fitted = chart(experiment), {name: experiment.route(name) for name in OTHERS}
    fitted |= {"cky": cky, "cky (pruned)": pruned(cky, "1+2")}
    for name, route in fitted.items():
        found[f"{parses.source}, {name}"] = experiment.score(route, parses)
    note = (
        "UAS: of the d-parser; by head rules: of the heads that these find in c-trees. Sentences a second: "
        "from tokens with tags to c-trees, on one machine; of files it is not known."
    )
    rows = [[name, *scored.cells(columns)] for name, scored in found.items()]
    return experiment.table(("system", *columns), rows, note, part=part)


def dparsers(experiment: PaperExperiment) -> Table:
    """Table 4: UAS of the d-trees, F1 and speed of constrained CKY on them, and F1 of its oracle.

    Beside the paper's columns stands the F1 of the other routes on the same d-trees. D-parsers that search
    with a beam have several rows, all of one training.
    """
    fitted, others = chart(experiment), [experiment.route(name) for name in OTHERS]
    rows: list[list[Cell]] = []
    for parses in (*_with_beams(experiment), experiment.parses(GOLD, "dev")):
        scored, best = experiment.score(fitted, parses), oracle(experiment, fitted, parses)
        speed, f1 = scored.sentences / scored.seconds, (experiment.score(one, parses).f1 for one in others)
        rows.append([parses.source, *scored.cells(("UAS", "F1")), speed, best, *f1])
    note = (
        "Sentences a second: d-parser and cky together; of gold d-trees, cky alone. Oracle: the c-trees of "
        "cky's chart that are nearest to gold. Beam: the same trained d-parser searches with so many states."
    )
    header = ("d-parser", "UAS", "F1", "sentences/s", "oracle", *(f"F1 of {name}" for name in OTHERS))
    draw = _f1_against_uas(header, rows[:-1]) if rows[:-1] else None
    return experiment.table(header, rows, note, draw=draw)


def _with_beams(experiment: PaperExperiment) -> Iterator[Parses]:
    """Yield the d-trees of all d-parsers that can be had; those that search with a beam also parse with each
    of BEAMS."""
    for parses in experiment.all_parses("dev"):
        yield parses
        if takes(DPARSERS, _kind(parses), "beam"):
            for beam in BEAMS:
                found = replace(experiment, how={"beam": beam}).parses(parses.source, "dev")
                yield found._replace(source=f"{parses.source}, beam {beam}")


def _f1_against_uas(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Draw:
    """Return a picture of F1 against UAS, one mark for each d-parser."""
    uas, f1, best = (header.index(title) for title in ("UAS", "F1", "oracle"))
    by_uas = sorted(rows, key=lambda row: float(row[uas] or 0))

    def draw(axes: Axes) -> None:
        for column in (f1, best):
            points = [[row[uas], row[column]] for row in by_uas]
            axes.plot(*zip(*points, strict=True), marker="o", label=header[column])
        for row in by_uas:
            axes.annotate(str(row[0]), (row[uas], row[best]), xytext=(0, 5), textcoords="offset points")
        axes.set(xlabel="UAS", ylabel="F1")

    return draw


def recovery(experiment: PaperExperiment) -> Table:
    """Section 7, "Recovering Phrase-Structure Treebanks": few c-trees, a d-parser trained on all d-trees."""
    best = experiment.best_parses()
    rows: list[list[Cell]] = []
    for share in LITTLE:
        sentences = len(experiment.trees("train", share))
        rows.append([f"{100 * share:g} %", sentences, *_f1(experiment, chart(experiment, share), best)])
    return experiment.table(("c-trees", "sentences", *_f1_on(best)), rows)


def binarization(experiment: PaperExperiment) -> Table:
    """Section 3.3: what did not help, Markovized grammars (vertical: with the parent's label) and collapsed
    unary nodes."""
    best = experiment.best_parses()
    rows: list[list[Cell]] = []
    grammars: list[dict[str, Any]] = [{"binarization": name} for name in BINARIZATIONS]
    grammars += [{"symbols": name} for name in REFINEMENTS if name != ChartSettings.symbols]
    for settings in grammars:
        fitted = chart(experiment, **settings)
        grammar, scored = fitted.route.grammar_, experiment.score(fitted, best)
        f1, speed = _f1(experiment, fitted, best), scored.sentences / scored.converting
        rows.append([*settings.values(), len(grammar.symbols), len(grammar.rules), *f1, speed])
    header = ("grammar", "symbols", "rules", *_f1_on(best), "sentences/s")
    return experiment.table(header, rows, "Sentences a second: cky alone, on predicted d-trees.")


def jackknife(experiment: PaperExperiment) -> Table:
    """Section 6: whether it helps to learn from d-trees with the d-parser's mistakes. In the paper it hurt.

    The d-parser is the one that trains fastest, since it is trained once more for each fold.
    """
    quickest = _quickest(experiment)
    learned = {"gold": None, "jackknifed": experiment.jackknifed(quickest.source)}
    rows: list[list[Cell]] = [
        [name, *_f1(experiment, chart(experiment, dtrees=dtrees), quickest)]
        for name, dtrees in learned.items()
    ]
    note = f"Jackknifed: by {quickest.source}, trained on the other of {experiment.spec.jackknife} folds."
    return experiment.table(("learned from d-trees", *_f1_on(quickest)), rows, note)


def labels(experiment: PaperExperiment) -> Table:
    """Section 3.2 of the draft: labels of arcs as features of the chart: none, those of the encoding, and
    labels that name the whole binary rule of an attachment (N × N × N)."""
    name, rows = _quickest(experiment).source, list[Sequence[Cell]]()
    for encoding in (UNLABELLED, experiment.spec.route.encoding, CUBED):
        own: dict[str, Any] = {"labels": encoding != UNLABELLED}
        own |= {"arc_labels": CUBED} if encoding == CUBED else {}
        parses, gold = (experiment.parses(source, "dev", encoding) for source in (name, GOLD))
        different = {label for dtree in gold.dtrees for label in dtree.labels or ()}
        for learned in ("gold", "jackknifed"):
            dtrees = experiment.jackknifed(name, encoding) if learned == "jackknifed" else None
            fitted = chart(experiment, dtrees=dtrees, **own)
            scored = experiment.score(fitted, parses)
            f1 = experiment.score(fitted, gold).f1
            rows.append([encoding, len(different), learned, *scored.cells(("UAS", "F1")), f1])
    header = ("labels", "different labels", "learned from d-trees", f"UAS of {name}", "F1", ON_GOLD)
    return experiment.table(header, rows, "Gold d-trees have gold labels: cubed, they say the c-tree.")


def _quickest(experiment: PaperExperiment) -> Parses:
    """Return the d-trees of the d-parser that is trained fastest: the first of QUICK, or the first of all."""
    found = experiment.some_parses()
    return min(found, key=lambda parses: [*QUICK, kind := _kind(parses)].index(kind))


def _kind(parses: Parses) -> str:
    return parses.source.partition(":")[0]


def _f1(experiment: PaperExperiment, fitted: Fitted[Route], parses: Parses) -> list[float]:
    """Return F1 of a route on a d-parser's d-trees and on gold ones; `_f1_on` has the titles."""
    return [experiment.score(fitted, one).f1 for one in (parses, experiment.parses(GOLD, "dev"))]


def _f1_on(parses: Parses) -> tuple[str, str]:
    return f"F1 on {parses.source}'s d-trees", ON_GOLD


def rules(experiment: PaperExperiment) -> Table:
    """Table 5: binary rules by whether dependency (h, m), span ⟨i, j⟩ and split k are right, and how often
    the nonterminal A is right in each class."""
    facts, note = _errors(experiment)
    rows: list[list[Cell]] = []
    for known, (count, right) in zip(RULE_CLASSES, facts["rules"], strict=True):
        signs = ("+" if correct else "-" for correct in known)
        rows.append([*signs, count, percent(right, count) if count else None])
    header = ("dependency (h, m)", "span ⟨i, j⟩", "split k", "count", "accuracy of A")
    return experiment.table(header, rows, note)


def brackets(experiment: PaperExperiment) -> Table:
    """Table 4 (b) of the draft, "Parsing Dependencies": is a wrong bracket the d-tree's fault?"""
    facts, note = _errors(experiment)
    rows: list[list[Cell]] = []
    for error in (one for one in ERRORS if one != UNARY):  # the draft counts unary errors as errors of labels
        cells: list[Cell] = [error]
        for counts in (facts["missed"], facts["wrong"]):
            count, total = counts.get(error, 0), sum(counts.values())
            if error == LABEL:
                count += counts.get(UNARY, 0)
            cells += [count, percent(count, total) if total else None]
        rows.append(cells)
    return experiment.table(
        ("error", "missed brackets", "% of these", "wrong brackets", "% of those"),
        rows,
        "Dependency: the other d-tree cannot make the span. Span: it can, but the other c-tree has no "
        "constituent there. Split and label, label: it has one with another label, of other parts or of the "
        "same.",
        note,
    )


def _errors(experiment: PaperExperiment) -> tuple[Mapping[str, Any], str]:
    """Return, for each of RULE_CLASSES, the number of rules and how many are right; missed and wrong brackets
    by error; and a note on whose c-trees these are of."""
    parses, fitted = experiment.best_parses(), chart(experiment)

    def make(_: Path) -> dict[str, Any]:
        own = experiment.gold(parses.part)
        gold = with_tags_of(own, experiment.trees(parses.part))
        metric, missed, wrong = metric_for(gold, fitted.route.gaps_), Counter[str](), Counter[str]()
        decoded = counted(fitted.route.decode_all(parses.dtrees), "converting d-trees")
        guess = with_tags_of(own, map(metric.visible, decoded))
        for pair in zip(gold, guess, strict=True):
            of_gold, of_guess = judge(*pair, metric)
            missed.update(bracket.error for bracket in of_gold if bracket.error)
            wrong.update(bracket.error for bracket in of_guess if bracket.error)
        classes = table5(gold, guess)
        return {"rules": [classes[known] for known in RULE_CLASSES], "missed": missed, "wrong": wrong}

    return experiment.step_of(
        "errors", fitted, parses, make
    ), f"c-trees of cky on d-trees of {parses.source}."
