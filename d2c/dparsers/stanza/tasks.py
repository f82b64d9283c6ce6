"""What Stanza's networks learn, arcs and tags, as tasks of `training`: from scratch, or on an encoder.

Stanza's parser and tagger are estimators that train such a task."""

from __future__ import annotations

import math
import random
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, cast

import torch
from stanza.models.common.pretrain import Pretrain
from stanza.models.common.utils import default_device, update_word_cutoff
from stanza.models.depparse import data as arc_data
from stanza.models.depparse import trainer as arc_trainer
from stanza.models.pos import data as tag_data
from stanza.models.pos import trainer as tag_trainer
from stanza.models.pos.model import Tagger
from stanza.models.pos.vocab import MultiVocab
from torch import Tensor

from d2c.base.batches import batches
from d2c.base.errors import ModelError, ParameterError
from d2c.dparsers.graph.directory import FOLDER
from d2c.dparsers.settings import StanzaTaggerSettings
from d2c.dparsers.stanza.encoder import NAME, Encoder, load_encoder, read_encoder, save_encoder
from d2c.dparsers.stanza.graph import GraphNetwork
from d2c.dparsers.stanza.networks import (
    BareTagger,
    Sentences,
    StanzaDocument,
    batch_words,
    building,
    check_vocabulary,
    load_network,
    read_checkpoint,
)
from d2c.dparsers.stanza.training import (
    EncoderPair,
    NetworkTask,
    NetworkTraining,
    Preset,
    encoder_optimizer,
    on_gpu,
)
from d2c.protocols.settings import FINETUNE
from d2c.protocols.training import Evaluate

# Of Stanza's training programs, for an encoder with vectors of _SIZE numbers (5,000 sentences of CRAFT). The
# encoder's learning rate is a twentieth of the network's; wider encoders need lower rates.
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
_GPU_WORDS, _GPU_RATE = 3, 1.5  # factors of batch size and learning rate on a GPU: little slower on an H100
SMOOTHING = {"smoothing": 0.1}  # of d-parsers on encoders, which soon know a small treebank by heart
_SIZE = 384
CHARLM = "charlm_forward_file", "charlm_backward_file"


def fitted(arguments: Mapping[str, Any], encoder: Encoder) -> dict[str, Any]:
    """Return the arguments for an encoder that may have fewer layers than are to be mixed, or be wider."""
    rate = float(arguments["bert_learning_rate"]) * min(1.0, (encoder.config.hidden_size / _SIZE) ** -1.5)
    layers = min(encoder.layers, arguments["bert_hidden_layers"])
    return {**arguments, "bert_hidden_layers": layers, "bert_learning_rate": rate}


