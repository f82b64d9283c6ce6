"""Parsers of pipelines: what stands for a spaCy pipeline is real, what stands for Stanza's is not."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("spacy")

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from d2c.base.errors import ModelError
from d2c.dparsers import pipeline_parser
from d2c.dparsers.pipeline_parser import PipelineParser
from d2c.dparsers.settings import PipelineSettings
from d2c.parsing.text import Line, split_sentences
from d2c.protocols.directories import SETTINGS
from d2c.protocols.dparser import DependencyParser
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree

EMPTY = Tokens((), ())
# A no-break space and punctuation are in words, where spaCy's tokenizer would cut.
SENTENCES = [
    Tokens(("Dogs", "(and\u00a0cats)", "don't", "."), ("NNS", "X", "V", ".")),
    EMPTY,
    Tokens(("", "x y"), ("A", "B")),
    Tokens(("Yes",), ("UH",)),
]
LAST_IS_ROOT = [
    DTree(tokens, tuple(0 if i == len(tokens) else len(tokens) for i in range(1, len(tokens) + 1)))
    for tokens in SENTENCES
]


def pipeline_parser_of(pipeline: str) -> PipelineParser:
    return PipelineParser(PipelineSettings(pipeline=pipeline))


@Language.component("last_word_is_root", assigns=["token.head", "token.dep"])
def last_word_is_root(doc: Doc) -> Doc:
    """Finds sentences as given, and in each the last word as head of all others."""
    for sentence in doc.sents:
        for token in sentence:
            token.head = sentence[-1]
            token.dep_ = "ROOT" if token.i == sentence.end - 1 else f"nmod:{token.i}"
    return doc


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    nlp = spacy.blank("en")
    nlp.add_pipe("last_word_is_root", name="parser")
    nlp.to_disk(tmp_path / "pipeline")
    return tmp_path / "pipeline"


def test_spacy(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline_parser, "_WINDOW", 2)
    monkeypatch.chdir(tmp_path)
    parser: DependencyParser = pipeline_parser_of("spacy:pipeline").train(saved, saved, tmp_path / "model")
    assert parser.abilities.foreign
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == [SETTINGS]
    monkeypatch.chdir("/")
    unloaded = PipelineParser.load(tmp_path / "model")
    assert unloaded.abilities.given and not parser.abilities.given
    with pytest.raises(
        ModelError, match="^say which pipeline parses, .* kind: --allow-pipeline spacy:NAME; or"
    ):
        next(unloaded.parse(SENTENCES))
    loaded = PipelineParser.load(tmp_path / "model", f"spacy:{saved}")
    for each in (parser, loaded):
        dtrees = [*each.parse(SENTENCES)]
        assert [dtree.heads for dtree in dtrees] == [dtree.heads for dtree in LAST_IS_ROOT]
        assert all(dtree.tokens is tokens for dtree, tokens in zip(dtrees, SENTENCES, strict=True))
        assert dtrees[0].labels == ("nmod:0", "nmod:1", "nmod:2", "ROOT") and dtrees[1].labels == ()
    assert [*loaded.parse_training(SENTENCES)] == dtrees


class Pipeline:
    """Stands for Stanza's: the first word is the head of all others."""

    given: dict[str, Any] = {}

    def __init__(self, lang: str, **options: Any) -> None:
        if lang == "xx":
            raise ValueError("xx is not known\nmore")
        Pipeline.given, self.cuts = {"lang": lang, **options}, lang == "fr"

    def __call__(self, sentences: list[list[str]]) -> SimpleNamespace:
        found = []
        for forms in sentences:
            cut = [part for form in forms for part in (form.split("~") if self.cuts else [form])]
            words = [
                SimpleNamespace(head=min(i, 1), deprel="dep" if i else "root", xpos=None)
                for i in range(len(cut))
            ]
            found.append(SimpleNamespace(words=words))
        return SimpleNamespace(sentences=found)


