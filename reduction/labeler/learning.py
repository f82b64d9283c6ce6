"""The labeler's kernels: labelling, the mistakes that training learns from, and how sure labels are.

Training is a structured SVM: loss-augmented Viterbi, then a step of AdaGrad for each sentence along the
features of the labels that it found less those of the right ones. The loss is the number of wrong labels.
"""

from __future__ import annotations

import numpy as np

from d2c.linear.adagrad import Gradient, add
from d2c.linear.kernels import inner, kernel
from d2c.reduction.encodings.encoding import Constraint
from d2c.reduction.labeler.arcs import Arcs, Floats, Longs
from d2c.reduction.labeler.features import arc_atoms, pair_atoms
from d2c.reduction.labeler.scores import (
    ACROSS_LEFT,
    ALONE,
    CONSTRAINED,
    FREE,
    LEFT,
    NO_LABEL,
    NO_TOKEN,
    START_LEFT,
    STOP_LEFT,
    UNCONSTRAINED,
    Scorer,
    constraint_of,
    joins_before,
    pair_key,
    prepare,
    symbol_key,
)
from d2c.reduction.labeler.search import States, in_sentence, rises_of, step, viterbi


@kernel
def label_heads(scorer: Scorer, arcs: Arcs, heads: Longs, gold: Longs, states: States, best: Longs) -> int:
    """Writes the best labels of these heads' modifiers, by position; how many heads had none under the
    constraint.

    Such a head gets more candidates, and where that does not help either, labels without constraint.

    gold: labels by position, or none. With these, labels are the best ones by score and loss, and the gold
          ones where there are none under the constraint.
    """
    failed, learns = 0, len(gold) > 0
    for h in heads:
        for attempt in range(CONSTRAINED, UNCONSTRAINED + 1):
            head = prepare(scorer, arcs, h, attempt)
            if learns:
                for i in range(head.lefts + head.rights):
                    right = gold[arcs.modifiers[head.low + i]]
                    for c in range(head.begin[i], head.begin[i + 1]):
                        head.scores[c] += head.labels[c] != right
            if viterbi(scorer, arcs, head, states, best):
                failed += attempt == UNCONSTRAINED
                break
            if learns:
                for i in range(arcs.begin[h], arcs.begin[h + 1]):
                    best[arcs.modifiers[i]] = gold[arcs.modifiers[i]]
                break
    return failed


@inner
def walk(
    scorer: Scorer, arcs: Arcs, h: int, constraint: Constraint, given: Longs, order: Longs, joins: Longs
) -> bool:
    """Writes the order in which modifiers are taken (indices into `Arcs.modifiers`), and which join an event.

    given: labels by position. False where they break the constraint.
    """
    begin, middle, end = arcs.begin[h], arcs.middle[h], arcs.begin[h + 1]
    if constraint.joint:
        return _walk_jointly(scorer, arcs, h, constraint, given, order, joins)
    numbers, modifiers = scorer.labels.numbers, arcs.modifiers
    for place, i in enumerate(in_sentence(middle - begin, end - begin)):
        order[place], joins[place] = begin + i, 0
    for i in range(begin + 1, end):
        falls = i != middle and numbers[given[modifiers[i]]] < numbers[given[modifiers[i - 1]]]
        if constraint.rising and falls:
            return False
    return True


@inner
def _walk_jointly(
    scorer: Scorer, arcs: Arcs, h: int, constraint: Constraint, given: Longs, order: Longs, joins: Longs
) -> bool:
    """`walk` in the order of attachment."""
    numbers, symbols, modifiers = scorer.labels.numbers, scorer.labels.symbols, arcs.modifiers
    begin, middle, end = arcs.begin[h], arcs.middle[h], arcs.begin[h + 1]
    events = np.empty(end - begin + 1, np.int64)
    for i in range(begin, end):
        events[i - begin] = numbers[given[modifiers[i]]]
        if constraint.differences and i != begin and i != middle:
            events[i - begin] += events[i - begin - 1]
    a, b, apart = begin, middle, 0
    for k in range(end - begin):
        last_left = given[modifiers[a - 1]] if a > begin else NO_LABEL
        last_right = given[modifiers[b - 1]] if b > middle else NO_LABEL
        left = a < middle and (b == end or events[a - begin] <= events[b - begin])
        i, last, first = (a, last_left, a == begin) if left else (b, last_right, b == middle)
        label, event = given[modifiers[i]], last_left if apart > 0 else last
        same, rises = symbols[label] == symbols[event], rises_of(left, first, apart)
        rise = step(constraint, first, numbers[label], numbers[last], same, rises)
        if rise < 0:
            return False
        order[k], joins[k] = i, int(not left and 0 < apart == rise)
        a, b, apart = (a + 1, b, apart + rise) if left else (a, b + 1, apart - rise)
    return True


