"""Exact search: of all computations in a sentence's chart the best, the k best, and the share of each arc."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from d2c.automata.chart import Search, TransitionChart, build_transition_chart
from d2c.automata.oracles import LinearOracle
from d2c.automata.scores import OracleScorer
from d2c.automata.states import Text
from d2c.automata.systems import Action
from d2c.base.arrays import Doubles, Floats, Ints
from d2c.learning.semirings import count_derivations, k_best, marginals, viterbi
from d2c.packed.arcs import LEAST, PackedArcs, arc_labels_of, arcs_of
from d2c.trees.ctree import Tokens

RAISED = "threshold raised"
_SIZES = (256, 1024)  # items for each token that there is room for, tried one after the other
_MOST = 1 << 20  # items at most, so that memory has a bound; but room for one computation, however long
_STEP, _LOWEST = 4.0, 0.01  # factor from a threshold to the next; the least that the next one may be
_COMPUTATIONS = 16  # that are considered for each tree asked for


Tree = TypeVar("Tree", bound=Hashable)


class ScoredTree(NamedTuple, Generic[Tree]):
    """A tree that computations build.

    score: logarithm of the probability of the best of these computations
    share: of these computations in the probability of all computations in the chart
    """

    tree: Tree
    score: float
    share: float


class _WeightedArcs(NamedTuple):
    """C arcs, each as often as edges make it.

    dependents: [C] from 0; heads: [C] from 1, 0: it is the root; labels: [C] their numbers
    yields:     [C, 2] the first and the last token of the dependent's yield, from 0
    shares:     [C] of the probability of all computations
    """

    dependents: Ints
    heads: Ints
    labels: Ints
    yields: Ints
    shares: Doubles

    def summed(self, n: int) -> Doubles:
        """Return [n, n + 1] the share of each head of each token."""
        result = np.zeros((n, n + 1))
        np.add.at(result, (self.dependents, self.heads), self.shares)
        return result

    def ends(self, n: int) -> Floats:
        """Return [2 * n * n] logarithms of the shares of ends of yields, as `PackedArcs` has them."""
        result = np.zeros((2, n, n))
        for side in range(2):
            np.add.at(result[side], (self.dependents, self.yields[:, side]), self.shares)
        return np.log(np.maximum(result, LEAST)).astype(np.float32).ravel()


class Exact:
    """Search among the computations of an oracle's automaton that `d2c.automata.chart` keeps.

    threshold: the probability that a kind of action must have in a configuration to be looked at, and an
               action among those of its kind. The greedy parser's actions are always looked at, so that the
               best tree never has a lower score than the greedy parser's; with a threshold of 1 both are the
               same
    """

    def __init__(self, oracle: LinearOracle, threshold: float = 0.2) -> None:
        self.oracle, self.threshold = oracle, threshold

    def parse(self, sentences: Sequence[Tokens], counts: Counter[str] | None = None) -> list[list[Action]]:
        """Return the actions of the best computations for sentences; none for empty ones.

        Sentences with too many items are parsed with a higher threshold, and are added to `counts`.
        """
        text = self.oracle.text(sentences)
        result: list[list[Action]] = []
        for i, tokens in enumerate(sentences):
            if not len(tokens):
                result.append([])
                continue
            chart, threshold = self._chart(text, i)
            result.append(self._actions(chart, viterbi(chart.forest, chart.scores)))
            if counts is not None:
                counts[RAISED] += threshold > self.threshold
        return result

    def k_best(self, tokens: Tokens, k: int, make: Callable[[list[Action]], Tree]) -> list[ScoredTree[Tree]]:
        """Return the k best trees of a sentence that is not empty, all different, by the scores of their best
        computations; fewer where there are no more.

        make: returns the tree that a computation builds. Several build the same tree where a head can take
              its left and right dependents in several orders. The static oracle has one order only, which
              therefore gets most of the share; those of the others are added if among the 16 · k best
        """
        chart, trees = self.chart(tokens), dict[Tree, ScoredTree[Tree]]()
        total, _ = marginals(chart.forest, chart.scores)
        wanted = min(_COMPUTATIONS * k, count_derivations(chart.forest))
        scores, edges, begin = k_best(chart.forest, chart.scores, int(wanted))
        for score, chosen in zip(scores.tolist(), np.split(edges, begin[1:-1]), strict=True):
            tree = make(self._actions(chart, chosen))
            known = trees.get(tree, ScoredTree(tree, score, 0.0))
            trees[tree] = known._replace(share=known.share + float(np.exp(score - total)))
        return list(trees.values())[:k]

    def arcs(self, tokens: Tokens) -> Doubles:
        """Return [n, n + 1] the share of each head of each token, 0: the root; the sentence is not empty.

        That is the share of the computations with this arc in the probability of all in the chart.
        """
        return self._arcs(tokens).summed(len(tokens))

    def packed(self, tokens: Tokens, heads: Sequence[int]) -> PackedArcs:
        """Return the likely arcs of a sentence that is not empty, and those of a d-tree.

        heads: [n] of that d-tree, 1..n, 0 = root

        The probability of a label is the share of computations with this arc and label in those with the arc;
        that of an end of a token's yield, the share of computations in which the yield ends there. The yield
        is complete when the token gets its head.
        """
        arcs, names = self._arcs(tokens), self.oracle.system.labels
        packed = arcs_of(arcs.summed(len(tokens)), heads)
        places = packed.places(arcs.dependents, arcs.heads)
        kept, of_labels = places >= 0, np.zeros((len(packed.heads), len(names)))
        np.add.at(of_labels, (places[kept], arcs.labels[kept]), arcs.shares[kept])
        numbers = [number for number in np.unique(self.oracle.system.tables.arcs) if number]  # 0: no label
        labels = arc_labels_of(tuple(names[number] for number in numbers), of_labels[:, numbers])
        return packed._replace(labels=labels, yields=arcs.ends(len(tokens)))

    def _arcs(self, tokens: Tokens) -> _WeightedArcs:
        """Return the arcs that the edges of a sentence's chart make."""
        chart = self.chart(tokens)
        forest, of = chart.forest, chart.tokens
        _, shares = marginals(forest, chart.scores)
        arc, root = forest.modifier >= 0, forest.head == forest.vertices - 1
        return _WeightedArcs(
            np.concatenate([of[forest.modifier[arc]], of[forest.tail[root]]]),
            np.concatenate([1 + of[forest.head[arc]], np.zeros(root.sum(), np.int32)]),
            np.concatenate([chart.labels[arc], chart.labels[root]]),
            np.concatenate([chart.spans[forest.modifier[arc]], chart.spans[forest.tail[root]]]),
            np.concatenate([shares[arc], shares[root]]),
        )

    def chart(self, tokens: Tokens) -> TransitionChart:
        """Return the chart of a sentence that is not empty."""
        return self._chart(self.oracle.text([tokens]), 0)[0]

    @cached_property
    def _scorer(self) -> OracleScorer:
        return self.oracle.scorer()  # what it has computed is of use to the next sentence

    def _actions(self, chart: TransitionChart, edges: Ints) -> list[Action]:
        """Return the actions of a derivation, given its edges [E]."""
        return [self.oracle.system.actions[action] for action in chart.actions[edges].tolist()]

    def _chart(self, text: Text, sentence: int) -> tuple[TransitionChart, float]:
        """Return the chart of a sentence of a text, and the threshold with which it has few enough items."""
        n, actions, threshold = int(text.lengths[sentence]), len(self.oracle.system.actions), self.threshold
        most = max(_MOST, 2 * (n + 1) * (1 + self.oracle.system.tables.unaries))
        while True:
            for size in _SIZES:
                search = Search.new(n, actions, min(size * (n + 1), most))
                chart = build_transition_chart(self._scorer, text, sentence, threshold, search)
                if len(chart.actions):
                    return chart, threshold
            threshold = max(threshold * _STEP, _LOWEST)


# How an oracle parses sentences; what made the search harder is counted, as in `Exact.parse`
SEARCHES: dict[str, Callable[[LinearOracle, Sequence[Tokens], Counter[str]], list[list[Action]]]] = {
    "greedy": lambda oracle, sentences, _: oracle.parse(sentences),
    "exact": lambda oracle, sentences, counts: Exact(oracle).parse(sentences, counts),
}
