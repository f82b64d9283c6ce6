"""Learned oracles: counts, and linear scores with which a greedy parser learns; probabilities add up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from d2c.automata.oracles import LinearOracle
from d2c.automata.scores import OracleScorer, chances, decide
from d2c.automata.states import BOTTOM, Text, new_stack, row_of, take
from d2c.automata.static_oracles import SYSTEMS, built
from d2c.automata.systems import SHIFT, Action
from d2c.base.arrays import Floats, Longs
from d2c.learning.kernels import kernel
from d2c.learning.learner import Epoch
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import is_projective

# Determiners and prepositions tell the structure; "z" is always a left dependent.
TREEBANK = [
    (["D", "N", "V", "D", "N"], (2, 3, 0, 5, 3), ("d", "s", "root", "d", "o")),
    (["N", "V", "N"], (2, 0, 2), ("s", "root", "o")),
    (["V", "D", "N", "P", "N"], (0, 3, 1, 3, 4), ("root", "d", "o", "a", "o")),
    (["V"], (0,), ("root",)),
    (["N", "V", "P", "D", "N"], (2, 0, 2, 5, 3), ("s", "root", "a", "d", "o")),
]


TOKENS = [Tokens(tuple(tags), tuple(tags)) for tags, _, _ in TREEBANK]


def actions_of(name: str) -> list[list[Action]]:
    return [[*SYSTEMS[name].actions(heads, labels)] for _, heads, labels in TREEBANK]


def untrained(name: str, epochs: int) -> LinearOracle:
    return LinearOracle(SYSTEMS[name].make("dsoa", ["root"]), epochs=epochs, table_bits=12, seed=1)


@pytest.fixture(scope="module", params=SYSTEMS)
def oracle(request: pytest.FixtureRequest) -> LinearOracle:
    return untrained(request.param, 10).fit(TOKENS, actions_of(request.param))


def test_it_learns(oracle: LinearOracle) -> None:
    parsed = [built(actions)[:2] for actions in oracle.parse(TOKENS)]
    assert parsed == [(list(heads), list(labels)) for _, heads, labels in TREEBANK]


@pytest.mark.parametrize("name", SYSTEMS)
def test_it_learns_from_morphology(name: str, tmp_path: Path) -> None:
    """Which alone tells the structure here."""
    told = [Tokens(("x",) * len(tags), ("X",) * len(tags), morphs=tuple(tags)) for tags, _, _ in TREEBANK]
    oracle = untrained(name, 10).fit(told, actions_of(name))
    expected = [(list(heads), list(labels)) for _, heads, labels in TREEBANK]
    assert [built(actions)[:2] for actions in oracle.parse(told)] == expected
    oracle.save(tmp_path)
    loaded = LinearOracle.load(tmp_path, oracle.system)
    assert loaded.parse(told) == oracle.parse(told)
    bare = [replace(tokens, morphs=None) for tokens in told]
    assert [len(built(actions)[0]) for actions in loaded.parse(bare)] == [len(tokens) for tokens in bare]
    few = untrained(name, 1).fit([*bare[:3], *told[3:]], actions_of(name))
    assert not few.lexicon_.morphs


def test_any_sentence_gets_one_projective_tree(oracle: LinearOracle) -> None:
    rng = np.random.default_rng(0)
    tags = [tuple("NVDPX"[i] for i in rng.integers(0, 5, n)) for n in (*range(30), 3000)]
    for tag, actions in zip(tags, oracle.parse([Tokens(tag, tag) for tag in tags]), strict=True):
        heads, labels, _ = built(actions)
        assert len(heads) == len(tag) and (not tag or is_projective(heads))
        assert [label == "root" for label in labels] == [head == 0 for head in heads]


@kernel
def greedy_logs(scorer: OracleScorer, text: Text, trees: Longs, least: float, all_logs: Floats) -> None:
    """[steps, A] of all actions of one sentence, in the configurations of the greedy parser."""
    token, left, top = text.begin[0], text.lengths[0], BOTTOM
    for step in range(len(all_logs)):
        row = row_of(scorer.tables, trees[top - 1], trees[top], left)
        chances(scorer, text, trees, top, token, row, least, all_logs[step])
        action = decide(scorer, text, trees, top, token, row)
        top = take(scorer.tables, text, trees, top, action, token)
        if scorer.tables.kinds[action] == SHIFT:
            token, left = token + 1, left - 1


def test_probabilities_add_up_and_never_leave_out_what_is_taken(oracle: LinearOracle) -> None:
    tags = tuple("DNVDNPDX")
    text = oracle.text([Tokens(tags, tags)])
    (actions,) = oracle.parse([Tokens(tags, tags)])
    logs = np.empty((len(actions), len(oracle.system.actions)), np.float32)
    greedy_logs(oracle.scorer(), text, new_stack(text), 0.0, logs)
    assert np.allclose(np.exp(logs).sum(axis=1), 1, atol=1e-5)
    assert (np.exp(logs) > 0).sum() > len(actions)
    greedy_logs(oracle.scorer(), text, new_stack(text), 1.0, logs)
    assert [np.flatnonzero(np.isfinite(row)).tolist() for row in logs] == [
        [oracle.system.number_of[action]] for action in actions
    ]


@pytest.mark.parametrize(("scores", "kept"), [([1, 3, 3, 2], 2), ([0, 0, 0, 0], 1), ([1, 2, 3, 4], 4)])
def test_the_first_weights_with_the_best_score_are_kept(scores: list[float], kept: int) -> None:
    seen = []

    def score() -> float:
        seen.append(oracle.weights_)
        return scores[len(seen) - 1]

    def check(epoch: Epoch) -> None:
        assert epoch.loss > 0 and epoch.number == len(seen) and epoch.f1 == scores[len(seen) - 1]

    oracle = untrained("standard", epochs=4)
    oracle.fit(TOKENS, actions_of("standard"), score, check)
    assert len(seen) == 4 and oracle.weights_ is seen[kept - 1]
    last = untrained("standard", epochs=4).fit(TOKENS, actions_of("standard"))
    assert np.array_equal(last.weights_, seen[-1])
