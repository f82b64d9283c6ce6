"""The linear oracle's kernels: which action a configuration gets, the probabilities of all, their gradient.

A kind of action has the probability exp(score) / sum of these over the kinds of which some action applies;
likewise an action among those of its kind that apply: all others are masked before. The greedy parser takes
the best action of the best kind: the one path of a deterministic automaton (section 3 of Nederhof 2015).

Training is gradient descent on the log-probability of the static oracle's actions: AdaGrad under an L1
penalty (`d2c.learning.adagrad`), one step for each sentence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.automata.features import FIELDS, POSITIONS, VIEWS, OracleTemplates, see
from d2c.automata.states import BOTTOM, Text, row_of, take
from d2c.automata.systems import ACCEPT, KINDS, SHIFT, Tables
from d2c.base.arrays import Floats, Longs
from d2c.learning.adagrad import Gradient, add
from d2c.learning.kernels import inner, kernel, lean
from d2c.learning.templates import atom_of

_SHARED = VIEWS - 1  # views that several configurations may share
_PLACES = 1024  # of a cache, for each view
_FACTOR, _HALF, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(32), np.uint64(64 - 10)


class Sums(NamedTuple):
    """A cache of sums of weights, which depend on nothing but the numbers of the fields in a view.

    fields:  the fields that each view sees, one view after the other; begin: [_SHARED + 1] where each begins
    factors: [fields] of the numbers of fields; the sum of the products over a view's fields is its key
    keys:    [_SHARED, _PLACES] of what each place holds
    known:   [_SHARED, _PLACES, KINDS + 1] which scores it holds: of the actions of each kind, and of kinds
    sums:    [_SHARED, _PLACES, A + KINDS] of the weights of actions, and of kinds
    places:  [_SHARED] where the views of the present configuration are
    """

    fields: Longs
    begin: Longs
    factors: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    known: NDArray[np.bool_]
    sums: Floats
    places: Longs

    @classmethod
    def of(cls, templates: OracleTemplates, actions: int) -> Sums:
        """Return an empty cache for so many actions."""
        seen = []
        for view in range(_SHARED):
            begin, end = templates.begin[:, view], templates.begin[:, view + 1]
            used = np.concatenate([templates.order[low:high] for low, high in zip(begin, end, strict=True)])
            seen.append(np.unique(templates.table[used]).astype(np.int64))
        rng = np.random.default_rng(0)
        return cls(
            np.concatenate(seen),
            np.cumsum([0, *map(len, seen)]),
            rng.integers(1 << 63, size=len(FIELDS) + 1, dtype=np.uint64) * np.uint64(2) + np.uint64(1),
            np.zeros((_SHARED, _PLACES), np.uint64),
            np.zeros((_SHARED, _PLACES, KINDS + 1), np.bool_),
            np.empty((_SHARED, _PLACES, actions + KINDS), np.float32),
            np.zeros(_SHARED, np.int64),
        )


class OracleScorer(NamedTuple):
    """What a linear oracle scores with, and buffers.

    weights: [a power of two]
    positions, numbers, atoms: of the present configuration
    kind_scores, scores: [KINDS], [A] of kinds and actions, or their probabilities
    part:    [the greater of these] sums over the templates of one view
    shared:  a cache, valid while the weights stay the same
    """

    tables: Tables
    templates: OracleTemplates
    weights: Floats
    positions: Longs
    numbers: Longs
    atoms: Longs
    kind_scores: Floats
    scores: Floats
    part: Floats
    shared: Sums

    @classmethod
    def of(cls, tables: Tables, templates: OracleTemplates, weights: Floats) -> OracleScorer:
        """Return a scorer with buffers of its own. weights: [a power of two]"""
        actions = len(tables.kinds)
        return cls(
            tables,
            templates,
            weights,
            positions=np.zeros(len(POSITIONS), np.int64),
            numbers=np.zeros(len(FIELDS) + 1, np.int64),
            atoms=np.zeros(len(templates.table), np.int64),
            kind_scores=np.zeros(KINDS, np.float32),
            scores=np.zeros(actions, np.float32),
            part=np.zeros(max(KINDS, actions), np.float32),
            shared=Sums.of(templates, actions),
        )


@lean
def look(scorer: OracleScorer, text: Text, trees: Longs, top: int, token: int) -> None:
    """See the three topmost trees of a stack, [rows, ATTRIBUTES], and the tokens ahead."""
    see(text, trees[top - 2], trees[top - 1], trees[top], token, scorer.positions, scorer.numbers)


@lean
def score(scorer: OracleScorer, kind: int, scores: Floats) -> int:
    """Write [outputs] the scores of the actions of a kind, or, where `kind` is KINDS, of all kinds.

    Returns how many features each output has. The slots of the first output are then in `atoms`; those of the
    i-th one after it are greater by i. A score is the sum of the sums of views, in their order.
    """
    count, part = 0, scorer.part[: len(scores)]
    for output in range(len(scores)):
        scores[output] = 0.0
    for view in range(VIEWS):
        count = _sum_view(scorer, view, kind, part, count)
        for output in range(len(scores)):
            scores[output] += part[output]
    return count


@lean
def _sum_view(scorer: OracleScorer, view: int, kind: int, sums: Floats, count: int) -> int:
    """Sum the weights of a view's templates into [outputs], append their slots; return how many slots there
    are then."""
    weights, slots, templates = scorer.weights, scorer.atoms, scorer.templates
    begin = templates.begin[int(kind != KINDS)]
    mask, last = len(weights) - 1, len(weights) - len(sums)
    first = count
    for i in range(begin[view], begin[view + 1]):
        slots[count] = atom_of(scorer.numbers, templates.table, templates.order[i], kind)
        count += 1
    for output in range(len(sums)):
        sums[output] = 0.0
    for i in range(first, count):
        slots[i] = min(slots[i] & mask, last)
        slot = np.uint64(slots[i])
        for output in range(np.uint64(len(sums))):
            sums[output] += weights[slot + output]
    return count


@lean
def _find_places(shared: Sums, numbers: Longs) -> None:
    """Find the places of a configuration's views; places that hold other views are emptied.

    numbers: [FIELDS]
    """
    for view in range(_SHARED):
        key = np.uint64(0)
        for i in range(shared.begin[view], shared.begin[view + 1]):
            key += np.uint64(numbers[shared.fields[i]]) * shared.factors[shared.fields[i]]
        place = ((key ^ (key >> _HALF)) * _FACTOR) >> _SHIFT
        if shared.keys[view, place] != key:
            shared.keys[view, place] = key
            for kind in range(KINDS + 1):
                shared.known[view, place, kind] = False
        shared.places[view] = place


@lean
def _score_shared(scorer: OracleScorer, kind: int, begin: int, scores: Floats) -> None:
    """Write what `score` does, [outputs], with sums from the cache.

    begin: the first action of the kind; where `kind` is KINDS, A
    """
    shared, part, end = scorer.shared, scorer.part[: len(scores)], begin + len(scores)
    for output in range(len(scores)):
        scores[output] = 0.0
    for view in range(_SHARED):
        place = shared.places[view]
        sums = shared.sums[view, place, begin:end]
        if not shared.known[view, place, kind]:
            shared.known[view, place, kind] = True
            _sum_view(scorer, view, kind, sums, 0)
        for output in range(len(scores)):
            scores[output] += sums[output]
    _sum_view(scorer, _SHARED, kind, part, 0)
    for output in range(len(scores)):
        scores[output] += part[output]


@lean
def best_of(scores: Floats, allowed: NDArray[np.bool_]) -> int:
    """Return the allowed output with the highest of [outputs] scores, the first of equal ones; -1: none."""
    best = -1
    for i in range(len(scores)):
        if allowed[i] and (best < 0 or scores[i] > scores[best]):
            best = i
    return best


@lean
def shares(scores: Floats, allowed: NDArray[np.bool_]) -> None:
    """Turn [outputs] scores into probabilities: 0 for what is not allowed."""
    best, total = best_of(scores, allowed), np.float32(0.0)
    highest = scores[best]
    for i in range(len(scores)):
        scores[i] = np.exp(scores[i] - highest) if allowed[i] else np.float32(0.0)
        total += scores[i]
    for i in range(len(scores)):
        scores[i] /= total


@lean
def only_of(allowed: NDArray[np.bool_]) -> int:
    """Return the only one of [outputs] that is allowed; -1 where there are several, or none."""
    only = -1
    for i in range(len(allowed)):
        if allowed[i]:
            if only >= 0:
                return -1
            only = i
    return only


@lean
def decide(scorer: OracleScorer, text: Text, trees: Longs, top: int, token: int, row: int) -> int:
    """Return the action that is taken: the best one of the best kind.

    trees: [rows, ATTRIBUTES] the stack up to `top`; row: of `masks`, by `states.row_of`
    """
    tables = scorer.tables
    kind, begin, best, looked = KINDS, 0, 0, False
    allowed, scores = tables.open[row], scorer.kind_scores
    for choice in range(2):
        if choice == 1:
            kind, begin = best, tables.begin[best]
            end = tables.begin[best + 1]
            allowed, scores = tables.masks[row, begin:end], scorer.scores[begin:end]
        best = only_of(allowed)
        if best < 0:
            if not looked:
                look(scorer, text, trees, top, token)
                looked = True
            score(scorer, kind, scores)
            best = best_of(scores, allowed)
    return begin + best


@lean
def chances(
    scorer: OracleScorer, text: Text, trees: Longs, top: int, token: int, row: int, least: float, logs: Floats
) -> None:
    """Write the logarithm of the probability of each action; -inf for those that do not apply.

    trees, top: rows of which the three last ones are the topmost trees, as in a stack; top: index of the last
    least:      kinds with a smaller share than this get -inf, too, and so do actions with a smaller share of
                their kind; but never the action that `decide` takes
    logs:       [A]
    """
    tables, best = scorer.tables, 0
    shares_of_kinds = scorer.kind_scores
    look(scorer, text, trees, top, token)
    _find_places(scorer.shared, scorer.numbers)
    for action in range(len(logs)):
        logs[action] = -np.inf
    for kind in range(-1, KINDS):  # first the kinds themselves
        begin, end = np.int64(len(logs)), np.int64(len(logs))
        allowed, scores = tables.open[row], shares_of_kinds
        if kind >= 0:
            if not allowed[kind] or (shares_of_kinds[kind] < least and kind != best):
                continue
            begin, end = tables.begin[kind], tables.begin[kind + 1]
            allowed, scores = tables.masks[row, begin:end], scorer.scores[begin:end]
        first = only_of(allowed)
        if first < 0:
            _score_shared(scorer, kind if kind >= 0 else KINDS, begin, scores)
            first = best_of(scores, allowed)
        shares(scores, allowed)
        if kind < 0:
            best = first
        for i in range(end - begin):
            if allowed[i] and (scores[i] >= least or i == first):
                logs[begin + i] = np.log(shares_of_kinds[kind]) + np.log(scores[i])


@kernel
def parse_greedily(scorer: OracleScorer, text: Text, trees: Longs, begin: Longs, taken: Longs) -> None:
    """Write the actions of each sentence, the last of which accepts.

    trees: by `states.new_stack`
    begin: [sentences] where a sentence's actions begin in `taken`; there is room for as many as can be
    """
    kinds = scorer.tables.kinds
    for sentence in range(len(text.begin)):
        token, left = text.begin[sentence], text.lengths[sentence]
        top, count = BOTTOM, begin[sentence]
        while left > 0 or top > BOTTOM:
            row = row_of(scorer.tables, trees[top - 1], trees[top], left)
            action = decide(scorer, text, trees, top, token, row)
            taken[count] = action
            count += 1
            if kinds[action] == ACCEPT:
                break
            top = take(scorer.tables, text, trees, top, action, token)
            if kinds[action] == SHIFT:
                token, left = token + 1, left - 1


_LEAST_SHARE = np.float32(1e-30)
_LEAST = np.float32(2.0**-10)  # smaller gradients are left out


@kernel
def add_gradient(
    scorer: OracleScorer,
    text: Text,
    trees: Longs,
    begin: Longs,
    gold: Longs,
    sentence: int,
    gradient: Gradient,
) -> float:
    """Add the gradient of one sentence; return the sum of the losses of its actions.

    begin: [sentences + 1] where a sentence's gold actions begin in `gold`; the last one accepts
    """
    tables, total = scorer.tables, 0.0
    token, left, top = text.begin[sentence], text.lengths[sentence], BOTTOM
    for number in range(begin[sentence], begin[sentence + 1]):
        action = gold[number]
        kind = tables.kinds[action]
        row = row_of(tables, trees[top - 1], trees[top], left)
        looked = False
        for choice in range(2):  # the kind, then which one of that kind
            right, allowed, scores = kind, tables.open[row], scorer.kind_scores
            if choice == 1:
                low, high = tables.begin[kind], tables.begin[kind + 1]
                right, allowed, scores = action - low, tables.masks[row, low:high], scorer.scores[low:high]
            if only_of(allowed) >= 0:
                continue
            if not looked:
                look(scorer, text, trees, top, token)
                looked = True
            count = score(scorer, kind if choice == 1 else KINDS, scores)
            shares(scores, allowed)
            total -= np.log(max(scores[right], _LEAST_SHARE))
            add_differences(gradient, scorer.atoms[:count], scores, right)
        top = take(tables, text, trees, top, action, token)
        if kind == SHIFT:
            token, left = token + 1, left - 1
    return float(total)


@inner
def add_differences(gradient: Gradient, atoms: Longs, shares_of_outputs: Floats, right: int) -> None:
    """Add to the gradient of the weights that scored each of [outputs] how much too probable that is."""
    for output in range(len(shares_of_outputs)):
        amount = shares_of_outputs[output] - np.float32(output == right)
        if abs(amount) > _LEAST:
            for atom in atoms:
                add(gradient, atom + output, amount)
