"""Constituents that must be in a c-tree, and those that must not: what a user knows about a sentence.

`obeying` mends a tree that breaks them, with few changes. A forbidden constituent is removed, and its
children go to the node above it. A constituent that crosses a required span keeps only the part with its
head, or is removed if this part is a single word or a constituent already; the rest goes to the node above.
A missing span is put in. Every `SpanConstraints` can be obeyed. Each node is compared with each constraint.
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

_MOST = 1_000  # constraints of a sentence: a c-tree of 500 words has as many nodes; the time is quadratic
UNKNOWN = "X"  # a label where nothing suggests one


class LabelledSpan(NamedTuple):
    """The words from `start` to before `end`, counted from 0, and a label; None: any label."""

    start: int
    end: int
    label: str | None = None

    def __str__(self) -> str:
        return f"{self.label or 'a constituent'} over {self.start} to {self.end}"

    @property
    def tokens(self) -> int:
        """Return the span's words as bits."""
        return (1 << self.end) - (1 << self.start)


class SpanConstraints(NamedTuple):
    """What must be, and what must not be, in the c-tree of a sentence.

    require: spans that must be constituents with their label; a single word is one with any label
    forbid:  spans that must not be constituents with their label, or with any
    """

    require: tuple[LabelledSpan, ...] = ()
    forbid: tuple[LabelledSpan, ...] = ()

    @classmethod
    def of(cls, require: Any, forbid: Any, n: int) -> SpanConstraints | None:
        """Return the constraints of a sentence of n words, None if there are none; a span is given as
        (start, end) or (start, end, label).

        Raises ValueError for what is no span of the sentence, for too many, and where no c-tree obeys all.
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
        """Return the constraints that a c-tree does not obey."""
        found = set[tuple[int, str | None]]()
        for label, tokens in zip(ctree.labels, ctree.bits()[len(ctree.tokens) :], strict=True):
            found |= {(tokens, label), (tokens, None)}
        words = {(1 << token, None) for token in range(len(ctree.tokens))}
        missing = [one for one in self.require if (one.tokens, one.label) not in found | words]
        return missing + [one for one in self.forbid if (one.tokens, one.label) in found]

    def required(self, ctree: CTree) -> list[bool]:
        """Return [K] whether each node of a c-tree is required with the label that it has."""
        wanted = {(one.tokens, one.label) for one in self.require}
        nodes = zip(ctree.bits()[len(ctree.tokens) :], ctree.labels, strict=True)
        return [one in wanted for one in nodes]

    def permits(self, label: str, tokens: int) -> bool:
        """Return whether there may be a constituent with this label over these words, as bits."""
        return not any(one.tokens == tokens and one.label in (None, label) for one in self.forbid)


def _span(given: Any) -> LabelledSpan:
    """Check a span as a user gives it, and return it. Raises ValueError."""
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
    """Return whether a place is an integer, for example one of numpy's; a bool is not."""
    return isinstance(place, Integral) and not isinstance(place, bool)


@dataclass
class _Node:
    """A constituent: its words as bits, its head word (-1: not known), the parser's confidence."""

    label: str
    tokens: int
    head: int
    share: float

    def without_crossing(self, required: int) -> int:
        """Return the words that stay so that the node does not cross a required span: those on its head's
        side of the span, or, without a head, those on the larger side."""
        halves = self.tokens & required, self.tokens & ~required
        if self.head >= 0:
            return halves[0] if halves[0] >> self.head & 1 else halves[1]
        return max(halves, key=int.bit_count)


def obeying(
    ctree: CTree, constraints: SpanConstraints, confidences: Sequence[float] | None = None
) -> tuple[CTree, tuple[float, ...] | None]:
    """Return the c-tree, mended where it breaks constraints, and the confidences of its nodes: 1 for a node
    that was put in or relabelled. The constraints must be of a sentence of as many words."""
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
    """Return the nodes that are not forbidden; if no root over several words is left, relabel the old one."""
    kept = [node for node in nodes if constraints.permits(node.label, node.tokens)]
    if whole > 1 and not any(node.tokens == whole for node in kept):
        root = nodes[-1]
        root.label, root.share = _label(whole, root, nodes, constraints), 1.0
        kept.append(root)
    return kept


def _without_crossing(nodes: list[_Node], required: int, constraints: SpanConstraints) -> list[_Node]:
    """Return the nodes that do not cross a required span, and what is left of the others."""
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
    """Add a required constituent, which no node crosses, unless it is there. If a node over the same words is
    not required itself, relabel this node instead."""
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
    """Return the child with the head of a node to be put in over these words: the largest child with the head
    of the node above if that head is among the words, else the largest child. A word counts as a child."""
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
    """Return the nodes that contain these words, the smallest first."""
    return sorted((one for one in nodes if not tokens & ~one.tokens), key=lambda one: one.tokens.bit_count())


def _label(tokens: int, main: _Node, nodes: Sequence[_Node], constraints: SpanConstraints) -> str:
    """Return a permitted label for these words: that of the main child or of a node around, or UNKNOWN."""
    candidates: Iterator[str] = chain([main.label], (node.label for node in _around(nodes, tokens)))
    invented = (UNKNOWN * times for times in count(1))
    return next(label for label in chain(candidates, invented) if constraints.permits(label, tokens))
