"""Features of the nodes of unaryless c-trees as hashed integers, for whole batches of trees at once.

Section 4.4 of "Parsing as Reduction". A batch is flattened into arrays over all its nodes, so that a template
is a few operations on uint64 arrays. Strings become 64-bit digests, the same in every process; a template
adds the ids that it conjoins, each times an odd number of its own, to the node's symbol.

The paper's templates: rules above and beneath; label with parent, left and right sibling; first and last
word, lemma, tag and morphology of the yield; word, lemma and morphology of a pre-terminal sibling. Beyond the
paper: parent with both siblings and with grandparent; words and tags just outside the yield; a word's ending;
second, third and last but one word of a phrase; length and last word of the sentence; and at the root the bag
of its first words, which tells captions from text (on CRAFT 2.5 points of exact match).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from d2c.reduction.subtrees import spans
from d2c.trees.ctree import CTree

Bools = NDArray[np.bool_]
Ids = NDArray[np.uint64]
Ints = NDArray[np.int64]
Template = tuple[int, tuple[Ids, ...]]  # a number of its own, and the ids that are conjoined

_BAG = 40  # words of the root's bag
_ENDING = 3  # characters
_REMEMBERED = 1 << 18
_GOLDEN = 0x9E3779B97F4A7C15  # odd: its powers tell the positions in a rule apart
_MIX, _HALF, _FOLD = np.uint64(_GOLDEN), np.uint64(32), np.uint64(29)
_POWERS = np.array([pow(_GOLDEN, place, 1 << 64) for place in range(64)], np.uint64)
_ODD = np.array(  # [template, part] factors; the last part is added
    [[pow(_GOLDEN, 100 + 4 * row + part, 1 << 64) for part in range(4)] for row in range(64)], np.uint64
)
_PHRASE = np.uint64(0x5851F42D4C957F2D)  # tells a phrase symbol from the tag of that name
_COLUMN_TEMPLATES, _BAG_TEMPLATE = 40, 63


class _StringIds(dict[str, int]):
    """String → 64-bit id, remembered; the id of "" is 0."""

    def __init__(self, part: Callable[[str], str] = str) -> None:
        super().__init__()
        self.part = part

    def __missing__(self, text: str) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        data = self.part(text).encode("utf-8", "surrogatepass")
        number = self[text] = int.from_bytes(blake2b(data, digest_size=8).digest(), "little") if data else 0
        return number

    def array(self, texts: Sequence[str]) -> Ids:
        return np.fromiter(map(self.__getitem__, texts), np.uint64, len(texts))


_IDS = _StringIds()
_ENDINGS = _StringIds(lambda form: form[-_ENDING:])


@dataclass(frozen=True, slots=True)
class Batch:
    """The N nodes of several trees, tree after tree, and their tokens with a gap before and after each tree.

    Node N stands for "none"; a gap has the id 0 in every column.

    sizes:       [trees] nodes of each tree
    symbols:     [N + 1] id of the tag or phrase symbol; the two kinds never share an id
    preterminal: [N + 1] whether the node is a pre-terminal
    parent, left, right: [N + 1] nodes
    place:       [N + 1] position among the parent's children
    rule:        [N + 1] hash of the rule beneath, 0 for pre-terminals
    first, last: [N + 1] position of the leftmost and rightmost token in the yield
    ends:        [N + 1] position of the gap after the sentence
    lengths:     [N + 1] tokens of the sentence
    words, tags, endings: [positions] ids of the tokens
    columns:     number → [positions] ids of lemmas (0) and morphology (1), where any tree has them
    """

    sizes: list[int]
    symbols: Ids
    preterminal: Bools
    parent: Ints
    left: Ints
    right: Ints
    place: Ints
    rule: Ids
    first: Ints
    last: Ints
    ends: Ints
    lengths: Ints
    words: Ids
    tags: Ids
    endings: Ids
    columns: dict[int, Ids]

    def groups(self, wanted: Bools) -> Iterator[Ints]:
        """The wanted nodes ([N] bool) as pre-terminals, roots and other phrases: such as `features` takes."""
        root = self.parent[:-1] == len(self.symbols) - 1
        leaf = self.preterminal[:-1]
        for group in (leaf, root & ~leaf, ~root & ~leaf):
            nodes = np.flatnonzero(group & wanted)
            if len(nodes):
                yield nodes


def flatten(ctrees: Sequence[CTree]) -> Batch:
    """The arrays of a batch of trees."""
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
    place, rule = np.zeros(none + 1, np.int64), np.zeros(none + 1, np.uint64)
    parent[kids] = owner
    place[kids] = np.arange(len(kids)) - np.repeat(begin, arity)
    siblings = np.flatnonzero(owner[1:] == owner[:-1])
    right[kids[siblings]], left[kids[siblings + 1]] = kids[siblings + 1], kids[siblings]
    if len(kids):
        rule[:-1][~leaf] = np.add.reduceat(symbols[kids] * _POWERS[place[kids] % len(_POWERS)], begin)

    own = np.repeat(gap, sizes) + 1 + local
    forms = _with_gaps(ctree.tokens.forms for ctree in ctrees)
    blank = [("",) * len(ctree.tokens) for ctree in ctrees]
    columns = [[ctree.tokens.lemmas for ctree in ctrees], [ctree.tokens.morphs for ctree in ctrees]]
    return Batch(
        sizes.tolist(),
        np.append(symbols, np.uint64(0)),
        np.append(leaf, False),
        parent,
        left,
        right,
        place,
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
            number: _IDS.array(_with_gaps(own or empty for own, empty in zip(column, blank, strict=True)))
            for number, column in enumerate(columns)
            if any(column)
        },
    )


def _with_gaps(sentences: Iterable[tuple[str, ...]]) -> list[str]:
    texts = [""]
    for sentence in sentences:
        texts += sentence
        texts.append("")
    return texts


def features(batch: Batch, nodes: Ints) -> NDArray[np.uint32]:
    """[templates, len(nodes)] hashed features, 0 for none; nodes are a part of one of the batch's groups."""
    leaf = batch.preterminal[nodes[0]]
    root = batch.parent[nodes[0]] == len(batch.symbols) - 1
    templates = [*_above(batch, nodes), *(_leaf(batch, nodes) if leaf else _phrase(batch, nodes))]
    templates += _columns(batch, nodes)
    if root and not leaf:
        templates += _bag(batch, nodes)
    own = batch.symbols[nodes]
    hashed = np.empty((len(templates), len(nodes)), np.uint32)
    for row, (number, ids) in enumerate(templates):
        mixed = own + _ODD[number, -1]
        for part, factor in zip(ids, _ODD[number], strict=False):
            mixed += part * factor
        mixed ^= mixed >> _FOLD
        mixed *= _MIX
        hashed[row] = mixed >> _HALF
        if len(ids) == 1:
            hashed[row][ids[0] == 0] = 0
    return hashed


