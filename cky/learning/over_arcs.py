"""The structured SVM over packed arcs: a step of AdaGrad for each sentence, among all d-trees of its arcs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2c.cky.search.arc_features import VALUED, ArcSlots
from d2c.cky.search.features import FEATURES, Scorer, fill_atoms, part_slots, room_for_atoms, score_edges
from d2c.cky.search.layout import Observed
from d2c.cky.search.chart import build_chart
from d2c.cky.search.packed_chart import Packed, build_packed_chart, places_of, score_arcs
from d2c.cky.search.search import losses, parts_of
from d2c.cky.search.sites import Parts
from d2c.forests.forest import Floats, Ints
from d2c.forests.semirings import viterbi
from d2c.linear.adagrad import AdaGrad, Gradient, add, step
from d2c.linear.kernels import kernel
from d2c.linear.templates import Longs


MOST_EDGES = 1 << 19
NEAR = np.float32(1000.0)


def step_over_arcs(learner, gradient, query, scorer, observed, gold: Parts, packed: Packed, slots: ArcSlots, logs, labels):
    if packed.layout is None:
        chart = build_chart(query, observed)
    else:
        chart, _ = build_packed_chart(query, observed, packed.layout, MOST_EDGES)
    if not len(chart.rules):
        return 0.0, 0
    loss = losses(chart, gold)
    scores = score_edges(chart, observed, scorer, 0.0) + score_arcs(chart, packed, query.rules.parent)
    target, guess = viterbi(chart.forest, scores - NEAR * loss), viterbi(chart.forest, scores + loss)
    right, wrong = parts_of(chart, target)[0], parts_of(chart, guess)[0]
    places = places_of(right.sites, packed.arcs), places_of(wrong.sites, packed.arcs)
    add_parts(gradient, observed, scorer, right, -1.0, places[0], query.rules.parent, slots, logs, labels)
    add_parts(gradient, observed, scorer, wrong, 1.0, places[1], query.rules.parent, slots, logs, labels)
    step(learner, gradient)
    return float(loss[guess].sum() - loss[target].sum()), len(gold.rules)


@kernel
def add_parts(gradient: Gradient, observed: Observed, scorer: Scorer, parts: Parts, sign: float, places: Longs, parents: Ints, slots: ArcSlots, logs: Floats, labels: Floats) -> None:
    atoms, own, mask = room_for_atoms(), np.empty(FEATURES, np.int64), len(scorer.weights) - 1
    for part in range(len(parts.rules)):
        site, rule = parts.sites[part], parts.rules[part]
        if rule < 0:
            continue
        fill_atoms(observed, site, scorer.templates, 0, atoms)
        for i in range(part_slots(scorer.keys, rule, atoms, mask, own)):
            add(gradient, own[i], sign)
        place = places[part]
        if place >= 0:
            for t in range(slots.arcs.shape[1]):
                add(gradient, slots.arcs[place, t], sign * (logs[place] if t < 2 else 1.0))
            if site["m"] >= 0 and len(labels):
                symbol = parents[rule]
                for t in range(slots.symbols.shape[2]):
                    add(gradient, slots.symbols[place, symbol, t], sign * (labels[place, symbol] if t < 2 else 1.0))
