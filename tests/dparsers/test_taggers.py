"""All taggers, with real trainings on made-up sentences."""

from __future__ import annotations

import os
import pickle
import random
from collections.abc import Callable
from itertools import count, islice
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy
import pytest

pytest.importorskip("spacy")
pytest.importorskip("stanza")

import d2c.dparsers.spacy.tagger as spacy_tagger
import d2c.dparsers.spacy.training as spacy_training
from d2c.base.errors import FormatError, ModelError, ParameterError
from d2c.dparsers.settings import SpacyTaggerSettings, StanzaTaggerSettings
from d2c.dparsers.spacy.tagger import SpacyTagger
from d2c.dparsers.stanza.tagger import StanzaTagger
from d2c.protocols.directories import TAGGER_SETTINGS
from d2c.protocols.dparser import Evaluation, Tagger
from d2c.protocols.training import accuracy, read_tagged, tags_of
from d2c.routes.dparsers import TAGGERS
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from tests.dparsers.sentences import ODD, odd_sentences, write

# spaCy reads `!X` as not X, Stanza some names as its own; the others have no meaning but to CoNLL-U.
TAGS = {"the": "DT", "cat": "NN", "dog": "NN", "sees": "!NN", "hears": "_", ".": "<PAD>", "(": "PUNCT"}
TINY = {
    "hidden_dim": 16,
    "num_layers": 1,
    "char_hidden_dim": 8,
    "char_emb_dim": 8,
    "transformed_dim": 8,
    "word_emb_dim": 16,
    "deep_biaff_hidden_dim": 16,
    "word_dropout": 0.0,
    "dropout": 0.0,
    "lr": 0.02,
    "batch_size": 4,
}
Make = Callable[..., Any]


def stanza(**options: Any) -> StanzaTagger:
    return StanzaTagger(StanzaTaggerSettings(**{"epochs": 10, "device": "cpu", "arguments": TINY} | options))


def spacy(**options: Any) -> SpacyTagger:
    return SpacyTagger(SpacyTaggerSettings(**{"epochs": 10} | options))


MAKE: dict[str, Make] = {"spacy": spacy, "stanza": stanza}
FILES = {"spacy": Path("tagger", "weights.npz"), "stanza": Path("tagger.pt")}
WEIGHTS: dict[str, Callable[[Any], object]] = {
    "spacy": lambda tagger: tagger._component.model.to_bytes(),
    "stanza": lambda tagger: [array.tolist() for array in tagger.trainer_.model.state_dict().values()],
}


