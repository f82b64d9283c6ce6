"""Silver trees: a parser has found their constituents; people have annotated only dependencies.

A constituent contradicts a d-tree where it crosses the words of a subtree. Conventions differ, but hardly in
this: 98 of 100 constituents in the silver trees of GUM cross no subtree, punctuation left aside.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from d2c.base.errors import FormatError
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.reading import Reading

_MOST = 0.1  # of the constituents of a tree may contradict the d-tree
_GOLD = (".mrg.gz", ".ud.conllu.gz")  # ends of the names of files of silver trees, and of their gold d-trees
_WH_TAGS = frozenset({"WDT", "WP", "WP$", "WRB"})
_WH_PHRASES = {"NP": "WHNP", "ADVP": "WHADVP", "PP": "WHPP", "ADJP": "WHADJP"}
_CLAUSES = frozenset({"SBAR", "SBARQ"})


def silver_trees(path: Path) -> Iterator[CTree]:
    """Yield the trees of a file that agree with the d-trees beside it, `mended`. Raises FormatError."""
    return (ctree for ctree, _ in silver_pairs(path))


def silver_pairs(path: Path, all_of_them: bool = False) -> Iterator[tuple[CTree, DTree]]:
    """Yield the trees of `silver_trees` with their d-trees; all_of_them: also trees that do not agree. Raises
    FormatError."""
    for number, (ctree, dtree) in enumerate(
        zip(Reading(unparsed=True)(path), read_conllu(gold_of(path)), strict=True), 1
    ):
        if ctree.tokens.forms != dtree.tokens.forms:
            raise FormatError(str(path), 0, number, "has other words than its d-tree")
        if all_of_them or agrees(ctree, dtree):
            yield mended(ctree), dtree


def gold_of(path: Path) -> Path:
    """Return the path of the gold UD d-trees of a file of trees, which are silver if it exists; for a file of
    such d-trees, its own path."""
    return path.with_name(path.name.removesuffix(_GOLD[1]).removesuffix(_GOLD[0]) + _GOLD[1])


def agrees(ctree: CTree, dtree: DTree) -> bool:
    """Return whether few constituents contradict a d-tree."""
    return contradictions(ctree, dtree) <= _MOST * len(ctree.labels)


def contradictions(ctree: CTree, dtree: DTree) -> int:
    """Count the constituents that cross a subtree of the d-tree, punctuation left aside."""
    words = [i for i, form in enumerate(ctree.tokens.forms) if any(map(str.isalnum, form))]
    subtrees = _subtrees(dtree, words)
    spans = ctree.spans()
    assert spans is not None
    n, (first, last) = len(ctree.tokens), spans
    own = {
        (bisect_left(words, first[node]), bisect_right(words, last[node]) - 1)
        for node in range(n, n + len(ctree.labels))
    }
    return sum(any(a < c <= b < d or c < a <= d < b for c, d in subtrees) for a, b in own)


def _subtrees(dtree: DTree, words: list[int]) -> set[tuple[int, int]]:
    """Return the places among `words` of the first and last word of each subtree without gaps."""
    places = {word: place for place, word in enumerate(words)}
    inside: list[list[int]] = [[places[i]] if i in places else [] for i in range(len(dtree.heads))]
    for i in places:
        above, steps = dtree.heads[i], 0
        while above and steps < len(dtree.heads):
            inside[above - 1].append(places[i])
            above, steps = dtree.heads[above - 1], steps + 1
    return {(min(own), max(own)) for own in inside if own and max(own) - min(own) == len(own) - 1}


def mended(ctree: CTree) -> CTree:
    """Return the tree with the Penn Treebank's labels of phrases that begin questions and relative clauses.

    Silver trees have NP, ADVP and the like there wherever a function was projected on them.
    """
    n, labels = len(ctree.tokens), list(ctree.labels)
    spans = ctree.spans()
    assert spans is not None
    for label, kids in zip(ctree.labels, ctree.children, strict=True):
        if label not in _CLAUSES or kids[0] < n:
            continue
        first, last = spans[0][kids[0]], spans[1][kids[0]]
        wanted = _WH_PHRASES.get(labels[kids[0] - n])
        if wanted and _WH_TAGS.intersection(ctree.tokens.tags[first : last + 1][:2]):
            labels[kids[0] - n] = wanted
    return replace(ctree, labels=tuple(labels))
