"""Broken input and broken models: valid trees and one-line errors, never anything else.

    python scripts/fuzz.py [--inputs 20000] [--patterns 5000] [--models 7000] [--runs 2000] [--writers 400]
        [--seed N] [--replay DIRECTORY]

Inputs of every kind go through the commands, patterns are searched in random trees, files of every model are
broken and loaded, jobs are fed with bytes and go on from edited manifests, streams are left open, two
commands write one output. What fails is kept, and `--replay` tries it again.
"""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import astuple, fields
from pathlib import Path
from random import SystemRandom

import click
import torch

from benchmarks.shared import FilePath, print_table
from d2c.models.model import Model
from fuzzing import corpora, fitted, frame, inputs, models, patterns, writers


@click.command()
@click.option("--inputs", default=20_000, show_default=True, help="The number of broken inputs.")
@click.option("--patterns", default=5_000, show_default=True, help="The number of search patterns.")
@click.option(
    "--models",
    default=7_000,
    show_default=True,
    help="The number of broken model files, and at most as many extreme values of their fields.",
)
@click.option("--runs", default=2_000, show_default=True, help="The number of jobs and streams (four kinds).")
@click.option(
    "--writers",
    default=400,
    show_default=True,
    help="The number of pairs of commands that write one output (eight kinds).",
)
@click.option("--seed", type=int, help="The random seed.  [default: another one each time]")
@click.option("--jobs", default=os.cpu_count() or 1, show_default="all cores", help="How many processes.")
@click.option(
    "--failures",
    type=FilePath,
    default="fuzz-failures",
    show_default=True,
    help="A directory in which to keep what fails.",
)
@click.option("--trained", type=FilePath, help="Keep the models here, and use those that are already here.")
@click.option("--replay", type=FilePath, help="Run again what was kept in this directory.")
def main(
    seed: int | None,
    jobs: int,
    failures: Path,
    trained: Path | None,
    replay: Path | None,
    **counts: int,
) -> None:
    """Try broken input and broken models, and print a table of the outcomes for each group."""
    seed = SystemRandom().randrange(1 << 31) if seed is None else seed
    click.echo(f"seed {seed}")
    torch.set_num_threads(1)  # OpenMP's threads do not survive a fork
    with tempfile.TemporaryDirectory() as scratch:
        directory = trained or Path(scratch)
        for path in fitted.trained(directory):
            click.echo(f"{path.name}: trained", err=True)
        model = Model.load(directory / next(iter(fitted.MODELS)))
        wanted = [
            (models.group(directory), counts["models"]),
            (models.group_of_extremes(models.with_bundled(directory)), counts["models"]),
            (inputs.group(model), counts["inputs"]),
            (patterns.group(), counts["patterns"]),
            (corpora.group(model), counts["runs"]),
            (writers.group(model), counts["writers"]),
        ]
        if replay:
            click.echo("\n".join(frame.replay(replay, [group for group, _ in wanted], jobs)))
            return
        failed = False
        for group, count in wanted:
            if rows := frame.try_all(group, seed, count, jobs, failures):
                print_table([field.name for field in fields(frame.Row)], [*map(astuple, rows)])
            failed = failed or any(row.failures for row in rows)
    sys.exit(failed)


if __name__ == "__main__":
    main()
