"""What CoNLL-U says beside the tree goes through: comments, ranges, empty nodes, UPOS, DEPS, MISC."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from d2c.commands.cli import cli
from d2c.parsing.output import OUTPUTS
from d2c.parsing.sentence import Sentence
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import Chunk, format_conllu, parse_conllu, read_conllu

CATS = (
    "#sent_id=1\n#   text = Cats aren't here  \n#\n"
    "1\tCats\tcat\tNOUN\tNNS\tNumber=Plur\t4\tnsubj\t4:nsubj\t_\n"
    "2-3\taren't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|Gloss=a=b\n"
    "2\tare\tbe\tAUX\tVBP\t_\t_\t_\t4:cop\t_\n"
    "3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t4:advmod\tCorrectForm=not\n"
    "3.1\tby\tby\tADP\t_\t_\t_\t_\t4:dep\t_\n"
    "4\there\there\tADV\tRB\t_\t0\troot\t0:root\t_\n\n"
)
UPOS_ONLY = "1\tVai\tandare\tVERB\t_\tMood=Imp\t0\troot\t0:root\tSpaceAfter=No\n\n"
UNTAGGED = "1\tVai\t_\t_\t_\t_\t_\t_\t_\tId=7\n\n"


def run(*arguments: str | Path) -> str:
    done = CliRunner().invoke(cli, list(map(str, arguments)))
    assert done.exit_code == 0, done.exception
    return done.stdout


def trees_of(text: str) -> list[DTree]:
    return [*parse_conllu(Chunk(1, text), "x")]


def tree_of(text: str) -> DTree:
    (dtree,) = trees_of(text)
    return dtree


@pytest.mark.parametrize("text", [CATS, UPOS_ONLY, UNTAGGED, CATS + UPOS_ONLY + UNTAGGED])
def test_what_is_read_is_written(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.conllu").write_text(text)
    assert run("convert", tmp_path / "x.conllu", "-") == text
    assert "".join(map(format_conllu, pickle.loads(pickle.dumps(trees_of(text))))) == text


def test_comments_between_empty_lines(tmp_path: Path) -> None:
    """They are those of the next sentence; where there is none they are named."""
    text = f"# newdoc id = 1\n\n# par\n\n\n\n{CATS}# x\n\n{UPOS_ONLY}"
    (tmp_path / "x.conllu").write_text(text)
    assert run("convert", tmp_path / "x.conllu", "-") == text
    first, second = read_conllu(tmp_path / "x.conllu")
    assert first.tokens.comments[:2] == ("newdoc id = 1", "par") and second.tokens.comments == ("x",)
    (tmp_path / "x.conllu").write_text(f"{text}# the\n# end\n")
    done = CliRunner().invoke(cli, ["convert", str(tmp_path / "x.conllu"), "-"])
    assert done.stdout == text and done.stderr.endswith("x.conllu: left out: 2 comments\n")


def test_only_what_the_tree_says_otherwise_is_changed() -> None:
    dtree = tree_of(CATS)
    heads = replace(dtree, heads=(2, 0, 2, 2), labels=("a", "b", "c", "d"))
    written = format_conllu(heads)
    assert [line.split("\t")[6:8] for line in written.splitlines() if line[:1].isdecimal()] == [
        ["2", "a"],
        ["_", "_"],  # the range
        ["0", "b"],
        ["2", "c"],
        ["_", "_"],  # the empty node
        ["2", "d"],
    ]
    assert format_conllu(replace(tree_of(written), heads=dtree.heads, labels=dtree.labels)) == CATS
    tokens = replace(dtree.tokens, forms=("Dogs", *dtree.tokens.forms[1:]), lemmas=None)
    other = format_conllu(replace(dtree, tokens=tokens))
    assert "1\tDogs\t_\tNOUN\tNNS\tNumber=Plur\t4\tnsubj\t4:nsubj\t_\n2-3\taren't\t" in other


@pytest.mark.parametrize(
    ("text", "upos", "xpos"),
    [
        (CATS, "NOUN", "T0"),  # two tagsets: a tag is of the second
        (UPOS_ONLY, "VERB", "T0"),
        (UNTAGGED, "T0", "T0"),
        (CATS.replace("NOUN", "NNS"), "T0", "T0"),  # one tagset in both columns
        (CATS.replace("NOUN", "_"), "_", "T0"),
    ],
)
def test_other_tags(text: str, upos: str, xpos: str) -> None:
    dtree = tree_of(text)
    tags = tuple(f"T{i}" for i in range(len(dtree.tokens)))
    written = format_conllu(replace(dtree, tokens=replace(dtree.tokens, tags=tags)))
    row = next(line.split("\t") for line in written.splitlines() if line.startswith("1\t"))
    assert (row[3], row[4]) == (upos, xpos)
    assert tree_of(written).tokens.tags == tags


def test_other_words_are_written_without_the_source() -> None:
    tokens = replace(tree_of(CATS).tokens, forms=("a",), tags=("A",), lemmas=None, morphs=None, comments=())
    assert format_conllu(DTree(tokens, (-1,))) == "1\ta\t_\tA\tA\t_\t_\t_\t_\t_\n\n"


def test_other_comments() -> None:
    written = format_conllu(tree_of(CATS), ["sent_id = 2"])
    assert written == "# sent_id = 2\n" + CATS[CATS.index("1\tCats") :]


@pytest.mark.parametrize(
    ("read", "written"),
    [
        ("1\ta\t\tA\tA\t_\t0\troot\t_\t\n", "1\ta\t_\tA\tA\t_\t0\troot\t_\t_\n\n"),
        ("1\ta\t_\tA\tA\t_\t0\troot\t_\t\n", "1\ta\t_\tA\tA\t_\t0\troot\t_\t_\n\n"),
        ("1\ta\t_\tA\tA\t_\t-3\troot\t_\tx", "1\ta\t_\tA\tA\t_\t_\troot\t_\tx\n\n"),
        ("1\ta\t_\tA\tA\t_\t00\troot\t_\tx\r\n \n\n\n", "1\ta\t_\tA\tA\t_\t0\troot\t_\tx\n\n"),
    ],
)
def test_what_is_normalised(read: str, written: str, tmp_path: Path) -> None:
    """Empty columns, heads that are none, zeros before numbers, line breaks, empty lines."""
    (tmp_path / "x.conllu").write_bytes(read.encode())
    assert run("convert", tmp_path / "x.conllu", "-") == written


CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\r\n"), min_size=1, max_size=4)
EXTRA = st.tuples(*[CELL] * 9).map("\t".join)


@st.composite
def sentences(draw: st.DrawFn) -> str:
    """A block of CoNLL-U: any comments, ranges and empty nodes, any cells; heads are numbers or `_`."""
    n = draw(st.integers(1, 5))
    comments = draw(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))))
    lines = [f"#{comment}" for comment in comments]
    for i in range(1, n + 1):
        if draw(st.booleans()):
            lines.append(f"{i}-{i + 1}\t{draw(EXTRA)}")
        cells = [draw(CELL) for _ in range(9)]
        cells[5] = draw(st.sampled_from(["_", "0", "1", "7"]))
        lines.append("\t".join([str(i), *cells]))
        if draw(st.booleans()):
            lines.append(f"{i}.1\t{draw(EXTRA)}")
    return "\n".join(lines) + "\n\n"


@given(st.lists(sentences(), min_size=1, max_size=4).map("".join))
def test_any_block_goes_through(text: str) -> None:
    assert "".join(map(format_conllu, trees_of(text))) == text


@given(sentences(), st.data())
def test_what_is_written_over_a_source_is_read_back(text: str, data: st.DataObject) -> None:
    dtree = tree_of(text)
    n = len(dtree.tokens)
    column = st.lists(CELL, min_size=n, max_size=n).map(tuple)
    tags, labels = data.draw(column), data.draw(column)
    heads = tuple(data.draw(st.lists(st.integers(0, n), min_size=n, max_size=n)))
    changed = DTree(replace(dtree.tokens, tags=tags), heads, labels=labels)
    again = tree_of(format_conllu(changed))
    assert again.heads == heads and again.labels == labels
    assert again.tokens.forms == dtree.tokens.forms and again.tokens.comments == dtree.tokens.comments
    assert again.tokens.tags == tags or set(tags) == {"_"}


def test_parse_keeps_columns_though_parser_and_tagger_do_not() -> None:
    dtree = tree_of(CATS)
    given_ = Sentence(replace(dtree.tokens, tags=("",) * 4), dtree=dtree)
    parsed = replace(given_, dtree=replace(dtree, tokens=Tokens(dtree.tokens.forms, dtree.tokens.tags)))
    assert OUTPUTS["conllu"].text(parsed) == CATS


def test_combine_keeps_columns(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(CATS)
    (tmp_path / "b.conllu").write_text(CATS.replace("\t4\tadvmod\t", "\t2\tadvmod\t"))
    combined = run("combine", tmp_path / "a.conllu", tmp_path / "a.conllu", tmp_path / "b.conllu")
    assert combined == CATS.replace("\t_\t_\t4:cop", "\t1\t_\t4:cop")  # each word has a head now


def test_a_treebank_of_ud_is_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "x.conllu"
    path.write_text(CATS * 3 + UPOS_ONLY)
    assert len([*read_conllu(path)]) == 4
    run("convert", path, tmp_path / "y.conllu.gz")
    assert run("convert", tmp_path / "y.conllu.gz", "-") == path.read_text()
