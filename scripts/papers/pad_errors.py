"""The errors of constrained CKY: Table 5 of PAD, and the classes that its draft asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from d2c.base.progress import counted
from d2c.experiments.analysis import ERRORS, RULE_CLASSES, judge, table5
from d2c.experiments.rows import with_tags_of
from d2c.trees.scores.brackets import metric_for
from d2c.trees.scores.matches import percent
from papers.experiment import PaperExperiment, Parses
from papers.pad_chart import best_parses, chart
from papers.table import Cell, Table


def rules(experiment: PaperExperiment) -> Table:
    """Table 5: binary rules by whether dependency (h, m), span ⟨i, j⟩ and split k are right, and how often
    the nonterminal A is."""
    parses, missing = best_parses(experiment)
    facts = _errors(experiment, parses)
    counts: list[list[int]] = facts["rules"]
    rows: list[list[Cell]] = []
    for known, (count, right) in zip(RULE_CLASSES, counts, strict=True):
        signs = ("+" if correct else "-" for correct in known)
        rows.append([*signs, count, percent(right, count) if count else None])
    header = ("dependency (h, m)", "span ⟨i, j⟩", "split k", "count", "accuracy of A")
    return Table(header, rows, [_source(parses), experiment.described("dev"), *missing])


def brackets(experiment: PaperExperiment) -> Table:
    """Table 4 (b) of the draft, "Parsing Dependencies": is a wrong bracket the d-tree's fault?"""
    parses, missing = best_parses(experiment)
    facts = _errors(experiment, parses)
    total = sum(facts["missed"].values()), sum(facts["wrong"].values())
    rows: list[list[Cell]] = []
    for error in ERRORS:
        counts = facts["missed"].get(error, 0), facts["wrong"].get(error, 0)
        shares = (percent(*pair) if pair[1] else None for pair in zip(counts, total, strict=True))
        missed, wrong = shares
        rows.append([error, counts[0], missed, counts[1], wrong])
    header = ("error", "missed brackets", "% of these", "wrong brackets", "% of those")
    notes = (
        "Dependency: the other d-tree cannot make the span. Span: it can, but the other c-tree has no "
        "constituent there. Split and label, label: it has one with another label, of other parts or of the "
        "same.",
        _source(parses),
        experiment.described("dev"),
    )
    return Table(header, rows, [*notes, *missing])


def _source(parses: Parses) -> str:
    return f"c-trees of cky on d-trees of {parses.source}."


def _errors(experiment: PaperExperiment, parses: Parses) -> Mapping[str, Any]:
    """rules: count and rights of each of RULE_CLASSES; missed and wrong brackets by error."""
    fitted = chart(experiment)

    def make(_: Path) -> dict[str, Any]:
        own = experiment.gold(parses.part)

        gold = with_tags_of(own, experiment.trees(parses.part))
        decoded = fitted.route.decode_all(parses.dtrees)
        metric, missed, wrong = metric_for(gold, fitted.route.gaps_), Counter[str](), Counter[str]()
        visible = map(metric.visible, counted(decoded, "converting d-trees"))
        guess = with_tags_of(own, visible)
        for pair in zip(gold, guess, strict=True):
            of_gold, of_guess = judge(*pair, metric)
            missed.update(bracket.error for bracket in of_gold if bracket.error)
            wrong.update(bracket.error for bracket in of_guess if bracket.error)
        classes = table5(gold, guess)
        return {"rules": [classes[known] for known in RULE_CLASSES], "missed": missed, "wrong": wrong}

    made_of = {"route": fitted.step.key, "parses": parses.key}
    return experiment.store.step("errors", made_of, make).facts
