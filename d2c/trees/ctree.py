"""Constituency trees (c-trees): tokens, and labelled nodes over them whose yields may have gaps.

Section 2.1 of "Parsing as Reduction" (Fernández-González and Martins, 2015). A tree over n tokens is a
structure of arrays. Node i < n is the pre-terminal of token i; node n + k is the k-th proper node. Children
are numbered before their parents, so that the root is the last node and every bottom-up pass is one loop,
however deep the tree; beyond that the numbering means nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Any

Block = tuple[int, int]  # a run of tokens: the first, and the one after the last
Edge = tuple[int, str, int]  # a secondary edge: a node, its function, its second parent
Beside = tuple[tuple[str, ...] | None, tuple[Edge, ...]]  # functions and secondary edges


@dataclass(frozen=True, slots=True)
class Tokens:
    """A sentence of n tokens as columns [n]: forms and tags, optionally lemmas and morphology.

    comments: what a file says of the sentence, as in CoNLL-U: `sent_id = 1`
    source:   the CoNLL-U lines that were read, including ranges, empty nodes and all columns; "" for other
              formats. When written again, they change only where the tokens or a tree differ from them

    Comments and source are not compared.
    """

    forms: tuple[str, ...]
    tags: tuple[str, ...]
    lemmas: tuple[str, ...] | None = None
    morphs: tuple[str, ...] | None = None
    comments: tuple[str, ...] = field(default=(), compare=False)
    source: str = field(default="", compare=False, repr=False)

    @classmethod
    def untagged(cls, forms: Iterable[str]) -> Tokens:
        """Return words whose tags are not known yet: all tags are empty."""
        words = tuple(forms)
        return cls(words, ("",) * len(words))

    def __len__(self) -> int:
        return len(self.forms)

    def part(self, begin: int, end: int) -> Tokens:
        """Return the tokens from `begin` to before `end`, without comments and source."""
        lemmas, morphs = self.lemmas and self.lemmas[begin:end], self.morphs and self.morphs[begin:end]
        return Tokens(self.forms[begin:end], self.tags[begin:end], lemmas, morphs)

    def of_parts(self, parts: Sequence[Tokens]) -> Tokens:
        """Return the concatenated columns of parts, with the comments and source of this sentence."""
        whole = Tokens(
            tuple(chain.from_iterable(one.forms for one in parts)),
            tuple(chain.from_iterable(one.tags for one in parts)),
            _column([one.lemmas for one in parts]),
            _column([one.morphs for one in parts]),
        )
        return replace(whole, comments=self.comments, source=self.source)


def _column(parts: Sequence[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    """Return the concatenated parts of a column; None where a part lacks it."""
    there = [one for one in parts if one is not None]
    return tuple(chain.from_iterable(there)) if len(there) == len(parts) else None


@dataclass(frozen=True, slots=True, eq=False)
class CTree:
    """A c-tree over n tokens with K proper nodes.

    labels:        [K] phrase symbol of node n + k
    children:      [K] ids of the children of node n + k, ordered by leftmost token; ids are < n + k
    head_children: [K] id of the head child of node n + k, or None where no head rules were applied yet
    top:           label of the wrapper around the root as the file has it ("" in `( (S ...))`, "TOP",
                   "ROOT"), None where there is none. It is not a node.
    functions:     [n + K] grammatical function of each token and node in its parent, "" for none; None where
                   no functions are known beside those in labels
    secondary:     edges to second parents, in no particular order

    Functions and secondary edges are kept beside the tree: they are not compared, and functions that
    algorithms use stand in labels. Raises ValueError for a child below 0.
    """

    tokens: Tokens
    labels: tuple[str, ...]
    children: tuple[tuple[int, ...], ...]
    head_children: tuple[int, ...] | None = None
    top: str | None = None
    functions: tuple[str, ...] | None = None
    secondary: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        if self.children and min(chain.from_iterable(self.children), default=0) < 0:
            raise ValueError("a node has a child below 0")

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same tree, head children and wrapper included, however numbered."""
        return isinstance(other, CTree) and _fields(canonical(self)) == _fields(canonical(other))

    def __hash__(self) -> int:
        return hash(_fields(canonical(self)))

    def _repr_svg_(self) -> str:
        """Return the picture that a notebook shows."""
        from d2c.trees.pictures import ctree_svg  # only here: it needs nltk

        return ctree_svg(self)

    @property
    def root(self) -> int:
        """Return the id of the root: the last proper node, or 0 in a tree that is one bare token."""
        return len(self.tokens.forms) + len(self.labels) - 1

    def label(self, node: int) -> str:
        """Return the phrase symbol of a proper node, the tag of a pre-terminal."""
        n = len(self.tokens.forms)
        return self.tokens.tags[node] if node < n else self.labels[node - n]

    def parents(self) -> list[int]:
        """Return [n + K] the id of each node's parent; -1 for the root."""
        n = len(self.tokens.forms)
        parents = [-1] * (n + len(self.labels))
        for node, kids in enumerate(self.children, n):
            for kid in kids:
                parents[kid] = node
        return parents

    def depths(self) -> list[int]:
        """Return [n + K] how many nodes are above each."""
        n = len(self.tokens.forms)
        depths = [0] * (n + len(self.labels))
        for node in range(self.root, n - 1, -1):
            for kid in self.children[node - n]:
                depths[kid] = depths[node] + 1
        return depths

    def height(self) -> int:
        """Return how many nodes are on the longest path from the root to a token; 1 for a bare token."""
        return 1 + max(self.depths())

    def yields(self) -> list[tuple[int, ...]]:
        """Return [n + K] the sorted token indices below each node."""
        result: list[tuple[int, ...]] = [(i,) for i in range(len(self.tokens.forms))]
        for kids in self.children:
            result.append(tuple(sorted(token for kid in kids for token in result[kid])))
        return result

    def blocks(self) -> list[tuple[Block, ...]]:
        """Return [n + K] the runs of tokens below each node, in order; linear in time without gaps."""
        result: list[tuple[Block, ...]] = [((i, i + 1),) for i in range(len(self.tokens.forms))]
        for kids in self.children:
            result.append(joined(sorted([block for kid in kids for block in result[kid]])))
        return result

    def bits(self) -> list[int]:
        """Return [n + K] the tokens below each node as the bits of a number."""
        result = [1 << token for token in range(len(self.tokens.forms))]
        for kids in self.children:
            result.append(sum([result[kid] for kid in kids]))
        return result

    def lexical_heads(self) -> list[int]:
        """Return [n + K] the token index of each node's lexical head.

        Raises ValueError where the tree has no head children yet (see `HeadRules.apply`).
        """
        if self.head_children is None:
            raise ValueError("this c-tree has no head children; apply head rules first")
        heads = list(range(len(self.tokens.forms)))
        for head_child in self.head_children:
            heads.append(heads[head_child])
        return heads

    def spans(self) -> tuple[list[int], list[int]] | None:
        """Return [n + K] the first and the last token below each node; None where a yield has a gap."""
        first, last = list(range(len(self.tokens.forms))), list(range(len(self.tokens.forms)))
        for kids in self.children:
            end = first[kids[0]] - 1
            for kid in kids:
                if first[kid] != end + 1:
                    return None
                end = last[kid]
            first.append(first[kids[0]])
            last.append(end)
        return first, last

    def is_continuous(self) -> bool:
        """Return whether every yield is a contiguous span."""
        return self.spans() is not None

    def is_unaryless(self) -> bool:
        """Return whether no proper node has exactly one child."""
        return all(len(kids) != 1 for kids in self.children)


