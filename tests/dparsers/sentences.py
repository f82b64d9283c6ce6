"""Made-up sentences, and files of them, for the tests of all d-parsers."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import write_conllu

ODD = (
    "_",
    "#",
    "|",
    "a b",
    "x  y",
    "\u2009",
    "-LRB-",
    "(",
    "Straße",
    "İ",
    "猫",
    "e\u0301",
    "1:2",
    "?!?",
    "'",
)
# Some of these parsers give labels like these a meaning of their own, or cut them, or mind their case.
LABELS = ("S|VP#1", "a||b#1", "dep", "ROOT", "subtok", "NP-SBJ:x#2", "np#1", "-")


def sentence(nouns: tuple[str, str], verb: str, labels: tuple[str, ...]) -> DTree:
    """`the N V the N .`, with labels for the subject, the object, its article and the full stop."""
    forms = ("the", nouns[0], verb, "the", nouns[1], ".")
    subject, thing, article, stop = labels
    heads, names = (2, 3, 0, 5, 3, 3), (article, subject, "root", article, thing, stop)
    return DTree(Tokens(forms, ("DT", "NN", "VB", "DT", "NN", ".")), heads, labels=names)


def treebank(seed: int, size: int = 30, labels: tuple[str, ...] = LABELS[:4]) -> list[DTree]:
    """Sentences whose words are drawn at random, and whose structure is always the same."""
    pick = random.Random(seed)
    words = (*ODD, "cat", "dog", "sees", "hears")
    return [
        sentence((pick.choice(words), pick.choice(words)), pick.choice(words), labels) for _ in range(size)
    ]


def odd_sentences(seed: int, lengths: Iterable[int]) -> list[Tokens]:
    """Sentences of words and tags that no treebank has."""
    pick = random.Random(seed)
    tags = ("NN", "?", "", "a b")
    return [
        Tokens(
            tuple(pick.choice(ODD) + str(i % 3) * (i % 2) for i in range(n)), tuple(pick.choices(tags, k=n))
        )
        for n in lengths
    ]


def write(path: Path, dtrees: Iterable[DTree]) -> Path:
    """A CoNLL-U file."""
    with path.open("w", encoding="utf-8") as stream:
        write_conllu(dtrees, stream)
    return path


def arcs(dtrees: Iterable[DTree]) -> list[tuple[tuple[int, ...], tuple[str, ...] | None]]:
    """Heads and labels."""
    return [(dtree.heads, dtree.labels) for dtree in dtrees]
