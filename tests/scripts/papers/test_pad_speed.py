"""Table 1 of PAD on two words whose charts can be counted by hand; the exponent of Figure 5."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from d2c.trees.formats.brackets import parse_bracket
from papers.pad_speed import exponent, pruning, run_time
from papers.scores import matches
from papers.systems import trained
from tests.scripts.papers.tiny import MISSING, TOLD, experiment

# Over a P either is possible; method 1 knows from the tag which.
NOUN, VERB = "(TOP (NP (P (NN n))))", "(TOP (VP (P (VB v))))"
LONG = f"(TOP (NP {' '.join('(NN n)' for _ in range(20))}))"


@pytest.mark.usefixtures("told")
def test_shares_pruned(tmp_path: Path) -> None:
    """Each chart has P, NP, VP and two roots; by method 1 only P, one of these and its root."""
    parts = {"train": [NOUN, VERB], "dev": [NOUN, VERB]}
    made = experiment(tmp_path, parts, dparsers=(MISSING, TOLD))
    table = pruning(made)
    assert len(table.header) == 8 and all(len(row) == 8 for row in table.rows)
    by_model = {row[0]: dict(zip(table.header, row, strict=True)) for row in table.rows}
    latent = by_model.pop("latent grammar")
    assert latent["F1"] == trained(made, "shift-reduce", "dev", search="exact").f1
    assert (latent["oracle F1"], latent["% pruned"], latent["no parse"]) == (None, None, 0)
    shares = {model: row["% pruned"] for model, row in by_model.items()}
    assert shares == {"LEX CKY": None, "DEP CKY": 0.0, "PRUNE1": 40.0, "PRUNE2": 0.0, "PRUNE1+2": 40.0}
    assert all(row["oracle F1"] == row["F1"] == 100.0 for row in by_model.values())
    assert {row["no parse"] for row in by_model.values()} == {0}
    assert "2 sentences of less than 20 words" in table.notes[0]
    assert sum(note.startswith(f"{MISSING}: ") for note in table.notes) == 1


@pytest.mark.usefixtures("told")
def test_what_has_no_parse(tmp_path: Path) -> None:
    """The grammar has no NP of two words; for LEX CKY its bracket is missed, and none guessed."""
    unknown = "(TOP (NP (NN n) (NN n)))"
    table = pruning(experiment(tmp_path, {"train": [NOUN, VERB], "dev": [NOUN, unknown]}))
    assert [row[-1] for row in table.rows] == [1, 0, 1, 1, 1, 1]  # the second is the latent grammar
    lexicalised = dict(zip(table.header, table.rows[0], strict=True))
    assert lexicalised["F1"] == lexicalised["oracle F1"] == pytest.approx(2 * 100 * (2 / 3) / (1 + 2 / 3))


@pytest.mark.usefixtures("told")
def test_lexicalised_cky_without_a_short_sentence(tmp_path: Path) -> None:
    table = pruning(experiment(tmp_path, {"train": [NOUN, LONG], "dev": [LONG]}))
    assert table.rows[0] == ["LEX CKY", "n⁵ |G|", *[None] * 5, 0]


@pytest.mark.usefixtures("told")
def test_no_lexicalised_cky_with_gaps(tmp_path: Path) -> None:
    gap = "(VP (NP (NN 0=a) (NN 2=c)) (VB 1=b))"
    table = pruning(experiment(tmp_path, {"train": [gap], "dev": [gap]}))
    assert [row[0] for row in table.rows] == ["DEP CKY", "PRUNE1", "PRUNE2", "PRUNE1+2"]
    assert any(
        "LEX CKY and the latent grammar have only constituents without gaps" in note for note in table.notes
    )
    assert run_time(experiment(tmp_path, {"train": [gap], "dev": [gap]})).rows[0][1] == 1


def test_what_has_no_parse_has_no_bracket() -> None:
    gold = [parse_bracket(text) for text in ("(TOP (S (A a) (B b)))", "(TOP (S (X (A a)) (B b)))")]
    one, other = gold
    assert matches(gold, gold).f1 == 100
    found = matches(gold, [one, None])
    assert (found.matched, found.guess, found.gold) == (1, 1, 3)
    assert matches(gold, [None, None]).f1 == 0


def test_exponents() -> None:
    lengths = np.repeat(np.arange(1, 60), 5)
    middle = 5 * (lengths // 5) + 2  # of each class
    assert exponent(lengths, 3.0 * middle**1.5) == pytest.approx(1.5)
    assert exponent(lengths, 3.0 * middle) == pytest.approx(1.0)
    assert exponent(lengths[:20], lengths[:20]) is None and exponent(lengths[:0], lengths[:0]) is None


def test_run_time_has_a_line_for_each_class_of_lengths(tmp_path: Path) -> None:
    table = run_time(experiment(tmp_path, {"train": [NOUN, VERB, LONG], "dev": [NOUN, LONG, VERB]}))
    assert table.header == ("words", "sentences", "median ms without pruning", "median ms with pruning")
    assert [row[:2] for row in table.rows] == [["1–4", 2], ["20–24", 1]]
    assert all(isinstance(cell, float) and cell > 0 for row in table.rows for cell in row[2:])
    assert "few sentences do not say" in table.notes[0] and table.draw is not None
