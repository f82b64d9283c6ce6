"""What Stanza's networks learn, arcs and tags, as tasks of `training`: from scratch, or on an encoder."""

from __future__ import annotations

import math
import random
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from stanza.models.common.pretrain import Pretrain
from stanza.models.common.utils import update_word_cutoff
from stanza.models.depparse import data as arc_data
from stanza.models.depparse import trainer as arc_trainer
from stanza.models.pos import data as tag_data
from stanza.models.pos import trainer as tag_trainer
from stanza.models.pos.model import Tagger
from torch import Tensor

from d2c.dparsers.stanza.encoder import NAME, Encoder
from d2c.dparsers.stanza.networks import TRAINERS, Sentences, StanzaDocument, batch_words
from d2c.dparsers.stanza.training import NetworkTask, encoder_optimizer
from d2c.trees.formats.chunks import batches

# Of Stanza's training programs, for an encoder of _SIZE numbers a piece (5,000 sentences of CRAFT). Its rate
# is a twentieth of the network's; wider encoders want lower ones.
ARGUMENTS: dict[str, Any] = {
    "bert_model": NAME,
    "bert_finetune": True,
    "bert_hidden_layers": 4,  # the last ones, in a mixture that is learned
    "bert_learning_rate": 0.05,
    "lr": 0.003,
    "beta2": 0.95,
    "batch_size": 700,  # words
    "max_grad_norm": 5.0,
    "use_peft": False,
}
_SIZE = 384

Evaluate = Callable[[int, int, float, float], float]  # as `NetworkTask.score`
EncoderPair = tuple[Encoder, Any]  # an encoder and its tokenizer


def slowed(arguments: Mapping[str, Any], encoder: Encoder) -> float:
    """Return the rate of an encoder, as a factor of the network's."""
    wider = encoder.config.hidden_size / _SIZE
    return float(arguments["bert_learning_rate"]) * float(min(1.0, wider**-1.5))


def fitted(arguments: Mapping[str, Any], encoder: Encoder) -> dict[str, Any]:
    """Return the arguments for an encoder, which may have fewer layers than are to be mixed."""
    return {**arguments, "bert_hidden_layers": min(encoder.layers, arguments["bert_hidden_layers"])}


class StanzaTask(NetworkTask):
    """A task of one of Stanza's trainers.

    arguments: of Stanza's training program, which are filled in
    evaluate:  the score of the trainer's network, as `NetworkTask.score`
    """

    model: Any

    def __init__(self, arguments: dict[str, Any], encoder: EncoderPair | None, evaluate: Evaluate) -> None:
        self.arguments, self.encoder, self.evaluate = arguments, encoder, evaluate
        self.words, self.seed = int(arguments["batch_size"]), int(arguments["seed"])

    def score(self, step: int, steps: int, loss: float, seconds: float) -> float:
        """Evaluate the network."""
        return self.evaluate(step, steps, loss, seconds)

    def batches(self, done: int) -> Iterator[list[int]]:
        """Yield batches in Stanza's order, or in one that depends on the seed and `done` alone."""
        return super().batches(done) if self.encoder else self._shuffled()

    @abstractmethod
    def _shuffled(self) -> Iterator[list[int]]:
        """Yield batches in Stanza's order, without end."""

    def _around(self) -> dict[str, Any]:
        """Return the parameters of Stanza's networks that are the encoder."""
        model, tokenizer = self.encoder or (None, None)
        return {
            "bert_model": model,
            "bert_tokenizer": tokenizer,
            "force_bert_saved": self.encoder is not None,
        }

    def _optimizers(self) -> list[torch.optim.Optimizer]:
        """Return the optimizer of an encoder and the network over it."""
        assert self.encoder is not None
        rate = float(self.arguments["lr"])
        encoder_rate = rate * slowed(self.arguments, self.encoder[0])
        return [encoder_optimizer(self.model, rate, encoder_rate, float(self.arguments["beta2"]))]


