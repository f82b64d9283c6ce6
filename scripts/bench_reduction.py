"""Speed of `d2c encode`, `d2c decode` and `d2c evaluate` on CRAFT train, against NLTK merely reading it.

    python scripts/bench_reduction.py [--sentences N] [--jobs 1,2]

Commands are timed as whole processes, the best of three runs. NLTK's figures are the time of
nltk.Tree.fromstring over the lines of the same stripped file, the trees kept in a list, or each dropped at
once (which spares Python's garbage collector half of the time). `decode` has a model fitted on all of the
file, unary classifier included. Also checks that every tree survives each encoding, gold
unary chains given back (the spine encoding needs none).
Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import click

from d2c.reduction.encodings import ENCODINGS
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree, canonical
from d2c.trees.formats.brackets import read_brackets, write_brackets
from d2c.trees.unaries import restore_unaries, strip_unaries

REPOSITORY = Path(__file__).resolve().parent.parent


def run(*arguments: str | Path) -> float:
    """Seconds that a d2c command takes."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "d2c.commands.cli", *map(str, arguments)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=REPOSITORY)
    return time.perf_counter() - start


def nltk_seconds(file: Path, keep: bool) -> float:
    """Seconds in which a fresh process reads every line with NLTK, into a list or dropping each tree."""
    read = "nltk.Tree.fromstring(line)" + ("" if keep else " and None")
    code = (
        "import nltk, sys, time; lines = open(sys.argv[1], encoding='utf-8'); start = time.perf_counter(); "
        f"trees = [{read} for line in lines]; print(time.perf_counter() - start)"
    )
    command = [sys.executable, "-c", code, str(file)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def round_trips(route: Reduction, ctrees: Sequence[CTree]) -> int:
    """How many trees come back from their encoding as they were."""
    same = 0
    for ctree in ctrees:
        gold = canonical(route._heads.apply(ctree))
        back = canonical(route.decode_unaryless(route.encode(gold)))
        if ENCODINGS[route.encoding].carries_unaries:
            same += route.decode(route.encode(gold)) == gold
        else:
            same += restore_unaries(back, strip_unaries(gold)[1]) == gold
    return same


@click.command()
@click.option("--sentences", type=int, default=None, help="Of CRAFT train.  [default: all]")
@click.option("--jobs", default="1,2", show_default=True)
def main(sentences: int | None, jobs: str) -> None:
    """Prints seconds, tokens a second, and the ratio to NLTK; then the round trips."""
    treebanks = Path(os.environ.get("D2C_TREEBANKS", REPOSITORY.parent / "shared" / "treebanks"))
    if not treebanks.is_dir():
        sys.exit(f"{treebanks}: no such directory; set D2C_TREEBANKS")
    train = list(islice(read_brackets(treebanks / "craft-train.mrg.gz", clean=True), sentences))
    dev = list(read_brackets(treebanks / "craft-dev.mrg.gz", clean=True))
    tokens = sum(len(ctree.tokens) for ctree in train)
    print(f"{len(train):,} sentences, {tokens:,} tokens of CRAFT train, {len(dev):,} sentences of dev")
    with tempfile.TemporaryDirectory() as scratch:
        stripped, conllu, back = (Path(scratch) / name for name in ("t.mrg", "t.conllu", "back.mrg"))
        with open(stripped, "w", encoding="utf-8") as stream:
            write_brackets(train, stream)
        start = time.perf_counter()
        Reduction().fit(train).save(Path(scratch) / "model" / "route")
        print(f"fitting the route {time.perf_counter() - start:.1f} s")
        settings = '{"format": 1, "route": "reduction", "dparser": "stanza"}'
        (Path(scratch) / "model" / "model.json").write_text(settings, encoding="utf-8")
        kept, dropped = (min(nltk_seconds(stripped, keep) for _ in range(3)) for keep in (True, False))
        for name, seconds in (("kept", kept), ("dropped", dropped)):
            print(f"{f'NLTK, trees {name}':<28}{seconds:>7.2f} s{tokens / seconds:>12,.0f} tokens/s")

        def show(name: str, *arguments: str | Path) -> None:
            seconds = min(run(*arguments) for _ in range(3))
            ratios = f"{seconds / kept:>8.2f} of NLTK's time with trees kept, {seconds / dropped:.2f} dropped"
            print(f"{name:<28}{seconds:>7.2f} s{tokens / seconds:>12,.0f} tokens/s{ratios}", flush=True)

        for n in jobs.split(","):
            show(f"d2c encode --jobs {n}", "encode", stripped, "-o", conllu, "--jobs", n)
            model = ("-m", Path(scratch) / "model")
            show(f"d2c decode --jobs {n}", "decode", conllu, *model, "-o", back, "--jobs", n)
        show("d2c evaluate", "evaluate", stripped, back)
    for name, ctrees in (("train", train), ("dev", dev)):
        for encoding in ENCODINGS:
            same = round_trips(Reduction(encoding), ctrees)
            share = 100 * same / len(ctrees)
            print(f"round trip {name:<6}{encoding:<7}{same:,} of {len(ctrees):,} = {share:.2f} %")


if __name__ == "__main__":
    main()
