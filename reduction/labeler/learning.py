"""The labeler's kernels: labelling, the mistakes that training learns from, and how sure labels are.

Training is a structured SVM: loss-augmented Viterbi, then a step of AdaGrad for each sentence along the
features of the labels found less those of the right labels. The loss is the number of wrong labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from d2c.base.arrays import Doubles, Floats, Longs
from d2c.learning.adagrad import Gradient, add
from d2c.learning.kernels import inner, kernel
from d2c.reduction.encodings.encoding import Constraint
from d2c.reduction.labeler.backbones import Backbones
from d2c.reduction.labeler.features import PAIR_ATOMS, arc_atoms, pair_atoms
from d2c.reduction.labeler.joint import JointStates, best_joint, joint_order
from d2c.reduction.labeler.scores import (
    ACROSS_LEFT,
    ALONE,
    CONSTRAINED,
    FREE,
    NO_LABEL,
    NO_TOKEN,
    ON_LEFT,
    START_LEFT,
    STOP_LEFT,
    UNCONSTRAINED,
    HeadScores,
    LabelScorer,
    constraint_of,
    joins_before,
    pair_key,
    score_head,
    symbol_key,
)
from d2c.reduction.labeler.sequence import best_sequence, sequence_order


@inner
def _add_loss(arcs: Backbones, head: HeadScores, gold: Longs) -> None:
    """Add 1 to the scores of all candidates except the gold labels [positions]."""
    for i in range(head.lefts + head.rights):
        right = gold[arcs.modifiers[head.low + i]]
        for c in range(head.begin[i], head.begin[i + 1]):
            head.scores[c] += head.labels[c] != right


@kernel
def label_heads(
    scorer: LabelScorer, arcs: Backbones, heads: Longs, gold: Longs, states: JointStates, best: Longs
) -> int:
    """Write the best labels of the modifiers of some heads [H] to `best` [positions]; return how many heads
    were labelled without the constraint.

    Where no labels fulfil the constraint, more candidates are tried, and then labels without the constraint.

    gold: [positions] labels, or none [0]. With gold labels, the best labels are those by score and loss, or
          the gold labels where none fulfil the constraint.
    """
    failed, learns = 0, len(gold) > 0
    for h in heads:
        for allowed in range(CONSTRAINED, UNCONSTRAINED + 1):
            head = score_head(scorer, arcs, h, allowed)
            if learns:
                _add_loss(arcs, head, gold)
            if head.constraint.joint:
                labelled = best_joint(scorer, arcs, head, states, best)
            else:
                labelled = best_sequence(scorer, arcs, head, best)
            if labelled:
                failed += allowed == UNCONSTRAINED
                break
            if learns:
                for i in range(arcs.begin[h], arcs.begin[h + 1]):
                    best[arcs.modifiers[i]] = gold[arcs.modifiers[i]]
                break
    return failed


@inner
def order_of(
    scorer: LabelScorer,
    arcs: Backbones,
    h: int,
    constraint: Constraint,
    labels: Longs,
    order: Longs,
    joins: Longs,
) -> bool:
    """Write the order in which modifiers are taken [modifiers of h], as indices into `Backbones.modifiers`,
    and which right ones join the event of a left one; return False where labels [positions] break the
    constraint."""
    if constraint.joint:
        return joint_order(scorer, arcs, h, constraint, labels, order, joins)
    joins.fill(0)
    return sequence_order(scorer, arcs, h, constraint, labels, order)


@inner
def slots_of(
    scorer: LabelScorer,
    arcs: Backbones,
    h: int,
    constraint: Constraint,
    labels: Longs,
    other: Longs,
    slots: Longs,
) -> int:
    """Write the slots of a head's features; return how many there are, -1 where labels break the constraint.

    labels, other: [positions]. Features of arcs that have the same label in both are left out.
    """
    table, templates, mask = scorer.table, scorer.templates, len(scorer.weights) - 1
    modifiers, begin, middle, end = arcs.modifiers, arcs.begin[h], arcs.middle[h], arcs.begin[h + 1]
    order, joins = np.empty(end - begin, np.int64), np.empty(end - begin, np.int64)
    if not order_of(scorer, arcs, h, constraint, labels, order, joins):
        return -1
    n = 0
    for i in range(begin, end):
        m, right = modifiers[i], int(i >= middle)
        label = labels[m]
        if label != other[m]:
            for number in range(arc_atoms(templates, arcs, h, i)):
                slots[n] = (templates.atoms[number] + label) & mask
                slots[n + 1] = (templates.atoms[number] + symbol_key(table, label)) & mask
                n += 2
        if i == begin or i == middle:  # noqa: SIM109 (numba)
            pair_atoms(templates, arcs, h, NO_TOKEN, m, START_LEFT + right)
            n = _add_pair(scorer, NO_LABEL, label, ALONE, slots, n)
        else:
            before = labels[modifiers[i - 1]]
            pair_atoms(templates, arcs, h, modifiers[i - 1], m, ON_LEFT + right)
            n = _add_pair(scorer, before, label, joins_before(table, constraint, before, label), slots, n)
        if i + 1 == middle or i + 1 == end:
            pair_atoms(templates, arcs, h, m, NO_TOKEN, STOP_LEFT + right)
            n = _add_pair(scorer, label, NO_LABEL, ALONE, slots, n)
    for i in range(1, end - begin):
        right = int(order[i] >= middle)
        if right != int(order[i - 1] >= middle):
            before, m = modifiers[order[i - 1]], modifiers[order[i]]
            pair_atoms(templates, arcs, h, before, m, ACROSS_LEFT + right)
            n = _add_pair(scorer, labels[before], labels[m], joins[i], slots, n)
    return n


@inner
def _add_pair(scorer: LabelScorer, before: int, label: int, joins: int, slots: Longs, n: int) -> int:
    """Append the slots of a pair with the atoms that `pair_atoms` wrote to `slots[:n]`; return the new n."""
    key = pair_key(len(scorer.table.symbols), before, label, joins)
    for i in range(PAIR_ATOMS):
        slots[n + i] = (scorer.templates.atoms[i] + key) & (len(scorer.weights) - 1)
    return n + PAIR_ATOMS


@inner
def buffer_for(scorer: LabelScorer, arcs: Backbones, h: int) -> Longs:
    """Return room for the slots of a head's features [features]."""
    features = 2 * len(scorer.templates.atoms) + 4 * PAIR_ATOMS
    return np.empty((arcs.begin[h + 1] - arcs.begin[h]) * features, np.int64)


