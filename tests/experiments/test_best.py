"""Rows of the best of a route's K best c-trees."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, cast

from click.testing import CliRunner

from d2c.commands.cli import cli
from d2c.experiments.comparison import compare_on
from d2c.experiments.rows import Row, Scoring, table_lines
from d2c.models.model import Model
from d2c.protocols.abilities import DParserAbilities, RouteAbilities
from d2c.protocols.route import Ranked
from d2c.training.train import Trained
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import parse_bracket, read_brackets, save_brackets
from d2c.trees.repair import Repairs
from d2c.trees.scores.brackets import bracket_scores
from d2c.trees.scores.matches import Matches
from tests.pages import Page

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "dev.mrg"
GOLD = "(TOP (S (NP (A a)) (VP (B b) (NP (C c)))))"
RANKED = ("(TOP (X (A a) (B b) (C c)))", "(TOP (S (NP (A a)) (B b) (C c)))", GOLD)  # best first


class Listed:
    """A route whose best c-trees are RANKED; of one d-tree in two it has but the first."""

    gaps_ = False
    abilities = RouteAbilities(k_best=True)

    def encode(self, ctree: CTree) -> DTree:
        return DTree(ctree.tokens, (2, 0, 2), ("S", None, "S"), (1, 0, 1), ("S#1", "root", "S#1"))

    def decode_k_best(self, dtree: DTree, k: int) -> Sequence[Ranked]:
        other = dtree.tokens.tags[0] != "A"
        trees = [parse_bracket(line.replace("(A", f"({dtree.tokens.tags[0]}")) for line in RANKED]
        return [(-float(i), tree) for i, tree in enumerate(trees[: 1 if other else k])]

    def decode_all(self, dtrees: Sequence[DTree], repairs: Repairs | None = None) -> list[CTree]:
        return [self.decode_k_best(dtree, 1)[0][1] for dtree in dtrees]

    def relabel(self, dtrees: Sequence[DTree]) -> Sequence[DTree]:
        return dtrees


class Parser:
    """A d-parser of the d-trees of `Listed`."""

    abilities = DParserAbilities()

    def parse(self, sentences: Any) -> Any:
        return (DTree(tokens, (2, 0, 2), labels=("S#1", "root", "S#1")) for tokens in sentences)


def rows(best: Sequence[int], tmp_path: Path, lines: Sequence[str]) -> dict[str, Row]:
    treebank = tmp_path / "dev.mrg"
    treebank.write_text("".join(f"{line}\n" for line in lines))
    model = Model("listed", cast(Any, Listed()), "fake", cast(Any, Parser()))
    comparison = compare_on([treebank], Trained([model], 0.0, [0.0]), scoring=Scoring(best=best))
    said = "K best: of the K best c-trees of each sentence, the one with the greatest F1."
    assert (said in table_lines(comparison)) == any(row.route.endswith("best") for row in comparison.rows)
    return {row.route: row for row in comparison.rows if row.d_trees == "fake"}


def test_the_best_of_k_is_scored(tmp_path: Path) -> None:
    """Of the second sentence nothing but the first tree is known, whose one bracket is wrong."""
    found = rows((3, 2), tmp_path, (GOLD, GOLD.replace("(A", "(Z")))
    assert [*found] == ["listed", "listed 3 best", "listed 2 best"]
    assert [row.brackets.matches for row in found.values()] == [
        Matches(8, 2, 0),
        Matches(8, 5, 4),
        Matches(8, 3, 2),
    ]
    assert [bool(row.converting) for row in found.values()] == [True, False, False]


def test_no_rows_where_a_route_has_one_tree(tmp_path: Path) -> None:
    assert [*rows((2,), tmp_path, (GOLD.replace("(A", "(Z"),))] == ["listed"]
    assert [*rows((), tmp_path, (GOLD,))] == ["listed"]


def test_the_command(tmp_path: Path) -> None:
    train, dev, out, ctrees = tmp_path / "a.mrg", tmp_path / "b.mrg", tmp_path / "out", read_brackets(SAMPLE)
    for treebank in (train, dev):
        save_brackets(islice(ctrees, 40), treebank)
    options = ["--dparser", "gold", "--route", "cky", "--best", "2", "--best", "9", "-o", str(out)]
    run = CliRunner().invoke(cli, ["compare", str(train), str(dev), *options])
    assert run.exit_code == 0, run.output
    gold, route = list(read_brackets(dev, clean=True)), Model.load(out / "cky").route
    table = Page((out / "report.html").read_text(encoding="utf-8")).tables["table"]
    f1 = {row[0]: row[6] for row in table[1:]}
    assert [row[0] for row in table[1:]] == ["cky", "oracle", "cky 2 best", "cky 9 best"]
    assert "d-parser trained in" not in run.output  # where it is `gold`, nor are there rows of its own
    for k in (2, 9):
        chosen = []
        for ctree in gold:
            trees = [tree for _, tree in route.decode_k_best(route.encode(ctree), k)]
            chosen.append(max(trees, key=lambda tree, ctree=ctree: bracket_scores([ctree], [tree]).f1))
        assert f1[f"cky {k} best"] == f"{bracket_scores(gold, chosen).f1:.2f}"
    assert float(f1["cky"]) < float(f1["cky 2 best"]) <= float(f1["cky 9 best"]) <= float(f1["oracle"])
    assert "K best: of the K best c-trees" in (out / "report.html").read_text(encoding="utf-8")
    run = CliRunner().invoke(cli, ["compare", "--best", "1"])
    assert run.exit_code == 2 and "'--best': 1 is not in the range x>=2" in run.output
