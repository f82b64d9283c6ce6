"""The treebanks of the benchmark of accuracy: their parts, and the metric."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from benchmarks.data import HELD_OUT, Data, mixed, with_passes
from d2c.trees.formats.brackets import save_brackets
from experiments.store import digest
from tests.treebanks import needs_treebanks


def data(models: Path, treebank: str) -> Data:
    return Data(models, treebank, sentences=20, tags="gold", folds=None, every=10, seed=1)


@needs_treebanks
@pytest.mark.parametrize(
    ("treebank", "dev", "metric"),
    [("craft", 288, "EVALB, collins.prm"), ("pcc", 22, "disco-dop, proper.prm")],
)
def test_parts_and_metric(treebank: str, dev: int, metric: str, tmp_path: Path) -> None:
    """The held-out sentences are those behind the ones that are learned from."""
    of = data(tmp_path, treebank)
    assert [len(of.gold(part)) for part in ("train", "dev", "test")] == [20, HELD_OUT, dev]
    whole = islice(of.treebank.reading(of.treebank.files["train"]), 20 + HELD_OUT)
    learned_or_held_out = [ctree for part in ("train", "dev") for ctree in of.gold(part)]
    assert [ctree.tokens for ctree in learned_or_held_out] == [ctree.tokens for ctree in whole]
    assert all(ctree.head_children is not None for ctree in of.gold("train"))
    assert of.metric.title == metric


@needs_treebanks
def test_steps_of_craft_are_found_again(tmp_path: Path) -> None:
    """They are named by this, with digests of the files."""
    made_of = data(tmp_path, "craft").treebank.made_of()
    assert {name: value for name, value in made_of.items() if name not in ("train", "dev", "test")} == {
        "head_rules": "collins",
        "train has": digest("range(1, 21)"),
        "dev has": digest(f"range(21, {21 + HELD_OUT})"),
        "test has": digest(f"range(1, {sys.maxsize}, 10)"),
    }


@needs_treebanks
def test_voted_trees_teach_beside_gold_ones_that_count_twice(tmp_path: Path) -> None:
    """Those that choose among states, and that are scored, are the same; steps are others."""
    of, file = data(tmp_path, "craft"), tmp_path / "taught.mrg"
    save_brackets(mixed(of.gold("train"), of.gold("dev")[:7], 1), file)
    taught = of.taught(file)
    assert [len(taught.parsers.trees(part)) for part in ("train", "dev", "test")] == [
        2 * 20 + 7,
        HELD_OUT,
        288,
    ]
    words = Counter(ctree.tokens.forms for ctree in taught.parsers.trees("train"))
    assert words == Counter(ctree.tokens.forms for ctree in [*of.gold("train") * 2, *of.gold("dev")[:7]])
    assert [ctree.tokens for ctree in taught.gold("train")] == [ctree.tokens for ctree in of.gold("train")]
    assert taught.parsers.trees("train")[:20] != of.gold("train")
    new = taught.dparser("stanza")[0].made_of.items() - of.dparser("stanza")[0].made_of.items()
    assert {name for name, _ in new} == {"train"}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("stanza", ("stanza", None)),
        ("finetune:10", ("finetune", 10.0)),
        ("stanza:graph", ("stanza:graph", None)),
        ("stanza:graph:20", ("stanza:graph", 20.0)),
        ("transition:standard;exact", ("transition:standard;exact", None)),
    ],
)
def test_passes_stand_behind_the_last_colon(given: str, found: tuple[str, float | None]) -> None:
    assert with_passes(given) == found
