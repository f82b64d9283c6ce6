"""What is the same in all pipelines that d2c works in."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import spacy
from stanza.models.common.doc import Document
from threadpoolctl import threadpool_info, threadpool_limits

from d2c.base.errors import ModelError
from d2c.models.model import load_route
from d2c.parsing.sentence import Sentence
from d2c.plugins.pipeline_model import PipelineModel
from d2c.plugins.spacy.component import ConstituencyComponent
from d2c.plugins.stanza import D2CProcessor
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.formats.brackets import format_bracket, read_brackets
from tests.conftest import SAMPLE, give_tagger


class _Tagger:
    def tag(self, sentences: Iterable[tuple[str, ...]]) -> Iterator[Tokens]:
        return (Tokens(forms, ("X",) * len(forms)) for forms in sentences)


def _parse(self: PipelineModel, sentences: Iterable[Sentence]) -> list[CTree]:
    """Trees with gaps: the first and the last of three words."""
    tagged = self._model._tagged([sentence.tokens for sentence in sentences])
    return [build_ctree(tokens, ("VP", "S"), ((0, 2), (3, 1)), 4, (0, 3)) for tokens in tagged]


@pytest.fixture
def model(small_model: Path, monkeypatch: pytest.MonkeyPatch) -> PipelineModel:
    give_tagger(monkeypatch, _Tagger())
    monkeypatch.setattr(PipelineModel, "_made", _parse)
    return PipelineModel(small_model)


def test_gaps_are_raised(model: PipelineModel) -> None:
    (ctree,) = model.parse([Sentence(Tokens(("a", "b", "c"), ("A", "B", "C")))])
    assert ctree == build_ctree(ctree.tokens, ("VP", "S"), ((0,), (3, 1, 2)), 4, (0, 3))


def test_only_sentences_with_words_without_tags_are_tagged(model: PipelineModel) -> None:
    sentences = [
        Sentence(Tokens(("a", "b", "c"), tags)) for tags in (("A", "", "C"), ("A", "B", "C"), ("", "", ""))
    ]
    assert [ctree.tokens.tags for ctree in model.parse(sentences)] == [
        ("X", "X", "X"),
        ("A", "B", "C"),
        ("X", "X", "X"),
    ]


def test_nothing_to_parse(small_model: Path, chart_model: Path) -> None:
    assert PipelineModel(small_model).parse([]) == PipelineModel(chart_model, "pipeline").parse([]) == []


def _in_spacy(model: PipelineModel) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    ConstituencyComponent("d2c", model)(nlp("a b c"))


def _in_stanza(model: PipelineModel) -> None:
    processor = object.__new__(D2CProcessor)
    processor._model = model
    processor.process(Document([[{"id": i, "text": word} for i, word in enumerate("abc", 1)]]))


@pytest.mark.parametrize("parse", [_in_spacy, _in_stanza])
def test_one_thread_parses(
    parse: Callable[[PipelineModel], None], model: PipelineModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in `Parser`; afterwards the program has as many as before, after errors, too."""

    def threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info()}

    def look(*_: object) -> Iterator[CTree]:
        yield from ()  # trees are made only when they are asked for
        seen.append(threads())
        raise ModelError("enough seen")

    seen = list[set[int]]()
    with threadpool_limits(3):
        parse(model)
        assert threads() == {3}
        monkeypatch.setattr(PipelineModel, "_made", look)
        with pytest.raises(ModelError, match="enough seen"):
            parse(model)
        assert (seen, threads()) == ([{1}], {3})


def test_models_are_loaded_when_needed(tmp_path: Path) -> None:
    model = PipelineModel(tmp_path / "absent")
    with pytest.raises(ModelError, match="/absent"):
        model.load()


def test_a_pipelines_parse_of_capitals_is_read_in_small_letters(chart_model: Path, tmp_path: Path) -> None:
    """Like the d-trees of the model's own d-parser, if the model was made to read capitals so."""
    directory = tmp_path / "model"
    shutil.copytree(chart_model, directory)
    settings = json.loads((directory / "model.json").read_text())
    (directory / "model.json").write_text(json.dumps(settings | {"small_letters": True}))
    dtrees = [*map(load_route(directory).encode, islice(read_brackets(SAMPLE), 200, 300))]

    def trees(where: Path, write: Callable[[str], str]) -> list[str]:
        sentences = (
            Sentence(tokens, dtree=replace(one, tokens=tokens))
            for one in dtrees
            for tokens in [replace(one.tokens, forms=tuple(map(write, one.tokens.forms)))]
        )
        found = PipelineModel(where, "pipeline").parse([*sentences])
        assert [one.tokens.forms for one in found] == [tuple(map(write, one.tokens.forms)) for one in dtrees]
        return [format_bracket(ctree).lower() for ctree in found]

    small = trees(chart_model, str.lower)
    assert trees(chart_model, str.upper) != small == trees(directory, str.upper)
