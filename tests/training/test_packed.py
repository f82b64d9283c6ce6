"""`--arcs packed`: trained, compared, saved, parsed with; refused where the d-parser or the route cannot."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import cast

import pytest

from d2c.base.errors import ModelError
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.experiments.comparison import compare_on
from d2c.experiments.rows import Comparison
from d2c.models.model import Model
from d2c.packed.arcs import packed_arcs, with_packed_arcs
from d2c.packed.scoring import ArcScoring
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.training.spec import TrainingSpec
from d2c.training.train import train_models
from d2c.trees.formats.brackets import read_brackets, save_brackets
from tests.conftest import SAMPLE

ROUTES = "cky", "labeler"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Comparison, list[str]]:
    """The models' directory, their comparison, and what training said."""
    directory, ctrees, said = tmp_path_factory.mktemp("packed"), read_brackets(SAMPLE), list[str]()
    files = directory / "train.mrg", directory / "dev.mrg"
    for file, count in zip(files, (120, 30), strict=True):
        save_brackets(islice(ctrees, count), file)
    spec = TrainingSpec.of(*files, ROUTES, dparser="transition:standard", epochs=1, arcs="packed")
    models = train_models(spec, [directory / name for name in ROUTES], lambda text: said.append(str(text)))
    return directory, compare_on(files[1], models), said


def test_what_arcs_count_for_is_learned_for_each_route(trained: tuple[Path, Comparison, list[str]]) -> None:
    directory, _, said = trained
    learned = [cast(ConstrainedCKY | TwoStage, Model.load(directory / name).route).arcs_ for name in ROUTES]
    assert ArcScoring() not in learned
    assert [text for text in said if text.startswith("packed arcs")] == [
        "packed arcs: d-parser on nine tenths",
        "packed arcs: route cky on nine tenths",
        f"packed arcs: {learned[0]}",
        "packed arcs: route labeler on nine tenths",
        f"packed arcs: {learned[1]}",
    ]


def test_with_folds_routes_learn_over_the_arcs_of_all(tmp_path: Path) -> None:
    ctrees, said = read_brackets(SAMPLE), list[str]()
    files = tmp_path / "train.mrg", tmp_path / "dev.mrg"
    for file, count in zip(files, (60, 10), strict=True):
        save_brackets(islice(ctrees, count), file)
    spec = TrainingSpec.of(
        *files, ROUTES, dparser="transition:standard", epochs=1, arcs="packed", jackknife=2
    )
    train_models(spec, [tmp_path / name for name in ROUTES], lambda text: said.append(str(text)))
    chart, labeler = (cast(ConstrainedCKY | TwoStage, Model.load(tmp_path / name).route) for name in ROUTES)
    assert (chart.arcs_.learned, labeler.arcs_.learned) == (1.0, 1.0)
    assert not any(text.startswith("packed arcs") for text in said)
    for name in ROUTES:
        assert sum(text.startswith(f"{name} over packed arcs: epoch") for text in said) == 3


@pytest.mark.parametrize("name", ROUTES)
def test_models_look_among_all_likely_arcs(trained: tuple[Path, Comparison, list[str]], name: str) -> None:
    directory, comparison = trained[0] / name, trained[1]
    model, single = Model.load(directory), Model.load(directory, arcs="single")
    assert (model.arcs, single.arcs) == ("packed", "single")
    route = model.route
    sentences = [ctree.tokens for ctree in comparison.gold.ctrees]
    dtrees = list(model.parse_dependencies(sentences))
    assert dtrees == list(single.parse_dependencies(sentences))
    assert all(packed_arcs(dtree) is not None for dtree in dtrees)
    assert list(model.parse(sentences)) == list(route.decode_all(dtrees))
    assert list(single.parse(sentences)) == list(route.decode_all(with_packed_arcs(d, None) for d in dtrees))


def test_the_table_has_a_row_for_either(trained: tuple[Path, Comparison, list[str]]) -> None:
    rows = {(row.route, row.d_trees): row.brackets.f1 for row in trained[1].rows}
    assert [*rows] == [
        *((name, "gold") for name in ROUTES),
        *((name, "transition") for name in (*ROUTES, "oracle", "cky packed", "oracle packed")),
        ("labeler packed", "transition"),
    ]
    assert rows["oracle packed", "transition"] > rows["oracle", "transition"]
    assert rows["oracle packed", "transition"] > rows["cky packed", "transition"]


@pytest.mark.parametrize(
    ("dparser", "route", "message"),
    [
        ("spacy", "cky", "the d-parser spacy does not say how probable other heads are"),
        ("udpipe", "cky", "the d-parser udpipe does not say how probable"),
        ("transition:standard", "reduction", "the route reduction takes one d-tree; labeler and cky"),
    ],
)
def test_what_has_no_arcs_is_refused(dparser: str, route: str, message: str, tmp_path: Path) -> None:
    spec = TrainingSpec.of(SAMPLE, SAMPLE, (route,), dparser=dparser, arcs="packed")
    with pytest.raises(ModelError, match=message):
        train_models(spec, [tmp_path / "model"])
