"""The relations of Tregex between two nodes, A and B, over all nodes of many trees at once.

A relation gives each node B a key, and each node A a range: the keys in it are those of the nodes B that A
has. For m nodes A and n nodes B, sorted keys tell in O((m + n) log n) which A have a B, and list all pairs in
time linear in their number. In a tree with gaps A precedes B if A's last token comes before B's first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from d2c.base.arrays import Bools
from d2c.trees.patterns.limits import MOST, TooMany
from d2c.trees.patterns.nodes import NONE, Ids, TreeNodes

Column = Callable[[TreeNodes, Ids], Ids]  # a number for each of some nodes
Fitting = Callable[[TreeNodes], Ids]  # the nodes that fit a label
_ABOVE = np.iinfo(np.int64).max


class Relation:
    """What all relations answer."""

    def keys(self, nodes: TreeNodes, b: Ids) -> Ids:
        """Return the keys [b] of nodes B [b], below 0 for a B that no A has."""
        raise NotImplementedError

    def ranges(self, nodes: TreeNodes, a: Ids) -> tuple[Ids, Ids]:
        """Return the least key [a] of the B of each node A [a], and the one after the greatest [a]."""
        raise NotImplementedError

    def exists(self, nodes: TreeNodes, a: Ids, b: Ids) -> Bools:
        """Return for each node A [a] whether it has one of the nodes B [b]."""
        keys = self.keys(nodes, b)
        keys = np.append(np.sort(keys[keys >= 0]), _ABOVE)
        begin, end = self.ranges(nodes, a)
        return np.asarray(keys[np.searchsorted(keys, begin)] < end)

    def pairs(self, nodes: TreeNodes, a: Ids, b: Ids, most: int = MOST) -> tuple[Ids, Ids]:
        """Return all pairs: places in `a` [pairs], in `b` [pairs]. Raises TooMany beyond `most`."""
        keys = self.keys(nodes, b)
        order = np.argsort(keys, kind="stable")[np.count_nonzero(keys < 0) :]
        begin, end = (np.searchsorted(keys[order], side) for side in self.ranges(nodes, a))
        counts = np.maximum(end - begin, 0)
        total = int(counts.sum())
        if total > most:
            raise TooMany
        places = np.repeat(begin - np.cumsum(counts) + counts, counts) + np.arange(total)
        return np.repeat(np.arange(len(a)), counts), order[places]


@dataclass(frozen=True)
class Same(Relation):
    """A and B have the same key; less: and A's number is less than B's; inverse: with A and B exchanged."""

    of_a: Column
    of_b: Column
    less: tuple[Column, Column] | None = None
    inverse: bool = False

    def keys(self, nodes: TreeNodes, b: Ids) -> Ids:
        keys = (self.of_a if self.inverse else self.of_b)(nodes, b)
        return keys * (nodes.count + 1) + self.less[not self.inverse](nodes, b) if self.less else keys

    def ranges(self, nodes: TreeNodes, a: Ids) -> tuple[Ids, Ids]:
        keys = (self.of_b if self.inverse else self.of_a)(nodes, a)
        if not self.less:
            return keys, keys + 1
        width = nodes.count + 1
        limit = self.less[self.inverse](nodes, a)
        begin = keys * width
        return (begin, begin + limit) if self.inverse else (begin + limit + 1, begin + width)


@dataclass(frozen=True)
class Below(Relation):
    """A dominates B; words: and B is a word."""

    words: bool = False

    def keys(self, nodes: TreeNodes, b: Ids) -> Ids:
        return np.where(nodes.children[b] == 0, b, NONE) if self.words else b

    def ranges(self, nodes: TreeNodes, a: Ids) -> tuple[Ids, Ids]:
        return a + 1, nodes.end[a]


@dataclass(frozen=True)
class Through(Relation):
    """A dominates B, and all nodes between fit."""

    through: Fitting

    def _tops(self, nodes: TreeNodes) -> Ids:
        """Return for each node the lowest node at or above it that does not fit, or ROOT [M]."""
        tops = np.arange(nodes.count)
        fitting = self.through(nodes)
        fitting = fitting[nodes.parent[fitting] >= 0]
        tops[fitting] = nodes.parent[fitting]
        while (tops != (higher := tops[tops])).any():
            tops = higher
        return tops

    def keys(self, nodes: TreeNodes, b: Ids) -> Ids:
        above = nodes.parent[b]
        return np.where(above >= 0, self._tops(nodes)[above] * (nodes.count + 1) + b, NONE)

    def ranges(self, nodes: TreeNodes, a: Ids) -> tuple[Ids, Ids]:
        begin = self._tops(nodes)[a] * (nodes.count + 1)
        return begin + a + 1, begin + nodes.end[a]


@dataclass(frozen=True)
class Inverse(Relation):
    """The relation `of`, from B to A."""

    of: Relation

    def exists(self, nodes: TreeNodes, a: Ids, b: Ids) -> Bools:
        begin, end = (np.sort(side) for side in self.of.ranges(nodes, b))
        keys = self.of.keys(nodes, a)
        within = np.searchsorted(begin, keys, "right") > np.searchsorted(end, keys, "right")
        return np.asarray(within & (keys >= 0))

    def pairs(self, nodes: TreeNodes, a: Ids, b: Ids, most: int = MOST) -> tuple[Ids, Ids]:
        at, places = self.of.pairs(nodes, b, a, most)
        return places, at


@dataclass(frozen=True)
class Chain(Relation):
    """A is right before B, or right after it, or a row of neighbours that fit leads from A to B.

    step: relates neighbours. A row enters a node at a border, its key, and leaves it where its range begins
    """

    step: Relation
    through: Fitting

    def exists(self, nodes: TreeNodes, a: Ids, b: Ids) -> Bools:
        between = self.through(nodes)
        enter, leave = self.step.keys(nodes, between), self.step.ranges(nodes, between)[0]
        reaching = np.zeros(nodes.last.max() + 2, bool)  # borders from which a row leads to a B
        reaching[self.step.keys(nodes, b)] = True
        order, reached = np.argsort(enter * np.sign(enter - leave)), bytearray(reaching)
        for at, further in zip(enter[order].tolist(), leave[order].tolist(), strict=True):
            reached[at] |= reached[further]
        return np.frombuffer(reached, bool)[self.step.ranges(nodes, a)[0]]

    def pairs(self, nodes: TreeNodes, a: Ids, b: Ids, most: int = MOST) -> tuple[Ids, Ids]:
        through, found = self.through(nodes), [np.zeros(0, np.int64)]
        rows = np.arange(len(a))
        while len(rows):
            nodes.clock.left()
            last, at = self.step.pairs(nodes, a, b, most)
            found.append(rows[last] * len(b) + at)
            if sum(map(len, found)) > most:
                raise TooMany
            last, at = self.step.pairs(nodes, a, through, most)
            rows, a = np.divmod(np.unique(rows[last] * nodes.count + through[at]), nodes.count)
        rows, at = np.divmod(np.unique(np.concatenate(found)), max(len(b), 1))
        return rows, at


def _node(_nodes: TreeNodes, x: Ids) -> Ids:
    return x


def _of(name: str) -> Column:
    return lambda nodes, x: np.asarray(getattr(nodes, name)[x])


def _parent_if(condition: Callable[[TreeNodes, Ids, Ids], Bools]) -> Column:
    """Make a column: the parent of those nodes [x] for which a condition holds, given their parents [x]."""

    def parent(nodes: TreeNodes, x: Ids) -> Ids:
        above = nodes.parent[x]
        return np.where(condition(nodes, x, above), above, NONE)

    return parent


def nth_child(n: int) -> Same:
    """Return the relation of A to its n-th child; n below 0 counts from the last child."""
    if n > 0:
        return Same(_node, _parent_if(lambda nodes, x, _: nodes.place[x] == n))
    return Same(_node, _parent_if(lambda nodes, x, up: nodes.place[x] - nodes.children[up] - 1 == n))


def _sister(column: str, shift: int) -> Column:
    """Make a column: the parent of each node together with its first or last token."""

    def key(nodes: TreeNodes, x: Ids) -> Ids:
        return np.asarray(nodes.parent[x] * (nodes.count + 1) + getattr(nodes, column)[x] + shift)

    return key


_LOWER, _BEFORE = (_node, _node), (_of("last"), _of("first"))
_DIRECTED = {
    "<": Same(_node, _of("parent")),
    "<:": Same(_node, _parent_if(lambda nodes, _, up: nodes.children[up] == 1)),
    "<,": nth_child(1),
    "<-": nth_child(-1),
    "<`": nth_child(-1),
    "<#": Same(_node, _parent_if(lambda nodes, x, up: nodes.heads[up] == nodes.heads[x])),
    "<<,": Same(_of("left"), _of("left"), _LOWER),
    "<<-": Same(_of("end"), _of("end"), _LOWER),
    "<<`": Same(_of("end"), _of("end"), _LOWER),
    "<<:": Same(_of("unary"), _of("unary"), _LOWER),
    "<<#": Same(_of("heads"), _of("heads"), _LOWER),
    "$+": Same(_of("next"), _node),
    "$++": Same(_of("parent"), _of("parent"), _LOWER),
    "$.": Same(_sister("last", 1), _sister("first", 0)),
    "$..": Same(_of("parent"), _of("parent"), _BEFORE),
    ".": Same(lambda nodes, x: nodes.last[x] + 1, _of("first")),
    "..": Same(_of("tree"), _of("tree"), _BEFORE),
}
_TURNED = str.maketrans("<+.", ">-,")  # in the sign of a relation, and in that of its inverse
RELATIONS: dict[str, Relation] = {
    **_DIRECTED,
    "==": Same(_node, _node),
    ":": Same(_of("tree"), _of("tree")),
    "<<": Below(),
    "<<<": Below(words=True),
}


def inverse(relation: Same) -> Same:
    """Return the relation with A and B exchanged."""
    return Same(relation.of_a, relation.of_b, relation.less, not relation.inverse)


for _sign, _relation in _DIRECTED.items():
    _side = _sign.replace("<", ">") if "<" in _sign else _sign.translate(_TURNED)
    RELATIONS[_side] = inverse(_relation)
RELATIONS[">>"] = Inverse(Below())
CHAINS: dict[str, Callable[[Fitting], Relation]] = {
    "<": Through,
    ">": lambda fitting: Inverse(Through(fitting)),
    ".": lambda fitting: Chain(RELATIONS["."], fitting),
    ",": lambda fitting: Chain(RELATIONS[","], fitting),
}
