"""Stanza's tagger, trained from scratch on CoNLL-U.

A bidirectional LSTM over words and their characters (Qi et al. 2018). Stanza predicts UPOS, XPOS and
features, one given the other; here it has one column only, which it calls UPOS: the treebank's tags.
The training loop follows `stanza.models.tagger.train`, which reads and scores files in UD only.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import torch
from stanza.models import tagger as stanza_program
from stanza.models.common.utils import default_device
from stanza.models.pos.data import Dataset
from stanza.models.pos.model import Tagger
from stanza.models.pos.tag_columns import UPOS_COLUMN, tag_columns_from_config
from stanza.models.pos.trainer import Trainer
from stanza.models.pos.vocab import MultiVocab
from torch.optim.lr_scheduler import LambdaLR

from d2c.base.errors import ModelError
from d2c.base.model_files import strings
from d2c.dparsers.directories import Kind, loading, parameters, whole_directory
from d2c.dparsers.stanza.checkpoints import check_weights, read_checkpoint
from d2c.dparsers.stanza.encoder import FOLDER, NAME, load_encoder, read_encoder, said_of, save_encoder
from d2c.dparsers.stanza.finetuning import fine_tune, said
from d2c.dparsers.stanza.tasks import ARGUMENTS, TagTask, bare_tagger, course, fitted
from d2c.dparsers.stanza.training import ONE_AT_A_TIME, Preset, Row, Rows, quiet, seeded
from d2c.dparsers.taggers import EMPTY_FORM, Report, TaggingProgress, accuracy, read_tagged, tags_of
from d2c.dparsers.training import (
    DEV_WORDS,
    best_state,
    check_choice,
    evaluations,
    reporter,
    rise_and_fall,
    thinned,
)
from d2c.trees.ctree import Tokens
from d2c.trees.formats.chunks import batches

# The model directory: the settings and this file.
KIND = Kind("tagger", "stanza", 1, ("preset", "epochs", "seed"))
_MODEL = "tagger.pt"
_OVERRIDES = {"charlm": False, "use_peft": False, "pretrain": False}  # never trained so

_WINDOW = 1024  # sentences that `tag` sorts by length and holds at a time
_BATCH_SENTENCES, _BATCH_WORDS = 256, 5000  # at most in a batch, in tagging
_EVALUATIONS = 8

# Arguments of Stanza's training program that differ from its defaults, and passes over the training treebank.
# The learning rate rises over the first twentieth of the steps, then falls to 0.
PRESETS: dict[str, tuple[dict[str, Any], int]] = {
    "default": ({"batch_size": 32}, 30),
    # Batches of 16 sentences, and stronger dropout, learn less in the same time (1,000 sentences of CRAFT).
    "small": (
        {
            "hidden_dim": 150,
            "num_layers": 1,
            "char_hidden_dim": 100,
            "char_emb_dim": 50,
            "transformed_dim": 100,
            "deep_biaff_hidden_dim": 100,
            "word_cutoff": 3,
            "dropout": 0.2,
            "word_dropout": 0.05,
            "lr": 0.004,
            "max_grad_norm": 2.0,
            "batch_size": 5,
        },
        10,
    ),
}
_FINETUNE = PRESETS["small"][0] | {"char": False, "max_grad_norm": 2.0}
FINETUNE = Preset(_FINETUNE | ARGUMENTS, epochs=5, least_steps=400)


@dataclass(eq=False)
class StanzaTagger:
    """Stanza's tagger.

    preset:    default (Stanza's own sizes, made for GPUs) or small (minutes on two cores); neither is for a
               tagger with a transformer
    bert_model, checkpoints: as of a `StanzaParser`
    epochs:    passes over the training treebank, instead of the preset's number
    device:    cpu, cuda, ...; None: cuda where there is one
    seed:      same seed, same model, on one machine and number of threads; not on cuda
    arguments: further arguments of Stanza's training program, over those of the preset
    """

    preset: str = "default"
    epochs: float | None = None
    device: str | None = None
    seed: int = 1
    arguments: Mapping[str, Any] | None = None
    bert_model: str | None = None
    checkpoints: Path | None = None
    tags_: tuple[str, ...] = field(default=(), init=False)
    trainer_: Trainer | None = field(default=None, init=False)

    @property
    def misses_gpu(self) -> bool:
        """Whether it has Stanza's own sizes, and is to be trained on a CPU."""
        own_sizes = self.preset == "default" and self.bert_model is None
        return own_sizes and (self.device or default_device()) == "cpu"

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learns, and leaves the model with the best accuracy on the second file; errors: `Tagger`."""
        if self.bert_model is None:
            check_choice("preset", self.preset, PRESETS)
        train, dev = read_tagged(train_conllu), read_tagged(dev_conllu)
        with quiet(), seeded(self.seed), whole_directory(directory, KIND.file) as staging:
            self.tags_ = tags_of(train)
            self._fit(train, thinned(dev, DEV_WORDS), progress)
            assert self.trainer_ is not None
            if self.bert_model is not None:
                save_encoder(
                    self.trainer_.model.bert_model, self.trainer_.model.bert_tokenizer, staging / FOLDER
                )
                self.trainer_.model.unsaved_modules.append("bert_model")
            self.trainer_.save(str(staging / _MODEL))
            KIND.write(staging, {"tags": self.tags_, **said_of(self.bert_model)}, self)
            # Read back at once: Stanza only logs it where a model cannot be written.
            self.trainer_ = _load(staging, self._device, len(self.tags_), self.bert_model is not None)
        return self

    @classmethod
    def load(cls, directory: Path, device: str | None = None) -> Self:
        """The tagger that `train` left in a directory, which cannot bring code with it. Raises ModelError."""
        settings = KIND.read(directory)
        with quiet(), loading(directory):
            tagger = cls(device=device, **parameters(settings, KIND.parameters))
            tagger.tags_ = strings(settings["tags"])
            tagger.bert_model = settings.get("bert_model")
            encoder = tagger.bert_model is not None
            tagger.trainer_ = _load(Path(directory), tagger._device, len(tagger.tags_), encoder)
            next(tagger.tag([(EMPTY_FORM,)]))  # what cannot tag says so now
        return tagger

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tokens]:
        """Each sentence's words with their tags, in order; about a thousand sentences are held at a time."""
        if self.trainer_ is None:
            raise ModelError("this tagger is not trained yet")
        for window in batches(sentences, _WINDOW):
            order = sorted((i for i, forms in enumerate(window) if forms), key=lambda i: len(window[i]))
            tagged: list[Sequence[str]] = [()] * len(window)
            with ONE_AT_A_TIME, quiet():
                rows = [[[form or EMPTY_FORM, EMPTY_FORM] for form in window[i]] for i in order]
                for i, codes in zip(order, _predict(self.trainer_, rows), strict=True):
                    # Numbers, or, never seen so far, the name of Stanza's padding.
                    tagged[i] = [self.tags_[int(code) if code.isdecimal() else 0] for code in codes]
            for forms, tags in zip(window, tagged, strict=True):
                if len(tags) != len(forms):
                    raise AssertionError(f"{len(tags)} words came back from Stanza for {len(forms)}")
                yield Tokens(tuple(forms), tuple(tags))

    def _fit(self, train: Sequence[Tokens], dev: Sequence[Tokens], progress: Report) -> None:
        """Trains a model and leaves the weights that had the best accuracy on dev."""
        code_of = {tag: str(i) for i, tag in enumerate(self.tags_)}
        rows = [
            [[form or EMPTY_FORM, code_of[tag]] for form, tag in zip(tokens.forms, tokens.tags, strict=True)]
            for tokens in train
        ]
        if self.bert_model is not None:
            self._fine_tune(rows, dev, progress)
            return
        own, epochs = PRESETS[self.preset]
        arguments = self._arguments(own)
        data = Dataset(Rows(rows), arguments, None)
        trainer = self.trainer_ = Trainer(args=arguments, vocab=data.vocab, device=arguments["device"])
        passes = epochs if self.epochs is None else self.epochs
        steps = math.ceil(passes * math.ceil(len(rows) / arguments["batch_size"]))
        trainer.schedulers = {
            name: LambdaLR(optimizer, rise_and_fall(steps)) for name, optimizer in trainer.optimizers.items()
        }
        interval = math.ceil(steps / _EVALUATIONS)
        drawn, report = _batches(data, arguments["batch_size"]), reporter(TaggingProgress, progress)

        def evaluate(step: int, loss: float) -> float:
            score = accuracy(dev, self.tag(tokens.forms for tokens in dev))
            report(step, steps, loss, score)
            return score

        best = best_state(
            evaluations(
                steps,
                interval,
                lambda: float(trainer.update(next(drawn))),
                "tagger stanza",
                arguments["device"],
            ),
            evaluate,
            lambda: {name: value.clone() for name, value in trainer.model.state_dict().items()},
        )
        trainer.model.load_state_dict(best)

    def _fine_tune(self, rows: list[list[Row]], dev: Sequence[Tokens], progress: Report) -> None:
        """As `_fit`, on an encoder."""
        assert self.bert_model is not None
        encoder = load_encoder(self.bert_model)
        arguments = fitted(self._arguments(FINETUNE.arguments), encoder[0])

        def evaluate(step: int, steps: int, loss: float, seconds: float) -> float:
            score = accuracy(dev, self.tag(tokens.forms for tokens in dev))
            if progress is not None:
                progress(TaggingProgress(step, steps, loss, score, seconds))
            return score

        task = TagTask(arguments, rows, encoder, evaluate)
        self.trainer_ = task.trainer
        sizes = course(arguments, FINETUNE, self.epochs, encoder[0])
        fine_tune(task, sizes, self._device, self.checkpoints, (said(arguments), rows, dev))

    def _arguments(self, preset: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of Stanza's training program."""
        return {
            **stanza_program.parse_args([]),
            "shorthand": "d2c",
            "lang": "d2c",
            "seed": self.seed,
            "device": self._device,
            "pretrain": False,
            "tag_columns": (UPOS_COLUMN,),
            # These two delete words of some training sentences, by tags and marks of UD.
            "augment_nopunct": 0.0,
            "drop_initial_punct_prob": 0.0,
            **preset,
            **(self.arguments or {}),
        }

    @property
    def _device(self) -> str:
        return self.device or str(default_device())


def _batches(data: Dataset, size: int) -> Iterator[Any]:
    """Batches of sentences of similar length without end, composed anew for every pass."""
    while True:
        order = random.sample(range(len(data)), len(data))
        order.sort(key=lambda i: len(data.data[i].text))
        sampled = [*batches(order, size)]
        random.shuffle(sampled)
        yield from data.to_loader(batch_sampler=sampled)


def _predict(trainer: Trainer, rows: Sequence[Sequence[Row]]) -> Iterator[list[str]]:
    """What is predicted for the words of each sentence; sentences are sorted by length."""
    data = Dataset(Rows(rows), trainer.args, None, vocab=trainer.vocab, evaluation=True)
    with torch.no_grad():
        for batch in data.to_length_limited_loader(_BATCH_SENTENCES, _BATCH_WORDS):
            for sentence in trainer.predict(batch):
                yield [column for (column,) in sentence]


def _load(directory: Path, device: str, tags: int, has_encoder: bool) -> Trainer:
    path = directory / _MODEL
    encoder, tokenizer = read_encoder(directory / FOLDER) if has_encoder else (None, None)
    with loading(path):
        checkpoint = read_checkpoint(path, ("model", "vocab", "config"))
        config = checkpoint["config"] | _OVERRIDES | {"bert_model": NAME if has_encoder else None}
        config["tag_columns"] = tag_columns_from_config(config.get("tag_columns"))
        vocab = MultiVocab.load_state_dict(checkpoint["vocab"])

        def network() -> torch.nn.Module:
            own = {"bert_model": encoder, "bert_tokenizer": tokenizer}
            return Tagger(config, vocab, share_hid=config["share_hid"], **own)  # type: ignore[no-any-return]

        check_weights(path, checkpoint, network)
        model = network()
        found = model.load_state_dict(checkpoint["model"], strict=False)
        fixed: list[str] = model.unsaved_modules  # type: ignore[assignment]
        if missing := [name for name in found.missing_keys if name.partition(".")[0] not in fixed]:
            raise ModelError(f"{path}: lacks the weights {', '.join(sorted(missing))}")
        known = [int(unit) for unit in vocab["upos"] if unit.isdecimal()]
        if sorted(known) != [*range(tags)]:
            raise ValueError(f"a model of {len(known)} tags, where the settings have {tags}")
    return bare_tagger(config, vocab, model.to(device))
