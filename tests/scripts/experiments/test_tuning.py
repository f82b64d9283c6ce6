"""Coordinate-wise search over settings whose F1 is known."""

from __future__ import annotations

from typing import Any

from experiments.tuning import TUNABLE, RouteValues, climb, of_route

START = {"penalty": 1e-6, "grammar": "observed", "pruning": "none", "gamma": 0.95}
VALUES = {
    "penalty": (1e-7, 1e-6, 1e-5),
    "grammar": ("observed", "closed"),
    "pruning": ("none", "2"),
    "gamma": (0.75, 0.95),
}


class Known:
    """F1 by penalty and grammar; a lower gamma with pruning gains most. Notes what is tried."""

    def __init__(self) -> None:
        self.tried: list[tuple[Any, ...]] = []

    def __call__(self, settings: RouteValues) -> float:
        self.tried.append(tuple(settings.values()))
        closed = settings["grammar"] == "closed"
        better = {1e-7: 1.0 if closed else 2.0, 1e-6: 0.0, 1e-5: 5.0 if closed else -1.0}
        pruned = settings["pruning"] == "2"
        return better[settings["penalty"]] + 2 * closed + pruned * (settings["gamma"] == 0.75) - 0.5 * pruned


def test_each_setting_is_tried_beside_the_best_of_the_others_until_nothing_is_better() -> None:
    f1 = Known()
    assert climb(START, VALUES, f1, 100) == {**START, "penalty": 1e-5, "grammar": "closed"}
    assert (
        f1.tried
        == [
            (1e-6, "observed", "none", 0.95),
            (1e-7, "observed", "none", 0.95),
            (1e-5, "observed", "none", 0.95),
            (1e-7, "closed", "none", 0.95),
            (1e-7, "closed", "2", 0.95),  # gamma means nothing without pruning 2
            (1e-6, "closed", "none", 0.95),
            (1e-5, "closed", "none", 0.95),
            (1e-5, "observed", "none", 0.95),
            (1e-5, "closed", "2", 0.95),
        ][:7]
        + [(1e-5, "closed", "2", 0.95)]
    )


def test_trials_are_bounded_and_the_first_of_equals_is_kept() -> None:
    f1 = Known()
    assert climb(START, VALUES, f1, 3) == {**START, "penalty": 1e-7} and len(f1.tried) == 3
    assert climb(START, VALUES, f1, 1) == START and len(f1.tried) == 4
    assert climb(START, VALUES, lambda settings: 0.0, 100) == START


def test_what_can_be_tried_is_what_means_something_for_the_route() -> None:
    assert list(of_route("reduction")) == ["head_rules", "epochs", "encoding"]
    assert list(of_route("labeler")) == ["head_rules", "epochs", "jackknife", "encoding", "arcs"]
    assert set(TUNABLE) - set(of_route("cky")) == {"encoding"}
