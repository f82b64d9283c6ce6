"""Stanza's training loop with any task: batches, parts, and trainings that were killed and go on."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from d2c.base.errors import ModelError
from d2c.dparsers.stanza.encoder import multiplies_halves
from d2c.dparsers.stanza.tasks import sized
from d2c.dparsers.stanza.training import (
    NetworkTask,
    NetworkTraining,
    Preset,
    batches_of_pass,
    encoder_optimizer,
)
from d2c.protocols.dparser import time_left

PRESET = Preset(epochs=3, evaluations=5)
ARGUMENTS = {"device": "cpu", "max_grad_norm": 1.0}


class Net(nn.Module):
    """A layer over an `encoder`; vectors that are not learned."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.unsaved_modules = ["vectors"]
        self.bert_model, self.rest, self.vectors = nn.Linear(3, 3), nn.Linear(3, 1), nn.Embedding(5, 2)
        self.drop = nn.Dropout(dropout)

    def forward(self, numbers: Tensor) -> Tensor:
        return self.rest(self.drop(torch.tanh(self.bert_model(numbers)))).squeeze(-1)  # type: ignore[no-any-return]


class Sums(NetworkTask):
    """Each word's sum of three numbers is to be found. The process may be killed in an evaluation."""

    name, words = "sums", 12

    def __init__(
        self,
        dropout: float = 0.3,
        kill: int | None = None,
        part: int = 12,
        encoder_rate: float = 0.01,
        seed: int = 1,
    ) -> None:
        torch.manual_seed(5)
        self.part, self.seed = part, seed
        self.lengths: Sequence[int] = [1 + 7 * i % 9 for i in range(20)]
        self.sentences = [torch.rand(length, 3) for length in self.lengths]
        self.model, self.kill = Net(dropout), kill
        self.optimizers = [encoder_optimizer(self.model, 0.05, encoder_rate, 0.95)]
        self.scores: list[tuple[int, float]] = []

    def loss(self, sentences: Sequence[int]) -> Tensor:
        words = torch.cat([self.sentences[i] for i in sentences])
        return ((self.model(words) - words.sum(1)) ** 2).mean()

    def score(self, step: int, steps: int, loss: float, seconds: float) -> float:
        self.scores.append((step, loss))
        if len(self.scores) == self.kill:
            signal.raise_signal(signal.SIGKILL)
        return -loss if step < steps else -9.0  # so that the last state is not the best one

    def weights(self) -> list[float]:
        return [x for tensor in self.model.state_dict().values() for x in tensor.flatten().tolist()]


class InterruptedSums(Sums):
    """Its training is interrupted in the first evaluation."""

    def score(self, step: int, steps: int, loss: float, seconds: float) -> float:
        raise KeyboardInterrupt


def trained(task: Sums, checkpoints: Path | None = None) -> Sums:
    training = NetworkTraining(task, ARGUMENTS, PRESET)
    if checkpoints is not None:
        training.keep_in(checkpoints, PRESET, task.seed)
    training.run()
    return task


def train_until_killed(checkpoints: Path, evaluation: int) -> None:
    """Trains in a process that is killed in this evaluation (the first is 1).

    Stanza's programs, whose parts d2c uses, set its logger to DEBUG when they are imported; it is as Stanza
    itself leaves it.
    """
    program = "import logging\nfrom pathlib import Path\nimport d2c.dparsers.stanza.parser\nimport torch\n"
    program += "assert logging.getLogger('stanza').level == logging.INFO\ntorch.set_num_threads(1)\n"
    program += "from tests.dparsers.test_stanza_training import Sums, trained\n"
    program += f"trained(Sums(kill={evaluation}), Path({str(checkpoints)!r}))"
    killed = subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).parents[2])
    assert killed.returncode == -signal.SIGKILL


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_batches_have_every_sentence_once_and_are_of_similar_lengths() -> None:
    lengths = [3, 50, 1, 4, 4, 2, 9, 3, 12, 1]
    one, other = (batches_of_pass(lengths, 12, random.Random(seed)) for seed in (1, 2))
    assert sorted(i for batch in one for i in batch) == [*range(10)] and one != other
    assert len(one) == len(other) == len(batches_of_pass(lengths, 12, None))
    assert [1] in one  # longer than a batch may be, and not left out
    assert all(len(batch) == 1 or sum(lengths[i] for i in batch) <= 12 for batch in one)
    spans = sorted((min(lengths[i] for i in batch), max(lengths[i] for i in batch)) for batch in one)
    assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:], strict=False))


