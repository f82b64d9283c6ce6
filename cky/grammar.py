"""The lexicalised grammar (PAD, sections 2.2 and 3.3): rules A → β1* β2, A → β1 β2*, A → β*."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Ints
from d2c.trees.binarization import UNARY, Derivation, Symbol
from d2c.trees.dtree import head_outward, modifiers_of

ROOT = Symbol("", "root")  # parent of the rules that say which symbols a whole tree may have
ANY_LEVEL = 1_000
_MOST_SYMBOLS = 8192  # a table of their pairs takes half a gigabyte
_MOST_CLOSED = 1_000_000  # rules of a closed grammar; the largest treebanks have 700,000, in 0.3 GB


class Rule(NamedTuple):
    """A → head* modifier, A → modifier head*, or, with kind UNARY and no modifier, A → head*."""

    kind: int
    head: Symbol
    modifier: Symbol | None
    parent: Symbol


class RuleTable(NamedTuple):
    """The R rules of a grammar with S symbols as arrays, for the kernels.

    kind, head, modifier, parent: [R] LEFT, RIGHT or UNARY, and symbol ids; modifier is -1 in a unary rule,
                 parent is S (ROOT) in a root rule. Sorted by these columns, but the root rules are last
    attachments: [2 * S * S + 1] the rules of kind k that attach modifier symbol C to head symbol B are
                 those from attachments[(k * S + B) * S + C] up to the next entry
    unaries:     [S + 1] the unary rules over symbol B are those from unaries[B] up to unaries[B + 1]
    levels:      [R] the greatest number of unary steps after which a unary rule may come
    roots:       [S] the root rule over a symbol, or -1
    whole:       [S] whether the symbol can be a dependent or the root
    tag:         [S] whether the symbol is a pre-terminal
    finished:    [S] the whole constituent that an unfinished one becomes; a whole one stays itself
    """

    kind: Ints
    head: Ints
    modifier: Ints
    parent: Ints
    attachments: Ints
    unaries: Ints
    levels: Ints
    roots: Ints
    whole: NDArray[np.bool_]
    tag: NDArray[np.bool_]
    finished: Ints

    @property
    def nodes(self) -> NDArray[np.bool_]:
        """Return [S + 1] whether each symbol is that of a node of the c-tree; the last one, the chart's goal,
        is not."""
        return np.append(self.whole & ~self.tag, False)


def rules_of(tags: Sequence[str], heads: Sequence[int], derivation: Derivation) -> Iterator[tuple[int, Rule]]:
    """Yield the rules that a derivation uses, each with its head word, word by word and bottom-up.

    The last rule of the root word is the root rule.
    """
    tops = [
        steps[-1].parent if steps else Symbol(tag, "tag") for tag, steps in zip(tags, derivation, strict=True)
    ]
    for h, (modifiers, steps) in enumerate(zip(modifiers_of(heads), derivation, strict=True)):
        sides = tuple(map(iter, head_outward(h, modifiers)))
        symbol = Symbol(tags[h], "tag")
        for kind, parent in steps:
            yield h, Rule(kind, symbol, None if kind == UNARY else tops[next(sides[kind])], parent)
            symbol = parent
        if not heads[h]:
            yield h, Rule(UNARY, symbol, None, ROOT)


def levels_of(used: Iterable[Sequence[Rule]]) -> dict[Rule, int]:
    """Return for each unary rule the greatest number of unary steps right before it.

    used: the rules of the steps of each word, bottom-up
    """
    levels: dict[Rule, int] = {}
    for steps in used:
        level = 0
        for rule in steps:
            if rule.kind == UNARY:
                levels[rule] = max(level, levels.get(rule, 0))
            level = level + 1 if rule.kind == UNARY else 0
    return levels


@dataclass(frozen=True)
class Grammar:
    """The set of rules of a treebank, numbered in the order of `RuleTable`; and its symbols, numbered.

    levels: [R] the greatest number of unary steps after which a unary rule may come
    """

    rules: tuple[Rule, ...]
    levels: tuple[int, ...]

    @classmethod
    def of(cls, rules: Iterable[Rule], levels: Mapping[Rule, int] | None = None) -> Grammar:
        """Return the grammar with these rules, each once. A unary rule without a level may come after any
        number of unary steps."""
        known, ordered = levels or {}, sorted(set(rules), key=_order)
        return cls(tuple(ordered), tuple(known.get(rule, ANY_LEVEL) for rule in ordered))

    def closed(self) -> Grammar:
        """Return the grammar with every attachment whose halves were observed on its side under its parent's
        label, even if not together: A → β1* β2 where a rule of A has the head β1*, and one the modifier β2.

        Where Ā was observed, a rule may make Ā or A: the dependent may be the last one or not. Closing the
        closed grammar changes nothing. Raises ValueError, before making any, for over a million attachments.
        """
        heads: dict[tuple[str, int], set[Symbol]] = {}
        taken: dict[tuple[str, int], set[tuple[Symbol, Symbol]]] = {}
        barred = {rule.parent.label for rule in self.rules if rule.parent.bar == "bar"}
        for kind, head, modifier, parent in self.rules:
            if modifier is not None:
                key, bars = (parent.label, kind), {parent.bar}
                if parent.label in barred:
                    bars |= {"", "bar"}
                heads.setdefault(key, set()).add(head)
                taken.setdefault(key, set()).update((modifier, Symbol(parent.label, bar)) for bar in bars)
        if (size := sum(len(heads[key]) * len(halves) for key, halves in taken.items())) > _MOST_CLOSED:
            raise ValueError(
                f"a closed grammar of {size:,} rules; it may have {_MOST_CLOSED:,}: take the observed one"
            )
        attachments = tuple(_in_order(heads, taken))
        unary = [pair for pair in zip(self.rules, self.levels, strict=True) if pair[0].kind == UNARY]
        rules, levels = zip(*unary, strict=True) if unary else ((), ())
        return Grammar((*attachments, *rules), (*(ANY_LEVEL for _ in attachments), *levels))

    def closure(self, seen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return [R] which rules of this closed grammar are in the closure of the rules seen [R]."""
        closed, allowed = Grammar.of(self.rules[r] for r in np.flatnonzero(seen)).closed(), seen.copy()
        allowed[[self.rule_ids[rule] for rule in closed.rules]] = True
        return allowed

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """Return [S] every symbol of the rules except ROOT."""
        found = {symbol for rule in self.rules for symbol in (rule.head, rule.modifier, rule.parent)}
        return tuple(sorted(symbol for symbol in found if symbol is not None and symbol != ROOT))

    @cached_property
    def symbol_ids(self) -> dict[Symbol | None, int]:
        """Return the number of every symbol; ROOT has the last one, None (a unary rule's modifier) has -1."""
        ids: dict[Symbol | None, int] = {symbol: number for number, symbol in enumerate(self.symbols)}
        return ids | {ROOT: len(self.symbols), None: -1}

    @cached_property
    def rule_ids(self) -> dict[Rule, int]:
        """Return the number of every rule."""
        return {rule: number for number, rule in enumerate(self.rules)}

    @cached_property
    def table(self) -> RuleTable:
        """Return the rules as arrays. Raises ValueError for more symbols than a table of pairs can hold."""
        ids, size = self.symbol_ids, len(self.symbols)
        if size > _MOST_SYMBOLS:
            raise ValueError(f"a grammar of {size:,} symbols; it may have {_MOST_SYMBOLS:,}")
        rows = [(r.kind, ids[r.head], ids[r.modifier], ids[r.parent]) for r in self.rules]
        kind, head, modifier, parent = np.array(rows, np.int32).reshape(-1, 4).T.copy()
        binary, root = kind != UNARY, parent == size
        keys = (kind[binary] * size + head[binary]) * size + modifier[binary]
        attachments = np.zeros(2 * size * size + 1, np.int32)
        np.add.at(attachments, keys + 1, 1)
        roots = np.full(size, -1, np.int32)
        roots[head[root]] = np.flatnonzero(root)
        return RuleTable(
            kind,
            head,
            modifier,
            parent,
            np.cumsum(attachments, out=attachments),
            (binary.sum() + np.searchsorted(head[~binary & ~root], np.arange(size + 1))).astype(np.int32),
            np.array(self.levels, np.int32),
            roots,
            np.array([symbol.is_whole for symbol in self.symbols], np.bool_),
            np.array([symbol.is_tag for symbol in self.symbols], np.bool_),
            np.array([ids[s] if s.is_whole else ids[Symbol(s.label)] for s in self.symbols], np.int32),
        )

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """Return [R, groups] the keys with which features of a rule are conjoined, one for each group.

        They stand for the rule, with and without a backoff, (parent, modifier), (parent, head child) and the
        parent. Numbers of related keys are near each other.
        """
        table, rules, size = self.table, len(self.rules), len(self.symbols) + 1
        numbers = np.arange(rules, dtype=np.int64)
        parent, modifier, head = (
            column.astype(np.int64) for column in (table.parent, table.modifier, table.head)
        )
        pairs = rules + size + parent * size
        columns = numbers, numbers, pairs + modifier, pairs + head, rules + parent
        return np.stack(columns, axis=1)


