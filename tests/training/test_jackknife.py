"""Jackknifing: which sentences a fold learns from; and the two-stage route with it, with a real d-parser."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Self

import pytest
from click.testing import CliRunner

from d2c.commands.cli import cli
from d2c.models.model import Model
from d2c.protocols.dparser import DependencyParser
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.training.jackknife import jackknife_dtrees
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import read_brackets, save_brackets
from d2c.trees.formats.conllu import read_conllu, write_conllu

SAMPLE = Path(__file__).parents[2] / "data" / "sample"


class Witness(DependencyParser):
    """A d-parser that labels words with the number of sentences it has learned from, known words `seen`."""

    def __init__(self) -> None:
        self.known: list[Tokens] = []

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: object = None) -> Self:
        self.known = [dtree.tokens for dtree in read_conllu(train_conllu)]
        assert next(read_conllu(dev_conllu)).tokens.forms == ("dev",)
        return self

    @classmethod
    def load(cls, directory: Path) -> Self:
        raise NotImplementedError

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        for tokens in sentences:
            label = "seen" if tokens in self.known else str(len(self.known))
            yield DTree(tokens, (0,), labels=(label,))


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    train, dev = tmp_path / "train.conllu", tmp_path / "dev.conllu"
    for file, words in ((train, [f"w{i}" for i in range(7)]), (dev, ["dev"])):
        with open(file, "w", encoding="utf-8") as stream:
            write_conllu((DTree(Tokens((word,), ("NN",)), (0,), labels=("root",)) for word in words), stream)
    return train, dev


@pytest.mark.parametrize(
    ("folds", "labels"), [(2, "4 4 4 3 3 3 3"), (3, "5 5 5 5 4 4 4"), (7, "6 6 6 6 6 6 6")]
)
def test_each_sentence_is_parsed_by_what_learned_from_the_others(
    folds: int, labels: str, files: tuple[Path, Path]
) -> None:
    said: list[object] = []
    parsed = list(jackknife_dtrees(Witness(), list(read_conllu(files[0])), files[1], folds, said.append))
    assert [dtree.tokens.forms for dtree in parsed] == [(f"w{i}",) for i in range(7)]
    assert " ".join((dtree.labels or ())[0] for dtree in parsed) == labels
    assert said == [f"jackknife: d-parser {fold} of {folds}" for fold in range(1, folds + 1)]


@pytest.mark.parametrize("folds", [1, 8])
def test_too_few_folds_or_sentences(folds: int, files: tuple[Path, Path]) -> None:
    with pytest.raises(ValueError, match=f"^7 sentences cannot be cut into {folds} parts for jackknifing$"):
        list(jackknife_dtrees(Witness(), list(read_conllu(files[0])), files[1], folds))


@pytest.mark.parametrize("route", ["labeler", "combined"])
def test_spines_are_refused_before_folds_are_trained(tmp_path: Path, route: str) -> None:
    treebanks = [str(SAMPLE / "train.mrg"), "--dev", str(SAMPLE / "dev.mrg"), "-o", str(tmp_path / "model")]
    options = ["--route", route, "--encoding", "spine", "--jackknife", "2", "--dparser", "gold"]
    run = CliRunner().invoke(cli, ["train", *treebanks, *options])
    assert str(run.exception) == (
        f"--jackknife with the route {route}: "
        "spines do not fit predicted heads; take the direct or delta encoding"
    )
    assert "reading" not in run.output and "sentences" not in run.output  # nothing was read


@pytest.mark.slow
def test_two_stages_jackknifed_from_the_command_line(tmp_path: Path) -> None:
    treebanks = [str(tmp_path / f"{part}.mrg") for part in ("train", "dev")]
    for part, file, count in zip(("train", "dev"), treebanks, (100, 20), strict=True):
        save_brackets(islice(read_brackets(SAMPLE / f"{part}.mrg"), count), file)
    options = ["--dparser", "transition", "--epochs", "1", "--jackknife", "2", "-o", str(tmp_path / "models")]
    routes = ["--route", "reduction", "--route", "labeler"]
    run = CliRunner().invoke(cli, ["compare", *treebanks, *options, *routes])
    assert run.exit_code == 0, run.output
    trained = Model.load(tmp_path / "models" / "labeler")
    assert isinstance(trained.route, TwoStage)
    assert trained.route.labeler_.stacked_
    trees = list(read_brackets(treebanks[1], clean=True))
    assert [ctree.tokens for ctree in trained.parse(tree.tokens for tree in trees)] == [
        t.tokens for t in trees
    ]
    rows = [line.split() for line in run.output.splitlines()]
    known = [[route, source] for source in ("gold", "transition") for route in ("reduction", "labeler")]
    rows = [row for row in rows if row[:2] in known]
    assert [row[:2] for row in rows] == known
    assert rows[0][2:4] == ["100.00", "100.00"]
    assert rows[1][2] == "100.00" and float(rows[1][3]) < 100  # the labeler is not told gold labels
    assert "d-parser trained in" in run.output
