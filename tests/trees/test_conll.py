"""CoNLL-X and CoNLL-2009 are read as d-trees, whatever their files are called."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from d2c.base.errors import FormatError
from d2c.commands.cli import cli
from d2c.parsing.input import read_sentences
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu

X = (
    "1\tDie\tder\tART\tART-F\tcase=nom\t2\tNK\n"
    "2\tUhr\tUhr\tNN\tNN-F\t_\t3\tSB\n"
    "3\tgeht\tgehen\tV\tVVFIN\t_\t0\tROOT\n"
)
WITH_P = "".join(f"{line}\t_\t_\n" for line in X.splitlines())
PROJECTIVE = WITH_P.replace("3\tSB\t_\t_", "3\tSB\t3\tSB")
BLIND = "".join("\t".join(line.split("\t")[:6]) + "\n" for line in X.splitlines())
X_TREE = DTree(
    Tokens(
        ("Die", "Uhr", "geht"),
        ("ART-F", "NN-F", "VVFIN"),
        ("der", "Uhr", "gehen"),
        ("case=nom", "_", "_"),
    ),
    (2, 3, 0),
    labels=("NK", "SB", "ROOT"),
)
OF_2009 = (
    "1\tShe\tshe\tShe\tPRP\tNN\tnum=sg\t_\t2\t3\tSBJ\tSBJ\t_\t_\tA0\t_\n"
    "2\tleft\tleave\tleave\tVBD\tVBD\t_\t_\t0\t0\tROOT\tROOT\tY\tleave.01\t_\tAM\n"
    "3\tthen\t_\tthen\tRB\tRB\t_\t_\t2\t2\tTMP\tTMP\tY\tthen.01\t_\t_\n"
)
TREE_OF_2009 = DTree(
    Tokens(("She", "left", "then"), ("PRP", "VBD", "RB"), ("she", "leave", "_"), ("num=sg", "_", "_")),
    (2, 0, 2),
    labels=("SBJ", "ROOT", "TMP"),
)
OF_2008 = (
    "1\twell-known\twell-known\tJJ\tJJ\twell\twell\tRB\t3\tAMOD\t_\tAM\n"
    "2\t_\t_\t_\t_\t-\t-\tHYPH\t3\tHYPH\t_\t_\n"
    "3\t_\t_\t_\t_\tknown\tknow\tVBN\t4\tNMOD\tknow.01\t_\n"
    "4\tcat\tcat\tNN\tNN\tcat\tcat\tNN\t0\tROOT\t_\tA1\n"
)
OF_2012 = (
    "#begin document (a/b); part 000\n"
    "a/b 0 0 He PRP (TOP(S(NP*) - - - - * -\na/b 0 1 left VBD (VP*))) - - - - * -\n\n"
)


def read(tmp_path: Path, text: str, name: str = "x.conll") -> list[DTree]:
    path = tmp_path / name
    path.write_text(text)
    return [*read_conllu(path)]


def run(*arguments: str | Path) -> str:
    done = CliRunner().invoke(cli, list(map(str, arguments)))
    assert done.exit_code == 0, done.exception
    return done.stdout


@pytest.mark.parametrize("text", [X, WITH_P, PROJECTIVE])
def test_conllx(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, f"{text}\n{text}") == [X_TREE, X_TREE]
    written = run("convert", tmp_path / "x.conll", "-")
    assert written == (f"{WITH_P}\n" if text == X else f"{text}\n") * 2


def test_files_in_latin1(tmp_path: Path) -> None:
    (tmp_path / "x.conll").write_bytes(X.replace("Uhr", "Übung").encode("latin-1"))
    written = run("convert", "--charset", "latin-1", tmp_path / "x.conll", "-")
    assert written == f"{WITH_P}\n".replace("Uhr", "Übung")
    text = "# constituency = (S (X Ü))\n1\tÜ\t_\tX\tX\t_\t_\t_\t_\t_\n\n"
    (tmp_path / "y.conllu").write_bytes(text.encode("latin-1"))
    assert run("convert", "--charset", "latin-1", tmp_path / "y.conllu", "-") == "(S (X Ü))\n"


def test_conllx_without_heads(tmp_path: Path) -> None:
    (dtree,) = read(tmp_path, BLIND)
    assert (dtree.tokens, dtree.heads, dtree.labels) == (X_TREE.tokens, (-1, -1, -1), ("_", "_", "_"))


def test_conll2009(tmp_path: Path) -> None:
    assert read(tmp_path, f"{OF_2009}\n{X}\n{OF_2009}") == [TREE_OF_2009, X_TREE, TREE_OF_2009]


def test_what_conllu_does_not_hold_is_counted(tmp_path: Path) -> None:
    (tmp_path / "x.conll09").write_text(f"{OF_2009}\n{OF_2009}")
    arguments = ["convert", str(tmp_path / "x.conll09"), "-"]
    done = CliRunner().invoke(cli, arguments)
    assert done.stdout.startswith("1\tShe\tshe\tPRP\tPRP\tnum=sg\t2\tSBJ\t_\t_\n")
    assert done.stderr.splitlines()[-1].endswith(
        "x.conll09: left out: 8 alternative values, 4 arguments of predicates, 4 predicates"
    )
    assert isinstance(CliRunner().invoke(cli, [*arguments, "--strict"]).exception, FormatError)


def test_conll2008(tmp_path: Path) -> None:
    left_out = Counter[str]()
    (tmp_path / "x.conll").write_text(OF_2008)
    (dtree,) = read_conllu(tmp_path / "x.conll", left_out=left_out)
    forms, tags, lemmas = (
        ("well", "-", "known", "cat"),
        ("RB", "HYPH", "VBN", "NN"),
        ("well", "-", "know", "cat"),
    )
    assert dtree == DTree(Tokens(forms, tags, lemmas), (3, 3, 4, 0), labels=("AMOD", "HYPH", "NMOD", "ROOT"))
    assert +left_out == {"alternative values": 4, "predicates": 1, "arguments of predicates": 2}


def test_predicted_columns_where_there_are_no_others(tmp_path: Path) -> None:
    rows = [line.split("\t") for line in OF_2009.splitlines()]
    for row in rows:
        row[2] = row[4] = row[8] = row[10] = "_"
    (dtree,) = read(tmp_path, "".join("\t".join(row) + "\n" for row in rows))
    assert dtree.tokens.lemmas == ("She", "leave", "then")
    assert dtree.tokens.tags == ("NN", "VBD", "RB") and dtree.heads == (3, 0, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            X + "4\t.\t_\t_\n",
            "4: sentence 1: expected the 8 columns of CoNLL-X, as in the first row, found 4",
        ),
        (
            f"{X}\n# c\n{OF_2009}4\t.\n",
            "9: sentence 2: expected the 14 or more columns of CoNLL-2009, as in the first row, found 2",
        ),
        (
            X.replace("2\tUhr", "# c\n2\tUhr"),
            "2: sentence 1: a line that begins with # is a comment, which stands before the first token: "
            "move it there",
        ),
        (X.replace("3\tgeht", "5\tgeht"), "3: sentence 1: expected the id 3, found '5'"),
        (X.replace("\t3\tSB", "\tx\tSB"), "2: sentence 1: the head 'x' is no number"),
        (
            OF_2012,
            "2: sentence 1: this is CoNLL-2012, which has c-trees, not d-trees; "
            "`d2c encode` makes d-trees of them",
        ),
    ],
)
def test_errors(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError) as error:
        read(tmp_path, text)
    assert str(error.value) == f"{tmp_path / 'x.conll'}:{message}"


def test_parse_reads_them(tmp_path: Path) -> None:
    for name, text, dtree in (("x.conll", X, X_TREE), ("y.conll", OF_2009, TREE_OF_2009)):
        (tmp_path / name).write_text(text)
        (sentence,) = read_sentences(tmp_path / name, "conllu")
        assert sentence.dtree == dtree


def test_commands_read_them(tmp_path: Path) -> None:
    (tmp_path / "x.conll").write_text(X)
    (tmp_path / "y.conllu").write_text(WITH_P)
    scores = run("evaluate", "--metric", "attachment", tmp_path / "x.conll", tmp_path / "y.conllu")
    assert "100.00" in scores
    assert run("combine", tmp_path / "x.conll", tmp_path / "y.conllu") == f"{WITH_P}\n"
    assert run("decode", tmp_path / "x.conll").startswith("(")