def _in_order(
    heads: Mapping[tuple[str, int], Iterable[Symbol]],
    taken: Mapping[tuple[str, int], Iterable[tuple[Symbol, Symbol]]],
) -> Iterator[Rule]:
    """Yield the attachments of each head with each (modifier, parent) of the same label and kind, in the
    order of `_order`. It sorts numbers in place of rules, since there may be a million."""
    found = {symbol for halves in taken.values() for half in halves for symbol in half}
    names = sorted(found.union(*heads.values()))
    ids, n = {symbol: number for number, symbol in enumerate(names)}, len(names)
    codes = [np.zeros(0, np.int64)]
    for (label, kind), halves in taken.items():
        own = np.array([(kind * n + ids[head]) * n * n for head in heads[label, kind]])
        rest = np.array([ids[modifier] * n + ids[parent] for modifier, parent in halves])
        codes.append(np.add.outer(own, rest).ravel())
    kinds, *columns = np.unravel_index(np.unique(np.concatenate(codes)), (UNARY, n, n, n))
    return map(Rule, kinds.tolist(), *(map(names.__getitem__, column.tolist()) for column in columns))


def _order(rule: Rule) -> tuple[int, bool, Symbol, Symbol, Symbol]:
    """Return a sort key: attachments come first, then unary rules, then root rules."""
    return rule.kind, rule.parent == ROOT, rule.head, rule.modifier or ROOT, rule.parent