# Setters of the slots: they take half the time of object.__setattr__, which frozen classes use
_TOKENS: Any = [Tokens.__dict__[one.name].__set__ for one in fields(Tokens)]
_FORMS, _TAGS, _LEMMAS, _MORPHS, _COMMENTS, _SOURCE = _TOKENS
_CTREE: Any = [CTree.__dict__[one.name].__set__ for one in fields(CTree)]
_OF_TREE, _LABELS, _CHILDREN, _HEADS, _TOP, _FUNCTIONS, _SECONDARY = _CTREE


def trusted_tokens(forms: tuple[str, ...], tags: tuple[str, ...], like: Tokens | None = None) -> Tokens:
    """Return tokens, with all other columns of `like`, without the constructor, which would take longer."""
    tokens = object.__new__(Tokens)
    _FORMS(tokens, forms)
    _TAGS(tokens, tags)
    _LEMMAS(tokens, like and like.lemmas)
    _MORPHS(tokens, like and like.morphs)
    _COMMENTS(tokens, like.comments if like else ())
    _SOURCE(tokens, like.source if like else "")
    return tokens


def trusted_ctree(
    tokens: Tokens,
    labels: tuple[str, ...],
    children: tuple[tuple[int, ...], ...],
    head_children: tuple[int, ...] | None = None,
    top: str | None = None,
    beside: Beside = (None, ()),
) -> CTree:
    """Return a c-tree whose nodes the caller has numbered, without the constructor and its check, for speed.

    beside: functions and secondary edges
    """
    ctree = object.__new__(CTree)
    _OF_TREE(ctree, tokens)
    _LABELS(ctree, labels)
    _CHILDREN(ctree, children)
    _HEADS(ctree, head_children)
    _TOP(ctree, top)
    _FUNCTIONS(ctree, beside[0])
    _SECONDARY(ctree, beside[1])
    return ctree


