"""Conversion rules: what each arc of a d-tree stands for in a c-tree, learned from pairs; how it is glued.

F. Xia and M. Palmer, "Converting dependency structures to phrase structures" (HLT 2001), third algorithm, and
F. Xia et al., "Towards a multi-representational treebank" (TLT 2009). A word has a chain of projections, the
nodes above it; an arc says how far the dependent projects, and to which projection of the head it attaches.
What it stands for is the path in the c-tree from the one word to the other, so that d-trees of any convention
will do. Of the paths seen for an arc the most frequent is taken; arcs are backed off to fewer tags.

In conversion each head takes its dependents from the nearest outward, those on the right before those on the
left. What an arc stands for is glued to the projections that the head already has; a dependent attaches no
lower than the one before it on its side, so that the c-tree has no more gaps than the d-tree. Extraction and
conversion are linear in the length of the sentence: a word has no more than 2 MOST_PROJECTIONS projections.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from d2c.base.counting import ranked
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.dtree import head_outward, modifiers_of, top_down

Projections = tuple[str, ...]  # symbols of a chain of projections, lowest first
ON_THE_LEFT, ON_THE_RIGHT, AT_THE_ROOT = "left", "right", "root"  # where the dependent stands, as in files
MOST_PROJECTIONS = 50  # of a word; of one with more of them no rule is made


class Arc(NamedTuple):
    """What rules see of an arc: tags, the d-label, where the dependent stands. None: anything."""

    head: str | None
    dependent: str | None
    label: str | None
    side: str | None

    def backed_off(self) -> Iterator[Arc]:
        """Yield the arc, then less and less specific versions of it."""
        head, dependent, label, side = self
        if label is not None:
            yield self
        if head is not None:
            yield Arc(head, dependent, None, side)
        yield Arc(None, dependent, None, side)
        if head is not None:
            yield Arc(head, None, None, side)
        yield Arc(None, None, None, side)
        yield Arc(None, None, None, None)


class ConversionRule(NamedTuple):
    """What an arc stands for.

    attachment:  projections of the head, up to the node where the dependent attaches; () for the root
    projections: of the dependent, up to the child of that node
    built:       how many of these the dependent's own arcs stand for: up to the highest attachment to it
    """

    arc: Arc
    attachment: Projections
    projections: Projections
    built: int


def arcs_into(tags: Sequence[str], heads: Sequence[int], labels: Sequence[str] | None = None) -> list[Arc]:
    """Return the arc into each of n tokens; heads (1..n, 0 = root) form a tree."""
    arcs = []
    for m, h in enumerate(heads):
        side = (ON_THE_LEFT if m < h - 1 else ON_THE_RIGHT) if h else AT_THE_ROOT
        arcs.append(Arc(tags[h - 1] if h else None, tags[m], None if labels is None else labels[m], side))
    return arcs


def extract_rules(
    ctree: CTree, heads: Sequence[int], labels: Sequence[str] | None = None
) -> list[ConversionRule]:
    """Return the rules of a c-tree, one for each arc of a d-tree over its tokens, except too long chains."""
    n, parents = len(heads), ctree.parents()
    spines = [_spine(parents, token) for token in range(n)]
    built, found = [0] * n, []
    for m, (h, arc) in enumerate(zip(heads, arcs_into(ctree.tokens.tags, heads, labels), strict=True)):
        above = {node: level for level, node in enumerate(spines[h - 1] if h else [-1])}
        reached = next((level for level, node in enumerate(spines[m]) if node in above), None)
        if reached is None or (h and above[spines[m][reached]] >= MOST_PROJECTIONS):
            continue
        attachment = spines[h - 1][: above[spines[m][reached]] + 1] if h else []
        if h:
            built[h - 1] = max(built[h - 1], len(attachment))
        found.append((m, arc, attachment, spines[m][:reached]))

    def symbols(nodes: Sequence[int]) -> Projections:
        return tuple([ctree.labels[node - n] for node in nodes])

    return [
        ConversionRule(arc, symbols(attachment), symbols(nodes), min(built[m], len(nodes)))
        for m, arc, attachment, nodes in found
    ]


def _spine(parents: Sequence[int], token: int) -> list[int]:
    """Return the nodes above a token, lowest first, and -1 above the root; at most MOST_PROJECTIONS + 1 of
    them."""
    spine = [parents[token]]
    while spine[-1] >= 0 and len(spine) <= MOST_PROJECTIONS:
        spine.append(parents[spine[-1]])
    return spine


@dataclass(frozen=True)
class RuleRows:
    """`RuleTables` in a file."""

    attachments: tuple[tuple[Arc, tuple[Projections, ...]], ...]
    bases: tuple[tuple[Arc, str], ...]
    tops: tuple[tuple[Arc, Projections, Projections], ...]

    def __post_init__(self) -> None:
        attached = [*itertools.chain.from_iterable(chains for _, chains in self.attachments)]
        if () in attached:
            raise ValueError("an attachment to no projection")
        bases = [(symbol,) for _, symbol in self.bases]
        tops = itertools.chain.from_iterable((built, top) for _, built, top in self.tops)
        if any(
            "" in symbols or len(symbols) > MOST_PROJECTIONS
            for symbols in itertools.chain(attached, bases, tops)
        ):
            raise ValueError("a chain has an empty symbol, or is too long")


@dataclass(frozen=True)
class RuleTables:
    """The rules. Of equally frequent chains the first in the order of their symbols counts as the commonest.

    attachments: an arc → the projections of a head up to the attachment, the commonest first
    bases:       an arc → the commonest lowest projection of a dependent
    tops:        an arc and what the dependent's own arcs have built → the commonest projections above that;
                 without dependents of its own, it has built nothing
    """

    attachments: Mapping[Arc, tuple[Projections, ...]]
    bases: Mapping[Arc, str]
    tops: Mapping[tuple[Arc, Projections], Projections]

    @classmethod
    def of(cls, rules: Iterable[ConversionRule]) -> RuleTables:
        """Count rules; return the commonest."""
        attachments: defaultdict[Arc, Counter[Projections]] = defaultdict(Counter)
        bases: defaultdict[Arc, Counter[str]] = defaultdict(Counter)
        tops: defaultdict[tuple[Arc, Projections], Counter[Projections]] = defaultdict(Counter)
        for arc, attachment, projections, built in rules:
            for key in arc.backed_off():
                tops[key, projections[:built]][projections[built:]] += 1
                if attachment:
                    attachments[key][attachment] += 1
                if projections:
                    bases[key][projections[0]] += 1
        return cls(
            {arc: tuple(ranked(counts)) for arc, counts in attachments.items()},
            {arc: ranked(counts)[0] for arc, counts in bases.items()},
            {key: ranked(counts)[0] for key, counts in tops.items()},
        )

    def base(self, arc: Arc) -> str | None:
        """Return the lowest projection of a dependent; None where no such dependent was seen to project."""
        return next((self.bases[key] for key in arc.backed_off() if key in self.bases), None)

    def top(self, arc: Arc, built: Projections) -> Projections:
        """Return the projections of a dependent above what its own arcs have built."""
        keys = ((key, built) for key in arc.backed_off())
        return next((self.tops[key] for key in keys if key in self.tops), ())

    def attachment(self, arc: Arc, built: Projections, lowest: int, base: str | None) -> Projections | None:
        """Return the commonest projections of a head up to the attachment that can be glued to those built.

        Chains can be glued where one is the beginning of the other: so projections are reused.
        lowest: number of the projection that is the lowest one allowed
        base:   where none is built, chains that begin with this symbol are preferred
        """
        base = built[0] if built else base
        for key in arc.backed_off():
            commonest = None
            for chain in self.attachments.get(key, ()):
                shared = min(len(chain), len(built))
                if len(chain) > lowest and chain[:shared] == built[:shared]:
                    if chain[0] == base:
                        return chain
                    commonest = commonest or chain
            if commonest:
                return commonest
        return None

    def to_json(self) -> dict[str, object]:
        """Return the rules as a file has them; see `RuleRows`."""
        return {
            "attachments": [*self.attachments.items()],
            "bases": [*self.bases.items()],
            "tops": [[arc, built, top] for (arc, built), top in self.tops.items()],
        }

    @classmethod
    def from_json(cls, rows: RuleRows) -> RuleTables:
        """Return the rules that `to_json` wrote."""
        return cls(
            dict(rows.attachments),
            dict(rows.bases),
            {(arc, built): top for arc, built, top in rows.tops},
        )


class Gluing:
    """A c-tree in the making: which words attach to each projection of each word.

    default: symbol of a projection where there is no rule; missing: how many arcs no rule fitted
    """

    def __init__(self, tables: RuleTables, heads: Sequence[int], arcs: Sequence[Arc], default: str) -> None:
        self.tables, self.arcs, self.default = tables, arcs, default
        self.modifiers = modifiers_of(heads)
        self.order = top_down(heads, self.modifiers)
        self.missing = 0
        self.projections: list[Projections] = [()] * len(heads)  # of each token
        self.levels = [0] * len(heads)  # the number of the head's projection to which each token attaches
        for h in self.order:
            self.projections[h] = self._attach_dependents(h)

    def _attach_dependents(self, h: int) -> Projections:
        """Set the levels at which a word's dependents attach; return the projections of the word."""
        base = self.tables.base(self.arcs[h]) if self.modifiers[h] else None
        built: Projections = ()
        left, right = head_outward(h, self.modifiers[h])
        for side in (right, left):
            level = 0
            for m in side:
                chain = self.tables.attachment(self.arcs[m], built, level, base)
                if chain is None:  # as low as can be
                    self.missing += 1
                    built = built or (self.default,)
                else:
                    built, level = built + chain[len(built) :], len(chain) - 1
                self.levels[m] = level
        return built + self.tables.top(self.arcs[h], built)

    def ctree(self, tokens: Tokens, top: str | None) -> CTree:
        """Return the c-tree. top: label of its wrapper."""
        n = len(self.projections)
        labels: list[str] = []
        children: list[list[int]] = []
        head_children: list[int] = []
        psi = list(range(n))  # ψ, as in `d2c.trees.conversion`
        for h in reversed(self.order):
            attached: list[list[int]] = [[] for _ in self.projections[h]]
            for m in self.modifiers[h]:
                attached[self.levels[m]].append(psi[m])
            for symbol, others in zip(self.projections[h], attached, strict=True):
                labels.append(symbol)
                children.append([psi[h], *others])
                head_children.append(psi[h])
                psi[h] = n + len(labels) - 1
        return build_ctree(tokens, labels, children, psi[self.order[0]], head_children, top)
