"""The scoring function s(y; x, d) = θᵀ f(x, d, y): the features of Figure 4, hashed (section 4.1).

A *part* is an application of a rule at a place: ((i, k), m, β1) and ((k + 1, j), h, β2) to ((i, j), h, A), or
its mirror image. Its features are atoms of the context conjoined with four keys of the rule: the rule itself,
its parent A, (A, β) for the dependent's β, (A, β) for the head child's. All rules that apply at one place
share the atoms. Beyond the figure: the tags beside the words of the span features, and the same atoms for
unary rules, which have no dependent and no split. And, with `context`, what the d-tree has around the place:
the head's head and the sisters of the dependent, taken already or still to come; for unary rules over a whole
sentence, all its words.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from d2c.cky.grammar.grammar import RuleTable
from d2c.cky.search.chart import (
    BEGIN,
    COPY,
    END,
    FIRST,
    INNER_LEFT,
    INNER_RIGHT,
    LAST,
    NEXT_LEFT,
    NEXT_RIGHT,
    RULE,
    SIDE,
    SPLIT,
    Forest,
    H,
    M,
)
from d2c.cky.search.layout import Ints
from d2c.linear.hashing import atom
from d2c.trees.binarization import LEFT, UNARY

Floats = NDArray[np.float32]
WHOLE = 100  # words of the sentence, at most, that tell what kind of text it is
ATOMS = 60 + WHOLE  # room for the atoms of a place; FEATURES for the features of a part
FEATURES = 2 * ATOMS
LONGEST = np.array([1, 2, 3, 4, 5, 8, 12, 20, 35])  # upper bounds of the first nine of the ten length bins


class Sentence(NamedTuple):
    """What features see of n words; numbers from 1 on, 0 is beyond the sentence.

    words, tags: [n + 2] with a 0 before and behind
    heads:       [n] 1..n, 0 = root
    labels:      [n] d-labels of the arcs into the words; empty where they are not used
    context:     whether parts see the d-tree around them
    """

    words: Ints
    tags: Ints
    heads: Ints
    labels: Ints
    context: bool


def rule_keys(table: RuleTable) -> NDArray[np.int64]:
    """[R, 4] each rule's keys: itself, its parent, (parent, modifier), (parent, head child)."""
    rules, size = len(table.kind), len(table.whole) + 1
    numbers = np.arange(rules, dtype=np.int64)
    parent, modifier, head = (
        column.astype(np.int64) for column in (table.parent, table.modifier, table.head)
    )
    pairs = rules + size + parent * size
    return np.stack([numbers, rules + parent, pairs + modifier, pairs + head], axis=1)


@njit(cache=True, nogil=True)
def _add(atoms: NDArray[np.int64], count: int, template: int, first: int, second: int) -> int:
    atoms[count] = atom(template, first, second)
    return count + 1


@njit(cache=True, nogil=True)
def place_atoms(sentence: Sentence, block: Ints, atoms: NDArray[np.int64], bounds: NDArray[np.int64]) -> None:
    """The atoms of a place, a row of `Forest.blocks`.

    Atoms up to bounds[0] go with the rule and with its parent, from there up to bounds[1] with the parent
    only, up to bounds[2] with (parent, modifier), then up to bounds[3] with (parent, head child).
    """
    words, tags = sentence.words, sentence.tags
    side, h, m = block[SIDE], block[H] + 1, block[M] + 1
    i, j, k = block[FIRST] + 1, block[LAST] + 1, block[SPLIT] + 1
    base = 64 * side
    level, k = (k, 0) if side == UNARY else (0, k)
    n = _add(atoms, 0, base, level, 0)
    n = _add(atoms, n, base + 1, words[h], 0)
    n = _add(atoms, n, base + 2, tags[h], 0)
    n = _add(atoms, n, base + 3, words[i], 0)
    n = _add(atoms, n, base + 4, words[i - 1], 0)
    n = _add(atoms, n, base + 5, words[j], 0)
    n = _add(atoms, n, base + 6, words[j + 1], 0)
    n = _add(atoms, n, base + 7, np.searchsorted(LONGEST, j - i), 0)
    if side == UNARY:
        n = _add(atoms, n, base + 19, level, tags[h])
    n = _add(atoms, n, base + 8, tags[i - 1], tags[i])
    n = _add(atoms, n, base + 9, tags[j], tags[j + 1])
    if side != UNARY:
        n = _add(atoms, n, base + 10, words[k], 0)
        n = _add(atoms, n, base + 11, words[k + 1], 0)
        n = _add(atoms, n, base + 12, words[h], tags[m])
        n = _add(atoms, n, base + 13, tags[h], words[m])
        n = _add(atoms, n, base + 14, tags[h], tags[m])
        n = _add(atoms, n, base + 15, words[m], 0)
        n = _add(atoms, n, base + 16, tags[m], 0)
        n = _add(atoms, n, base + 17, tags[k], tags[k + 1])
    if sentence.context:
        n = _context_atoms(sentence, block, atoms, n)
        n = _context_words(sentence, block, atoms, n)
    label = sentence.labels[m - 1] if side != UNARY and len(sentence.labels) else 0
    if label:
        n = _add(atoms, n, base + 18, label, 0)
    bounds[0] = n
    if sentence.context and sentence.heads[h - 1] == 0 and i == 1 and j == len(words) - 2:
        for word in words[1 : min(j, WHOLE) + 1]:
            n = _add(atoms, n, base + 48, word, 0)
    bounds[1] = n
    if side != UNARY:
        n = _add(atoms, n, base + 22, 0, 0)
        n = _add(atoms, n, base + 23, tags[m], 0)
        if label:
            n = _add(atoms, n, base + 24, label, 0)
    bounds[2] = n
    n = _add(atoms, n, base + 20, 0, 0)
    n = _add(atoms, n, base + 21, tags[h], 0)
    if label:
        n = _add(atoms, n, base + 25, label, 0)
    bounds[3] = n


