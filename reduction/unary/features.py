"""Features of the nodes of unaryless c-trees as hashed integers, for whole batches of trees at once.

Section 4.4 of "Parsing as Reduction". A batch is flattened into arrays over all its nodes, so that a template
is a few operations on uint64 arrays. Strings become 64-bit digests, the same in every process; a template
adds the ids that it conjoins, each multiplied by an odd number of its own, to the node's symbol.

A root has one more template, of which each of its first words is a feature (a bag of words): it tells
captions from text (2.5 points of exact match on CRAFT).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Bools, Digests, Longs
from d2c.reduction.subtrees import spans
from d2c.trees.ctree import CTree

Group = tuple[int, str]  # the number of the first template; templates, each the fields that it conjoins

# A field is a column at a node (itself, its parent, grandparent, siblings) or at a token: the first, second,
# third, last or last but one of the yield, the one before or behind it, the sentence's last, or a sibling
# that is a pre-terminal. Weights are found by the numbers of templates, hence by their order: therefore
# templates beyond section 4.4 stand between the others.
ABOVE: Group = (
    0,
    # Section 4.4: label with parent, rule above, siblings
    "symbol[parent], rule[parent] symbol[parent] index, symbol[left], symbol[right],"
    "symbol[parent] symbol[left] symbol[right], symbol[parent] symbol[grandparent],"  # beyond
    "word[left], word[right],"  # section 4.4: of a pre-terminal sibling
    # Beyond: around the yield, the sentence
    "word[first-1], word[last+1], tag[first-1] tag[last+1],"
    "symbol[parent] tag[first-1], symbol[parent] tag[last+1],"
    "length symbol[parent] word[end-1],"
    "word[first]",  # section 4.4
)
PRETERMINAL: Group = (  # beyond
    15,
    "ending[first], word[first] symbol[parent], symbol[parent] tag[first-1] tag[last+1],"
    "symbol[parent] word[first-1], symbol[parent] word[last+1]",
)
PHRASE: Group = (
    20,
    "rule[node], word[last], tag[first], tag[last],"  # section 4.4: rule beneath; the yield
    "word[second], word[third], word[last-1], word[first] word[second]",  # beyond
)
COLUMN_TEMPLATES: dict[str, Group] = {  # section 4.4, where the trees have these columns
    "lemma": (40, "lemma[first], lemma[last], lemma[left], lemma[right]"),
    "morph": (44, "morph[first], morph[last], morph[left], morph[right]"),
}

_BAG = 40  # words of the root's bag
_ENDING = 3  # characters
_REMEMBERED = 1 << 18
_GOLDEN = 0x9E3779B97F4A7C15  # odd: its powers tell the children of a rule apart
_MIX, _HALF, _FOLD = np.uint64(_GOLDEN), np.uint64(32), np.uint64(29)
_POWERS = np.array([pow(_GOLDEN, index, 1 << 64) for index in range(64)], np.uint64)
_ODD = np.array(  # [template, field] factors; the last column is added instead
    [[pow(_GOLDEN, 100 + 4 * row + field, 1 << 64) for field in range(4)] for row in range(64)], np.uint64
)
_PHRASE = np.uint64(0x5851F42D4C957F2D)  # tells a phrase symbol from the tag of that name
_BAG_TEMPLATE = 63


class _StringIds(dict[str, int]):
    """String → 64-bit id, remembered; the id of "" is 0."""

    def __init__(self, seen: Callable[[str], str] = str) -> None:
        super().__init__()
        self.seen = seen

    def __missing__(self, text: str) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        data = self.seen(text).encode("utf-8", "surrogatepass")
        number = self[text] = int.from_bytes(blake2b(data, digest_size=8).digest(), "little") if data else 0
        return number

    def array(self, texts: Sequence[str]) -> Digests:
        return np.fromiter(map(self.__getitem__, texts), np.uint64, len(texts))


_IDS = _StringIds()
_ENDINGS = _StringIds(lambda form: form[-_ENDING:])


@dataclass(frozen=True, slots=True)
class NodeBatch:
    """The N nodes of several trees, tree after tree, and their tokens with a gap before and after each tree.

    Node N stands for "none"; a gap has the id 0 in every column.

    sizes:       [trees] nodes of each tree
    symbols:     [N + 1] id of the tag or phrase symbol; the two kinds never share an id
    preterminal: [N + 1] whether the node is a pre-terminal
    parent, left, right: [N + 1] nodes: the parent, and the next siblings
    index:       [N + 1] of a node among the parent's children
    rule:        [N + 1] hash of the rule beneath, 0 for pre-terminals
    first, last: [N + 1] position of the leftmost and rightmost token in the yield
    ends:        [N + 1] position of the gap after the sentence
    lengths:     [N + 1] tokens of the sentence
    words, tags, endings: [positions] ids of the tokens
    columns:     `lemma`, `morph` → [positions] ids, where any tree has them
    """

    sizes: list[int]
    symbols: Digests
    preterminal: Bools
    parent: Longs
    left: Longs
    right: Longs
    index: Longs
    rule: Digests
    first: Longs
    last: Longs
    ends: Longs
    lengths: Longs
    words: Digests
    tags: Digests
    endings: Digests
    columns: dict[str, Digests]

    def groups(self, wanted: Bools) -> Iterator[Longs]:
        """Yield the wanted nodes ([N] bool) as pre-terminals, roots and other phrases, for `features`."""
        root = self.parent[:-1] == len(self.symbols) - 1
        leaf = self.preterminal[:-1]
        for group in (leaf, root & ~leaf, ~root & ~leaf):
            nodes = np.flatnonzero(group & wanted)
            if len(nodes):
                yield nodes


def flatten(ctrees: Sequence[CTree]) -> NodeBatch:
    """Return the arrays of a batch of trees."""
    tokens = np.array([len(ctree.tokens) for ctree in ctrees], np.int64)
    sizes = tokens + np.array([len(ctree.labels) for ctree in ctrees], np.int64)
    base, gap = np.cumsum(sizes) - sizes, np.cumsum(tokens + 1) - tokens - 1
    none = int(sizes.sum())
    local = np.arange(none) - np.repeat(base, sizes)
    leaf = local < np.repeat(tokens, sizes)
    symbols = _IDS.array(list(chain.from_iterable(chain(c.tokens.tags, c.labels) for c in ctrees)))
    symbols[~leaf] ^= _PHRASE

    arity = np.array([len(kids) for ctree in ctrees for kids in ctree.children], np.int64)
    kids = np.fromiter(chain.from_iterable(chain.from_iterable(c.children for c in ctrees)), np.int64)
    owner = np.repeat(np.flatnonzero(~leaf), arity)
    kids += np.repeat(base, sizes)[owner]
    begin = np.cumsum(arity) - arity
    parent, left, right = (np.full(none + 1, none) for _ in range(3))
    index, rule = np.zeros(none + 1, np.int64), np.zeros(none + 1, np.uint64)
    parent[kids] = owner
    index[kids] = np.arange(len(kids)) - np.repeat(begin, arity)
    siblings = np.flatnonzero(owner[1:] == owner[:-1])
    right[kids[siblings]], left[kids[siblings + 1]] = kids[siblings + 1], kids[siblings]
    if len(kids):
        rule[:-1][~leaf] = np.add.reduceat(symbols[kids] * _POWERS[index[kids] % len(_POWERS)], begin)

    own = np.repeat(gap, sizes) + 1 + local
    forms = _with_gaps(ctree.tokens.forms for ctree in ctrees)
    blank = [("",) * len(ctree.tokens) for ctree in ctrees]
    columns = {
        "lemma": [ctree.tokens.lemmas for ctree in ctrees],
        "morph": [ctree.tokens.morphs for ctree in ctrees],
    }
    return NodeBatch(
        sizes.tolist(),
        np.append(symbols, np.uint64(0)),
        np.append(leaf, False),
        parent,
        left,
        right,
        index,
        rule,
        *spans(
            np.append(np.where(leaf, own, np.iinfo(np.int64).max), 0),
            np.append(np.where(leaf, own, 0), 0),
            np.where(parent == none, np.arange(none + 1), parent),
        ),
        np.append(np.repeat(gap + tokens + 1, sizes), 0),
        np.append(np.repeat(tokens, sizes), 0),
        _IDS.array(forms),
        _IDS.array(_with_gaps(ctree.tokens.tags for ctree in ctrees)),
        _ENDINGS.array(forms),
        {
            name: _IDS.array(_with_gaps(own or empty for own, empty in zip(column, blank, strict=True)))
            for name, column in columns.items()
            if any(column)
        },
    )


def _with_gaps(sentences: Iterable[tuple[str, ...]]) -> list[str]:
    texts = [""]
    for sentence in sentences:
        texts += sentence
        texts.append("")
    return texts


class _Fields(dict[str, Digests]):
    """The columns that templates conjoin, by name; each is looked up when it is first used."""

    def __init__(self, batch: NodeBatch, nodes: Longs) -> None:
        parent, left, right = batch.parent[nodes], batch.left[nodes], batch.right[nodes]
        first, last = batch.first[nodes], batch.last[nodes]
        index, length = batch.index[nodes], np.minimum(batch.lengths[nodes] // 4, 6)
        super().__init__(index=index.astype(np.uint64), length=length.astype(np.uint64))
        self.of_nodes = {"symbol": batch.symbols, "rule": batch.rule}
        self.of_tokens = {"word": batch.words, "tag": batch.tags, "ending": batch.endings} | batch.columns
        self.nodes = {"node": nodes, "parent": parent, "left": left, "right": right}
        self.nodes["grandparent"] = batch.parent[parent]
        self.tokens = {
            "first": first,
            "last": last,
            "first-1": first - 1,
            "last+1": last + 1,
            "end-1": batch.ends[nodes] - 1,
            "last-1": np.maximum(last - 1, first),
            "second": np.minimum(first + 1, last),
            "third": np.where(first + 2 <= last, first + 2, 0),
            "left": np.where(batch.preterminal[left], batch.first[left], 0),
            "right": np.where(batch.preterminal[right], batch.first[right], 0),
        }

    def __missing__(self, name: str) -> Digests:
        column, _, where = name[:-1].partition("[")
        if column in self.of_nodes:
            self[name] = self.of_nodes[column][self.nodes[where]]
        else:
            self[name] = self.of_tokens[column][self.tokens[where]]
        return self[name]


def features(batch: NodeBatch, nodes: Longs) -> NDArray[np.uint32]:
    """Return hashed features [templates, len(nodes)], 0 for none, of nodes from one of the batch's groups."""
    leaf = batch.preterminal[nodes[0]]
    groups = [ABOVE, PRETERMINAL if leaf else PHRASE, *(COLUMN_TEMPLATES[name] for name in batch.columns)]
    fields = _Fields(batch, nodes)
    templates = [
        (number, [fields[name] for name in template.split()])
        for first_number, group in groups
        for number, template in enumerate(group.split(","), first_number)
    ]
    if not leaf and batch.parent[nodes[0]] == len(batch.symbols) - 1:
        first, last = batch.first[nodes], batch.last[nodes]
        bag = (np.where(first + i <= last, first + i, 0) for i in range(_BAG))
        templates += [(_BAG_TEMPLATE, [batch.words[positions]]) for positions in bag]
    own = batch.symbols[nodes]
    hashed = np.empty((len(templates), len(nodes)), np.uint32)
    for row, (number, ids) in enumerate(templates):
        mixed = own + _ODD[number, -1]
        for column, factor in zip(ids, _ODD[number], strict=False):
            mixed += column * factor
        mixed ^= mixed >> _FOLD
        mixed *= _MIX
        hashed[row] = mixed >> _HALF
        if len(ids) == 1:
            hashed[row][ids[0] == 0] = 0
    return hashed
