"""`d2c compare`: routes side by side on a treebank."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import click

from d2c.base.columns import terminal_width
from d2c.base.files import writing
from d2c.base.temporary import claimed, scratch
from d2c.commands.options import FilePath, Sectioned, check_report, preset_option, training_options
from d2c.commands.progress import Heartbeat
from d2c.commands.terminal import show
from d2c.routes.dparsers import DPARSERS
from d2c.routes.registry import ROUTES
from d2c.training.spec import TrainingSpec
from d2c.trees.formats.reading import Reading
from d2c.trees.scores.brackets import METRICS


@click.command(cls=Sectioned)
@click.argument("trees", type=FilePath, required=False)
@click.argument("dev", type=FilePath, required=False)
@click.option(
    "--test", type=FilePath, help="A treebank to score on instead of DEV, on which choices are still made."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="A directory in which to keep the models, one for each route.",
)
@preset_option("small")
@click.option(
    "--route",
    "routes",
    type=click.Choice(list(ROUTES)),
    multiple=True,
    default=list(ROUTES),
    help="A route to compare; may be repeated.  [default: all]",
)
@click.option(
    "--metric",
    type=click.Choice(list(METRICS)),
    help="How constituents are counted; evalb and spmrl raise gaps first.  [default: evalb, or disco if "
    "trees have gaps]",
)
@click.option(
    "--best",
    type=click.IntRange(2),
    multiple=True,
    metavar="K",
    help="Add rows for the c-tree nearest to gold among each sentence's K best (an oracle for reranking); "
    "may be repeated.",
)
@click.option(
    "--report",
    type=FilePath,
    help="Write an HTML report to this file.  [default: report.html in the directory of -o, if given]",
)
@training_options("checkpoints", "labels", "unlabelled", "language")
def compare(
    trees: Path | None,
    dev: Path | None,
    output: Path | None,
    routes: tuple[str, ...],
    metric: str | None,
    report: Path | None,
    reading: Reading,
    **options: Any,
) -> None:
    """Train on TREES, score on DEV and print one table. Without arguments, use the bundled sample.

    Each route has a row on gold d-trees (the conversion alone) and one on those of the d-parser, which is
    trained once, on the first route's labels. Another row has the best that constrained CKY could do with
    these d-trees (oracle). With several d-parsers (--dparser, separated by commas) each has rows, and so
    have the votes of two and of three of them. Below the table, p-values show whether routes differ by more
    than chance (Holm's correction). The report has the details: F1 by label and length, classes of errors,
    and the trees of every sentence. With --test, all figures are for that treebank, except for a column with
    F1 on DEV.
    """
    from d2c.experiments.comparison import train_and_compare
    from d2c.experiments.report import write_report
    from d2c.experiments.rows import Scoring, table_lines, table_of

    if trees and not dev:
        raise click.UsageError("give both TREES and DEV, or neither for the bundled sample")
    if output:
        output.parent.mkdir(parents=True, exist_ok=True)
    with (
        resources.as_file(resources.files("d2c.data") / "sample") as sample,
        scratch() as models,
        writing(str(output or models)),
        claimed(output or models),
        Heartbeat() as heartbeat,
    ):
        if report:
            check_report(report)
        given = trees or sample / "train.mrg", dev or sample / "dev.mrg"
        train, tested = (reading.files([path]) for path in given)
        chosen = tuple(name for name in ROUTES if name in routes)
        directory = output or models
        options["dparser"], *others = _several(options["dparser"])
        test, best = options.pop("test"), options.pop("best")
        spec = TrainingSpec.of(train, tested, chosen, reading, **options)
        scored = reading.files([test]) if test else None
        comparison = train_and_compare(spec, directory, heartbeat.say, Scoring(metric, best), others, scored)
        show(table_lines(comparison, terminal_width()))
        if report or output:
            path = report or directory / "report.html"
            write_report(comparison, path, table_of(comparison))
            heartbeat.say(f"report: {path}")


def _several(dparser: str) -> list[str]:
    """Return the d-parsers of --dparser; commands of `cmd:` may have commas in them."""
    names = dparser.split(",")
    return names if all(name.partition(":")[0] in DPARSERS for name in names) else [dparser]