@njit(cache=True, nogil=True)
def _context_atoms(sentence: Sentence, block: Ints, atoms: NDArray[np.int64], n: int) -> int:
    """Atoms of the tags around a place in the d-tree: of the head's head, of the dependent's sisters."""
    tags, labels = sentence.tags, sentence.labels
    side, h, m = block[SIDE], block[H] + 1, block[M] + 1
    left, right = block[NEXT_LEFT] + 1, block[NEXT_RIGHT] + 1
    inner_left, inner_right = block[INNER_LEFT] + 1, block[INNER_RIGHT] + 1
    base = 64 * side
    n = _add(atoms, n, base + 30, tags[h], tags[sentence.heads[h - 1]])
    n = _add(atoms, n, base + 31, tags[h], tags[left])
    n = _add(atoms, n, base + 32, tags[h], tags[right])
    n = _add(atoms, n, base + 33, tags[left], tags[right])
    n = _add(atoms, n, base + 34, tags[inner_left], tags[inner_right])
    n = _add(atoms, n, base + 35, tags[inner_left], tags[left])
    n = _add(atoms, n, base + 36, tags[inner_right], tags[right])
    if len(labels):
        next_left, next_right = labels[left - 1] if left else 0, labels[right - 1] if right else 0
        n = _add(atoms, n, base + 37, next_left, next_right)
        n = _add(atoms, n, base + 38, labels[h - 1], 0)
    if side != UNARY:
        inner, outer = (inner_left, left) if side == LEFT else (inner_right, right)
        n = _add(atoms, n, base + 39, tags[m], tags[outer])
        n = _add(atoms, n, base + 40, tags[m], tags[inner])
        n = _add(atoms, n, base + 41, tags[m] * 4096 + tags[inner], tags[outer])
    return n


@njit(cache=True, nogil=True)
def _context_words(sentence: Sentence, block: Ints, atoms: NDArray[np.int64], n: int) -> int:
    """Atoms of the words there."""
    words, tags = sentence.words, sentence.tags
    side, h, m, k = block[SIDE], block[H] + 1, block[M] + 1, block[SPLIT] + 1
    g, left, right = sentence.heads[h - 1], block[NEXT_LEFT] + 1, block[NEXT_RIGHT] + 1
    base = 64 * side
    n = _add(atoms, n, base + 42, words[g], tags[h])
    n = _add(atoms, n, base + 43, words[left], 0)
    n = _add(atoms, n, base + 44, words[right], 0)
    if side != UNARY:
        n = _add(atoms, n, base + 45, words[m], words[block[INNER_LEFT if side == LEFT else INNER_RIGHT] + 1])
        n = _add(atoms, n, base + 46, words[k], words[k + 1])
        n = _add(atoms, n, base + 47, words[h], words[m])
    return n


@njit(cache=True, nogil=True)
def part_features(
    keys: NDArray[np.int64],
    rule: int,
    atoms: NDArray[np.int64],
    bounds: NDArray[np.int64],
    mask: int,
    places: NDArray[np.int64],
) -> int:
    """Writes the places of a part's features in the table of weights; returns how many there are."""
    count = 0
    for at in range(bounds[3]):
        if at < bounds[0]:
            places[count] = (atoms[at] + keys[rule, 0]) & mask
            count += 1
        kind = 1 if at < bounds[1] else 2 if at < bounds[2] else 3
        places[count] = (atoms[at] + keys[rule, kind]) & mask
        count += 1
    return count


@njit(cache=True, nogil=True)
def score_edges(
    forest: Forest, sentence: Sentence, keys: NDArray[np.int64], weights: Floats, glue: float
) -> Floats:
    """[E] the score of every edge: θᵀ f of its part; 0 for copies, `glue` for the glue rule."""
    scores = np.zeros(len(forest.edges), np.float32)
    atoms, bounds = np.empty(ATOMS, np.int64), np.empty(4, np.int64)
    mask, rules = len(weights) - 1, len(keys)
    cached, cached_in = np.zeros(rules, np.float32), np.full(rules, -1, np.int32)
    symbols, edges = 0, forest.edges
    for rule in range(rules):
        symbols = max(symbols, keys[rule, 1] + 1 - rules)
    parents, parents_in = np.zeros(symbols, np.float32), np.full(symbols, -1, np.int32)
    for number in range(len(forest.blocks)):
        block = forest.blocks[number]
        if block[BEGIN] == block[END] or edges[block[BEGIN], RULE] == COPY:
            continue
        place_atoms(sentence, block, atoms, bounds)
        for edge in range(block[BEGIN], block[END]):
            rule = edges[edge, RULE]
            if rule < 0:
                scores[edge] = glue if rule == -2 else 0.0
                continue
            if cached_in[rule] != number:
                parent = keys[rule, 1] - rules
                if parents_in[parent] != number:
                    total = np.float32(0.0)
                    for at in range(bounds[1]):
                        total += weights[(atoms[at] + keys[rule, 1]) & mask]
                    parents[parent], parents_in[parent] = total, number
                total = parents[parent]
                for at in range(bounds[0]):
                    total += weights[(atoms[at] + rule) & mask]
                for at in range(bounds[1], bounds[2]):
                    total += weights[(atoms[at] + keys[rule, 2]) & mask]
                for at in range(bounds[2], bounds[3]):
                    total += weights[(atoms[at] + keys[rule, 3]) & mask]
                cached[rule], cached_in[rule] = total, number
            scores[edge] = cached[rule]
    return scores
