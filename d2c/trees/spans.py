"""The constituents of a c-tree as spans of its sentence, as a table or another program shows them.

Tokens are counted from 0; a span ends before its `end`. Linear time, except for sorting and for calls of
`text` and `tokens`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from d2c.trees.cleaning import choose_tokens
from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import Block, CTree, joined, trusted_ctree


@dataclass(frozen=True, slots=True)
class Source:
    """The words of a sentence, and where they are in the text that they were cut from.

    offsets: [n] each word's first character and the one after its last; None where there was no text
    text:    from the first word's first character to the last word's last; "" where it is not kept
    within:  for the words of a constituent: the source of the whole sentence, and their numbers there
    """

    forms: tuple[str, ...]
    offsets: Sequence[tuple[int, int]] | None = None
    text: str = ""
    within: tuple[Source, Sequence[int]] | None = None

    def text_of(self, start: int, end: int) -> str:
        """Return the text of tokens, or, without a text, their forms with blanks between them."""
        if self.within:
            whole, numbers = self.within
            runs = joined([(number, number + 1) for number in numbers[start:end]])
            return " ".join([whole.text_of(*run) for run in runs])
        if not self.offsets or not self.text:
            return " ".join(self.forms[start:end])
        begin = self.offsets[0][0]
        return self.text[self.offsets[start][0] - begin : self.offsets[end - 1][1] - begin]


@dataclass(frozen=True, slots=True, repr=False)
class Span:
    """A constituent.

    blocks:     its runs of tokens, several if it has gaps
    head:       its head token; None if the tree has no heads
    depth:      how many constituents are above it
    confidence: how sure the parser is of it, from 0 to 1; None if not known
    place:      all constituents of the sentence, and the id of its node
    """

    label: str
    blocks: tuple[Block, ...]
    head: int | None
    depth: int
    confidence: float | None = None
    source: Source = field(kw_only=True, hash=False)  # it holds lists
    place: tuple[Constituents, int] = field(kw_only=True, compare=False)

    def __repr__(self) -> str:
        tokens = ",".join([f"{start}:{end}" for start, end in self.blocks])
        return f"<Span {self.label} {tokens} {self.text!r}>"

    @property
    def parent(self) -> Span | None:
        """Return the constituent directly above it; None for the highest."""
        every, node = self.place
        above = every.parents[node]
        return None if above < 0 else every.span(above)

    @property
    def children(self) -> tuple[Span, ...]:
        """Return the constituents directly below it, from left to right, without words."""
        every, node = self.place
        n = len(every.ctree.tokens)
        kids = every.ctree.children[node - n] if node >= n else ()
        return tuple([every.span(kid) for kid in kids if kid >= n])

    @property
    def tree(self) -> Any:
        """Return the constituent as a `d2c.Tree`, a part of the sentence's tree."""
        return Constituents.as_tree(*self.place)

    @property
    def head_word(self) -> str | None:
        """Return the form of its head token; None without heads."""
        return None if self.head is None else self.source.forms[self.head]

    @property
    def governor(self) -> int | None:
        """Return the token on which its head depends; None for the sentence's head, and without heads."""
        every, node = self.place
        head = every.arcs[every.heads[node]] if every.heads else 0
        return head - 1 if head else None

    @property
    def start(self) -> int:
        """Return its first token."""
        return self.blocks[0][0]

    @property
    def end(self) -> int:
        """Return the token after its last one."""
        return self.blocks[-1][1]

    @property
    def tokens(self) -> tuple[int, ...]:
        """Return all its tokens."""
        return tuple([token for block in self.blocks for token in range(*block)])

    @property
    def words(self) -> tuple[str, ...]:
        """Return the forms of its tokens."""
        return tuple([self.source.forms[token] for token in self.tokens])

    @property
    def text(self) -> str:
        """Return its text, or, if words were parsed, its words joined by blanks; blanks stand for gaps."""
        return " ".join([self.source.text_of(*block) for block in self.blocks])

    def around(self, most: int) -> tuple[str, str]:
        """Return the text before it and after it in the sentence, of at most `most` words each."""
        start, end, n = self.start, self.end, len(self.source.forms)
        before = self.source.text_of(max(start - most, 0), start) if start and most else ""
        return before, self.source.text_of(end, min(end + most, n)) if end < n and most else ""

    @property
    def start_char(self) -> int | None:
        """Return its first character in the text that was parsed; None if words were parsed."""
        return self.source.offsets[self.start][0] if self.source.offsets else None

    @property
    def end_char(self) -> int | None:
        """Return the character after its last one; None if words were parsed."""
        return self.source.offsets[self.end - 1][1] if self.source.offsets else None

    def to_dict(self) -> dict[str, Any]:
        """Return what `d2c parse --to json` writes: `tokens` only with gaps, characters only for text."""
        row: dict[str, Any] = {"label": self.label, "start": self.start, "end": self.end}
        if self.head is not None:
            row["head"] = self.head
        if len(self.blocks) > 1:
            row["tokens"] = [*self.tokens]
        if self.source.offsets:
            row |= {"start_char": self.start_char, "end_char": self.end_char}
        if self.confidence is not None:
            row["confidence"] = round(self.confidence, 6)
        return row


