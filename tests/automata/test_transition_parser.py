"""The d-parser `transition`, with real trainings on made-up sentences and on the sample."""

from __future__ import annotations

import json
import logging
import random
import shutil
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest

from d2c.automata.settings import TransitionSettings
from d2c.automata.static_oracles import SYSTEMS
from d2c.automata.transition_parser import TransitionParser
from d2c.base.errors import ModelError, ParameterError
from d2c.protocols.directories import SETTINGS
from d2c.protocols.dparser import DependencyParser, Evaluation
from d2c.reduction.reduction import Reduction
from d2c.training.spec import TrainingSpec
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import read_brackets
from d2c.trees.scores.brackets import bracket_scores
from fuzzing import models
from tests.dparsers.sentences import (
    CROSSING,
    LABELS,
    ROOTS,
    arcs,
    check_refusals,
    check_reports,
    odd_sentences,
    treebank,
    treebank_files,
    write,
)
from tests.steps import is_linear

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
Trained = tuple[TransitionParser, Path, list[Evaluation]]


def transition_parser(**options: Any) -> TransitionParser:
    return TransitionParser(TransitionSettings(**options))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return treebank_files(tmp_path_factory.mktemp("treebank"))


@pytest.fixture(scope="module", params=SYSTEMS)
def trained(
    request: pytest.FixtureRequest, files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Trained:
    directory = tmp_path_factory.mktemp("transition") / "new" / "model"
    reports: list[Evaluation] = []
    parser = transition_parser(system=request.param, preset="small", epochs=2.5)
    return parser.train(*files, directory, reports.append), directory, reports


def test_it_is_a_dparser() -> None:
    parser = TrainingSpec.of(Path(), Path(), dparser="transition:eager", preset="small").dparser.make()
    assert isinstance(parser, TransitionParser)
    assert (parser.settings.system, parser.settings.preset) == ("eager", "small")
    other: DependencyParser = transition_parser()
    with pytest.raises(ModelError, match="not trained"):
        next(other.parse([CROSSING.tokens]))
    with pytest.raises(ModelError, match=r"not of the form transition:standard\|eager;greedy\|exact$"):
        TrainingSpec.of(Path(), Path(), dparser="transition:swap").dparser.make()


@pytest.mark.parametrize("system", SYSTEMS)
def test_it_learns_labels_of_any_kind(tmp_path: Path, system: str) -> None:
    for labels in (LABELS[:4], LABELS[4:]):
        gold = treebank(4, labels=labels)
        file = write(tmp_path / "x.conllu", treebank(1, labels=labels))
        parser = transition_parser(system=system, preset="small").train(file, file, tmp_path / "model")
        assert arcs(parser.parse(dtree.tokens for dtree in gold)) == arcs(gold)


def test_reports(trained: Trained) -> None:
    check_reports(trained[2])


def test_load_gives_the_same_parser(trained: Trained) -> None:
    parser, directory, _ = trained
    sentences = [dtree.tokens for dtree in treebank(5)] + odd_sentences(6, (3, 9, 30))
    loaded = TransitionParser.load(directory)
    assert arcs(loaded.parse(sentences)) == arcs(parser.parse(sentences))
    assert loaded.labels_ == (tuple(sorted(LABELS)), ("root",))
    assert loaded.settings == parser.settings and loaded.settings.epochs == 2.5


def test_any_sentence_gets_a_projective_tree(trained: Trained) -> None:
    sentences = odd_sentences(7, (1, 2, 0, 90, 3, 1, 40, 0, 7, 300))
    predicted = [*trained[0].parse(sentences)]
    assert [dtree.tokens for dtree in predicted] == sentences
    for dtree in predicted:
        assert not len(dtree.tokens) or dtree.is_projective()
        labels = zip(dtree.heads, dtree.labels or (), strict=True)
        assert all((label == "root") == (head == 0) for head, label in labels)


def test_crossing_arcs_are_lifted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = write(tmp_path / "x.conllu", [CROSSING] * 20)
    with caplog.at_level(logging.INFO, "d2c.progress"):
        parser = transition_parser(preset="small").train(file, file, tmp_path / "model")
    assert "crossing arcs lifted: 20" in caplog.text
    lifted = DTree(CROSSING.tokens, (3, 3, 0, 3), labels=CROSSING.labels)
    assert arcs(parser.parse([CROSSING.tokens])) == arcs([lifted])


def test_labels_of_roots_are_learned(tmp_path: Path) -> None:
    file = write(tmp_path / "x.conllu", ROOTS * 10)
    transition_parser(preset="small").train(file, file, tmp_path / "model")
    parser = TransitionParser.load(tmp_path / "model")
    assert arcs(parser.parse(dtree.tokens for dtree in ROOTS)) == arcs(ROOTS)


def test_same_seed_same_model(files: tuple[Path, Path], tmp_path: Path) -> None:
    found = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        transition_parser(preset="small", epochs=1, seed=seed).train(*files, tmp_path / name)
        found.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert found[0] == found[1] and len(found[0]) == 3
    assert found[0]["oracle.npz"] != found[2]["oracle.npz"]


def test_streams_are_parsed_lazily(trained: Trained) -> None:
    stream = (Tokens((f"new{i}",) * (1 + i % 3), ("DT",) * (1 + i % 3)) for i in count())
    lengths = [len(dtree.heads) for dtree in islice(trained[0].parse(stream), 700)]
    assert lengths == [1 + i % 3 for i in range(700)]


def test_time_is_linear_in_a_sentence(trained: Trained) -> None:
    def parse(length: int) -> None:
        for dtree in trained[0].parse(odd_sentences(8, [length])):
            assert dtree.is_projective()

    parse(10_000)
    assert is_linear(parse, 500)


def test_treebanks_that_cannot_be_learned_from(files: tuple[Path, Path], tmp_path: Path) -> None:
    check_refusals(transition_parser(), files[1], tmp_path)


def test_an_interrupted_training_leaves_nothing(files: tuple[Path, Path], tmp_path: Path) -> None:
    def interrupt(report: Evaluation) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        transition_parser().train(*files, tmp_path / "model", interrupt)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(("name", "value"), [("system", "swap"), ("preset", "large")])
def test_unknown_parameters(name: str, value: str) -> None:
    with pytest.raises(ParameterError, match=value) as error:
        transition_parser(**{name: value})
    assert error.value.parameter == name


def broken() -> Iterator[tuple[str, str, object]]:
    """A settings file, a setting, and what it is changed into."""
    yield from ((SETTINGS, "labels", value) for value in ([], ["x"], "root", None, [1]))
    yield from ((SETTINGS, "root_labels", value) for value in ([], ["a", "b", "c"], None))
    yield from ((SETTINGS, "system", value) for value in ("swap", 3, ["eager"]))
    yield from ((SETTINGS, "search", value) for value in (None, "best", []))
    yield from (("oracle.json", "words", value) for value in ("x", None, [[]]))
    yield from (("oracle.json", "actions", value) for value in (3, "many"))
    yield from (("oracle.json", "parameters", value) for value in (None, {"epochs": "x"}, {"rate": 1e9}))


@pytest.mark.parametrize(("name", "key", "value"), [*broken()])
def test_broken_settings(
    files: tuple[Path, Path], tmp_path: Path, trained: Trained, name: str, key: str, value: object
) -> None:
    directory = tmp_path / "model"
    directory.mkdir()
    for path in trained[1].iterdir():
        (directory / path.name).write_bytes(path.read_bytes())
    settings = json.loads((directory / name).read_text(encoding="utf-8"))
    (directory / name).write_text(json.dumps(settings | {key: value}), encoding="utf-8")
    with pytest.raises(ModelError):
        TransitionParser.load(directory)


def test_broken_weights(tmp_path: Path, trained: Trained) -> None:
    directory = tmp_path / "model"
    directory.mkdir()
    for path in trained[1].iterdir():
        (directory / path.name).write_bytes(path.read_bytes())
    weights = directory / "oracle.npz"
    whole = weights.read_bytes()
    for data in (b"", b"no weights", whole[: len(whole) // 2]):
        weights.write_bytes(data)
        with pytest.raises(ModelError, match="oracle.npz"):
            TransitionParser.load(directory)
    weights.unlink()
    with pytest.raises(ModelError, match="cannot be read"):
        TransitionParser.load(directory)


def test_files_that_were_changed_anywhere_are_refused_or_parse(trained: Trained, tmp_path: Path) -> None:
    rng, sentences, refused = random.Random(1), odd_sentences(9, (0, 1, 12)), 0
    tries = 60
    for number in range(tries):
        directory = tmp_path / str(number)
        shutil.copytree(trained[1], directory)
        models.make(trained[1].parent, rng, trained[1].name).put(directory)
        try:
            parsed = list(TransitionParser.load(directory).parse(sentences))
        except ModelError as error:
            assert str(error) and "\n" not in str(error)
            refused += 1
        else:
            assert [dtree.tokens for dtree in parsed] == sentences
            assert all(dtree.is_projective() for dtree in parsed[1:])
        shutil.rmtree(directory)
    assert 0 < refused < tries


def test_attachment_on_the_sample(tmp_path: Path) -> None:
    """UAS 90 with gold tags and words is what the specification asks for; it has 96.5, and c-trees fit."""
    train, dev = ([*read_brackets(SAMPLE / f"{part}.mrg", clean=True)] for part in ("train", "dev"))
    route, reports = Reduction("direct").fit(train), list[Evaluation]()
    parts = [
        write(tmp_path / f"{name}.conllu", map(route.encode, ctrees))
        for name, ctrees in (("train", train), ("dev", dev))
    ]
    parser = transition_parser(preset="small", epochs=2).train(*parts, tmp_path / "model", reports.append)
    assert reports[-1].scores["UAS"] >= 0.955 and reports[-1].scores["LAS"] >= 0.93
    guess = [*route.decode_all(parser.parse(ctree.tokens for ctree in dev))]
    assert bracket_scores(dev, guess).f1 >= 94


def test_too_many_labels_are_said_before_tables_are_made(
    files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transition_parser(epochs=1).train(*files, tmp_path / "model")
    monkeypatch.setattr("d2c.automata.systems._MOST", 20)
    with pytest.raises(ModelError, match="^transition:eager: .* actions are too many for"):
        transition_parser(system="eager", epochs=1).train(*files, tmp_path / "other")
    with pytest.raises(ModelError, match="has broken settings: .* are too many for such a system"):
        TransitionParser.load(tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
