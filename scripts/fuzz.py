"""Broken input and broken models: valid trees and one-line errors, never anything else.

    python scripts/fuzz.py [--inputs 20000] [--models 2000] [--runs 2000] [--writers 400] [--seed N]
        [--replay DIRECTORY]

Inputs of every kind go through the commands, files of every model are broken and loaded, jobs are fed with
bytes and go on from edited manifests, streams are left open, two commands write one output. What fails is
kept, and `--replay` tries it again.
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
from fuzzing import corpora, fitted, frame, inputs, models, writers


@click.command()
@click.option("--inputs", "input_count", default=20_000, show_default=True, help="Broken inputs.")
@click.option(
    "--models",
    "model_count",
    default=2_000,
    show_default=True,
    help="Broken files of models, and as many extreme settings.",
)
@click.option(
    "--runs", "job_count", default=2_000, show_default=True, help="Jobs and streams, of four kinds in turn."
)
@click.option(
    "--writers",
    "pair_count",
    default=400,
    show_default=True,
    help="Pairs of commands with one output, of eight kinds in turn.",
)
@click.option("--seed", type=int, help="[default: another one each time]")
@click.option("--jobs", default=os.cpu_count() or 1, show_default="all cores", help="Processes.")
@click.option("--failures", type=FilePath, default="fuzz-failures", show_default=True, help="Kept here.")
@click.option("--trained", type=FilePath, help="Keep the models here; use those that are here already.")
@click.option("--replay", type=FilePath, help="Try again what was kept in this directory.")
def main(
    seed: int | None,
    jobs: int,
    failures: Path,
    trained: Path | None,
    replay: Path | None,
    **counts: int,
) -> None:
    """Try broken input and broken models, and print a table of what came of them."""
    seed = SystemRandom().randrange(1 << 31) if seed is None else seed
    click.echo(f"seed {seed}")
    torch.set_num_threads(1)  # OpenMP's threads do not survive a fork
    with tempfile.TemporaryDirectory() as scratch:
        directory = trained or Path(scratch)
        for path in fitted.trained(directory):
            click.echo(f"{path.name}: trained", err=True)
        model = Model.load(directory / next(iter(fitted.MODELS)))
        groups = [models.group(directory), models.group_of_extremes(directory)]
        groups += [inputs.group(model), corpora.group(model), writers.group(model)]
        if replay:
            click.echo("\n".join(frame.replay(replay, groups, jobs)))
            return
        own = [counts[f"{name}_count"] for name in ("model", "model", "input", "job", "pair")]
        rows = [
            row
            for group, count in zip(groups, own, strict=True)
            for row in frame.try_all(group, seed, count, jobs, failures)
        ]
    print_table([field.name for field in fields(frame.Row)], [*map(astuple, rows)])
    sys.exit(any(row.failures for row in rows))


if __name__ == "__main__":
    main()