class ArcTask(StanzaTask):
    """A parser that learns heads and labels. Its part of a batch keeps the scorer of labels small."""

    name = "stanza"

    def __init__(
        self,
        arguments: dict[str, Any],
        train: Sentences,
        pretrain: Pretrain | None,
        encoder: EncoderPair | None,
        evaluate: Evaluate,
    ) -> None:
        super().__init__(arguments, encoder, evaluate)
        small = batch_words(arguments, len({row[-1] for rows in train for row in rows}))
        if encoder is None:
            arguments["batch_size"] = self.words = small
        else:
            self.part = small
        arguments["word_cutoff"] = update_word_cutoff(pretrain, arguments["word_cutoff"])
        self.loader = arc_data.DataLoader(StanzaDocument(train), self.words, arguments, pretrain)
        self.data, self.lengths = self.loader.dataset, self.loader.dataset.lengths
        kind, vocab = TRAINERS[arguments["model_type"]], self.loader.vocab
        self.model = kind.build_model(arguments, vocab, pretrain.emb if pretrain else None, **self._around())
        self.model.to(arguments["device"])
        self.trainer = kind(arguments, vocab, pretrain, self.model, build_optimizer=encoder is None)
        self.model.bert_finetuning = encoder is not None
        self.optimizers = self._optimizers() if encoder else [*self.trainer.optimizer.values()]

    @property
    def per_pass(self) -> int:
        """Return how many batches a pass has."""
        return super().per_pass if self.encoder else len(self.loader)

    def loss(self, sentences: Sequence[int]) -> Tensor:
        """Return the mean loss over the words of some training sentences."""
        batch = self.loader.collate([self.data[i] for i in sentences])
        inputs, _, *others = arc_trainer.unpack_batch(batch, self.model.get_device())
        return self.model.loss(*inputs, *others)[0]  # type: ignore[no-any-return]

    def second_stage(self) -> None:
        """Change as a `NetworkTask`; the batches of the next pass may have another size, too."""
        self.arguments["second_stage"] = True
        self.trainer = type(self.trainer)(self.arguments, self.loader.vocab, model=self.model)
        self.optimizers = [*self.trainer.optimizer.values()]
        self.loader.set_batch_size(self.arguments["second_batch_size"] or self.arguments["batch_size"])

    def _shuffled(self) -> Iterator[list[int]]:
        while True:
            # Without this the same sentences meet in every pass: the loader's sort is stable.
            random.shuffle(self.data.data)
            self.lengths = self.data.lengths = [len(sentence[0]) for sentence in self.data.data]
            self.loader.reshuffle()
            yield from self.loader.sampler


class TagTask(StanzaTask):
    """A tagger that learns codes of tags. Without an encoder a batch has so many sentences."""

    name = "tagger stanza"

    def __init__(
        self, arguments: dict[str, Any], train: Sentences, encoder: EncoderPair | None, evaluate: Evaluate
    ) -> None:
        super().__init__(arguments, encoder, evaluate)
        self.data = tag_data.Dataset(StanzaDocument(train), arguments, None)
        self.lengths = [len(sentence.text) for sentence in self.data.data]
        if encoder is None:
            self.trainer = tag_trainer.Trainer(arguments, self.data.vocab, device=arguments["device"])
            self.model = self.trainer.model
            self.optimizers = [*self.trainer.optimizers.values()]
        else:
            made = Tagger(arguments, self.data.vocab, share_hid=arguments["share_hid"], **self._around())
            self.model, self.part = made.to(arguments["device"]), self.words
            self.trainer = bare_tagger(arguments, self.data.vocab, self.model)
            self.optimizers = self._optimizers()

    @property
    def per_pass(self) -> int:
        """Return how many batches a pass has."""
        return super().per_pass if self.encoder else math.ceil(len(self.lengths) / self.words)

    def loss(self, sentences: Sequence[int]) -> Tensor:
        """Return the mean loss over the words of some training sentences."""
        (batch,) = self.data.to_loader(batch_sampler=[sentences])
        inputs, _, *others = tag_trainer.unpack_batch(batch, self.arguments["device"])
        return self.model(*inputs, *others)[0]  # type: ignore[no-any-return]

    def _shuffled(self) -> Iterator[list[int]]:
        while True:
            order = random.sample(range(len(self.lengths)), len(self.lengths))
            sampled = [*batches(sorted(order, key=self.lengths.__getitem__), self.words)]
            random.shuffle(sampled)
            yield from sampled


def bare_tagger(arguments: dict[str, Any], vocab: Any, model: torch.nn.Module) -> tag_trainer.Trainer:
    """Return Stanza's trainer of a tagger: its constructor would load a transformer by its name."""
    trainer = tag_trainer.Trainer.__new__(tag_trainer.Trainer)
    trainer.args, trainer.vocab, trainer.model = arguments, vocab, model
    return trainer