def _above(batch: Batch, nodes: Ints) -> Iterator[Template]:
    """Templates 0 to 14: what is above and beside a node, and its first word."""
    symbols, words, tags = batch.symbols, batch.words, batch.tags
    mother = symbols[batch.parent[nodes]]
    before, after = symbols[batch.left[nodes]], symbols[batch.right[nodes]]
    rule, place = batch.rule[batch.parent[nodes]], batch.place[nodes].astype(np.uint64)
    first, last, ends = batch.first[nodes], batch.last[nodes], batch.ends[nodes]
    length = np.minimum(batch.lengths[nodes] // 4, 6).astype(np.uint64)
    tag_before, tag_after = tags[first - 1], tags[last + 1]
    yield 0, (mother,)
    yield 1, (rule, mother, place)
    yield 2, (before,)
    yield 3, (after,)
    yield 4, (mother, before, after)
    yield 5, (mother, symbols[batch.parent[batch.parent[nodes]]])
    yield 6, (words[_sibling(batch, batch.left[nodes])],)
    yield 7, (words[_sibling(batch, batch.right[nodes])],)
    yield 8, (words[first - 1],)
    yield 9, (words[last + 1],)
    yield 10, (tag_before, tag_after)
    yield 11, (mother, tag_before)
    yield 12, (mother, tag_after)
    yield 13, (length, mother, words[ends - 1])
    yield 14, (words[first],)


def _leaf(batch: Batch, nodes: Ints) -> Iterator[Template]:
    """Templates 15 to 19, of pre-terminals."""
    word, mother = batch.first[nodes], batch.symbols[batch.parent[nodes]]
    yield 15, (batch.endings[word],)
    yield 16, (batch.words[word], mother)
    yield 17, (mother, batch.tags[word - 1], batch.tags[word + 1])
    yield 18, (mother, batch.words[word - 1])
    yield 19, (mother, batch.words[word + 1])


def _phrase(batch: Batch, nodes: Ints) -> Iterator[Template]:
    """Templates 20 to 27, of phrases."""
    first, last, words = batch.first[nodes], batch.last[nodes], batch.words
    second, third = np.minimum(first + 1, last), np.where(first + 2 <= last, first + 2, 0)
    yield 20, (batch.rule[nodes],)
    yield 21, (words[last],)
    yield 22, (batch.tags[first],)
    yield 23, (batch.tags[last],)
    yield 24, (words[second],)
    yield 25, (words[third],)
    yield 26, (words[np.maximum(last - 1, first)],)
    yield 27, (words[first], words[second])


def _columns(batch: Batch, nodes: Ints) -> Iterator[Template]:
    """Templates 40 to 47: lemmas and morphology, where the trees have them."""
    for number, column in batch.columns.items():
        positions = (
            batch.first[nodes],
            batch.last[nodes],
            _sibling(batch, batch.left[nodes]),
            _sibling(batch, batch.right[nodes]),
        )
        for template, position in enumerate(positions, _COLUMN_TEMPLATES + 4 * number):
            yield template, (column[position],)


def _bag(batch: Batch, nodes: Ints) -> Iterator[Template]:
    """The first words of the yield, wherever they stand: one template, many times."""
    first, last = batch.first[nodes], batch.last[nodes]
    for place in range(_BAG):
        yield _BAG_TEMPLATE, (batch.words[np.where(first + place <= last, first + place, 0)],)


def _sibling(batch: Batch, siblings: Ints) -> Ints:
    """Positions of siblings that are pre-terminals, else a gap's."""
    return np.where(batch.preterminal[siblings], batch.first[siblings], 0)
