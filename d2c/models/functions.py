"""Function tags of constituents, as the Penn Treebank has them: NP-SBJ, PP-TMP, ADVP-LOC.

One decision for each node of a c-tree: a logistic regression over the classes (none, SBJ, LOC-PRD, ...) that
the treebank has. Labels, heads and prepositions tell most, as in Blaheta and Charniak, "Assigning Function
Tags to Parsed Text" (NAACL 2000); here a d-tree over the same words also says the relations of heads, what
marks them, and whether there is a copula. Linear time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from d2c.base.model_files import read_as, reading, write_settings
from d2c.learning.weights import Like, check_numbers, read_arrays, write_arrays
from d2c.trees.conventions import functions_of, strip_function
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree, modifiers_of
from d2c.trees.formats.format import check_text
from d2c.trees.heads import induce_heads
from d2c.trees.repair import repair_heads

_VERSION = 1  # of the files
_SETTINGS, _WEIGHTS = "functions.json", "weights.npz"
_ARRAYS = {"weights": Like("f2", 2)}
_FEWEST = 20  # constituents: tags that fewer have are not learned
_RARE = 4  # constituents: a feature of fewer is left out
_DECAY = 0.3  # inverse strength of the penalty on squared weights
_LEAST = 0.05  # weights nearer to 0 are not kept
_CLASS = re.compile("(?:[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*)?")
_MARKS = frozenset(("case", "mark", "cop"))
_TIME = re.compile(
    r"(?:second|minute|hour|day|week|weekend|month|quarter|season|year|decade|century|time|moment|while|night"
    r"|morning|noon|afternoon|evening|midnight|spring|summer|fall|autumn|winter|(?:mon|tues|wednes|thurs|fri"
    r"|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december)s?"
    r"|today|tomorrow|yesterday|tonight|now|then|recently|ago|earlier|later|before|past|future"
)


@dataclass(frozen=True)
class FunctionFile:
    """What stands beside the weights: classes (function tags, joined by hyphens) and names of features."""

    classes: tuple[str, ...]
    features: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in self.features:
            check_text(name)
        for name in self.classes:
            if not _CLASS.fullmatch(name):
                raise ValueError(f"{name[:20]!r} are no function tags")


class FunctionTagger:
    """Adds function tags to the labels of a c-tree.

    classes:  [C] function tags joined by hyphens, "" for none
    features: names of features of a node, with their rows
    weights:  [F + 1, C], the last row is of what every node has
    """

    def __init__(
        self, classes: Sequence[str], features: Sequence[str], weights: NDArray[np.floating]
    ) -> None:
        self.classes, self.weights = classes, weights.astype(np.float32)
        self.features = {name: row for row, name in enumerate(features)}

    @classmethod
    def fit(cls, pairs: Iterable[tuple[CTree, DTree]]) -> Self | None:
        """Learn from c-trees whose labels have function tags (`NP-SBJ`), and d-trees over the same words;
        None where fewer than two classes beside that without tags are common.

        For a rare combination of tags, its most common tag is learned, if that is common enough.
        """
        from scipy.sparse import csr_array
        from sklearn.linear_model import LogisticRegression

        given, rows = list[tuple[str, ...]](), list[list[str]]()
        for ctree, dtree in pairs:
            given += map(functions_of, ctree.labels)
            rows += _features(without_functions(ctree), dtree)
        classes = _classes(given)
        if len({*classes}) < 3:
            return None
        counts = Counter(name for row in rows for name in row)
        names = sorted(name for name, count in counts.items() if count >= _RARE)
        column = {name: number for number, name in enumerate(names)}
        found = [[column[name] for name in row if name in column] for row in rows]
        ends, cells = [0, *accumulate(map(len, found))], [*chain.from_iterable(found)]
        table = csr_array((np.ones(len(cells)), cells, ends), shape=(len(rows), len(names)))
        model = LogisticRegression(C=_DECAY, max_iter=1000).fit(table, classes)
        weights = np.where(np.abs(model.coef_.T) < _LEAST, 0, model.coef_.T)
        kept = np.flatnonzero(weights.any(axis=1))
        shown = [names[row] for row in kept]
        return cls(model.classes_.tolist(), shown, np.vstack([weights[kept], model.intercept_]))

    def __call__(self, ctree: CTree, dtree: DTree) -> CTree:
        """Return the tree with function tags added to its labels, which have none yet."""
        found = [
            [-1, *[row for name in names if (row := self.features.get(name)) is not None]]
            for names in _features(ctree, dtree)
        ]
        if not found:
            return ctree
        begins = [0, *accumulate(map(len, found))][:-1]
        scores = np.add.reduceat(self.weights[[*chain.from_iterable(found)]], begins)
        best = [self.classes[one] for one in scores.argmax(axis=1)]
        labels = [f"{label}-{own}" if own else label for label, own in zip(ctree.labels, best, strict=True)]
        return replace(ctree, labels=tuple(labels))

    def save(self, directory: Path) -> None:
        """Write a file of JSON and one of weights, in half precision, into a directory."""
        write_settings(
            directory / _SETTINGS, _VERSION, FunctionFile(tuple(self.classes), tuple(self.features))
        )
        write_arrays(directory / _WEIGHTS, {"weights": self.weights.astype(np.float16)})

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return what `save` wrote. Raises ModelError."""
        file = read_as(directory / _SETTINGS, _VERSION, FunctionFile)
        weights = read_arrays(directory / _WEIGHTS, _ARRAYS)["weights"]
        with reading(directory / _WEIGHTS):
            if weights.shape != (len(file.features) + 1, len(file.classes)) or not file.classes:
                raise ValueError("not a row for each feature, or not a column for each class")
            check_numbers(weights)
        return cls(file.classes, file.features, weights)


