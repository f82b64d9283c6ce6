"""What sentences lose by being parsed in pieces: F1 of whole sentences and of the same in pieces.

    python scripts/bench_pieces.py [MODEL...] [--words 40]

The sentences of each dev part with more than --words words are parsed whole, then in pieces of at most so
many, as very long ones always are (`--max-words`): F1 by EVALB, `collins.prm`; words given, tags predicted.
`cuts` are those in a sentence, on average. Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click
import torch

from benchmarks.english import METRIC, dev
from benchmarks.shared import Line, print_table, say
from d2c.models.model import Model
from d2c.models.names import find
from d2c.parsing.options import ParseOptions
from d2c.parsing.sentence import Sentence
from d2c.parsing.stream import batched, parse_batches
from d2c.trees.ctree import CTree
from models.scores import untagged

TREEBANKS = ("craft", "genia", "masc", "gum")
WHOLE = 1 << 20  # words


@click.command()
@click.argument("models", nargs=-1)
@click.option("--words", default=40, show_default=True)
def main(models: tuple[str, ...], words: int) -> None:
    """Print a table."""
    torch.set_num_threads(1)
    rows = [row for name in models or ("en", "en-small") for row in scores(name, words)]
    print_table(["model", "dev part", "sentences", "cuts", "F1 whole", "in pieces"], rows)


def scores(name: str, most: int) -> Iterator[Line]:
    """Yield a row for each dev part."""
    model = Model.load(find(name))
    for treebank in TREEBANKS:
        say(f"{name}, {treebank}")
        gold = [ctree for ctree in dev(treebank, None) if len(ctree.tokens) > most]
        whole, pieces = (parsed(model, gold, size) for size in (WHOLE, most))
        cuts = sum(one.pieces - 1 for one in pieces) / len(gold)
        f1 = (METRIC.summary(METRIC.score(gold, [one.tree for one in made])).f1 for made in (whole, pieces))
        yield [name, treebank, len(gold), cuts, *f1]


def parsed(model: Model, gold: Sequence[CTree], most: int) -> list[Sentence]:
    """Return the words of trees parsed, in pieces of at most so many."""
    options = ParseOptions(kind="tokenized", max_words=most)
    given = batched((Sentence(untagged(ctree)) for ctree in gold), options.batch_size)
    return [one for batch in parse_batches(lambda: [model], options, given) for one in batch.sentences]


if __name__ == "__main__":
    main()
