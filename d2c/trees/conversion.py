"""Head-ordered d-trees ⇄ c-trees: Algorithms 1 and 2 of "Parsing as Reduction".

On unaryless c-trees the two algorithms are inverse to each other (Proposition 2); binary c-trees correspond
to strictly ordered d-trees (Proposition 1), continuous c-trees to projective d-trees with nested orders
(Proposition 3). The time is linear in the length of the sentence, except for sorting each head's modifiers by
event and each node's children by position.

ψ(h) is the highest node whose lexical head is h (section 3.1); where trees are built bottom-up, `psi[h]` is
the highest so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from d2c.trees.ctree import CTree, trusted_ctree
from d2c.trees.dtree import DTree, modifiers_of, top_down


def to_dependencies(ctree: CTree) -> DTree:
    """Return the head-ordered d-tree of a c-tree with head children: Algorithm 1.

    Unary nodes attach nothing: they leave no trace and use up no event index, though line 9 as
    printed counts them. Raises ValueError where the c-tree has no head children.
    """
    n, lexical_head = len(ctree.tokens.forms), ctree.lexical_heads()
    next_event = [1] * n
    heads, symbols, events = [0] * n, [""] * n, [0] * n
    for symbol, kids, head_child in zip(ctree.labels, ctree.children, ctree.head_children or (), strict=True):
        if len(kids) > 1:
            h = lexical_head[head_child]
            event = next_event[h]
            next_event[h] = event + 1
            for kid in kids:
                if kid != head_child:
                    m = lexical_head[kid]
                    heads[m] = h + 1
                    symbols[m] = symbol
                    events[m] = event
    return DTree(ctree.tokens, tuple(heads), tuple(symbols), tuple(events))


def to_labelled_dependencies(ctree: CTree) -> DTree:
    """Return the d-tree of `to_dependencies` with its phrase symbols as labels, and "root" for the root."""
    dtree = to_dependencies(ctree)
    arcs = zip(dtree.heads, dtree.symbols or (), strict=True)
    return replace(dtree, labels=tuple([symbol if head else "root" for head, symbol in arcs]))


def to_constituents(dtree: DTree, top: str | None = None) -> CTree:
    """Return the unaryless c-tree of a head-ordered d-tree: Algorithm 2.

    Gaps in the event indices do not matter, only their order does. Raises ValueError without words, symbols
    or events, and for what is no weakly ordered d-tree: heads that form no tree, an event below 1, modifiers
    of one event with different symbols.
    """
    if dtree.symbols is None or dtree.events is None:
        raise ValueError("this d-tree has no symbols and event indices")
    n, symbols, events = len(dtree.heads), dtree.symbols, dtree.events
    if not n:
        raise ValueError("a sentence without words has no tree")
    if min(dtree.heads) < 0 or max(dtree.heads) > n:
        raise ValueError("these heads form no tree")
    modifiers = modifiers_of(dtree.heads)
    order = top_down(dtree.heads, modifiers)
    if len(order) != n:
        raise ValueError("these heads form no tree")
    labels: list[str] = []
    children: list[list[int]] = []
    head_children: list[int] = []
    psi = list(range(n))
    first = list(range(n))  # leftmost token of each node
    for h in reversed(order):
        if not modifiers[h]:
            continue
        in_order = sorted(modifiers[h], key=events.__getitem__) if len(modifiers[h]) > 1 else modifiers[h]
        event, node, kids = 0, psi[h], []
        leftmost = first[node]
        for m in in_order:
            if events[m] != event:
                event = events[m]
                if event < 1:
                    raise ValueError(f"token {m + 1} has the event {event}")
                labels.append(symbols[m])
                head_children.append(node)
                kids = [node]
                children.append(kids)
                first.append(leftmost)
                node = n + len(labels) - 1
            elif not event or symbols[m] != labels[-1]:
                raise ValueError(f"token {m + 1} has no event, or another symbol than its event")
            kids.append(psi[m])
            if first[psi[m]] < leftmost:
                leftmost = first[-1] = first[psi[m]]
        psi[h] = node
    for kids in children:
        if len(kids) > 2 or first[kids[0]] > first[kids[1]]:
            kids.sort(key=first.__getitem__)
    return trusted_ctree(dtree.tokens, tuple(labels), tuple(map(tuple, children)), tuple(head_children), top)


def order_arcs(ctree: CTree, heads: Sequence[int]) -> DTree:
    """Return the head-ordered d-tree with the given heads that comes nearest to an unaryless c-tree.

    An arc from h to m stands for the lowest node over both; the events of h are these nodes, counted upwards.
    With the c-tree's own heads that is Algorithm 1. The order is nested where heads are projective and the
    c-tree has no gaps. The time grows with the depth of nodes; heads must form a tree.
    """
    n, above = len(ctree.tokens.forms), ctree.parents()
    symbols, events = [""] * n, [0] * n
    for h, modifiers in enumerate(modifiers_of(heads)):
        on_path, node = set(), above[h] if modifiers else -1
        while node >= 0:
            on_path.add(node)
            node = above[node]
        makes = {}
        for m in modifiers:
            node = above[m]
            while node not in on_path:
                node = above[node]
            makes[m] = node
        ranks = {node: event for event, node in enumerate(sorted(set(makes.values())), 1)}
        for m, node in makes.items():
            symbols[m], events[m] = ctree.labels[node - n], ranks[node]
    return DTree(ctree.tokens, tuple(heads), tuple(symbols), tuple(events))
