"""Jackknifed tags, with a tagger that remembers what it was trained on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

import pytest

from d2c.base.errors import FormatError, ModelError
from d2c.models.model import load_abbreviations
from d2c.protocols.dparser import Evaluation
from d2c.protocols.training import read_tagged
from d2c.training.jackknife import blocks, jackknife_tags, tenths, write_tokens
from d2c.training.tagging import Retagged, TaggerChoice
from d2c.trees.ctree import Tokens
from d2c.trees.formats.reading import Reading


class Memory:
    """Tags a word as it was tagged in training, with X if it was not there."""

    trained: list[list[Tokens]] = []

    def train(
        self,
        train_conllu: Path,
        dev_conllu: Path,
        directory: Path,
        progress: Callable[[Evaluation], None] | None = None,
    ) -> Self:
        directory.mkdir(exist_ok=True)
        sentences = read_tagged(train_conllu)
        self.trained.append(sentences)
        self.tags = {f: t for s in sentences for f, t in zip(s.forms, s.tags, strict=True)}
        return self

    @classmethod
    def load(cls, directory: Path) -> Self:
        raise NotImplementedError

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tokens]:
        for forms in sentences:
            yield Tokens(tuple(forms), tuple(self.tags.get(form, "X") for form in forms))


def predicting(folds: int) -> TaggerChoice:
    return TaggerChoice(name="spacy", tags="predicted", folds=folds)


def test_blocks_are_whole_and_even() -> None:
    assert blocks(10, 3) == [range(0, 3), range(3, 6), range(6, 10)]
    assert blocks(2, 2) == [range(0, 1), range(1, 2)]
    for n in (2, 7, 100):
        for k in (2, 3, n):
            if k <= n:
                assert [i for block in blocks(n, k) for i in block] == [*range(n)]
    with pytest.raises(ValueError, match="^3 sentences cannot be cut into 4 parts for jackknifing$"):
        blocks(3, 4)
    with pytest.raises(ValueError, match="^9 sentences cannot be cut into 10 parts to hold out a tenth$"):
        tenths(9)


def test_no_tagger_sees_what_it_tags(tmp_path: Path) -> None:
    sentences = [Tokens((f"w{i}", "all"), (f"T{i}", "A")) for i in range(7)]
    Memory.trained.clear()
    lines: list[object] = []
    dev = write_tokens(sentences[:1], tmp_path / "dev.conllu")
    tags = [*jackknife_tags(Memory, sentences, dev, 3, tmp_path, lines.append)]
    assert tags == [("X", "A")] * 7
    assert [len(trained) for trained in Memory.trained] == [5, 5, 4]
    assert Memory.trained[1] == [*sentences[:2], *sentences[4:]]
    assert lines == [f"jackknife: tagger {i} of 3" for i in (1, 2, 3)]


def test_heads_are_those_of_the_treebanks_own_tags(tmp_path: Path) -> None:
    file = tmp_path / "x.mrg"
    file.write_text("(TOP (NP (DT the) (NN cat) (: :)))\n")
    (ctree,) = Retagged(Reading(), "collins", {file: [("NN", "DT", "X")]})(file)
    assert ctree.tokens == Tokens(("the", "cat", ":"), ("NN", "DT", "X"))
    assert ctree.head_children == (1,)
    assert ctree.labels == ("NP",) and ctree.top == "TOP"


def test_a_tagger_and_what_to_train_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train, dev = tmp_path / "train.mrg", tmp_path / "dev.mrg"
    train.write_text("".join(f"(TOP (S (A all) (W w{i})))\n" for i in range(4)))
    with open(train, "a") as stream:
        stream.write("(TOP (S (A all) (W e.g.)))\n" * 2)
    dev.write_text("(TOP (S (A all) (W w3)))\n(TOP (S (B all) (W new)))\n")
    monkeypatch.setattr(TaggerChoice, "make", lambda self: Memory())
    tagger, reading = TaggerChoice(name="spacy").train((train, dev), Reading(), "collins", tmp_path / "m")
    assert [tree.tokens.tags for tree in reading(train)] == [("A", "W")] * 6
    assert isinstance(tagger, Memory) and len(Memory.trained[-1]) == 6
    assert load_abbreviations(tmp_path / "m") == ("e.g.",)
    tagger, reading = predicting(3).train((train, dev), Reading(), "collins", tmp_path / "m")
    assert [tree.tokens.tags for tree in reading(train)] == [("A", "X")] * 6
    assert [tree.tokens.tags for tree in reading(dev)] == [("A", "W"), ("A", "X")]
    assert [*tagger.tag([("w2",)])] == [Tokens(("w2",), ("W",))]
    both = (train, dev)
    tagger, reading = predicting(2).train((both, dev), Reading(), "collins", tmp_path / "m")
    assert [tree.tokens.tags for tree in reading(dev)] == [("A", "W"), ("A", "X")]  # by jackknifing
    with pytest.raises(FormatError, match="train.mrg: 6 sentences cannot be cut into 7 parts"):
        predicting(7).train((train, dev), Reading(), "collins", tmp_path / "m")


def test_names() -> None:
    with pytest.raises(ModelError, match="^unknown tagger 'x'; known are stanza, spacy$"):
        TaggerChoice(name="x").make()
    pytest.importorskip("spacy")
    tagger = TaggerChoice(name="spacy", preset="small", device="cpu").make()
    assert (tagger.settings.preset, tagger.settings.seed) == ("small", 1)  # type: ignore[attr-defined]
