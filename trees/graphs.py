"""C-trees from nodes that name their parents, as graph formats and traces have them, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from d2c.trees.checks import check_names
from d2c.trees.cleaning import unwrap
from d2c.trees.ctree import CTree, Tokens, canonical

VIRTUAL_ROOT = "VROOT"
Name = str | int  # of a node, and the index of a token


class GraphError(ValueError):
    """Nodes that form no tree; name: of a node, or of a token, at which that shows."""

    def __init__(self, message: str, name: Name) -> None:
        super().__init__(message)
        self.name = name


def tree_of(
    tokens: Tokens,
    labels: Mapping[str, str],
    parents: Mapping[Name, str | None],
    ranks: Mapping[Name, int] | None = None,
) -> CTree:
    """Build the c-tree of named nodes; what has no parent hangs from a node VROOT, unless it is alone.

    labels:  of every proper node, by name; nodes over no token are left out
    parents: of every token and every node, None for none
    ranks:   where given, the head child of a node is the child with the lowest, of equal ones the leftmost

    Raises GraphError where the nodes form no tree.
    """
    children: dict[str | None, list[Name]] = {name: [] for name in labels} | {None: []}
    for child, parent in parents.items():
        if parent not in children:
            raise GraphError(f"the parent {parent!r} does not exist", child)
        children[parent].append(child)
    order = [child for child in children[None] if isinstance(child, str)]
    for above in order:
        order += [child for child in children[above] if isinstance(child, str)]
    if len(order) != len(labels):
        reached = set(order)
        raise GraphError("the nodes form a circle", next(name for name in labels if name not in reached))
    n, first = len(tokens), list(range(len(tokens)))
    ids = dict[Name | None, int]((i, i) for i in range(n))
    symbols: list[str] = []
    rows: list[tuple[int, ...]] = []
    heads: list[int] = []
    for name in (*reversed(order), None):
        kids = sorted((child for child in children[name] if child in ids), key=lambda kid: first[ids[kid]])
        if not kids:
            continue
        ids[name] = n + len(rows)
        rows.append(tuple([ids[kid] for kid in kids]))
        first.append(first[rows[-1][0]])
        symbols.append(VIRTUAL_ROOT if name is None else labels[name])
        heads.append(ids[min(kids, key=ranks.__getitem__)] if ranks else 0)
    if not rows:
        raise ValueError("no token is in the tree")
    root = n + len(rows) - 1
    if len(rows[-1]) == 1:
        root = rows[-1][0]
        symbols, rows, heads = symbols[:-1], rows[:-1], heads[:-1]
    whole = CTree(tokens, tuple(symbols), tuple(rows), tuple(heads) if ranks else None)
    return unwrap(canonical(whole, root), False)


def listed(ctree: CTree) -> tuple[CTree, list[int]]:
    """List a tree as graph formats hold it: with its wrapper as a node (a label-less one is called TOP, as a
    label-less root is), and the parent of each token and node, -1 where it is the root.

    A root VROOT with several children is no node there: what hangs from it has no parent. Raises ValueError
    for names that are empty.
    """
    check_names(ctree)
    if ctree.top is not None:
        heads = None if ctree.head_children is None else (*ctree.head_children, ctree.root)
        labels, children = (*ctree.labels, ctree.top or "TOP"), (*ctree.children, (ctree.root,))
        ctree = CTree(ctree.tokens, labels, children, heads)
    elif ctree.labels and not ctree.labels[-1]:
        ctree = replace(ctree, labels=(*ctree.labels[:-1], "TOP"))
    parents = ctree.parents()
    if ctree.labels and ctree.labels[-1] == VIRTUAL_ROOT and len(ctree.children[-1]) > 1:
        parents = [-1 if parent == ctree.root else parent for parent in parents[:-1]]
    return ctree, parents
