"""How often rare sentences are to count: what is held out, and how often the rest is learned from."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from d2c.models.model import Model
from d2c.trees.formats.brackets import format_bracket, read_brackets
from models import rare
from models.rare import OTHERS, RARE, learn, parts_of
from treebanks.generated import GENERATED, generated_trees


def tree(word: str) -> str:
    return f"(TOP (NP (NN {word}) (NN b)))"


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[rare.Parts, rare.Parts]:
    """Of blocks of two sentences the second and the fourth are held out; those with `r` are repeated."""
    monkeypatch.setattr(rare, "GOLD", ())
    monkeypatch.setattr(rare, "BLOCK", 2)
    monkeypatch.setattr(rare, "HELD_OUT", 2)
    (tmp_path / "kept").mkdir()
    words = ["a1", "r2", "a3", "r4", "r5", "r6", "r7", "a8"]
    lines = [f"{tree(word)}\n" * (3 if "r" in word else 1) for word in words]
    (tmp_path / "kept" / "ewt-by-en.mrg").write_text("".join(lines))
    return parts_of(tmp_path, tmp_path, 1)


def first_words(parts: rare.Parts) -> dict[str, list[str]]:
    return {name: [one.tokens.forms[0] for one in trees] for name, trees in parts.items()}


def test_every_other_block_is_held_out_and_each_sentence_once(parts: tuple[rare.Parts, rare.Parts]) -> None:
    learned, held_out = parts
    assert [*map(format_bracket, learned.pop(GENERATED))] == [*generated_trees(1)]
    assert first_words(learned) == {OTHERS: ["a1"], RARE: ["r2", "r5", "r6"]}
    assert first_words(held_out) == {OTHERS: ["a3", "a8"], RARE: ["r4", "r7"]}


def test_parts_count_as_often_as_said(
    parts: tuple[rare.Parts, rare.Parts], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Counter[str]()

    def train(spec: Any, _directories: object, _say: object) -> None:
        found.update(one.tokens.forms[0][0] for one in read_brackets(spec.data.train))

    monkeypatch.setattr(rare, "train_models", train)
    monkeypatch.setattr(Model, "load", str)
    learned = {OTHERS: parts[0][OTHERS] * 150, RARE: parts[0][RARE] * 50, GENERATED: []}
    learn(learned, {OTHERS: 1, RARE: 3, GENERATED: 0}, 1200, 1, tmp_path)
    assert found == {"a": 150, "r": 450}
