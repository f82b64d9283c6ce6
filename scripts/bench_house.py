"""Speed and memory of d2c, and of another version of it in turn.

    python scripts/bench_house.py [OTHER] [--runs 5] [--rows cky,en] [--train X.mrg] [--dev Y.mrg]

OTHER is the Python of an environment with the other d2c, or another checkout, as of `git worktree add`. Rows
are parts of d2c, in a process of their own that learns what it needs from the first sentences of CRAFT, or
whole commands, from the start of a process to its end. `en-json`, `en-small-brackets`, ...: the first 500
sentences of dev, from words to JSON with confidences or to brackets, without loading the model; `help`,
`load` (`d2c.load()`) and `first-tree` of a text; `encode-file`, `decode-file` (of a reduction) and
`evaluate-file` on all of train, beside `nltk-kept` and `nltk-dropped`, where NLTK merely reads it;
`read-TREEBANK` and `read-FORMAT` read train of a treebank, or CRAFT's in a format, as all commands do; `en`
and `en-small` on all words of dev. `-2`: two processes. `compile-ROUTE-train` and `-parse` compile kernels;
subtract `compile-nothing`. All others work once unmeasured, so kernels are compiled. Both versions work in
turn, so that other load affects both. Figures are medians: seconds by the clock and of CPU time, the latter
also per word if words are counted, and the peak memory of a process; ratios: here / other. `same`: results.
Below stand the sizes of train and dev. Reads $D2C_TREEBANKS (default ../shared/treebanks), unless --train and
--dev name files in brackets.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import click

from benchmarks import house
from benchmarks.shared import FilePath, Line, Used, names_option, print_table, run, say
from d2c.base.inputs import files_of
from d2c.base.temporary import scratch
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import save_brackets
from d2c.trees.formats.reading import CLEANED
from papers.table import Cell
from treebanks.files import known, known_treebanks

D2C = ("-m", "d2c")
NLTK = "import nltk, sys; trees = [nltk.Tree.fromstring(line) {} for line in open(sys.argv[1])]"
READ = """
import sys
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.registry import read_treebank
path, name = sys.argv[1:]
trees = read_conllu(path) if name == "conllu" else read_treebank(path, name or None, clean=True)
print(sum(len(tree.tokens) for tree in trees))
"""
TWO = ("--jobs", "2")
COMPILE = "d2c.training.warm_up"
COMMANDS = {  # arguments of Python; TRAIN is a file of a tree a line, DTREES what `encode` makes of it
    "help": (*D2C, "--help"),
    "load": ("-c", "import d2c; d2c.load()"),
    "first-tree": (*D2C, "parse", "--text"),
    "nltk-kept": ("-c", NLTK.format(""), "TRAIN"),
    "nltk-dropped": ("-c", NLTK.format("and None"), "TRAIN"),
    "encode-file": (*D2C, "encode", "TRAIN"),
    "encode-file-2": (*D2C, "encode", "TRAIN", *TWO),
    "decode-file": (*D2C, "decode", "DTREES", "-m", "MODEL"),
    "decode-file-2": (*D2C, "decode", "DTREES", "-m", "MODEL", *TWO),
    "evaluate-file": (*D2C, "evaluate", "TRAIN", "TRAIN"),
    **{f"read-{name}": ("-c", READ, name, "TREEBANK") for name in known_treebanks()},
    "read-conllu": ("-c", READ, "DTREES", "conllu"),
    "read-export": ("-c", READ, "EXPORT", "export"),
    "read-discbracket": ("-c", READ, "DISCBRACKET", "discbracket"),
    "compile-nothing": ("-m", COMPILE, "train", "reduction"),
    **{
        f"compile-{route}-{purpose}": ("-m", COMPILE, purpose, route)
        for route in ("cky", "labeler")
        for purpose in ("train", "parse")
    },
    "en": (*D2C, "parse", "en", "--tokenized"),
    "en-2": (*D2C, "parse", "en", "--tokenized", *TWO),
    "en-small": (*D2C, "parse", "en-small", "--tokenized"),
}
FILES = {
    "TRAIN": "train.mrg",
    "DTREES": "dtrees.conllu",
    "MODEL": "model",
    "EXPORT": "train.export",
    "DISCBRACKET": "train.discbracket",
}
TEXT = "They saw the cat with glasses.\n"
ENGLISH = ("en", "en-2", "en-small")
ROWS = (*house.ROWS, *COMMANDS)
MEASURED = ("s", "CPU s", "µs/word", "MB")
FEW = 40  # sentences, where kernels are compiled


class Part:
    """A process that works again for each line that it is sent. words: how many per run; 0: not counted"""

    def __init__(self, python: Sequence[str], *arguments: str) -> None:
        # -P: nothing beside the program is imported.
        started = [*python, "-P", house.__file__, *arguments]
        self.process = subprocess.Popen(started, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.words = int(sum(self._answer()))

    def _answer(self) -> list[float]:
        assert self.process.stdout
        said = self.process.stdout.readline()
        if not said:
            raise click.ClickException("a measured process ended with an error")
        answer: list[float] = json.loads(said)
        return answer

    def work(self) -> Used:
        """Work once."""
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        seconds, cpu, kilobytes = self._answer()
        return Used(seconds, cpu, int(kilobytes))

    def end(self) -> float:
        """End it; return the checksum of its results."""
        assert self.process.stdin
        self.process.stdin.close()
        [checksum] = self._answer()
        self.process.wait()
        return checksum


class Command:
    """A whole process each time; cold: with an empty cache of kernels."""

    words = 0

    def __init__(self, python: Sequence[str], arguments: Sequence[str], given: str, cold: bool) -> None:
        self.command, self.given, self.cold = [*python, "-P", *arguments], given.encode(), cold
        self.checksum = 0 if cold else self.work().checksum

    def work(self) -> Used:
        """Work once."""
        if not self.cold:
            return run(self.command, self.given)
        with scratch() as cache:
            return run(["env", f"NUMBA_CACHE_DIR={cache}", *self.command])

    def end(self) -> float:
        """Return the checksum of the first output."""
        return self.checksum


@click.command()
@click.argument("other", required=False, type=click.Path(exists=True, path_type=Path))
@click.option("--runs", default=5, show_default=True)
@click.option("--sentences", default=1000, show_default=True, help="How many sentences parts learn from.")
@names_option("--rows", ROWS, ",".join(ROWS))
@click.option("--train", type=FilePath, help="The training treebank.  [default: CRAFT's]")
@click.option("--dev", type=FilePath, help="The dev treebank.  [default: CRAFT's]")
def main(
    other: Path | None,
    runs: int,
    sentences: int,
    rows: list[str],
    train: Path | None,
    dev: Path | None,
) -> None:
    """Time both and print the table."""
    parts = (train, "train"), (dev, "dev")
    files = [file or next(iter(files_of(known("craft").files[part]))) for file, part in parts]
    trees = [[*CLEANED(file)] for file in files]
    pythons = [[sys.executable], *([python_of(other)] if other else [])]
    names, lines = [str(file.absolute()) for file in files], list[Line]()
    words = "".join(" ".join(ctree.tokens.forms) + "\n" for ctree in trees[1])
    with scratch() as place:
        for row in rows:
            say(row)
            workers = list[Part | Command]()
            for python in pythons:
                if row in COMMANDS:
                    given = TEXT if row == "first-tree" else words if row in ENGLISH else ""
                    arguments = prepared(COMMANDS[row], place, trees[0])
                    workers.append(Command(python, arguments, given, cold=row.startswith("compile")))
                else:
                    Part(python, row, *names, str(FEW)).end()  # compiles
                    workers.append(Part(python, row, *names, str(sentences)))
            lines.append([row, *cells(workers, runs)])
    header = list(MEASURED)
    if other:
        header = [*(title for what in MEASURED for title in (what, "other", "ratio")), "same"]
    print_table(["", *header], lines)
    for (_, part), ctrees in zip(parts, trees, strict=True):
        say(f"{part}: {len(ctrees):,} trees, {sum(len(ctree.tokens) for ctree in ctrees):,} tokens")


def python_of(other: Path) -> list[str]:
    """Return the command of a Python with another d2c; that of a checkout precedes the installed one."""
    if other.is_dir():
        return ["env", f"PYTHONPATH={other.absolute()}", sys.executable]
    return [str(other.absolute())]


def prepared(arguments: Sequence[str], place: Path, ctrees: Sequence[CTree]) -> list[str]:
    """Return the arguments with the paths of files in a folder, which are made by this d2c if absent."""
    paths = {name: str(place / file) for name, file in FILES.items()}
    train, d2c = paths["TRAIN"], [sys.executable, "-P", *D2C]
    made = {
        "DTREES": (*d2c, "encode", train, "-o"),
        "EXPORT": (*d2c, "convert", train),
        "DISCBRACKET": (*d2c, "convert", train),
        "MODEL": (*d2c, "train", train, "--dev", train, "--dparser", "gold", "-o"),
    }
    if not Path(train).exists():
        save_brackets(ctrees, Path(train))
    for name in made:
        if name in arguments and not Path(paths[name]).exists():
            run([*made[name], paths[name]])
    if "TREEBANK" in arguments:  # as its own file has it
        treebank = known(arguments[-2])
        (file,) = files_of(treebank.files["train"])
        return [*arguments[:-2], str(file.absolute()), treebank.reading.format_name or ""]
    return [paths.get(word, word) for word in arguments]


def cells(workers: Sequence[Part | Command], runs: int) -> list[Cell]:
    """Let all work in turn; return what they take, and whether their results are equal if there are two."""
    used: list[list[Used]] = [[] for _ in workers]
    for number in range(runs):
        for i in range(len(workers))[:: -1 if number % 2 else 1]:
            used[i].append(workers[i].work())
    found: list[Cell] = []
    words = workers[0].words
    for what, scale in (("seconds", 1.0), ("cpu", 1.0), ("cpu", words and 1e6 / words), ("kilobytes", 1e-3)):
        values = [scale * median(getattr(one, what) for one in of_worker) for of_worker in used]
        ratio = [values[0] / values[1]] if scale and len(values) > 1 else [None] * (len(values) - 1)
        found += [*(value if scale else None for value in values), *ratio]
    same = {worker.end() for worker in workers}
    return [*found, *["yes" if len(same) == 1 else "no"] * (len(workers) > 1)]


if __name__ == "__main__":
    main()
