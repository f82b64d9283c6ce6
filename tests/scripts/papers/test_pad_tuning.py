"""λ and γ: by options, or those with the best F1 on what is held out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from experiments.store import StoredStep
from papers import charts
from papers.charts import GAMMAS, PENALTIES, chosen, split, tuning
from tests.scripts.papers.tiny import experiment

TREES = [f"(TOP (NP (DT the) (NN w{i})))" for i in range(20)]
FREE: dict[str, Any] = {"penalty": None, "gamma": None}
BY_PENALTY = dict(zip(PENALTIES, (90.0, 91.0, 93.0, 93.0, 92.0, 50.0), strict=True))


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> dict[float, float]:
    """F1 of each γ; that of each λ is BY_PENALTY's."""
    by_gamma = dict(zip(GAMMAS, (80.0, 92.89, 92.95, 93.0), strict=True))

    def step(f1: float) -> StoredStep:
        return StoredStep(
            Path(), {"f1": f1, "speed": 1000.0, "last": 8, "averages": 9, "weights": 7}, "", 0.0
        )

    monkeypatch.setattr(charts, "_with_penalty", lambda _, value: step(BY_PENALTY.get(value, 93.0)))
    monkeypatch.setattr(charts, "_with_gamma", lambda _, _penalty, value: step(by_gamma[value]))
    return by_gamma


def test_the_best_penalty_and_the_lowest_gamma_that_is_bearable(
    measured: dict[float, float], tmp_path: Path
) -> None:
    made = experiment(tmp_path, {"train": TREES, "dev": TREES}, **FREE)
    assert chosen(made) == {"penalty": 1e-6, "gamma": 0.95}
    measured[0.85] = 92.9
    assert chosen(made)["gamma"] == 0.85
    measured.update(dict.fromkeys(GAMMAS, 50.0))
    assert chosen(made)["gamma"] == GAMMAS[0]


@pytest.mark.usefixtures("measured")
def test_options_are_not_questioned(tmp_path: Path) -> None:
    parts = {"train": TREES, "dev": TREES}
    assert chosen(experiment(tmp_path, parts, penalty=3.0, gamma=0.5)) == {"penalty": 3.0, "gamma": 0.5}
    assert chosen(experiment(tmp_path, parts, penalty=1e-4, gamma=None)) == {"penalty": 1e-4, "gamma": 0.95}
    assert chosen(experiment(tmp_path, parts, penalty=None, gamma=0.0)) == {"penalty": 1e-6, "gamma": 0.0}


@pytest.mark.usefixtures("measured")
def test_the_table_marks_what_is_chosen(tmp_path: Path) -> None:
    table = tuning(experiment(tmp_path, {"train": TREES, "dev": TREES}, **FREE))
    assert [row[:2] for row in table.rows if row[2]] == [["λ", "1e-06"], ["γ", "0.95"]]
    assert [row[0] for row in table.rows] == ["λ"] * len(PENALTIES) + ["γ"] * len(GAMMAS)
    assert table.header[5:] == ("last weights", "averages", "weights of the model")
    assert {tuple(row[5:]) for row in table.rows} == {(8, 9, 7)}


def test_what_is_held_out(tmp_path: Path) -> None:
    """dev where there is a test part, otherwise the last tenth of train."""
    parts = {"train": TREES, "dev": TREES[:3]}
    whole = experiment(tmp_path, parts)
    own = split(whole)
    assert own.learned == whole.trees("train")[:18] and own.held_out == whole.trees("train")[18:]
    assert [tree.tokens for tree in own.gold] == [tree.tokens for tree in own.held_out]
    tested = experiment(tmp_path, {**parts, "test": TREES[5:]})
    assert split(tested).learned == tested.trees("train") and split(tested).held_out == tested.trees("dev")
    single = split(experiment(tmp_path, {"train": TREES[:1], "dev": TREES}))
    assert len(single.learned) == len(single.held_out) == 1


def test_charts_of_other_settings_are_tuned_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(charts, "PENALTIES", (1e-7,))
    trees = ["(TOP (Y (A a) (B b)))", "(TOP (Z (A a) (B b)))"] * 10
    parts = {"train": trees, "dev": trees}
    bare = experiment(tmp_path, parts, penalty=None)
    labelled = experiment(tmp_path, parts, penalty=None, chart={"labels": True})
    f1 = {}
    for made in (bare, labelled):
        chosen(made)
        ((_, step),) = [one for one in made.store.used.items() if "penalty" in one[1].directory.name]
        f1[step.key] = step.facts["f1"]
    assert len(f1) == 2 and [*f1.values()] == [50, 100]  # the label says which it is
    other = experiment(tmp_path, parts, penalty=None, chart={"labels": True}, encoding="delta")
    chosen(other)
    assert not other.store.used.keys() & f1.keys()


def test_they_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here all are equally good, so the first ones are chosen; each is measured once."""
    monkeypatch.setattr(charts, "PENALTIES", (1e-7, 1e-6))
    monkeypatch.setattr(charts, "GAMMAS", (0.5, 0.9))
    trees = ["(TOP (X (A a) (B b)))", "(TOP (Y (A a) (B c)))"] * 10
    made = experiment(tmp_path, {"train": trees, "dev": trees}, **FREE)
    assert chosen(made) == {"penalty": 1e-7, "gamma": 0.5}
    assert [step.directory.name.partition("-")[0] for step in made.store.used.values()] == [
        *("penalty", "penalty", "gamma", "gamma")
    ]
    table = tuning(made)
    assert [row[:4] for row in table.rows] == [
        *(["λ", "1e-07", "yes", 100.0], ["λ", "1e-06", "", 100.0]),
        *(["γ", "0.5", "yes", 100.0], ["γ", "0.9", "", 100.0]),
    ]
    for row, step in zip(table.rows, made.store.used.values(), strict=False):
        assert row[5:] == [step.facts.get(name) for name in ("last", "averages", "weights")]
    assert [row[5] is None for row in table.rows] == [False, False, True, True]
