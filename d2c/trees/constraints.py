"""Constituents that must be in a c-tree, and those that must not: what a user knows about a sentence.

`obeying` mends a tree that breaks them, with as few changes as it can. A forbidden constituent goes, its
children go to what is above it. Of one that crosses a required span the part with its head stays, if that is
several words that are no constituent yet, and the rest goes to what is above. A span that is missing is put
in. Every `SpanConstraints` can be obeyed. Time is that of a comparison of each node with each constraint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, count
from numbers import Integral
from typing import Any, NamedTuple

from d2c.base.counting import many
from d2c.trees.compatible import cross
from d2c.trees.ctree import CTree, bits_of, tree_of
from d2c.trees.formats.brackets import escape
from d2c.trees.formats.format import check_text

_MOST = 1_000  # constraints of a sentence: a c-tree of 500 words has as many nodes, and time is their square
UNKNOWN = "X"  # a label where nothing suggests one


class LabelledSpan(NamedTuple):
    """The words from start to the one before end, counted from 0, and a label; None: any."""

    start: int
    end: int
    label: str | None = None

    def __str__(self) -> str:
        return f"{self.label or 'a constituent'} over {self.start} to {self.end}"

    @property
    def tokens(self) -> int:
        """Return its words as bits."""
        return (1 << self.end) - (1 << self.start)


class SpanConstraints(NamedTuple):
    """What must be, and what must not be, in the c-tree of a sentence.

    require: a constituent with this label; with any label a word by itself is one, too
    forbid:  a constituent with this label, or with any
    """

    require: tuple[LabelledSpan, ...] = ()
    forbid: tuple[LabelledSpan, ...] = ()

    @classmethod
    def of(cls, require: Any, forbid: Any, n: int) -> SpanConstraints | None:
        """Return those of a sentence of n words: (start, end) or (start, end, label) each; None: there are
        none.

        Raises ValueError for what is no span of the sentence, and where no c-tree obeys all.
        """
        made = cls(*(tuple(dict.fromkeys(map(_span, given or ()))) for given in (require, forbid)))
        if (spans := sum(map(len, made))) > _MOST:
            raise ValueError(f"{spans:,} spans required and forbidden, more than the {_MOST:,} that may be")
        for span in chain(*made):
            if not 0 <= span.start < span.end <= n:
                raise ValueError(f"{span}: no span of {many(n, 'word')}, which are counted from 0")
        for one, other in combinations(made.require, 2):
            if cross(one.tokens, other.tokens):
                raise ValueError(f"required, but they cross: {one}, {other}")
        for span in made.require:
            if {span, span._replace(label=None)} & {*made.forbid}:
                raise ValueError(f"required and forbidden: {span}")
        if n > 1 and LabelledSpan(0, n) in made.forbid:
            raise ValueError(f"forbidden: {LabelledSpan(0, n)}; every c-tree has one over the whole sentence")
        return made if any(made) else None

    def broken(self, ctree: CTree) -> list[LabelledSpan]:
        """Return those that a c-tree does not obey."""
        found = set[tuple[int, str | None]]()
        for label, tokens in zip(ctree.labels, ctree.bits()[len(ctree.tokens) :], strict=True):
            found |= {(tokens, label), (tokens, None)}
        words = {(1 << token, None) for token in range(len(ctree.tokens))}
        missing = [one for one in self.require if (one.tokens, one.label) not in found | words]
        return missing + [one for one in self.forbid if (one.tokens, one.label) in found]

    def required(self, ctree: CTree) -> list[bool]:
        """Return whether each node [K] of a c-tree is required with the label that it has."""
        wanted = {(one.tokens, one.label) for one in self.require}
        nodes = zip(ctree.bits()[len(ctree.tokens) :], ctree.labels, strict=True)
        return [one in wanted for one in nodes]

    def permits(self, label: str, tokens: int) -> bool:
        """Return whether there may be a constituent over these words, as bits."""
        return not any(one.tokens == tokens and one.label in (None, label) for one in self.forbid)


def _span(given: Any) -> LabelledSpan:
    """Check what a user gives. Raises ValueError."""
    span = LabelledSpan(*given) if isinstance(given, Sequence) and len(given) in (2, 3) else None
    if span is None or isinstance(given, str) or not all(map(_is_number, span[:2])):
        raise ValueError(f"{given!r} is no span: (start, end) or (start, end, label)")
    span = LabelledSpan(int(span.start), int(span.end), span.label)
    if span.label is not None and (not isinstance(span.label, str) or not span.label):
        raise ValueError(f"{given!r}: a label is a text that is not empty")
    if span.label is not None and escape(span.label) != span.label:
        raise ValueError(f"{given!r}: a label has no blanks and brackets")
    if span.label is not None and not check_text(span.label).isprintable():
        raise ValueError(f"{given!r}: a label has no control characters")
    return span


def _is_number(place: object) -> bool:
    """Return whether it is an integer, numpy's for example; bool is none."""
    return isinstance(place, Integral) and not isinstance(place, bool)


