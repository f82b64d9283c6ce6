"""Labels so long that no model file may hold them are refused before anything is trained."""

from __future__ import annotations

from pathlib import Path

import pytest

from d2c.learning.words import number_words
from d2c.reduction.reduction import Reduction
from d2c.training.spec import TrainingSpec
from d2c.training.train import Trainer
from d2c.trees.heads import load_head_rules
from tests.errors import faulty

LONG = "A" * 1_001


@pytest.mark.parametrize(
    ("encoding", "tree", "told"),
    [
        ("direct", f"(S ({LONG} a) (B b))", "a label of 1,001 characters, more than the 1,000 "),
        ("direct", f"(S (A a) ({LONG} (B b)))", "a label of 1,001 characters, more than the 1,000 "),
        (
            "spine",
            f"(S (A a) {f'({LONG[1:]} ' * 5}(B b){')' * 5})",
            "a label of 5,006 characters, more than ",
        ),
    ],
)
def test_long_labels(encoding: str, tree: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "x.mrg"
    file.write_text(f"(S (A a) (B b))\n{tree}\n")
    route, rules = Reduction(encoding), load_head_rules("leftmost")
    trainer = Trainer(TrainingSpec.of(file, file, dparser="gold"))
    with faulty(str(file), 0, 2, about=told):
        trainer.write_encoded(lambda ctree: route.encode(rules.apply(ctree)), tmp_path)


def test_data_between_words_has_no_number() -> None:
    """Base64 and the like, even if it is there twice."""
    assert {"b", LONG[1:]} == {*number_words([["a", "b", LONG, LONG[1:]], ["b", LONG, LONG[1:]]])}
