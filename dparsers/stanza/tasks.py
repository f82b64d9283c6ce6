"""What Stanza's networks learn on a pretrained encoder: arcs and tags, as tasks of `finetuning`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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

from d2c.dparsers.protocol import Progress, Report
from d2c.dparsers.stanza.encoder import NAME, Encoder
from d2c.dparsers.stanza.finetuning import Course
from d2c.dparsers.stanza.training import TRAINERS, Preset, Row, Rows, attachment, batch_words, predict
from d2c.dparsers.training import thinned

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


def course(
    arguments: Mapping[str, Any],
    preset: Preset,
    epochs: float | None,
    encoder: Encoder,
    part: int | None = None,
) -> Course:
    """The sizes of a training. epochs: instead of the preset's; part: see `Course`"""
    rate, words = float(arguments["lr"]), int(arguments["batch_size"])
    assert preset.epochs is not None
    return Course(
        rate=rate,
        encoder_rate=rate * slowed(arguments, encoder),
        words=words,
        part=part or words,
        max_norm=float(arguments["max_grad_norm"]),
        epochs=preset.epochs if epochs is None else epochs,
        least_steps=preset.least_steps if epochs is None else 0,
        evaluations=preset.evaluations,
        beta2=float(arguments["beta2"]),
        seed=int(arguments["seed"]),
    )


def slowed(arguments: Mapping[str, Any], encoder: Encoder) -> float:
    """The rate of an encoder, as a factor of the network's."""
    wider = encoder.config.hidden_size / _SIZE
    return float(arguments["bert_learning_rate"]) * float(min(1.0, wider**-1.5))


def fitted(arguments: Mapping[str, Any], encoder: Encoder) -> dict[str, Any]:
    """The arguments for an encoder, which may have fewer layers than are to be mixed."""
    return {**arguments, "bert_hidden_layers": min(encoder.layers, arguments["bert_hidden_layers"])}


class ArcTask:
    """Heads and labels.

    train, dev: sentences; the latter are thinned out as the preset says
    """

    name = "stanza"

    def __init__(
        self,
        arguments: dict[str, Any],
        preset: Preset,
        train: Sequence[Sequence[Row]],
        dev: Sequence[Sequence[Row]],
        pretrain: Pretrain | None,
        encoder: tuple[Encoder, Any],
        progress: Report,
    ) -> None:
        arguments["word_cutoff"] = update_word_cutoff(pretrain, arguments["word_cutoff"])
        self.data = arc_data.Dataset(Rows(train), arguments, pretrain)
        self.lengths, self.dev = self.data.lengths, dev
        if preset.dev_words is not None:
            self.dev = thinned(dev, preset.dev_words)
        self.part = batch_words(arguments, len({row[-1] for rows in train for row in rows}))
        kind = TRAINERS[arguments["model_type"]]
        self.model = kind.build_model(
            *(arguments, self.data.vocab, pretrain.emb if pretrain else None),
            bert_model=encoder[0],
            bert_tokenizer=encoder[1],
            force_bert_saved=True,  # which keeps its weights from being frozen
        ).to(arguments["device"])
        self.model.bert_finetuning = True
        self.trainer = kind(arguments, self.data.vocab, pretrain, self.model, build_optimizer=False)
        self.pretrain, self.progress = pretrain, progress

    def loss(self, sentences: Sequence[int]) -> Tensor:
        """As of a `Task`."""
        batch = arc_data.DataLoader.collate([self.data[i] for i in sentences])
        inputs, _, *others = arc_trainer.unpack_batch(batch, self.model.get_device())
        return self.model.loss(*inputs, *others)[0]  # type: ignore[no-any-return]

    def score(self, step: int, steps: int, loss: float, seconds: float) -> float:
        """LAS."""
        uas, las = attachment(self.dev, predict(self.trainer, self.pretrain, self.dev))
        if self.progress is not None:
            self.progress(Progress(step, steps, loss, uas, las, seconds))
        return las


class TagTask:
    """Tags.

    train:    words and codes of tags
    evaluate: accuracy on the development treebank; as of a `Task`
    """

    name = "tagger stanza"

    def __init__(
        self,
        arguments: dict[str, Any],
        train: Sequence[Sequence[Row]],
        encoder: tuple[Encoder, Any],
        evaluate: Callable[[int, int, float, float], float],
    ) -> None:
        self.data = tag_data.Dataset(Rows(train), arguments, None)
        self.lengths: Sequence[int] = [len(sentence.text) for sentence in self.data.data]
        self.device, self.score = arguments["device"], evaluate
        self.model: Any = Tagger(
            *(arguments, self.data.vocab),
            share_hid=arguments["share_hid"],
            bert_model=encoder[0],
            bert_tokenizer=encoder[1],
            force_bert_saved=True,
        ).to(self.device)
        self.trainer = bare_tagger(arguments, self.data.vocab, self.model)

    def loss(self, sentences: Sequence[int]) -> Tensor:
        """As of a `Task`."""
        (batch,) = self.data.to_loader(batch_sampler=[sentences])
        inputs, _, *others = tag_trainer.unpack_batch(batch, self.device)
        return self.model(*inputs, *others)[0]  # type: ignore[no-any-return]


def bare_tagger(arguments: dict[str, Any], vocab: Any, model: torch.nn.Module) -> tag_trainer.Trainer:
    """Stanza's trainer of a tagger that is there: its constructor would load a transformer by its name."""
    trainer = tag_trainer.Trainer.__new__(tag_trainer.Trainer)
    trainer.args, trainer.vocab, trainer.model = arguments, vocab, model
    return trainer
