"""Features of the nodes of unaryless c-trees as hashed integers, for whole batches of trees at once.

Section 4.4 of "Parsing as Reduction". A batch is flattened into arrays over all its nodes, so that a template
is a few operations on uint64 arrays. Strings become 64-bit ids through a keyed-free digest, the same in every
process; a template adds the ids that it conjoins, each times an odd number of its own.

The paper's templates: rules above and beneath; label with parent, left and right sibling; first and last
word, lemma, tag and morphology of the yield; word, lemma and morphology of a pre-terminal sibling. Beyond the
paper: parent with both siblings, parent with grandparent, words and tags just outside the yield, the word's
ending, and length and last word of the sentence. The node's own symbol is conjoined with all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from trees.ctree import CTree

Ints = NDArray[np.int64]
Ids = NDArray[np.uint64]

_BAG = 40
_REMEMBERED = 1 << 18
_ODD = np.random.default_rng(44).integers(1 << 62, size=(64, 4), dtype=np.uint64) * np.uint64(2) + np.uint64(
    1
)
_STEP = np.uint64(0x9E3779B97F4A7C15)  # odd: its powers tell the positions in a rule apart
_POWERS = _STEP ** np.arange(64, dtype=np.uint64)
_PHRASE = np.uint64(0x5851F42D4C957F2D)  # tells a phrase symbol from the tag of that name


class StringIds(dict[str, int]):
    """String → 64-bit id by a digest, remembered; the id of "" is 0."""

    def __init__(self, read: Callable[[str], str] = str) -> None:
        super().__init__()
        self.read = read

    def __missing__(self, text: str) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        data = self.read(text).encode("utf-8", "surrogatepass")
        number = self[text] = int.from_bytes(blake2b(data, digest_size=8).digest(), "little") if data else 0
        return number

    def array(self, texts: Sequence[str]) -> Ids:
        """[len(texts)] the ids of texts."""
        return np.fromiter(map(self.__getitem__, texts), np.uint64, len(texts))


_IDS = StringIds()
_ENDINGS = StringIds(lambda form: "…" + form[-3:])


@dataclass(frozen=True, slots=True)
class Batch:
    """N nodes of several trees, tree after tree, and their P tokens with a gap before, between and after trees.

    sizes:        [trees] nodes of each tree
    symbols:      [N] id of the tag or phrase symbol; the two kinds never share an id
    preterminal:  [N] whether the node is a pre-terminal
    parent, left, right: [N] node; N, the index of "none", where there is none
    rule, place:  [N] hash of the rule beneath (0: pre-terminal), position among the parent's children
    first, last:  [N] position in `words` of the leftmost and rightmost token below
    start, end:   [N] gap before and after the sentence
    words, tags, lemmas, morphs, endings: [P] ids of the tokens' columns, 0 in gaps and for absent columns
    """

    sizes: list[int]
    symbols: Ids
    preterminal: NDArray[np.bool_]
    parent: Ints
    left: Ints
    right: Ints
    rule: Ids
    place: Ints
    first: Ints
    last: Ints
    start: Ints
    end: Ints
    words: Ids
    tags: Ids
    endings: Ids
    extra: list[Ids]


def flatten(ctrees: Sequence[CTree]) -> Batch:
    """The arrays of at least one tree."""
    tokens = np.array([len(ctree.tokens) for ctree in ctrees])
    phrases = np.array([len(ctree.labels) for ctree in ctrees])
    sizes = tokens + phrases
    total = int(sizes.sum())
    base = np.cumsum(sizes) - sizes
    local = np.arange(total) - np.repeat(base, sizes)
    preterminal = local < np.repeat(tokens, sizes)
    names = chain.from_iterable(chain(ctree.tokens.tags, ctree.labels) for ctree in ctrees)
    symbols = _IDS.array(list(names))
    symbols[~preterminal] ^= _PHRASE

    arity = np.array([len(kids) for ctree in ctrees for kids in ctree.children], dtype=np.int64)
    edges = np.array([len(kids) for kids in ()], dtype=np.int64)
    flat = np.fromiter(chain.from_iterable(chain.from_iterable(c.children for c in ctrees)), np.int64)
    owner = np.repeat(np.flatnonzero(~preterminal), arity)
    edges = flat + np.repeat(base, sizes)[owner]
    begin = np.cumsum(arity) - arity
    parent, left, right = (np.full(total, total) for _ in range(3))
    place = np.zeros(total, np.int64)
    parent[edges] = owner
    place[edges] = np.arange(len(edges)) - np.repeat(begin, arity)
    inner = np.flatnonzero(owner[1:] == owner[:-1])
    right[edges[inner]] = edges[inner + 1]
    left[edges[inner + 1]] = edges[inner]
    rule = np.zeros(total, np.uint64)
    if len(edges):
        terms = symbols[edges] * _POWERS[place[edges] % 64]
        rule[~preterminal] = np.add.reduceat(terms, begin) + _STEP * arity.astype(np.uint64)

    gap = np.cumsum(tokens + 1) - tokens - 1
    own = gap[np.repeat(np.arange(len(ctrees)), sizes)] + 1 + local
    climb = np.where(parent == total, np.arange(total), parent)
    first = _spread(np.minimum, np.where(preterminal, own, np.iinfo(np.int64).max), climb)
    last = _spread(np.maximum, np.where(preterminal, own, -1), climb)
    forms = _with_gaps([ctree.tokens.forms for ctree in ctrees])
    extra = [
        _IDS.array(_with_gaps([column or ("",) * len(forms) for column, forms in columns]))
        for columns in (
            [(ctree.tokens.lemmas, ctree.tokens.forms) for ctree in ctrees],
            [(ctree.tokens.morphs, ctree.tokens.forms) for ctree in ctrees],
        )
        if any(column for column, _ in columns)
    ]
    return Batch(
        sizes.tolist(),
        symbols,
        preterminal,
        parent,
        left,
        right,
        rule,
        place,
        first,
        last,
        np.repeat(gap, sizes),
        np.repeat(gap + tokens + 1, sizes),
        _IDS.array(forms),
        _IDS.array(_with_gaps([ctree.tokens.tags for ctree in ctrees])),
        _ENDINGS.array(forms),
        extra,
    )


def _with_gaps(columns: Iterable[tuple[str, ...]]) -> list[str]:
    texts = [""]
    for column in columns:
        texts += column
        texts.append("")
    return texts


def _spread(join: np.ufunc, values: Ints, climb: Ints) -> Ints:
    """[N] join (minimum or maximum) of the values in each node's subtree, in log(depth) rounds.

    climb: [N] ancestor at distance 2^round, or the root. That values count twice does no harm.
    """
    while True:
        join.at(values, climb, values.copy())
        further = climb[climb]
        if np.array_equal(further, climb):
            return values
        climb = further


def features(batch: Batch, nodes: Ints) -> NDArray[np.uint32]:
    """[templates, len(nodes)] hashed features; nodes are all pre-terminals or all phrases."""
    symbols = np.append(batch.symbols, np.uint64(0))
    rules = np.append(batch.rule, np.uint64(0))
    none = len(batch.symbols)
    parents = np.append(batch.parent, none)
    leaf = np.append(batch.preterminal, False)
    own, parent = symbols[nodes], parents[nodes]
    left, right = batch.left[nodes], batch.right[nodes]
    mother, grandmother = symbols[parent], symbols[parents[parent]]
    before, after = symbols[left], symbols[right]
    first, last = batch.first[nodes], batch.last[nodes]
    words, tags = batch.words, batch.tags
    first_of = np.append(batch.first, 0)  # position 0 is a gap
    beside = np.where(leaf[left], first_of[left], 0), np.where(leaf[right], first_of[right], 0)
    place = batch.place[nodes].astype(np.uint64)
    length = _length_bin(batch.end[nodes] - batch.start[nodes])
    end = words[batch.end[nodes] - 1]
    wl, wr, tl, tr = words[first - 1], words[last + 1], tags[first - 1], tags[last + 1]

    templates: list[tuple[Ids, ...]] = [
        (mother,),
        (rules[parent], mother, place),
        (before,),
        (after,),
        (mother, before, after),
        (mother, grandmother),
        (words[beside[0]],),
        (words[beside[1]],),
        (wl,),
        (wr,),
        (tl, tr),
        (mother, tl),
        (mother, tr),
        (length, mother, end),
        (words[first],),
    ]
    templates += [(column[beside[side]],) for column in batch.extra for side in (0, 1)]
    templates += [(column[first],) for column in batch.extra]
    if len(nodes) and batch.preterminal[nodes[0]]:
        templates += [(batch.endings[first],), (words[first], mother)]
        templates += [(tl, tr, mother), (wl, mother), (wr, mother)]
    else:
        templates += [
            (rules[nodes],),
            (words[last],),
            (tags[first],),
            (tags[last],),
        ]
        templates += [(column[last],) for column in batch.extra]
        p2, p3, pl = (np.where(q <= last, q, 0) for q in (first + 1, first + 2, last - 1))
        templates += [(words[p2],), (words[p3],), (words[pl],), (words[first], words[p2])]
    odds = [*_ODD[: len(templates)]]
    if len(nodes) and not batch.preterminal[nodes[0]] and batch.parent[nodes[0]] == none:
        for k in range(_BAG):
            at = np.where(first + k <= last, first + k, 0)
            templates.append((words[at],))
            odds.append(_ODD[-1])
    result = np.empty((len(templates), len(nodes)), np.uint32)
    for row, (ids, odd) in enumerate(zip(templates, odds, strict=True)):
        mixed = own + odd[3]
        for part, factor in zip(ids, odd, strict=False):
            mixed += part * factor
        mixed ^= mixed >> np.uint64(29)
        mixed *= _STEP
        result[row] = mixed >> np.uint64(32)
        if len(ids) == 1:
            result[row][ids[0] == 0] = 0
    return result


def _length_bin(gaps: Ints) -> Ids:
    return np.minimum(gaps // 4, 6).astype(np.uint64)
