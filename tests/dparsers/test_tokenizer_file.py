"""Tokenizers of encoders are made of known components, or refused before the library reads them."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("transformers")
from d2c.base.errors import ModelError
from d2c.base.model_files import read_as
from d2c.dparsers.graph.tokenizer_file import TokenizerFile
from d2c.dparsers.stanza.encoder import load_encoder, read_encoder, save_encoder
from tests.dparsers.encoders import tiny_encoder


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    """An encoder as a model has it."""
    save_encoder(*load_encoder(tiny_encoder(tmp_path / "made")), tmp_path / "kept")
    return tmp_path / "kept"


def rules_for_letters(rules: bytes) -> dict[str, str]:
    return {"type": "Precompiled", "precompiled_charsmap": b64encode(rules).decode()}


def normalizer(kind: str, **said: Any) -> dict[str, Any]:
    return {"normalizer": {"type": kind, **said}}


@pytest.mark.parametrize(
    ("said", "says"),
    [
        (normalizer("Prepend", prepend="x"), r'normalizer.type is "Prepend": '),
        (normalizer("Replace", pattern={"String": "a"}, content='"'), "value 'a'"),
        (normalizer("Replace", pattern={"Regex": " {2,}"}, content="xx"), 'normalizer.content is "xx": '),
        (normalizer("Sequence", normalizers=[rules_for_letters(bytes(4) + b"x" * 65)]), "a long text"),
        (normalizer("Sequence", normalizers=[{"type": "NFKD"}] * 11), "of length <= 10"),
        (normalizer(**{"kind": "Precompiled", "precompiled_charsmap": "AAAA"}), "no rules for letters"),
        ({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "x"}}}, 'pre_tokenizer.type is "Split": '),
        ({"added_tokens": [{"id": 0, "content": "x"}] * 1_001}, "of length <= 1000"),
        ({"added_tokens": [{"id": 0, "content": "x" * 65}]}, "of length <= 64"),
        ({"model": {"type": "WordPiece", "max_input_chars_per_word": 101}}, "<= 100"),
    ],
)
def test_other_tokenizers_are_refused(said: dict[str, Any], says: str, encoder: Path) -> None:
    path = encoder / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | said))
    with pytest.raises(ModelError, match=says):
        read_encoder(encoder)


def test_a_mark_beyond_the_vectors_is_found_in_a_trial(encoder: Path) -> None:
    path = encoder / "tokenizer.json"
    said = json.loads(path.read_text())
    for mark in said["post_processor"]["special_tokens"].values():
        mark["ids"] = [1 << 20]
    path.write_text(json.dumps(said))
    with pytest.raises(ModelError, match="has more pieces than it has vectors"):
        read_encoder(encoder)


def test_a_mark_that_is_no_special_token_is_refused(encoder: Path) -> None:
    path = encoder / "tokenizer.json"
    said = json.loads(path.read_text())
    for unknown, says in (("x", "none of the special tokens"), (0, "post_processor"), ([], "post_processor")):
        (*_, last) = [item for item in said["post_processor"]["single"] if "SpecialToken" in item]
        last["SpecialToken"]["id"] = unknown
        path.write_text(json.dumps(said))
        with pytest.raises(ModelError, match=says):
            read_encoder(encoder)


def test_files_of_other_sizes_are_refused(encoder: Path) -> None:
    (encoder / "tokenizer_config.json").write_text(" " * 65_537)
    with pytest.raises(ModelError, match="more than the 65,536"):
        read_encoder(encoder)
    (encoder / "model.safetensors").write_bytes((1 << 21).to_bytes(8, "little") + b" " * (1 << 21))
    with pytest.raises(ModelError, match="has more than 1,048,576 bytes of names"):
        read_encoder(encoder)


@pytest.mark.parametrize("name", ["Bert", "Roberta", "XLMRoberta", "Camembert", "Albert", "MPNet"])
def test_tokenizers_of_every_kind_are_read(name: str, tmp_path: Path) -> None:
    """ELECTRA and DistilBERT have BERT's."""
    import transformers

    marks = [
        "<s>",
        "</s>",
        "<pad>",
        "<unk>",
        "<mask>",
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        "a",
        "b",
    ]
    pieces: Any = {mark: number for number, mark in enumerate(marks)}
    if name in ("XLMRoberta", "Camembert", "Albert"):
        pieces = [(mark, -1.0) for mark in marks]
    made = getattr(transformers, f"{name}Tokenizer")(vocab=pieces, add_prefix_space=True)
    made.save_pretrained(tmp_path)
    read_as(tmp_path / "tokenizer.json", None, TokenizerFile)
