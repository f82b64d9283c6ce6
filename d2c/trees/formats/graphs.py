"""C-trees from nodes that name their parents, as graph formats and traces have them, and back.

Linear time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from d2c.trees.cleaning import check_names, punctuates, unwrap
from d2c.trees.ctree import CTree, Tokens, canonical

VIRTUAL_ROOT = "VROOT"
HEAD = "HD"  # the edge label of head children in NEGRA and TIGER
Name = str | int  # of a node, and the index of a token


class GraphError(ValueError):
    """Nodes that form no tree; name: of a node, or of a token, at which that shows."""

    def __init__(self, message: str, name: Name) -> None:
        super().__init__(message)
        self.name = name


@dataclass
class Graph:
    """A tree as it is read, tokens from left to right, nodes in any order.

    words:   form and tag of each token, perhaps lemma and morphology, `--` where it has none
    labels:  of every node, by name; nodes over no token are left out of the tree
    parents: of every token and node, None for none; what has none hangs from a node VROOT, unless it is alone
    ranks:   of every token and node; the head child is the child of the lowest rank, of equal ones the
             leftmost
    """

    words: list[tuple[str, ...]] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    parents: dict[Name, str | None] = field(default_factory=dict)
    ranks: dict[Name, int] = field(default_factory=dict)

    def add_word(self, columns: tuple[str, ...], parent: str | None, rank: int = 0) -> None:
        """Add the next token."""
        name = len(self.words)
        self.parents[name], self.ranks[name] = parent, rank
        self.words.append(columns)

    def add_node(self, label: str, parent: str | None, rank: int = 0, name: str | None = None) -> str:
        """Add a node, and return its name: its number, unless one is given."""
        name = name or str(len(self.labels))
        self.labels[name], self.parents[name], self.ranks[name] = label, parent, rank
        return name

    def tree(self, marked: bool = False, comments: tuple[str, ...] = ()) -> CTree:
        """Return the c-tree; marked: with head children. Raises GraphError where the nodes form no tree, and
        ValueError where no token is in it."""
        order, children = self._children()
        n, first = len(self.words), list(range(len(self.words)))
        ids = dict[Name | None, int]((i, i) for i in range(n))
        symbols: list[str] = []
        rows: list[tuple[int, ...]] = []
        heads: list[int] = []
        for name in reversed(order):
            kids = sorted(
                [child for child in children[name] if child in ids], key=lambda kid: first[ids[kid]]
            )
            if not kids:
                continue
            ids[name] = n + len(rows)
            rows.append(tuple([ids[kid] for kid in kids]))
            first.append(first[rows[-1][0]])
            symbols.append(VIRTUAL_ROOT if name is None else self.labels[name])
            heads.append(ids[min(kids, key=self.ranks.__getitem__)] if marked else 0)
        if not rows:
            raise ValueError("a sentence without tokens")
        root = n + len(rows) - 1
        if len(rows[-1]) == 1:
            root = rows[-1][0]
            symbols, rows, heads = symbols[:-1], rows[:-1], heads[:-1]
        forms, tags, *others = zip(*self.words, strict=True)
        lemmas, morphs = map(known_column, others) if others else (None, None)
        tokens = Tokens(forms, tags, lemmas, morphs, comments)
        whole = CTree(tokens, tuple(symbols), tuple(rows), tuple(heads) if marked else None)
        return unwrap(canonical(whole, root), False)

    def _children(self) -> tuple[list[str | None], dict[str | None, list[Name]]]:
        """Return nodes, parents before children and None, that of all, first; and the children of each."""
        below: dict[str | None, list[Name]] = {name: [] for name in self.labels} | {None: []}
        for child, parent in self.parents.items():
            if parent not in below:
                raise GraphError(f"the parent {parent!r} does not exist", child)
            below[parent].append(child)
        order: list[str | None] = [None]
        for above in order:
            order += [child for child in below[above] if isinstance(child, str)]
        if len(order) != len(below):
            reached = set(order)
            lost = next(name for name in self.labels if name not in reached)
            raise GraphError("the nodes form a circle", lost)
        return order, below


def known_column(values: Iterable[str]) -> tuple[str, ...] | None:
    """Return a column of the tokens, None where nothing of it is known."""
    column = tuple(values)
    return column if {*column} - {"--", ""} else None


def head_rank(function: str, form: str | None = None) -> int:
    """Return the rank of a child by its edge label: HD first, then what is not punctuation."""
    return 0 if function.upper() == HEAD else 1 + (form is not None and punctuates(form))


def listed(ctree: CTree) -> tuple[CTree, list[int], list[bool]]:
    """List a tree as graph formats hold it, with its wrapper as a node (a label-less one is called TOP, as a
    label-less root is): the parent of each token and node, -1 where it is the root, and whether it is a head
    child.

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
    are_heads = [False] * (ctree.root + 1)
    for head in ctree.head_children or ():
        are_heads[head] = True
    parents = ctree.parents()
    if ctree.labels and ctree.labels[-1] == VIRTUAL_ROOT and len(ctree.children[-1]) > 1:
        parents = [-1 if parent == ctree.root else parent for parent in parents[:-1]]
    return ctree, parents, are_heads
