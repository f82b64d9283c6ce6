"""docs/recipes.md beyond what its blocks print: measures of trees whose units are counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

import d2c
from d2c.trees.heads import load_head_rules
from tests.blocks import REPOSITORY, blocks
from tests.trees.patterns.manual import TREES

RULES = load_head_rules("collins")
UNITS = {"W": 41, "S": 8, "VP": 10, "C": 10, "T": 8, "DC": 2, "CT": 2, "CP": 2, "CN": 4}
MEASURES = {"MLS": 41 / 8, "MLT": 41 / 8, "MLC": 4.1, "C/S": 1.25, "VP/T": 1.25, "C/T": 1.25, "DC/C": 0.2}
MEASURES |= {"DC/T": 0.25, "T/S": 1, "CT/T": 0.25, "CP/T": 0.25, "CP/C": 0.2, "CN/T": 0.5, "CN/C": 0.4}


def complexity(trees: list[d2c.Tree]) -> dict[str, Any]:
    """The recipe's function of this name; what it defines stands before the first thing that is parsed."""
    page = REPOSITORY / "docs" / "recipes.md"
    [recipe] = [block.code for block in blocks(page) if "def complexity" in block.code]
    names: dict[str, Any] = {}
    exec(recipe.partition("\nparser = ")[0], names)
    found: dict[str, Any] = names["complexity"](trees)
    return found


def test_measures_of_syntactic_complexity() -> None:
    trees = [d2c.Tree(RULES.apply(d2c.Tree.from_string(line).ctree)) for line in TREES.splitlines()]
    assert complexity(trees) == pytest.approx(UNITS | MEASURES)
    assert complexity([]) == dict.fromkeys(UNITS | MEASURES, 0)
