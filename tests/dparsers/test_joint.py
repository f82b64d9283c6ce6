"""Stanza's graph parser that finds tags, too, on a tiny encoder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("stanza")

from d2c.dparsers.settings import StanzaSettings
from d2c.dparsers.stanza.graph import shape
from d2c.dparsers.stanza.parser import StanzaParser
from d2c.protocols.dparser import Evaluation
from d2c.protocols.training import attachment
from d2c.trees.ctree import Tokens
from d2c.trees.formats.conllu import read_conllu
from tests.dparsers.encoders import language_models, tiny_encoder
from tests.dparsers.sentences import treebank, write

TINY = {"hidden_dim": 16, "deep_biaff_hidden_dim": 8, "word_emb_dim": 8, "tag_emb_dim": 8, "batch_size": 60}
TINY |= {"lr": 0.02, "dropout": 0.1}


def stanza_parser(**options: Any) -> StanzaParser:
    return StanzaParser(StanzaSettings(**options))


def test_it_finds_arcs_and_tags(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="needs the extra transformers")
    files = write(tmp_path / "train.conllu", treebank(1, 24)), write(tmp_path / "dev.conllu", treebank(2, 6))
    reports: list[Evaluation] = []
    encoder = tiny_encoder(tmp_path / "tiny")
    own = stanza_parser(
        model_type="joint", transformer=str(encoder), epochs=8, device="cpu", threads=1, arguments=TINY
    )
    joint = own.train(*files, tmp_path / "joint", reports.append)
    assert joint.abilities.tags and joint.abilities.packed_arcs and reports[-1].loss < reports[0].loss
    dev = [*read_conllu(files[1])]
    untagged = [Tokens.untagged(dtree.tokens.forms) for dtree in dev]
    found = [*joint.parse([*untagged, Tokens((), ())])]
    assert [dtree.tokens.forms for dtree in found] == [*(one.forms for one in untagged), ()]
    known = {tag for dtree in read_conllu(files[0]) for tag in dtree.tokens.tags}
    assert {tag for dtree in found for tag in dtree.tokens.tags} <= known
    pairs = [
        (a, b)
        for x, y in zip(dev, found, strict=False)
        for a, b in zip(x.tokens.tags, y.tokens.tags, strict=True)
    ]
    assert sum(a == b for a, b in pairs) > 0.5 * len(pairs)
    tagged = [dtree.tokens for dtree in found]
    assert [*joint.tag(one.forms for one in [*untagged, Tokens((), ())])] == tagged
    assert [dtree.tokens for dtree in joint.parse_packed(untagged)] == tagged[:-1]
    loaded = StanzaParser.load(tmp_path / "joint", "cpu")
    assert [(dtree.tokens, dtree.heads, dtree.labels) for dtree in loaded.parse(untagged)] == [
        (dtree.tokens, dtree.heads, dtree.labels) for dtree in found[:-1]
    ]
    assert (tmp_path / "joint" / "parser.pt").stat().st_size < 80_000  # numbers of two bytes


@pytest.mark.parametrize(
    ("form", "is_of"),
    [
        ("cat", "x"), ("Cat", "Xx"), ("I", "X"), ("A.", "X"), ("USA", "XX"), ("iPhone", "xX"), ("1.2", "0"),
        ("x2", "x0"), ("B12", "X0"), ("...", "."), ("", "."),
    ],
)  # fmt: skip
def test_shapes(form: str, is_of: str) -> None:
    assert shape(form) == is_of


def test_it_goes_on_from_what_it_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers", reason="needs the extra transformers")
    first, more, dev = treebank(1, 12), treebank(3, 24), treebank(2, 6)
    files = write(tmp_path / "train.conllu", first), write(tmp_path / "dev.conllu", dev)
    encoder = tiny_encoder(tmp_path / "tiny")
    own = stanza_parser(
        model_type="joint", transformer=str(encoder), epochs=2, device="cpu", threads=1, arguments=TINY
    )
    with monkeypatch.context() as of_before:
        of_before.setattr("d2c.dparsers.stanza.parser.OF_GRAPHS", {})
        of_before.setattr("d2c.dparsers.stanza.parser.SMOOTHING", {})
        of_before.setattr("d2c.dparsers.stanza.tasks.on_gpu", lambda arguments: True)  # has other batches
        own.train(*files, tmp_path / "joint")
    begun = StanzaParser.load(tmp_path / "joint", "cpu")
    assert {name: begun.trainer_.args[name] for name in TINY} == TINY
    known, before = begun.tags_, begun.trainer_.model.bert_model.state_dict()
    before = {name: tensor.clone() for name, tensor in before.items()}
    new = replace(more[0], tokens=Tokens(more[0].tokens.forms, ("NEW",) * len(more[0].tokens)))
    arcs = next(begun.parse_packed([dev[0].tokens])).arcs
    assert arcs is not None and arcs.yields is None
    begun.settings, reports = replace(begun.settings, epochs=12), list[Evaluation]()
    begun.go_on([*first, *more, new], dev, tmp_path / "more", 0.02, reports.append)
    assert begun.tags_ == known and reports[-1].scores["LAS"] > reports[0].scores["LAS"]
    after = StanzaParser.load(tmp_path / "more", "cpu")
    weights = after.trainer_.model.bert_model.state_dict()
    assert any((weights[name] != before[name]).any() for name in before)
    found, again = ([*one.parse(dtree.tokens for dtree in dev)] for one in (begun, after))
    assert [(one.heads, one.labels) for one in found] == [(one.heads, one.labels) for one in again]
    assert attachment(dev, again)["LAS"] > 0.5
    arcs = next(after.parse_packed([dev[0].tokens])).arcs
    assert arcs is not None and arcs.yields is not None and len(arcs.yields) == 2 * len(dev[0].heads) ** 2


def test_vectors_and_language_models_go_on_with_it(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="needs the extra transformers")
    first, dev, encoder = treebank(1, 12), treebank(2, 6), tiny_encoder(tmp_path / "tiny")
    files = write(tmp_path / "train.conllu", first), write(tmp_path / "dev.conllu", dev)
    text, pair = tmp_path / "vectors.txt", language_models(tmp_path)
    text.write_text("the 1 0 0\ncat 0 1 0\ndog 0 0 1\n")
    own: dict[str, Any] = {
        "transformer": str(encoder),
        "epochs": 1,
        "device": "cpu",
        "threads": 1,
        "arguments": TINY,
    }
    stanza_parser(model_type="graph", vectors=text, charlm=pair, **own).train(*files, tmp_path / "model")
    begun = StanzaParser.load(tmp_path / "model", "cpu")
    begun.settings = replace(begun.settings, epochs=1)
    begun.go_on(first, dev, tmp_path / "more", 0.02, None)
    names = ({path.name for path in (tmp_path / name).iterdir()} for name in ("model", "more"))
    assert next(names) == next(names)
    after = StanzaParser.load(tmp_path / "more", "cpu")
    found, again = ([*one.parse(dtree.tokens for dtree in dev)] for one in (begun, after))
    assert [(one.heads, one.labels) for one in found] == [(one.heads, one.labels) for one in again]
