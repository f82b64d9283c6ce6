"""The spaCy adaptor, with real trainings on made-up sentences."""

from __future__ import annotations

import os
import pickle
import random
from itertools import count, islice
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy
import pytest
import srsly

pytest.importorskip("spacy")

import d2c.dparsers.spacy.parser as module
import d2c.dparsers.spacy.training as spacy_training
from d2c.base.errors import FormatError, ModelError
from d2c.dparsers.settings import SpacySettings
from d2c.dparsers.spacy.parser import SpacyParser
from d2c.learning.weights import rounded
from d2c.protocols.codes import Codes
from d2c.protocols.directories import SETTINGS
from d2c.protocols.dparser import DependencyParser, Evaluation
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from tests.dparsers.sentences import LABELS, arcs, odd_sentences, treebank, treebank_files, write

Trained = tuple[SpacyParser, Path, list[Evaluation]]


def spacy_parser(**options: Any) -> SpacyParser:
    return SpacyParser(SpacySettings(**options))


@pytest.fixture(scope="module", autouse=True)
def small() -> object:
    """Networks and batches of the size of the treebanks here."""
    with pytest.MonkeyPatch.context() as patch:
        sizes = {"width": 16, "depth": 1, "hidden": 16, "rows": 200}
        patch.setattr(module, "SIZES", {"narrow": sizes, "wide": sizes | {"width": 24}})
        patch.setattr(spacy_training, "_BATCH_WORDS", 40)
        patch.setattr(spacy_training, "_RATE", 0.02)
        yield


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return treebank_files(tmp_path_factory.mktemp("treebank"), "root")