@dataclass
class _Node:
    """A constituent: its words as bits, its head word (-1: not known), the parser's confidence."""

    label: str
    tokens: int
    head: int
    share: float

    def without_crossing(self, required: int) -> int:
        """Return the words that stay if it must not cross others."""
        halves = self.tokens & required, self.tokens & ~required
        if self.head >= 0:
            return halves[0] if halves[0] >> self.head & 1 else halves[1]
        return max(halves, key=int.bit_count)


def obeying(
    ctree: CTree, constraints: SpanConstraints, confidences: Sequence[float] | None = None
) -> tuple[CTree, tuple[float, ...] | None]:
    """Return the c-tree, mended where it breaks constraints, and the confidences of its nodes, 1 of those
    that were put in or given another label. The constraints are those of a sentence of as many words."""
    if not constraints.broken(ctree):
        return ctree, None if confidences is None else tuple(confidences)
    n = len(ctree.tokens)
    heads = [-1] * (ctree.root + 1) if ctree.head_children is None else ctree.lexical_heads()
    columns = ctree.labels, ctree.bits()[n:], heads[n:], confidences or [0.0] * len(ctree.labels)
    nodes = [_Node(*column) for column in zip(*columns, strict=True)]
    nodes = _without_forbidden(nodes, constraints, (1 << n) - 1)
    for required in sorted(constraints.require, key=lambda one: one.label is None):
        nodes = _without_crossing(nodes, required.tokens, constraints)
        _put_in(nodes, required, constraints)
    nodes.sort(key=lambda node: node.tokens.bit_count())
    rows = [(node.label, [*bits_of(node.tokens)]) for node in nodes]
    kept = None if ctree.head_children is None else [node.head for node in nodes]
    tree = tree_of(ctree.tokens, rows, ctree.top, kept)
    return tree, None if confidences is None else tuple(node.share for node in nodes)


def _without_forbidden(nodes: list[_Node], constraints: SpanConstraints, whole: int) -> list[_Node]:
    """Return the nodes that may be there; a root of several words gets a label that it may have."""
    kept = [node for node in nodes if constraints.permits(node.label, node.tokens)]
    if whole > 1 and not any(node.tokens == whole for node in kept):
        root = nodes[-1]
        root.label, root.share = _label(whole, root, nodes, constraints), 1.0
        kept.append(root)
    return kept


def _without_crossing(nodes: list[_Node], required: int, constraints: SpanConstraints) -> list[_Node]:
    """Return the nodes that do not cross a required span, or what is left of them."""
    kept, known = list[_Node](), {node.tokens for node in nodes}
    for node in nodes:
        if cross(node.tokens, required):
            node.tokens = node.without_crossing(required)
            alone = node.tokens.bit_count() == 1 or node.tokens in known
            if alone or not constraints.permits(node.label, node.tokens):
                continue
            known.add(node.tokens)
        kept.append(node)
    return kept


def _put_in(nodes: list[_Node], required: LabelledSpan, constraints: SpanConstraints) -> None:
    """Add a required constituent that crosses no other, unless it is there, or give its label to one that is
    over the same words without being required itself."""
    tokens, wanted = (
        required.tokens,
        {one.label for one in constraints.require if one.tokens == required.tokens},
    )
    over = [node for node in nodes if node.tokens == tokens]
    if any(required.label in (None, node.label) for node in over):
        return
    if required.label is None and tokens.bit_count() == 1:
        return
    free = [node for node in over if node.label not in wanted]
    if free:
        free[-1].label, free[-1].share = required.label or free[-1].label, 1.0
        return
    main = over[-1] if over else _main(nodes, tokens)
    label = required.label or _label(tokens, main, nodes, constraints)
    nodes.append(_Node(label, tokens, main.head, 1.0))


def _main(nodes: Sequence[_Node], tokens: int) -> _Node:
    """Return the child with the head of a node to be put in over these words: of the head of what is above
    if that is among them, else the largest; a word counts as one."""
    around, first = _around(nodes, tokens), (tokens & -tokens).bit_length() - 1
    above = around[0] if around else _Node(UNKNOWN, tokens, first, 0.0)
    inside = [node for node in nodes if not node.tokens & ~tokens]
    head = first
    if above.head >= 0 and tokens >> above.head & 1:
        head = above.head
        inside = [node for node in inside if node.tokens >> head & 1]
    word = _Node(above.label, 1 << head, head if above.head >= 0 else -1, 0.0)
    return max(
        reversed([word, *inside]), key=lambda node: (node.tokens.bit_count(), -(node.tokens & -node.tokens))
    )


def _around(nodes: Sequence[_Node], tokens: int) -> list[_Node]:
    """Return the nodes over these words and others, the smallest first."""
    return sorted((one for one in nodes if not tokens & ~one.tokens), key=lambda one: one.tokens.bit_count())


def _label(tokens: int, main: _Node, nodes: Sequence[_Node], constraints: SpanConstraints) -> str:
    """Return a label for words that may have it: of the main child, of what is around, or UNKNOWN."""
    candidates: Iterator[str] = chain([main.label], (node.label for node in _around(nodes, tokens)))
    invented = (UNKNOWN * times for times in count(1))
    return next(label for label in chain(candidates, invented) if constraints.permits(label, tokens))
