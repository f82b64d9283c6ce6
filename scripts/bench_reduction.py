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

import subprocess
import sys
import tempfile
from pathlib import Path

import click

from d2c.base.model_files import write_settings
from d2c.models.model import FORMAT, SETTINGS
from d2c.reduction.reduction import Reduction
from d2c.trees.formats.brackets import write_brackets
from d2c.trees.heads import load_head_rules
from measuring.craft import Craft
from measuring.round_trips import round_trips
from measuring.tables import print_table, say
from measuring.timing import fastest, timed
from measuring.treebanks import CRAFT

HEADER = ("", "seconds", "tokens/s", "of NLTK's time, trees kept", "dropped")
RUNS = 3


@click.command()
@click.option("--sentences", type=int, help="Of CRAFT train.  [default: all]")
@click.option("--jobs", default="1,2", show_default=True)
def main(sentences: int | None, jobs: str) -> None:
    """Prints seconds, tokens a second, and the ratio to NLTK; then the round trips."""
    craft = Craft.read(sentences)
    tokens = sum(len(ctree.tokens) for ctree in craft.train)
    print(f"{tokens:,} tokens; {craft.described}")
    with tempfile.TemporaryDirectory() as scratch:
        times = command_times(craft, jobs.split(","), Path(scratch))
    kept, dropped, *_ = times.values()
    print_table(HEADER, [[name, t, round(tokens / t), t / kept, t / dropped] for name, t in times.items()])
    heads = load_head_rules(CRAFT.head_rules)
    for name, ctrees in (("train", craft.train), ("dev", craft.dev)):
        for encoding, trees, same, _ in round_trips(ctrees, heads):
            share = 100 * same / trees
            print(f"round trip {name:<6}{encoding:<7}{same:,} of {trees:,} = {share:.2f} %")


def command_times(craft: Craft, jobs: list[str], scratch: Path) -> dict[str, float]:
    """Seconds of NLTK, trees kept and dropped, and of each command."""
    stripped, conllu, back, model = (scratch / name for name in ("t.mrg", "t.conllu", "back.mrg", "model"))
    with open(stripped, "w", encoding="utf-8") as stream:
        write_brackets(craft.train, stream)
    route, seconds = timed(Reduction().fit, craft.train)
    print(f"fitting the route {seconds:.1f} s", flush=True)
    route.save(model / "route")
    write_settings(model / SETTINGS, FORMAT, {"route": "reduction", "dparser": "stanza"})
    times = {
        "NLTK, trees kept": min(nltk_seconds(stripped, True) for _ in range(RUNS)),
        "NLTK, trees dropped": min(nltk_seconds(stripped, False) for _ in range(RUNS)),
    }
    commands: list[tuple[str | Path, ...]] = []
    for n in jobs:
        commands.append(("encode", "--jobs", n, stripped, "-o", conllu))
        commands.append(("decode", "--jobs", n, conllu, "-m", model, "-o", back))
    for command in [*commands, ("evaluate", stripped, back)]:
        name = " ".join(["d2c", *(part for part in command[:3] if isinstance(part, str))])
        say(name)
        times[name] = fastest(RUNS, run, *command).seconds
    return times


def run(*arguments: str | Path) -> None:
    """Runs a d2c command."""
    command = [sys.executable, "-m", "d2c", *map(str, arguments)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def nltk_seconds(file: Path, keep: bool) -> float:
    """Seconds in which a fresh process reads every line with NLTK, into a list or dropping each tree."""
    read = "nltk.Tree.fromstring(line)" + ("" if keep else " and None")
    code = (
        "import nltk, sys, time; lines = open(sys.argv[1], encoding='utf-8'); start = time.perf_counter(); "
        f"trees = [{read} for line in lines]; print(time.perf_counter() - start)"
    )
    command = [sys.executable, "-c", code, str(file)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
