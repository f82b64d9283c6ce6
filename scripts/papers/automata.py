"""What transition systems parse (Nederhof, 2015, which has no table): ours beside other d-parsers.

`scripts/table_automata.py` verifies the paper's theorem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from papers.experiment import PaperExperiment
from papers.pad_chart import chart
from papers.scores import Scored
from papers.systems import EXACT, trained
from papers.table import Cell, Table

SYSTEMS = ("transition", "transition:standard;exact", "transition:eager", "transition:eager;exact")
ROUTES = ("reduction", "labeler")  # and cky
CPARSER = "shift-reduce"
SEARCHES: Mapping[str, Mapping[str, str]] = {CPARSER: {}, f"{CPARSER};exact": EXACT}


def parsers(experiment: PaperExperiment) -> Table:
    """Arc-standard and arc-eager, greedy and exact, then other d-parsers, with the routes on their d-trees.

    Last the automaton of the binarized grammar, which needs no d-parser, with either search.
    """
    others = [name for name in experiment.settings.dparsers if name not in SYSTEMS]
    settings = replace(experiment.settings, dparsers=(*SYSTEMS, *others))
    found, missing = replace(experiment, settings=settings).all_parses("dev")
    routes = [*(experiment.route(name) for name in ROUTES), chart(experiment)]
    rows: list[list[Cell]] = []
    for parses in found:
        scored = [experiment.score(route, parses) for route in routes]
        f1 = [one.f1 for one in scored]
        rows.append([parses.source, scored[0].uas, scored[0].las, *f1, _speed(scored[0], parses.seconds)])
    for name, changes in SEARCHES.items():
        alone = trained(experiment, CPARSER, "dev", **changes)
        best: list[Cell] = [alone.f1, *[None] * len(ROUTES)]
        rows.append([name, None, None, *best, _speed(alone, alone.parsing)])
    notes = [
        experiment.described("dev"),
        f"Tokens a second: of the d-parser alone. {CPARSER} needs none: its F1, in the first of these "
        "columns, and its speed are from tokens to c-trees. UAS and LAS leave out punctuation.",
        *missing,
    ]
    header = ("parser", "UAS", "LAS", *(f"F1 by {name}" for name in (*ROUTES, "cky")), "tokens/s")
    return Table(header, rows, notes)


def _speed(scored: Scored, seconds: float) -> int:
    return round(scored.tokens / seconds)
