"""Codes for labels, and one label for roots, for d-parsers that cut labels or give some a special meaning.

A parser sees `d0`, `d1`, ... and one fixed label on roots. Where the roots of a treebank have several labels,
each sentence gets an artificial last word that heads the root, so that the root's label is learned like any
other. At the end the word disturbs left-to-right parsers least (Ballesteros and Nivre 2013,
"Going to the Roots of Dependency Parsing").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from d2c.base.errors import FormatError
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu

_WORD = "<root>"
_UNKNOWN = "_"  # the label where a parser predicts none that it was taught


@dataclass(frozen=True)
class Codes:
    """The codes that a parser is taught instead of the labels of a treebank.

    labels:     all of them; label i is taught as `d{i}`
    root_label: that of all roots; None where roots have several labels, and sentences get the artificial word
    """

    labels: tuple[str, ...]
    root_label: str | None

    @classmethod
    def of(cls, dtrees: Iterable[DTree]) -> Self:
        """Return the codes of a treebank; all its trees have labels."""
        labels, roots = set[str](), set[str]()
        for dtree in dtrees:
            assert dtree.labels is not None
            labels.update(dtree.labels)
            roots.add(dtree.labels[dtree.heads.index(0)])
        return cls(tuple(sorted(labels)), roots.pop() if len(roots) == 1 else None)

    @property
    def settings(self) -> dict[str, object]:
        """Return the labels and the label of roots, for the settings of a model."""
        return {"root_label": self.root_label, "labels": self.labels}

    @cached_property
    def label_of(self) -> dict[str, str]:
        """Return the label of each code."""
        return {f"d{i}": label for i, label in enumerate(self.labels)}

    @cached_property
    def code_of(self) -> dict[str, str]:
        """Return the code of each label."""
        return {label: code for code, label in self.label_of.items()}

    def words(self, tokens: Tokens) -> tuple[list[str], list[str]]:
        """Return forms and tags as the parser sees them: none empty, any artificial word at the end."""
        forms, tags = [form or "_" for form in tokens.forms], [tag or "_" for tag in tokens.tags]
        if self.root_label is None and forms:
            forms.append(_WORD)
            tags.append(_WORD)
        return forms, tags

    def encode(self, dtree: DTree, root: str) -> tuple[list[int], list[str]]:
        """Return heads and codes of the words that `words` returns; root: the parser's own label of roots."""
        assert dtree.labels is not None
        heads, codes = list(dtree.heads), [self.code_of[label] for label in dtree.labels]
        if self.root_label is None:
            heads = [head or len(heads) + 1 for head in heads] + [0]
            codes.append(root)
        codes[heads.index(0)] = root
        return heads, codes

    def decode(self, tokens: Tokens, heads: Sequence[int], codes: Sequence[str]) -> DTree:
        """Return the d-tree that the parser predicted for the words that `words` returns.

        The artificial word may head several words; each gets the head of that word, which is mostly 0. A root
        without a label that was taught gets `root_label`.
        """
        n = len(tokens)
        artificial = n + 1 if self.root_label is None and n else 0
        if len(heads) != (artificial or n):
            raise AssertionError(f"{len(heads)} words came back for {n}")
        labels = [
            self.label_of.get(code, _UNKNOWN if head or self.root_label is None else self.root_label)
            for code, head in zip(codes, heads, strict=True)
        ]
        if artificial:
            heads = [heads[-1] if head == artificial else head for head in heads[:n]]
        return DTree(tokens, tuple(heads), labels=tuple(labels[:n]))


def read_trees(path: Path) -> list[DTree]:
    """Return the d-trees of a CoNLL-U file. Raises FormatError where heads form no tree."""
    result = []
    for number, dtree in enumerate(read_conllu(path), 1):
        if not dtree.is_tree():
            raise FormatError(str(path), 0, number, "the heads form no tree")
        result.append(dtree)
    return result


def read_training(path: Path) -> list[DTree]:
    """Return the d-trees of a CoNLL-U file to learn from. Raises FormatError, also where there is no arc."""
    result = read_trees(path)
    if all(len(dtree.heads) < 2 for dtree in result):
        raise FormatError(str(path), 0, 0, "no sentence has two words, so there is no arc to learn")
    return result
