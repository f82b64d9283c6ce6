"""Tables beyond Collins', their coverage, and heads induced from d-trees."""

from __future__ import annotations

import re
from itertools import islice
from operator import ne
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from d2c.commands.cli import cli
from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.formats.registry import read_treebank
from d2c.trees.head_coverage import HeadCoverage
from d2c.trees.heads import (
    HeadRules,
    estimate_rules,
    format_head_rules,
    induce_heads,
    known_head_rules,
    load_head_rules,
    parse_head_rules,
)
from tests.errors import faulty
from tests.strategies import ctrees
from tests.treebanks import TREEBANKS, needs_treebanks

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", known_head_rules())
def test_every_table_can_be_read_and_names_its_source(name: str) -> None:
    rules = load_head_rules(name)
    again = parse_head_rules(name, format_head_rules(rules))
    assert (again.searches, again.default) == (rules.searches, rules.default)
    assert (again.punctuation, again.conjunction) == (rules.punctuation, rules.conjunction)
    table = ROOT / "data" / "heads" / f"{name}.txt"
    assert rules.name == name
    if table.exists():
        assert "Source:" in table.read_text(encoding="utf-8") and rules.searches


def test_help_and_docs_list_every_table() -> None:
    help = CliRunner().invoke(cli, ["heads", "--help"]).output
    told = help[help.index("--head-rules") : help.index("--format")]
    section = (ROOT / "docs" / "treebanks.md").read_text().partition("## Head rules")[2].partition("## ")[0]
    assert set(known_head_rules()) <= set(re.findall(r"[a-z]+", told))
    assert set(known_head_rules()) == set(re.findall(r"`([a-z]+)`", section.partition("- a file")[0])) - {
        "hd"
    }


@needs_treebanks
@pytest.mark.parametrize(
    ("file", "table", "default"),
    [
        ("alpino-dev.xml.gz", "dutch", 1),
        ("pcc-dev.tiger.xml.gz", "german", 0),
        ("icon-dev.mrg.gz", "indonesian", 0),
        ("icepahc-dev.psd.gz", "icelandic", 0),
        ("floresta-dev.ptb.gz", "portuguese", 1),
        ("sinica-dev.txt.gz", "sinica", 1),
    ],
)
def test_hardly_a_node_falls_to_the_default(file: str, table: str, default: int) -> None:
    trees = islice(read_treebank(TREEBANKS / file, FORMAT.get(table), clean=True), 2000)
    coverage = HeadCoverage(trees, load_head_rules(table))
    assert coverage.by_default.total() == default
    assert (
        coverage.by_position.total() <= (0.05 if table == "dutch" else 0.001) * coverage.nodes.total()
    )  # mwu


FORMAT = {"portuguese": "floresta", "sinica": "sinica"}


@needs_treebanks
@pytest.mark.parametrize(
    ("file", "table", "labels", "same", "nodes"),
    [  # labels whose nodes nearly all have a marked head; coordinations are among those that have none
        (
            "alpino-dev.xml.gz",
            "dutch",
            "smain ssub sv1 inf ppart cp ti oti rel whq whrel whsub np pp ap advp detp",
            6143,
            6204,
        ),
        ("pcc-dev.tiger.xml.gz", "german", "S VP AP AVP", 543, 567),
        ("floresta-dev.ptb.gz", "portuguese", "np pp fcl icl vp ap advp", 10036, 10150),
        ("sinica-dev.txt.gz", "sinica", "NP VP S PP GP DM N‧的 V‧的 VP‧的", 4335, 4409),
    ],
)
def test_tables_agree_with_marked_heads(file: str, table: str, labels: str, same: int, nodes: int) -> None:
    rules, marks, agreed = load_head_rules(table), load_head_rules("marked"), []
    for ctree in read_treebank(TREEBANKS / file, FORMAT.get(table), marked=True):
        marked, ruled = (one.head_children or () for one in (marks.headed(ctree), rules.apply(ctree)))
        for label, kids, mark, rule in zip(ctree.labels, ctree.children, marked, ruled, strict=True):
            if len(kids) > 1 and label in labels.split():
                agreed.append(mark == rule)
    assert (sum(agreed), len(agreed)) == (same, nodes)


@needs_treebanks
def test_a_fifth_of_the_heads_of_craft_are_others_in_pads_table() -> None:
    tables = [load_head_rules(name) for name in ("collins", "pad")]
    others = words = 0
    for ctree in islice(read_treebank(TREEBANKS / "craft-dev.mrg.gz", clean=True), 1000):
        one, other = (to_dependencies(table.apply(ctree)).heads for table in tables)
        others += sum(map(ne, one, other))
        words += len(one)
    assert (others, words) == (5080, 26425)


def test_coverage_is_counted_and_shown(tmp_path: Path) -> None:
    table, file = tmp_path / "t.txt", tmp_path / "t.mrg"
    table.write_text("S left VP\nNP right N\nVP left\n")
    file.write_text(
        "(S (NP (D a) (N b)) (VP (V c) (X (D d) (D e))) (. .))\n"
        "(S (NP (D a) (D b)) (VP (V c)))\n(X (NP (D a) (D b)) (D b))\n"
    )
    run = CliRunner().invoke(cli, ["heads", str(file), "--head-rules", str(table)])
    assert run.exit_code == 0, run.output
    assert run.output.splitlines() == [
        "label      nodes   by label   by place    default",
        "NP             3          1          0          2",
        "X              2          0          0          2",
        "S              2          2          0          0",
        "VP             1          0          1          0",
        f"{table}: 8 nodes with several children under 4 labels",
        "by place: 1 (12.50 %)",
        "default: 4 (50.00 %) under 2 labels",
        "labels without rules: X",
    ]
    assert list(HeadCoverage([], load_head_rules("leftmost")).lines())[1:] == [
        "leftmost: 0 nodes with several children under 0 labels",
        "by place: 0 (0.00 %)",
        "default: 0 (0.00 %) under 0 labels",
        "labels without rules: none",
    ]


@given(ctrees(), st.sampled_from(known_head_rules()))
def test_a_rule_that_finds_a_child_decides(ctree: CTree, name: str) -> None:
    """Of a node with several children, unless a conjunction stands before the child found."""
    rules = load_head_rules(name)
    without = HeadRules(name, rules.searches, rules.punctuation, default=rules.default)
    headed = without.apply(ctree)
    assert headed.head_children is not None
    for label, kids, head in zip(ctree.labels, ctree.children, headed.head_children, strict=True):
        own = rules.by_rule(label, tuple(ctree.label(kid) for kid in kids))
        assert head in kids
        assert len(kids) == 1 or own is None or kids[own[1]] == head


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


def test_labels_that_a_table_takes_for_others_are_not_estimated() -> None:
    tree = induce_heads(parse_bracket("(VP (MD* can't) (VB go))"), (0, 1))
    with faulty("induced", about="MD*"):
        estimate_rules([tree])
