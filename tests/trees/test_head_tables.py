"""Tables beyond Collins', cut labels, coverage, and heads induced from d-trees."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given

from d2c.cli import cli
from tests.strategies import ctrees
from trees.conversion import to_dependencies
from trees.ctree import CTree
from trees.formats.brackets import parse_bracket
from trees.formats.treebanks import read_treebank
from trees.head_coverage import Coverage
from trees.heads import known_head_rules, load_head_rules, parse_head_rules
from trees.induced_heads import estimate_rules, induce_heads

ROOT = Path(__file__).resolve().parents[2]
TREEBANKS = Path(os.environ.get("D2C_TREEBANKS", ROOT.parent / "shared" / "treebanks"))


@pytest.mark.parametrize("name", known_head_rules())
def test_every_table_can_be_read_and_names_its_source(name: str) -> None:
    rules = load_head_rules(name)
    table = ROOT / "data" / "heads" / f"{name}.txt"
    assert rules.name == name
    if table.exists():
        assert "Source:" in table.read_text(encoding="utf-8") and rules.searches


def test_labels_are_cut_where_the_table_says_so() -> None:
    rules = parse_head_rules("x", "cut -\nIP left VBPI\nNP right N\n")
    assert rules.head_child("IP-MAT", ("NP-SBJ", "VBPI-X", "NP")) == 1
    assert rules.head_child("NP-SBJ", ("N-D", "N-N")) == 1
    assert rules.by_rule("IP-MAT", ("NP", "PP")) is None


@pytest.mark.skipif(not TREEBANKS.is_dir(), reason=f"{TREEBANKS} is absent; set D2C_TREEBANKS")
@pytest.mark.parametrize(
    ("file", "table", "share"),
    [
        ("alpino-dev.xml.gz", "dutch", 0.01),
        ("pcc-dev.tiger.xml.gz", "german", 0.01),
        ("icon-dev.mrg.gz", "indonesian", 0.01),
        ("icepahc-dev.psd.gz", "historical", 0.03),
    ],
)
def test_few_nodes_fall_to_the_default(file: str, table: str, share: float) -> None:
    coverage = Coverage.of(read_treebank(TREEBANKS / file), load_head_rules(table))
    assert (coverage.without + coverage.failed).total() <= share * coverage.nodes.total()


def test_coverage_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "t.mrg"
    file.write_text("(TOP (S (LST (DT a) (NN b)) (XX (YY c) (ZZ d))))\n")
    run = CliRunner().invoke(cli, ["heads", str(file)])
    assert run.exit_code == 0, run.output
    assert run.output.splitlines() == [
        "label               nodes  default",
        "LST                     1        1  rule finds no child",
        "S                       1        1  rule finds no child",
        "XX                      1        1  no rule",
        "3 of 3 nodes with several children (100.00 %) fall to the default",
    ]


@given(ctrees())
def test_heads_of_the_trees_own_dependencies_are_induced_again(ctree: CTree) -> None:
    assert induce_heads(ctree, to_dependencies(ctree).heads) == ctree


def test_a_table_is_estimated() -> None:
    texts = "(S (NP (D a) (N b)) (VP (V c) (NP (N d) (N e))))", "(S (VP (V c)) (NP (A a) (N b)))"
    heads = (2, 3, 0, 5, 3), (0, 3, 1)
    trees = [induce_heads(parse_bracket(t), h) for t, h in zip(texts, heads, strict=True)]
    rules = estimate_rules(trees)
    assert [rules.apply(tree) for tree in trees] == trees
    assert rules.head_child("NP", ("N", "N", "D")) == 1  # the right one of two Ns was head
    with pytest.raises(ValueError, match="2 heads for 5 tokens"):
        induce_heads(trees[0], (0, 1))
    with pytest.raises(ValueError, match="circle"):
        induce_heads(trees[1], (2, 1, 1))
