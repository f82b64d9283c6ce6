"""What the options of `d2c train` and `d2c compare` become on the way to what is trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from d2c.base.errors import Faults, FormatError, ModelError
from d2c.base.inputs import files_of
from d2c.commands.cli import cli
from d2c.experiments.comparison import train_and_compare
from d2c.protocols.dparser import DependencyParser
from d2c.routes.registry import ROUTES
from d2c.training.spec import TrainingSpec
from d2c.trees.formats.reading import Reading

FILES = (Path("a.mrg"),), (Path("b.mrg"),)
READING = Reading(faults=Faults(limit=10))


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for (file,) in FILES:
        file.touch()


def asked(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> TrainingSpec:
    """What a command asks to be trained."""
    taken: list[TrainingSpec] = []

    def take(spec: TrainingSpec, *_: object, **options: object) -> None:
        taken.append(spec)
        raise KeyboardInterrupt

    monkeypatch.setattr("d2c.commands.train.train_models", take)
    monkeypatch.setattr("d2c.experiments.comparison.train_models", take)
    run = CliRunner().invoke(cli, arguments)
    assert taken, run.output
    return taken[0]


def train(monkeypatch: pytest.MonkeyPatch, *options: str) -> TrainingSpec:
    return asked(monkeypatch, "train", "a.mrg", "--dev", "b.mrg", "-o", "m", *options)


def test_without_options(monkeypatch: pytest.MonkeyPatch) -> None:
    assert train(monkeypatch) == TrainingSpec.of(*FILES, reading=READING)
    every = tuple(ROUTES)
    assert asked(monkeypatch, "compare", "a.mrg", "b.mrg") == TrainingSpec.of(
        *FILES, every, READING, preset="small"
    )
    data = asked(monkeypatch, "compare").data
    bundled = [file.parts[-2:] for file in (*files_of(data.train), *files_of(data.dev))]
    assert bundled == [("sample", "train.mrg"), ("sample", "dev.mrg")]


def test_every_option(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    there = str(tmp_path)
    routes = ["--encoding", "delta", "--head-rules", "marked", "--pruning", "1+2", "--checkpoints", "c"]
    dparser = ["--dparser", "stanza:joint", "--preset", "small", "--epochs", "2.5", "--device", "cpu"]
    networks = ["--vectors", there, "--charlm", there, there, "--transformer", "T", "--seed", "7"]
    tagger = ["--tagger", "spacy", "--tags", "predicted", "--jackknife", "4"]
    reading = ["--format", "export", "--move-punctuation", "--traces", "--continuous", "raise"]
    options = [*routes, *dparser, *networks, *tagger, *reading]
    spec = train(monkeypatch, "--route", "cky", *options)
    assert spec == TrainingSpec.of(
        *FILES,
        ("cky",),
        replace(
            READING, format_name="export", marked=True, traces=True, move_punctuation=True, continuous="raise"
        ),
        encoding="delta",
        head_rules="marked",
        pruning="1+2",
        checkpoints=Path("c"),
        dparser="stanza:joint",
        preset="small",
        epochs=2.5,
        device="cpu",
        vectors=tmp_path,
        charlm=(tmp_path, tmp_path),
        transformer="T",
        tagger="spacy",
        tags="predicted",
        jackknife=4,
        seed=7,
    )
    assert spec.dparser.kind == "stanza"
    made: DependencyParser = spec.dparser.make()
    names = ("model_type", "preset", "epochs", "device", "vectors", "charlm", "transformer", "seed")
    assert [getattr(made.settings, name) for name in names] == [
        *("joint", "small", 2.5, "cpu", tmp_path, (tmp_path, tmp_path), "T", 7)
    ]


def test_routes_of_compare_are_in_the_order_of_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = asked(monkeypatch, "compare", "a.mrg", "b.mrg", "--route", "cky", "--route", "reduction")
    assert spec.routes == ("reduction", "cky") == tuple(spec.new_routes())


@pytest.mark.parametrize(
    ("options", "folds"),
    [((), 0), (("--tags", "predicted"), 10), (("--tags", "predicted", "--jackknife", "3"), 3)],
)
def test_folds_of_tags(monkeypatch: pytest.MonkeyPatch, options: Sequence[str], folds: int) -> None:
    spec = train(monkeypatch, "--tagger", "spacy", "--head-rules", "leftmost", "--seed", "5", *options)
    assert (spec.tagger.name, spec.tagger.tag_folds) == ("spacy", folds)
    assert spec.route.head_rules == "leftmost" and spec.tagger.seed == 5
    assert train(monkeypatch).tagger.name is None


def test_a_transformer_and_checkpoints_are_for_those_that_have_them(monkeypatch: pytest.MonkeyPatch) -> None:
    options = ["--transformer", "T", "--checkpoints", "c", "--preset", "small"]
    spec = train(monkeypatch, "--tagger", "stanza", *options)
    for one in (spec.dparser.make(), spec.tagger.make()):
        own = one.settings  # type: ignore[union-attr]
        assert (own.transformer, own.checkpoints) == ("T", Path("c")) and not one.abilities.gpu
    other = train(monkeypatch, "--tagger", "spacy", *options).tagger
    assert other.make().settings.preset == "small"  # type: ignore[attr-defined]
    assert train(monkeypatch, "--dparser", "gold", "--checkpoints", "c").dparser.make() is not None
    with pytest.raises(ModelError, match="the d-parser spacy takes no transformer"):
        train(monkeypatch, "--dparser", "spacy", "--transformer", "T").dparser.make()


def test_of_several_d_parsers_those_have_the_transformer_that_may(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[str, str | None]] = []

    def take(spec: TrainingSpec, *_: object, **options: object) -> SimpleNamespace:
        taken.append((spec.dparser.name, spec.dparser.transformer))
        return SimpleNamespace(models=[None])

    monkeypatch.setattr("d2c.experiments.comparison.train_models", take)
    spec = TrainingSpec.of(*FILES, transformer="T")
    with pytest.raises(FormatError, match="b.mrg:1: no sentence found"):  # the trees that are to be scored
        train_and_compare(spec, Path("m"), others=["spacy", "stanza:joint"])
    assert taken == [("stanza", "T"), ("spacy", None), ("stanza:joint", "T")]
    taken.clear()
    with pytest.raises(ModelError, match="unknown d-parser 'none'"):
        train_and_compare(spec, Path("m"), others=["none"])
    assert taken == []  # said at once
