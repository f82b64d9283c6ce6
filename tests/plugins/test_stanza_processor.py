"""d2c in Stanza's pipelines, with a real small model; no model of Stanza's is needed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import stanza
from stanza.models.common.doc import Document
from stanza.models.constituency.parse_tree import Tree
from stanza.pipeline.core import Pipeline, PipelineRequirementsException

import d2c.plugins.stanza  # noqa: F401 (registers the processor)
from d2c.base.errors import ModelError
from d2c.models.model import Model, load_route
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket, read_brackets
from d2c.trees.objects import from_stanza
from tests.conftest import SAMPLE, give_tagger

GOLD = [*islice(read_brackets(SAMPLE), 3)]
SENTENCES = [ctree.tokens for ctree in GOLD]
WORDS = [list(tokens.forms) for tokens in SENTENCES]


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a pipeline reads before all else: a list of models, of which words cut already need none."""
    directory = tmp_path_factory.mktemp("resources")
    packages = {"en": {"packages": {"default": {"tokenize": "none"}}, "tokenize": {"none": {}}}}
    (directory / "resources.json").write_text(json.dumps(packages))
    return directory


def pipeline(resources: Path, **options: Any) -> Pipeline:
    return Pipeline(
        "en",
        dir=str(resources),
        processors="tokenize,d2c",
        tokenize_pretokenized=True,
        download_method=None,
        verbose=False,
        **options,
    )


def tagged(sentences: list[Tokens], dtrees: list[DTree] | None = None) -> Document:
    """A document with tags, and with heads and labels where there are d-trees."""
    words = [
        [
            {"id": i, "text": form, "xpos": tag}
            for i, (form, tag) in enumerate(zip(tokens.forms, tokens.tags, strict=True), 1)
        ]
        for tokens in sentences
    ]
    for entries, dtree in zip(words, dtrees or (), strict=False):
        assert dtree.labels is not None
        for entry, head, label in zip(entries, dtree.heads, dtree.labels, strict=True):
            entry |= {"head": head, "deprel": label}
    return Document(words)


def brackets(ctrees: Any) -> list[str]:
    return [format_bracket(ctree) for ctree in ctrees]


def test_tagged_documents(resources: Path, small_model: Path) -> None:
    nlp = pipeline(resources, d2c_model=str(small_model), pretagged=True)
    doc = nlp(tagged(SENTENCES), processors="d2c")
    assert all(isinstance(sentence.constituency, Tree) for sentence in doc.sentences)
    expected = brackets(Model.load(small_model).parse(SENTENCES))
    assert [str(sentence.constituency) for sentence in doc.sentences] == expected
    assert brackets(from_stanza(sentence.constituency) for sentence in doc.sentences) == expected
    copied = Document.from_serialized(doc.to_serialized())
    assert [str(sentence.constituency) for sentence in copied.sentences] == expected
    assert f"# constituency = {expected[0]}" in f"{doc:C}"


def test_several_documents(resources: Path, small_model: Path) -> None:
    nlp = pipeline(resources, d2c_model=str(small_model), pretagged=True)
    docs = nlp.process([tagged(SENTENCES[:2]), Document([]), tagged(SENTENCES[2:])], processors="d2c")
    parsed = [str(sentence.constituency) for doc in docs for sentence in doc.sentences]
    assert [len(doc.sentences) for doc in docs] == [2, 0, 1]
    assert parsed == brackets(Model.load(small_model).parse(SENTENCES))


def test_conllu(resources: Path, small_model: Path) -> None:
    nlp = pipeline(resources, d2c_model=str(small_model), pretagged=True)
    lines = ["1-2 thedog _ _ _ _ _ _ _ _", "1 the _ _ DT _ 0 root _ _", "2 dog _ _ NN _ 1 x _ _"]
    text = "".join("\t".join(line.split(" ")) + "\n" for line in lines) + "\n"
    (sentence,) = nlp.process_conllu(text).sentences
    assert [token.text for token in sentence.tokens] == ["thedog"]
    assert sentence.constituency.leaf_labels() == ["the", "dog"]  # words, not tokens


def test_a_models_tagger_gives_the_tags(
    resources: Path, small_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_tagger(monkeypatch, _Tagger(*SENTENCES))
    nlp = pipeline(resources, d2c_model=str(small_model))
    doc = nlp(WORDS)
    assert [[word.xpos for word in sentence.words] for sentence in doc.sentences] == [
        list(tokens.tags) for tokens in SENTENCES
    ]
    assert [str(sentence.constituency) for sentence in doc.sentences] == brackets(
        Model.load(small_model).parse(SENTENCES)
    )


class _Tagger:
    """Knows the tags of some sentences."""

    def __init__(self, *known: Tokens) -> None:
        self.known = {tokens.forms: tokens for tokens in known}

    def tag(self, sentences: Iterable[tuple[str, ...]]) -> list[Tokens]:
        return [self.known[forms] for forms in sentences]


def test_the_pipelines_own_parse(resources: Path, chart_model: Path) -> None:
    route = load_route(chart_model)
    dtrees = [route.encode(ctree) for ctree in GOLD]
    nlp = pipeline(resources, d2c_model=str(chart_model), d2c_dparser="pipeline", pretagged=True)
    doc = nlp(tagged(SENTENCES, dtrees), processors="d2c")
    assert [str(sentence.constituency) for sentence in doc.sentences] == brackets(route.decode_all(dtrees))
    with pytest.raises(ModelError, match="no dependency parse"):
        nlp(tagged(SENTENCES), processors="d2c")


def test_the_example_of_the_documents(
    resources: Path,
    small_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With a tagger in the model instead of Stanza's."""
    page = (Path(__file__).parents[2] / "docs" / "pipelines.md").read_text(encoding="utf-8")
    example = page[page.index("import stanza\n") :].partition("```")[0]

    def offline(lang: str, processors: str, d2c_model: str) -> Pipeline:
        assert (lang, processors) == ("en", "tokenize,pos,lemma,d2c")
        return pipeline(resources, d2c_model=d2c_model)

    tokens = Tokens(
        ("They", "saw", "the", "cat", "with", "glasses."), ("PRP", "VBD", "DT", "NN", "IN", "NNS")
    )
    give_tagger(monkeypatch, _Tagger(tokens))
    monkeypatch.setattr(stanza, "Pipeline", offline)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "MODEL").symlink_to(small_model)
    exec(example, {})
    assert capsys.readouterr().out.splitlines() == brackets(Model.load(small_model).parse([tokens]))


def test_what_must_come_before(resources: Path, small_model: Path, chart_model: Path) -> None:
    with pytest.raises(PipelineRequirementsException, match="missing: {'pos'}"):
        pipeline(resources, d2c_model=str(small_model))
    with pytest.raises(PipelineRequirementsException, match="depparse"):
        pipeline(resources, d2c_model=str(chart_model), d2c_dparser="pipeline")
    nlp = pipeline(resources, d2c_model=str(small_model), pretagged=True)
    with pytest.raises(ModelError, match="some words have no tags"):
        nlp(WORDS)


def test_bad_options(resources: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="/absent"):
        pipeline(resources, d2c_model=str(tmp_path / "absent"))
