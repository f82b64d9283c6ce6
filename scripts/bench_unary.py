"""Quality and speed of the recovery of unary nodes on CRAFT, given gold unaryless trees.

    python scripts/bench_unary.py [--sentences N]

Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import tempfile
from itertools import chain
from pathlib import Path

import click

from d2c.reduction.unary.classifier import UnaryClassifier
from d2c.trees.scores.brackets import bracket_scores
from d2c.trees.unaries import restore_unaries, strip_unaries
from measuring.craft import Craft
from measuring.timing import fastest, megabytes, timed

BATCH = 500
REPEATS = 5  # the fastest counts


@click.command()
@click.option("--sentences", type=int, help="Of CRAFT train.  [default: all]")
def main(sentences: int | None) -> None:
    """Fits on the training part, predicts the development part, prints one figure per line."""
    craft = Craft.read(sentences)
    classifier, seconds = timed(UnaryClassifier().fit, craft.train)
    print(f"fit                {seconds:8.1f} s, {len(craft.train)} sentences")
    bare = [strip_unaries(ctree)[0] for ctree in craft.dev]
    batches = [bare[begin : begin + BATCH] for begin in range(0, len(bare), BATCH)]
    parts, seconds = fastest(REPEATS, lambda: list(map(classifier.predict, batches)))
    chains = chain.from_iterable(parts)
    print(f"predict            {sum(len(ctree.tokens) for ctree in craft.dev) / seconds:8.0f} tokens/s")
    score = bracket_scores(craft.dev, list(map(restore_unaries, bare, chains)))
    print(f"EVALB F1           {score.f1:8.2f}")
    print(f"exact match        {score.complete_match:8.2f} %")
    print(f"classes            {len(classifier.chains_):8d}")
    with tempfile.TemporaryDirectory() as directory:
        classifier.save(Path(directory))
        print(f"model              {megabytes(Path(directory)):8.1f} MB on disk")


if __name__ == "__main__":
    main()
