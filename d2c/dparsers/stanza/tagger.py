"""Stanza's tagger, trained from scratch on CoNLL-U, or on a pretrained encoder.

A bidirectional LSTM over words and their characters (Qi et al. 2018). Stanza predicts UPOS, XPOS and
features, one given the other; here there is only one column, which it calls UPOS: the treebank's tags.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from stanza.models import tagger as stanza_program
from stanza.models.pos.data import Dataset
from stanza.models.pos.model import Tagger
from stanza.models.pos.tag_columns import UPOS_COLUMN, tag_columns_from_config

from d2c.dparsers.settings import StanzaTaggerSettings
from d2c.dparsers.stanza.encoder import said_of
from d2c.dparsers.stanza.networks import (
    ONE_AT_A_TIME,
    BareTagger,
    StanzaDocument,
    quiet,
    seeded,
)
from d2c.dparsers.stanza.tasks import ARGUMENTS, StanzaEstimator, TagTask
from d2c.dparsers.stanza.training import EncoderPair, Preset
from d2c.protocols.abilities import TaggerAbilities
from d2c.protocols.directories import ModelFormat, loading
from d2c.protocols.dparser import EMPTY_FORM
from d2c.protocols.settings import FINETUNE
from d2c.protocols.training import Evaluate, TrainedTagger, Treebanks

_OVERRIDES = {"charlm": False, "pretrain": False}  # no tagger here is trained with them

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
    FINETUNE: Preset(_SMALL | {"char": False} | ARGUMENTS, epochs=5, least_steps=400),
}


class StanzaTagger(StanzaEstimator, TrainedTagger):
    """Stanza's tagger."""

    # The model directory: the settings and a file of the network.
    FORMAT: ClassVar[ModelFormat] = ModelFormat("tagger", "stanza", 1, ("preset", "epochs", "seed"))
    WINDOW: ClassVar[int] = 1024
    FILE: ClassVar[str] = "tagger.pt"
    PRESETS: ClassVar[Mapping[str, Preset]] = PRESETS
    settings: StanzaTaggerSettings

    def __init__(self, settings: StanzaTaggerSettings) -> None:
        super().__init__(settings)
        self.abilities = TaggerAbilities(gpu=self._wants_gpu)

    @classmethod
    def _of(cls, said: dict[str, Any], device: str | None) -> Self:
        own = {"transformer": said.get("transformer"), **cls.FORMAT.parameters_in(said)}
        return cls(StanzaTaggerSettings(device=device, **own))

    @contextmanager
    def _seeded(self) -> Iterator[None]:
        with quiet(), seeded(self.settings.seed):
            yield

    def _fit(self, treebanks: Treebanks, evaluate: Evaluate, directory: Path) -> dict[str, Any]:
        train, dev = treebanks
        code_of = {tag: str(i) for i, tag in enumerate(self.tags_)}
        pairs = (zip(tokens.forms, tokens.tags, strict=True) for tokens in train)
        rows = [[[form or EMPTY_FORM, code_of[tag]] for form, tag in sentence] for sentence in pairs]
        preset = self._preset()
        own = {"pretrain": False, "tag_columns": (UPOS_COLUMN,)}

        def build(arguments: dict[str, Any], encoder: EncoderPair | None) -> TagTask:
            return TagTask(arguments, rows, encoder, evaluate)

        arguments = self._filled(stanza_program.parse_args([]), preset, **own)
        self._learn(build, arguments, preset, directory, rows, dev)
        self._restore(directory)  # at once: where a model cannot be written, Stanza only logs that
        return said_of(self.settings.transformer)

    def _restore(self, directory: Path) -> None:
        def own(config: Mapping[str, Any]) -> dict[str, Any]:
            return _OVERRIDES | {"tag_columns": tag_columns_from_config(config.get("tag_columns"))}

        def build(config: dict[str, Any], vocab: Any, **encoder: Any) -> Tagger:
            return Tagger(config, vocab, share_hid=config["share_hid"], **encoder)

        with quiet(), loading(directory / self.FILE):
            config, vocab, model = self._network(directory, own, build)
            known = [int(unit) for unit in vocab["upos"] if unit.isdecimal()]
            if sorted(known) != [*range(len(self.tags_))]:
                raise ValueError(f"a model of {len(known)} tags, where the settings have {len(self.tags_)}")
            self.trainer_ = BareTagger(config, vocab, model)

    def _predict(self, sentences: list[list[str]]) -> Sequence[Sequence[str]]:
        rows = [[[form, EMPTY_FORM] for form in forms] for forms in sentences]
        order = sorted((i for i, forms in enumerate(rows) if forms), key=lambda i: len(rows[i]))
        tagged: list[Sequence[str]] = [()] * len(rows)
        trainer = self.trainer_
        with ONE_AT_A_TIME, quiet(), torch.no_grad():
            words = StanzaDocument([rows[i] for i in order])
            data = Dataset(words, trainer.args, None, vocab=trainer.vocab, evaluation=True)
            loader = data.to_length_limited_loader(_BATCH_SENTENCES, _BATCH_WORDS)
            found = chain.from_iterable(map(trainer.predict, loader))
            for i, sentence in zip(order, found, strict=True):
                # A code is a number or, though never seen so far, the name of Stanza's padding.
                tagged[i] = [self.tags_[int(code) if code.isdecimal() else 0] for (code,) in sentence]
        return tagged
