"""What text without trees gives: a d-parser and a c-parser vote on it, and teach the next two.

    python scripts/benchmarks/taught.py [--sentences 5000] [--text 12000] [--dparser finetune:10]
                                        [--cparser finetune:10] [--taught-dparser finetune:4]
                                        [--taught-cparser finetune:3]

Teachers and routes learn from the first sentences of CRAFT's train. Of the text, which comes behind these
and the 500 held-out ones, only words and tags are given. All routes on the d-parser's d-trees and the
c-parser vote on its trees, with weights from the held-out sentences. The voted trees teach where `cky` (over
packed arcs, if the d-parser gives any) and the c-parser have an F1 of at least 0.6 in common, beside each
gold tree twice. First come F1 and exact matches of the voted trees, of all and of those that teach, by the
gold trees of the text. The first table, on all of dev, shows the taught parsers, then the teachers beside
them; the second one the taught d-parser with the c-parser that taught it. Names of parsers, rows and columns
are those of accuracy.py. Both scripts keep what takes long in --models.

About four hours of a core. Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import compress, islice
from pathlib import Path
from typing import Any

import click
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.accuracy import HEADER, REMIXED, Table
from benchmarks.data import Data, mixed
from benchmarks.shared import FilePath, print_table
from d2c.cky.settings import ChartSettings
from d2c.models.model import parsing
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import save_brackets
from experiments.store import StoredStep
from experiments.timing import timed
from models.teaching import Lesson, agreement

TAUGHT = "taught.mrg"


@click.command()
@click.option(
    "--sentences", type=click.IntRange(1), default=5000, show_default=True, help="Sentences of train."
)
@click.option("--text", type=click.IntRange(1), default=12000, show_default=True, help="Sentences of text.")
@click.option("--dparser", default="finetune:10", show_default=True)
@click.option("--cparser", default="finetune:10", show_default=True)
@click.option("--taught-dparser", default="finetune:4", show_default=True)
@click.option("--taught-cparser", default="finetune:3", show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--models", type=FilePath, default="models", show_default=True, help="Keep everything here.")
def main(
    models: Path, text: int, dparser: str, cparser: str, taught_dparser: str, taught_cparser: str, **of: Any
) -> None:
    """Print the tables."""
    torch.set_num_threads(1)
    chart: dict[str, Any] = {"grammar": "closed", "table_bits": ChartSettings().table_bits}
    data = Data(models, tags="gold", folds=None, every=1, **of, **chart)
    voted = vote(data, dparser, cparser, text)
    for what, facts in voted.facts.items():
        print(f"{what}: {facts}", flush=True)
    taught = data.taught(voted.directory / TAUGHT)
    pupil = taught.parsed(taught_dparser)._replace(name=f"taught {taught_dparser}")
    first = data.cparser(cparser), cparser
    for of_pair in ((taught.cparser(taught_cparser), f"taught {taught_cparser}"), first):
        table = Table(data)
        table.converted(pupil, taught_dparser)
        table.constituents(*of_pair)
        table.mixed(REMIXED, taught_dparser)
        if of_pair != first:
            table.converted(data.parsed(dparser), dparser)
            table.constituents(*first)
        print_table(HEADER, list(table.lines(pupil.name)))


def vote(data: Data, dparser: str, cparser: str, size: int) -> StoredStep:
    """Have a text parsed and voted on; return the step with the trees that teach, gold ones among them."""
    parsed = data.parsed(dparser)

    def make(directory: Path) -> dict[str, Any]:
        first = data.treebank.chosen["dev"][-1]
        trees = data.treebank.reading(data.treebank.files["train"])
        table = Table(data, list(islice(trees, first, first + size)))
        experiment, own = data.dparser(dparser)
        parse = parsing(experiment.trained_dparser(own, "direct"), True)
        dtrees, seconds = timed(parse, table.given, "parsing the text", cpu=1)
        table.converted(parsed._replace(dev=dtrees, seconds=seconds), dparser)
        table.constituents(data.cparser(cparser), cparser)
        voted, last = table.elected(table.voters), table.voters[-2:]
        pairs = zip(*(dev for _, dev in last), strict=True)
        sure = [agreement(parse.ctree for parse in pair) >= Lesson.agree for pair in pairs]
        used = list(compress(voted, sure))
        gold = data.treebank.trees("train")
        save_brackets(mixed(gold, used, data.treebank.seed), directory / TAUGHT)
        return {
            "voted": figures(data, table.dev, voted),
            "of these teach": figures(data, compress(table.dev, sure), used),
        }

    made_of = {**data.learned.made_of, **data.chart, "dparser": parsed.key, "cparser": cparser, "text": size}
    return data.learned.store.step("voted", made_of, make)


def figures(data: Data, gold: Iterable[CTree], guess: Sequence[CTree]) -> str:
    """Return the number, F1 and exact matches of trees of a text."""
    sums = data.metric.summary(data.metric.score(list(gold), guess))
    return f"{len(guess):,} sentences, F1 {sums.f1:.2f}, exact {sums.complete_match:.2f}"


if __name__ == "__main__":
    main()
