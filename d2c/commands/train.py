"""`d2c train`: a model of one route."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from d2c.commands.options import (
    FilePath,
    Sectioned,
    choice,
    preset_option,
    training_options,
    trees_argument,
)
from d2c.commands.progress import Heartbeat
from d2c.models.word_cuts import WITHOUT_BLANKS
from d2c.routes.registry import ROUTES
from d2c.training.spec import TrainingSpec
from d2c.training.train import train_models
from d2c.trees.formats.reading import Reading


@click.command(cls=Sectioned)
@trees_argument
@click.option(
    "--dev",
    type=FilePath,
    multiple=True,
    required=True,
    help="A treebank on which the best model is selected; may be repeated.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, help="The directory for the model."
)
@preset_option("default")
@choice(
    "--route",
    ROUTES,
    "reduction",
    "How d-trees become c-trees: reduction decodes their labels; labeler first has a second model predict "
    "these labels; cky searches for the best c-tree that a grammar allows; combined keeps what labeler and "
    "cky agree on; rules, a baseline, replaces arcs by the pieces of trees that are most frequent for them.",
)
@training_options()
def train(
    trees: tuple[Path, ...], dev: tuple[Path, ...], output: Path, route: str, reading: Reading, **options: Any
) -> None:
    """Train a d-parser and a route on treebanks of any format. Traces and function tags are removed, except
    with --raw."""
    language = options["language"]
    if language and language not in WITHOUT_BLANKS:
        from d2c.parsing.rules import language_rules

        language_rules(language)  # before hours of training
    files = reading.files(trees), reading.files(dev)
    with Heartbeat() as heartbeat:
        if options["tagger"] and not options["language"] and options["head_rules"] != "collins":
            heartbeat.say(
                "this model will split text by rules for English; give --language for another language"
            )
        spec = TrainingSpec.of(*files, (route,), reading, **options)
        train_models(spec, [output], heartbeat.say)
        heartbeat.say(f"{output}: trained")
