"""A c-tree while it is edited.

Nodes keep the ids that they have in the original tree: pre-terminal i < n, proper node n + k, and n + K for
the wrapper above the root; new nodes get new ids. -1 - i is the word of pre-terminal i. The order of words
alone determines that of children. An operation takes time linear in what it removes or adds; an insertion, a
move, or wrapping several nodes takes time linear in the sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from itertools import count
from operator import or_
from typing import NamedTuple

from d2c.trees.cleaning import punctuates
from d2c.trees.ctree import CTree, Tokens

Place = tuple[str, int]
"""Where something is put: `$+`, `$-` before, after a sister; `>` below a node, as its child from 1 or -1 on,
or, 0, where its words stand."""


class Edited(NamedTuple):
    """An edited tree of n words and K proper nodes.

    words: [n] the original index of each word, -1 if it is new; nodes: [K] the original id of each, or -1
    """

    ctree: CTree
    words: tuple[int, ...]
    nodes: tuple[int, ...]


class Draft:
    """A tree that operations change; each raises ValueError where the result would be no tree."""

    def __init__(self, ctree: CTree) -> None:
        n, self._old, self._root, self._top = len(ctree.tokens), ctree, ctree.root, ctree.top
        self._above = dict(enumerate(ctree.parents()))  # of all nodes that are still there
        self._kids = {node: dict.fromkeys(kids) for node, kids in enumerate(ctree.children, n)}
        self._heads = dict(enumerate(ctree.head_children or (), n))  # without removed nodes
        self._labels = dict(enumerate((*ctree.tokens.tags, *ctree.labels)))
        self._forms = dict(enumerate(ctree.tokens.forms))
        self._order = list(range(n))  # of words, including removed ones
        self._new = count(ctree.root + 2)

    def __contains__(self, node: int) -> bool:
        return _preterminal(node) in self._above or self._is_wrapper(node)

    def relabel(self, node: int, change: Callable[[str], str]) -> None:
        """Give a node another label, a word another form."""
        if self._is_wrapper(node):
            self._top = change(self._top or "")
            return
        names = self._forms if node < 0 else self._labels
        label = change(names[_preterminal(node)])
        if not label:
            raise ValueError(f"nothing is left of {names[_preterminal(node)]!r}")
        names[_preterminal(node)] = label

    def delete(self, node: int) -> None:
        """Remove a node with all nodes below it, and the nodes above it that have no other children."""
        node = self._own(node)
        above = self._detach(node)
        for one in [*self._below(node)]:
            self._above.pop(one, None)
        self._prune(above)

    def excise(self, node: int) -> None:
        """Remove a node; its parent gets its children. A head child is replaced by its own head child."""
        node = self._own(node)
        if node not in self._kids:
            raise ValueError(f"{self._labels[node]!r} is a tag, which has no children that could stay")
        kids, is_head = self._kids[node], self._heads.get(self._above[node]) == node
        if node == self._root and len(kids) > 1:
            raise ValueError(f"{self._labels[node]!r} is the root, and its {len(kids)} children need one")
        above = self._detach(node)
        for kid in kids:
            self._attach(kid, above)
        if is_head and node in self._heads:
            self._heads[above] = self._heads[node]

    def wrap(self, *nodes: int, label: str) -> None:
        """Put a new node above sisters: those named, and all between them."""
        named = {*map(self._own, nodes)}
        above = {self._above[node] for node in named}
        if len(above) > 1:
            raise ValueError("the nodes have different parents")
        chosen, parent, new = [*named], above.pop(), next(self._new)
        if len(named) > 1:
            sisters = self._in_order(self._kids[parent])
            at = [sisters.index(node) for node in named]
            chosen = sisters[min(at) : max(at) + 1]
        head = self._heads.get(parent)
        self._labels[new], self._kids[new] = label, {}
        for node in chosen:
            self._detach(node)
            self._attach(node, new)
        self._attach(new, parent)
        if head in chosen:
            self._heads |= {parent: new, new: head}

    def insert(self, anchor: int, tree: CTree, place: Place) -> None:
        """Put a tree, with its words, at a place relative to `anchor`."""
        n = len(tree.tokens)
        ids = [next(self._new) for _ in range(n + len(tree.labels))]
        self._labels |= zip(ids, (*tree.tokens.tags, *tree.labels), strict=True)
        self._forms |= zip(ids[:n], tree.tokens.forms, strict=True)
        for node, kids in zip(ids[n:], tree.children, strict=True):
            self._kids[node] = {}
            for kid in kids:
                self._attach(ids[kid], node)
        self._order += ids[:n]
        self._put(ids[-1], place, self._own(anchor))

    def move(self, node: int, anchor: int, place: Place) -> None:
        """Put a node, with its words, at another place; nodes left without children are removed."""
        node, anchor = self._own(node), self._own(anchor)
        if anchor in self._below(node):
            raise ValueError(f"{self._labels[node]!r} would be moved to a place below itself")
        above = self._above[node]
        self._put(node, place, anchor)
        self._prune(above)

    def finished(self) -> Edited:
        """Return the tree.

        A node without a head child, because it is new or lost it, gets the leftmost that is not punctuation.
        """
        words = [word for word in self._order if word in self._above]
        down = [self._root]
        for node in down:
            down += self._kids.get(node, ())
        nodes = [node for node in reversed(down) if node in self._kids]
        ids = {node: i for i, node in enumerate((*words, *nodes))}
        first = list(range(len(words)))
        children, heads = list[tuple[int, ...]](), list[int]()
        for node in nodes:
            kids = sorted([ids[kid] for kid in self._kids[node]], key=first.__getitem__)
            first.append(first[kids[0]])
            children.append(tuple(kids))
            solid = (i for i in kids if i >= len(words) or not punctuates(self._forms[words[i]]))
            head = self._heads.get(node)
            heads.append(next(solid, kids[0]) if head is None else ids[head])
        old, known = self._old, range(self._old.root + 1)
        functions = old.functions and tuple([old.functions[i] if i in known else "" for i in ids])
        edges = [(ids[i], name, ids[up]) for i, name, up in old.secondary if i in ids and up in ids]
        labels = tuple([self._labels[node] for node in nodes])
        ctree = CTree(
            self._tokens(words),
            labels,
            tuple(children),
            None if old.head_children is None else tuple(heads),
            self._top,
            functions,
            tuple(edges),
        )
        origins = [node if node in known else -1 for node in ids]
        return Edited(ctree, tuple(origins[: len(words)]), tuple(origins[len(words) :]))

    def _tokens(self, words: list[int]) -> Tokens:
        old = self._old.tokens
        n, same = len(old), [*range(len(old))] == words
        forms = tuple([self._forms[word] for word in words])
        lemmas, morphs = [
            column and tuple([column[word] if word < n else "_" for word in words])
            for column in (old.lemmas, old.morphs)
        ]
        comments = old.comments
        if forms != old.forms:
            comments = tuple([one for one in comments if not one.startswith("text =")])
        tags = tuple([self._labels[word] for word in words])
        return Tokens(forms, tags, lemmas, morphs, comments, old.source if same else "")

    def _own(self, node: int) -> int:
        """Return the pre-terminal of a word, and any other node itself. Raises ValueError for the wrapper."""
        if self._is_wrapper(node):
            raise ValueError("ROOT is above the tree and no node of it; it can only be relabelled")
        return _preterminal(node)

    def _is_wrapper(self, node: int) -> bool:
        return node == self._old.root + 1

    def _below(self, node: int) -> Iterator[int]:
        """Yield a node and all below it."""
        stack = [node]
        while stack:
            yield (last := stack.pop())
            stack += self._kids.get(last, ())

    def _in_order(self, nodes: dict[int, None]) -> list[int]:
        """Return nodes in the order of their leftmost words."""
        rank = {word: i for i, word in enumerate(self._order)}
        return sorted(nodes, key=lambda node: min([rank[one] for one in self._below(node) if one in rank]))

    def _attach(self, node: int, above: int) -> None:
        self._above[node] = above
        if above < 0:
            self._root = node
        else:
            self._kids[above][node] = None

    def _detach(self, node: int) -> int:
        """Take a node from its parent, and return the parent, -1 where there is none."""
        above = self._above.pop(node)
        if above >= 0:
            del self._kids[above][node]
            if self._heads.get(above) == node:
                del self._heads[above]
        return above

    def _prune(self, node: int) -> None:
        while node >= 0 and not self._kids[node]:
            node = self._detach(node)
        if node < 0:
            raise ValueError("no word would be left")

    def _put(self, node: int, place: Place, anchor: int) -> None:
        """Put a node, which may have a parent already, and its words at a place."""
        sign, number = place
        above = anchor if sign == ">" else self._above[anchor]
        if above < 0:
            raise ValueError(f"{self._labels[anchor]!r} is the root, which has no sisters")
        if above not in self._kids:
            raise ValueError(f"{self._labels[anchor]!r} is a tag, which has no children but its word")
        moved = {*self._below(node)}
        beside, after = anchor, sign == "$-"
        if sign == ">" and number:
            kids = [kid for kid in self._in_order(self._kids[above]) if kid != node]
            at = number - 1 if number > 0 else len(kids) + 1 + number
            if not 0 <= at <= len(kids):
                name = self._labels[anchor]
                raise ValueError(f"{name!r} has no place {number} for a child, but {len(kids) + 1}")
            beside, after = (anchor, True) if at == len(kids) else (kids[at], False)
        edge = {*self._below(beside)} - moved
        rest = [word for word in self._order if word not in moved]
        places = [i for i, word in enumerate(rest) if word in edge]
        if places and (sign != ">" or number):
            at = places[-1] + 1 if after else places[0]
            self._order = [*rest[:at], *[word for word in self._order if word in moved], *rest[at:]]
        was_head = node in self._above and self._above[node] == above and self._heads.get(above) == node
        if node in self._above:
            self._detach(node)
        self._attach(node, above)
        if was_head:
            self._heads[above] = node


def unchanged(old: CTree, edited: Edited) -> list[int]:
    """Return [K] the original id of each node of an edited tree; -1 where its label or words changed."""
    n, before, new = len(old.tokens), old.bits(), edited.ctree
    forms = zip(edited.words, new.tokens.forms, strict=True)
    now = [1 << (word if word >= 0 and old.tokens.forms[word] == form else n) for word, form in forms]
    found = list[int]()
    for node, label, kids in zip(edited.nodes, new.labels, new.children, strict=True):
        now.append(reduce(or_, [now[kid] for kid in kids]))
        same = node >= 0 and label == old.label(node) and now[-1] == before[node]
        found.append(node if same else -1)
    return found


def _preterminal(node: int) -> int:
    return -1 - node if node < 0 else node
