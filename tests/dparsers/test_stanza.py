"""The Stanza adaptor, with tiny networks on made-up sentences."""

import json
import logging
import os
import random
from collections.abc import Iterator
from copy import deepcopy
from itertools import count, islice
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

pytest.importorskip("stanza")

import torch
from stanza.models.common.pretrain import Pretrain
from stanza.models.depparse.data import Dataset

from d2c.base.errors import FormatError, ModelError, ParameterError
from d2c.base.temporary import whole_directory
from d2c.dparsers.settings import StanzaSettings, StanzaTaggerSettings
from d2c.dparsers.stanza.networks import StanzaDocument, batch_words, check_vocabulary
from d2c.dparsers.stanza.parser import PRESETS, StanzaParser
from d2c.dparsers.stanza.tagger import StanzaTagger
from d2c.dparsers.stanza.tasks import ArcTask
from d2c.protocols.directories import SETTINGS
from d2c.protocols.dparser import DependencyParser, Evaluation
from d2c.protocols.training import attachment
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu, write_conllu
from tests.dparsers.encoders import language_models

TINY = {
    "char": True,
    "linearization": True,
    "distance": True,
    "hidden_dim": 24,
    "num_layers": 1,
    "deep_biaff_hidden_dim": 16,
    "char_hidden_dim": 8,
    "char_emb_dim": 8,
    "transformed_dim": 8,
    "word_emb_dim": 16,
    "tag_emb_dim": 8,
    "transition_merge_words_output_dim": 16,
    "word_dropout": 0.0,
    "dropout": 0.0,
    "lr": 0.01,
    "batch_size": 60,
}
ODD = ("_", "#", "|", "a b", "x  y", "\u2009", "-LRB-", "(", "Straße", "猫", "e\u0301", "1:2", "?!?", "'")


def stanza_parser(**options: Any) -> StanzaParser:
    return StanzaParser(StanzaSettings(**options))


def sentence(nouns: tuple[str, str], verb: str) -> DTree:
    """`the N V the N .`, the object attached first, then the subject and the full stop."""
    forms = ("the", nouns[0], verb, "the", nouns[1], ".")
    heads, labels = (2, 3, 0, 5, 3, 3), ("NP#1", "S#2", "root", "NP#1", "VP#1", "S#2")
    return DTree(Tokens(forms, ("DT", "NN", "VB", "DT", "NN", ".")), heads, labels=labels)


def treebank(seed: int, size: int = 30) -> list[DTree]:
    pick = random.Random(seed)
    words = (*ODD, "cat", "dog", "sees", "hears")
    return [sentence((pick.choice(words), pick.choice(words)), pick.choice(words)) for _ in range(size)]


def write(path: Path, dtrees: list[DTree]) -> Path:
    with path.open("w", encoding="utf-8") as stream:
        write_conllu(dtrees, stream)
    return path


