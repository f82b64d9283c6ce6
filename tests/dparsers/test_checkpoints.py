"""Stanza's files that say what they like: refused before a network of their sizes is built."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("stanza")

from d2c.base.errors import ModelError
from d2c.dparsers.settings import StanzaSettings
from d2c.dparsers.stanza.parser import StanzaParser
from tests.dparsers.sentences import treebank, write

SIZES = ("hidden_dim", "deep_biaff_hidden_dim", "word_emb_dim", "tag_emb_dim", "char_hidden_dim")
Checkpoint = dict[str, Any]


def stanza_parser(**options: Any) -> StanzaParser:
    return StanzaParser(StanzaSettings(**options))


def config(**said: object) -> Callable[[Checkpoint], None]:
    return lambda checkpoint: checkpoint["config"].update(said)


def weights(change: Callable[[torch.Tensor], object]) -> Callable[[Checkpoint], None]:
    """Changes the largest weights."""

    def changed(checkpoint: Checkpoint) -> None:
        model = checkpoint["model"]
        name = max(model, key=lambda name: model[name].numel())
        model[name] = change(model[name])

    return changed


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("stanza")
    file = write(directory / "x.conllu", treebank(1, 8))
    arguments = dict.fromkeys(SIZES, 8) | {"num_layers": 1, "transformed_dim": 8, "char_emb_dim": 8}
    parser = stanza_parser(preset="small", epochs=1, device="cpu", arguments=arguments | {"max_steps": 1})
    parser.train(file, file, directory / "model")
    return directory / "model"


@pytest.mark.parametrize(
    "change",
    [
        config(hidden_dim=1 << 40),
        config(word_emb_dim=1 << 31),
        config(num_layers=1 << 31),
        config(num_layers="many"),
        config(batch_size=None),
        weights(lambda tensor: tensor * float("nan")),
        weights(lambda tensor: tensor[:1]),
        weights(lambda tensor: torch.zeros(1).expand(1 << 30, 1 << 10)),
        weights(lambda tensor: "none"),
        lambda checkpoint: checkpoint.pop("config"),
        lambda checkpoint: checkpoint.update(vocab={}),
    ],
)
def test_what_a_checkpoint_says(change: Callable[[Checkpoint], None], trained: Path, tmp_path: Path) -> None:
    checkpoint = torch.load(trained / "parser.pt", weights_only=True)
    change(checkpoint)
    (tmp_path / "dparser.json").write_bytes((trained / "dparser.json").read_bytes())
    torch.save(checkpoint, tmp_path / "parser.pt", _use_new_zipfile_serialization=False)
    with pytest.raises(ModelError) as error:
        StanzaParser.load(tmp_path, device="cpu")
    assert "cannot be loaded" in str(error.value) and "\n" not in str(error.value)


def test_what_may_be_compressed(trained: Path, tmp_path: Path) -> None:
    checkpoint = torch.load(trained / "parser.pt", weights_only=True)
    (tmp_path / "dparser.json").write_bytes((trained / "dparser.json").read_bytes())
    torch.save(checkpoint, tmp_path / "parser.pt")
    with pytest.raises(ModelError, match="is of another format than Stanza's"):
        StanzaParser.load(tmp_path, device="cpu")


def test_nothing_else_is_started(trained: Path, tmp_path: Path) -> None:
    """What Stanza would import, or download, because a checkpoint says so."""
    checkpoint = torch.load(trained / "parser.pt", weights_only=True)
    checkpoint["config"].update(wandb=True, bert_model="no/such", use_peft=True, charlm=True)
    (tmp_path / "dparser.json").write_bytes((trained / "dparser.json").read_bytes())
    torch.save(checkpoint, tmp_path / "parser.pt", _use_new_zipfile_serialization=False)
    assert StanzaParser.load(tmp_path, device="cpu").trainer_ is not None
