"""Bracket and CoNLL-U files: what is read, what is written, and the one line that says what is wrong."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import conllu
import pytest

from d2c.base.errors import FormatError
from d2c.base.files import open_output
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket, read_brackets
from d2c.trees.formats.conllu import format_conllu, read_conllu
from d2c.trees.formats.registry import FORMATS, read_treebank
from tests.blocks import REPOSITORY
from tests.errors import faulty

PRETTY = """
( (S
    (NP-SBJ-1 (PRP They))
    (VP (VBD went) (PRT|ADVP (RP out))
        (S (NP-SBJ-1 (-NONE- *PRO*)) (VP (TO to) (VP (VB eat)))))
    (. .)) )

(TOP (NP=2 (NN x))) (ROOT (NN y))
"""


def write(directory: Path, text: str, name: str = "x.mrg") -> Path:
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


def test_trees_over_many_lines_and_several_on_one(tmp_path: Path) -> None:
    kept = [format_bracket(t) for t in read_brackets(write(tmp_path, PRETTY))]
    assert kept == [
        "( (S (NP-SBJ-1 (PRP They)) (VP (VBD went) (PRT|ADVP (RP out)) "
        "(S (NP-SBJ-1 (-NONE- *PRO*)) (VP (TO to) (VP (VB eat))))) (. .)))",
        "(TOP (NP=2 (NN x)))",
        "(ROOT (NN y))",
    ]
    clean = [format_bracket(t) for t in read_brackets(write(tmp_path, PRETTY), clean=True)]
    assert clean == [
        "(TOP (S (NP (PRP They)) (VP (VBD went) (PRT (RP out)) (S (VP (TO to) (VP (VB eat))))) (. .)))",
        "(TOP (NP (NN x)))",
        "(ROOT (NN y))",
    ]


def test_the_wrapper_is_no_node() -> None:
    tree = parse_bracket("(TOP (NP (NN x)))")
    assert (tree.top, tree.labels, tree.children) == ("TOP", ("NP",), ((0,),))
    assert parse_bracket("(NN x)") == CTree(Tokens(("x",), ("NN",)), (), ())
    two = parse_bracket("( (S (NN x)) (. .))")
    assert (two.top, two.labels) == (None, ("S", ""))
    assert format_bracket(two) == "( (S (NN x)) (. .))"


def test_words_keep_their_characters() -> None:
    text = "(NP (-LRB- -LRB-) (-LRB- [) (NN Xpd\u2009TTD) (NN a-LRB-b-RRB-) (NN c\u00a0d) (NN \u2028))"
    tree = parse_bracket(text)
    assert tree.tokens.forms == ("(", "[", "Xpd\u2009TTD", "a(b)", "c\u00a0d", "\u2028")
    assert tree.tokens.tags == ("-LRB-", "-LRB-", "NN", "NN", "NN", "NN")
    assert format_bracket(tree) == text
    assert format_bracket(replace(tree, tokens=Tokens(("New York",) * 6, ("(",) * 6))).startswith(
        "(NP (-LRB- New\u00a0York)"
    )


def test_a_sentence_of_traces_only_is_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, "( (S (NP (-NONE- *))) )\n( (S (NN x)) )\n")
    assert [format_bracket(t) for t in read_brackets(path, clean=True)] == ["(TOP (S (NN x)))"]


def test_gaps_cannot_be_written() -> None:
    tree = build_ctree(Tokens(("a", "b", "c"), ("T",) * 3), ["A", "B"], [[0, 2], [3, 1]], 4)
    with pytest.raises(ValueError, match="brackets cannot hold a tree with gaps; discbracket can"):
        format_bracket(tree)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", ":1: no sentence found in this file"),
        ("  \n\n", ":1: no sentence found in this file"),
        ("(S (NN x))\n(S (NN x)\n", ":2: sentence 2: a closing bracket is missing in this tree"),
        (
            "(TOP (S (NN x))\n(TOP (S (NN x)))\n",
            ":1: sentence 1: a closing bracket is missing in this tree",
        ),
        ("(S (NN x)))\n", ":1: sentence 1: a closing bracket too many"),
        (
            "(S (NN x))\n\n(S\n (NN y)\n (NP ))",
            ":5: sentence 2: the node 'NP' is empty",
        ),
        ("(S (NP x (NN y)))", ":1: sentence 1: the node 'NP' mixes the word 'x' with child nodes"),
        ("(S (NN x y))", ":1: sentence 1: the word 'y' stands beside other words or nodes"),
        ("(S (NN x) y)", ":1: sentence 1: the word 'y' stands beside other words or nodes"),
        ("(S ( (NN x)))", ":1: sentence 1: a node inside a tree has no label"),
        ("(S)", ":1: sentence 1: the node 'S' is empty"),
        ("()", ":1: sentence 1: the node '' is empty"),
    ],
)
def test_bracket_errors(tmp_path: Path, text: str, where: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(FormatError) as error:
        list(read_brackets(path))
    assert str(error.value) == f"{path}{where}"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "x.conllu",
            "has d-trees, not c-trees (no CoNLL-2012, no comments `# constituency`); "
            "`d2c decode` makes c-trees of them",
        ),
    ],
)
def test_names_of_other_files(tmp_path: Path, name: str, says: str) -> None:
    with pytest.raises(FormatError) as error:
        [*read_treebank(tmp_path / name)]
    assert str(error.value) == f"{tmp_path / name}: {says}; --format says what else it is"
    path = tmp_path / name.removesuffix(".gz")
    path.write_text("(NN x)")
    assert [ctree.tokens.forms for ctree in read_treebank(path, "brackets")] == [("x",)]


def test_later_errors_name_line_and_sentence(tmp_path: Path) -> None:
    path = write(tmp_path, "(S (NN x))\n" * 50 + "(S (NN x) y)\n")
    with faulty(path, 51, 51, about="'y'"):
        list(read_brackets(path))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.mrg").write_bytes(b"(NN \xe9)")
    (tmp_path / "broken.gz").write_bytes(b"no gzip")
    with gzip.open(tmp_path / "good.gz", "wt", encoding="utf-8") as out:
        out.write("(NN é)\n")
    assert [t.tokens.forms for t in read_brackets(tmp_path / "good.gz")] == [("é",)]
    for name, message in (
        ("latin.mrg", "not UTF-8 text; iconv converts it"),
        ("broken.gz", "broken gzip file"),
        ("none.mrg", "cannot be read: No such file or directory"),
        (".", "cannot be read: Is a directory"),
    ):
        with pytest.raises(FormatError, match=message):
            list(read_brackets(tmp_path / name))


FORMS = ("a b", "a  b", "#", "|", "_", "é\u2009ü", "# text", "\u00a0", "1", '"')


def test_conllu_forms_survive(tmp_path: Path) -> None:
    n = len(FORMS)
    tokens = Tokens(FORMS, ("T",) * n, ("_",) * (n - 1) + ("l",), ("A=1|B=2",) * n)
    dtree = DTree(tokens, (0, *(1,) * (n - 1)), labels=("root", *("NP#1",) * (n - 1)))
    text = format_conllu(dtree)
    assert list(read_conllu(write(tmp_path, text * 3, "x.conllu"))) == [dtree] * 3
    rows = [row.split("\t") for row in text.splitlines() if row]
    assert {len(row) for row in rows} == {10}
    # The conllu package splits a form at two spaces and strips lines; elsewhere it sees what we wrote.
    (seen,) = conllu.parse(format_conllu(replace(dtree, tokens=replace(tokens, forms=FORMS[:1] * n))))
    assert [token["id"] for token in seen] == list(range(1, n + 1))
    assert [token["deprel"] for token in seen if token["head"] == 0] == ["root"]


@pytest.mark.parametrize("form", ["a\tb", "a\nb", "", "a\rb"])
def test_conllu_cannot_hold(form: str) -> None:
    with pytest.raises(ValueError, match="a form or tag is empty or holds a tab or a line break"):
        format_conllu(DTree(Tokens((form,), ("T",)), (0,), labels=("root",)))


IRREGULAR = (
    "# text = vámonos al\r\n1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_\r\n1\tvamos\tir\tV\t_\t_\t0\troot\t_\t_\r\n"
    "2\tnos\t_\tP\t_\t_\t1\tNP#1\t_\t_\r\n2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\r\n3\tal\t_\tD\t_\t_\t_\t_\t_\t_\r\n"
    " \t \r\n1\tb\t_\t_\tX\t_\t-4\tdep\t_\t_\r\n2\tc\t_\t_\tX\t_\t99999999999\t_\t_\t_"
)


def test_ranges_and_empty_nodes_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "x.conllu"
    path.write_bytes(IRREGULAR.encode())
    first, second = read_conllu(path)
    assert first.tokens == Tokens(("vamos", "nos", "al"), ("V", "P", "D"), ("ir", "_", "_"))
    assert first.heads == (0, 1, -1) and first.labels == ("root", "NP#1", "_")
    assert second.tokens == Tokens(("b", "c"), ("X", "X"))
    assert second.heads == (-1, -1) and second.labels == ("dep", "_")


GOOD = "1\tx\t_\t_\tT\t_\t0\troot\t_\t_\n\n"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", ":1: no sentence found in this file"),
        (GOOD + "# c\n1\tx\n", ":4: sentence 2: expected 10 columns separated by tabs, found 2"),
        (GOOD + GOOD.replace("1", "2"), ":3: sentence 2: expected the id 1, found '2'"),
        (GOOD.replace("1\tx", "a\tx"), ":1: sentence 1: 'a' is not a valid ID."),
        (GOOD.replace("\t0\t", "\t1_0\t"), ":1: sentence 1: the head '1_0' is no number"),
        (GOOD.replace("\tx\t", "\t\t"), ":1: sentence 1: the form is empty"),
        (GOOD.replace("1\tx", "1-2\tx"), ":1: sentence 1: a sentence without tokens"),
    ],
)
def test_conllu_errors(tmp_path: Path, text: str, where: str) -> None:
    path = write(tmp_path, text, "x.conllu")
    with pytest.raises(FormatError) as error:
        list(read_conllu(path))
    assert str(error.value) == f"{path}{where}"


def test_output_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "out.mrg"
    with pytest.raises(KeyboardInterrupt), open_output(path) as out:
        out.write("half")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "link").symlink_to(path)
    with open_output(tmp_path / "link") as out:
        out.write("whole")
    assert path.read_text() == "whole" and (tmp_path / "link").is_symlink()
    with open_output("/dev/null") as out:
        out.write("nothing")
    assert not Path("/dev/null").is_file()
    with faulty(tmp_path / "none" / "x"), open_output(tmp_path / "none" / "x"):
        pass


def test_the_documentation_has_a_row_for_each_format() -> None:
    page = (REPOSITORY / "docs" / "treebanks.md").read_text(encoding="utf-8")
    table = page[page.index("| format |") :].partition("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    assert [(row[1], *row[3:]) for row in rows] == [
        (
            f"`{form.name}`",
            "yes" if form.write else "",
            ", ".join(one for one in form.holds if one not in ("escapes", "blanks")),
        )
        for form in FORMATS.values()
    ]
    for row, form in zip(rows, FORMATS.values(), strict=True):
        assert form.suffixes[0] in row[1] or form.name in row[1]
