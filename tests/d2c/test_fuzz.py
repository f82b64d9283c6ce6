"""Whatever a file holds is read or refused, and whatever a d-parser predicts becomes a tree; drawn anew each
time, a part of what scripts/fuzz.py tries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import SystemRandom

import pytest

from d2c.models.model import Model
from d2c.reduction.repair import KINDS
from d2c.trees.ctree import Tokens
from fuzzing import fitted, routes, tries

INPUTS, MODELS, TREES, JOBS = 200, 20, 2_000, 2


class Nouns:
    """A tagger that takes no time."""

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tokens]:
        return (Tokens(tuple(forms), ("NN",) * len(forms)) for forms in sentences)


@pytest.fixture
def seed() -> int:
    number = SystemRandom().randrange(1 << 31)
    print(f"python scripts/fuzz.py --seed {number}")
    return number


def faults_in(directory: Path) -> str:
    return "\n".join(f"{file}\n{file.read_text()[-2000:]}" for file in directory.rglob(tries.FAULT))


def test_broken_inputs_are_read_or_refused(small_model: Path, seed: int, tmp_path: Path) -> None:
    model = Model.load(small_model)
    model.tagger_name, model.tagger = "nouns", Nouns()  # type: ignore[assignment]
    rows = tries.try_inputs(seed, INPUTS, JOBS, tmp_path, model)
    assert not (faults := faults_in(tmp_path)), faults
    assert sum(row.tried for row in rows) == INPUTS
    assert min(sum(row.read for row in rows), sum(row.refused for row in rows)) > INPUTS // 10


def test_broken_models_parse_or_are_refused(small_model: Path, seed: int, tmp_path: Path) -> None:
    directory, ctrees = tmp_path / "models", fitted.sample()
    for route in ("reduction-spine", "labeler", "cky", "rules", "combined"):
        model = Model.load(small_model)
        model.route_name, model.route = fitted.ROUTES[route].route, fitted.fit(fitted.ROUTES[route], ctrees)
        (directory / route).mkdir(parents=True)
        model.save(directory / route, small_model)
    rows = tries.try_models(seed, MODELS, JOBS, tmp_path / "failures", directory)
    assert not (faults := faults_in(tmp_path)), faults
    assert sum(row.tried for row in rows) == MODELS


@pytest.mark.parametrize("route", fitted.ROUTES)
def test_junk_decodes_to_valid_trees(route: str, seed: int, tmp_path: Path) -> None:
    found = routes.try_route(route, seed, TREES, tmp_path)
    assert found.faults == []
    assert found.trees == TREES
    assert not route.startswith("reduction") or any(found.repairs[kind] for kind in KINDS)
