"""Patterns per CPU second over a treebank: d2c's search beside nltk.tgrep, on one core.

    python scripts/benchmarks/search.py $D2C_TREEBANKS/craft-train.mrg.gz

The patterns are those of tests/trees/patterns/manual.py; nltk.tgrep reads some of them, and searches the
first `--nltk` trees, whose time is scaled to all. Counts of patterns that both read are compared there.
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[2]))

from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import format_bracket
from d2c.trees.formats.reading import Reading
from d2c.trees.heads import load_head_rules
from d2c.trees.patterns.language import compiled
from d2c.trees.patterns.matches import find
from d2c.trees.patterns.nodes import TreeNodes
from tests.trees.patterns.manual import PATTERNS
from tests.trees.patterns.test_with_nltk import NOT_THERE

BATCH = 1000  # trees


def ours(patterns: list[str], trees: list[CTree]) -> tuple[float, float, list[int]]:
    """Return the CPU seconds of preparing the trees once, and of all patterns; the matches of each."""
    begin = time.process_time()
    batches = [TreeNodes(trees[i : i + BATCH]) for i in range(0, len(trees), BATCH)]
    prepared = time.process_time()
    counts = [sum(len(find(compiled(pattern), nodes)[0]) for nodes in batches) for pattern in patterns]
    return prepared - begin, time.process_time() - prepared, counts


def theirs(patterns: list[str], trees: list[CTree]) -> tuple[float, float, list[int]]:
    """Return the same for nltk.tgrep.

    Patterns are compiled before the clock starts, as that is done once for any number of trees.
    """
    from nltk.tgrep import tgrep_compile, tgrep_positions
    from nltk.tree import ParentedTree

    read = [tgrep_compile(pattern) for pattern in patterns]
    begin = time.process_time()
    parented = [ParentedTree.fromstring(format_bracket(replace(tree, top="ROOT"))) for tree in trees]
    prepared = time.process_time()
    counts = [sum(map(len, tgrep_positions(pattern, parented))) for pattern in read]
    return prepared - begin, time.process_time() - prepared, counts


@click.command()
@click.argument("treebank", type=click.Path(path_type=Path, exists=True))
@click.option("--nltk", "some", default=500, show_default=True, help="Trees that nltk.tgrep searches.")
def search(treebank: Path, some: int) -> None:
    """Print what both need for the patterns."""
    warnings.simplefilter("ignore")  # of pyparsing
    begin = time.process_time()
    rules = load_head_rules("collins")
    trees = [rules.headed(tree) for tree in Reading()(treebank)]
    print(f"{len(trees):,} trees read, with heads, in {time.process_time() - begin:.1f} s")
    every = [*PATTERNS]
    both = [pattern for pattern in every if not any(sign in pattern for sign in NOT_THERE)]
    prepare, seconds, _ = ours(every, trees)
    print(f"d2c: prepared in {prepare:.1f} s; {len(every)} patterns {len(every) / seconds:.1f} a second")
    prepare, seconds, _ = ours(both, trees)
    print(f"d2c: the {len(both)} that nltk reads, {len(both) / seconds:.1f} a second")
    scale = len(trees) / min(some, len(trees))
    for_some, for_patterns, counts = theirs(both, trees[:some])
    others, nltk_seconds = scale * for_some, scale * for_patterns
    print(
        f"nltk.tgrep, from {some} trees: prepared in {others:.0f} s; {len(both) / nltk_seconds:.3f} a second"
    )
    ratio, with_preparation = nltk_seconds / seconds, (nltk_seconds + others) / (seconds + prepare)
    print(f"{ratio:.0f} times as many; {with_preparation:.0f} times with preparation")
    own = ours(both, trees[:some])[2]
    different = [pattern for pattern, a, b in zip(both, own, counts, strict=True) if a != b]
    print(f"other counts on these {some} trees: {', '.join(different) or 'none'}")


if __name__ == "__main__":
    search()
