"""Options of the chart, from the command line to the settings of training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import d2c.commands.train
from d2c.commands.compare import compare
from d2c.commands.train import train
from d2c.routes.registry import RouteSettings
from d2c.training.spec import TrainingSpec

FILES = ["train.mrg", "--dev", "dev.mrg", "-o", "model"]
OPTIONS = [
    "--gamma",
    "0.5",
    "--penalty",
    "1e-8",
    "--binarization",
    "markovized",
    "--max-unaries",
    "0",
    "--symbols",
    "collapsed",
    "--grammar",
    "closed",
    "--chart-epochs",
    "2",
    "--table-bits",
    "12",
    "--arc-labels",
    "cubed",
]
OF_CHART = (
    *("pruning", "gamma", "penalty", "binarization", "max_unaries", "symbols", "grammar"),
    *("chart_epochs", "table_bits", "arc_labels", "labels"),
)


@pytest.fixture(autouse=True)
def treebanks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of the names that are given; nothing reads them."""
    monkeypatch.chdir(tmp_path)
    for name in ("train.mrg", "dev.mrg"):
        Path(name).touch()


def asked(monkeypatch: pytest.MonkeyPatch, *options: str) -> dict[str, Any]:
    """What training is asked for."""
    specs: list[TrainingSpec] = []

    def note(spec: TrainingSpec, _directories: list[Path], _say: object) -> None:
        specs.append(spec)

    monkeypatch.setattr(d2c.commands.train, "train_models", note)
    done = CliRunner().invoke(train, [*FILES, "--route", "cky", *options], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return {name: specs[0].value_of(name) for name in OF_CHART}


def test_options_come_to_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    default = RouteSettings()
    assert asked(monkeypatch) == {name: default.value_of(name) for name in OF_CHART}
    values = ("none", 0.5, 1e-8, "markovized", 0, "collapsed", "closed", 2, 12, "cubed", True)
    expected = dict(zip(OF_CHART, values, strict=True))
    assert asked(monkeypatch, *OPTIONS, "--labels") == expected
    assert asked(monkeypatch, "--no-labels")["labels"] is False


@pytest.mark.parametrize(
    "wrong",
    [
        *(["--gamma", "1.5"], ["--gamma", "nan"], ["--penalty", "-1"], ["--penalty", "inf"]),
        *(["--max-unaries", "101"], ["--max-unaries", "-1"], ["--binarization", "vertical?"]),
        *(["--chart-epochs", "0"], ["--table-bits", "0"], ["--table-bits", "40"]),
    ],
)
def test_what_is_out_of_range_is_one_line(wrong: list[str]) -> None:
    for command, files in ((train, FILES), (compare, ["train.mrg", "dev.mrg"])):
        done = CliRunner().invoke(command, [*files, *wrong])
        *_, message = done.output.strip().splitlines()
        assert done.exit_code == 2 and message.startswith(f"Error: Invalid value for '{wrong[0]}':")


@pytest.mark.parametrize(
    ("option", "users"),
    [
        (["--gamma", "0.5"], "cky and combined"),
        (["--chart-epochs", "2"], "cky and combined"),
        (["--constrained"], "labeler and combined"),
    ],
)
def test_options_of_other_routes_are_one_line(option: list[str], users: str) -> None:
    one, two = ["--route", "reduction"], ["--route", "reduction", "--route", "rules"]
    for done, routes in (
        (CliRunner().invoke(train, [*FILES, *one, *option]), "reduction"),
        (CliRunner().invoke(compare, ["train.mrg", "dev.mrg", *two, *option]), "reduction or rules"),
    ):
        line = f"Error: {option[0]} means nothing for the route {routes}, only for {users}"
        assert (done.exit_code, done.output.strip().splitlines()[-1]) == (2, line)


def test_labels_of_arcs_are_features_of_some_routes() -> None:
    done = CliRunner().invoke(train, [*FILES, "--route", "labeler", "--no-labels"])
    assert "--labels means nothing for the route labeler, only for cky and rules" in done.output
    assert done.exit_code == 2
