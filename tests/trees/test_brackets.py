"""Bracket files: layouts, characters, wrappers, and the exact line that says what is wrong where."""

from __future__ import annotations

import gzip
import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.base.errors import FormatError
from d2c.trees.conventions import remove_empty, strip_function
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats import bracket_lines
from d2c.trees.formats.brackets import (
    format_bracket,
    parse_bracket,
    read_brackets,
    write_brackets,
)
from tests.errors import faulty
from tests.strategies import ctrees


def read(tmp_path: Path, text: str, clean: bool = False) -> list[CTree]:
    path = tmp_path / "x.mrg"
    path.write_bytes(text.encode())
    return list(read_brackets(path, clean=clean))


def error_of(tmp_path: Path, text: str) -> str:
    """What the error says after the name of the file."""
    with pytest.raises(FormatError) as error:
        read(tmp_path, text)
    assert error.value.file == str(tmp_path / "x.mrg")
    return str(error.value).removeprefix(str(tmp_path / "x.mrg"))


ONE_LINE = "(S (NP (PRP They)) (VP (VBD slept)) (. .))"
TREE = CTree(Tokens(("They", "slept", "."), ("PRP", "VBD", ".")), ("NP", "VP", "S"), ((0,), (1,), (3, 4, 2)))


@pytest.mark.parametrize(
    "text",
    [
        ONE_LINE,
        ONE_LINE + "\n",
        "\n\n  " + ONE_LINE + "  \n\n",
        "(S\n  (NP (PRP They))\n  (VP\n    (VBD slept))\n  (. .))\n",
        "(S\r\n\t(NP (PRP They))\r\n\t(VP (VBD slept)) (. .)\r\n)\r\n",
        "(S(NP(PRP They))(VP(VBD slept))(. .))",
        "( S ( NP ( PRP They ) ) ( VP ( VBD slept ) ) ( . . ) )",
        "(S (NP (PRP\nThey)) (VP (VBD\n\n slept)) (. .\n))",
    ],
)
def test_layouts(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == [TREE]
    assert format_bracket(TREE) == ONE_LINE


@pytest.mark.parametrize("top", ["", "TOP", "ROOT", "S1", "VROOT"])
def test_wrappers(tmp_path: Path, top: str) -> None:
    text = f"({top} {ONE_LINE})\n"
    assert read(tmp_path, text) == [replace(TREE, top=top)]
    assert read(tmp_path, text, clean=True) == [replace(TREE, top=top or "TOP")]
    pretty = f"({top}\n  (S\n   (NP (PRP They)) (VP (VBD slept)) (. .)))\n\n"
    assert read(tmp_path, pretty * 3) == [replace(TREE, top=top)] * 3
    out = io.StringIO()
    write_brackets(read(tmp_path, text * 2), out)
    assert out.getvalue() == text * 2


def test_no_wrapper_without_blank(tmp_path: Path) -> None:
    assert read(tmp_path, "((S (NN x)))") == [CTree(Tokens(("x",), ("NN",)), ("S",), ((0,),), top="")]


def test_a_wrapper_around_a_bare_token(tmp_path: Path) -> None:
    assert read(tmp_path, "( (NN x))(NN y)") == [
        CTree(Tokens(("x",), ("NN",)), (), (), top=""),
        CTree(Tokens(("y",), ("NN",)), (), ()),
    ]


def test_a_label_of_a_wrapper_inside_is_a_node(tmp_path: Path) -> None:
    (tree,) = read(tmp_path, "(TOP (ROOT (NN x)))")
    assert (tree.top, tree.labels) == ("TOP", ("ROOT",))


def test_several_trees_on_a_line(tmp_path: Path) -> None:
    assert read(tmp_path, f"{ONE_LINE} {ONE_LINE}({ONE_LINE})\n{ONE_LINE}") == [
        TREE,
        TREE,
        replace(TREE, top=""),
        TREE,
    ]


def test_a_tree_that_begins_on_the_last_line_of_another(tmp_path: Path) -> None:
    assert read(tmp_path, f"(S (NP (PRP They))\n(VP (VBD slept)) (. .)) {ONE_LINE}\n") == [TREE, TREE]


@pytest.mark.parametrize(
    ("label", "clean"),
    [
        ("NP", "NP"),
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("NP-TMP=3", "NP"),
        ("ADVP|PRT", "ADVP"),
        ("PRT|ADVP-1", "PRT"),
        ("-X", "-X"),
        ("WHNP-42", "WHNP"),
        ("", ""),
    ],
)
def test_function_tags(label: str, clean: str) -> None:
    assert strip_function(label) == clean


def test_cleaning_leaves_tags_and_words_alone(tmp_path: Path) -> None:
    text = "(S-HLN (NP-SBJ (-LRB- -LRB-) (PRP$ x-y=z|w) (AFX-1 a-)) (ADVP|PRT=2 (RB up)))"
    (tree,) = read(tmp_path, text, clean=True)
    assert format_bracket(tree) == "(S (NP (-LRB- -LRB-) (PRP$ x-y=z|w) (AFX-1 a-)) (ADVP (RB up)))"
    assert [format_bracket(t) for t in read(tmp_path, text)] == [text]


def test_traces(tmp_path: Path) -> None:
    text = "( (S (NP (-NONE- *T*-1)) (VP (V a) (SBAR (-NONE- 0) (S (-NONE- *))))) )"
    assert [format_bracket(t) for t in read(tmp_path, text, clean=True)] == ["(TOP (S (VP (V a))))"]
    (kept,) = read(tmp_path, text)
    assert kept.tokens.forms == ("*T*-1", "a", "0", "*")
    only = parse_bracket("(S (NP (-NONE- *)))")
    assert remove_empty(only) is None


def test_traces_alone_still_count(tmp_path: Path) -> None:
    path = tmp_path / "x.mrg"
    path.write_text("(S (-NONE- *))\n(S (NN x))\n(S (NN x)\n", encoding="utf-8")
    with faulty(path, 3, 3, about="closing bracket"):
        list(read_brackets(path, clean=True))


def test_brackets_as_words(tmp_path: Path) -> None:
    text = "(PRN (-LRB- -LRB-) (-LRB- [) (NN f-LRB-x-RRB-) (-RRB- ]) (-RRB- -RRB-))"
    (tree,) = read(tmp_path, text)
    assert tree.tokens.forms == ("(", "[", "f(x)", "]", ")")
    assert tree.tokens.tags == ("-LRB-", "-LRB-", "NN", "-RRB-", "-RRB-")
    assert format_bracket(tree) == text


@pytest.mark.parametrize(
    "word", ["a\u00a0b", "10\u2009mg", "\u3000", "\x0b", "\x1c", "\x85", "\u2028", "\ufeffx", "\U0001f600"]
)
def test_only_ascii_blanks_separate(tmp_path: Path, word: str) -> None:
    text = f"(NP (NN {word}) (X\u00a0Y z))"
    (tree,) = read(tmp_path, text)
    assert (tree.tokens.forms, tree.tokens.tags) == ((word, "z"), ("NN", "X\u00a0Y"))
    assert format_bracket(tree) == text


def test_the_writer_escapes_what_would_separate() -> None:
    tree = CTree(Tokens(("a b", "(\t)"), ("(", "X Y")), ("N P",), ((0, 1),))
    assert format_bracket(tree) == "(N\u00a0P (-LRB- a\u00a0b) (X\u00a0Y -LRB-\u00a0-RRB-))"


WORD = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\r\n"), min_size=1)


@given(ctrees(gaps=False), st.data())
def test_written_trees_are_read_back(tree: CTree, data: st.DataObject) -> None:
    n = len(tree.tokens)
    forms = data.draw(st.lists(WORD.filter(lambda w: "-LRB-" not in w and "-RRB-" not in w), min_size=n))
    tokens = Tokens(tuple(forms[:n]), tree.tokens.tags)
    given_tree = replace(tree, tokens=tokens, head_children=None)
    assert parse_bracket(format_bracket(given_tree)) == given_tree


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: no sentence found in this file"),
        (" \n\t\n", ":1: no sentence found in this file"),
        ("(S (NN x)", ":1: sentence 1: a closing bracket is missing in this tree"),
        ("(S", ":1: sentence 1: a closing bracket is missing in this tree"),
        ("(S (NN x))\n(S\n (NN y", ":2: sentence 2: a closing bracket is missing in this tree"),
        ("(S (NN x) (", ":1: sentence 1: a closing bracket is missing in this tree"),
        ("(S (NN x y", ":1: sentence 1: a closing bracket is missing in this tree"),
        ("(S (NN x)))", ":1: sentence 1: a closing bracket too many"),
        ("(S (NN x))\n)\n", ":2: sentence 2: a closing bracket too many"),
        ("(NN x))", ":1: sentence 1: a closing bracket too many"),
        ("()", ":1: sentence 1: the node '' is empty"),
        ("( (S (NP) (NN x)))", ":1: sentence 1: the node 'NP' is empty"),
        ("(S (NP ( )))", ":1: sentence 1: the node '' is empty"),
        ("(S (NP x (NN y)))", ":1: sentence 1: the node 'NP' mixes the word 'x' with child nodes"),
        ("(S (NP (NN y) x))", ":1: sentence 1: the word 'x' stands beside other words or nodes"),
        ("(S (NN New York))", ":1: sentence 1: the word 'York' stands beside other words or nodes"),
        ("(S (NN x z) (NN))", ":1: sentence 1: the word 'z' stands beside other words or nodes"),
        ("(S (NN x) (NN y z w))", ":1: sentence 1: the word 'w' stands beside other words or nodes"),
        ("(S (NN x y\u00a0z))", ":1: sentence 1: the word 'y\\xa0z' stands beside other words or nodes"),
        (
            "(\u00a0 \u00a0 \u00a0)",
            ":1: sentence 1: the word '\\xa0' stands beside other words or nodes",
        ),
        ("(S ((NN x)))", ":1: sentence 1: a node inside a tree has no label"),
        (
            "\nThis is text.\nIt has (no trees).\n",
            ":2: sentence 1: expected '(', found 'This is text.'",
        ),
        ("\n\n(S (NN x))\n\n(S\n (NN y)\n\n (NP (NN )))", ":8: sentence 2: the node 'NN' is empty"),
        (
            "(S (NN x)) (S (NN y)) (S (NN z z))",
            ":1: sentence 3: the word 'z' stands beside other words or nodes",
        ),
    ],
)
def test_errors(tmp_path: Path, text: str, message: str) -> None:
    assert error_of(tmp_path, text) == message


