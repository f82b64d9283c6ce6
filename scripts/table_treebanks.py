"""Every treebank: sizes, gaps, label alphabets, round trips.

    python scripts/table_treebanks.py [--treebanks alpino,pcc] [--part dev] [--part train]

Read as `d2c train` reads them (brackets without traces and function tags), and, where there are traces, as
with `--traces`. % with gaps: sentences with a constituent that is not contiguous, as annotated and after
punctuation was moved. direct, delta, spine: labels of arcs. Formats: trees that come back as each format
holds them. Encodings: trees that come back from direct, spine and, without gaps, delta; unary nodes as in the
gold tree. Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import fmean

import click

from benchmarks.shared import Line, names_option, print_table, say
from d2c.base.inputs import files_of
from d2c.reduction.encodings import ENCODINGS
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree, canonical
from d2c.trees.formats.registry import FORMATS, WRITABLE, read_treebank
from d2c.trees.heads import load_head_rules
from d2c.trees.transforms import move_punctuation
from d2c.trees.unaries import restore_unaries, strip_unaries
from experiments.experiment import Treebank
from fuzzing.inputs import as_held
from treebanks.files import known, known_treebanks

PARTS = ("train", "dev")
WITH_TRACES = ("craft", "icepahc")
HEADS = {"alpino": "dutch", "sinica": "sinica"}  # head tables, instead of the heads that are marked
HEADER = (
    *("treebank", "sentences", "tokens", "phrase labels", "% with gaps", "after moving punctuation"),
    *(*ENCODINGS, "% same: formats", "% same: encodings"),
)


@click.command()
@click.option("--part", "parts", type=click.Choice(PARTS), multiple=True, default=PARTS, show_default=True)
@names_option("--treebanks", known_treebanks(), ",".join(known_treebanks()))
def main(parts: tuple[str, ...], treebanks: list[str]) -> None:
    """Print a line for each treebank and part."""
    rows: list[Line] = []
    for treebank, part in product(map(known, treebanks), parts):
        for traces in (False, True)[: 1 + (treebank.name in WITH_TRACES)]:
            rows.append(line(treebank, part, traces))
            say(rows[-1])
    print_table(HEADER, rows)


def line(treebank: Treebank, part: str, traces: bool) -> Line:
    """Return a line of the table."""
    name = treebank.reading.format_name
    files = files_of(treebank.files[part])
    ctrees = [one for file in files for one in read_treebank(file, name, clean=True, traces=traces)]
    rules = load_head_rules(HEADS.get(treebank.name, treebank.head_rules))
    headed = [canonical(rules.apply(ctree)) for ctree in ctrees]
    encoded = [encodes(headed, encoding) for encoding in ENCODINGS]
    return [
        f"{treebank.name} {part}{' --traces' * traces}",
        *(len(ctrees), sum(len(ctree.tokens) for ctree in ctrees)),
        *(len({label for ctree in ctrees for label in ctree.labels}), gap_share(ctrees)),
        *(gap_share(map(move_punctuation, ctrees)), *(labels for labels, _ in encoded)),
        100 * fmean(same for name in WRITABLE for same in comes_back(ctrees, name)),
        100 * fmean(one for _, same in encoded for one in same),
    ]


def gap_share(ctrees: Iterable[CTree]) -> float:
    """Return the percentage of the trees that have gaps."""
    return 100 * fmean(not ctree.is_continuous() for ctree in ctrees)


def comes_back(ctrees: Sequence[CTree], name: str) -> list[bool]:
    """Return, for each tree that a format can hold, whether it comes back."""
    write, holds = FORMATS[name].write, FORMATS[name].holds
    assert write is not None
    held = [ctree for ctree in ctrees if "gaps" in holds or ctree.is_continuous()]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / f"x{FORMATS[name].suffixes[0]}"
        with open(path, "w", encoding="utf-8") as stream:
            write(held, stream)
        back = read_treebank(path, name)
        return [replace(b, head_children=None) == as_held(a, name) for a, b in zip(held, back, strict=True)]


def encodes(headed: Iterable[CTree], name: str) -> tuple[int, list[bool]]:
    """Return how many labels an encoding has, and, for each tree that it can hold, whether it comes back.

    Gold unary chains are put back where labels do not carry them.
    """
    encoding, route = ENCODINGS[name], Reduction(name, continuous=False)
    labels, same = set[str](), list[bool]()
    for ctree in headed:
        if ctree.is_continuous() or not encoding.continuous_only:
            dtree = route.encode(ctree)
            labels.update(dtree.labels or ())
            if encoding.carries_unaries:
                back = route.decode(dtree)
            else:
                back = restore_unaries(canonical(route.decode(dtree)), strip_unaries(ctree)[1])
            same.append(replace(canonical(back), top=ctree.top) == ctree)
    return len(labels), same


if __name__ == "__main__":
    main()
