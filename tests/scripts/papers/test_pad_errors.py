"""Table 5 and the draft's classes of errors, counted by hand where one preposition is attached wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest

from papers.pad import brackets, rules
from tests.scripts.papers.tiny import MISSING, TOLD, experiment

GOLD = "(TOP (S (NP (PRP I)) (VP (VBD saw) (NP (DT a) (NN man)) (PP (IN with) (NP (NN hat)))) (. .)))"
GUESS = "(TOP (S (NP (PRP I)) (VP (VBD saw) (NP (NP (DT a) (NN man)) (PP (IN with) (NP (NN hat))))) (. .)))"
WORDS = ("I", "saw", "a", "man", "with", "hat", ".")
RIGHT, WRONG = (2, 0, 4, 2, 2, 5, 2), (2, 0, 4, 2, 4, 5, 2)
Told = dict[tuple[str, ...], tuple[int, ...]]


def test_right_dependencies(told: Told, tmp_path: Path) -> None:
    told[WORDS] = RIGHT
    made = experiment(tmp_path, {"train": [GOLD, GUESS], "dev": [GOLD]})
    assert list(rules(made).rows) == [
        *(["+", "+", "+", 6, 100.0], ["-", "+", "+", 0, None]),
        *(["+", "+", "-", 0, None], ["-", "+", "-", 0, None]),
        *(["+", "-", "-", 0, None], ["-", "-", "-", 0, None]),
    ]
    assert [row[1:] for row in brackets(made).rows] == [[0, None, 0, None]] * 4


def test_a_wrong_dependency(told: Told, tmp_path: Path) -> None:
    """With "with" below "man" VP → saw NP has its span of another split, and NP → NP PP is wrong in all."""
    told[WORDS] = WRONG
    made = experiment(tmp_path, {"train": [GOLD, GUESS], "dev": [GOLD]}, dparsers=(MISSING, TOLD))
    table = rules(made)
    assert list(table.rows) == [
        *(["+", "+", "+", 4, 100.0], ["-", "+", "+", 0, None]),
        *(["+", "+", "-", 1, 100.0], ["-", "+", "-", 0, None]),
        *(["+", "-", "-", 0, None], ["-", "-", "-", 1, 0.0]),
    ]
    assert any(note.startswith(f"{MISSING}: ") and "no-such-package" in note for note in table.notes)
    assert list(brackets(made).rows) == [
        *(["dependency", 0, None, 1, 100.0], ["span", 0, None, 0, 0.0]),
        *(["split and label", 0, None, 0, 0.0], ["label", 0, None, 0, 0.0]),
    ]


@pytest.mark.parametrize("label", ["NP", "X"])
def test_a_wrong_nonterminal(label: str, told: Told, tmp_path: Path) -> None:
    """Learned from another label: the span is there, and all of its rule but the nonterminal is right."""
    told[("x", "y")] = (2, 0)
    other = f"(TOP ({label} (NN x) (NN y)))"
    made = experiment(tmp_path, {"train": [other], "dev": ["(TOP (NP (NN x) (NN y)))"]})
    right = label == "NP"
    assert rules(made).rows[0] == ["+", "+", "+", 1, 100.0 * right]
    by_error = {row[0]: row[1:] for row in brackets(made).rows}
    assert by_error["label"] == ([0, None, 0, None] if right else [1, 100.0, 1, 100.0])