@pytest.mark.parametrize("opening", ["(S (NP", "(TOP (S (NP", "( (S (NP", "((S (NP"])
@pytest.mark.parametrize("longest", [10, 1 << 18])
def test_a_bracket_missing_in_the_middle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opening: str, longest: int
) -> None:
    monkeypatch.setattr(bracket_lines, "LONGEST_RUN", longest)
    closed = f"{opening}\n  (NN x)){')' * (opening.count('(') - 1)}\n"
    text = closed * 20 + closed.replace("))", ")", 1) + closed * 20
    assert error_of(tmp_path, text) == ":41: sentence 21: a closing bracket is missing in this tree"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("(S (NN x)))", "a closing bracket too many"),
        ("(S (NN x y))", "the word 'y' stands beside other words or nodes"),
        ("(S (NN))", "the node 'NN' is empty"),
    ],
)
def test_later_errors(tmp_path: Path, bad: str, message: str) -> None:
    good = "(S\n (NN x))\n\n"
    assert error_of(tmp_path, good * 30 + bad + "\n" + good * 30) == f":91: sentence 31: {message}"
    assert len(read(tmp_path, good * 60)) == 60


def test_trees_before_an_error_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.mrg"
    path.write_text(f"{ONE_LINE}\n{ONE_LINE}\n(S (NN x)\n", encoding="utf-8")
    trees = read_brackets(path)
    assert [next(trees), next(trees)] == [TREE, TREE]
    with pytest.raises(FormatError):
        next(trees)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    latin, packed, cut = tmp_path / "latin.mrg", tmp_path / "packed.mrg.gz", tmp_path / "cut.mrg.gz"
    latin.write_bytes("(NN \xe9)".encode("latin-1"))
    packed.write_bytes(gzip.compress((ONE_LINE + "\n").encode()))
    cut.write_bytes(packed.read_bytes()[:-10])
    assert list(read_brackets(packed)) == [TREE]
    for path, message in (
        (latin, "not UTF-8 text; iconv converts it (invalid continuation byte)"),
        (tmp_path / "none.mrg", "cannot be read: No such file or directory"),
        (tmp_path, "cannot be read: Is a directory"),
        (cut, "broken gzip file (Compressed file ended before the end-of-stream marker was reached)"),
    ):
        with pytest.raises(FormatError) as error:
            list(read_brackets(path))
        assert str(error.value) == f"{path}: {message}"


def test_depth_is_no_limit() -> None:
    n = 20_000
    text = "(X (A a) " * (n - 1) + "(A a)" + ")" * (n - 1)
    tree = parse_bracket(text)
    assert (len(tree.tokens), len(tree.labels)) == (n, n - 1)
    assert format_bracket(tree) == text
    chain = "(X " * n + "(A a)" + ")" * n
    assert format_bracket(parse_bracket(chain)) == chain


@pytest.mark.parametrize("count", [0, 2])
def test_one_tree_is_expected(count: int) -> None:
    with faulty("<string>", about=f"found {count}"):
        parse_bracket(ONE_LINE * count)
