"""The UDPipe adaptor, with real trainings on made-up sentences."""

from __future__ import annotations

import os
import random
import shutil
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ufal.udpipe")

from d2c.base.errors import ModelError, ParameterError
from d2c.base.settings import told_of
from d2c.dparsers.settings import UDPipeSettings
from d2c.dparsers.udpipe.parser import UDPipeParser
from d2c.protocols.codes import Codes
from d2c.protocols.directories import SETTINGS
from d2c.protocols.dparser import DependencyParser, Evaluation
from d2c.routes.dparsers import make_dparser
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
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

Trained = tuple[UDPipeParser, Path, list[Evaluation]]
SYSTEMS = told_of(UDPipeSettings, "system").choices
TINY: dict[str, Any] = {"preset": "small", "epochs": 3}


def udpipe_parser(**options: Any) -> UDPipeParser:
    return UDPipeParser(UDPipeSettings(**options))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return treebank_files(tmp_path_factory.mktemp("treebank"))


@pytest.fixture(scope="module")
def all_trained(files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    result = {}
    for system in SYSTEMS:
        directory, reports = tmp_path_factory.mktemp(system) / "new" / "model", list[Evaluation]()
        parser = udpipe_parser(system=system, preset="small", epochs=2.5)
        result[system] = parser.train(*files, directory, reports.append), directory, reports
    return result


@pytest.fixture(params=SYSTEMS)
def trained(all_trained: dict[str, Trained], request: pytest.FixtureRequest) -> Trained:
    return all_trained[request.param]


@pytest.fixture
def tiny(all_trained: dict[str, Trained], tmp_path: Path) -> Path:
    """The directory of a model that may be damaged."""
    return shutil.copytree(all_trained["projective"][1], tmp_path / "model")


def test_it_is_a_dparser() -> None:
    parser: DependencyParser = udpipe_parser()
    with pytest.raises(ModelError, match="not trained"):
        next(parser.parse([CROSSING.tokens]))


@pytest.mark.parametrize(("preset", "labels"), [("default", LABELS[:4]), ("small", LABELS[4:])])
def test_it_learns_labels_of_any_kind(tmp_path: Path, preset: str, labels: tuple[str, ...]) -> None:
    gold = treebank(4, labels=labels)
    file = write(tmp_path / "x.conllu", treebank(1, labels=labels))
    parser = udpipe_parser(preset=preset, epochs=4).train(file, file, tmp_path / "model")
    for beam in (1, 5):
        parser.settings = replace(parser.settings, beam=beam)
        assert arcs(parser.parse(dtree.tokens for dtree in gold)) == arcs(gold)


def test_reports(trained: Trained) -> None:
    check_reports(trained[2])


def test_load_gives_the_same_parser(trained: Trained) -> None:
    parser, directory, _ = trained
    sentences = [dtree.tokens for dtree in treebank(5)] + odd_sentences(6, (3, 9, 30))
    loaded = UDPipeParser.load(directory)
    assert arcs(loaded.parse(sentences)) == arcs(parser.parse(sentences))
    assert loaded.codes_ == Codes(tuple(sorted({"root", *LABELS})), "root")
    assert loaded.settings == parser.settings and loaded.settings.epochs == 2.5


def test_any_sentence_gets_a_tree(trained: Trained) -> None:
    sentences = odd_sentences(7, (1, 2, 0, 90, 3, 1, 40, 0, 7, 300))
    for beam in (1, 3):
        parser = UDPipeParser.load(trained[1])
        parser.settings = replace(parser.settings, beam=beam)
        predicted = [*parser.parse(sentences)]
        assert [dtree.tokens for dtree in predicted] == sentences
        for dtree in predicted:
            assert dtree.is_tree() or not len(dtree.tokens)
            labels = zip(dtree.heads, dtree.labels or (), strict=True)
            assert all((label == "root") == (head == 0) for head, label in labels)
            if parser.settings.system == "projective" and len(dtree.tokens):
                assert dtree.is_projective()


@pytest.mark.parametrize("system", ["swap", "link2"])
def test_crossing_arcs_are_learned(tmp_path: Path, system: str) -> None:
    file = write(tmp_path / "x.conllu", [CROSSING] * 20)
    parser = udpipe_parser(system=system, preset="small", epochs=10).train(file, file, tmp_path / "model")
    assert arcs(parser.parse([CROSSING.tokens])) == arcs([CROSSING])


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["default", "small"])
def test_the_projective_system_takes_crossing_arcs(tmp_path: Path, preset: str) -> None:
    """It learns something projective of them, and what it can of others."""
    straight = DTree(CROSSING.tokens, (3, 3, 0, 3), labels=("Y#1", "W#1", "root", "Z#1"))
    file = write(tmp_path / "x.conllu", [CROSSING] * 20)
    parser = udpipe_parser(system="projective", preset=preset, epochs=4).train(file, file, tmp_path / "model")
    (predicted,) = parser.parse([CROSSING.tokens])
    assert predicted.is_projective()
    file = write(tmp_path / "x.conllu", [*[straight] * 30, CROSSING])
    parser = udpipe_parser(system="projective", preset=preset, epochs=4).train(file, file, tmp_path / "model")
    assert arcs(parser.parse([CROSSING.tokens])) == arcs([straight])


