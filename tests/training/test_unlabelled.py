"""`d2c train --unlabelled`: a d-parser that learns heads alone, the first of two stages (section 4.2)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from d2c.base.errors import ModelError
from d2c.commands.cli import cli
from d2c.models.model import Model
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import format_bracket, read_brackets

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample"


def part(name: str, size: int) -> list[CTree]:
    return list(islice(read_brackets(SAMPLE / f"{name}.mrg", clean=True), size))


def written(ctrees: Iterable[CTree], path: Path) -> Path:
    path.write_text("".join(f"{format_bracket(ctree)}\n" for ctree in ctrees), encoding="utf-8")
    return path


def train(directory: Path, *options: str) -> Result:
    files = (written(part(name, 60), directory / f"{name}.mrg") for name in ("train", "dev"))
    train, dev = map(str, files)
    command = ["train", train, "--dev", dev, "-o", str(directory / "model"), "--dparser", "transition"]
    return CliRunner().invoke(cli, [*command, "--preset", "small", "--epochs", "2", "--unlabelled", *options])


@pytest.mark.parametrize(
    "options",
    [
        ("labeler",),
        ("labeler", "--jackknife", "2"),
        ("labeler", "--no-constrained"),
        ("cky", "--chart-epochs", "1"),
    ],
)
def test_the_dparser_learns_heads_alone(tmp_path: Path, options: tuple[str, ...]) -> None:
    result = train(tmp_path, "--route", *options)
    assert result.exit_code == 0, result.output
    model = Model.load(tmp_path / "model")
    gold = part("dev", 20)
    (*dtrees,) = model.dparser.parse(ctree.tokens for ctree in gold)
    assert {label for dtree in dtrees for label in dtree.labels or ()} == {"dep", "root"}
    parsed = list(model.route.decode_all(dtrees))
    assert len({label for ctree in parsed for label in ctree.labels}) > 5  # phrases come from the route


@pytest.mark.parametrize(("options", "route"), [(("reduction",), "reduction"), (("cky", "--labels"), "cky")])
def test_routes_that_need_labels_refuse(tmp_path: Path, options: tuple[str, ...], route: str) -> None:
    result = train(tmp_path, "--route", *options)
    assert isinstance(result.exception, ModelError)
    assert str(result.exception) == f"--unlabelled leaves the route {route} no labels, which it needs"
    assert not (tmp_path / "model").exists()
