"""`d2c compare --test`: all is chosen on dev, all figures are of the test treebank."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from d2c.base.errors import ModelError
from d2c.commands.cli import cli
from d2c.models.model import Model
from d2c.trees.formats.brackets import read_brackets, save_brackets
from d2c.trees.scores.brackets import bracket_scores
from tests.pages import Page

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
OPTIONS = ("--dparser", "transition", "--epochs", "2", "--chart-epochs", "2")
ROUTES = ("--route", "reduction", "--route", "cky")


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("parts")
    for part, count in (("train", 60), ("dev", 20), ("test", 20)):
        save_brackets(islice(read_brackets(SAMPLE / f"{part}.mrg"), count), directory / f"{part}.mrg")
    return {part: directory / f"{part}.mrg" for part in ("train", "dev", "test")}


def compared(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["compare", *map(str, arguments)])


def rows(run: Result) -> list[list[str]]:
    assert run.exit_code == 0, run.output or run.exception
    return [line.split() for line in run.stdout.split("\n\n")[0].splitlines()]


def test_chosen_on_dev_and_scored_on_test(parts: dict[str, Path], tmp_path: Path) -> None:
    files, models = (parts["train"], parts["dev"]), [tmp_path / "without", tmp_path / "with"]
    on_dev = rows(compared(*files, *OPTIONS, *ROUTES, "-o", models[0]))
    run = compared(*files, *OPTIONS, *ROUTES, "-o", models[1], "--test", parts["test"])
    on_test = rows(run)
    assert on_test[0][:10] == [
        *("route", "d-trees", "UAS", "LAS", "recall", "prec.", "F1"),
        "dev",
        "F1",
        "exact",
    ]
    assert [row[:2] for row in on_test[2:]] == [row[:2] for row in on_dev[2:]]
    assert [row[7] for row in on_test[2:]] == [row[6] for row in on_dev[2:]]  # F1 on dev
    gold = list(read_brackets(parts["test"], clean=True))
    for name, row in (("reduction", on_test[4]), ("cky", on_test[5])):
        for one, other in zip(*(sorted((model / name).rglob("*.*")) for model in models), strict=True):
            assert one.name == other.name and one.read_bytes() == other.read_bytes()
        guess = Model.load(models[1] / name).parse(ctree.tokens for ctree in gold)
        assert row[:2] == [name, "transition"] and row[6] == f"{bracket_scores(gold, guess).f1:.2f}" != row[7]
    said = "All figures but dev F1 are of the test treebank; everything was chosen on dev."
    assert run.stdout.endswith(f"{said}\n") and "Holm's correction for 2 comparisons" in run.stdout
    report = Page((models[1] / "report.html").read_text(encoding="utf-8"))
    assert report.tables["table"][1:] == on_test[2:]
    assert len(report.data["sentences"]) == 20
    assert {tuple(s["w"]) for s in report.data["sentences"]} == {ctree.tokens.forms for ctree in gold}


def test_a_test_treebank_that_cannot_be_scored(parts: dict[str, Path], tmp_path: Path) -> None:
    bad, files, place = tmp_path / "bad.mrg", (parts["train"], parts["dev"]), tmp_path / "m"
    bad.write_text("(S (A a)\n")
    run = compared(*files, *OPTIONS, "-o", place, "--test", bad)
    assert run.exit_code and str(run.exception).startswith(f"{bad}:1: ")
    message = "the d-parser gold has the d-trees of one treebank; give that as DEV, and leave out --test"
    for dparser in ("gold", "transition,gold"):
        run = compared(*files, "--dparser", dparser, "-o", place, "--test", parts["test"])
        assert str(run.exception) == message and not place.exists()


def test_what_is_wrong_with_another_d_parser_is_said_before_the_first_is_trained(
    parts: dict[str, Path], tmp_path: Path
) -> None:
    files, place = (parts["train"], parts["dev"]), tmp_path / "m"
    (place / "spacy").mkdir(parents=True)
    (place / "spacy" / "model.json").write_text("{}")
    run = compared(*files, "--dparser", "transition,spacy", "-o", place)
    assert str(run.exception) == f"{place / 'spacy'}: is a model already; --overwrite replaces it"
    assert [path.name for path in place.iterdir()] == ["spacy"]


def test_two_d_parsers_of_one_kind(parts: dict[str, Path], tmp_path: Path) -> None:
    """Each has rows of its own, and votes; one that is named in two ways is refused."""
    files, place = (parts["train"], parts["dev"], *ROUTES, *OPTIONS[2:]), tmp_path / "m"
    run = compared(*files, "--dparser", "transition:eager,transition")
    names = [row[1] for row in rows(run)[2:] if row[0] in ("reduction", "voted")]
    assert names == ["gold", "transition:eager", "transition", "transition:eager+transition"]
    run = compared(*files, "--dparser", "transition:standard,transition", "-o", place)
    assert isinstance(run.exception, ModelError) and not place.exists()


def test_packed_arcs_are_those_of_the_first_d_parser(parts: dict[str, Path], tmp_path: Path) -> None:
    """Others have single d-trees, and need not give packed arcs; nor does the first route take them."""
    options = ("--arcs", "packed", "--dparser", "transition,spacy", "--preset", "small", *OPTIONS[2:])
    run = compared(parts["train"], parts["dev"], *options, *ROUTES, "-o", tmp_path / "m")
    names = [(row[0], row[1]) for row in rows(run)[2:]]
    assert ("cky", "packed") in names and ("reduction", "spacy") in names
