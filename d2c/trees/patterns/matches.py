"""Matches of a pattern, found in all c-trees of a batch at once, a node of the pattern at a time. A match has
the spans of the node that is sought and of the nodes that have names in the pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from d2c.base.arrays import Bools
from d2c.base.errors import printable, shortened
from d2c.trees.patterns.language import Node, Pattern, Said, compiled
from d2c.trees.patterns.limits import IN_BATCH, MATCHES, MOST, SECONDS, Clock, RanOver, TooMany
from d2c.trees.patterns.nodes import NONE, ROOT, Ids, TreeNodes
from d2c.trees.patterns.relations import Chain, Inverse, Relation
from d2c.trees.spans import Constituents, Span

Item = TypeVar("Item")
BATCH = 30_000  # tokens of trees that are searched together
FEW = 20  # combinations of named nodes, up to which each is looked for alone
_SHOWN = 60  # characters of a pattern, where it ran over
Found = tuple[int, int]  # `TreeNodes.origin` and `_Search.words` of a node
Bound = dict[str, Ids]  # by name, the node in each row, or NONE; by variable ("%x"), the number of a text


@dataclass(frozen=True, slots=True)
class Match:
    """A place where a pattern matches.

    span:     the node that was sought; the label of a word is its form, that of the node above the tree ROOT;
              words in a row are one span, whose `tree` is the lowest constituent that has them all
    captures: the nodes that are named in the pattern, by name, unless an optional one is missing
    sentence: the number of the sentence in its file, from 1; 0: it is in no file
    file:     the file, "" where there is none
    source:   the text that was parsed, if the file names it; "" otherwise
    """

    span: Span
    captures: dict[str, Span] = field(hash=False)
    sentence: int = 0
    file: str = ""
    source: str = ""

    @property
    def tree(self) -> Any:
        """Return the node that was sought as a `d2c.Tree`; for a word, its tag; for ROOT, its child; for
        words in a row, the lowest constituent that has them all."""
        return self.span.tree

    def to_dict(self) -> dict[str, Any]:
        """Return the file, the sentence, the source if it is known, the span with its text, and by name the
        captures with theirs."""
        place = {"file": self.file, "sentence": self.sentence}
        place |= {"source": self.source} if self.source else {}
        captures = {name: _said(span) for name, span in self.captures.items()}
        return {**place, **_said(self.span), "captures": captures}


def _said(span: Span) -> dict[str, Any]:
    return span.to_dict() | {"text": span.text}


def matches(
    text: str, items: Iterable[Item], searched: Callable[[Item], Constituents], timeout: float = SECONDS
) -> Iterator[tuple[Item, list[Match] | RanOver]]:
    """Yield each item with the matches in it, from left to right, the higher node first, or with the RanOver
    that says over which limit its search ran.

    text:     a pattern in the language of Tregex; raises ValueError where it cannot be read, or asks for
              heads where a tree has none
    searched: returns the constituents of an item, in which the pattern is searched for
    timeout:  seconds of CPU time for the tree of an item
    """
    pattern = compiled(text)

    def of_batch(
        batch: Sequence[tuple[Item, Constituents]],
    ) -> Iterator[tuple[Item, list[Match] | RanOver]]:
        nodes = TreeNodes([one.ctree for _, one in batch])
        try:
            rows, words = find(pattern, nodes, timeout)
        except RanOver as error:
            if len(batch) == 1:
                yield batch[0][0], RanOver(f"{shortened(printable(text), _SHOWN)}: {error}")
            else:
                for alone in batch:
                    yield from of_batch([alone])
            return
        found = [list[list[Found]]() for _ in batch]
        origins = np.stack([nodes.origin[rows], words], 2).tolist()
        for tree, row in zip(nodes.tree[rows[:, 0]].tolist(), origins, strict=True):
            found[tree].append(row)
        for (item, one), of_tree in zip(batch, found, strict=True):
            yield item, _matches(one, of_tree, pattern.names) if of_tree else []

    batch, size = list[tuple[Item, Constituents]](), 0
    for item in items:
        batch.append((item, searched(item)))
        size += len(batch[-1][1].ctree.tokens)
        if size >= BATCH:
            yield from of_batch(batch)
            batch, size = [], 0
    if batch:
        yield from of_batch(batch)


def _matches(every: Constituents, rows: list[list[Found]], names: Sequence[str]) -> list[Match]:
    """Return the matches in a tree; rows: for each the node that was sought, and those with `names`."""
    ctree = every.ctree

    def span(origin: int, words: int) -> Span:
        node = min(max(origin, -1 - origin), ctree.root)  # of a word its tag, of ROOT the node below it
        if 0 <= origin <= ctree.root:
            return every.span(node)
        if words > 1:
            return _in_a_row(every, node, node + words)
        label = ctree.tokens.forms[node] if origin < 0 else ROOT
        return replace(every.span(node), label=label, confidence=None)

    found = []
    for first, *others in rows:
        named = zip(names, others, strict=True)
        captures = {name: span(*node) for name, node in named if node[1]}
        found.append(Match(span(*first), captures))
    return found


def _in_a_row(every: Constituents, start: int, end: int) -> Span:
    """Return the span of tokens in a row, in the place of the lowest constituent that has them all."""
    node, depth = start, every.depths[start]
    while not any(first <= start and end <= last for first, last in every.blocks[node]):
        node = every.parents[node]
    label = " ".join(every.ctree.tokens.forms[start:end])
    lowest = every.span(node)
    return replace(lowest, label=label, blocks=((start, end),), head=None, depth=depth, confidence=None)


def find(pattern: Pattern, nodes: TreeNodes, timeout: float = SECONDS) -> tuple[Ids, Ids]:
    """Return the matches [matches, 1 + names], in order, each once: the node that is sought, and the node of
    each name or NONE; and `_Search.words` of them [matches, 1 + names].

    timeout: seconds of CPU time

    Raises RanOver beyond the timeout; for patterns with names or variables also beyond MATCHES in a tree or
    IN_BATCH in all trees, and for tables of more than MOST cells.
    """
    nodes.clock = Clock(timeout)
    try:
        search = _Search(nodes, 1 + len(pattern.names))
        found = search.matches(pattern)
        return found, search.words(pattern, found)
    except TimeoutError:
        raise RanOver(f"the search takes more than {timeout:g} s; a longer timeout can be set") from None
    except TooMany:
        raise RanOver(f"there are more than {MATCHES:,} matches, or nodes from which they are made") from None


class _Search:
    def __init__(self, nodes: TreeNodes, columns: int) -> None:
        self.nodes = nodes
        self.texts: dict[str, int] = {}  # numbers of the texts that groups of regular expressions hold
        self.most = MOST // columns
        self.found = np.zeros(len(nodes.ctrees), np.int64)
        self._ids: dict[int, Ids] = {}

    def matches(self, pattern: Pattern) -> Ids:
        found = [np.zeros((0, 1 + len(pattern.names)), np.int64)]
        for node in pattern.nodes:
            ids = self.ids(node)
            found += [ids[:, None]] if not pattern.names and node.plain else self.tables(pattern, node, ids)
        whole = np.concatenate(found)
        return np.unique(whole, axis=0) if pattern.names else np.unique(whole)[:, None]

    def words(self, pattern: Pattern, found: Ids) -> Ids:
        """Return [matches, 1 + names] how many words in a row begin with each node in `found`, of that shape:
        1 where no row was sought, 0 where there is no node."""
        words = (found >= 0).astype(np.int64)
        for column, name in enumerate(("", *pattern.names)):
            for node in pattern.rows.get(name, ()):
                words[np.isin(found[:, column], self.ids(node)), column] = node.words
        return words

    def tables(self, pattern: Pattern, node: Node, ids: Ids) -> Iterator[Ids]:
        """Yield matches in tables [matches, 1 + names]. Raises TooMany beyond the limits of `find`."""
        waiting = [ids]
        while waiting:
            some = waiting.pop()
            try:
                rows, bound = self.bind(
                    node, some, {name: np.full(len(some), NONE) for name in pattern.names}
                )
            except TooMany:
                if len(some) == 1:
                    raise
                waiting += [some[len(some) // 2 :], some[: len(some) // 2]]
            else:
                columns = [some[rows], *(bound[name] for name in pattern.names)]
                table = np.unique(np.stack(columns, 1), axis=0)
                self.found += np.bincount(self.nodes.tree[table[:, 0]], minlength=len(self.found))
                if self.found.max() > MATCHES or self.found.sum() > IN_BATCH:
                    raise TooMany
                yield table

    def ids(self, node: Node) -> Ids:
        """Return in order the nodes [nodes] that fit a node of the pattern, or, with names in it, may fit."""
        if id(node) not in self._ids:
            ids = node.label.ids(self.nodes) if node.label else np.arange(self.nodes.count)
            self._ids[id(node)] = ids[self.holds(node.said, ids)] if node.said else ids
        return self._ids[id(node)]

    def holds(self, said: Said, here: Ids) -> Bools:
        """Return for nodes [here] whether a condition holds, or, with names in it, may hold [here]."""
        self.nodes.clock.left()
        if said.relation and said.node:
            return said.relation.exists(self.nodes, here, self.ids(said.node))
        if said.kind == "maybe" or (said.kind == "not" and not said.plain):
            return np.ones(len(here), bool)
        if said.kind == "not":
            return ~self.holds(said.clauses[0], here)
        holds = np.full(len(here), said.kind == "all")
        for clause in said.clauses:
            open_ = np.flatnonzero(holds == (said.kind == "all"))
            holds[open_] = self.holds(clause, here[open_])
        return holds

    def extend(self, said: Said, here: Ids, bound: Bound) -> tuple[Ids, Bound]:
        """Return each way in which a condition holds for nodes [rows]: the row [ways], and what is bound."""
        rows = np.arange(len(here))
        if said.plain:
            return _taken(np.flatnonzero(self.holds(said, here)), bound)
        names = self.names_apart(said)
        if said.relation and said.node and names is not None:
            return self.extend_apart(said.relation, said.node, names, here, bound)
        if said.relation and said.node:
            ids = np.unique(bound[said.node.same]) if said.node.same else self.ids(said.node)
            ids = ids[ids >= 0]
            rows, there = said.relation.pairs(self.nodes, here, ids, self.most)
            more, bound = self.bind(said.node, ids[there], _taken(rows, bound)[1])
            return rows[more], bound
        if said.kind == "all":
            for clause in said.clauses:
                more, bound = self.extend(clause, here[rows], bound)
                rows = rows[more]
            return rows, bound
        ways = [self.extend(clause, here, bound) for clause in said.clauses]
        if said.kind in ("not", "maybe"):
            others = _taken(np.setdiff1d(rows, ways[0][0]), bound)
            ways = [others] if said.kind == "not" else [*ways, others]
        if sum(len(found) for found, _ in ways) > self.most:
            raise TooMany
        none = [np.full(len(found), NONE) for found, _ in ways]
        return np.concatenate([found for found, _ in ways]), {
            name: np.concatenate([way.get(name, no) for (_, way), no in zip(ways, none, strict=True)])
            for name in set[str]().union(*(way for _, way in ways))
        }

    def names_apart(self, said: Said) -> Sequence[str] | None:
        """Return the names below a related node that has none itself; None where they depend on what is bound
        elsewhere, where the node has a name, and for chains, which have no ranges."""
        if not said.node or said.node.name or isinstance(said.relation, Chain):
            return None
        every = [*said.node.below()]
        if any(one.same or one.alike or (one.label and one.label.groups) for one in every):
            return None
        return [*dict.fromkeys(one.name for one in every if one.name)]

    def extend_apart(
        self, relation: Relation, node: Node, names: Sequence[str], here: Ids, bound: Bound
    ) -> tuple[Ids, Bound]:
        """Return what `extend` does [ways], given nodes [rows], for a node with `names_apart`: the node is
        bound once for all rows; what it binds counts once for each row, however many nodes lead there."""
        ids, back = self.ids(node), relation.of if isinstance(relation, Inverse) else Inverse(relation)
        ids = ids[back.exists(self.nodes, ids, np.unique(here))]
        at, below = self.bind(node, ids, {name: np.full(len(ids), NONE) for name in names})
        ids, first, number = ids[at], at, np.zeros(len(at), np.int64)
        for name in names:
            keys = number * (self.nodes.count + 1) + below[name] + 1
            _, first, number = np.unique(keys, return_index=True, return_inverse=True)
        if len(first) <= FEW:
            own = [relation.exists(self.nodes, here, ids[number == k]) for k in range(len(first))]
            which, rows = np.nonzero(np.reshape(own, (len(first), len(here))))
        else:
            pairs, there = relation.pairs(self.nodes, here, ids)
            rows, which = np.divmod(np.unique(pairs * len(first) + number[there]), len(first))
        if len(rows) > self.most:
            raise TooMany
        rows, bound = _taken(rows, bound)
        return rows, bound | {name: below[name][first][which] for name in names}

    def bind(self, node: Node, here: Ids, bound: Bound) -> tuple[Ids, Bound]:
        """Return the rows [ways] in which a node of the pattern fits the node here [rows], and what is
        bound."""
        self.nodes.clock.left()
        fits, labels = np.ones(len(here), bool), self.nodes.labels
        bound = dict(bound)
        if node.same:
            fits &= bound[node.same] == here
        if node.alike:
            fits &= (bound[node.alike] >= 0) & (labels[bound[node.alike]] == labels[here])
        for number, variable in node.label.groups if node.label else ():
            texts = self._group(node, number)[labels[here]]
            held = bound.get("%" + variable, np.full(len(here), NONE))
            fits &= (held == NONE) | (held == texts)
            bound["%" + variable] = texts
        if node.name:
            bound[node.name] = here
        rows, bound = _taken(np.flatnonzero(fits), bound)
        if node.said is None or not len(rows) or (node.said.plain and not node.same):
            return rows, bound
        more, bound = self.extend(node.said, here[rows], bound)
        return rows[more], bound

    def _group(self, node: Node, number: int) -> Ids:
        """Return [labels] the number of the text that a group of a regular expression holds in each label."""
        assert node.label is not None
        texts = [match[number] or "" if match else "" for match in node.label.fitted(self.nodes)]
        return np.array([self.texts.setdefault(text, len(self.texts)) for text in texts])


def _taken(rows: Ids, bound: Bound) -> tuple[Ids, Bound]:
    return rows, {name: column[rows] for name, column in bound.items()}
