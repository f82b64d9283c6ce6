"""C-trees from nodes that name their parents, as in graph formats and for traces, and back.

Linear time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from d2c.trees.binarization import is_part
from d2c.trees.cleaning import check_names, unwrap
from d2c.trees.ctree import CTree, Tokens, canonical, comment_of, trusted_ctree
from d2c.trees.marks import HEAD, head_rank, marked_heads, shown_heads

VIRTUAL_ROOT = "VROOT"
NO_FUNCTION = "--"
SENT_ID = "sent_id = "  # with which the comment begins that holds the id of a sentence
Name = str | int  # the name of a node, or the index of a token


class GraphError(ValueError):
    """Raised where nodes form no tree; name: of a node or token at fault."""

    def __init__(self, message: str, name: Name) -> None:
        super().__init__(message)
        self.name = name


@dataclass
class Graph:
    """A tree as it is read, tokens from left to right, nodes in any order.

    words:     form and tag of each token, perhaps lemma and morphology, `--` for none
    labels:    of every node, by name; nodes over no token are left out of the tree
    parents:   of every token and node, None for none; if several have no parent, a node VROOT becomes their
               parent
    functions: of every token and node, in the parent; "" or `--` for none
    secondary: edges: node, function, second parent (None for VROOT)
    """

    words: list[tuple[str, ...]] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    parents: dict[Name, str | None] = field(default_factory=dict)
    functions: dict[Name, str] = field(default_factory=dict)
    secondary: list[tuple[Name, str, str | None]] = field(default_factory=list)

    def add_word(self, columns: tuple[str, ...], parent: str | None, function: str = "") -> None:
        """Add the next token."""
        name = len(self.words)
        self.parents[name], self.functions[name] = parent, function
        self.words.append(columns)

    def add_node(self, label: str, parent: str | None, function: str = "", name: str | None = None) -> str:
        """Add a node, and return its name: its number, unless one is given."""
        name = name or str(len(self.labels))
        self.labels[name], self.parents[name], self.functions[name] = label, parent, function
        return name

    def add_edge(self, name: Name, function: str, above: str | None) -> None:
        """Add a secondary edge of a token or node; above: its second parent, None for VROOT."""
        self.secondary.append((name, known_function(function), above))

    def tree(
        self, marked: bool = False, comments: tuple[str, ...] = (), left_out: Counter[str] | None = None
    ) -> CTree:
        """Return the c-tree. Raises GraphError where the nodes form no tree, and ValueError where no token is
        in it.

        marked:   with head children, if one is marked
        left_out: counts functions and secondary edges that the tree cannot hold, those of wrappers and of
                  nodes over no token; None: a tree without any functions and secondary edges
        """
        order, children = self._children()
        n, first = len(self.words), list(range(len(self.words)))
        ids = dict[Name | None, int]((i, i) for i in range(n))
        names: list[str | None] = []
        rows: list[tuple[int, ...]] = []
        for name in reversed(order):
            kids = [ids[child] for child in children[name] if child in ids]
            if not kids:
                continue
            kids.sort(key=first.__getitem__)
            ids[name] = n + len(rows)
            rows.append(tuple(kids))
            first.append(first[kids[0]])
            names.append(name)
        if not rows:
            raise ValueError("a sentence without tokens")
        root = n + len(rows) - 1
        if len(rows[-1]) == 1:
            root = rows.pop()[0]
            names.pop()
            del ids[None]
        symbols = tuple([VIRTUAL_ROOT if name is None else self.labels[name] for name in names])
        forms, tags, *others = zip(*self.words, strict=True)
        lemmas, morphs = map(known_column, others) if others else (None, None)
        tokens = Tokens(forms, tags, lemmas, morphs, comments)
        every: tuple[Any, ...] = (*range(n), *names)  # None: the virtual root
        functions = [known_function(self.functions.get(name, "")) for name in every]
        heads = marked_heads(functions, forms, rows) if marked else None
        if left_out is None:
            return unwrap(canonical(trusted_ctree(tokens, symbols, tuple(rows), heads), root), False)
        known = tuple(functions) if any(functions) else None
        edges = [(ids.get(node, -1), name, ids.get(above, -1)) for node, name, above in self.secondary]
        whole = trusted_ctree(tokens, symbols, tuple(rows), heads, None, (known, tuple(edges)))
        ctree = unwrap(canonical(whole, root), False)
        left_out["secondary edges"] += len(edges) - len(ctree.secondary)
        left_out["functions"] += ctree.top is not None and known is not None and known[root] != ""
        return ctree

    def _children(self) -> tuple[list[str | None], dict[str | None, list[Name]]]:
        """Return None, the virtual root, and all nodes, parents before children; and the children of each.
        Raises GraphError."""
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


def value_of(column: Sequence[str] | None, token: int, tokens: Tokens) -> str:
    """Return a token's lemma or morphology as files of graphs have it: `--` for none, also in place of the
    `_` of CoNLL-U, unless that is the form, too."""
    value = column[token] if column else ""
    return value if value not in ("", "_") or tokens.forms[token] == value == "_" else "--"


def as_in_conllu(tokens: Tokens) -> Tokens:
    """Return tokens with lemmas and morphology as CoNLL-U has them: `_` for none, also in place of the `--`
    of files of graphs, unless that is the form. Tokens that were read from CoNLL-U stay as they are."""
    if tokens.source or not (tokens.lemmas or tokens.morphs):
        return tokens
    columns = [column or ("_",) * len(tokens) for column in (tokens.lemmas, tokens.morphs)]
    words = zip(tokens.forms, *columns, strict=True)
    rows = [["_" if one == "--" != form else one for one in said] for form, *said in words]
    lemmas, morphs = zip(*rows, strict=True)
    return replace(tokens, lemmas=lemmas, morphs=morphs)


def is_id(comment: str) -> bool:
    """Return whether a comment is the id of a sentence."""
    return comment_of([comment], "sent_id") is not None


def known_function(function: str) -> str:
    """Return a function, "" where there is none."""
    return "" if function == NO_FUNCTION else function


def listed(ctree: CTree, mark: str = HEAD) -> tuple[CTree, list[int], list[str]]:
    """List a tree as graph formats hold it, with its wrapper as a node (a wrapper or root without a label is
    called TOP): the tree, the parent of each token and node, -1 for none, and the function of each.

    Edges keep their functions. A head child without a function is marked where functions show another child
    as the head; in a tree without any functions, all head children are marked. A head child with another
    function than the mark keeps it, and is then not read as the head: see `hidden_heads`.

    A root VROOT with several children is left out of the list of parents, and its children have none. Raises
    ValueError for names that are empty.
    """
    check_names(ctree)
    if ctree.top is not None:
        ctree = replace(
            ctree,
            labels=(*ctree.labels, ctree.top or "TOP"),
            children=(*ctree.children, (ctree.root,)),
            head_children=None if ctree.head_children is None else (*ctree.head_children, ctree.root),
            functions=None if ctree.functions is None else (*ctree.functions, ""),
        )
    elif ctree.labels and not ctree.labels[-1]:
        ctree = replace(ctree, labels=(*ctree.labels[:-1], "TOP"))
    functions = list(ctree.functions or [""] * (ctree.root + 1))
    for head, shown in _shown_heads(ctree):
        if ctree.functions is None or (head != shown and not functions[head] and head_rank(functions[shown])):
            functions[head] = mark
    parents = ctree.parents()
    if ctree.labels and ctree.labels[-1] == VIRTUAL_ROOT and len(ctree.children[-1]) > 1:
        parents = [-1 if parent == ctree.root else parent for parent in parents[:-1]]
    return ctree, parents, functions


def hidden_heads(ctree: CTree) -> int:
    """Return how many head children cannot be read back from the functions of a tree once it is written: they
    have another function than the mark, or a sister has the mark."""
    if ctree.functions is None:
        return 0
    return sum(
        head != shown and (ctree.functions[head] != "" or not head_rank(ctree.functions[shown]))
        for head, shown in _shown_heads(ctree)
    )


def _shown_heads(ctree: CTree) -> Iterator[tuple[int, int]]:
    """Yield the head child of each node, and the child that functions show as its head; nothing for a tree
    without head children.

    Parts of binarized nodes off the path to the head child are skipped: they are no constituents, and a mark
    in them would look like the mark of one.
    """
    if ctree.head_children is not None:
        n, heads, holding = len(ctree.tokens), ctree.head_children, {ctree.root}
        for node in range(ctree.root, n - 1, -1):  # parents before children
            if node in holding or not is_part(ctree.label(node)):
                holding.add(heads[node - n])
        functions = ctree.functions or [""] * (ctree.root + 1)
        shown, _ = shown_heads(functions, ctree.tokens.forms, ctree.children)
        for node, pair in enumerate(zip(heads, shown, strict=True), n):
            if node in holding or not is_part(ctree.label(node)):
                yield pair
