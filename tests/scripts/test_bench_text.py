"""The scores of text and brackets, without a model: what versions print is given."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import bench_text
from bench_text import OPENING, main, wrapped

TREE = "(TOP (S (`` ``) (NP (PRP We)) (PRN (-LRB- -LRB-) (UH oh) (-RRB- -RRB-)) (VP (VBD left)) ('' '')))"
TEXT = '"We (oh) left"'
WORDS = [(0, 1), (1, 3), (4, 5), (5, 7), (7, 8), (9, 13), (13, 14)]


def test_wrapped_text_keeps_the_places_of_characters() -> None:
    text = " ".join(("ab", "c" * 11, "defg" * 3)[i % 3] for i in range(400)) + "\n\nEnd. " + "x" * 100
    made = wrapped(text)
    assert [a for a, b in zip(text, made, strict=True) if a != b] == [" "] * (made.count("\n") - 2)
    assert all(40 < len(line) <= 72 for line in made.partition("\n\n")[0].splitlines()[:-1])


def test_opening_marks() -> None:
    assert [match.start() for match in OPENING.finditer('"a" ("b") c"d "e')] == [0, 5, 14]


def test_two_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This one finds all; the other one splits a word, takes a mark for a closing one, and misses a node."""
    monkeypatch.setenv("D2C_TREEBANKS", str(tmp_path))
    with gzip.open(tmp_path / "masc-dev.mrg.gz", "wt") as stream:
        stream.write(f"{TREE}\n(TOP (S (NP (PRP We)) (VP (VBD left))))\n")
    here, given = sys.executable, []

    def parsed(python: str, text: str, _model: str, *options: str) -> list[str]:
        given.append(text)
        if "--tokenized" in options:
            return [TREE if python == here else TREE.replace("(PRN ", "(NP ")]
        assert text == f"{TEXT} We left"
        words = WORDS if python == here else [*WORDS[:5], (9, 11), (11, 13), WORDS[-1]]
        forms = ["``" if python == here else "''", *["x"] * (len(words) - 1)]
        lines = (
            {"tokens": forms, "offsets": words},
            {"tokens": ["We", "left"], "offsets": [[15, 17], [18, 22]]},
        )
        return [*map(json.dumps, lines)]

    monkeypatch.setattr(bench_text, "parsed", parsed)
    other = tmp_path / "python"
    other.touch()
    done = CliRunner().invoke(main, [str(other), "--models", "en", "--parts", "masc-dev"])
    assert not done.exception, done.output
    rows = [line for line in done.stdout.splitlines() if line.startswith(("| masc-dev", "| (", "| -LRB-"))]
    assert rows == [
        f"| masc-dev | {way} | en | 100.00 | 100.00 | 100.00 | 84.21 | 100.00 | 0.00 |"
        for way in ("paragraphs", "wrapped")
    ] + [f"| {mark} | en | 100.00 | 75.00 |" for mark in ("(", "-LRB-")]
    assert [given[-3], given[-1]] == ["`` We ( oh ) left ''\n", "`` We -LRB- oh -RRB- left ''\n"]
