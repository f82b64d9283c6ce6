"""D-trees from a file, and the gold ones."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

import pytest

from d2c.base.errors import FormatError, ModelError
from d2c.base.settings import Settings
from d2c.dparsers.file_parser import FileParser, GoldParser, align
from d2c.dparsers.settings import FileSettings
from d2c.protocols.directories import SETTINGS
from d2c.protocols.dparser import DependencyParser
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from tests.dparsers.sentences import arcs, treebank, write

EMPTY = Tokens((), ())
TREES = treebank(1, 5)


def file_parser(path: Path, dev: Path | None = None) -> FileParser:
    return FileParser(FileSettings(path=path, dev=dev))


def tokens_of(forms: str) -> Tokens:
    return Tokens(tuple(forms.split(" ")), ("X",) * len(forms.split(" ")))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "pred.conllu", TREES)


def test_the_file_is_given_back(file: Path, tmp_path: Path) -> None:
    parser: DependencyParser = file_parser(file).train(file, file, tmp_path / "model")
    loaded = FileParser.load(tmp_path / "model")
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == [SETTINGS]
    sentences = [EMPTY, *(dtree.tokens for dtree in TREES), EMPTY]
    for each in (parser, loaded):
        predicted = [*each.parse(sentences)]
        assert all(a.tokens is b for a, b in zip(predicted, sentences, strict=True))
        assert arcs(predicted) == [((), ()), *arcs(TREES), ((), ())]


def test_two_files_are_of_training_and_dev(file: Path, tmp_path: Path) -> None:
    trees = treebank(2, 3)
    training = write(tmp_path / "training.conllu", trees)
    parser = file_parser(training, file).train(file, file, tmp_path / "model")
    assert parser.abilities.foreign
    assert arcs(parser.parse_training(dtree.tokens for dtree in trees)) == arcs(trees)
    for each in (parser, FileParser.load(tmp_path / "model")):
        assert arcs(each.parse(dtree.tokens for dtree in TREES)) == arcs(TREES)
    assert not each.abilities.foreign and not file_parser(file).abilities.foreign
    with pytest.raises(ModelError, match="no d-trees of the training treebank are given"):
        next(each.parse_training([EMPTY]))
    training.unlink()
    with pytest.raises(ModelError, match="training.conllu: is no file"):
        file_parser(training, file).train(file, file, tmp_path / "other")


def test_the_model_is_found_from_elsewhere(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file_parser(Path("pred.conllu")).train(file, file, Path("model"))
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert FileParser.load(tmp_path / "model").path == file


def test_tags_lemmas_and_heads_are_whose_they_are(tmp_path: Path) -> None:
    """Tokens are those given, whatever the file says besides forms; heads need not form a tree."""
    written = DTree(Tokens(("a", "_"), ("A", "B"), ("l", "m")), (5, 1), labels=("x:y", "_"))
    given = Tokens(("a", ""), ("C", ""), None, ("F", "G"))
    (predicted,) = file_parser(write(tmp_path / "x.conllu", [written])).parse([given])
    assert predicted == DTree(given, (5, 1), labels=("x:y", "_"))


@pytest.mark.parametrize(
    ("forms", "message"),
    [
        (["a b c", "", "d e g"], "pred: sentence 2: word 3 is 'f', not 'g'"),
        (["a B c", "d e f"], "pred: sentence 1: word 2 is 'b', not 'B'"),
        (["a b c", "d e"], "pred: sentence 2: has 3 words, not 2"),
        (["a b c", "d e f", "g"], "pred: sentence 3: is missing: the file ends before it"),
        (["a b c"], "pred: sentence 2: is not in the input, which ends before it"),
        ([], "pred: sentence 1: is not in the input, which ends before it"),
    ],
)
def test_sentences_that_differ(forms: list[str], message: str) -> None:
    dtrees = [DTree(tokens_of(text), (0, 1, 2), labels=("r", "x", "y")) for text in ("a b c", "d e f")]
    sentences = [tokens_of(text) if text else EMPTY for text in forms]
    with pytest.raises(FormatError) as error:
        [*align(sentences, dtrees, "pred")]
    assert str(error.value) == message


def test_words_that_are_only_written_otherwise(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    dtree = DTree(tokens_of("-LRB- it works -RRB-"), (0, 1, 2, 3), labels=("r", "x", "y", "z"))
    path = write(tmp_path / "pred.conllu", [dtree, dtree])
    given = tokens_of("( \u00a0it works )")
    assert [*file_parser(path).parse([given, dtree.tokens])] == [
        replace(dtree, tokens=given),
        dtree,
    ]
    written = "3 words written otherwise, as -LRB- for ( or without a no-break space"
    assert caplog.messages == [f"{path}: {written}"]


def test_other_forms_may_be_allowed() -> None:
    dtree = DTree(tokens_of("a b"), (0, 1), labels=("r", "x"))
    given = tokens_of("c d")
    assert [*align([given], [dtree], "", same_forms=False)] == [DTree(given, (0, 1), labels=("r", "x"))]


def test_it_streams() -> None:
    def endless() -> Iterator[DTree]:
        for i in count():
            yield DTree(Tokens((f"w{i}",), ("X",)), (0,), labels=("root",))

    found = islice(align((dtree.tokens for dtree in endless()), endless(), ""), 1000)
    assert [dtree.tokens.forms for dtree in found] == [(f"w{i}",) for i in range(1000)]


def test_files_that_cannot_be_used(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is no file"):
        file_parser(tmp_path / "none").train(file, file, tmp_path / "model")
    assert not (tmp_path / "model").exists()
    file_parser(file).train(file, file, tmp_path / "model")
    with pytest.raises(ModelError, match="holds no gold parser"):
        GoldParser.load(tmp_path / "model")
    file.write_text("1\ta\n\n", encoding="utf-8")
    with pytest.raises(FormatError, match="pred.conllu:1: sentence 1: expected 10 columns"):
        [*FileParser.load(tmp_path / "model").parse([EMPTY])]
    settings = tmp_path / "model" / SETTINGS
    os.mkfifo(tmp_path / "pipe")  # which would wait for a writer for ever
    for path in (tmp_path / "none", tmp_path / "pipe", f"{file}\0", tmp_path):
        said = {"dparser": "file", "format": 1, "path": str(path)}
        settings.write_text(json.dumps(said), encoding="utf-8")
        with pytest.raises(ModelError, match="is no file$"):
            FileParser.load(tmp_path / "model")
    settings.write_text('{"dparser": "file", "format": 1}', encoding="utf-8")
    with pytest.raises(ModelError, match="names no file"):
        FileParser.load(tmp_path / "model")


def test_gold(file: Path, tmp_path: Path) -> None:
    train = write(tmp_path / "train.conllu", treebank(2, 3))
    parser: DependencyParser = GoldParser(Settings())
    with pytest.raises(ModelError, match="not trained"):
        next(parser.parse([EMPTY]))
    parser.train(train, file, tmp_path / "model")
    file.unlink()
    (tmp_path / "model").rename(tmp_path / "moved")
    sentences = [dtree.tokens for dtree in TREES]
    for each in (parser, GoldParser.load(tmp_path / "moved")):
        assert arcs(each.parse(sentences)) == arcs(each.parse(sentences)) == arcs(TREES)
        with pytest.raises(FormatError, match="gold d-trees: sentence 1: word 2"):
            [*each.parse(dtree.tokens for dtree in treebank(2, 3))]
    (tmp_path / "moved" / "gold.conllu").write_text("?", encoding="utf-8")
    with pytest.raises(FormatError, match="gold.conllu:1"):
        GoldParser.load(tmp_path / "moved")
