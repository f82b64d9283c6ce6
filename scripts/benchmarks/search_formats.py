"""CPU seconds of `d2c search --count` over the same trees in brackets and in the Parquet of `d2c corpus`.

    python scripts/benchmarks/search_formats.py $D2C_TREEBANKS/gum-free-train.mrg.gz [--trees 50000]

The continuous trees of a treebank are repeated, with heads, confidences and offsets. Figures are medians of
whole processes that take turns; the last column is Parquet / brackets.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from statistics import median

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.shared import FilePath, print_table, run
from d2c.base.temporary import scratch
from d2c.corpora.rows import table_of, write_parquet
from d2c.parsing.sentence import Sentence
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import save_brackets
from d2c.trees.formats.reading import CLEANED
from d2c.trees.heads import load_head_rules

PATTERN, ROWS = "NP < (PP $ NP)", 20_000  # of a file, as in `d2c corpus`


def sentence(ctree: CTree) -> Sentence:
    """Return a sentence as of text with single blanks, all of whose nodes are fairly sure."""
    ends = [0]
    for form in ctree.tokens.forms:
        ends.append(ends[-1] + len(form) + 1)
    offsets = tuple(
        [(end - len(form) - 1, end - 1) for form, end in zip(ctree.tokens.forms, ends[1:], strict=True)]
    )
    text, sure = " ".join(ctree.tokens.forms), (0.75,) * len(ctree.labels)
    return Sentence(ctree.tokens, "a.txt", 1, text=text, offsets=offsets, ctree=ctree, confidences=sure)


@click.command()
@click.argument("treebank", type=FilePath)
@click.option("--trees", default=50_000, show_default=True)
@click.option("--runs", default=3, show_default=True)
def main(treebank: Path, trees: int, runs: int) -> None:
    """Print the table."""
    rules = load_head_rules("collins")
    read = [rules.apply(ctree) for ctree in CLEANED(treebank) if ctree.is_continuous()]
    repeated: Iterator[CTree] = islice(cycle(read), trees)
    with scratch() as place:
        save_brackets(islice(cycle(read), trees), place / "x.mrg")
        (place / "parsed").mkdir()
        for number in range(-(-trees // ROWS)):
            table = table_of([*map(sentence, islice(repeated, ROWS))], "brackets")
            with open(place / "parsed" / f"part-{number:06}.parquet", "wb") as stream:
                write_parquet(table, stream)
        files, seconds = ("x.mrg", "parsed"), list[list[float]]()
        for _ in range(runs):
            command = [sys.executable, "-m", "d2c", "search", PATTERN, "--count"]
            seconds.append([run([*command, str(place / file)]).cpu for file in files])
    brackets, parquet = map(median, zip(*seconds, strict=True))
    print_table(
        ["trees", "brackets", "Parquet", "ratio"], [[f"{trees:,}", brackets, parquet, parquet / brackets]]
    )


if __name__ == "__main__":
    main()
