"""`en` as torch and as OpenVINO compute it, its d-parser alone and in a whole parse: speed, trees, F1.

    python scripts/bench_encoder.py [--engines torch,openvino] [--sentences 400] [--of-dev 500] [--runs 5]

First table: engines work in turn, so that other load affects all, on sentences of MASC's text of about 25
words. Figures are medians of words a second of CPU time, one thread, of the d-parser alone and from words to
trees, and ratios to the first engine. Second table: each engine parses sentences of the dev part of each
treebank, evenly spread; how many trees differ from the first engine's, and F1 (EVALB, `collins.prm`; words
given, tags predicted).

`torch` and `openvino` multiply in bfloat16 where the CPU can, `torch-f32` and `openvino-f32` in float32. The
latter do not show a CPU with AVX2 alone: most products of OpenVINO in float32 are MLAS's, which ignores
ONEDNN_MAX_CPU_ISA. Needs the extras `transformers` and `fast`. Reads $D2C_TREEBANKS (default
../shared/treebanks).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from statistics import median
from typing import Any
from unittest.mock import patch

import click
import torch

from benchmarks.english import METRIC, dev
from benchmarks.shared import Line, names_option, print_table, say
from d2c.dparsers.graph import compiled
from d2c.dparsers.graph.parser import CompiledParser
from d2c.dparsers.stanza import encoder
from d2c.models.model import Model
from d2c.models.names import find
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from models.scores import untagged
from models.teaching import read_tagged_text
from treebanks.files import folder

ENGINES = ("torch", "openvino", "torch-f32", "openvino-f32")
TREEBANKS = ("craft", "genia", "masc", "gum")
SHORTEST, LONGEST = 23, 27  # words of the sentences that are timed


class Engine:
    """`en` on one of the engines, and the CPU seconds that its d-parser has taken."""

    def __init__(self, name: str) -> None:
        self.name, self.dparser_seconds = name, 0.0
        with self._used():
            self.model = Model.load(find("en"), "cpu")
        self._parse: Any = self.model.dparser.parse_packed
        self.model.dparser.parse_packed = self._timed  # type: ignore[method-assign]

    def parse(self, words: Sequence[Tokens]) -> list[CTree]:
        """Return the trees of sentences."""
        with self._used():
            return list(self.model.parse(words))

    @contextmanager
    def _used(self) -> Iterator[None]:
        kind, _, precision = self.name.partition("-")
        wanted: list[Any] = []
        if kind == "torch":
            wanted.append(patch.object(CompiledParser, "opened", lambda *_, **__: None))
        if precision == "f32":
            wanted.append(patch.object(compiled, "multiplies_halves", lambda: False))
            wanted.append(patch.object(encoder, "multiplies_halves", lambda _: False))
        for one in wanted:
            one.start()
        try:
            yield
        finally:
            for one in wanted:
                one.stop()

    def _timed(self, *args: Any, **named: Any) -> Iterator[DTree]:
        begin = time.process_time()
        for dtree in self._parse(*args, **named):
            self.dparser_seconds += time.process_time() - begin
            yield dtree
            begin = time.process_time()


@click.command()
@names_option("--engines", ENGINES, "torch,openvino")
@click.option("--sentences", default=400, show_default=True, help="The number of sentences that are timed.")
@click.option("--of-dev", default=500, show_default=True, help="Sentences of each treebank for trees and F1.")
@click.option("--runs", default=5, show_default=True)
def main(engines: list[str], sentences: int, of_dev: int, runs: int) -> None:
    """Print two tables."""
    torch.set_num_threads(1)
    lengths = range(SHORTEST, LONGEST + 1)
    text = (one.tokens for one in read_tagged_text(folder() / "masc-text.txt.gz"))
    timed = [Tokens.untagged(one.forms) for one in islice((t for t in text if len(t) in lengths), sentences)]
    gold = {name: dev(name, of_dev) for name in TREEBANKS} if of_dev else {}
    loaded = [*map(Engine, engines)]
    print_table(["", "d-parser words/s", "ratio", "parse words/s", "ratio"], speeds(loaded, timed, runs))
    if gold:
        print()
        print_table(["", "other trees", "of", *(f"{name}-dev" for name in gold)], [*scores(loaded, gold)])


def speeds(engines: Sequence[Engine], words: Sequence[Tokens], runs: int) -> list[Line]:
    """Return the rows of the first table."""
    used: list[list[tuple[float, float]]] = [[] for _ in engines]
    for engine in engines:
        engine.parse(words[: len(words) // 4])  # makes what is made once
    for number in range(runs):
        for i in range(len(engines))[:: -1 if number % 2 else 1]:
            engines[i].dparser_seconds, begin = 0.0, time.process_time()
            engines[i].parse(words)
            used[i].append((engines[i].dparser_seconds, time.process_time() - begin))
    total, rows = sum(map(len, words)), list[Line]()
    medians = [[median(seconds) for seconds in zip(*own, strict=True)] for own in used]
    for engine, own in zip(engines, medians, strict=True):
        pairs = [(round(total / s), first / s) for s, first in zip(own, medians[0], strict=True)]
        rows.append([engine.name, *pairs[0], *pairs[1]])
    return rows


def scores(engines: Sequence[Engine], gold: dict[str, list[CTree]]) -> Iterator[Line]:
    """Yield the rows of the second table."""
    first: list[CTree] = []
    for engine in engines:
        say(engine.name)
        found = {name: engine.parse([*map(untagged, ctrees)]) for name, ctrees in gold.items()}
        trees = sum(found.values(), [])
        first = first or trees
        differ = sum(own != other for own, other in zip(trees, first, strict=True))
        f1 = (METRIC.summary(METRIC.score(gold[name], guess)).f1 for name, guess in found.items())
        yield [engine.name, differ, len(trees), *f1]


if __name__ == "__main__":
    main()
