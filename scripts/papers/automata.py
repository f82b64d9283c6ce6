"""The transition systems of Nederhof (2015), which has no table, beside other d-parsers.

`tests/scripts/papers/theory/test_theorem.py` enumerates the trees of both sides of Theorem 1.
"""

from __future__ import annotations

from dataclasses import replace

from papers.charts import chart
from papers.experiment import PaperExperiment
from papers.systems import EXACT, trained
from papers.table import Cell, Table

SYSTEMS = ("transition", "transition:standard;exact", "transition:eager", "transition:eager;exact")
ROUTES = ("reduction", "labeler")  # and cky
CPARSER = "shift-reduce"


def parsers(experiment: PaperExperiment) -> Table:
    """Compare arc-standard and arc-eager, greedy and exact, and other d-parsers, by routes on their d-trees.

    The last rows are the automaton of the binarized grammar, which needs no d-parser, with either search.
    """
    others = [name for name in experiment.dparsers if name not in SYSTEMS]
    own = replace(experiment, dparsers=(*SYSTEMS, *others))
    found = own.all_parses("dev")
    routes = [*(own.route(name) for name in ROUTES), chart(own)]
    rows: list[list[Cell]] = []
    for parses in found:
        scored = [own.score(route, parses) for route in routes]
        speed = round(scored[0].tokens / parses.seconds)
        rows.append([parses.source, *scored[0].cells(("UAS", "LAS")), *(one.f1 for one in scored), speed])
    for name, changes in ((CPARSER, {}), (f"{CPARSER};exact", EXACT)):
        alone = trained(own, CPARSER, "dev", **changes)
        rows.append([name, None, None, alone.f1, *[None] * len(ROUTES), round(alone.tokens / alone.parsing)])
    return own.table(
        ("parser", "UAS", "LAS", *(f"F1 by {name}" for name in (*ROUTES, "cky")), "tokens/s"),
        rows,
        f"Tokens a second: of the d-parser alone. {CPARSER} needs none: its F1, in the first of these "
        "columns, and its speed are from tokens to c-trees. UAS and LAS leave out punctuation.",
    )
