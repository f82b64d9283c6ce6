"""`d2c encode`: c-trees to CoNLL-U."""

from __future__ import annotations

from pathlib import Path

import click

from d2c.base.inputs import names_of
from d2c.commands.options import (
    check_dtrees,
    encoding_option,
    jobs_option,
    output_option,
    treebank_options,
    trees_argument,
)
from d2c.commands.progress import shown
from d2c.commands.terminal import say
from d2c.reduction.reduction import Reduction
from d2c.routes.coding import Encode, Statistics, code_files
from d2c.trees.formats.reading import Reading
from d2c.trees.heads import Uncovered, load_head_rules


@click.command()
@trees_argument
@output_option
@encoding_option
@treebank_options
@click.option(
    "--stats", is_flag=True, help="Print counts of labels, unary nodes, crossing arcs, ... on standard error."
)
@jobs_option
def encode(
    trees: tuple[Path, ...],
    output: Path,
    encoding: str,
    head_rules: str,
    reading: Reading,
    stats: bool,
    jobs: int,
) -> None:
    """Encode c-trees as d-trees in CoNLL-U; `d2c decode` restores c-trees from their labels (DEPREL)."""
    check_dtrees(output)
    code = Encode(Reduction(encoding, head_rules), load_head_rules(head_rules), reading, stats)
    statistics, uncovered, files = Statistics(), Uncovered(), reading.files(trees)
    coded = code_files(code, reading.batches(files), files, output, jobs, reading.faults)
    for batch in shown(coded, "batches", f"encoding {names_of(files)}", files):
        if batch.statistics:
            statistics.add(batch.statistics)
        if batch.uncovered:
            uncovered += batch.uncovered
    if warning := uncovered.warning(head_rules, names_of(files)):
        say(warning)
    if stats:
        say("\n".join(statistics.lines()))
