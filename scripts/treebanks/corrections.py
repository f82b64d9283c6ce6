"""Constituents that gold UD d-trees imply, but that a chart over these d-trees cannot find.

The chart has no node over the object and the predicate of *made him happy*, since both depend on the verb,
and seldom has a node over the number of an item in a list.
"""

from __future__ import annotations

from d2c.trees.ctree import CTree
from d2c.trees.draft import Draft
from d2c.trees.dtree import DTree
from treebanks.constructions import Relations

_CLAUSAL = frozenset(  # verbs whose object is the subject of an infinitive with `to`
    ["want", "need", "like", "love", "prefer", "hate", "expect", "allow", "enable", "cause", "permit"]
    + ["require", "wish", "intend", "get", "have"]
)
_AROUND = ("-LRB-",), (".", "-RRB-", ":")  # tags of the marks before and after the number


def corrected(ctree: CTree, dtree: DTree) -> CTree:
    """Return the c-tree with the Penn Treebank's small clauses, and with nodes over the numbers of lists,
    where its gold UD d-tree, over the same words, has them."""
    relations, draft, parents = Relations(dtree), Draft(ctree), ctree.parents()
    for word, relation in enumerate(relations.full):
        above = parents[word]
        if relations.tags[word] == "LS" and above >= 0 and ctree.label(above) != "LST":
            draft.wrap(word, *_marks_beside(ctree, above, word), label="LST")
        if relation == "xcomp":
            for one in relations.of(relations.heads[word], "obj")[:1]:
                _put_clause(ctree, draft, _paths(parents, one, word), _is_small(relations, word))
    return draft.finished().ctree


def _marks_beside(ctree: CTree, above: int, word: int) -> list[int]:
    """Return the marks beside the number of a list that belong to it; above: the node right above it."""
    tags, kids = ctree.tokens.tags, ctree.children[above - len(ctree.tokens)]
    return [kid for kid in kids if kid in (word - 1, word + 1) and tags[kid] in _AROUND[kid > word]]


def _paths(parents: list[int], one: int, other: int) -> tuple[int, int, int]:
    """Return the lowest node over two words, and its child over (or at) each of them."""
    child = {one: one}  # of each node above the first word
    while parents[one] >= 0:
        child[parents[one]] = one
        one = parents[one]
    while parents[other] not in child:
        other = parents[other]
    return parents[other], child[parents[other]], other


def _is_small(r: Relations, word: int) -> bool:
    """Return whether object and predicate are a small clause, as they are not in *told him to go*."""
    marked = any(r.forms[one] == "to" for one in r.of(word, "mark"))
    return not marked or r.lemmas[r.heads[word]] in _CLAUSAL


def _put_clause(ctree: CTree, draft: Draft, path: tuple[int, int, int], small: bool) -> None:
    """Put a clause over object and predicate, if it is a small clause, or over the predicate alone, where
    both are neighbours in a verb phrase; a noun phrase of both becomes a small clause.
    """
    n, (above, subject, predicate) = len(ctree.tokens), path
    kids = ctree.children[above - n]
    if small and ctree.label(above) == "NP" and kids == (subject, predicate) and subject >= n <= predicate:
        draft.relabel(above, lambda _: "S")
    if ctree.label(above) != "VP" or predicate < n or kids.index(predicate) != kids.index(subject) + 1:
        return
    inner = ctree.children[predicate - n] if ctree.label(predicate) == "S" else ()
    if small and len(inner) == 1:
        draft.excise(predicate)
        draft.wrap(subject, *inner, label="S")
    elif small:
        draft.wrap(subject, predicate, label="S")
    elif ctree.label(predicate) == "VP":
        draft.wrap(predicate, label="S")
