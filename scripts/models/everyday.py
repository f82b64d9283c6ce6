"""Everyday English sentences with the constituents that any good parser finds (`everyday.txt`), and sentences
with constructions on which parsers often fail (`constructions.txt`).

    python scripts/models/everyday.py MODEL...

Prints, by kind of sentence, the share of these constituents that a model finds, and of the sentences in which
it finds them all. Models are given text; constituents are compared by label and by letters and digits.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a program, its neighbours are elsewhere

import click

from benchmarks.shared import print_table
from d2c.models.model import Model
from d2c.models.names import find
from d2c.parsing.rules import rules_of
from d2c.protocols.dparser import TextRules
from d2c.trees.ctree import CTree, Tokens
from models.scores import brackets

LISTS = ("everyday", "constructions")  # names of files
_MARKS = re.compile(r"\[([A-Z|]+) |\]")


@dataclass(frozen=True)
class Everyday:
    """A sentence: its kind, its text, and the constituents wanted in it: the labels that each may have, and
    the numbers of letters and digits before it and up to its end."""

    kind: str
    text: str
    wanted: tuple[tuple[tuple[str, ...], int, int], ...]


def read_everyday(name: str) -> Iterator[Everyday]:
    """Yield the sentences of one of LISTS."""
    kind = ""
    for line in Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            kind = line[2:]
        elif line:
            yield Everyday(kind, *_unmarked(line))


def _unmarked(line: str) -> tuple[str, tuple[tuple[tuple[str, ...], int, int], ...]]:
    text, begin, wanted = "", 0, []
    opened: list[tuple[tuple[str, ...], int]] = []
    for mark in _MARKS.finditer(line):
        text += line[begin : mark.start()]
        begin = mark.end()
        place = sum(map(str.isalnum, text))
        if mark[1]:
            opened.append((tuple(mark[1].split("|")), place))
        else:
            wanted.append((*opened.pop(), place))
    assert not opened, line
    return text + line[begin:], tuple(wanted)


def found(sentence: Everyday, ctree: CTree) -> int:
    """Count the wanted constituents that a tree has."""
    own = brackets(ctree)
    return sum(any((label, a, b) in own for label in labels) for labels, a, b in sentence.wanted)


def score_everyday(model: Model, rules: TextRules, name: str) -> dict[str, tuple[float, float]]:
    """Return the percentages of constituents found, and of sentences in which all are found, for one of LISTS
    (by its name) and for each kind of its sentences."""
    sentences = [*read_everyday(name)]
    words = ((form for form, *_ in rules.words(one.text)) for one in sentences)
    trees = model.parse(map(Tokens.untagged, words))
    counts: dict[str, list[tuple[int, int]]] = {name: []}
    for sentence, ctree in zip(sentences, trees, strict=True):
        for kind in (name, sentence.kind):
            counts.setdefault(kind, []).append((found(sentence, ctree), len(sentence.wanted)))
    return {
        kind: (
            100 * sum(right for right, _ in own) / sum(all_ for _, all_ in own),
            100 * sum(right == all_ for right, all_ in own) / len(own),
        )
        for kind, own in counts.items()
    }


@click.command()
@click.argument("names", nargs=-1, required=True)
def main(names: tuple[str, ...]) -> None:
    """Print a table, a column for each model: constituents and whole sentences, in percent."""
    columns = []
    for name in names:
        model = Model.load(directory := find(name))
        rules = rules_of(directory, lambda model=model: model)  # type: ignore[misc]
        columns.append({k: v for one in LISTS for k, v in score_everyday(model, rules, one).items()})
    rows = [[kind, *(f"{own[kind][0]:.1f} / {own[kind][1]:.1f}" for own in columns)] for kind in columns[0]]
    print_table(["sentences", *names], rows)


if __name__ == "__main__":
    main()