@inner
def slots_of(
    scorer: Scorer, arcs: Arcs, h: int, constraint: Constraint, given: Longs, other: Longs, slots: Longs
) -> int:
    """Writes the slots of a head's features under the given labels; how many, -1 where they are not allowed.

    given, other: labels by position. Features of arcs that have the same label in `other` are left out.
    """
    labels, templates, mask = scorer.labels, scorer.templates, len(scorer.weights) - 1
    modifiers, begin, middle, end = arcs.modifiers, arcs.begin[h], arcs.middle[h], arcs.begin[h + 1]
    order, joins = np.empty(end - begin, np.int64), np.empty(end - begin, np.int64)
    if not walk(scorer, arcs, h, constraint, given, order, joins):
        return -1
    n = 0
    for i in range(begin, end):
        m, right = modifiers[i], int(i >= middle)
        label = given[m]
        if label != other[m]:
            for number in range(arc_atoms(templates, arcs, h, i)):
                slots[n] = (templates.atoms[number] + label) & mask
                slots[n + 1] = (templates.atoms[number] + symbol_key(labels, label)) & mask
                n += 2
        if i == begin or i == middle:  # noqa: SIM109 (numba)
            pair_atoms(templates, arcs, h, NO_TOKEN, m, START_LEFT + right)
            n = _add_pair(scorer, NO_LABEL, label, ALONE, slots, n)
        else:
            before = given[modifiers[i - 1]]
            pair_atoms(templates, arcs, h, modifiers[i - 1], m, LEFT + right)
            n = _add_pair(scorer, before, label, joins_before(labels, constraint, before, label), slots, n)
        if i + 1 == middle or i + 1 == end:
            pair_atoms(templates, arcs, h, m, NO_TOKEN, STOP_LEFT + right)
            n = _add_pair(scorer, label, NO_LABEL, ALONE, slots, n)
    for i in range(1, end - begin):
        right = int(order[i] >= middle)
        if right != int(order[i - 1] >= middle):
            before, m = modifiers[order[i - 1]], modifiers[order[i]]
            pair_atoms(templates, arcs, h, before, m, ACROSS_LEFT + right)
            n = _add_pair(scorer, given[before], given[m], joins[i], slots, n)
    return n


@inner
def _add_pair(scorer: Scorer, before: int, label: int, joins: int, slots: Longs, n: int) -> int:
    """Appends the slots of a pair with the atoms that `pair_atoms` wrote."""
    key = pair_key(len(scorer.labels.symbols), before, label, joins)
    for i in range(len(scorer.templates.pair)):
        slots[n + i] = (scorer.templates.atoms[i] + key) & (len(scorer.weights) - 1)
    return n + len(scorer.templates.pair)


@inner
def buffer_for(scorer: Scorer, arcs: Arcs, h: int) -> Longs:
    """Room for the slots of a head's features."""
    features = 2 * len(scorer.templates.atoms) + 4 * len(scorer.templates.pair)
    return np.empty((arcs.begin[h + 1] - arcs.begin[h]) * features, np.int64)


@kernel
def add_mistakes(
    scorer: Scorer, arcs: Arcs, heads: Longs, gold: Longs, guess: Longs, gradient: Gradient
) -> int:
    """Adds to the gradient the features of wrong labels less those of the right ones; how many are wrong.

    Heads whose gold labels break the constraint are passed over.
    """
    wrong = 0
    for h in heads:
        mistakes = 0
        for i in range(arcs.begin[h], arcs.begin[h + 1]):
            mistakes += guess[arcs.modifiers[i]] != gold[arcs.modifiers[i]]
        if mistakes == 0:
            continue
        constraint = constraint_of(scorer, arcs, h)
        slots, slots_of_guess = buffer_for(scorer, arcs, h), buffer_for(scorer, arcs, h)
        count = slots_of(scorer, arcs, h, constraint, gold, guess, slots)
        count_of_guess = slots_of(scorer, arcs, h, constraint, guess, gold, slots_of_guess)
        if count < 0 or count_of_guess < 0:
            continue
        for i in range(count):
            add(gradient, slots[i], -1.0)
        for i in range(count_of_guess):
            add(gradient, slots_of_guess[i], 1.0)
        wrong += mistakes
    return wrong


@kernel
def score(scorer: Scorer, arcs: Arcs, h: int, constraint: Constraint, given: Longs, nothing: Longs) -> float:
    """The score of the labels of one head's modifiers, by position; -inf where they are not allowed.

    nothing: [positions] no labels at all
    """
    slots, total = buffer_for(scorer, arcs, h), 0.0
    count = slots_of(scorer, arcs, h, constraint, given, nothing, slots)
    for i in range(count):
        total += scorer.weights[slots[i]]
    if len(arcs.said):
        for i in range(arcs.begin[h], arcs.begin[h + 1]):
            total += arcs.said[arcs.modifiers[i], given[arcs.modifiers[i]]]
    return total if count >= 0 else -np.inf


@kernel
def shares_of(scorer: Scorer, arcs: Arcs, heads: Longs, best: Longs) -> Floats:
    """[positions] of the best labels, each one's share among all labels in its position, the others fixed.

    Shares are those of exp(score), of the candidates that the constraint allows beside the other labels.
    """
    shares, given = np.ones(len(best), np.float32), best.copy()
    nothing = np.empty(len(best), np.int64)
    for m in range(len(best)):
        nothing[m] = NO_LABEL
    labels = scorer.labels
    for h in heads:
        constraint = constraint_of(scorer, arcs, h)
        own = score(scorer, arcs, h, constraint, given, nothing)
        if own == -np.inf:  # found without constraint
            constraint = FREE
            own = score(scorer, arcs, h, constraint, given, nothing)
        for i in range(arcs.begin[h], arcs.begin[h + 1]):
            m = arcs.modifiers[i]
            label, others = given[m], 0.0
            row = labels.rows[arcs.tags[h], arcs.tags[m], int(m > h)]
            for c in range(labels.begin[row], labels.begin[row + 1]):
                if labels.candidates[c] != label:
                    given[m] = labels.candidates[c]
                    others += np.exp(score(scorer, arcs, h, constraint, given, nothing) - own)
            given[m] = label
            shares[m] = 1 / (1 + others)
    return shares