@pytest.fixture(scope="module", autouse=True)
def small() -> object:
    """Networks and batches of the size of the treebanks here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spacy_tagger, "SIZES", {"width": 16, "depth": 1, "rows": 200})
        patch.setattr(spacy_training, "_BATCH_WORDS", 40)
        patch.setattr(spacy_training, "_RATE", 0.02)
        yield


@pytest.fixture(params=MAKE)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def sentences(seed: int, size: int) -> list[Tokens]:
    pick = random.Random(seed)
    drawn = [tuple(pick.choices([*TAGS], k=pick.randint(1, 9))) for _ in range(size)]
    return [Tokens(forms, tuple(TAGS[form] for form in forms)) for forms in drawn]


def treebank(path: Path, tagged: list[Tokens]) -> Path:
    """Words and tags, and heads that form no tree."""
    return write(path, (DTree(tokens, (0,) * len(tokens)) for tokens in tagged))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    directory = tmp_path_factory.mktemp("treebank")
    new = Tokens(("brand", "new"), ("UNSEEN", "DT"))
    train, dev = sentences(1, 60), [*sentences(2, 10), new]
    return treebank(directory / "train.conllu", train), treebank(directory / "dev.conllu", dev)


Trained = tuple[Tagger, Path, list[Evaluation]]


@pytest.fixture(scope="module")
def all_trained(files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    result = {}
    for name, make in MAKE.items():
        directory = tmp_path_factory.mktemp(name) / "new" / "model"
        reports: list[Evaluation] = []
        result[name] = make().train(*files, directory, reports.append), directory, reports
    return result


@pytest.fixture
def trained(all_trained: dict[str, Trained], kind: str) -> Trained:
    return all_trained[kind]


def test_all_are_here() -> None:
    assert MAKE.keys() == TAGGERS.keys()


def test_it_learns(trained: Trained, kind: str) -> None:
    tagger, directory, reports = trained
    gold = sentences(3, 20)
    assert [*tagger.tag(tokens.forms for tokens in gold)] == gold
    assert [report.step for report in reports] == sorted({report.step for report in reports})
    assert reports[-1].step == reports[-1].steps
    assert max(report.scores["accuracy"] for report in reports) > 0.9
    assert 8 <= len(reports) <= 10 and reports[-1].loss < reports[0].loss
    assert sorted(path.name for path in directory.parent.iterdir()) == ["model"]


def test_load_gives_the_same_tagger(trained: Trained, kind: str) -> None:
    tagger, directory, _ = trained
    words = [tokens.forms for tokens in sentences(5, 9) + odd_sentences(6, (3, 9, 30))]
    loaded = type(tagger).load(directory)
    assert [*loaded.tag(words)] == [*tagger.tag(words)]
    own = loaded.settings  # type: ignore[attr-defined]
    assert (own.preset, own.epochs, own.seed) == ("default", 10, 1)
    assert {path.name for path in directory.iterdir()} == {TAGGER_SETTINGS, FILES[kind].parts[0]}


def test_any_words_get_a_tag_each(trained: Trained) -> None:
    words = [tokens.forms for tokens in odd_sentences(7, (1, 2, 0, 90, 3, 1, 40, 0, 7, 500, 0))] + [("", "a")]
    tagged = [*trained[0].tag(words)]
    assert [tokens.forms for tokens in tagged] == words
    assert all(tag in TAGS.values() for tokens in tagged for tag in tokens.tags)
    assert [*trained[0].tag([()])] == [Tokens((), ())] and [*trained[0].tag([])] == []
    assert [*trained[0].tag([["the", "cat"]])] == [Tokens(("the", "cat"), ("DT", "NN"))]


def test_streams_have_no_end(trained: Trained) -> None:
    tagger = trained[0]
    stream = ((f"new{i}",) * (1 + i % 3) for i in count())
    vocab = tagger.nlp_.vocab if isinstance(tagger, SpacyTagger) and tagger.nlp_ else None
    before = vocab and (len(vocab.strings), len([*vocab]))
    assert [len(tokens) for tokens in islice(tagger.tag(stream), 3000)] == [1 + i % 3 for i in range(3000)]
    assert (vocab and (len(vocab.strings), len([*vocab]))) == before


def test_same_seed_same_model(kind: str, files: tuple[Path, Path], tmp_path: Path) -> None:
    random.seed(0)
    states = random.getstate(), numpy.random.get_state()[1].tolist()  # type: ignore[union-attr]
    weights = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        tagger = MAKE[kind](epochs=1, seed=seed).train(*files, tmp_path / name)
        weights.append(WEIGHTS[kind](tagger))
    assert weights[0] == weights[1] != weights[2]
    assert (random.getstate(), numpy.random.get_state()[1].tolist()) == states  # type: ignore[union-attr]


def test_the_best_state_is_kept(kind: str, files: tuple[Path, Path], tmp_path: Path) -> None:
    scores, tagged = iter([0.2, 0.9] + [0.1] * 8), []
    words = [tokens.forms for tokens in odd_sentences(4, (20, 20))]

    def score(gold: object, predicted: object) -> float:
        tagged.append([*tagger.tag(words)])
        return next(scores)

    tagger = MAKE[kind](epochs=8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("d2c.protocols.training.accuracy", score)
        tagger.train(*files, tmp_path / "model")
    assert len(tagged) == 8 and tagged[1] != tagged[-1]
    assert [*tagger.tag(words)] == tagged[1]


def test_an_interrupted_training_leaves_nothing(kind: str, files: tuple[Path, Path], tmp_path: Path) -> None:
    def interrupt(_: Evaluation) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        MAKE[kind](epochs=2).train(*files, tmp_path / "model", interrupt)
    assert not any(tmp_path.iterdir())


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("pwned",)


@pytest.mark.parametrize("fault", ["truncated", "missing", "code", "tags", "settings", "version"])
def test_a_broken_model_is_one_clear_error(
    kind: str, fault: str, trained: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    directory = copytree(trained[1], tmp_path / "model")
    model, settings = directory / FILES[kind], directory / TAGGER_SETTINGS
    if fault == "truncated":
        model.write_bytes(model.read_bytes()[: min(1000, model.stat().st_size // 2)])
    elif fault == "missing":
        model.unlink()
    elif fault == "code":
        model.write_bytes(pickle.dumps(Evil()))
    elif fault == "tags":
        settings.write_text(settings.read_text().replace('"PUNCT"', '"PUNCT", "NEW"'))
    elif fault == "settings":
        settings.write_text(settings.read_text().replace('"tags"', '"gats"'))
    else:
        settings.write_text(settings.read_text().replace('"format": 1', '"format": 99'))
    with pytest.raises(ModelError) as error:
        type(MAKE[kind]()).load(directory)
    assert str(directory) in str(error.value) and "\n" not in str(error.value)
    assert not (tmp_path / "pwned").exists()


def test_what_cannot_be_learned_from(kind: str, files: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="empty.conllu:1: no sentence"):
        MAKE[kind]().train(files[0], treebank(tmp_path / "empty.conllu", []), tmp_path / "model")
    with pytest.raises(ParameterError, match="^unknown preset 'huge'; known are default, small") as error:
        MAKE[kind](preset="huge")
    assert error.value.parameter == "preset"
    assert not (tmp_path / "model").exists()
    with pytest.raises(ModelError, match="not trained"):
        next(MAKE[kind]().tag([("a",)]))
    lonely = treebank(tmp_path / "x.conllu", [Tokens(("a",), ("X",))])
    tagger = MAKE[kind](epochs=1).train(lonely, lonely, tmp_path / "model")
    assert [*tagger.tag([("b", "c")])] == [Tokens(("b", "c"), ("X", "X"))]


def test_they_are_silent(
    kind: str, files: tuple[Path, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    MAKE[kind](epochs=1).train(*files, tmp_path / "model")
    [*type(MAKE[kind]()).load(tmp_path / "model").tag([ODD])]
    assert capfd.readouterr() == ("", "")


def test_tables_and_scores(files: tuple[Path, Path]) -> None:
    tagged = [Tokens(("a", "b", "c"), ("Y", "X", "X")), Tokens(("d", "e"), ("Z", "Y")), Tokens((), ())]
    assert tags_of(tagged) == ("X", "Y", "Z")
    guess = [Tokens(("a", "b", "c"), ("Y", "X", "Y")), Tokens(("d", "e"), ("Y", "Y")), Tokens((), ())]
    assert accuracy(tagged, guess) == 0.6 and accuracy([], []) == 0
    assert len(read_tagged(files[1])) == 11
    report = Evaluation(2, 8, 0.5, {"accuracy": 0.915}, 3.2, "tagger")
    assert str(report) == "tagger: step 2/8  loss 0.500  dev accuracy 91.50  3 s, about 10 s left"
