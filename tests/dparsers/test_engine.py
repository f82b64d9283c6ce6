"""BERT's layers as OpenVINO computes them, beside torch."""

from __future__ import annotations

import copy
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

pytest.importorskip("stanza")
pytest.importorskip("transformers", reason="needs the extra transformers")
pytest.importorskip("openvino", reason="needs the extra fast")

from stanza.models.common.bert_embedding import cloned_feature

import d2c.dparsers.stanza.networks  # noqa: F401 (it sets what forked processes need)
from d2c.dparsers.stanza import bert, engine
from d2c.dparsers.stanza.encoder import Encoder, load_encoder, read_encoder, save_encoder
from tests.dparsers.encoders import WINDOW, tiny_encoder

Read = Callable[[], Encoder]
LENGTHS = 3, 22, 9, 40, 5  # pieces of sentences; one has more than a window


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    directory = tmp_path_factory.mktemp("encoder")
    save_encoder(*load_encoder(tiny_encoder(directory / "tiny")), directory / "saved")
    return lambda: read_encoder(directory / "saved")[0].eval()


def batch(lengths: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    mask = (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).long()
    pieces = torch.randint(4, 9, mask.shape, generator=torch.Generator().manual_seed(1))
    return pieces * mask, mask


def states(network: Encoder, given: tuple[Tensor, Tensor]) -> list[Tensor]:
    """The states after each layer, which are copied: those of the next call are in the same place."""
    with torch.no_grad():
        return [one.clone() for one in network(*given).hidden_states]


@pytest.mark.parametrize(("able", "close"), [({}, 1e-5), ({"amx_bf16": True}, 0.05)])
def test_states_are_those_of_torch(
    able: dict[str, bool], close: float, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: able)
    assert max(LENGTHS) > WINDOW
    for lengths in (LENGTHS, (4,), (7, 7)):
        own, given = read(), batch(lengths)
        found = states(own, given)
        assert own.transformer._compiled  # it was used
        with monkeypatch.context() as patched:
            patched.setattr(bert, "compiled_layers", lambda *_: None)
            expected = states(read(), given)
        there = given[1] == 1
        for a, b in zip(found, expected, strict=True):
            assert a.dtype == torch.float32 and torch.allclose(a[there], b[there].float(), rtol=0, atol=close)


@pytest.mark.parametrize("shares", [[0.2, -0.1, 0.4], [-0.3, 0.1], [-1 / 3, 0.0, 0.0]])
@pytest.mark.parametrize("alone", [False, True])
def test_mixtures_are_those_of_stanza(
    shares: list[float], alone: bool, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By torch alone, too; where the first share is 0, the states are there one by one."""
    if alone:
        monkeypatch.setattr(bert, "compiled_layers", lambda *_: None)
    own, given, by = read(), batch(LENGTHS), torch.nn.Linear(len(shares), 1, bias=False)
    by.weight.data[:] = torch.tensor(shares)
    expected = cloned_feature(states(read(), given), True, by)
    own.mix(by)
    found = states(own, given)
    assert len(found) == (1 if shares[0] > -1 / 3 else 3)
    there = given[1] == 1
    assert torch.allclose(cloned_feature(found, True, by)[there], expected[there], rtol=0, atol=0.1)


def test_states_do_not_depend_on_other_sentences(read: Read) -> None:
    network, (pieces, mask) = read(), batch((9, 4, 12))
    whole = states(network, (pieces, mask))
    for i in range(3):
        alone = states(network, (pieces[[i]], mask[[i]]))
        assert all(torch.equal(a[0], b[i]) for a, b in zip(alone, whole, strict=True))


def test_a_copy_and_a_forked_process_compute_the_same(read: Read) -> None:
    network, given = read(), batch((9, 4))
    expected = states(network, given)

    def same() -> None:
        assert all(map(torch.equal, states(network, given), expected))

    forked = multiprocessing.get_context("fork").Process(target=same)
    forked.start()
    forked.join(20)
    forked.kill()
    assert forked.exitcode == 0
    assert all(map(torch.equal, states(copy.deepcopy(network), given), expected))


def test_without_it_torch_computes(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    import openvino

    def fails(*_: object) -> None:
        raise RuntimeError("for this processor there is no code")

    given = batch((9, 4))
    expected = states(read(), given)
    with monkeypatch.context() as patched:
        patched.setattr(openvino, "compile_model", fails)
        unable = read()
        states(unable, given)
    monkeypatch.setitem(sys.modules, "openvino", None)
    without = read()
    for a, b in zip(states(without, given), expected, strict=True):
        assert torch.allclose(a.float()[given[1] == 1], b[given[1] == 1], rtol=0, atol=0.05)
    assert not unable.transformer._compiled and not without.transformer._compiled


def test_nothing_is_reported(tmp_path: Path) -> None:
    """Imported as usual, OpenVINO leaves a number of the user in the home directory, and sends it."""
    code = f"import sys; from {engine.__name__} import openvino; openvino(); print([*sys.modules])"
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "TF_BUILD")}
    environment |= {"HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert "openvino.tools.ovc" in done.stdout and "telemetry'" not in done.stdout, done.stderr
    assert not [*tmp_path.iterdir()]
