"""Stanza's tagger, trained from scratch on CoNLL-U, or on a pretrained encoder.

A bidirectional LSTM over words and their characters (Qi et al. 2018). Stanza predicts UPOS, XPOS and
features, one given the other; here it has one column only, which it calls UPOS: the treebank's tags.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from stanza.models import tagger as stanza_program
from stanza.models.pos.data import Dataset
from stanza.models.pos.model import Tagger
from stanza.models.pos.tag_columns import UPOS_COLUMN, tag_columns_from_config
from stanza.models.pos.trainer import Trainer
from stanza.models.pos.vocab import MultiVocab

from d2c.base.errors import ModelError
from d2c.base.schema import checked
from d2c.base.settings import setting
from d2c.dparsers.directories import ModelFormat, loading, parameters, whole_directory
from d2c.dparsers.protocol import EMPTY_FORM, Report, TaggingProgress
from d2c.dparsers.stanza.encoder import FOLDER, NAME, read_encoder, said_of
from d2c.dparsers.stanza.networks import (
    ONE_AT_A_TIME,
    Sentences,
    StanzaDocument,
    load_network,
    quiet,
    read_checkpoint,
    seeded,
)
from d2c.dparsers.stanza.tasks import ARGUMENTS, StanzaEstimator, TagTask, bare_tagger
from d2c.dparsers.stanza.training import EncoderPair, Preset
from d2c.dparsers.training import (
    DEV_WORDS,
    accuracy,
    check_choice,
    check_limits,
    evaluating,
    read_tagged,
    tags_of,
    thinned,
)
from d2c.trees.ctree import Tokens
from d2c.trees.formats.chunks import batches

# The model directory: the settings and a file of the network.
FORMAT = ModelFormat("tagger", "stanza", 1, ("preset", "epochs", "seed"))
_OVERRIDES = {"charlm": False, "use_peft": False, "pretrain": False}  # never trained so

_WINDOW = 1024  # sentences that `tag` sorts by length and holds at a time
_BATCH_SENTENCES, _BATCH_WORDS = 256, 5000  # at most in a batch, in tagging

_SMALL: dict[str, Any] = {
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
}
PRESETS = {
    "default": Preset({"batch_size": 32}, epochs=30),
    # Batches of 16 sentences, and stronger dropout, learn less in the same time (1,000 sentences of CRAFT).
    "small": Preset(_SMALL, epochs=10),
}
FINETUNE = Preset(_SMALL | {"char": False} | ARGUMENTS, epochs=5, least_steps=400)


@dataclass(eq=False)
class StanzaTagger(StanzaEstimator):
    """Stanza's tagger.

    preset:    default (Stanza's own sizes, made for GPUs) or small (minutes on two cores); neither is for a
               tagger with a transformer
    bert_model, checkpoints: as of a `StanzaParser`
    epochs:    passes over the training treebank, instead of the preset's number
    device:    cpu, cuda, ...; None: cuda where there is one
    seed:      same seed, same model, on one machine and number of threads; not on cuda
    arguments: further arguments of Stanza's training program, over those of the preset
    """

    FILE: ClassVar[str] = "tagger.pt"

    preset: str = "default"
    epochs: float | None = setting(None, above=0)
    device: str | None = None
    seed: int = 1
    arguments: Mapping[str, Any] | None = None
    bert_model: str | None = None
    checkpoints: Path | None = None
    tags_: tuple[str, ...] = field(default=(), init=False)
    trainer_: Any = field(default=None, init=False)

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learn, and leave the model with the best accuracy on the second file; errors: `Tagger`."""
        check_limits(self)
        if self.bert_model is None:
            check_choice("preset", self.preset, PRESETS)
        train, dev = read_tagged(train_conllu), thinned(read_tagged(dev_conllu), DEV_WORDS)
        evaluate = evaluating(
            TaggingProgress, progress, lambda: (accuracy(dev, self.tag(tokens.forms for tokens in dev)),)
        )
        with quiet(), seeded(self.seed), whole_directory(directory, FORMAT.file) as staging:
            self.tags_ = tags_of(train)
            code_of = {tag: str(i) for i, tag in enumerate(self.tags_)}
            pairs = (zip(tokens.forms, tokens.tags, strict=True) for tokens in train)
            rows = [[[form or EMPTY_FORM, code_of[tag]] for form, tag in sentence] for sentence in pairs]
            preset = PRESETS[self.preset] if self.bert_model is None else FINETUNE
            own = {"pretrain": False, "tag_columns": (UPOS_COLUMN,)}
            arguments = self._filled(stanza_program.parse_args([]), preset, **own)

            def build(arguments: dict[str, Any], encoder: EncoderPair | None) -> TagTask:
                return TagTask(arguments, rows, encoder, evaluate)

            self._learn(build, arguments, preset, staging, rows, dev)
            FORMAT.write(staging, {"tags": self.tags_, **said_of(self.bert_model)}, self)
            # Read back at once: Stanza only logs it where a model cannot be written.
            self.trainer_ = _load(staging, self._device, len(self.tags_), self.bert_model is not None)
        return self

    @classmethod
    def load(cls, directory: Path, device: str | None = None) -> Self:
        """Return the tagger that `train` left, which cannot bring code with it. Raises ModelError."""
        settings = FORMAT.read(directory)
        with quiet(), loading(directory):
            tagger = cls(device=device, **parameters(settings, FORMAT.parameters))
            tagger.tags_ = checked(settings["tags"], tuple[str, ...])
            tagger.bert_model = settings.get("bert_model")
            encoder = tagger.bert_model is not None
            tagger.trainer_ = _load(Path(directory), tagger._device, len(tagger.tags_), encoder)
            next(tagger.tag([(EMPTY_FORM,)]))  # what cannot tag says so now
        return tagger

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tokens]:
        """Yield each sentence's words with their tags, in order; about a thousand are held at a time."""
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


def _predict(trainer: Trainer, rows: Sentences) -> Iterator[list[str]]:
    """Yield what is predicted for the words of each sentence; sentences are sorted by length."""
    data = Dataset(StanzaDocument(rows), trainer.args, None, vocab=trainer.vocab, evaluation=True)
    with torch.no_grad():
        for batch in data.to_length_limited_loader(_BATCH_SENTENCES, _BATCH_WORDS):
            for sentence in trainer.predict(batch):
                yield [column for (column,) in sentence]


def _load(directory: Path, device: str, tags: int, has_encoder: bool) -> Trainer:
    path = directory / StanzaTagger.FILE
    encoder, tokenizer = read_encoder(directory / FOLDER) if has_encoder else (None, None)
    with loading(path):
        checkpoint = read_checkpoint(path, ("model", "vocab", "config"))
        config = checkpoint["config"] | _OVERRIDES | {"bert_model": NAME if has_encoder else None}
        config["tag_columns"] = tag_columns_from_config(config.get("tag_columns"))
        vocab = MultiVocab.load_state_dict(checkpoint["vocab"])
        own = {"share_hid": config["share_hid"], "bert_model": encoder, "bert_tokenizer": tokenizer}
        model = load_network(path, checkpoint, partial(Tagger, config, vocab, **own))
        known = [int(unit) for unit in vocab["upos"] if unit.isdecimal()]
        if sorted(known) != [*range(tags)]:
            raise ValueError(f"a model of {len(known)} tags, where the settings have {tags}")
    return bare_tagger(config, vocab, model.to(device))