def test_parts_of_batches_add_up_to_the_same_gradient() -> None:
    whole = trained(Sums(dropout=0)).weights()
    parts = trained(Sums(dropout=0, part=5)).weights()
    assert parts == pytest.approx(whole, abs=1e-5)
    assert whole != pytest.approx(Sums(dropout=0).weights(), abs=1e-2)


def test_the_encoder_has_a_rate_of_its_own() -> None:
    task, before = Sums(encoder_rate=0.0), Sums()
    trained(task)
    assert torch.equal(task.model.bert_model.weight, before.model.bert_model.weight)
    assert not torch.equal(task.model.rest.weight, before.model.rest.weight)


@pytest.mark.slow
def test_a_killed_training_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    """Killed in the midst of an evaluation, and begun again: the same weights and reports as in one go."""
    train_until_killed(tmp_path, evaluation=3)
    (checkpoint,) = tmp_path.iterdir()
    whole, rest = trained(Sums()), trained(Sums(), tmp_path)
    assert whole.scores[-len(rest.scores) :] == rest.scores
    assert 0 < len(rest.scores) < len(whole.scores)
    assert rest.weights() == whole.weights()
    again = trained(Sums(), tmp_path)  # which is at its end
    assert (again.scores, again.weights()) == ([], whole.weights())
    trained(Sums(seed=2), tmp_path)  # another training, another checkpoint
    assert {*tmp_path.iterdir()} > {checkpoint}
    checkpoint.write_bytes(checkpoint.read_bytes()[:-100])
    with pytest.raises(ModelError, match="is broken; remove it") as error:
        trained(Sums(), tmp_path)
    assert str(checkpoint) in str(error.value) and "\n" not in str(error.value)


def test_a_training_interrupted_before_its_first_evaluation_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its checkpoints, which are written as time passes, have no best weights yet."""
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("d2c.protocols.training._MINUTES", 0)
        trained(InterruptedSums(), tmp_path)
    assert len([*tmp_path.iterdir()]) == 1
    caplog.set_level("INFO")
    whole, rest = trained(Sums()), trained(Sums(), tmp_path)
    assert rest.scores == whole.scores and rest.weights() == whole.weights()
    assert "sums: goes on after step " in caplog.text


def test_checkpoints_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match="file/sums-.*pt: cannot be written"):
        trained(Sums(), tmp_path / "file")


@pytest.mark.parametrize(
    ("done", "seconds", "left"),
    [(0, 0.0, "time left unknown"), (5, 10.0, "about 10 s left"), (1, 30.0, "about 4 min left")]
    + [(9, 9.0, "about 1 s left"), (1, 1200.0, "about 3 h left"), (10, 5.0, "about 0 s left")],
)
def test_time_left(done: int, seconds: float, left: str) -> None:
    assert time_left(done, 10, seconds) == left


def test_halves_are_not_multiplied_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_bf16": True})
    assert [multiplies_halves(torch.device(kind)) for kind in ("cpu", "cuda")] == [True, False]


@pytest.mark.parametrize(
    ("device", "words", "rate"), [("cpu", 700, 0.003), ("cuda", 2100, 0.0045), ("cuda:1", 2100, 0.0045)]
)
def test_batches_of_a_device(device: str, words: int, rate: float) -> None:
    given = {"device": device, "batch_size": 700, "lr": 0.003, "seed": 1}
    assert sized(given) == given | {"batch_size": words, "lr": pytest.approx(rate)}
    assert given["batch_size"] == 700
