"""Time of the conversions against sentence length: seconds per token, and the slope on a log-log scale.

    python scripts/bench_linear.py [--tokens 100000] [--seed 1]

Random c-trees of 10, 100, 1,000 and 10,000 tokens, as many as make up the same number of tokens at each
length, in three shapes: clauses (small trees in a right-branching row), levels (logarithmic depth), and flat
(one node over all tokens). A slope of 1 is linear time.
"""

from __future__ import annotations

import gc
import math
from collections import deque
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import click

from d2c.reduction.encodings import ENCODINGS
from d2c.reduction.reduction import Reduction
from d2c.trees.conversion import to_constituents, to_dependencies
from d2c.trees.ctree import CTree, Tokens, build_ctree
from measuring.tables import Line, print_table
from measuring.timing import fastest

LENGTHS = (10, 100, 1_000, 10_000)
SYMBOLS = ("S", "NP", "VP", "PP", "SBAR", "ADJP")
CLAUSE = 12  # tokens
REPEATS = 3


def random_ctree(rng: Random, n: int, shape: str) -> CTree:
    """A continuous c-tree over n tokens with random symbols, head children and some unary nodes."""
    labels: list[str] = []
    children: list[list[int]] = []
    heads: list[int] = []

    def node(kids: list[int]) -> int:
        labels.append(rng.choice(SYMBOLS))
        children.append(kids)
        heads.append(rng.choice(kids))
        return n + len(labels) - 1

    def levels(nodes: list[int]) -> int:
        while len(nodes) > 1:
            upper, i = [], 0
            while i < len(nodes):
                size = rng.choice((1, 2, 2, 3, 3, 4))
                kids = nodes[i : i + size]
                upper.append(kids[0] if size == 1 and rng.random() < 0.7 else node(kids))
                i += size
            nodes = upper
        return nodes[0]

    tokens = list(range(n))
    if shape == "flat":
        root = node(tokens)
    elif shape == "levels":
        root = levels(tokens)
    else:
        clauses = [levels(tokens[i : i + CLAUSE]) for i in range(0, n, CLAUSE)]
        root = clauses.pop()
        while clauses:
            root = node([clauses.pop(), root])
    words = Tokens(tuple([f"w{i}" for i in range(n)]), tuple(rng.choices(("NN", "VB", "DT"), k=n)))
    return build_ctree(words, labels, children, root, heads, "TOP")


def each(work: Callable[[Any], object], items: Iterable[object]) -> None:
    """Works on all items and keeps nothing."""
    deque(map(work, items), 0)


def slope(lengths: Iterable[int], times: Iterable[float]) -> float:
    """Of the least-squares line through log(time) against log(length)."""
    x, y = [math.log(n) for n in lengths], [math.log(t) for t in times]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / sum(
        (a - mean_x) ** 2 for a in x
    )


def conversions() -> dict[str, tuple[Callable[[Any], object], Callable[[CTree], object]]]:
    """By name: what is timed, and what makes its input of a c-tree."""
    table: dict[str, tuple[Callable[[Any], object], Callable[[CTree], object]]] = {
        "Algorithm 1": (to_dependencies, lambda ctree: ctree),
        "Algorithm 2": (to_constituents, to_dependencies),
    }
    for encoding in ENCODINGS:
        route = Reduction(encoding)
        table[f"encode {encoding}"] = route.encode, lambda ctree: ctree
        table[f"decode {encoding}"] = route.decode_unaryless, route.encode
    return table


@click.command()
@click.option("--tokens", default=100_000, show_default=True, help="Tokens at each length.")
@click.option("--seed", default=1, show_default=True)
def main(tokens: int, seed: int) -> None:
    """Prints microseconds per token at each length, and the slope of seconds per sentence."""
    gc.disable()
    for shape in ("clauses", "levels", "flat"):
        rng, rows = Random(seed), list[Line]()
        ctrees = {n: [random_ctree(rng, n, shape) for _ in range(max(1, tokens // n))] for n in LENGTHS}
        for name, (work, prepare) in conversions().items():
            times = []
            for n in LENGTHS:
                items = list(map(prepare, ctrees[n]))
                times.append(fastest(REPEATS, each, work, items).seconds / len(items))
            speeds = [1e6 * t / n for n, t in zip(LENGTHS, times, strict=True)]
            rows.append([name, *speeds, slope(LENGTHS, times)])
        print()
        print_table([shape, *(f"{n:,}" for n in LENGTHS), "slope"], rows)
    print("\nmicroseconds per token at each sentence length; slope of log seconds on log length")


if __name__ == "__main__":
    main()
