"""Made-up sentences, and files of them, for the tests of all d-parsers."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from d2c.base.errors import FormatError
from d2c.protocols.dparser import DependencyParser, Evaluation
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

# c heads a, over whose arc the one from d to b crosses.
CROSSING = DTree(
    Tokens(("a", "b", "c", "d"), ("A", "B", "C", "D")), (3, 4, 0, 3), labels=("Y#1", "X#1", "root", "Z#1")
)
# The root's label tells what it is.
ROOTS = [
    DTree(Tokens(("a", tag, "."), ("A", tag, ".")), (2, 0, 2), labels=("A#1", f"root|{tag}", "root"))
    for tag in ("VP", "NP", "FRAG")
]


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


def treebank_files(directory: Path, root: str = "ROOT") -> tuple[Path, Path]:
    """A training and a development treebank; the latter has words, tags and labels of its own.

    root: label of one root in the latter
    """
    one_word = DTree(Tokens(("Yes",), ("UH",)), (0,), labels=("root",))
    new = DTree(Tokens(("brand", "new"), ("TAG", "TAG")), (2, 0), labels=("UNSEEN#7", root))
    train = [*treebank(1), *treebank(2, labels=LABELS[4:]), one_word]
    return write(directory / "train.conllu", train), write(directory / "dev.conllu", [*treebank(3, 8), new])


def check_reports(reports: Sequence[Evaluation]) -> None:
    """Of a training on `treebank_files` in three passes."""
    assert [(report.step, report.steps) for report in reports] == [(1, 3), (2, 3), (3, 3)]
    # one label of 50 was not in the training
    assert all(0 < report.scores["LAS"] <= 0.98 for report in reports)
    assert reports[-1].scores["UAS"] >= 0.96  # two words of 50 have forms and tags that training had not
    assert reports[-1].seconds >= reports[0].seconds > 0
    assert reports[0].loss > reports[-1].loss > 0


def check_refusals(parser: DependencyParser, dev: Path, directory: Path) -> None:
    """Asserts that nothing is learned, and nothing written, where heads form no tree or there is no arc."""
    loop = DTree(Tokens(("a", "b"), ("A", "B")), (2, 1), labels=("x", "y"))
    file = write(directory / "x.conllu", [CROSSING, loop])
    with pytest.raises(FormatError, match="sentence 2: the heads form no tree"):
        parser.train(file, dev, directory / "model")
    file = write(directory / "x.conllu", [DTree(Tokens(("a",), ("A",)), (0,), labels=("root",))])
    with pytest.raises(FormatError, match="no sentence has two words"):
        parser.train(file, dev, directory / "model")
    assert [path.name for path in directory.iterdir()] == ["x.conllu"]