def test_labels_of_roots_are_learned(tmp_path: Path) -> None:
    file = write(tmp_path / "x.conllu", ROOTS * 10)
    udpipe_parser(preset="small", epochs=8).train(file, file, tmp_path / "model")
    parser = UDPipeParser.load(tmp_path / "model")
    assert parser.codes_.root_label is None
    assert arcs(parser.parse(dtree.tokens for dtree in ROOTS)) == arcs(ROOTS)


def test_morphology_is_seen(tmp_path: Path) -> None:
    """Where nothing else tells two sentences apart."""
    trees = [
        DTree(Tokens(("x", "x"), ("X", "X"), None, morphs), heads, labels=labels)
        for morphs, heads, labels in (
            (("Case=Nom", "_"), (2, 0), ("A#1", "root")),
            (("_", "Case=Nom"), (0, 1), ("root", "A#1")),
        )
    ]
    file = write(tmp_path / "x.conllu", trees * 20)
    parser = udpipe_parser(preset="small", epochs=10).train(file, file, tmp_path / "model")
    assert arcs(parser.parse(dtree.tokens for dtree in trees)) == arcs(trees)


@pytest.mark.slow
def test_same_seed_same_model(files: tuple[Path, Path], tmp_path: Path) -> None:
    random.seed(0)
    state = random.getstate()
    models = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        udpipe_parser(preset="small", epochs=1, seed=seed).train(*files, tmp_path / name)
        models.append((tmp_path / name / "parser.udpipe").read_bytes())
    assert models[0] == models[1] != models[2]
    assert random.getstate() == state


def test_streams_are_parsed_lazily(trained: Trained) -> None:
    stream = (Tokens((f"new{i}",) * (1 + i % 3), ("DT",) * (1 + i % 3)) for i in count())
    lengths = [len(dtree.heads) for dtree in islice(trained[0].parse(stream), 500)]
    assert lengths == [1 + i % 3 for i in range(500)]


def test_treebanks_that_cannot_be_learned_from(files: tuple[Path, Path], tmp_path: Path) -> None:
    check_refusals(udpipe_parser(**TINY), files[1], tmp_path)


def test_a_failing_training_says_why(tmp_path: Path) -> None:
    tag = "~!@#$%^&*()/"  # UDPipe joins tags with one of these
    tree = DTree(Tokens(("a", "b"), (tag, "B")), (2, 0), labels=("x", "root"))
    file = write(tmp_path / "x.conllu", [tree])
    with pytest.raises(
        ModelError, match=r"^UDPipe's training failed \(exit status 1\): Cannot find tag sep.*$"
    ):
        udpipe_parser(**TINY).train(file, file, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_an_interrupted_training_leaves_nothing(files: tuple[Path, Path], tmp_path: Path) -> None:
    def interrupt(report: Evaluation) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        udpipe_parser(preset="small", epochs=10_000).train(*files, tmp_path / "model", interrupt)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(("name", "value"), [("system", "arc-eager"), ("preset", "large"), ("beam", 0)])
def test_unknown_parameters(name: str, value: object) -> None:
    with pytest.raises(ParameterError, match=str(value)) as error:
        udpipe_parser(**{name: value})
    assert error.value.parameter == name


def test_digits_of_which_no_number_is_made() -> None:
    with pytest.raises(ParameterError, match="'²'") as error:
        make_dparser("udpipe:swap;²")
    assert error.value.parameter == "beam"


def test_broken_models(tiny: Path) -> None:
    model, settings = tiny / "parser.udpipe", tiny / SETTINGS
    assert sorted(path.name for path in tiny.iterdir()) == [SETTINGS, "parser.udpipe"]
    whole, text = model.read_bytes(), settings.read_text(encoding="utf-8")
    for data in (b"", b"no model", whole[: len(whole) // 2]):
        model.write_bytes(data)
        with pytest.raises(ModelError, match="is no model of UDPipe's"):
            UDPipeParser.load(tiny)
    os.remove(model)
    with pytest.raises(ModelError, match="cannot be read"):
        UDPipeParser.load(tiny)
    settings.write_text(text.replace('"labels"', '"names"'), encoding="utf-8")
    with pytest.raises(ModelError, match="broken settings"):
        UDPipeParser.load(tiny)


def test_files_on_which_udpipe_dies(tiny: Path) -> None:
    """They do not take this process with them; what is not refused still parses."""
    model = tiny / "parser.udpipe"
    whole, pick, refused = model.read_bytes(), random.Random(1), 0
    for _ in range(4):
        data, begin = bytearray(whole), pick.randrange(300)
        data[begin : begin + 20] = pick.randbytes(20)
        model.write_bytes(data)
        try:
            next(UDPipeParser.load(model.parent).parse([CROSSING.tokens]))
        except ModelError as error:
            refused += str(error) == f"{model}: is no model of UDPipe's"
    assert refused


def test_options_of_the_presets() -> None:
    assert udpipe_parser()._options() == {"transition_system": "projective", "iterations": 10}
    quick = {"iterations": 3, "structured_interval": 0}
    assert udpipe_parser(system="swap", preset="small", epochs=2.5)._options() == {
        "transition_system": "swap",
        **quick,
    }
    assert udpipe_parser(system="projective", preset="small", epochs=3)._options() == {
        "transition_system": "projective",
        "transition_oracle": "static",
        **quick,
    }
