"""`convert --binarize` and the way back."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from d2c import Tree
from d2c.commands.cli import cli
from d2c.trees.ctree import CTree
from d2c.trees.formats.export import format_export
from d2c.trees.formats.registry import read_treebank
from tests.strategies import graphs


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


@given(
    trees=st.lists(graphs(), min_size=1, max_size=5),
    how=st.sampled_from(("left", "right", "head")),
    rules=st.sampled_from(("rightmost", "marked")),
)
@settings(max_examples=40, deadline=None)
def test_the_way_back(
    tmp_path_factory: pytest.TempPathFactory, trees: list[CTree], how: str, rules: str
) -> None:
    """Nothing is lost, which --strict would refuse, and nothing is marked that was not."""
    folder = tmp_path_factory.mktemp("trees")
    bare = (replace(one, head_children=None) for one in trees)
    (folder / "given.export").write_text("".join(map(format_export, bare, count(1))))
    file, binary = folder / "x.export", folder / "binary.export"
    convert(folder / "given.export", file, "--head-rules", rules)
    convert(file, binary, "--binarize", how, "--head-rules", rules, "--strict")
    for one in read_treebank(binary):
        assert max(map(len, one.children), default=1) <= 2
    back = convert(binary, "-", "--unbinarize", "--to", "export", "--head-rules", rules, "--strict")
    assert back == file.read_text()


def test_what_cannot_be_kept_is_counted_by_the_option(tmp_path: Path) -> None:
    """A part that is no part of ours has a function; heads of split nodes are not known."""
    file = tmp_path / "x.export"
    rows = ("a A SB 501 OA 501", "b B HD 501", "#501 @S X 502", "c C -- 502", "#502 S -- 0")
    lines = ["\t".join([form, "--", *rest[:1], "--", *rest[1:]]) for form, *rest in map(str.split, rows)]
    file.write_text("\n".join(["#FORMAT 4", "#BOS 1", *lines, "#EOS 1"]) + "\n")
    done = CliRunner().invoke(cli, ["convert", str(file), "-", "--to", "export", "--unbinarize"])
    lost = "1 function (--unbinarize), 1 secondary edge (--unbinarize)"
    assert done.stderr == f"{file}: left out: {lost}\n"
    done = CliRunner().invoke(cli, ["convert", str(file), "-", "--unbinarize"])
    assert done.stderr == f"{file}: left out: 2 functions, {lost}\n"
    done = CliRunner().invoke(cli, ["convert", str(file), "-", "--unbinarize", "--strict"])
    assert str(done.exception) == (
        f"{file}: sentence 1: --unbinarize does not keep 1 function, 1 secondary edge; see --strict"
    )


def test_heads_without_functions_are_marked_in_whole_nodes_alone(tmp_path: Path) -> None:
    file, heads = tmp_path / "x.mrg", tmp_path / "x.conllu"
    file.write_text("(S (A a) (B b) (C c) (D d))\n")
    rows = (
        [str(i), form, *"____", head, *"___"] for i, (form, head) in enumerate(["a3", "b3", "c0", "d3"], 1)
    )
    heads.write_text("\n".join(map("\t".join, rows)) + "\n\n")
    convert(file, tmp_path / "plain.export", "--heads", heads)
    for how in ("left", "right", "head"):
        convert(file, tmp_path / "binary.export", "--heads", heads, "--binarize", how)
        back = convert(tmp_path / "binary.export", "-", "--to", "export", "--unbinarize")
        assert back == (tmp_path / "plain.export").read_text()


def test_a_text_that_is_not_known_stays_so() -> None:
    """Its words with blanks between them are none: quotation marks would be words of the text."""
    tree = Tree.from_string("(TOP (S (`` ``) (NP (PRP They)) (VP (VBD left)) (. .) ('' '')))").with_heads()
    assert str(tree.binarized("head").unbinarized().to_ud()) == str(tree.to_ud())


def test_labels_that_begin_with_the_mark_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.mrg"
    file.write_text("(S (A a))\n(@S (A a))\n")
    done = CliRunner().invoke(cli, ["convert", str(file), "-", "--binarize", "left"])
    assert str(done.exception).startswith(f"{file}: sentence 2: a label begins with @")
