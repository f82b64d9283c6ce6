"""Charts against all computations, one by one, and against the greedy parser."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pytest

from d2c.automata import exact
from d2c.automata.chart import Search, build_transition_chart
from d2c.automata.exact import RAISED, Exact
from d2c.automata.oracles import LinearOracle
from d2c.automata.scores import OracleScorer, chances
from d2c.automata.states import BOTTOM, Text, new_stack, row_of, take
from d2c.automata.static_oracles import built
from d2c.automata.systems import ACCEPT, SHIFT, Action, System, arc_eager, arc_standard, constituents
from d2c.base.arrays import Floats, Longs
from d2c.learning.kernels import kernel
from d2c.learning.semirings import count_derivations, marginals, viterbi
from d2c.learning.words import Lexicon
from d2c.packed.arcs import LEAST, LEAST_LABEL, PackedArcs
from d2c.trees.binarization import GLUE, LEFT, RIGHT, UNARY, Step, Symbol
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import subtrees
from tests.automata import stacks

GRAMMAR = [
    Step(RIGHT, Symbol("NP", "bar")),
    Step(LEFT, Symbol("NP")),
    Step(LEFT, Symbol("S", GLUE)),
    Step(UNARY, Symbol("S")),
]
SYSTEMS: dict[str, Callable[[], System]] = {
    "standard": lambda: arc_standard(["a"], ["root", "top"]),
    "eager": lambda: arc_eager(["a", "b"], ["root"]),
    "constituents": lambda: constituents(GRAMMAR, ["A", "B"], 1),
}


def oracle(name: str, seed: int = 0, scale: float = 0.3) -> LinearOracle:
    """One that has learned nothing: random weights."""
    result = LinearOracle(SYSTEMS[name](), table_bits=10)
    result.lexicon_ = Lexicon({"v": 2, "w": 3}, {"A": 2, "B": 3})
    rng = np.random.default_rng(seed)
    result.weights_ = (scale * rng.normal(size=1 << result.settings.table_bits)).astype(np.float32)
    return result


def sentence(n: int, seed: int = 0) -> Tokens:
    rng = random.Random(seed)
    return Tokens(tuple(rng.choices("vwx", k=n)), tuple(rng.choices("ABC", k=n)))


@kernel
def logs_after(
    scorer: OracleScorer, text: Text, trees: Longs, actions: Longs, threshold: float, logs: Floats
) -> None:
    """[A] of the actions in the configuration to which others lead."""
    token, left, top = text.begin[0], text.lengths[0], BOTTOM
    for action in actions:
        top = take(scorer.tables, text, trees, top, action, token)
        if scorer.tables.kinds[action] == SHIFT:
            token, left = token + 1, left - 1
    row = row_of(scorer.tables, trees[top - 1], trees[top], left)
    chances(scorer, text, trees, top, token, row, threshold, logs)


class Computation(NamedTuple):
    score: float
    actions: tuple[Action, ...]


def computations(oracle: LinearOracle, tokens: Tokens, threshold: float) -> Iterator[Computation]:
    """All of a sentence that is not empty: no chart, no classes, no forest."""
    text, scorer, system = oracle.text([tokens]), oracle.scorer(), oracle.system
    stack, logs = new_stack(text), np.empty(len(system.actions), np.float32)
    agenda: list[tuple[float, list[int]]] = [(0.0, [])]
    while agenda:
        score, taken = agenda.pop()
        if taken and system.actions[taken[-1]].kind == ACCEPT:
            yield Computation(score, tuple(system.actions[action] for action in taken))
            continue
        logs_after(scorer, text, stack, np.array(taken, np.int64), threshold, logs)
        for action in np.flatnonzero(logs > -np.inf).tolist():
            agenda.append((score + float(logs[action]), [*taken, action]))


def tree(actions: Iterable[Action]) -> tuple[tuple[object, ...], ...]:
    """Heads and labels of a d-tree; of constituents what happens to each token on either side."""
    heads, labels, derivation = built(actions)
    sides = [
        [step for step in steps if step.parent.label and step.kind == kind]
        for steps in derivation
        for kind in (0, 1, 2)
    ]
    return tuple(heads), tuple(labels), tuple(map(tuple, sides))


CASES = [
    *(("standard", n, 0.0) for n in range(1, 6)),
    *(("eager", n, 0.0) for n in range(1, 5)),
    *(("constituents", n, 0.0) for n in range(1, 4)),
    *(("standard", 5, 0.1), ("eager", 5, 0.15), ("constituents", 4, 0.1), ("constituents", 5, 0.15)),
    *((name, 5, 1.0) for name in SYSTEMS),
]


@pytest.mark.parametrize(("name", "n", "threshold"), CASES)
def test_chart_equals_all_computations(name: str, n: int, threshold: float) -> None:
    linear, tokens = oracle(name, seed=n), sentence(n, seed=n)
    exact = Exact(linear, threshold)
    chart = exact.chart(tokens)
    every = sorted(computations(linear, tokens, threshold), reverse=True)
    total = math.log(math.fsum(math.exp(one.score) for one in every))
    assert count_derivations(chart.forest) == len(every)
    assert threshold or total == pytest.approx(0, abs=1e-4)  # no state is dead
    assert marginals(chart.forest, chart.scores)[0] == pytest.approx(total, abs=1e-4)
    (best,) = exact.parse([tokens])
    scores = {one.actions: one.score for one in every}
    assert scores[tuple(best)] == pytest.approx(every[0].score, abs=1e-4)
    check_k_best(exact, tokens, every, total)
    expected = np.zeros((n, n + 1))
    for score, actions in every:
        np.add.at(expected, (np.arange(n), built(actions).heads), math.exp(score - total))
    arcs = exact.arcs(tokens)
    assert arcs == pytest.approx(expected, abs=1e-4)
    assert arcs.sum(axis=1) == pytest.approx(np.ones(n), abs=1e-6)
    assert arcs[:, 0].sum() == pytest.approx(1, abs=1e-6)
    if name != "constituents":
        shares = {one.actions: math.exp(one.score - total) for one in every}
        check_labels(exact, tokens, best, shares)
        check_yields(exact.packed(tokens, built(best).heads), shares)


def check_labels(
    exact: Exact, tokens: Tokens, best: Iterable[Action], shares: Mapping[Sequence[Action], float]
) -> None:
    """Asserts that packed arcs are those of all computations, and their labels the shares of these.

    shares: of each computation
    """
    of_arcs, of_labels = Counter[tuple[int, int]](), Counter[tuple[int, int, str]]()
    for actions, share in shares.items():
        tree = built(actions)
        for m, (head, label) in enumerate(zip(tree.heads, tree.labels, strict=True)):
            of_arcs[m, head] += share  # type: ignore[assignment]
            of_labels[m, head, label] += share  # type: ignore[assignment]
    packed = exact.packed(tokens, built(best).heads)
    assert packed.labels is not None and set(packed.labels.names) >= {label for _, _, label in of_labels}
    likely = {arc for arc, share in of_arcs.items() if share >= LEAST}
    found = list(zip(packed.dependents().tolist(), packed.heads.tolist(), strict=True))
    assert {*found} >= likely
    for (m, head), logs in zip(found, packed.labels.logs, strict=True):
        for label, log in zip(packed.labels.names, logs.tolist(), strict=True):
            expected_share = of_labels[m, head, label] / of_arcs[m, head]
            assert math.exp(log) == pytest.approx(max(expected_share, LEAST_LABEL), abs=1e-4)


def check_yields(packed: PackedArcs, shares: Mapping[Sequence[Action], float]) -> None:
    """Asserts that ends of yields have the shares of the computations whose trees have them."""
    n = len(packed.begin) - 1
    expected, every = np.zeros((2, n, n)), np.arange(n)
    for actions, share in shares.items():
        first, last, _ = subtrees(built(actions).heads)
        np.add.at(expected, (0, every, first), share)
        np.add.at(expected, (1, every, last), share)
    assert packed.yields is not None
    assert np.exp(packed.yields.reshape(2, n, n)) == pytest.approx(np.maximum(expected, LEAST), abs=1e-4)


def check_k_best(exact: Exact, tokens: Tokens, every: list[Computation], total: float) -> None:
    """Asserts that the best trees are those of the best computations, each with the share of all its own."""
    scores, shares = dict[object, float](), Counter[object]()
    for score, actions in every:
        scores.setdefault(tree(actions), score)
        shares[tree(actions)] += math.exp(score - total)  # type: ignore[assignment]
    for k in (1, 3, 12):
        found = exact.k_best(tokens, k, tree)
        of_trees = Counter(tree(actions) for _, actions in every[: 16 * k])
        best = sorted((scores[one] for one in of_trees), reverse=True)[:k]
        assert [one.score for one in found] == pytest.approx(best, abs=1e-4)
        for one in found:
            assert scores[one.tree] == pytest.approx(one.score, abs=1e-4)
            if len(every) <= 16 * k:
                assert one.share == pytest.approx(shares[one.tree], abs=1e-4)


@pytest.mark.parametrize("name", SYSTEMS)
def test_best_is_never_below_greedy_and_is_greedy_at_threshold_1(name: str) -> None:
    sentences = [sentence(n, n) for n in (0, 1, 2, 3, 5, 9, 14)]
    better = 0
    for seed in range(5):
        linear = oracle(name, seed, scale=0.5)
        greedy, best = linear.parse(sentences), Exact(linear, 0.2).parse(sentences)
        assert Exact(linear, 1.0).parse(sentences) == greedy
        assert best[0] == []
        for tokens in sentences[1:]:
            path, chart = Exact(linear, 1.0).chart(tokens), Exact(linear, 0.2).chart(tokens)
            found = chart.scores[viterbi(chart.forest, chart.scores)].sum()
            assert len(path.scores) == len(viterbi(path.forest, path.scores))
            assert found >= path.scores.sum() - 1e-4
            better += found > path.scores.sum() + 1e-4
    assert better


@pytest.mark.parametrize("name", SYSTEMS)
def test_of_equal_scores_greedy_and_chart_take_the_lowest_number(name: str) -> None:
    linear, tokens = oracle(name, scale=0.0), Tokens(("w",) * 7, ("C",) * 7)
    (taken,) = linear.parse([tokens])
    assert Exact(linear, 1.0).parse([tokens]) == [taken]
    stack: stacks.Stack = []
    left = len(tokens)
    for action in taken:
        number = linear.system.number_of[action]
        assert number == min(stacks.applicable(linear.system, stack, left))
        left = stacks.take(linear.system, stack, left, number)


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_threshold_keeps_the_greedy_action(name: str) -> None:
    linear, tokens = oracle(name, seed=3), sentence(6, seed=3)
    text, scorer, system = linear.text([tokens]), linear.scorer(), linear.system
    stack, logs = new_stack(text), np.empty(len(system.actions), np.float32)
    taken = [system.number_of[action] for action in linear.parse([tokens])[0]]
    for place, action in enumerate(taken):
        begin = np.array(taken[:place], np.int64)
        for threshold in (0.1, 0.9, 2.0):
            logs_after(scorer, text, stack, begin, threshold, logs)
            assert logs[action] > -np.inf
        assert np.flatnonzero(logs > -np.inf).tolist() == [action]


def test_too_many_items_raise_the_threshold() -> None:
    linear, counts = oracle("standard", scale=0.0), Counter[str]()
    sentences = [sentence(4), sentence(40)]
    short, long = Exact(linear, 0.02).parse(sentences, counts)
    assert counts == {RAISED: 1}
    assert short == Exact(linear, 0.02).parse(sentences[:1], counts)[0] and counts == {RAISED: 1}
    assert sum(action.kind == SHIFT for action in long) == 40


def test_a_chart_with_too_many_items_has_no_edges() -> None:
    linear, tokens = oracle("standard"), sentence(4)
    text = linear.text([tokens])
    full = Exact(linear, 0.0).chart(tokens)
    for most in (3, 10, 50, 10_000):
        search = Search.new(4, len(linear.system.actions), most)
        chart = build_transition_chart(linear.scorer(), text, 0, 0.0, search)
        assert len(chart.actions) in (0, len(full.actions))
        assert (len(chart.actions) > 0) == (most == 10_000)


def test_long_sentences_take_linear_time_and_memory() -> None:
    tokens = sentence(3000)
    linear = oracle("eager", scale=1.0)
    assert Exact(linear, 1.0).parse([tokens]) == linear.parse([tokens])


@pytest.mark.slow
def test_charts_of_long_sentences_have_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of any length: there always is room for the greedy parser's computation."""
    linear, tokens, counts = oracle("eager"), sentence(10_000), Counter[str]()
    (actions,) = Exact(linear).parse([tokens], counts)
    assert sum(action.kind == SHIFT for action in actions) == 10_000 and counts == {RAISED: 1}
    search = Search.new(10_000, len(linear.system.actions), exact._MOST)
    assert sum(array.nbytes for array in search) < 1 << 29
    monkeypatch.setattr(exact, "_MOST", 64)
    for name in SYSTEMS:
        linear = oracle(name)
        assert Exact(linear).parse([sentence(100)]) == linear.parse([sentence(100)])
