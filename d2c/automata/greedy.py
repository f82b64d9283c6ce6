"""Greedy parsing: the one path of a deterministic automaton, in linear time (section 2 of Nederhof 2015)."""

from __future__ import annotations

from d2c.automata.scores import OracleScorer, decide
from d2c.automata.states import BOTTOM, Text, row_of, take
from d2c.automata.systems import ACCEPT, SHIFT
from d2c.base.arrays import Longs
from d2c.learning.kernels import kernel


@kernel
def parse(scorer: OracleScorer, text: Text, trees: Longs, begin: Longs, taken: Longs) -> None:
    """Write the actions of each sentence, the last of which accepts.

    trees: by `states.new_stack`
    begin: [sentences] where a sentence's actions begin in `taken`; there is room for all that can be
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
