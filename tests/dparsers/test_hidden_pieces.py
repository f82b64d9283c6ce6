"""Pieces that are hidden from an encoder in training, and weights that are rounded once."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

pytest.importorskip("stanza")
pytest.importorskip("transformers", reason="needs the extra transformers")

from d2c.dparsers.stanza import networks
from d2c.dparsers.stanza.encoder import Encoder, States, load_encoder, read_encoder, save_encoder
from tests.dparsers.encoders import WINDOW, tiny_encoder


def test_weights_are_rounded_once_for_all_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, ones = torch.nn.Linear(1, 1, bias=False), torch.ones(1, 1)
    layer.weight.data[:] = 2.0

    @torch.no_grad()
    def of_batch() -> float:
        with torch.autocast("cpu", torch.bfloat16):
            return float(layer(ones))

    def predict_dataset(*_: object) -> list[object]:
        found.append(of_batch())
        layer.weight.data[:] = 3.0
        found.append(of_batch())
        return []

    found, arguments = list[float](), {"batch_size": 1, "deep_biaff_hidden_dim": 1, "char": True}
    network = SimpleNamespace(get_device=lambda: torch.device("cpu"))
    monkeypatch.setattr(networks, "DataLoader", lambda *_, **__: None)
    monkeypatch.setattr(networks, "predict_dataset", predict_dataset)
    trainer: Any = SimpleNamespace(args=arguments, vocab={"deprel": "a"}, model=network)
    assert networks.predict(trainer, None, []) == []
    assert [*found, of_batch()] == [2.0, 2.0, 3.0]


class Seen(torch.nn.Module):
    """A transformer that returns the pieces that it sees."""

    config = SimpleNamespace(model_type="bert")

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def set_attn_implementation(self, name: str) -> None: ...

    def forward(self, ids: torch.Tensor, attention_mask: torch.Tensor, **_: object) -> States:
        return States((ids,))


def test_pieces_are_hidden_in_training() -> None:
    pad, begin, end, mask = range(4)
    ids = torch.randint(4, 9, (50, 31))
    ids[:, 0], ids[:, 30], ids[25:, 20], ids[25:, 21:] = begin, end, end, pad
    network = Encoder(Seen(), WINDOW, mask, [pad, begin, end, mask])

    def seen(train: bool) -> torch.Tensor:
        pieces = network.train(train)(ids, (ids != pad).long()).hidden_states[0].long()
        return pieces.masked_fill(ids == pad, pad)

    assert torch.equal(seen(train=False), ids)
    torch.manual_seed(1)
    found = seen(train=True)
    hidden = found == mask
    assert torch.equal(found, ids.masked_fill(hidden, mask)) and not hidden[ids < mask].any()
    assert 0.12 < hidden[ids > mask].float().mean() < 0.18
    assert not torch.equal(seen(train=True), found)
    torch.manual_seed(1)
    assert torch.equal(seen(train=True), found)
    network.mask = None
    assert torch.equal(seen(train=True), ids)


def test_a_saved_encoder_knows_what_hides_a_piece(tmp_path: Path) -> None:
    network, tokenizer = load_encoder(tiny_encoder(tmp_path / "tiny"))
    assert network.mask is None
    tokenizer.mask_token = "."
    save_encoder(network, tokenizer, tmp_path / "saved")
    mask = tokenizer.convert_tokens_to_ids(".")
    read, _ = read_encoder(tmp_path / "saved")
    assert (read.mask, {*read.marks}) == (mask, {0, 1, 2, 3, mask})
