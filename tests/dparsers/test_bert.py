"""BERT in prediction, as torch computes it, and the one that learns."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

pytest.importorskip("stanza")
pytest.importorskip("transformers", reason="needs the extra transformers")

from d2c.dparsers.stanza import bert, networks
from d2c.dparsers.stanza.bert import States
from d2c.dparsers.stanza.encoder import Encoder, load_encoder, read_encoder, save_encoder
from tests.dparsers.encoders import WINDOW, tiny_encoder


@pytest.fixture(autouse=True)
def torch_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bert, "compiled_layers", lambda *_: None)


@pytest.mark.parametrize(("able", "close"), [({}, 0.0), ({"amx_bf16": True}, 0.05)])
def test_bert_is_that_of_transformers(
    able: dict[str, bool], close: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: able)
    network, tokenizer = load_encoder(tiny_encoder(tmp_path / "tiny"))
    save_encoder(network, tokenizer, tmp_path / "saved")
    own, _ = read_encoder(tmp_path / "saved")
    network.transformer.load_state_dict(own.transformer.state_dict())
    network.eval(), own.eval()
    short = [[2, 9, 3]] * 4  # fewer rows are multiplied, and rounded, otherwise than many on some CPUs
    for ids in (torch.tensor([[2, 5, 6, 7, 3], [2, 8, 3, 0, 0]]), torch.tensor(short)):
        with torch.no_grad():
            pairs = zip(*(one(ids, (ids > 0).long()).hidden_states for one in (network, own)), strict=True)
        for theirs, ours in pairs:
            assert torch.allclose(ours.float()[ids > 0], theirs[ids > 0].float(), rtol=0, atol=close)
    one, four = torch.tensor(short[:1]), torch.tensor(short)
    with torch.no_grad():
        states = (own(ids, torch.ones_like(ids)).hidden_states for ids in (one, four))
        assert all(torch.equal(a, b[:1]) for a, b in zip(*states, strict=True))


def test_matrices_have_few_sizes(tmp_path: Path) -> None:
    network, tokenizer = load_encoder(tiny_encoder(tmp_path / "tiny"))
    save_encoder(network, tokenizer, tmp_path / "saved")
    own, _ = read_encoder(tmp_path / "saved")
    sizes = list[int]()
    for layer in (one for one in own.transformer.encoder.modules() if isinstance(one, torch.nn.Linear)):
        layer.register_forward_pre_hook(lambda _, given: sizes.append(len(given[0])))
    with torch.no_grad():
        for sentences, pieces in ((1, 3), (8, 8), (7, 11)):
            ids = torch.full((sentences, pieces), 5)
            states = own(ids, torch.ones_like(ids)).hidden_states
            assert {state.shape[:2] for state in states} == {(sentences, pieces)}
    assert sorted({*sizes}) == [64, 128]


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
