"""Random constraints on sentences of the sample treebank, parsed by a model: how many are broken (none), and
the seconds that it takes.

    python scripts/benchmarks/constraints.py [MODEL] [--count 10000]
"""

from __future__ import annotations

import json
import random
import sys
import time
from itertools import islice
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import d2c
from d2c.trees.constraints import SpanConstraints
from d2c.trees.formats.brackets import read_brackets

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample" / "dev.mrg"
LABELS = (None, "NP", "VP", "S", "PP", "SBAR", "X")
MOST = 4  # spans of a sentence


def drawn(
    rng: random.Random, n: int
) -> tuple[list[list[object]], list[list[object]], SpanConstraints | None]:
    """Return spans to require and spans to forbid in a sentence of n words that do not contradict each other,
    and the constraints of both."""
    spans: tuple[list[list[object]], list[list[object]]] = ([], [])
    wanted: SpanConstraints | None = None
    for _ in range(rng.randint(1, MOST)):
        side, start = rng.randrange(2), rng.randrange(n)
        spans[side].append([start, rng.randint(start + 1, n), rng.choice(LABELS)])
        try:
            wanted = SpanConstraints.of(*spans, n)
        except ValueError:
            spans[side].pop()
    return *spans, wanted


@click.command()
@click.argument("model", required=False)
@click.option("--count", default=10_000, show_default=True)
def main(model: str | None, count: int) -> None:
    """Print one line."""
    rng, parser = random.Random(1), d2c.load(model)
    sentences = [ctree.tokens.forms for ctree in islice(read_brackets(SAMPLE), 200)]
    lines, every = list[str](), list[SpanConstraints]()
    while len(lines) < count:
        words = rng.choice(sentences)
        require, forbid, wanted = drawn(rng, len(words))
        if wanted is not None:
            lines.append(json.dumps({"tokens": words, "require": require, "forbid": forbid}))
            every.append(wanted)
    begin, broken = time.process_time(), 0
    for sentence, wanted in zip(parser.stream(lines, kind="json"), every, strict=True):
        broken += bool(sentence.error or wanted.broken(sentence.tree.ctree))
    seconds = time.process_time() - begin
    print(f"{count:,} sentences with constraints, {broken} broken, {seconds:.0f} s of CPU time")


if __name__ == "__main__":
    main()