NO_CTREE = CTree(Tokens(("ERROR",), ("ERROR",)), ("ERROR",), ((0,),), (0,), "TOP")
"""The tree of a sentence that could not be parsed."""


def is_failed(tokens: Tokens) -> bool:
    """Return whether these are the words and tags of `NO_CTREE`."""
    return tokens.forms == NO_CTREE.tokens.forms == tokens.tags


def comment_of(comments: Iterable[str], name: str) -> str | None:
    """Return the value of a name in comments, None without it: `1` for `sent_id = 1` and `sent_id=1`."""
    for comment in comments:
        key, equals, value = comment.partition("=")
        if equals and key.strip() == name:
            return value.strip()
    return None


def why_failed(tokens: Tokens) -> str:
    """Return why the sentence of a `NO_CTREE` has no tree: what its comment `error = ...` says."""
    return comment_of(tokens.comments, "error") or "was not parsed"


def joined(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return sorted blocks as few as possible: empty blocks are dropped, adjacent blocks become one."""
    result: list[Block] = []
    for begin, end in blocks:
        if result and result[-1][1] == begin:
            result[-1] = result[-1][0], end
        elif begin < end:
            result.append((begin, end))
    return tuple(result)


def build_ctree(
    tokens: Tokens,
    labels: Sequence[str],
    children: Sequence[Sequence[int]],
    root: int,
    head_children: Sequence[int] | None = None,
    top: str | None = None,
) -> CTree:
    """Build a c-tree from nodes numbered and ordered in any way; the arguments are fields of `CTree`; see
    `ordered`."""
    heads = None if head_children is None else tuple(head_children)
    return ordered(trusted_ctree(tokens, tuple(labels), tuple(map(tuple, children)), heads, top), root)


def ordered(ctree: CTree, root: int) -> CTree:
    """Number and order the nodes of a c-tree, given in any way, as `CTree` asks.

    Proper nodes that are not below `root` are dropped, with their secondary edges. Linear time except for
    sorting children and edges. Raises ValueError unless the nodes below `root` form a tree over exactly the
    n tokens.
    """
    n, labels, children = len(ctree.tokens), ctree.labels, ctree.children
    order = _top_down(n, children, root)
    if sum(node < n for node in order) != n:
        raise ValueError("the nodes do not form a tree over exactly the given tokens")
    first = list(range(n)) + [n] * len(labels)
    for node in reversed(order):
        if node >= n:
            if not children[node - n]:
                raise ValueError(f"node {labels[node - n]!r} has no children")
            first[node] = min(first[kid] for kid in children[node - n])
    in_order = tuple([tuple(sorted(kids, key=first.__getitem__)) for kids in children])
    return canonical(replace(ctree, children=in_order), root)


def tree_of(
    tokens: Tokens,
    nodes: Iterable[tuple[str, Sequence[int]]],
    top: str | None,
    heads: Sequence[int] | None = None,
) -> CTree:
    """Return the c-tree of nodes in an order in which children precede their parents.

    nodes: the label and the sorted tokens of each
    heads: for each node, a token of its head child; None where no heads are known

    Raises ValueError where the nodes form no tree over all tokens.
    """
    over = list(range(len(tokens)))  # the highest node so far over each token
    labels, children, head_children = list[str](), list[tuple[int, ...]](), list[int]()
    size = [1] * len(tokens)
    for number, (label, below) in enumerate(nodes):
        kids = tuple(dict.fromkeys([over[token] for token in below]))
        if sum([size[kid] for kid in kids]) != len(below):
            raise ValueError(f"{label!r} over tokens {below[0]} to {below[-1]} crosses another constituent")
        if heads is not None:
            head_children.append(over[heads[number]])
        for token in below:
            over[token] = len(size)
        size.append(len(below))
        labels.append(label)
        children.append(kids)
    if size[-1] != len(tokens):
        raise ValueError("no constituent is over all tokens")
    return CTree(tokens, tuple(labels), tuple(children), None if heads is None else tuple(head_children), top)


def bits_of(number: int) -> Iterator[int]:
    """Yield the positions of the bits of a number that are 1, the lowest first."""
    while number:
        yield (number & -number).bit_length() - 1
        number &= number - 1


def canonical(ctree: CTree, root: int | None = None) -> CTree:
    """Number a tree in postorder: equal trees become equal data; root: its id, if it is not the last node."""
    n, children, head_children = len(ctree.tokens), ctree.children, ctree.head_children
    order = _top_down(n, children, ctree.root if root is None else root)
    postorder = [node - n for node in reversed(order) if node >= n]
    new_id = list(range(n)) + [-1] * len(ctree.labels)
    for new, k in enumerate(postorder, n):
        new_id[n + k] = new
    functions, secondary = ctree.functions, ctree.secondary
    if functions is not None:
        functions = (*functions[:n], *[functions[n + k] for k in postorder])
    if secondary:
        kept = [edge for edge in secondary if min(edge[0], edge[2]) >= 0]
        edges = [(new_id[node], function, new_id[parent]) for node, function, parent in kept]
        secondary = tuple(sorted([edge for edge in edges if min(edge[0], edge[2]) >= 0]))
    return trusted_ctree(
        ctree.tokens,
        tuple([ctree.labels[k] for k in postorder]),
        tuple([tuple([new_id[kid] for kid in children[k]]) for k in postorder]),
        None if head_children is None else tuple([new_id[head_children[k]] for k in postorder]),
        ctree.top,
        (functions, secondary),
    )


def _top_down(n: int, children: Sequence[Sequence[int]], root: int) -> list[int]:
    """List ids in the order node, last child, ..., first child: the postorder reversed."""
    order, stack, seen = [], [root], [False] * (n + len(children))
    while stack:
        node = stack.pop()
        if node < 0:
            raise ValueError(f"node {node} does not exist")
        if seen[node]:
            raise ValueError(f"node {node} is reached twice")
        seen[node] = True
        order.append(node)
        if node >= n:
            stack += children[node - n]
    return order


def _fields(ctree: CTree) -> tuple[object, ...]:
    return ctree.tokens, ctree.labels, ctree.children, ctree.head_children, ctree.top
