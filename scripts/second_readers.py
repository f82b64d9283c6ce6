"""The treebanks read twice, by d2c and by a second reader of each format: what each counts, what differs.

    python scripts/second_readers.py [--treebanks alpino,pcc] [--part dev]

Second readers share no line with d2c (`treebanks/second.py`). Compared are the words and tags of every
sentence, and its nodes: label and words below each, hence gaps; where one child alone is marked as a head,
that. Brackets are read as they are (raw) and cleaned. Trees with gaps are also written as export, TIGER XML
and discbracket, and read back by treetools and nltk; treetools writes those of export as discobrackets, which
d2c reads. Reads $D2C_TREEBANKS (default
../shared/treebanks). treetools is not among d2c's requirements: pip install treetools==1.0.2
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import click

from benchmarks.shared import Line, print_table, say
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.registry import FORMATS, Place, read_treebank, write_treebank
from treebanks import second
from treebanks.files import folder
from treebanks.second import Sentence

Arc = tuple[str, tuple[int, ...], tuple[int, ...]]
HEADER = ("file", "read", "second reader", "sentences", "words", "nodes", "gaps", "heads", "differences")


@dataclass(frozen=True)
class Kind:
    """A kind of files.

    pattern: of their names
    name:    of the format
    library: of the second reader
    cleaned: whether they are compared both as they are and cleaned, or only as they are
    written: formats in which d2c writes their trees, for others to read
    """

    pattern: str
    name: str
    library: str
    read: Callable[[Path, bool], Iterator[Sentence]]
    cleaned: bool = False
    written: tuple[str, ...] = ()


OF_GAPS = ("export", "tigerxml", "discbracket")
KINDS = (
    Kind("*.mrg.gz", "brackets", "nltk", second.penn, cleaned=True),
    Kind("*.psd.gz", "historical", "nltk", second.historical, cleaned=True),
    Kind("floresta-*", "floresta", "nltk", second.floresta, written=OF_GAPS),
    Kind("sinica-*", "sinica", "nltk", second.sinica),
    Kind("*.tiger.xml.gz", "tigerxml", "ElementTree", second.tigerxml, written=OF_GAPS),
    Kind("alpino-*.xml.gz", "alpinoxml", "ElementTree", second.alpino, written=OF_GAPS),
    Kind("*.conllu.gz", "conllu", "udapi", second.by_udapi),
)
OF_WRITTEN = {
    "export": ("treetools", second.by_treetools("export")),
    "tigerxml": ("treetools", second.by_treetools("tigerxml")),
    "discbracket": ("nltk", second.discbracket),
}


@dataclass
class Tally:
    """What a reader counted in a file."""

    sentences: int = 0
    words: int = 0
    nodes: int = 0
    gaps: int = 0
    heads: int = 0

    def add(self, sentence: Sentence) -> None:
        """Count a sentence."""
        self.sentences += 1
        self.words += len(sentence.words)
        self.nodes += sentence.nodes.total()
        self.gaps += sentence.gaps()
        self.heads += sentence.heads.total()


def of_ctree(ctree: CTree) -> Sentence:
    """Return what is compared of a tree of d2c."""
    n, below = len(ctree.tokens), ctree.yields()
    nodes = Counter(zip(ctree.labels, below[n:], strict=True))
    heads = Counter[Arc]()
    for k, head in enumerate(ctree.head_children or ()):
        heads[ctree.labels[k], below[n + k], below[head]] += 1
    return Sentence(list(ctree.tokens.forms), list(ctree.tokens.tags), nodes, heads)


def of_dtree(dtree: DTree) -> Sentence:
    """Return what is compared of a d-tree."""
    arcs = zip(dtree.labels or (), dtree.heads, strict=True)
    heads = Counter[Arc]((label, (i,), (head,)) for i, (label, head) in enumerate(arcs, 1))
    return Sentence(list(dtree.tokens.forms), list(dtree.tokens.tags), heads=heads)


def ours(path: Path, name: str, clean: bool) -> Iterator[Sentence]:
    """Yield the sentences of a file as d2c reads it; those that d2c refuses are left out."""
    if name == "conllu":
        yield from map(of_dtree, read_conllu(path))
        return
    marked = "heads" in FORMATS[name].holds
    refuse: Callable[[object], None] = lambda error: say(f"refused: {error}")  # noqa: E731
    yield from map(of_ctree, read_treebank(path, name, refuse, clean=clean, marked=marked))


def compared(ones: Iterable[Sentence], others: Iterable[Sentence], show: int) -> tuple[Tally, str]:
    """Return what the second reader counted, and how many sentences differ in words, tags, nodes, heads."""
    tally, differ = Tally(), Counter[str]()
    for number, (one, other) in enumerate(zip_longest(ones, others), 1):
        if one is None or other is None:
            differ["sentences"] += 1
            continue
        tally.add(other)
        wrong = {
            "words": one.words != other.words,
            "tags": one.tags != other.tags,
            "nodes": one.nodes != other.nodes,
            "heads": bool(other.heads - one.heads),
        }
        differ.update(name for name, differs in wrong.items() if differs)
        if any(wrong.values()) and differ.total() <= show:
            say(f"sentence {number}: {told(one, other)}")
    return tally, ", ".join(f"{count} {name}" for name, count in differ.items()) or "0"


def told(one: Sentence, other: Sentence) -> str:
    """Return what differs between d2c's sentence and another's."""
    words = [pair for pair in zip_longest(one.words, other.words) if pair[0] != pair[1]]
    tags = [pair for pair in zip_longest(one.tags, other.tags) if pair[0] != pair[1]]
    nodes = (one.nodes - other.nodes, other.nodes - one.nodes)
    return f"words {words[:5]}, tags {tags[:5]}, nodes {nodes}, heads {other.heads - one.heads}"


def rows_of(path: Path, kind: Kind, show: int) -> Iterator[Line]:
    """Yield the rows of a file."""
    for clean in (False, True) if kind.cleaned else (False,):
        say(f"{path.name}, {'cleaned' if clean else 'raw'}")
        tally, differ = compared(ours(path, kind.name, clean), kind.read(path, clean), show)
        yield row(path.name, "cleaned" if clean else "raw", kind.library, tally, differ)
    for name in kind.written:
        say(f"{path.name}, written as {name}")
        library, read = OF_WRITTEN[name]
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory, "x")
            with open(file, "w", encoding="utf-8") as stream:
                trees = read_treebank(path, kind.name, marked=True)
                write_treebank(trees, name, stream, Place(path))
            tally, differ = compared(ours(path, kind.name, False), read(file, False), show)
            yield row(path.name, name, library, tally, differ)
            if name == "export":
                other = file.with_name("y")
                second.write_discobrackets(file, other)
                theirs = map(second.of_discobrackets, read(file, False))
                tally, differ = compared(ours(other, "indexbracket", False), theirs, show)
                yield row(path.name, "discobrackets", f"written by {library}", tally, differ)


def row(file: str, how: str, library: str, tally: Tally, differ: str) -> Line:
    """Return a line of the table."""
    counts = tally.sentences, tally.words, tally.nodes, tally.gaps, tally.heads
    return file, how, library, *(f"{count:,}" for count in counts), differ


@click.command()
@click.option("--treebanks", default="", help="How names of files begin, with commas.  [default: all]")
@click.option("--part", type=click.Choice(["train", "dev"]), help="The part to read.  [default: both]")
@click.option("--show", default=5, show_default=True, help="Print this many differences for each file.")
def main(treebanks: str, part: str | None, show: int) -> None:
    """Compare the readers, and print a table of what they counted."""
    rows: list[Line] = []
    for kind in KINDS:
        for path in sorted(folder().glob(kind.pattern)):
            if path.name.startswith(tuple(treebanks.split(","))) and (not part or f"-{part}." in path.name):
                rows += rows_of(path, kind, show)
    print_table(HEADER, rows)
    if wrong := [line for line in rows if line[-1] != "0"]:
        raise click.ClickException(f"{len(wrong)} of {len(rows)} comparisons differ")


if __name__ == "__main__":
    main()
