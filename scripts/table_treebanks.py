"""Every treebank in $D2C_TREEBANKS (default ../shared/treebanks): sizes, gaps, label alphabets, round trips.

    python scripts/table_treebanks.py [--part dev] [--part train]

Read as `d2c train` reads them (brackets without traces and function tags), and, where there are traces, as
with `--traces`. % gaps: sentences with a constituent that is not contiguous, as annotated and after
punctuation was moved. Labels: of phrases, and of arcs in the three encodings. Formats: trees that come back
the same from every format that can hold them (blanks inside words and lemmas cannot be held by brackets and
the export format; brackets hold no gaps). Encodings: trees that come back from direct, spine and, without
gaps, delta; unary nodes as in the gold tree.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from d2c.reduction.encodings import ENCODINGS
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree, Tokens, canonical
from d2c.trees.formats.treebanks import FORMATS, read_treebank
from d2c.trees.heads import load_head_rules
from d2c.trees.transforms import move_punctuation
from d2c.trees.unaries import restore_unaries, strip_unaries

REPOSITORY = Path(__file__).resolve().parent.parent
TREEBANKS = (  # file, head rules, format, whether antecedents are moved to their traces
    ("alpino-{}.xml.gz", "dutch", None, False),
    ("pcc-{}.tiger.xml.gz", "german", None, False),
    ("craft-{}.mrg.gz", "collins", None, False),
    ("craft-{}.mrg.gz", "collins", None, True),
    ("icon-{}.mrg.gz", "indonesian", None, False),
    ("icepahc-{}.psd.gz", "icelandic", None, False),
    ("icepahc-{}.psd.gz", "icelandic", None, True),
    ("sinica-{}.txt.gz", "sinica", "sinica", False),
    ("floresta-{}.ptb.gz", "portuguese", "floresta", False),
)
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


def encoding_round_trips(ctrees: Sequence[CTree]) -> Iterator[str]:
    """For each encoding, how many trees come back, and how many labels it has."""
    for name, encoding in ENCODINGS.items():
        route, labels, same, count = Reduction(name, continuous=False), set[str](), 0, 0
        for ctree in ctrees:
            if encoding.continuous_only and not ctree.is_continuous():
                continue
            count += 1
            dtree = route.encode(ctree)
            labels.update(dtree.labels or ())
            if encoding.carries_unaries:
                back = route.decode(dtree)
            else:
                unaryless = canonical(route.decode_unaryless(dtree))
                back = restore_unaries(unaryless, strip_unaries(ctree)[1])
            same += replace(canonical(back), top=ctree.top) == ctree
        yield f"{name} {same:,}/{count:,}, {len(labels):,} labels"


@click.command()
@click.option("--part", "parts", multiple=True, default=("dev", "train"), show_default=True)
def main(parts: tuple[str, ...]) -> None:
    """Prints three lines for each treebank."""
    treebanks = Path(os.environ.get("D2C_TREEBANKS", REPOSITORY.parent / "shared" / "treebanks"))
    if not treebanks.is_dir():
        sys.exit(f"{treebanks}: no such directory; set D2C_TREEBANKS")
    for pattern, head_rules, name, traces in TREEBANKS:
        for part in parts:
            file, heads = pattern.format(part), load_head_rules(head_rules)
            ctrees = list(read_treebank(treebanks / file, name, clean=True, traces=traces))
            headed = [canonical(heads.apply(ctree)) for ctree in ctrees]
            gaps = 100 * sum(not ctree.is_continuous() for ctree in ctrees) / len(ctrees)
            moved = 100 * sum(not move_punctuation(ctree).is_continuous() for ctree in ctrees) / len(ctrees)
            tokens = sum(len(ctree.tokens) for ctree in ctrees)
            labels = len({label for ctree in ctrees for label in ctree.labels})
            shown = f"{file} --traces" if traces else file
            print(f"{shown}: {len(ctrees):,} sentences, {tokens:,} tokens, {labels} phrase labels, ", end="")
            print(f"{gaps:.1f} % with gaps, {moved:.1f} % after moving punctuation")
            print("    formats: " + "; ".join(format_round_trips(ctrees)))
            print("    encodings: " + "; ".join(encoding_round_trips(headed)), flush=True)


if __name__ == "__main__":
    main()
