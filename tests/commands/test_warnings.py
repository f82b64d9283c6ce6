"""What is no error, but hardly meant: head tables of other treebanks, CoNLL-U without tags."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from d2c.commands.cli import cli
from d2c.training.spec import TrainingSpec
from d2c.training.train import train_models
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.heads import Uncovered, load_head_rules

TREES = 19 * "(TOP (S (NP (DT the) (NN cat)) (VP (VBD slept) (RB well))))\n"  # 57 nodes with several children
ODD = "(TOP (ODD (A a) (B b)))\n"


def warning(path: Path, share: str) -> str:
    table = f"the head table collins has no rule for {share} of the nodes with several children"
    return f"{path}: {table}; `d2c heads` shows their labels, --head-rules names another table"


def run(*arguments: str | Path) -> Result:
    done = CliRunner().invoke(cli, list(map(str, arguments)))
    assert done.exit_code == 0, done.exception
    return done


@pytest.mark.parametrize(("odd", "share"), [(3, None), (4, "6.56 %")])
def test_a_table_of_another_treebank(tmp_path: Path, odd: int, share: str | None) -> None:
    path = tmp_path / "x.mrg"
    path.write_text(TREES + odd * ODD)
    expected = warning(path, share) + "\n" if share else ""
    for jobs in ("1", "2"):
        assert run("encode", path, "-o", tmp_path / "x", "--jobs", jobs).stderr == expected
    assert run("encode", path, "-o", tmp_path / "x", "--head-rules", "leftmost").stderr == ""


def test_training_warns_too(tmp_path: Path) -> None:
    path, said = tmp_path / "x.mrg", list[object]()
    path.write_text(TREES + 9 * ODD)
    train_models(TrainingSpec.of(path, path, dparser="gold"), [tmp_path / "model"], said.append)
    assert warning(path, "13.64 %") in said


def test_unary_nodes_need_no_rule() -> None:
    uncovered, rules = Uncovered(), load_head_rules("collins")
    ctree = parse_bracket("(TOP (ODD (ODD (A a)) (B b)))")
    headed = rules.apply(ctree)
    assert [rules.headed(tree, uncovered) for tree in (ctree, headed)] == [headed, headed]
    assert (uncovered.nodes, uncovered.without) == (1, 1)
    assert (uncovered + Uncovered(19, 0)).warning("collins", "x") is None  # 5 % are not more than 5 %


@pytest.mark.parametrize("target", ["x.mrg", "x.export"])
def test_conllu_without_tags(tmp_path: Path, target: str) -> None:
    path, row = tmp_path / "x.conllu", "1\ta\t_\t{0}\t{0}\t_\t0\troot\t_\t_\n\n"
    path.write_text(row.format("_") + row.format("A") + row.format("_"))
    said = run("decode", path, "-o", tmp_path / target).stderr.splitlines()
    assert said[1:] == [
        f"{path}: 2 sentences without tags, in XPOS or UPOS; a model needs them for unary nodes and repairs"
    ]
    path.write_text(row.format("A"))
    assert len(run("decode", path, "-o", tmp_path / target).stderr.splitlines()) == 1


def test_labels_of_words_that_are_sentences(tmp_path: Path) -> None:
    """Of spines they have no numbers."""
    (tmp_path / "x.mrg").write_text("(TOP (FRAG (NN x)))\n" * 200)
    run("encode", tmp_path / "x.mrg", "-o", tmp_path / "x.conllu", "--encoding", "spine")
    said = run("decode", tmp_path / "x.conllu", "-o", tmp_path / "y", "--encoding", "spine").stderr
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("written", ["direct", "delta", "spine"])
def test_labels_of_another_encoding(tmp_path: Path, written: str) -> None:
    """They are named, whether one process decodes (export) or several; not those of a few that fit both."""
    trees, conllu = tmp_path / "x.mrg", tmp_path / "x.conllu"
    trees.write_text(TREES.replace("(NN cat)", "(JJ old) (NN cat)"))
    run("encode", trees, "-o", conllu, "--encoding", written)
    for read in ("direct", "delta", "spine"):
        unsure = written == "direct" and read == "delta"  # of 76 labels
        named = f"{conllu}: its labels look like those of the encoding {written}, but were read as {read}"
        for target in ("y.mrg", "y.export"):
            _, *said = run("decode", conllu, "-o", tmp_path / target, "--encoding", read).stderr.splitlines()
            assert said == ([] if read == written or unsure else [named])
    conllu.write_text(2 * re.sub(r"#\d", "", conllu.read_text()))  # as of a parser with its own labels
    said = run("decode", conllu, "-o", tmp_path / "y", "--encoding", written).stderr
    assert said.endswith("labels are not those of `d2c encode`: they say nothing of phrases\n")
    run("encode", trees, "-o", conllu, "--encoding", written)
    if written == "direct":
        conllu.write_text(2 * conllu.read_text())
        assert (
            "were read as delta" in run("decode", conllu, "-o", tmp_path / "y", "--encoding", "delta").stderr
        )
