"""The labeler's training: loss-augmented Viterbi, and a step of AdaGrad for each sentence (a structured SVM).

The loss is the number of wrong labels. Also the scores of given labels, which search is tested against, and
what these say of how sure a label is.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from d2c.linear.adagrad import AdaGrad, Gradient, add
from d2c.linear.adagrad import step as descend
from d2c.reduction.labeler.features import (
    ARC_ATOMS,
    PAIR_ATOMS,
    Corpus,
    Ints,
    Longs,
    Sentence,
    arc_atoms,
    lay_out,
    outward,
    pair_atoms,
)
from d2c.reduction.labeler.scores import (
    ACROSS_LEFT,
    DELTA,
    FREE,
    LEFT,
    NESTED,
    START_LEFT,
    STOP_LEFT,
    Floats,
    Labels,
    joins_before,
    pair_key,
    prepare,
    symbol_key,
)
from d2c.reduction.labeler.search import new_states, rises_left, rises_right, step, viterbi


@njit(cache=True, nogil=True)
def walk(labels: Labels, mode: int, chain: Ints, lefts: int, given: Ints, order: Ints, joins: Ints) -> bool:
    """Writes the order in which modifiers are taken (their places in the chain), and which join an event.

    given: label of each place in the sentence. False where the labels break the constraints.
    """
    rights = len(chain) - lefts
    events = labels.numbers[given[chain]]
    for at in range(1, len(chain)):
        if mode == DELTA and at != lefts:
            events[at] += events[at - 1]
    a = b = apart = 0
    for at in range(len(chain)):
        left = given[chain[a - 1]] if a else -1
        right = given[chain[lefts + b - 1]] if b else -1
        if a < lefts and (b == rights or mode <= NESTED or events[a] <= events[lefts + b]):
            label = given[chain[a]]
            same = labels.symbols[label] == labels.symbols[left]
            number, last = labels.numbers[label], labels.numbers[left]
            rise = step(mode, a == 0, number, last, same, rises_left(apart))
            order[at], joins[at] = a, 0
            a, apart = a + 1, apart + rise
        else:
            label = given[chain[lefts + b]]
            same = labels.symbols[label] == labels.symbols[left if apart > 0 else right]
            number, last = labels.numbers[label], labels.numbers[right]
            rise = step(mode, b == 0, number, last, same, rises_right(apart, b == 0))
            order[at], joins[at] = lefts + b, int(mode > NESTED and 0 < apart == rise)
            b, apart = b + 1, apart - rise
        if rise < 0:
            return False
    return True


@njit(cache=True, nogil=True)
def features(
    s: Sentence, h: int, labels: Labels, mode: int, given: Ints, other: Ints, mask: int, places: Longs
) -> int:
    """Writes the places of a head's features under the given labels; how many, -1 where they are not allowed.

    Those of arcs that have the same label in `other` are left out.
    """
    size = s.begin[h + 1] - s.begin[h]
    chain, order, joins = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32)
    lefts, rights = outward(s, h, chain)
    if not walk(labels, mode, chain, lefts, given, order, joins):
        return -1
    atoms, of_pair = np.empty(ARC_ATOMS, np.int64), np.empty(PAIR_ATOMS, np.int64)
    n = 0
    for at in range(size):
        label, m = given[chain[at]], chain[at]
        if label != other[m]:
            for number in range(arc_atoms(s, h, chain, lefts, rights, at, atoms)):
                places[n] = (atoms[number] + label) & mask
                places[n + 1] = (atoms[number] + symbol_key(labels, label)) & mask
                n += 2
        right, first = int(at >= lefts), at == 0 or at == lefts
        inner, before = (0, -1) if first else (chain[at - 1], given[chain[at - 1]])
        pair_atoms(s, h, inner, m, (START_LEFT if first else LEFT) + right, of_pair)
        joined = 0 if first else joins_before(labels, mode, before, label)
        n = _add_pair(labels, of_pair, before, label, joined, mask, places, n)
        if at + 1 == lefts or at + 1 == size:
            pair_atoms(s, h, m, 0, STOP_LEFT + right, of_pair)
            n = _add_pair(labels, of_pair, label, -1, 0, mask, places, n)
    for at in range(1, size):
        right = int(order[at] >= lefts)
        if right != int(order[at - 1] >= lefts):
            inner, m = chain[order[at - 1]], chain[order[at]]
            pair_atoms(s, h, inner, m, ACROSS_LEFT + right, of_pair)
            n = _add_pair(labels, of_pair, given[inner], given[m], joins[at], mask, places, n)
    return n


@njit(cache=True, nogil=True)
def _add_pair(
    labels: Labels, atoms: Longs, before: int, label: int, joins: int, mask: int, places: Longs, n: int
) -> int:
    for atom in atoms:
        places[n] = (atom + pair_key(len(labels.symbols), before, label, joins)) & mask
        n += 1
    return n


@njit(cache=True, nogil=True)
def room(s: Sentence) -> int:
    """No head of a sentence has more features than this, nor have all of them together."""
    return len(s.modifiers) * (2 * ARC_ATOMS + 4 * PAIR_ATOMS)


@njit(cache=True, nogil=True)
def score(
    corpus: Corpus, number: int, h: int, labels: Labels, weights: Floats, mode: int, given: Ints
) -> float:
    """The score of labels of one head's modifiers, by place in the sentence; -inf where not allowed."""
    s = lay_out(corpus, number)
    return _total(s, h, labels, weights, mode, given, np.empty(room(s), np.int64))


