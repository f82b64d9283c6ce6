"""Every treebank: sizes, gaps, label alphabets, round trips.

    python scripts/table_treebanks.py [--treebanks alpino,pcc] [--part dev] [--part train]

Read as `d2c train` reads them (brackets without traces and function tags), and, where there are traces, as
with `--traces`. % gaps: sentences with a constituent that is not contiguous, as annotated and after
punctuation was moved. Labels: of phrases, and of arcs in the three encodings. Formats: trees that come back
the same from every format that can hold them (blanks inside words and lemmas cannot be held by brackets and
the export format; brackets hold no gaps). Encodings: trees that come back from direct, spine and, without
gaps, delta; unary nodes as in the gold tree.
Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import fmean

import click

from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats.treebanks import FORMATS, read_treebank
from d2c.trees.heads import load_head_rules
from d2c.trees.transforms import move_punctuation
from measuring import options
from measuring.round_trips import round_trips
from measuring.treebanks import PARTS, TREEBANKS

SUFFIXES = {"brackets": ".mrg", "discbracket": ".dbr", "export": ".export", "tigerxml": ".tiger.xml"}
SUFFIXES |= {"alpinoxml": ".alpino.xml"}


def plain(ctree: CTree, name: str) -> CTree | None:
    """What a format can hold of a tree, None if it cannot hold it: bracket formats have neither lemmas nor
    morphology; wrappers and words with brackets in them are kept by all."""
    tokens = ctree.tokens
    columns = [tokens.forms, tokens.tags, tokens.lemmas or (), tokens.morphs or ()]
    if name in ("brackets", "discbracket"):
        tokens, columns = Tokens(tokens.forms, tokens.tags), columns[:2]
    if name in ("brackets", "discbracket", "export") and any(
        " " in word for column in columns for word in column
    ):
        return None
    if name == "brackets" and (
        not ctree.is_continuous() or any("(" in tag or ")" in tag for tag in tokens.tags)
    ):
        return None
    return replace(ctree, tokens=tokens, head_children=None)


def format_round_trips(ctrees: Sequence[CTree]) -> Iterator[str]:
    """For each format, how many of the trees that it can hold come back."""
    for name, suffix in SUFFIXES.items():
        write = FORMATS[name].write
        assert write is not None
        held = [tree for tree in (plain(ctree, name) for ctree in ctrees) if tree is not None]
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / f"x{suffix}"
            with open(path, "w", encoding="utf-8") as stream:
                write(held, stream)
            same = sum(a == b for a, b in zip(held, read_treebank(path), strict=True))
        yield f"{name} {same:,}/{len(held):,}"


@click.command()
@click.option("--part", "parts", type=click.Choice(PARTS), multiple=True, default=PARTS, show_default=True)
@options.names_option("--treebanks", TREEBANKS, ",".join(TREEBANKS))
def main(parts: tuple[str, ...], treebanks: list[str]) -> None:
    """Prints three lines for each treebank."""
    for treebank in map(TREEBANKS.__getitem__, treebanks):
        for traces, part in product((False, True)[: 1 + treebank.traces], parts):
            ctrees = list(treebank.trees(part, traces=traces))
            tokens = sum(len(ctree.tokens) for ctree in ctrees)
            labels = len({label for ctree in ctrees for label in ctree.labels})
            gaps, moved = gap_share(ctrees), gap_share(map(move_punctuation, ctrees))
            shown = treebank.file.format(part) + " --traces" * traces
            print(f"{shown}: {len(ctrees):,} sentences, {tokens:,} tokens, {labels} phrase labels, ", end="")
            print(f"{gaps:.1f} % with gaps, {moved:.1f} % after moving punctuation")
            print("    formats: " + "; ".join(format_round_trips(ctrees)))
            encoded = round_trips(ctrees, load_head_rules(treebank.head_rules))
            shown = "; ".join(
                f"{name} {same:,}/{n:,}, {labels:,} labels" for name, n, same, labels in encoded
            )
            print(f"    encodings: {shown}", flush=True)


def gap_share(ctrees: Iterable[CTree]) -> float:
    """Per cent of the trees that have gaps."""
    return 100 * fmean(not ctree.is_continuous() for ctree in ctrees)


if __name__ == "__main__":
    main()
