"""Brackets over numbers of words: from 0 or 1, sniffed, with the errors of each kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from d2c.base.errors import FormatError
from d2c.trees.ctree import CTree
from d2c.trees.formats.discbracket import format_discbracket
from d2c.trees.formats.indexbracket import read_indexbracket
from d2c.trees.formats.registry import format_of, read_treebank
from tests.commands.test_cli import ok
from tests.strategies import ctrees

OF_TREETOOLS = "(VROOT(S(VP(WP 1)(VB 3))(VBD 2)(NP(NN 4)))(? 5))\tWho did see Fritz(1) ?\n"
OF_DISCODOP = "(VROOT (S (VP (WP 0) (VB 2)) (VBD 1) (NP (NN 3))) (? 4))\tWho did see Fritz(1) ?\n"
EXPECTED = "(VROOT (S (VP (WP 0=Who) (VB 2=see)) (VBD 1=did) (NP (NN 3=Fritz-LRB-1-RRB-))) (? 4=?))"


@pytest.mark.parametrize("name", ["x.mrg", "x.dbr", "x.discbracket", "x.txt", "x", "x.discobrackets"])
@pytest.mark.parametrize("text", [OF_TREETOOLS, OF_DISCODOP, "\n" + OF_DISCODOP + "\n" + OF_TREETOOLS])
def test_both_kinds_whatever_a_file_is_called(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert format_of(path) == "indexbracket"
    assert {format_discbracket(tree) for tree in read_treebank(path)} == {EXPECTED}
    assert set(ok("convert", path, "-", "--to", "discbracket").stdout.splitlines()) == {EXPECTED}


def test_leaves_that_share_a_node(tmp_path: Path) -> None:
    path = tmp_path / "x.dbr"
    path.write_text("(S (NP 1 2) (VP 0 3))\tdid the cat sleep\n")
    (tree,) = read_treebank(path)
    assert format_discbracket(tree) == "(S (VP (_ 0=did) (_ 3=sleep)) (NP (_ 1=the) (_ 2=cat)))"


def test_other_brackets_do_not_look_so(tmp_path: Path) -> None:
    path = tmp_path / "x.mrg"
    for text in (
        "(S (CD 1) (CD 2))\n",
        "(S (NN a))\tx\n",
        "(S (NP))\tx\n",
        "(S (CD 0=1) (CD 1=2))\n",
        "1\t2\n",
    ):
        path.write_text(text)
        assert format_of(path) in ("brackets", "discbracket")
    deep = "(S " * 2000 + "(X 0)" + ")" * 2000 + "\tone\n"  # longer than what is looked at
    path.write_text(deep)
    assert format_of(path) == "brackets"
    path.write_text("(S " + " ".join(f"(NP (NN {k}))" for k in range(900)) + ")\t" + " ".join(["w"] * 900))
    assert format_of(path) == "indexbracket"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (A 0) (B 1))\n", "expected a tab and the words of the sentence behind the tree"),
        ("(S (A 0) (B 1))\ta\n", "2 numbers in the tree for 1 word"),
        ("(S (A 2) (B 3))\ta b\n", "its words are numbered from 2, not from 0 or 1"),
        ("(S (A 0) (B 2))\ta b\n", "there is no word 2 behind the tree"),
        ("(S (A 0) (B 0))\ta b\n", "the token 0 comes twice"),
        ("(S (A x) (B 0))\ta b\n", "'x' is no whole number"),
        ("(S (A 0) (B 1)\ta b\n", "a closing bracket is missing in this tree"),
        ("(S (A 0)) (S (B 1))\ta b\n", "expected one tree on a line, found 2"),
        (f"(S (A {'9' * 40}) (B 1))\ta b\n", f"the number {'9' * 20}... is too large"),
    ],
)
def test_errors(tmp_path: Path, text: str, message: str) -> None:
    """Each costs its line alone."""
    path, faults = tmp_path / "x.dbr", list[str]()
    path.write_text(OF_DISCODOP + text + OF_DISCODOP)
    assert len(list(read_indexbracket(path, lambda error: faults.append(str(error))))) == 2
    assert faults == [f"{path}:2: sentence 2: {message}"]


def test_lines_outside(tmp_path: Path) -> None:
    path = tmp_path / "x.dbr"
    path.write_text(OF_DISCODOP + "# made by hand\n")
    done = ok("convert", path, "-", "--to", "discbracket")
    assert "passed over 1 line outside of trees" in done.stderr
    with pytest.raises(FormatError, match="'# made by hand' belongs to no tree"):
        list(read_treebank(path, strict=True))


def indexed(tree: CTree, first: int) -> str:
    """A tree as other programs write it."""
    text = format_discbracket(tree)
    for i, form in enumerate(tree.tokens.forms):
        text = text.replace(f" {i}={form})", f" {i + first})")
    return f"{text}\t{' '.join(tree.tokens.forms)}\n"


@given(tree=ctrees())
def test_any_tree(tmp_path_factory: pytest.TempPathFactory, tree: CTree) -> None:
    path = tmp_path_factory.mktemp("x") / "x.dbr"
    path.write_text(indexed(tree, 0) + indexed(tree, 1))
    assert {*map(format_discbracket, read_indexbracket(path))} == {format_discbracket(tree)}
