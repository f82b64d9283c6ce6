"""Constrained CKY beside the program of its paper: CPU seconds in which each converts gold d-trees.

    python scripts/bench_pad.py [PAD] [--sentences 4000] [--epochs 5] [--runs 3] [--simple]

PAD is a checkout of https://github.com/ikekonglp/PAD after `make` in its src; without it, d2c is timed alone.
PAD's own generator, which needs Python 2, writes its grammar, its parts and its d-trees. Both learn from the
same sentences of CRAFT train, drawn evenly, in as many passes, with heads by PAD's table and all features of
the paper (--simple: PAD without some of them). Then both convert the gold d-trees of dev whose tags train
has, in a process each, in turn. Seconds are those of the process less those of one that converts a single
sentence, medians of the runs. Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import click

from benchmarks.shared import FilePath, print_table, run, say
from d2c.base.counting import many
from d2c.base.temporary import scratch
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import save_brackets
from d2c.trees.formats.conllu import format_conllu
from d2c.trees.heads import load_head_rules
from treebanks.files import known

HEADS = "pad"  # the table that PAD's generator has
RULES, PARTS, DTREES = range(3)  # what the generator writes, by its own numbers
DECODE = """
import sys
from pathlib import Path
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.trees.formats.brackets import format_bracket
from d2c.trees.formats.conllu import read_conllu

route = ConstrainedCKY.load(Path(sys.argv[1]))
for ctree in route.decode_all(read_conllu(Path("/dev/stdin"))):
    print(format_bracket(ctree))
"""

Command = tuple[Sequence[str], bytes]  # and its standard input
Both = tuple[Command, Command]  # over dev, and over one sentence


@click.command()
@click.argument("pad", required=False, type=FilePath)
@click.option("--sentences", default=4000, show_default=True, help="Sentences of CRAFT train to learn from.")
@click.option("--epochs", default=5, show_default=True)
@click.option("--runs", default=3, show_default=True)
@click.option("--python2", default="python2", show_default=True, help="The Python that runs PAD's generator.")
@click.option("--simple", is_flag=True, help="Run PAD without features of labels and of tags at both ends.")
def main(pad: Path | None, sentences: int, epochs: int, runs: int, python2: str, simple: bool) -> None:
    """Train both, convert, and print a table."""
    craft, headed = known("craft", sentences), load_head_rules(HEADS).headed
    train, dev = ([*map(headed, craft.trees(part))] for part in ("train", "dev"))
    tags = {tag for ctree in train for tag in ctree.tokens.tags}  # PAD stops at other tags
    dev = [ctree for ctree in dev if tags.issuperset(ctree.tokens.tags)]
    with scratch() as work:
        commands = {"cky": of_cky(train, dev, epochs, work)}
        if pad is None:
            say("no folder of PAD is given: only cky is timed")
        else:
            options = ["--epochs", str(epochs), *(["--simple_features"] if simple else [])]
            commands["PAD"] = of_pad(pad, train, dev, python2, work, options)
        used = [
            {name: run(*whole).cpu - run(*one).cpu for name, (whole, one) in commands.items()}
            for _ in range(runs)
        ]
    seconds = {name: median(one[name] for one in used) for name in commands}
    rows = [
        [name, took, len(dev) / took, seconds["PAD"] / took if pad else None]
        for name, took in seconds.items()
    ]
    print_table(["", "CPU s", "sentences a CPU s", "times PAD's speed"], rows)


def of_cky(train: Sequence[CTree], dev: Sequence[CTree], epochs: int, work: Path) -> Both:
    """Train the route; return the commands that convert dev and one sentence."""
    route = ConstrainedCKY(head_rules=HEADS, epochs=epochs)
    say("cky learns")
    route.fit(train)
    route.save(work / "cky")
    command = [sys.executable, "-c", DECODE, str(work / "cky")]
    whole, one = ("".join(format_conllu(route.encode(c)) for c in some).encode() for some in (dev, dev[:1]))
    return (command, whole), (command, one)


def of_pad(
    pad: Path, train: Sequence[CTree], dev: Sequence[CTree], python2: str, work: Path, options: Sequence[str]
) -> Both:
    """Train PAD with these options of its own; return the commands that convert dev and one sentence."""
    files = {"train": train, "dev": dev, "one": dev[:1]}
    for name, ctrees in files.items():
        save_brackets(ctrees, work / f"{name}.mrg")
    program, rules, parts, model = pad.resolve() / "src", work / "rules", work / "parts", work / "pad"

    def generate(what: int, name: str, file: Path, *given: object) -> Path:
        generator = [python2, pad / "python" / "Generator.py", what]
        command = [*generator, "--inputf", work / f"{name}.mrg", *given]
        with open(file, "wb") as stream:
            subprocess.run([*map(str, command)], stdout=stream, stderr=subprocess.DEVNULL, check=True)
        return file

    say("PAD's generator writes rules, parts and d-trees")
    generate(RULES, "train", rules)
    generate(PARTS, "train", parts, "--rulef", rules)
    dtrees = {name: generate(DTREES, name, work / f"{name}.conll") for name in files}
    say("PAD learns")
    given = ["--grammar", rules, "--annotations", parts, "--conll", dtrees["train"], "--model", model]
    command = [program / "padt", *given, *options]
    subprocess.run([*map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    # PAD's status says nothing: it ends with an error even when all is converted
    convert = ["sh", "-c", '"$0" --model "$1"; true', str(program / "pad"), str(model)]
    whole, one = dtrees["dev"].read_bytes(), dtrees["one"].read_bytes()
    done = subprocess.run(convert, input=whole, capture_output=True).stdout.count(b"(TOP")
    say(f"PAD: {many(done, 'tree')} for {many(len(dev), 'sentence')}")
    return (convert, whole), (convert, one)


if __name__ == "__main__":
    main()