@kernel
def add_mistakes(
    scorer: LabelScorer, arcs: Backbones, heads: Longs, gold: Longs, guess: Longs, gradient: Gradient
) -> int:
    """Add to the gradient the features of wrong labels less those of the right ones; return how many are
    wrong.

    heads:       [H]; those whose gold labels break the constraint are passed over
    gold, guess: [positions] labels
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
def labels_score(
    scorer: LabelScorer, arcs: Backbones, h: int, constraint: Constraint, labels: Longs, other: Longs
) -> float:
    """Return the score of the labels [positions] of one head's modifiers; -inf where they are not allowed.

    other: [positions] labels; arcs that have the same label in both are left out, except for `label_logs`
    """
    total: Any = 0.0
    slots = buffer_for(scorer, arcs, h)
    count = slots_of(scorer, arcs, h, constraint, labels, other, slots)
    for i in range(count):
        total += scorer.weights[slots[i]]
    if len(arcs.label_logs):
        for i in range(arcs.begin[h], arcs.begin[h + 1]):
            total += arcs.label_logs[arcs.modifiers[i], labels[arcs.modifiers[i]]]
    return total if count >= 0 else -np.inf


@inner
def _kept_constraint(scorer: LabelScorer, arcs: Backbones, h: int, labels: Longs) -> Constraint:
    """Return the constraint that the labels [positions] of a head's modifiers fulfil: the head's own, or FREE
    where they were chosen without it."""
    constraint, size = constraint_of(scorer, arcs, h), arcs.begin[h + 1] - arcs.begin[h]
    order, joins = np.empty(size, np.int64), np.empty(size, np.int64)
    return constraint if order_of(scorer, arcs, h, constraint, labels, order, joins) else FREE


@kernel
def labels_scores(scorer: LabelScorer, arcs: Backbones, heads: Longs, labels: Longs) -> Doubles:
    """Return the scores of the labels [positions] of the modifiers of each head [H]."""
    scores, nothing = np.empty(len(heads)), np.full(len(labels), NO_LABEL)
    for i in range(len(heads)):
        constraint = _kept_constraint(scorer, arcs, heads[i], labels)
        scores[i] = labels_score(scorer, arcs, heads[i], constraint, labels, nothing)
    return scores


@kernel
def add_all(
    scorer: LabelScorer, arcs: Backbones, heads: Longs, labels: Longs, sign: float, gradient: Gradient
) -> None:
    """Add to the gradient all features of the labels [positions] of the modifiers of some heads [H]."""
    nothing = np.full(len(labels), NO_LABEL)
    for h in heads:
        constraint, slots = _kept_constraint(scorer, arcs, h, labels), buffer_for(scorer, arcs, h)
        for i in range(slots_of(scorer, arcs, h, constraint, labels, nothing, slots)):
            add(gradient, slots[i], sign)


@kernel
def shares_of(scorer: LabelScorer, arcs: Backbones, heads: Longs, best: Longs) -> Floats:
    """Return the share of each of the best labels [positions] among all labels in its position, while the
    labels in all other positions stay.

    Shares are those of exp(score), among the candidates that the constraint allows with the other labels.
    """
    shares, labels, table = np.ones(len(best), np.float32), best.copy(), scorer.table
    for h in heads:
        constraint = _kept_constraint(scorer, arcs, h, labels)
        for i in range(arcs.begin[h], arcs.begin[h + 1]):
            m, others = arcs.modifiers[i], 0.0
            labels[m] = NO_LABEL  # scores leave out what is the same in both: all other arcs
            total = labels_score(scorer, arcs, h, constraint, best, labels)
            row = table.rows[arcs.tags[h], arcs.tags[m], int(m > h)]
            for c in range(table.begin[row], table.begin[row + 1]):
                if table.candidates[c] != best[m]:
                    labels[m] = table.candidates[c]
                    others += np.exp(labels_score(scorer, arcs, h, constraint, labels, best) - total)
            labels[m] = best[m]
            shares[m] = 1 / (1 + others)
    return shares