def test_stanza(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stanza = pytest.importorskip("stanza")
    monkeypatch.setattr(stanza, "Pipeline", Pipeline)
    pipeline_parser_of("stanza:en").train(tmp_path, tmp_path, tmp_path / "model")
    for other in (None, "stanza:fr", "spacy:en"):
        with pytest.raises(ModelError, match="code of its own; allow it: --allow-pipeline stanza:en$"):
            PipelineParser.load(tmp_path / "model", other)
    loaded = PipelineParser.load(tmp_path / "model", "stanza:en")
    assert Pipeline.given == {
        "lang": "en",
        "processors": "tokenize,pos,lemma,depparse",
        "tokenize_pretokenized": True,
        "verbose": False,
    }
    assert [*loaded.parse(SENTENCES)] == [
        DTree(SENTENCES[0], (0, 1, 1, 1), labels=("root", "dep", "dep", "dep")),
        DTree(EMPTY, (), labels=()),
        DTree(SENTENCES[2], (0, 1), labels=("root", "dep")),
        DTree(SENTENCES[3], (0,), labels=("root",)),
    ]
    assert [*loaded.parse([EMPTY])] == [DTree(EMPTY, (), labels=())]
    cuts = pipeline_parser_of("stanza:fr").train(tmp_path, tmp_path, tmp_path / "other")
    with pytest.raises(ModelError, match="^stanza:fr: finds 2 words in a sentence of 1: d~un$"):
        [*cuts.parse([Tokens(("d~un",), ("X",))])]
    with pytest.raises(ModelError, match="^stanza:xx: cannot be loaded: xx is not known$"):
        pipeline_parser_of("stanza:xx").train(tmp_path, tmp_path, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_what_cannot_be_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match="say which pipeline parses"):
        next(pipeline_parser_of("stanza:en").parse([EMPTY]))
    for wrong in ("spacy", "spacy:", "other:x"):
        with pytest.raises(ModelError, match=f"^the pipeline '{wrong}' is not of the form spacy:NAME or"):
            pipeline_parser_of(wrong).train(tmp_path, tmp_path, tmp_path / "model")
    with pytest.raises(ModelError, match=r"^spacy:no_such: cannot be loaded: \[E050\]"):
        pipeline_parser_of("spacy:no_such").train(tmp_path, tmp_path, tmp_path / "model")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(ModelError, match="blank: has no parser, only a tokenizer$"):
        pipeline_parser_of(f"spacy:{tmp_path / 'blank'}").train(tmp_path, tmp_path, tmp_path / "model")
    monkeypatch.setitem(sys.modules, "stanza", None)
    monkeypatch.delitem(sys.modules, "d2c.dparsers.stanza.pipeline", raising=False)
    with pytest.raises(ModelError, match=r"^stanza:en: needs a package \(.*\): .*install -e '\.\[stanza\]'$"):
        pipeline_parser_of("stanza:en").train(tmp_path, tmp_path, tmp_path / "model")


def test_text_and_tags(saved: Path, tmp_path: Path) -> None:
    parser = pipeline_parser_of(f"spacy:{saved}").train(saved, saved, tmp_path / "model")
    assert parser.abilities.text
    assert parser.rules().words(" It's  so\n") == [("It", 1, 3), ("'s", 3, 5), ("so", 7, 9)]
    with pytest.raises(ModelError, match="pipeline: cannot tag 'a b'; train with --tagger spacy or"):
        next(parser.tag([("a", "b")]))


def test_text_and_tags_by_stanza(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token may be several words."""
    stanza = pytest.importorskip("stanza")
    from stanza.models.common.doc import Document

    def annotate(text: Any) -> Any:
        if isinstance(text, str):
            word = {"id": 3, "text": "va", "start_char": 3, "end_char": 5}
            token = {"id": (1, 2), "text": "Du", "start_char": 0, "end_char": 2}
            return Document([[token, {"id": 1, "text": "De"}, {"id": 2, "text": "le"}, word]], text=text)
        annotated.append([*text])
        words = ({"id": 1, "text": forms[0], "xpos": "X", "head": 0, "deprel": "root"} for forms in text)
        return Document([[word] for word in words])

    def pipeline(language: str, processors: str, **options: Any) -> Any:
        made.append((language, processors))
        return annotate

    made, annotated = list[tuple[str, str]](), list[list[list[str]]]()
    monkeypatch.setattr(stanza, "Pipeline", pipeline)
    parser = pipeline_parser_of("stanza:fr").train(tmp_path, tmp_path, tmp_path / "model")
    assert parser.rules().words("Du va") == [("De", 0, 2), ("le", 0, 2), ("va", 3, 5)]
    assert parser.rules().sentences("Du va") == [(0, 5)]
    assert made == [("fr", "tokenize,pos,lemma,depparse"), ("fr", "tokenize")]
    assert [line.text for line in split_sentences([Line(1, 0, "Du va")], parser.rules())] == ["Du va"]
    assert [*parser.tag([("a",), (), ("b",)])] == [
        Tokens(("a",), ("X",)),
        EMPTY,
        Tokens(("b",), ("X",)),
    ]
    given = [Tokens(("a",), ("X",)), EMPTY, Tokens(("b",), ("X",))]
    assert [dtree.heads for dtree in parser.parse(given)] == [(0,), (), (0,)]
    assert annotated == [[["a"], ["b"]]]  # once, for tags and for arcs
    assert [dtree.heads for dtree in parser.parse(given[:1])] == [(0,)] and annotated[1:] == [[["a"]]]


def test_text_is_annotated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By spaCy: for tags and for arcs, in each window."""

    @Language.component("tags_of_words")
    def tags_of_words(doc: Doc) -> Doc:
        seen.append([token.text for token in doc])
        for token in doc:
            token.tag_ = token.text.upper()
        return last_word_is_root(doc)

    monkeypatch.setattr(pipeline_parser, "_WINDOW", 2)
    seen, nlp = list[list[str]](), spacy.blank("en")
    nlp.add_pipe("tags_of_words", name="parser")
    nlp.to_disk(tmp_path / "pipeline")
    parser = pipeline_parser_of(f"spacy:{tmp_path / 'pipeline'}").train(
        tmp_path, tmp_path, tmp_path / "model"
    )
    for words in ([("a", "b"), ("c",)], [(), ("d",)], [("a", "b"), ("c",)]):
        tagged = [*parser.tag(words)]
        assert [one.tags for one in tagged] == [tuple(map(str.upper, forms)) for forms in words]
        assert [dtree.tokens for dtree in parser.parse(tagged)] == tagged
    assert seen == [["a", "b"], ["c"], ["d"], ["a", "b"], ["c"]]