def tiny(**options: object) -> StanzaParser:
    arguments = TINY | dict(options.pop("arguments", {}))  # type: ignore[call-overload]
    options = {"epochs": 12, "device": "cpu"} | options
    return stanza_parser(preset="small", arguments=arguments, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A training and a development treebank; the latter has words, tags and labels of its own."""
    directory = tmp_path_factory.mktemp("treebank")
    one_word = DTree(Tokens(("Yes",), ("UH",)), (0,), labels=("root",))
    crossing = DTree(
        Tokens(("a", "b", "c", "d"), ("X",) * 4), (3, 4, 0, 3), labels=("Y#1", "Y#1", "root", "Z#1")
    )
    new = DTree(Tokens(("brand", "new"), ("TAG", "TAG")), (2, 0), labels=("UNSEEN#7", "root"))
    train = write(directory / "train.conllu", [*treebank(1), one_word, crossing])
    return train, write(directory / "dev.conllu", [*treebank(2, 8), one_word, new])


@pytest.fixture(scope="module")
def trained(
    files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[StanzaParser, Path, list[Evaluation]]:
    directory = tmp_path_factory.mktemp("graph") / "new" / "model"
    reports: list[Evaluation] = []
    return tiny().train(*files, directory, reports.append), directory, reports


def arcs(dtrees: Iterator[DTree]) -> list[tuple[tuple[int, ...], tuple[str, ...] | None]]:
    return [(dtree.heads, dtree.labels) for dtree in dtrees]


def test_learns_and_reports(
    trained: tuple[StanzaParser, Path, list[Evaluation]], files: tuple[Path, Path]
) -> None:
    parser, _, reports = trained
    gold = treebank(3)
    predicted = [*parser.parse(dtree.tokens for dtree in gold)]
    assert [dtree.tokens for dtree in predicted] == [dtree.tokens for dtree in gold]
    right = sum(a.heads == b.heads and a.labels == b.labels for a, b in zip(predicted, gold, strict=True))
    assert right >= 0.9 * len(gold)
    assert [report.step for report in reports] == sorted({report.step for report in reports})
    assert reports[-1].step == reports[-1].steps
    assert reports[-1].scores["LAS"] > reports[0].scores["LAS"] or reports[0].scores["LAS"] > 0.9
    assert "LAS" in str(reports[0]) and "\n" not in str(reports[0])


def test_load_gives_the_same_parser(trained: tuple[StanzaParser, Path, list[Evaluation]]) -> None:
    parser, directory, _ = trained
    sentences = [dtree.tokens for dtree in treebank(4)]
    loaded = StanzaParser.load(directory, device="cpu")
    assert arcs(loaded.parse(sentences)) == arcs(parser.parse(sentences))
    assert (loaded.settings.model_type, loaded.settings.preset) == ("graph", "small")
    assert sorted(path.name for path in directory.iterdir()) == [SETTINGS, "parser.pt"]
    checkpoint = torch.load(directory / "parser.pt", weights_only=True)
    assert str(directory.parent) not in str(checkpoint["config"])


def test_any_sentence_gets_a_tree(trained: tuple[StanzaParser, Path, list[Evaluation]]) -> None:
    parser, _, _ = trained
    pick = random.Random(5)
    lengths = [1, 2, 0, 90, 3, 1, 40, 0, 7]
    sentences = [
        Tokens(tuple(pick.choice(ODD) + str(i) for i in range(n)), tuple(pick.choices(("NN", "?"), k=n)))
        for n in lengths
    ]
    predicted = [*parser.parse(sentences)]
    assert [dtree.tokens for dtree in predicted] == sentences
    assert all(dtree.is_tree() for dtree in predicted if len(dtree.tokens))
    assert all(len(dtree.labels or ()) == len(dtree.tokens) for dtree in predicted)


def test_parses_a_stream_without_end(trained: tuple[StanzaParser, Path, list[Evaluation]]) -> None:
    stream = (Tokens(("the",) * (1 + i % 3), ("DT",) * (1 + i % 3)) for i in count())
    lengths = [len(dtree.heads) for dtree in islice(trained[0].parse(stream), 1500)]
    assert lengths == [1 + i % 3 for i in range(1500)]


def test_same_seed_same_model(files: tuple[Path, Path], tmp_path: Path) -> None:
    random.seed(0)
    state = random.getstate()
    weights = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        tiny(epochs=1, seed=seed).train(*files, tmp_path / name)
        weights.append(torch.load(tmp_path / name / "parser.pt", weights_only=True)["model"])
    assert random.getstate() == state
    assert all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0])
    assert not all(torch.equal(weights[0][key], weights[2][key]) for key in weights[0])


def test_stanzas_own_schedule_changes_its_optimizer_and_stops(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    reports: list[Evaluation] = []
    arguments = TINY | {"eval_interval": 3, "max_steps_before_stop": 6, "lr": 2.0, "max_steps": 200}
    parser = stanza_parser(model_type="graph", preset="default", device="cpu", arguments=arguments)
    assert parser.train(*files, tmp_path / "model", reports.append) is parser
    assert [report.step for report in reports[:3]] == [3, 6, 9]
    assert reports[-1].steps == 200
    assert parser.trainer_ is not None and parser.trainer_.args["second_stage"]


def test_no_word_is_ever_dropped_in_training(tmp_path: Path) -> None:
    # Sentences that Stanza would shorten: it knows final punctuation by its UPOS and "¿" by its form.
    words = Tokens(("¿", "a", "."), ("X", "X", "X"), morphs=("_", "_", "PUNCT"))
    file = write(tmp_path / "x.conllu", [DTree(words, (2, 0, 2), labels=("A#2", "root", "A#1"))] * 20)
    parser = tiny()
    rows = [parser._rows(dtree.tokens, dtree.heads, dtree.labels) for dtree in read_conllu(file)]
    arguments = parser._arguments(PRESETS["small"]) | {"word_cutoff": 0}
    shortening = arguments | {"augment_nopunct": None, "drop_initial_punct_prob": 0.2}
    dataset = Dataset(StanzaDocument(rows), shortening, None)
    assert dataset.augment_nopunct_ratio > 0 and dataset.drop_initial_punct_ratio > 0
    task = ArcTask(arguments | {"batch_size": 12}, rows, None, None, lambda *_: 0.0)
    for numbers in islice(task.batches(0), 200):
        batch = task.loader.collate([task.data[i] for i in numbers])
        assert set(batch[13]) == {4}  # lengths with Stanza's root


def test_tags_of_many_parts(tmp_path: Path) -> None:
    # From 21 tags on Stanza may cut them at a sign or into letters.
    tags = [f"{pos}-{case}-{number}" for pos in "NAV" for case in "NGDAI" for number in ("SG", "PL")]
    train = [DTree(Tokens(("a", "b"), (tag, tag)), (2, 0), labels=("A#1", "root")) for tag in tags]
    file = write(tmp_path / "x.conllu", train)
    parser = tiny(epochs=1).train(file, file, tmp_path / "model")
    odd = Tokens(("a", "b", "c", "d"), ("", "-", "_", "N-X-SG-SG-SG"))
    assert next(StanzaParser.load(tmp_path / "model").parse([odd])).is_tree()
    assert parser.trainer_ is not None and type(parser.trainer_.vocab["xpos"]).__name__ == "XPOSVocab"


def test_labels_are_scored_whole() -> None:
    tokens = Tokens(("a", "b"), ("_", "_"))
    gold = [DTree(tokens, (2, 0), labels=("x:y", "root"))]
    assert attachment(gold, [DTree(tokens, (2, 0), labels=("x:z", "root"))]) == {"UAS": 1.0, "LAS": 0.5}
    assert attachment(gold, [DTree(tokens, (0, 0), labels=("x:y", "root"))]) == {"UAS": 0.5, "LAS": 0.5}


def test_many_labels_make_small_batches() -> None:
    arguments = {"batch_size": 5000, "deep_biaff_hidden_dim": 400}
    assert batch_words(arguments, 60, 1 << 28) == 5000
    assert batch_words(arguments, 2000, 1 << 28) == 334
    assert batch_words(arguments, 10**9, 1 << 28) == 1


def test_a_long_chain(tmp_path: Path) -> None:
    n = 250
    chain = DTree(Tokens(("a",) * n, ("X",) * n), tuple(range(n)), labels=("root", *["A#1"] * (n - 1)))
    file = write(tmp_path / "x.conllu", [chain])
    parser = tiny(epochs=1).train(file, file, tmp_path / "model")
    assert next(parser.parse([chain.tokens])).is_tree()


class Stop(BaseException):
    """An interruption that is no Exception, like KeyboardInterrupt."""


def interrupt(report: Evaluation) -> None:
    raise Stop


def test_an_interrupted_training_leaves_nothing(files: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(Stop):
        tiny().train(*files, tmp_path / "model", interrupt)
    assert not any(tmp_path.iterdir())


def test_an_interrupted_save_leaves_nothing(
    files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save(data: object, filename: str, **options: object) -> None:
        Path(filename).write_bytes(b"half of it")
        raise KeyboardInterrupt  # Stanza logs this and goes on

    monkeypatch.setattr(torch, "save", save)
    with pytest.raises(ModelError, match="cannot be loaded"):
        tiny(epochs=1).train(*files, tmp_path / "model")
    assert not any(tmp_path.iterdir())


def test_the_old_model_stays_until_the_new_one_is_there(files: tuple[Path, Path], tmp_path: Path) -> None:
    directory = tmp_path / "model"
    tiny(epochs=1).train(*files, directory)
    before = (directory / "parser.pt").read_bytes()
    with pytest.raises(Stop):
        tiny(seed=9).train(*files, directory, interrupt)
    assert (directory / "parser.pt").read_bytes() == before
    tiny(epochs=1, seed=9).train(*files, directory)
    assert (directory / "parser.pt").read_bytes() != before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_other_files_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(ModelError, match="holds other files"), whole_directory(tmp_path, SETTINGS):
        pass
    with pytest.raises(ModelError, match="is a file"), whole_directory(tmp_path / "letter.txt", SETTINGS):
        pass
    assert (tmp_path / "letter.txt").read_text() == "dear"


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("pwned",)


@pytest.mark.parametrize(
    "fault", ["truncated", "missing", "code", "other", "weights", "version", "kind", "json"]
)
def test_a_broken_model_is_one_clear_error(
    fault: str,
    trained: tuple[StanzaParser, Path, list[Evaluation]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    directory = copytree(trained[1], tmp_path / "model")
    model, settings = directory / "parser.pt", directory / SETTINGS
    checkpoint = torch.load(model, weights_only=True)
    if fault == "truncated":
        model.write_bytes(model.read_bytes()[:1000])
    elif fault == "missing":
        model.unlink()
    elif fault == "code":
        torch.save(checkpoint | {"model": Evil()}, model, _use_new_zipfile_serialization=False)
    elif fault == "other":
        torch.save([1, 2, 3], model, _use_new_zipfile_serialization=False)
    elif fault == "weights":
        del checkpoint["model"]["deprel.W1.weight"]
        torch.save(checkpoint, model, _use_new_zipfile_serialization=False)
    elif fault == "version":
        settings.write_text(settings.read_text().replace('"format": 1', '"format": 99'))
    elif fault == "kind":
        settings.write_text(settings.read_text().replace('"stanza"', '"other"'))
    else:
        settings.write_text("{")
    with pytest.raises(ModelError) as error:
        StanzaParser.load(directory)
    assert str(directory) in str(error.value) and "\n" not in str(error.value)
    assert not (tmp_path / "pwned").exists()


def test_vectors_come_along(files: tuple[Path, Path], tmp_path: Path) -> None:
    text = tmp_path / "vectors.txt"
    text.write_text("the 1 0 0\ncat 0 1 0\ndog 0 0 1\n")
    parser = tiny(epochs=1, vectors=text).train(*files, tmp_path / "a")
    packed = Pretrain(str(tmp_path / "packed.pt"), str(text))
    packed.load()
    text.unlink()
    sentences = [dtree.tokens for dtree in treebank(6, 5)]
    expected = arcs(parser.parse(sentences))
    assert arcs(StanzaParser.load(tmp_path / "a", "cpu").parse(sentences)) == expected
    same = tiny(epochs=1, vectors=tmp_path / "packed.pt").train(*files, tmp_path / "b")
    assert arcs(same.parse(sentences)) == expected
    for name in ("none.txt", "none.pt"):
        with pytest.raises(ModelError, match="no word vectors"):
            tiny(vectors=tmp_path / name).train(*files, tmp_path / "c")


def test_character_language_models_come_along(files: tuple[Path, Path], tmp_path: Path) -> None:
    pair = language_models(tmp_path)
    parser = tiny(epochs=1, charlm=pair, arguments={"char": False}).train(*files, tmp_path / "model")
    for path in pair:
        path.unlink()
    sentences = [dtree.tokens for dtree in treebank(7, 5)]
    assert parser.trainer_ is not None and parser.trainer_.model.charmodel_forward.hidden_dim() == 4
    moved = (tmp_path / "model").rename(tmp_path / "moved")
    assert arcs(StanzaParser.load(moved, "cpu").parse(sentences)) == arcs(parser.parse(sentences))
    with pytest.raises(ModelError, match="forward.pt: cannot be read"):
        tiny(charlm=pair).train(*files, tmp_path / "other")


def test_treebanks_that_cannot_be_learned_from(files: tuple[Path, Path], tmp_path: Path) -> None:
    two_roots = DTree(Tokens(("a", "b"), ("X", "X")), (0, 0), labels=("root", "root"))
    bad = write(tmp_path / "bad.conllu", [sentence(("a", "b"), "c"), two_roots])
    with pytest.raises(FormatError, match="bad.conllu: sentence 2: the heads form no tree"):
        tiny().train(bad, files[1], tmp_path / "model")
    with pytest.raises(FormatError, match="empty.conllu:1: no sentence"):
        tiny().train(files[0], write(tmp_path / "empty.conllu", []), tmp_path / "model")
    with pytest.raises(FormatError, match="none.conllu"):
        tiny().train(files[0], tmp_path / "none.conllu", tmp_path / "model")
    lonely = DTree(Tokens(("a",), ("X",)), (0,), labels=("root",))
    misused = DTree(Tokens(("a", "b"), ("X", "X")), (0, 1), labels=("root", "root"))
    file = write(tmp_path / "x.conllu", [lonely, misused])
    assert not (tmp_path / "model").exists()
    assert next(tiny(epochs=1).train(file, file, tmp_path / "model").parse([misused.tokens])).is_tree()


def test_parameters(files: tuple[Path, Path], tmp_path: Path) -> None:
    parser: DependencyParser = stanza_parser(model_type="graph", seed=3)
    assert parser.settings.preset == "default" and parser.settings.seed == 3
    with pytest.raises(ModelError, match="not trained"):
        next(parser.parse([Tokens(("a",), ("A",))]))
    for name, value in (("model_type", "linear"), ("preset", "huge")):
        with pytest.raises(ParameterError, match=value) as error:
            stanza_parser(**{name: value})
        assert error.value.parameter == name
    wrong = stanza_parser(arguments={"hidden_dimension": 3})
    with pytest.raises(ModelError, match="hidden_dimension"):
        wrong._arguments(wrong._preset())
    settings = StanzaTaggerSettings(arguments={"hidden_dimension": 3})
    with pytest.raises(ModelError, match="hidden_dimension"):
        StanzaTagger(settings).train(*files, tmp_path / "tagger")
    with pytest.raises(ParameterError, match="needs a transformer"):
        stanza_parser(preset="finetune")._preset()


def test_a_model_of_the_transition_parser_says_what_to_do(tmp_path: Path) -> None:
    own = {"model_type": "transition", "preset": "small", "bert_model": None, "epochs": None, "seed": 1}
    (tmp_path / SETTINGS).write_text(json.dumps({"format": 1, "dparser": "stanza", **own}))
    with pytest.raises(ModelError, match="no longer part of d2c; train the model again"):
        StanzaParser.load(tmp_path)


def test_stanza_is_silent(
    files: tuple[Path, Path],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    level = logging.getLogger("stanza").level
    with caplog.at_level(logging.INFO):
        tiny(epochs=1).train(*files, tmp_path / "model")
    assert {record.name for record in caplog.records} == {"d2c.progress"}
    assert logging.getLogger("stanza").level == level
    assert capfd.readouterr() == ("", "")


def test_of_a_very_long_word_the_beginning_is_seen() -> None:
    [[row]] = [stanza_parser()._rows(Tokens(("http://" + "a/" * 6_000,), ("X",)))]
    assert len(row[0]) == 1_000


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("_unit2id", "a", 5.0),
        ("_unit2id", "a", ""),
        ("_unit2id", "a", 1 << 70),
        ("_unit2id", "b", 4),
        ("_unit2id", "<UNK>", 2),
        ("_id2unit", 4, "<PAD>"),
        ("_id2unit", 1, "x"),
    ],
)
def test_a_vocabulary_numbers_its_units(part: str, key: Any, value: object) -> None:
    """Both of a column and of a feature's values; Stanza would find out at the first such letter."""
    units = ["<PAD>", "<UNK>", "<EMPTY>", "<ROOT>", "a", "b"]
    whole: dict[str, Any] = {"_id2unit": units, "_unit2id": {unit: i for i, unit in enumerate(units)}}
    feature = {name: {"Case": column} for name, column in whole.items()}
    check_vocabulary({"char": whole, "feats": feature, "_key2class": {}})
    whole = deepcopy(whole)
    whole[part][key] = value
    for broken in (whole, {name: {"Case": column} for name, column in whole.items()}):
        with pytest.raises(ValueError, match="^the vocabulary char does not number its units$"):
            check_vocabulary({"char": broken})