class Constituents:
    """The nodes of a c-tree, and the properties that spans show, each computed when it is first needed.

    confidences: [K] one for each proper node, or None
    as_tree:     a function, set by `d2c.api.tree`, that makes a `d2c.Tree` of a node
    """

    as_tree: ClassVar[Callable[[Constituents, int], Any]]

    def __init__(
        self, ctree: CTree, confidences: Sequence[float | None] | None = None, source: Source | None = None
    ) -> None:
        self.ctree, self.confidences = ctree, confidences
        self.source = source or Source(ctree.tokens.forms)

    @cached_property
    def blocks(self) -> list[tuple[Block, ...]]:
        """Return [n + K] what `CTree.blocks` does."""
        return self.ctree.blocks()

    @cached_property
    def depths(self) -> list[int]:
        """Return [n + K] what `CTree.depths` does."""
        return self.ctree.depths()

    @cached_property
    def parents(self) -> list[int]:
        """Return [n + K] what `CTree.parents` does."""
        return self.ctree.parents()

    @cached_property
    def heads(self) -> list[int] | None:
        """Return [n + K] what `CTree.lexical_heads` does; None where there are no head children."""
        return None if self.ctree.head_children is None else self.ctree.lexical_heads()

    @cached_property
    def arcs(self) -> tuple[int, ...]:
        """Return [n] the head of each token, 1..n, or 0 for the root. Raises ValueError without heads."""
        return to_dependencies(self.ctree).heads

    def span(self, node: int) -> Span:
        """Return the span of a node; that of a pre-terminal has the tag as its label, and no confidence."""
        k = node - len(self.ctree.tokens.forms)
        return Span(
            self.ctree.label(node),
            self.blocks[node],
            self.heads[node] if self.heads else None,
            self.depths[node],
            self.confidences[k] if self.confidences and k >= 0 else None,
            source=self.source,
            place=(self, node),
        )

    def below(self, node: int) -> Constituents:
        """Return the constituents of a node as a tree of its own: words are counted from 0, gaps are closed.

        Lemmas, morphology, functions and secondary edges are kept; comments and edges that lead outside go.
        """
        ctree, source = self.ctree, self.source
        n, nodes, stack = len(ctree.tokens), list[int](), [node]
        while stack:
            nodes.append(stack.pop())
            stack += ctree.children[nodes[-1] - n] if nodes[-1] >= n else ()
        nodes.sort()
        new_id = {old: new for new, old in enumerate(nodes)}
        words, ks = [i for i in nodes if i < n], [i - n for i in nodes if i >= n]
        tokens = replace(choose_tokens(ctree.tokens, [i in new_id for i in range(n)]), comments=())
        functions = ctree.functions and tuple([ctree.functions[old] for old in nodes])
        inside = [edge for edge in ctree.secondary if edge[0] in new_id and edge[2] in new_id]
        heads = ctree.head_children
        own = trusted_ctree(
            tokens,
            tuple([ctree.labels[k] for k in ks]),
            tuple([tuple([new_id[kid] for kid in ctree.children[k]]) for k in ks]),
            None if heads is None else tuple([new_id[heads[k]] for k in ks]),
            beside=(functions, tuple([(new_id[node], name, new_id[up]) for node, name, up in inside])),
        )
        places = source.offsets and tuple([source.offsets[i] for i in words])
        text = source.text and self.span(node).text
        confidences = self.confidences and tuple([self.confidences[k] for k in ks])
        return Constituents(own, confidences, Source(tokens.forms, places, text, (source, words)))


def spans_of(
    ctree: CTree,
    nodes: Iterable[int] | None = None,
    confidences: Sequence[float | None] | None = None,
    source: Source | None = None,
) -> list[Span]:
    """Return the constituents from left to right, the higher of two that begin at the same token first.

    nodes:       ids of proper nodes; None: all of them
    confidences: [K] one for each proper node
    """
    every = Constituents(ctree, confidences, source)
    n, blocks = len(ctree.tokens), every.blocks
    ordered = sorted(
        range(n, len(blocks)) if nodes is None else nodes,
        key=lambda node: (blocks[node][0][0], -blocks[node][-1][1], -node),
    )
    return [every.span(node) for node in ordered]


def unheard(labels: Iterable[str], ctree: CTree) -> Iterator[str]:
    """Yield a message for each label that no constituent of the tree has, if the tree suggests what was
    meant: a label that differs only in case, or a tag."""
    for label in labels:
        if meant := similar(label, ctree.labels):
            yield f"no constituent of this tree is called {label}; did you mean {meant}?"
        elif label in ctree.tokens.tags:
            yield f"no constituent of this tree is called {label}, a tag; search('{label}') finds it"


def similar(label: str, known: Iterable[str]) -> str | None:
    """Return the first known label that differs only in case; None if there is none or the label is known."""
    alike = [one for one in known if one.casefold() == label.casefold()]
    return None if label in alike else next(iter(alike), None)


def labelled(ctree: CTree, labels: Collection[str], nested: bool = False) -> list[int]:
    """Return the ids of the proper nodes with one of the labels, parents first; those inside another such
    node only if `nested`."""
    n, nodes = len(ctree.tokens), list[int]()
    inside = [False] * (n + len(ctree.labels))
    for node in range(ctree.root, n - 1, -1):
        wanted = ctree.labels[node - n] in labels
        if wanted and (nested or not inside[node]):
            nodes.append(node)
        for kid in ctree.children[node - n]:
            inside[kid] = wanted or inside[node]
    return nodes
