"""`convert --binarize` and the way back."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from d2c.commands.cli import cli
from d2c.trees.ctree import CTree
from d2c.trees.formats.discbracket import format_discbracket, parse_discbracket
from tests.strategies import ctrees


def convert(*arguments: str | Path) -> str:
    done = CliRunner().invoke(cli, ["convert", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize(
    ("how", "binary"),
    [
        ("left", "(TOP (S (@S (@S (NP (A a) (B b)) (V c)) (X d)) (. e)))"),
        ("right", "(TOP (S (NP (A a) (B b)) (@S (V c) (@S (X d) (. e)))))"),
        ("head", "(TOP (S (NP (A a) (B b)) (@S (@S (V c) (X d)) (. e))))"),
    ],
)
def test_parts_are_called_as_their_node(tmp_path: Path, how: str, binary: str) -> None:
    rules, file = tmp_path / "rules.txt", tmp_path / "x.mrg"
    rules.write_text("S left V\nNP right A\n")
    file.write_text("(TOP (S (NP (A a) (B b)) (V c) (X d) (. e)))\n")
    assert convert(file, "-", "--binarize", how, "--head-rules", rules) == binary + "\n"


@given(trees=st.lists(ctrees(), min_size=1, max_size=5), how=st.sampled_from(("left", "right", "head")))
@settings(max_examples=40, deadline=None)
def test_the_way_back(tmp_path_factory: pytest.TempPathFactory, trees: list[CTree], how: str) -> None:
    folder = tmp_path_factory.mktemp("trees")
    file, binary = folder / "x.dbr", folder / "binary.dbr"
    file.write_text("".join(format_discbracket(one) + "\n" for one in trees))
    convert(file, binary, "--binarize", how, "--head-rules", "rightmost")
    read = map(parse_discbracket, binary.read_text().splitlines())
    assert max(len(kids) for one in read for kids in one.children or ((),)) <= 2
    assert convert(binary, "-", "--unbinarize", "--to", "discbracket") == convert(
        file, "-", "--to", "discbracket"
    )


def test_labels_that_begin_with_the_mark_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.mrg"
    file.write_text("(S (A a))\n(@S (A a))\n")
    done = CliRunner().invoke(cli, ["convert", str(file), "-", "--binarize", "left"])
    assert str(done.exception).startswith(f"{file}: sentence 2: a label begins with @")
