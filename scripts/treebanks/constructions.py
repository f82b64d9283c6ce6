"""Constructions that parsers of English often fail on, as gold UD d-trees show them.

    python scripts/treebanks/constructions.py FILE.conllu...

Prints how many sentences of each file have each construction.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a program, its neighbours are elsewhere

import click

from benchmarks.shared import print_table
from d2c.trees.dtree import DTree, modifiers_of
from d2c.trees.formats.conllu import read_conllu

_QUOTES = frozenset({'"', "''", "``", "“", "”", "'", "‘", "’"})
_COMPARED = frozenset({"JJR", "RBR"})
_CUTS = frozenset({",", ";", "-", "—"})
_NOMINAL = ("NN", "JJ", "CD", "PRP")
_WH = frozenset({"WDT", "WP", "WRB"})


class Relations:
    """What the rules ask of a gold UD d-tree: words, tags, features, relations with and without subtypes."""

    def __init__(self, dtree: DTree) -> None:
        self.heads, self.tags = [head - 1 for head in dtree.heads], dtree.tokens.tags
        self.forms = [form.lower() for form in dtree.tokens.forms]
        self.full = dtree.labels or ("_",) * len(self.heads)
        self.plain = [label.partition(":")[0] for label in self.full]
        self.lemmas = dtree.tokens.lemmas or tuple(self.forms)
        self.features = dtree.tokens.morphs or ("_",) * len(self.heads)
        self.below = modifiers_of(dtree.heads)

    def of(self, head: int, *relations: str) -> list[int]:
        """Return the dependents of a word that have one of these relations, subtypes or not."""
        return [one for one in self.below[head] if self.plain[one] in relations]

    def is_quoted(self, word: int) -> bool:
        """Return whether a quotation mark is among a word's dependents."""
        return any(self.forms[one] in _QUOTES for one in self.of(word, "punct"))

    @cached_property
    def speeches(self) -> list[tuple[int, int]]:
        """Return pairs: the head word of a quotation, and the later verb of saying that it belongs to."""
        words = range(len(self.heads))
        said = [(one, self.heads[one]) for one in words if self.plain[one] == "ccomp"]
        said += [(self.heads[one], one) for one in words if self.plain[one] == "parataxis"]
        return [(what, verb) for what, verb in said if 0 <= what < verb and self.is_quoted(what)]


def _imperative(r: Relations, word: int) -> bool:
    return "Mood=Imp" in r.features[word] and not r.of(word, "nsubj")


def _object_complement(r: Relations, word: int) -> bool:
    verb = r.heads[word]
    named = r.plain[word] == "xcomp" and r.tags[word].startswith(_NOMINAL) and not r.of(word, "mark", "cop")
    return named and any(verb < one < word for one in r.of(verb, "obj"))


def _correlative(r: Relations, word: int) -> bool:
    def begins(one: int) -> bool:
        return r.forms[one] == "the" and bool(_COMPARED.intersection(r.tags[one + 1 : one + 2]))

    return begins(word) and r.forms[word - 1] in _CUTS and any(map(begins, range(word - 1)))


def _which_of(r: Relations, word: int) -> bool:
    cases = [case for one in r.of(word, "nmod") for case in r.of(one, "case")]
    return r.tags[word] in _WH and any(r.forms[case] == "of" for case in cases)


def _due(r: Relations, word: int) -> bool:
    return r.forms[word] == "due" and r.tags[word] == "JJ" and any(one > word for one in r.of(word, "obl"))


def _reduced(r: Relations, word: int) -> bool:
    return r.full[word] == "acl" and r.tags[word] in ("VBN", "VBG") and not r.of(word, "mark")


CONSTRUCTIONS: dict[str, Callable[[Relations, int], bool]] = {
    "quoted questions": lambda r, w: r.forms[w] == "?" and any(w in r.below[what] for what, _ in r.speeches),
    "after a quotation": lambda r, w: r.plain[w] == "conj" and r.heads[w] in [verb for _, verb in r.speeches],
    "imperatives": _imperative,
    "both, either, neither": lambda r, w: r.full[w] == "cc:preconj",
    "the more, the better": _correlative,
    "object complements": _object_complement,
    "which of these": _which_of,
    "due on": _due,
    "expletive it": lambda r, w: r.full[w] == "expl" and r.forms[w] == "it",
    "pounds": lambda r, w: r.forms[w].startswith("£"),
    "list numbers": lambda r, w: r.tags[w] == "LS",
    "reduced relatives": _reduced,
    "gapping": lambda r, w: r.plain[w] == "orphan",
}
"""Whether a word of a d-tree makes it one with a construction, by its name."""

RARE = CONSTRUCTIONS.keys() - {"expletive it", "reduced relatives"}  # these two are common


def constructions_of(dtree: DTree) -> frozenset[str]:
    """Return which of CONSTRUCTIONS a gold UD d-tree has."""
    relations, words = Relations(dtree), range(len(dtree.heads))
    return frozenset(name for name, has in CONSTRUCTIONS.items() if any(has(relations, w) for w in words))


def count(path: Path) -> Counter[str]:
    """Count the sentences of a file that have each construction, and all of them as `all`."""
    counts = Counter[str]()
    for dtree in read_conllu(path):
        counts.update(("all", *constructions_of(dtree)))
    return counts


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
def main(files: tuple[Path, ...]) -> None:
    """Print a table, a column for each file."""
    columns = [count(file) for file in files]
    rows = [[name, *(str(own[name]) for own in columns)] for name in ("all", *CONSTRUCTIONS)]
    print_table(["sentences with", *(file.name.partition(".")[0] for file in files)], rows)


if __name__ == "__main__":
    main()
