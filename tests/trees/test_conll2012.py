"""CoNLL-2012: words, tags and the tree are read, documents and speakers are comments, the rest is counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given

from d2c.base.errors import FormatError
from d2c.commands.cli import cli
from d2c.trees.ctree import CTree
from d2c.trees.formats.conll2012 import CONLL2012
from d2c.trees.formats.format import Options
from d2c.trees.formats.registry import read_treebank
from tests.errors import faulty
from tests.strategies import ctrees

TWO = """#begin document (bc/own/00/own_0000); part 000
bc/own/00/own_0000   0   0    Ann    NNP  (TOP(S(NP(NP*   -      -   -   Bob  (PERSON)  (ARG0*   (3
bc/own/00/own_0000   0   1     's    POS             *)   -      -   -   Bob     *           *    3)
bc/own/00/own_0000   0   2     `cat   NN             *)   -      -   2   Bob     *           *)   -
bc/own/00/own_0000   0   3   sleeps  VBZ          (VP*)  sleep   01  1   Bob     *         (V*)   -
bc/own/00/own_0000   0   4   -LRB- -LRB-           (PRN*  -      -   -   Bob     *           *    -
bc/own/00/own_0000   0   5    now     RB         (ADVP*)  -      -   -   Bob     *           *    -
bc/own/00/own_0000   0   6   -RRB- -RRB-            *)))  -      -   -   Bob     *           *    -

bc/own/00/own_0000\t0\t0\tYes\tUH\t(TOP(INTJ*))\tyes\t-\t-\tAnn\t*\t-

#end document
#begin document (bc/own/00/own_0001); part 012
bc/own/00/own_0001   12   0    Go    VB  (TOP(S(VP*)))   -  -   -   -  *  -
#end document
"""
TREES = (
    "(TOP (S (NP (NP (NNP Ann) (POS 's)) (NN `cat)) (VP (VBZ sleeps))"
    " (PRN (-LRB- -LRB-) (ADVP (RB now)) (-RRB- -RRB-))))\n"
    "(TOP (INTJ (UH Yes)))\n(TOP (S (VP (VB Go))))\n"
)


def run(*arguments: str | Path, text: str | None = None) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)), input=text)


@pytest.mark.parametrize("name", ["x.v4_gold_conll", "x_auto_conll", "x.conll", "x.conllu", "x.txt", "x"])
def test_trees(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(TWO)
    assert run("convert", path, "-").stdout == TREES
    first, second, third = read_treebank(path)
    assert first.tokens.forms[4:] == ("(", "now", ")")
    assert first.tokens.lemmas == ("_", "_", "_", "sleep", "_", "_", "_")
    assert first.tokens.comments == ("newdoc id = bc/own/00/own_0000", "part = 000", "speaker = Bob")
    assert second.tokens.comments == ("speaker = Ann",)
    assert third.tokens.comments == ("newdoc id = bc/own/00/own_0001", "part = 012")
    assert third.tokens.lemmas is None


def test_standard_input() -> None:
    assert run("convert", "--from", "conll2012", "-", "-", text=TWO).stdout == TREES


def test_what_is_left_out(tmp_path: Path) -> None:
    left_out = Counter[str]()
    (tmp_path / "x_conll").write_text(TWO.replace("2   Bob", "2   Ann"))
    assert len([*read_treebank(tmp_path / "x_conll", left_out=left_out)]) == 3
    assert +left_out == {
        "arguments of predicates": 2,
        "frames of predicates": 1,
        "mentions": 1,
        "named entities": 1,
        "speakers": 7,
        "word senses": 2,
    }
    left_out.clear()
    (tmp_path / "x_conll").write_text("# a\na 0 0 x X (S*) -\n\n# b\n#end document\n")
    assert len([*read_treebank(tmp_path / "x_conll", left_out=left_out)]) == 1
    assert +left_out == {"comments": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 0 0 x X\n", "1: sentence 1: expected 6 columns or more between blanks, found 5"),
        (
            "\n#\na 0 0 x X (S*) - -\na 0 1 y Y X* - -\n",
            "4: sentence 1: 'X*' is no part of a tree, such as (NP*)",
        ),
        ("a 0 0 x X (S* -\n", "1: sentence 1: a closing bracket is missing in this tree"),
        ("a 0 0 x X (S*)) -\n", "1: sentence 1: a closing bracket too many"),
        (
            "1\tx\t_\tX\tX\t_\t0\troot\t_\t_\n",
            "1: sentence 1: '_' is no part of a tree, such as (NP*); CoNLL-U, CoNLL-X, CoNLL-2008 and "
            "CoNLL-2009 have d-trees, of which `d2c decode` makes c-trees",
        ),
        (
            "a 0 0 [WORD] X (S*) -",
            "1: sentence 1: the word is missing ([WORD]); skeleton2conll puts the words in",
        ),
        ("#begin document (x); part 000\n#end document\n", "1: no sentence found in this file"),
    ],
)
def test_errors(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x_conll"
    path.write_text(text)
    with pytest.raises(FormatError) as error:
        [*read_treebank(path)]
    assert str(error.value) == f"{path}:{message}"


def test_parts_that_make_two_trees(tmp_path: Path) -> None:
    path = tmp_path / "x_conll"
    path.write_text("a 0 0 x X (S*) -\na 0 1 y Y (S*) -\n")
    with faulty(path, 1, 1, about="one tree"):
        [*read_treebank(path)]


def test_where_dtrees_are_wanted(tmp_path: Path) -> None:
    (tmp_path / "x.conll").write_text(TWO)
    error = run("decode", tmp_path / "x.conll", "--max-errors", "1").exception
    assert str(error).endswith(
        "x.conll:2: sentence 1: this is CoNLL-2012, which has c-trees, not d-trees; "
        "`d2c encode` makes d-trees of them"
    )


def rows_of(ctree: CTree) -> list[str]:
    """A continuous tree as the shared task wrote it."""
    n, spans = len(ctree.tokens), ctree.spans()
    assert spans
    before, after = [""] * n, [0] * n
    for first, last, label in list(zip(*spans, (*ctree.tokens.tags, *ctree.labels), strict=True))[
        : n - 1 : -1
    ]:
        before[first] += f"({label}"
        after[last] += 1
    before[0] = f"({ctree.top}{before[0]}" if ctree.top else before[0]
    after[-1] += bool(ctree.top)
    words = enumerate(zip(ctree.tokens.forms, ctree.tokens.tags, before, after, strict=True))
    return [f"d 0 {i} {form} {tag} {a}*{')' * b} - -\n" for i, (form, tag, a, b) in words]


@given(ctrees(gaps=False))
def test_any_tree(ctree: CTree) -> None:
    ctree = replace(ctree, head_children=None, top=ctree.top or None)
    (read,) = CONLL2012.read.trees(((), rows_of(ctree)), Options())
    assert read == ctree
