"""Sentences in capitals: which are read in small letters, and that trees have the words as given."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import d2c
from d2c.commands.cli import cli
from d2c.models.model import Model, read_model_settings
from d2c.models.names import find
from d2c.models.spelling import as_in_treebanks, small, spelled
from d2c.parsing.options import ParseOptions
from d2c.parsing.sentence import Sentence
from d2c.parsing.stream import Batch, parse_batches
from d2c.protocols.abilities import DParserAbilities, RouteAbilities
from d2c.trees.constraints import SpanConstraints
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.repair import Repairs

LOUD = ("THE", "CAT", "SAW", "É", "2", "!")
QUIET = ("the", "cat", "saw", "é", "2", "!")


@dataclass(frozen=True, kw_only=True)
class AnyAbilities(RouteAbilities, DParserAbilities):
    """Those of a fake that is route and d-parser."""


@pytest.mark.parametrize(
    "forms, read",
    [
        (LOUD, QUIET),
        (("(", "620", "KB", "EPS", ")"), ("(", "620", "KB", "EPS", ")")),
        (("THE", "CAT", "SAW", "mRNA"), ("THE", "CAT", "SAW", "mRNA")),
        (("THE", "CAT", "ẞ"), ("the", "cat", "ß")),
        (("1", "+", "2"), ("1", "+", "2")),
        (("字", "字", "字"), ("字", "字", "字")),
        ((), ()),
    ],
)
def test_which_sentences_are_read_in_small_letters(forms: tuple[str, ...], read: tuple[str, ...]) -> None:
    assert small(forms) == read


@pytest.mark.parametrize(
    "given, read",
    [
        ('" No , " he said , " no . "', "`` No , '' he said , `` no . ''"),
        ('he left . "', "he left . ''"),
        ("“ She wo n’t … ”", "`` She wo n't ... ''"),
        ("It costs £ 5 .", "It costs $ 5 ."),
        ("‘ IT IS ” OVER", "` it is '' over"),
        ("`` as they are ''", "`` as they are ''"),
        ("5 ' 3 '' x\"y", "5 ' 3 '' x\"y"),
        ("„ a “ ， “ b ” （ « c » ） „ d ”", "`` a '' , `` b '' ( `` c '' ) `` d ''"),
        ("-LRB- a -LSB- b -RSB- -LCB- c -RCB- -RRB-", "( a [ b ] { c } )"),
    ],
)
def test_marks_are_read_as_in_treebanks(given: str, read: str) -> None:
    assert as_in_treebanks(tuple(given.split())) == tuple(read.split())


def test_a_tree_in_other_letters() -> None:
    ctree = parse_bracket("(TOP (S (DT the) (NN cat)))")
    assert spelled(ctree, ("THE", "CAT")) == parse_bracket("(TOP (S (DT THE) (NN CAT)))")
    assert spelled(ctree, ("the", "cat")) is ctree
    dtree = DTree(ctree.tokens, (2, 0), labels=("NP", "root"))
    assert spelled(dtree, ("THE", "CAT")) == replace(dtree, tokens=Tokens(("THE", "CAT"), ("DT", "NN")))


class Listener:
    """A tagger, d-parser and route that write down which words each of them sees."""

    abilities = AnyAbilities(confidences=True)

    def __init__(self) -> None:
        self.seen = list[tuple[str, tuple[str, ...]]]()

    def tag(self, sentences: Iterable[tuple[str, ...]]) -> Iterator[Tokens]:
        for forms in sentences:
            self.seen.append(("tagger", forms))
            yield Tokens(forms, ("X",) * len(forms))

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        for tokens in sentences:
            self.seen.append(("d-parser", tokens.forms))
            yield DTree(tokens, (0, *[1] * (len(tokens) - 1)))

    def decode_all(self, dtrees: Iterable[DTree], repairs: Repairs | None = None) -> Iterator[CTree]:
        return (ctree for ctree, _ in self.confidences_all(dtrees))

    def confidences_all(
        self, dtrees: Iterable[DTree], repairs: Repairs | None = None
    ) -> Iterator[tuple[CTree, tuple[float, ...]]]:
        for dtree in dtrees:
            self.seen.append(("route", dtree.tokens.forms))
            yield CTree(dtree.tokens, ("S",), (tuple(range(len(dtree.heads))),), (0,), "TOP"), (0.5,)

    def within(
        self, dtree: DTree, wanted: SpanConstraints, repairs: Repairs
    ) -> tuple[CTree, tuple[float, ...]]:
        return next(self.confidences_all([dtree]))

    def decode_k_best(
        self, dtree: DTree, k: int, wanted: SpanConstraints | None
    ) -> list[tuple[float, CTree]]:
        return [(0.0, next(self.decode_all([dtree])))] * k


def listening(**known: Any) -> tuple[Model, Listener]:
    one: Any = Listener()
    return Model("own", one, "own", one, "own", one, **known), one


def test_all_parts_of_a_model_read_them() -> None:
    model, listener = listening(tags="predicted", small_letters=True)
    given = [Tokens(LOUD, ("",) * 6), Tokens(("They", "slept"), ("", ""))]
    ctrees = [*model.parse(given)]
    assert {*listener.seen} == {
        (part, forms) for part in ("tagger", "d-parser", "route") for forms in (QUIET, ("They", "slept"))
    }
    assert [ctree.tokens.forms for ctree in ctrees] == [LOUD, ("They", "slept")]
    assert [dtree.tokens.forms for dtree in model.parse_dependencies(given)] == [LOUD, ("They", "slept")]
    model, listener = listening(tags="predicted")
    assert [ctree.tokens.forms for ctree in model.parse(given[:1])] == [LOUD]
    assert {forms for _, forms in listener.seen} == {LOUD}


@pytest.mark.parametrize("small_letters", [True, False])
def test_escaped_brackets_are_read_as_brackets_and_kept(small_letters: bool) -> None:
    model, listener = listening(tags="predicted", small_letters=small_letters)
    escaped = ("They", "-LRB-", "slept", "-RRB-")
    [ctree] = model.parse([Tokens(escaped, ("",) * 4)])
    assert {forms for _, forms in listener.seen} == {("They", "(", "slept", ")")}
    assert ctree.tokens.forms == escaped


def test_given_tags_stay() -> None:
    model, listener = listening(small_letters=True)
    tags = ("DT", "NN", "VBD", "NN", "CD", ".")
    [dtree] = model.parse_dependencies([Tokens(LOUD, tags)])
    assert dtree.tokens == Tokens(LOUD, tags) and listener.seen == [("d-parser", QUIET)]


def test_batches_have_the_words_as_given() -> None:
    model, listener = listening(small_letters=True)
    tokens = Tokens(LOUD, ("",) * 6)
    wanted = SpanConstraints.of([(0, 6)], None, 6)
    batch = Batch([Sentence(tokens), Sentence(tokens, wanted=wanted)])
    options = ParseOptions(confidences=True, best=2)
    [parsed] = parse_batches(lambda: [model], options, [batch], lambda one: one)
    assert {forms for _, forms in listener.seen} == {QUIET}
    for sentence in parsed.sentences:
        assert sentence.dtree and sentence.ctree
        trees = [sentence.dtree, sentence.ctree, *(one for one, _ in sentence.alternatives)]
        assert [tree.tokens for tree in trees] == [Tokens(LOUD, ("X",) * 6)] * 4


def test_it_is_kept_with_the_model(chart_model: Path, tmp_path: Path) -> None:
    model = Model.load(chart_model)
    assert not model.small_letters and "small_letters" not in (chart_model / "model.json").read_text()
    model.small_letters = True
    model.save(tmp_path / "model", chart_model)
    assert Model.load(tmp_path / "model").small_letters
    assert json.loads((tmp_path / "model" / "model.json").read_text())["small_letters"] is True


def test_english_words_with_other_marks_have_the_trees_of_text() -> None:
    parser = d2c.load("en")
    [text] = parser('"I like it," she said.')
    for words in ('" I like it , " she said .', "“ I like it , ” she said ."):
        [given] = parser.parse_tokens([words.split()])
        assert given.tree.tags == text.tree.tags and given.tree.words == tuple(words.split())
        spans = [[(s.label, s.start, s.end) for s in one.tree.spans()] for one in (given, text)]
        assert spans[0] == spans[1]


def test_english_in_capitals_has_the_trees_of_small_letters() -> None:
    assert read_model_settings(find("en")).small_letters
    texts = "THE OLD CAT SAW THEM .", "the old cat saw them ."
    for jobs in ("1", "2"):
        loud, quiet = (
            CliRunner().invoke(cli, ["parse", "en", "--tokenized", "--jobs", jobs], input=text).stdout
            for text in texts
        )
        tree = "(TOP (S (NP (DT the) (JJ old) (NN cat)) (VP (VBD saw) (NP (PRP them))) (. .)))\n"
        assert quiet == tree
        assert loud == "(TOP (S (NP (DT THE) (JJ OLD) (NN CAT)) (VP (VBD SAW) (NP (PRP THEM))) (. .)))\n"
