"""Stanza's graph parser that finds tags, too, on a tiny encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("stanza")

from d2c.dparsers.graph.directory import NETWORK_WEIGHTS
from d2c.dparsers.graph.inputs import shape
from d2c.dparsers.settings import StanzaSettings
from d2c.dparsers.stanza.parser import StanzaParser
from d2c.protocols.dparser import Evaluation
from d2c.trees.ctree import Tokens
from d2c.trees.formats.conllu import read_conllu
from tests.dparsers.encoders import tiny_encoder
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
    own = stanza_parser(model_type="joint", transformer=str(encoder), epochs=8, device="cpu", arguments=TINY)
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
    assert (tmp_path / "joint" / NETWORK_WEIGHTS).stat().st_size < 80_000  # numbers of two bytes


@pytest.mark.parametrize(
    ("form", "is_of"),
    [
        ("cat", "x"), ("Cat", "Xx"), ("I", "X"), ("A.", "X"), ("USA", "XX"), ("iPhone", "xX"), ("1.2", "0"),
        ("x2", "x0"), ("B12", "X0"), ("...", "."), ("", "."),
    ],
)  # fmt: skip
def test_shapes(form: str, is_of: str) -> None:
    assert shape(form) == is_of
