"""Settings that d-parsers and taggers share, each under one name from the command line to the estimator.

Each d-parser has its own class of settings. Some of its fields are taken from here, with `shared`; others it
alone has, and they may follow its name (`udpipe:swap;5`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from d2c.base.settings import MOST_PASSES, Settings, redefault, seed_setting, setting

PRESETS = "default", "small"
FINETUNE = "finetune"  # the preset of anything on a transformer, in place of any other


@dataclass(frozen=True, kw_only=True)
class SharedSettings(Settings):
    """The settings that a d-parser or tagger of some kind has.

    A d-parser without preset, seed or checkpoints ignores these, since they are also meant for others; all
    other settings that a d-parser does not have are refused.

    preset:      sizes and schedule: default, or small, which takes minutes on two cores
    charlm:      Stanza's forward and backward character language models (.pt files)
    vectors:     word vectors, as text (a word and its numbers per line); for Stanza also its .pt file
    transformer: directory or name of a transformer, an encoder of BERT's kind; by name, it is downloaded
    checkpoints: a directory from which a training that was killed goes on
    timeout:     seconds after which a program that the d-parser runs is ended; None: never
    """

    preset: str = setting("default", choices=(*PRESETS, FINETUNE))
    epochs: float | None = setting(
        None, "Passes over the training data, in place of the preset's.", above=0, most=MOST_PASSES
    )
    device: str | None = setting(
        None, "Stanza: the device to train on: cpu, cuda, ...  [default: cuda if available]"
    )
    vectors: Path | None = setting(None, "Stanza, spaCy: a file of word vectors.")
    charlm: tuple[Path, Path] | None = setting(
        None, "Stanza: files of character language models, forward and backward."
    )
    transformer: str | None = setting(
        None,
        "Put Stanza's parser and tagger on this pretrained encoder and fine-tune it (preset finetune). If it "
        "is given by name, it is downloaded.",
        metavar="DIRECTORY|NAME",
    )
    seed: int = seed_setting("The seed for all random choices.")
    checkpoints: Path | None = setting(
        None,
        "A directory in which training keeps its state, to be resumed (spaCy, --transformer, cky, combined).",
    )
    timeout: float | None = setting(
        None,
        "The time limit for each run of a cmd: command and for UDPipe's training.  [default: none]",
        metavar="SECONDS",
        above=0,
    )


IGNORED = "preset", "seed", "checkpoints"  # by d-parsers that do not have them


def shared(name: str) -> Any:
    """Return a field of `SharedSettings` again, for a class of settings of one d-parser or tagger."""
    return redefault(SharedSettings, name, getattr(SharedSettings, name))
