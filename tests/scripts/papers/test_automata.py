"""The table of transition systems, with a d-parser in their place that says what it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from papers import automata
from papers.experiment import PaperExperiment
from papers.scores import Scored
from tests.scripts.papers.tiny import MISSING, TOLD, experiment

TREES = ["(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks))))", "(TOP (S (NP (NNS dogs)) (VP (VBP bark))))"]


def test_rows(
    tmp_path: Path, told: dict[tuple[str, ...], tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    told["the", "dog", "barks"] = 2, 3, 0
    told["dogs", "bark"] = 2, 0
    monkeypatch.setattr(automata, "SYSTEMS", (TOLD,))

    def trained(_: PaperExperiment, name: str, part: str, search: str = "greedy") -> Scored:
        assert (name, part) == ("shift-reduce", "dev")
        f1, seconds = {"greedy": (50.0, 2.0), "exact": (60.0, 5.0)}[search]
        return Scored({"default": "evalb", "evalb": {"all": {"f1": f1}}}, None, None, 2, 5, seconds, 0.0)

    monkeypatch.setattr(automata, "trained", trained)
    table = automata.parsers(experiment(tmp_path, {"train": TREES, "dev": TREES}, dparsers=(MISSING, TOLD)))
    (name, uas, las, *f1, speed), *alone = table.rows
    assert (name, uas, las, f1[2]) == (TOLD, 100, 2 / 5 * 100, 100)
    assert isinstance(speed, int) and speed > 0
    assert alone == [
        ["shift-reduce", None, None, 50.0, None, None, 2],
        ["shift-reduce;exact", None, None, 60.0, None, None, 1],
    ]
    assert all(len(row) == len(table.header) for row in table.rows)
    assert table.notes[-1].startswith(f"{MISSING}: ")
