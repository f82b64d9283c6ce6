"""Every route and encoding on treebanks of almost nothing: trained, saved, loaded, parsing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from d2c.base.errors import FormatError
from d2c.models.model import Model
from d2c.reduction.encodings import ENCODINGS
from d2c.routes.registry import ROUTES
from d2c.training.spec import TrainingSpec
from d2c.training.train import train_models
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from d2c.trees.formats.reading import Reading

TREEBANKS = (
    "(NN a)\n(VB b)",  # no constituents
    "(S (NN a))\n(NP (VB b))",  # words and unaries only
    "(S (NN a) (VB b))\n(S (NN c) (VB b) (. .))",  # trees of depth one
    "(S (NP (DT a) (NN b)) (VB c))",  # no unaries
)
NEW = DTree(Tokens(("x", "y", "z"), ("NN", "VB", "QQ")), (2, 0, 2))


@pytest.mark.parametrize("text", TREEBANKS)
@pytest.mark.parametrize(
    ("route", "encoding"),
    [*product(ROUTES, ["direct"]), *product(["reduction"], sorted(ENCODINGS.keys() - {"direct"}))],
)
def test_tiny_treebanks(text: str, route: str, encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "trees.mrg"
    file.write_text(text + "\n", encoding="utf-8")
    spec = TrainingSpec.of(file, file, (route,), encoding=encoding, dparser="gold")
    train_models(spec, [tmp_path / "model"])
    model, gold = Model.load(tmp_path / "model"), list(spec.data.reading(file))
    assert list(map(format_bracket, model.parse(ctree.tokens for ctree in gold))) == text.split("\n")
    [ctree] = model.route.decode_all([NEW])
    assert ctree.tokens == NEW.tokens


def test_an_empty_dev_treebank_is_named(tmp_path: Path) -> None:
    (tmp_path / "train.mrg").write_text("(S (NN a))\n", encoding="utf-8")
    (tmp_path / "dev.mrg").write_text("\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"dev.mrg:1: no sentence found in this file$"):
        train_models(TrainingSpec.of(tmp_path / "train.mrg", tmp_path / "dev.mrg"), [tmp_path / "model"])


@pytest.mark.parametrize("tagger", [None, "spacy"])
def test_what_conllu_cannot_hold_is_named(tagger: str | None, tmp_path: Path) -> None:
    file = tmp_path / "trees.mrg"
    file.write_text("(S (A a))\n(S (A b))\n", encoding="utf-8")
    odd = parse_bracket("(S (A a) (A b))")
    odd = replace(odd, tokens=Tokens(("a\tb", "b"), ("A", "A")))

    def reading(path: Path) -> Iterator[CTree]:
        yield from (*Reading()(path), odd)

    spec = TrainingSpec.of(file, file, reading=reading, tagger=tagger, dparser="gold")
    with pytest.raises(FormatError, match="trees.mrg: sentence 3: a form or tag is empty or holds a tab"):
        train_models(spec, [tmp_path / "model"])
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("route", ROUTES)
def test_words_without_tags(route: str, tmp_path: Path) -> None:
    text = (
        '<s id="1"><graph root="500"><terminals><t id="1" word="a" pos=""/></terminals><nonterminals>'
        '<nt id="500" cat="S"><edge label="HD" idref="1"/></nt></nonterminals></graph></s>'
    )
    file = tmp_path / "trees.xml"
    file.write_text(f"<corpus>{text}</corpus>", encoding="utf-8")
    spec = TrainingSpec.of(file, file, (route,), reading=Reading(format_name="tigerxml"), dparser="gold")
    train_models(spec, [tmp_path / "model"])
    [ctree] = Model.load(tmp_path / "model").parse(ctree.tokens for ctree in spec.data.reading(file))
    assert format_bracket(ctree) == "(S (-- a))"
