"""What is the same in all pipelines that d2c works in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from d2c.base.errors import ModelError
from d2c.models.model import Model
from d2c.plugins.pipeline_model import PipelineModel, PipelineSentence
from d2c.trees.ctree import CTree, Tokens, build_ctree
from tests.d2c.conftest import give_tagger


class _Tagger:
    def tag(self, sentences: Iterable[tuple[str, ...]]) -> Iterator[Tokens]:
        return (Tokens(forms, ("X",) * len(forms)) for forms in sentences)


def _parse(self: Model, sentences: Iterable[Tokens]) -> list[CTree]:
    """Trees with gaps: the first and the last of three words."""
    tagged = self._tagged([*sentences])
    return [build_ctree(tokens, ("VP", "S"), ((0, 2), (3, 1)), 4, (0, 3)) for tokens in tagged]


@pytest.fixture
def model(small_model: Path, monkeypatch: pytest.MonkeyPatch) -> PipelineModel:
    give_tagger(monkeypatch, _Tagger())
    monkeypatch.setattr(Model, "parse", _parse)
    return PipelineModel(small_model)


def test_gaps_are_raised(model: PipelineModel) -> None:
    (ctree,) = model.parse([PipelineSentence(("a", "b", "c"), ("A", "B", "C"))])
    assert ctree == build_ctree(ctree.tokens, ("VP", "S"), ((0,), (3, 1, 2)), 4, (0, 3))


def test_only_sentences_with_words_without_tags_are_tagged(model: PipelineModel) -> None:
    sentences = [
        PipelineSentence(("a", "b", "c"), tags) for tags in (("A", "", "C"), ("A", "B", "C"), ("", "", ""))
    ]
    assert [ctree.tokens.tags for ctree in model.parse(sentences)] == [
        ("X", "X", "X"),
        ("A", "B", "C"),
        ("X", "X", "X"),
    ]


def test_nothing_to_parse(small_model: Path, chart_model: Path) -> None:
    assert PipelineModel(small_model).parse([]) == PipelineModel(chart_model, "pipeline").parse([]) == []


def test_models_are_loaded_when_needed(tmp_path: Path) -> None:
    model = PipelineModel(tmp_path / "absent")
    with pytest.raises(ModelError, match="/absent"):
        model.load()
