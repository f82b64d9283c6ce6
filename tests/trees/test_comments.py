"""Comments on sentences survive from format to format, as far as formats hold them."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner

from d2c.commands.cli import cli
from d2c.parsing.output import OUTPUTS
from d2c.parsing.sentence import Sentence
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.export import write_export
from d2c.trees.formats.registry import read_treebank

COMMENTS = ("newpar", "sent_id = weblog-1", "text = They slept.", "")
TOKENS = Tokens(("They", "slept"), ("PRP", "VBD"), comments=COMMENTS)
ROWS = "1\tThey\t_\tPRP\tPRP\t_\t2\tS#1\t_\t_\n2\tslept\t_\tVBD\tVBD\t_\t0\troot\t_\t_\n\n"


def run(*arguments: str | Path) -> str:
    done = CliRunner().invoke(cli, list(map(str, arguments)))
    assert done.exit_code == 0, done.exception
    return done.stdout


@pytest.fixture
def conllu(tmp_path: Path) -> Path:
    path = tmp_path / "x.conllu"
    path.write_text("# newpar\n# sent_id = weblog-1\n#text = They slept.\n#\n" + ROWS + ROWS)
    return path


def test_conllu(conllu: Path) -> None:
    first, second = read_conllu(conllu)
    assert (first.tokens.comments, second.tokens.comments) == (COMMENTS, ())
    assert first == second  # comments are no part of what is compared
    before = conllu.read_text()
    run("convert", conllu, conllu)
    assert conllu.read_text() == before


def test_irregular_sentences_have_comments(tmp_path: Path) -> None:
    path = tmp_path / "x.conllu"
    path.write_text("# a = b\n1-2\tx\t_\t_\t_\t_\t_\t_\t_\t_\n" + ROWS)
    (dtree,) = read_conllu(path)
    assert dtree.tokens.comments == ("a = b",)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("x.export", list(COMMENTS)),
        ("x.tiger.xml", list(COMMENTS)),
        ("x.mrg", []),
        ("x.alpino.xml", ["sent_id = weblog-1"]),
    ],
)
def test_decode_and_encode(conllu: Path, tmp_path: Path, name: str, kept: list[str]) -> None:
    run("decode", conllu, "-o", tmp_path / name)
    encoded = run("encode", tmp_path / name, "--head-rules", "rightmost")
    assert encoded.startswith("".join(f"# {comment}\n" for comment in kept) + ROWS)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("x.export", "sent_id=weblog-1"),
        ("x.tiger.xml", "sent_id=weblog-1"),
        ("x.alpino.xml", "sent_id = weblog-1"),
    ],
)
def test_an_id_without_blanks_is_an_id(tmp_path: Path, name: str, kept: str) -> None:
    """It is the only one, whatever number its sentence has in the file."""
    path = tmp_path / "x.conllu"
    path.write_text("#sent_id=weblog-1\n" + ROWS)
    run("decode", path, "-o", tmp_path / name)
    text = (tmp_path / name).read_text().replace("#BOS 1", "#BOS 7").replace("#EOS 1", "#EOS 7")
    (tmp_path / name).write_text(text)
    (ctree,) = read_treebank(tmp_path / name)
    assert ctree.tokens.comments == (kept,)


def test_export_has_comments_on_the_line_bos(tmp_path: Path) -> None:
    path = tmp_path / "x.export"
    path.write_text(
        "#FORMAT 3\n%% word\ttag\n#BOS 1 0 %% a = b %%of 1\nw\tA\t--\t--\t0 %% of w\n#EOS 1\n"
        "#BOS 2\nw\tA\t--\t--\t0\n#EOS 2\n"
    )
    assert [ctree.tokens.comments for ctree in read_treebank(path)] == [("edited = 0", "a = b", "of 1"), ()]


def test_no_comment_breaks_lines() -> None:
    tokens = Tokens(("a",), ("A",), comments=("x = y\n#BOS 2\r\u2028z",))
    stream = StringIO()
    write_export([CTree(tokens, (), ())], stream)
    assert stream.getvalue().splitlines()[1] == "#BOS 1 %% x = y #BOS 2 z"


def test_parse_keeps_comments_though_a_tagger_does_not() -> None:
    bare = Tokens(TOKENS.forms, TOKENS.tags)
    dtree, ctree = DTree(bare, (2, 0), labels=("S#1", "root")), CTree(bare, ("S",), ((0, 1),), (1,))
    parsed = Sentence(TOKENS, dtree=dtree, ctree=ctree)
    assert (
        OUTPUTS["conllu"].text(parsed) == "# newpar\n# sent_id = weblog-1\n# text = They slept.\n# \n" + ROWS
    )
    assert json.loads(OUTPUTS["json"].text(parsed))["comments"] == list(COMMENTS)


NUMBERED = """#BOS 17 2 890 1 %% from a letter
w\tA\t--\t--\t0
#EOS 17
#BOS 2 0 -- x
w\tA\t--\t--\t0
#EOS 2
#BOS 5 %% sent_id = a b
w\tA\t--\t--\t0
#EOS 5
"""
SAID = [
    ("sent_id = 17", "edited = 2 890 1", "from a letter"),
    ("edited = 0 -- x",),
    ("sent_id = a b",),
]


def test_numbers_of_export_and_ids_that_xml_does_not_have(tmp_path: Path) -> None:
    """A number that is not the sentence's place is its id; Alpino XML keeps ids, the others all comments."""
    path = tmp_path / "x.export"
    path.write_text(NUMBERED)
    assert [one.tokens.comments for one in read_treebank(path)] == SAID
    run("convert", path, tmp_path / "x.tiger.xml")
    assert '<s id="s1" comment.1="sent_id = 17" edited="2 890 1"' in (tmp_path / "x.tiger.xml").read_text()
    run("convert", tmp_path / "x.tiger.xml", tmp_path / "y.export")
    first, second, third = (one.tokens.comments for one in read_treebank(tmp_path / "y.export"))
    assert {*first} == {*SAID[0]} and second == ("sent_id = s2", *SAID[1]) and third == SAID[2]
    assert (tmp_path / "y.export").read_text().splitlines()[1].startswith("#BOS 1 2 890 1 %% ")
    run("convert", path, tmp_path / "x.alpino.xml")
    ids = [one.tokens.comments for one in read_treebank(tmp_path / "x.alpino.xml")]
    assert ids == [("sent_id = 17",), ("sent_id = 2",), ("sent_id = a b",)]