def without_functions(ctree: CTree) -> CTree:
    """Return a c-tree without function tags."""
    return replace(ctree, labels=tuple(map(strip_function, ctree.labels)))


def _classes(given: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the class that is to be learned for the function tags of each node."""
    whole, single = Counter(given), Counter(chain.from_iterable(given))
    learned = dict[tuple[str, ...], str]()
    for tags in whole:
        best = max(tags, key=lambda tag: single[tag], default="")
        common = tags if whole[tags] >= _FEWEST else (best,) * (single[best] >= _FEWEST)
        learned[tags] = "-".join(common)
    return [learned[tags] for tags in given]


def _features(ctree: CTree, dtree: DTree) -> Iterator[list[str]]:
    """Yield the names of the features of each node [K]."""
    n, forms, tags = len(ctree.tokens), [*map(str.lower, ctree.tokens.forms)], ctree.tokens.tags
    heads, _ = repair_heads(dtree.heads)
    words = _words(forms, tags, heads, dtree.labels or ("",) * n)
    lexical = induce_heads(ctree, heads).lexical_heads()
    parents, blocks = ctree.parents(), ctree.blocks()
    place = {kid: number for kids in ctree.children for number, kid in enumerate(kids)}
    for node, kids in enumerate(ctree.children, n):
        label, above, word = ctree.labels[node - n], parents[node], words[lexical[node]]
        top = above < 0
        parent = "^" if top else ctree.label(above)
        grand = "^" if top or parents[above] < 0 else ctree.label(parents[above])
        sisters, at = ((node,), 0) if top else (ctree.children[above - n], place[node])
        left = ctree.label(sisters[at - 1]) if at else "^"
        right = ctree.label(sisters[at + 1]) if at + 1 < len(sisters) else "^"
        first, last = blocks[node][0][0], blocks[node][-1][1] - 1
        before = forms[first - 1] if first else "^"
        side = "=" if top or lexical[above] == lexical[node] else "<>"[lexical[above] < lexical[node]]
        relation = word.relation if side != "=" else "="
        here = f"{label} under {parent}"
        names = [
            here,
            f"{here} under {grand}",
            f"{here} {side} {relation}",
            f"{here} between {left} and {right}",
            f"{here} after {before}",
            f"{here} first {forms[blocks[above][0][0]]}" if not top else f"{here} only",
            f"{label} of {' '.join([ctree.label(kid) for kid in kids[:4]])}",
            f"{label} begins {forms[first]}",
            f"{label} begins {tags[first]} ends {tags[last]}",
            f"{label} of {min(last - first, 3)}",
            f"{label} begins {forms[first]} {side} {word.up_form}",
            f"{relation} {word.up_tag} {label}",
            f"begins {forms[first]}",
        ]
        yield names + [f"{label} {name}" for name in word.names]


class _Word(NamedTuple):
    """What a d-tree says of a word: its relation, the form and tag of its head, and its other features."""

    relation: str
    up_form: str
    up_tag: str
    names: tuple[str, ...]


def _words(
    forms: Sequence[str], tags: Sequence[str], heads: Sequence[int], labels: Sequence[str]
) -> list[_Word]:
    """Return [n] the features of each word."""
    words, below = list[_Word](), modifiers_of(heads)
    rows = [("^", "^", "^"), *zip(forms, tags, labels, strict=True)]
    for (form, tag, relation), head, modifiers in zip(rows[1:], heads, below, strict=True):
        up_form, up_tag, up_relation = rows[head]
        marks = {labels[one]: forms[one] for one in reversed(modifiers) if labels[one] in _MARKS}
        case, time = marks.get("case", ""), _TIME.fullmatch(form) is not None
        names = [
            f"word {form}",
            f"tag {tag}",
            f"relation {relation} under {up_relation}",
            f"relation {relation} word {form}",
            f"case {case} {relation}",
            f"case {case} tag {tag}",
            f"case {case} time {time}",
            f"time {time}",
            f"below {up_form} {relation}",
            f"mark {marks.get('mark', '')} {relation}",
            f"copula {marks.get('cop', '')}",
            *[f"has {labels[one]}" for one in modifiers],
        ]
        words.append(_Word(relation, up_form, up_tag, tuple(names)))
    return words
