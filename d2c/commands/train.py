"""`d2c train`: a model of one route."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from d2c.commands.options import FilePath, new_dparser, new_route, new_tagging, training_options
from d2c.commands.terminal import say
from d2c.training.model import ROUTES, Model
from d2c.treebanks.reading import Reading


@click.command()
@click.argument("trees", type=FilePath)
@click.option("--dev", type=FilePath, required=True, help="Treebank that selects the best model.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Model directory.")
@click.option("--preset", type=click.Choice(["default", "small"]), default="default", show_default=True)
@click.option("--route", type=click.Choice(ROUTES), default="reduction", show_default=True)
@click.option("--checkpoints", type=click.Path(path_type=Path), help="Directory; cky goes on from there.")
@training_options
def train(
    trees: Path,
    dev: Path,
    output: Path,
    route: str,
    checkpoints: Path | None,
    reading: Reading,
    **options: Any,
) -> None:
    """Trains a d-parser and a route on a treebank of any format; traces and function tags are removed."""
    new = new_route(route, options, checkpoints)
    dparser, tagging, folds = new_dparser(options), new_tagging(options), options["folds"] or 0
    Model.train(route, new, *dparser, trees, dev, output, say, reading, tagging, folds)
    say(f"{output}: trained")
