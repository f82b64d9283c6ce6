"""What Stanza's parser and tagger share: arguments, a training from scratch or on an encoder, files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from stanza.models.common.utils import default_device

from d2c.dparsers.stanza.encoder import FOLDER, load_encoder, save_encoder
from d2c.dparsers.stanza.tasks import EncoderPair, StanzaTask, fitted
from d2c.dparsers.stanza.training import NetworkTraining, Preset


class StanzaEstimator:
    """A parser or tagger of Stanza's; its parameters are those of `StanzaParser`."""

    preset: str
    epochs: float | None
    device: str | None
    seed: int
    bert_model: str | None
    checkpoints: Path | None
    arguments: Mapping[str, Any] | None
    trainer_: Any

    @property
    def misses_gpu(self) -> bool:
        """Whether it has Stanza's own sizes, and is to be trained on a CPU."""
        return self.preset == "default" and self.bert_model is None and self._device == "cpu"

    @property
    def _device(self) -> str:
        return self.device or str(default_device())

    def _filled(self, defaults: Mapping[str, Any], preset: Preset, **own: object) -> dict[str, Any]:
        """Return the arguments of Stanza's training program."""
        return {
            **defaults,
            "shorthand": "d2c",
            "lang": "d2c",
            "seed": self.seed,
            "device": self._device,
            # These two delete a word of some training sentences, by tags and marks of UD, and leave all
            # labels as they are, although the labels of its sisters count its attachment.
            "augment_nopunct": 0.0,
            "drop_initial_punct_prob": 0.0,
            **own,
            **preset.arguments,
            **(self.arguments or {}),
        }

    def _learn(
        self,
        build: Callable[[dict[str, Any], EncoderPair | None], StanzaTask],
        arguments: dict[str, Any],
        preset: Preset,
        *treebanks: object,
    ) -> None:
        """Train what `build` makes of arguments and encoder; treebanks: what it is trained on."""
        encoder = None
        if self.bert_model is not None:
            encoder = load_encoder(self.bert_model)
            arguments = fitted(arguments, encoder[0])
        task = build(arguments, encoder)
        self.trainer_ = task.trainer  # which scores on dev
        training = NetworkTraining(task, arguments, preset, self.epochs)
        if encoder and self.checkpoints is not None:
            training.keep_in(self.checkpoints, _made_of(arguments), preset, self.epochs, treebanks)
        training.run()
        self.trainer_ = task.trainer

    def _save(self, directory: Path, file: str) -> None:
        """Write the network, and its encoder into a folder of its own."""
        model = self.trainer_.model
        if self.bert_model is not None:
            save_encoder(model.bert_model, model.bert_tokenizer, directory / FOLDER)
            model.unsaved_modules.append("bert_model")
        self.trainer_.save(str(directory / file))


def _made_of(arguments: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the arguments of Stanza's programs, but where they run and which files they read."""
    return sorted((k, v) for k, v in arguments.items() if k != "device" and not k.endswith(("_file", "_dir")))


@contextmanager
def threads(number: int | None) -> Iterator[None]:
    """Let torch compute with so many threads; None: with as many as it does."""
    before = torch.get_num_threads()
    torch.set_num_threads(number or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