@njit(cache=True, nogil=True)
def _total(
    s: Sentence, h: int, labels: Labels, weights: Floats, mode: int, given: Ints, places: Longs
) -> float:
    """The same with room for the places of features."""
    count = features(s, h, labels, mode, given, np.full_like(given, -1), len(weights) - 1, places)
    return weights[places[:count]].astype(np.float64).sum() if count >= 0 else -np.inf


@njit(cache=True, nogil=True)
def train_on(
    learner: AdaGrad, gradient: Gradient, corpus: Corpus, gold: Ints, chosen: Longs, labels: Labels, mode: int
) -> tuple[int, int]:
    """One step for each chosen sentence; how many labels were wrong, and how many there were.

    gold: [positions] labels, by position in the corpus. Heads whose gold labels break the constraints are
    passed over.
    """
    states = new_states(labels, len(corpus.heads))
    wrong, total = 0, 0
    for number in chosen:
        s = lay_out(corpus, number)
        begin, n = corpus.begin[number], len(s.modifiers)
        right, guess = gold[begin : begin + n + 1], gold[begin : begin + n + 1].copy()
        places, signs = np.empty(2 * room(s), np.int64), np.empty(2 * room(s), np.float32)
        count, total = 0, total + n
        for h in range(n + 1):
            if s.begin[h] == s.begin[h + 1]:
                continue
            how = mode if h else FREE
            head = prepare(s, h, labels, learner.weights, how, False)
            for at in range(len(head.chain)):
                for c in range(head.begin[at], head.begin[at + 1]):
                    head.arcs[c] += head.labels[c] != right[head.chain[at]]
            if not viterbi(s, head, labels, learner.weights, how, states, guess):
                continue
            mistakes = (guess[head.chain] != right[head.chain]).sum()
            if mistakes == 0:
                continue
            mask, end = len(learner.weights) - 1, count
            for given, other, sign in ((right, guess, -1.0), (guess, right, 1.0)):
                added = features(s, h, labels, how, given, other, mask, places[end:])
                if added < 0:
                    end = count
                    break
                signs[end : end + added] = sign
                end += added
            if end > count:
                count, wrong = end, wrong + mistakes
        if count:
            for i in range(count):
                add(gradient, places[i], signs[i])
            descend(learner, gradient)
    return wrong, total


@njit(cache=True, nogil=True)
def label_corpus(corpus: Corpus, labels: Labels, weights: Floats, mode: int) -> tuple[Ints, int]:
    """[positions] the best labels of a corpus, and how many heads had no path under the constraints.

    Such a head gets more candidates, and where that does not help either, labels without constraints.
    """
    states = new_states(labels, len(corpus.heads))
    best, failed = np.zeros(len(corpus.heads), np.int32), 0
    for number in range(len(corpus.begin) - 1):
        s = lay_out(corpus, number)
        guess = best[corpus.begin[number] : corpus.begin[number + 1]]
        for h in range(len(guess)):
            if s.begin[h] == s.begin[h + 1]:
                continue
            how = mode if h else FREE
            found = False
            for wide in (False, True):
                if not found:
                    head = prepare(s, h, labels, weights, how, wide)
                    found = viterbi(s, head, labels, weights, how, states, guess)
            if not found:
                failed += 1
                head = prepare(s, h, labels, weights, FREE, False)
                viterbi(s, head, labels, weights, FREE, states, guess)
    return best, failed


@njit(cache=True, nogil=True)
def share_corpus(corpus: Corpus, labels: Labels, weights: Floats, mode: int, best: Ints) -> Floats:
    """[positions] of the best labels, each one's share among all labels in its place, the others fixed.

    Shares are those of exp(score), of the candidates that the constraints allow beside the other labels.
    """
    shares = np.ones(len(best), np.float32)
    for number in range(len(corpus.begin) - 1):
        s = lay_out(corpus, number)
        begin = corpus.begin[number]
        given = best[begin : corpus.begin[number + 1]].copy()
        places = np.empty(room(s), np.int64)
        for h in range(len(given)):
            if s.begin[h] == s.begin[h + 1]:
                continue
            how = mode if h else FREE
            own = _total(s, h, labels, weights, how, given, places)
            if own == -np.inf:  # found without constraints
                how = FREE
                own = _total(s, h, labels, weights, how, given, places)
            for m in s.modifiers[s.begin[h] : s.begin[h + 1]]:
                label, others = given[m], 0.0
                row = labels.rows[s.tags[h], s.tags[m], int(m > h)]
                for other in labels.candidates[labels.begin[row] : labels.begin[row + 1]]:
                    if other != label:
                        given[m] = other
                        others += np.exp(_total(s, h, labels, weights, how, given, places) - own)
                given[m] = label
                shares[begin + m] = 1 / (1 + others)
    return shares
