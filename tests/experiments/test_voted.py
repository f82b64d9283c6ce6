"""Rows of several d-parsers: what they vote for together is better than each."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from pathlib import Path

from d2c.commands.compare import _several
from d2c.experiments.comparison import VOTED, several
from d2c.experiments.rows import Comparison, GoldStandard, Parses, cells, score, table_lines
from d2c.reduction.reduction import Reduction
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import read_brackets

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "dev.mrg"


def with_errors(dtrees: list[DTree], which: int) -> list[DTree]:
    """In every third sentence the last word hangs from the root, with another label."""
    made = []
    for number, dtree in enumerate(dtrees):
        if number % 3 == which and dtree.heads[0]:
            labels = dtree.labels or ()
            heads = (dtree.heads.index(0) + 1, *dtree.heads[1:])
            dtree = replace(dtree, heads=heads, labels=("X#9", *labels[1:]))
        made.append(dtree)
    return made


def test_three_parsers_that_make_different_errors() -> None:
    ctrees = list(islice(read_brackets(SAMPLE, clean=True), 30))
    route = Reduction("direct").fit(ctrees)
    gold = GoldStandard.of(ctrees, list(map(route.encode, ctrees)), [route])
    dtrees = list(gold.dtrees)
    parsed = [Parses(name, with_errors(dtrees, i), 1.0) for i, name in enumerate("abc")]
    first = [score("reduction", route, gold, parsed[0])]
    rows = several(gold, {"reduction": route}, parsed, first)
    assert [(row.route, row.d_trees) for row in rows] == [
        *(("reduction", "b"), ("reduction", "c"), (VOTED, "a+b+c"), ("reduction", "a+b+c")),
    ]
    perfect = score("reduction", route, gold, Parses("gold", dtrees))
    single, voted, arcs = rows[0], *rows[2:]
    assert single.brackets.f1 < perfect.brackets.f1 == voted.brackets.f1 == arcs.brackets.f1
    assert single.attachment.uas < 100 == arcs.attachment.uas == voted.attachment.uas
    assert (voted.parsing, voted.trees) == (3.0, None) and int(cells(voted)[-4].replace(",", "")) < 1000
    lines = list(table_lines(Comparison(gold, [*first, *rows])))
    best = max((*first, *rows[:2]), key=lambda row: row.brackets.f1)
    [line] = [line for line in lines if line.startswith("voted, a+b+c, against")]
    assert re.match(rf"voted, a\+b\+c, against reduction, {best.d_trees}, the best single one +\+\d", line)
    assert any("nothing is learned on dev" in line for line in lines)
    # On a test treebank, which of the singles is the best is chosen on dev.
    worst = min((*first, *rows[:2]), key=lambda row: row.brackets.f1)
    chosen = [
        replace(row, dev=perfect.brackets if row is worst else single.brackets) for row in (*first, *rows)
    ]
    assert any(
        line.startswith(f"voted, a+b+c, against reduction, {worst.d_trees}, the best single one ")
        for line in table_lines(Comparison(gold, chosen))
    )


def test_commands_keep_their_commas() -> None:
    assert _several("udpipe:link2,spacy") == ["udpipe:link2", "spacy"]
    assert _several("cmd:train a,b;parse") == ["cmd:train a,b;parse"]