@pytest.fixture(scope="module")
def trained(files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Trained:
    directory = tmp_path_factory.mktemp("spacy") / "new" / "model"
    reports: list[Evaluation] = []
    return spacy_parser(epochs=8).train(*files, directory, reports.append), directory, reports


def test_it_learns_labels_that_spacy_would_change(tmp_path: Path) -> None:
    for labels in (LABELS[:4], LABELS[4:]):
        train, gold = treebank(1, labels=labels), treebank(4, labels=labels)
        file = write(tmp_path / "x.conllu", train)
        parser = spacy_parser(epochs=8).train(file, file, tmp_path / "model")
        assert arcs(parser.parse(dtree.tokens for dtree in gold)) == arcs(gold)


def test_a_wide_network_is_read_back(files: tuple[Path, Path], tmp_path: Path) -> None:
    parser = spacy_parser(epochs=2, network="wide").train(*files, tmp_path / "model")
    loaded = SpacyParser.load(tmp_path / "model")
    assert loaded.settings.network == "wide"
    assert '"width": 24' in (tmp_path / "model" / SETTINGS).read_text()
    gold = treebank(3, 5)
    assert arcs(loaded.parse(d.tokens for d in gold)) == arcs(parser.parse(d.tokens for d in gold))
    with pytest.raises(ModelError, match="^unknown network 'broad'; known are narrow, wide$"):
        spacy_parser(network="broad").train(*files, tmp_path / "other")


def test_vectors_come_along(files: tuple[Path, Path], tmp_path: Path) -> None:
    text = tmp_path / "vectors.txt"
    text.write_text("5 3\nThe 1 0 0\ncat 0 1 0\nCat 9 9 9\ndog 0 0 1\n. . .5 .5 .5\n", encoding="utf-8")
    parser = spacy_parser(epochs=1, vectors=text).train(*files, tmp_path / "model")
    text.unlink()
    sentences = [dtree.tokens for dtree in treebank(5)] + odd_sentences(6, (3, 9))
    loaded = SpacyParser.load(tmp_path / "model")
    assert arcs(loaded.parse(sentences)) == arcs(parser.parse(sentences))
    vocabulary = loaded.nlp_.vocab
    assert vocabulary.vectors.data.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.5, 0.5]]
    keys = [vocabulary.strings[word] for word in ("the", "cat", "dog", ". .")]
    assert vocabulary.vectors.find(keys=keys).tolist() == [0, 1, 2, 3]
    kept = tmp_path / "model" / "vectors.npz"
    kept.unlink()
    with pytest.raises(ModelError, match="weights of other shapes"):
        SpacyParser.load(tmp_path / "model")
    numpy.savez(kept, keys=numpy.arange(3, dtype="u8"), numbers=numpy.ones((4, 3), "f4"))
    with pytest.raises(ModelError, match="has not one vector for each word"):
        SpacyParser.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("a 1 2\nb 1\n", "line 2 has 1 numbers, not 2"),
        ("a 1 x\n", "could not convert string"),
    ]
    + [
        ("a\n", "line 1 has 0 numbers"),
        ("a 1 nan\n", "some weights are no numbers"),
        (None, "cannot be read"),
    ],
)
def test_what_are_no_vectors(text: str | None, says: str, files: tuple[Path, Path], tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    if text is not None:
        path.write_text(text)
    with pytest.raises((ModelError, FormatError), match=says):
        spacy_parser(vectors=path).train(*files, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_reports(trained: Trained) -> None:
    _, _, reports = trained
    assert [report.step for report in reports] == sorted({report.step for report in reports})
    assert len(reports) == 8 and reports[-1].step == reports[-1].steps
    assert reports[0].scores["UAS"] < reports[-1].scores["UAS"]
    assert max(report.scores["LAS"] for report in reports) > 0.6


def test_the_best_state_is_kept(files: tuple[Path, Path], tmp_path: Path) -> None:
    parser, scores = spacy_parser(epochs=3), iter([0.2, 0.9, 0.1])
    states = list[list[numpy.ndarray[Any, Any]]]()

    def weights() -> list[numpy.ndarray[Any, Any]]:
        params = parser._component.model.to_dict()["params"]
        return [one.copy() for layer in params for one in layer.values() if one is not None]

    def score(gold: object, found: object) -> dict[str, float]:
        states.append(weights())
        return {"LAS": next(scores)}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("d2c.protocols.training.attachment", score)
        parser.train(*files, tmp_path / "model")
    assert len(states) == 3
    for kept, best in zip(weights(), states[1], strict=True):
        numpy.testing.assert_array_equal(kept, rounded(best) if best.ndim > 1 else best)


def test_load_gives_the_same_parser(trained: Trained) -> None:
    parser, directory, _ = trained
    sentences = [dtree.tokens for dtree in treebank(5)] + odd_sentences(6, (3, 9, 30))
    loaded = SpacyParser.load(directory)
    assert arcs(loaded.parse(sentences)) == arcs(parser.parse(sentences))
    assert (loaded.settings.preset, loaded.settings.epochs, loaded.settings.seed) == ("default", 8, 1)
    assert loaded.codes_ == Codes(tuple(sorted({"root", *LABELS})), "root")


def test_the_file_of_former_models_is_read(trained: Trained, tmp_path: Path) -> None:
    """thinc's own, of weights that were not rounded; its layers may have other shapes."""
    parser, directory, _ = trained
    copytree(directory, tmp_path / "model")
    (tmp_path / "model" / "parser" / "weights.npz").unlink()
    former = tmp_path / "model" / "parser" / "model"
    former.write_bytes(parser._component.model.to_bytes())
    sentences = [dtree.tokens for dtree in treebank(5)]
    loaded = SpacyParser.load(tmp_path / "model")
    assert arcs(loaded.parse(sentences)) == arcs(parser.parse(sentences))
    network = srsly.msgpack_loads(former.read_bytes())
    layer = next(layer for layer in reversed(network["params"]) if layer.get("W") is not None)
    for weights, message in (
        (layer["W"][:, :-1], "of other shapes"),
        (layer["W"] * numpy.nan, "are no numbers"),
    ):
        layer["W"] = weights
        former.write_bytes(srsly.msgpack_dumps(network))
        with pytest.raises(ModelError, match=message):
            SpacyParser.load(tmp_path / "model")


def test_any_sentence_gets_a_tree(trained: Trained) -> None:
    sentences = odd_sentences(7, (1, 2, 0, 90, 3, 1, 40, 0, 7, 500))
    predicted = [*trained[0].parse(sentences)]
    assert [dtree.tokens for dtree in predicted] == sentences
    assert all(dtree.is_tree() for dtree in predicted if len(dtree.tokens))
    for dtree in predicted:
        roots = [label for head, label in zip(dtree.heads, dtree.labels or (), strict=True) if not head]
        assert roots == ["root"] * min(1, len(dtree.tokens))


def test_memory_does_not_grow_with_the_stream(trained: Trained) -> None:
    parser = trained[0]
    stream = (Tokens((f"new{i}",) * (1 + i % 3), ("DT",) * (1 + i % 3)) for i in count())
    assert parser.nlp_ is not None
    vocab = parser.nlp_.vocab
    before = len(vocab.strings), len([*vocab])
    lengths = [len(dtree.heads) for dtree in islice(parser.parse(stream), 5000)]
    assert lengths == [1 + i % 3 for i in range(5000)]
    assert (len(vocab.strings), len([*vocab])) == before


def test_crossing_arcs_are_found_again(tmp_path: Path) -> None:
    crossing = DTree(
        Tokens(("a", "b", "c", "d"), ("A", "B", "C", "D")), (3, 4, 0, 3), labels=("Y#1", "X#1", "root", "Z#1")
    )
    file = write(tmp_path / "x.conllu", [crossing] * 20)
    parser = spacy_parser(epochs=20).train(file, file, tmp_path / "model")
    assert arcs(parser.parse([crossing.tokens])) == arcs([crossing])


def test_labels_of_roots_are_learned(tmp_path: Path) -> None:
    trees = [
        DTree(Tokens(("a", tag, "."), ("A", tag, ".")), (2, 0, 2), labels=("A#1", f"root|{tag}", "S#1"))
        for tag in ("VP", "NP", "FRAG")
    ]
    file = write(tmp_path / "x.conllu", trees * 10)
    spacy_parser(epochs=8).train(file, file, tmp_path / "model")
    parser = SpacyParser.load(tmp_path / "model")
    assert parser.codes_.root_label is None
    assert arcs(parser.parse(dtree.tokens for dtree in trees)) == arcs(trees)
    sentences = odd_sentences(8, (1, 0, 5, 60))
    predicted = [*parser.parse(sentences)]
    assert [dtree.tokens for dtree in predicted] == sentences
    assert all(0 <= head <= len(dtree.heads) for dtree in predicted for head in dtree.heads)


def test_same_seed_same_model(files: tuple[Path, Path], tmp_path: Path) -> None:
    random.seed(0)
    states = random.getstate(), numpy.random.get_state()[1].tolist()  # type: ignore[union-attr]
    weights = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        spacy_parser(epochs=1, seed=seed).train(*files, tmp_path / name)
        weights.append((tmp_path / name / "parser" / "weights.npz").read_bytes())
    assert weights[0] == weights[1] != weights[2]
    assert (random.getstate(), numpy.random.get_state()[1].tolist()) == states  # type: ignore[union-attr]


def test_an_interrupted_training_leaves_nothing(files: tuple[Path, Path], tmp_path: Path) -> None:
    def interrupt(_: Evaluation) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        spacy_parser(epochs=2).train(*files, tmp_path / "model", interrupt)
    assert not any(tmp_path.iterdir())


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("pwned",)


@pytest.mark.parametrize("fault", ["truncated", "missing", "code", "moves", "sizes", "settings", "version"])
def test_a_broken_model_is_one_clear_error(
    fault: str, trained: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    directory = copytree(trained[1], tmp_path / "model")
    model, settings = directory / "parser" / "weights.npz", directory / SETTINGS
    if fault == "truncated":
        model.write_bytes(model.read_bytes()[:1000])
    elif fault == "missing":
        model.unlink()
    elif fault == "code":
        model.write_bytes(pickle.dumps(Evil()))
    elif fault == "moves":
        (directory / "parser" / "moves").write_bytes(pickle.dumps(Evil()))
    elif fault == "sizes":
        settings.write_text(settings.read_text().replace('"width": 16', '"width": 32'))
    elif fault == "settings":
        settings.write_text(settings.read_text().replace('"root_label"', '"label_root"'))
    else:
        settings.write_text(settings.read_text().replace('"format": 1', '"format": 99'))
    with pytest.raises(ModelError) as error:
        SpacyParser.load(directory)
    assert str(directory) in str(error.value) and "\n" not in str(error.value)
    assert not (tmp_path / "pwned").exists()


def test_treebanks_that_cannot_be_learned_from(files: tuple[Path, Path], tmp_path: Path) -> None:
    two_roots = DTree(Tokens(("a", "b"), ("X", "X")), (0, 0), labels=("root", "root"))
    bad = write(tmp_path / "bad.conllu", [*treebank(1, 1), two_roots])
    with pytest.raises(FormatError, match="bad.conllu: sentence 2: the heads form no tree"):
        spacy_parser().train(bad, files[1], tmp_path / "model")
    with pytest.raises(FormatError, match="empty.conllu:1: no sentence"):
        spacy_parser().train(files[0], write(tmp_path / "empty.conllu", []), tmp_path / "model")
    assert not (tmp_path / "model").exists()
    lonely = write(tmp_path / "x.conllu", [DTree(Tokens(("a",), ("X",)), (0,), labels=("root",))])
    parser = spacy_parser(epochs=1).train(lonely, lonely, tmp_path / "model")
    assert next(parser.parse([Tokens(("b", "c"), ("X", "X"))])).is_tree()


def test_parameters(files: tuple[Path, Path], tmp_path: Path) -> None:
    parser: DependencyParser = spacy_parser(preset="small", seed=3)
    with pytest.raises(ModelError, match="not trained"):
        next(parser.parse([]))
    with pytest.raises(ModelError, match="^unknown preset 'huge'; known are default, small$"):
        spacy_parser(preset="huge").train(*files, tmp_path / "model")


def test_spacy_is_silent(files: tuple[Path, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    parser = spacy_parser(epochs=1).train(*files, tmp_path / "model")
    list(SpacyParser.load(tmp_path / "model").parse(odd_sentences(9, (3, 4))))
    list(parser.parse(odd_sentences(9, (3, 4))))
    assert capfd.readouterr() == ("", "")