def sized(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for an encoder, with the batch size and the learning rate for their device."""
    if not on_gpu(arguments):
        return {**arguments}
    words, rate = int(arguments["batch_size"]) * _GPU_WORDS, float(arguments["lr"]) * _GPU_RATE
    return {**arguments, "batch_size": words, "lr": rate}


class StanzaTask(NetworkTask):
    """A task of one of Stanza's trainers.

    arguments: of Stanza's training program, which the task completes
    score:     as in `NetworkTask`
    """

    def __init__(self, arguments: dict[str, Any], encoder: EncoderPair | None, score: Evaluate) -> None:
        self.arguments, self.encoder, self.score = arguments, encoder, score
        self.words, self.seed = int(arguments["batch_size"]), int(arguments["seed"])

    def batches(self, done: int) -> Iterator[list[int]]:
        """Yield batches in Stanza's order; with an encoder, in one that depends only on seed and `done`."""
        return super().batches(done) if self.encoder else self._shuffled()

    @abstractmethod
    def _shuffled(self) -> Iterator[list[int]]:
        """Yield batches in Stanza's order, without end."""

    def _around(self) -> dict[str, Any]:
        """Return the parameters by which Stanza's networks take the encoder."""
        model, tokenizer = self.encoder or (None, None)
        saved = self.encoder is not None
        return {"bert_model": model, "bert_tokenizer": tokenizer, "force_bert_saved": saved}

    def _optimize(self, optimizers: Mapping[str, torch.optim.Optimizer] | None) -> None:
        """Take Stanza's optimizers, or make one for an encoder and the network over it."""
        if optimizers:
            self.optimizers = [*optimizers.values()]
        else:
            rate, share, beta2 = (float(self.arguments[k]) for k in ("lr", "bert_learning_rate", "beta2"))
            self.optimizers = [encoder_optimizer(self.model, rate, rate * share, beta2)]


class ArcTask(StanzaTask):
    """The task of a parser: heads and labels. Parts of its batches keep the label scorer's array small."""

    name = "stanza"

    def __init__(
        self,
        arguments: dict[str, Any],
        train: Sentences,
        pretrain: Pretrain | None,
        encoder: EncoderPair | None,
        score: Evaluate,
    ) -> None:
        super().__init__(arguments, encoder, score)
        small = batch_words(arguments, len({row[-1] for rows in train for row in rows}))
        if encoder is None:
            arguments["batch_size"] = self.words = small
        elif not on_gpu(arguments):  # a GPU has the memory
            self.part = small
        arguments["word_cutoff"] = update_word_cutoff(pretrain, arguments["word_cutoff"])
        self.loader = arc_data.DataLoader(StanzaDocument(train), self.words, arguments, pretrain)
        self.data, self.lengths = self.loader.dataset, self.loader.dataset.lengths
        vocab = self.loader.vocab
        vectors = pretrain.emb if pretrain else None
        self.model = GraphNetwork(arguments, vocab, vectors, **self._around())
        self.model.to(arguments["device"])
        own = {"model": self.model, "build_optimizer": encoder is None}
        self.trainer = arc_trainer.GraphTrainer(arguments, vocab, pretrain, **own)
        self.model.bert_finetuning = encoder is not None
        self._optimize(self.trainer.optimizer)

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
        """Change optimizers as a `NetworkTask` does; batches may have another size from then on."""
        self.arguments["second_stage"] = True
        self.trainer = type(self.trainer)(self.arguments, self.loader.vocab, model=self.model)
        self._optimize(self.trainer.optimizer)
        self.loader.set_batch_size(self.arguments["second_batch_size"] or self.arguments["batch_size"])

    def _shuffled(self) -> Iterator[list[int]]:
        while True:
            # Without this the same sentences share batches in every pass: the loader's sort is stable.
            random.shuffle(self.data.data)
            self.lengths = self.data.lengths = [len(sentence[0]) for sentence in self.data.data]
            self.loader.reshuffle()
            yield from self.loader.sampler


class TagTask(StanzaTask):
    """The task of a tagger: codes of tags. Without an encoder, `words` is the sentences in a batch."""

    name = "tagger stanza"

    def __init__(
        self, arguments: dict[str, Any], train: Sentences, encoder: EncoderPair | None, score: Evaluate
    ) -> None:
        super().__init__(arguments, encoder, score)
        self.data = tag_data.Dataset(StanzaDocument(train), arguments, None)
        self.lengths = [len(sentence.text) for sentence in self.data.data]
        vocab, device = self.data.vocab, arguments["device"]
        if encoder is None:
            self.trainer = tag_trainer.Trainer(arguments, vocab, device=device)
            self.model = self.trainer.model
            self._optimize(self.trainer.optimizers)
        else:
            made = Tagger(arguments, vocab, share_hid=arguments["share_hid"], **self._around())
            self.model, self.part = made.to(device), self.words
            self.trainer = BareTagger(arguments, vocab, self.model)
            self._optimize(None)

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


class StanzaEstimator:
    """A parser or tagger of Stanza's.

    FILE:    name of the network's file in a model's directory
    PRESETS: sizes and schedules, by name
    """

    FILE: ClassVar[str]
    PRESETS: ClassVar[Mapping[str, Preset]]

    def __init__(self, settings: StanzaTaggerSettings) -> None:
        self.settings, self.trainer_ = settings, cast(Any, None)

    @property
    def _device(self) -> str:
        return self.settings.device or str(default_device())

    @property
    def _wants_gpu(self) -> bool:
        """Return whether the network has Stanza's own sizes, made for GPUs, and is to run on a CPU."""
        return (
            self.settings.preset == "default" and self.settings.transformer is None and self._device == "cpu"
        )

    def _preset(self) -> Preset:
        """Return sizes and schedule. Raises ParameterError for a preset that lacks a transformer."""
        if self.settings.transformer is not None:
            return self.PRESETS[FINETUNE]
        if self.settings.preset == FINETUNE:
            raise ParameterError("the preset finetune needs a ", "transformer")
        return self.PRESETS[self.settings.preset]

    def _filled(self, defaults: Mapping[str, Any], preset: Preset, **own: object) -> dict[str, Any]:
        """Return the arguments of Stanza's program, those of the settings last. Raises ModelError."""
        chosen = {**preset.arguments, **(self.settings.arguments or {})}
        if unknown := chosen.keys() - defaults:
            raise ModelError(f"Stanza's program has no argument {', '.join(sorted(unknown))}")
        return {
            **defaults,
            "shorthand": "d2c",
            "lang": "d2c",
            "seed": self.settings.seed,
            "device": self._device,
            # These two delete a word of some training sentences, by tags and marks of UD, and leave all
            # labels as they are, although the labels of its siblings count its attachment, too.
            "augment_nopunct": 0.0,
            "drop_initial_punct_prob": 0.0,
            **own,
            **chosen,
        }

    def _network(
        self,
        directory: Path,
        own: Callable[[Mapping[str, Any]], dict[str, Any]],
        build: Callable[..., torch.nn.Module],
    ) -> tuple[dict[str, Any], MultiVocab, Any]:
        """Return arguments, vocabulary and network in a model's directory. Raises what broken files lead to.

        own:   returns arguments that replace some of the file's
        build: makes a network from arguments, vocabulary, encoder and tokenizer
        """
        has_encoder = self.settings.transformer is not None
        encoder, tokenizer = read_encoder(directory / FOLDER) if has_encoder else (None, None)
        path, checkpoint = self._read_network(directory)
        check_vocabulary(checkpoint["vocab"])
        config, vocab = checkpoint["config"], MultiVocab.load_state_dict(checkpoint["vocab"])
        config |= own(config) | {"bert_model": NAME if has_encoder else None, "use_peft": False}
        made = partial(build, config, vocab, bert_model=encoder, bert_tokenizer=tokenizer)
        network = load_network(path, checkpoint, made)
        return config, vocab, network.to(self._device)

    def keep(self, directory: Path) -> None:
        """Write a network that was read from a directory in the format that networks have now."""
        if self.settings.transformer is not None:
            self.trainer_.model.half()
        (directory / self.FILE).unlink(missing_ok=True)
        self._write_network(directory)
        self.trainer_.model.float()

    def _read_network(self, directory: Path) -> tuple[Path, dict[str, Any]]:
        """Return the path of the weights, and `model`, `vocab` and `config`. Raises as `_network`."""
        path = directory / self.FILE
        return path, read_checkpoint(path, ("model", "vocab", "config"))

    def _write_network(self, directory: Path) -> None:
        """Write the network where `_read_network` finds it."""
        self.trainer_.save(str(directory / self.FILE))

    def _learn(
        self,
        build: Callable[[dict[str, Any], EncoderPair | None], StanzaTask],
        arguments: dict[str, Any],
        preset: Preset,
        directory: Path,
        *treebanks: object,
    ) -> None:
        """Train the task that `build` makes; leave its network and the encoder, if any, in a directory.

        treebanks: what the task learns from and is scored on
        """
        settings, encoder = self.settings, None
        if settings.transformer is not None:
            encoder = load_encoder(settings.transformer)
            arguments = fitted(arguments, encoder[0])
        of_device = sized(arguments) if encoder else arguments
        with building():
            task = build(of_device, encoder)
        self.trainer_ = task.trainer  # with it the task is scored on dev
        training = NetworkTraining(task, of_device, preset, settings.epochs)
        if encoder and settings.checkpoints is not None:
            # All, except where Stanza's programs run, and which files they read.
            made_of = [one for one in of_device.items() if not one[0].endswith(("device", "_file", "_dir"))]
            training.keep_in(settings.checkpoints, sorted(made_of), preset, settings.epochs, treebanks)
        training.run()
        self.trainer_ = task.trainer
        if encoder:
            save_encoder(*encoder, directory / FOLDER)
            task.model.unsaved_modules.append("bert_model")
            task.model.half()  # as it will be read again
        made = self.trainer_.args
        made |= {name: arguments[name] for name in ("batch_size", "lr")}
        made |= {key: Path(made[key]).name for key in CHARLM if made[key]}  # no paths of this machine
        self._write_network(directory)
