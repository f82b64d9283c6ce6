"""The settings of d-parsers and taggers, apart from the libraries that these run: the command line shows the
settings without them. Fields that are not described here are described in `d2c.protocols.settings`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from d2c.base.settings import Settings, setting
from d2c.protocols.settings import PRESETS, shared


@dataclass(frozen=True, kw_only=True)
class StanzaTaggerSettings(Settings):
    """How Stanza's tagger learns.

    preset:    default (Stanza's own sizes, made for GPUs) or small; with a transformer always `finetune`
    device:    cpu, cuda, ...; None: cuda where there is one
    seed:      the same seed gives the same model on one machine and number of threads, except on cuda
    arguments: further arguments of Stanza's training program, which override the preset's
    """

    preset: str = shared("preset")
    epochs: float | None = shared("epochs")
    device: str | None = shared("device")
    seed: int = shared("seed")
    transformer: str | None = shared("transformer")
    checkpoints: Path | None = shared("checkpoints")
    arguments: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class StanzaSettings(StanzaTaggerSettings):
    """How Stanza's graph parser learns.

    model_type: graph, or joint, which also predicts tags (`d2c.dparsers.stanza.graph`)
    """

    model_type: str = setting("graph", choices=("graph", "joint"))
    vectors: Path | None = shared("vectors")
    charlm: tuple[Path, Path] | None = shared("charlm")


@dataclass(frozen=True, kw_only=True)
class SpacyTaggerSettings(Settings):
    """How spaCy's tagger learns.

    preset: default (10 passes over the training treebank) or small (5)
    seed:   the same seed gives the same model on one machine
    """

    preset: str = setting("default", choices=PRESETS)
    epochs: float | None = shared("epochs")
    seed: int = shared("seed")
    checkpoints: Path | None = shared("checkpoints")


@dataclass(frozen=True, kw_only=True)
class SpacySettings(SpacyTaggerSettings):
    """How spaCy's parser learns.

    preset:  default (30 passes over the training treebank) or small (10)
    network: narrow, or wide, which learns more from large treebanks and takes longer
    """

    network: str = setting("narrow", choices=("narrow", "wide"))
    vectors: Path | None = shared("vectors")


@dataclass(frozen=True, kw_only=True)
class UDPipeSettings(Settings):
    """How UDPipe's parser learns.

    system: the transition system, see `d2c.dparsers.udpipe.parser`
    beam:   width of the beam search in parsing; 1: greedy, which is five times as fast
    preset: default (UDPipe's own: 10 passes over the training treebank) or small (4 faster passes)
    epochs: passes, rounded up
    seed:   the same seed gives the same model; UDPipe's own is fixed, so this shuffles training sentences
    """

    system: str = setting("projective", choices=("projective", "swap", "link2"))
    beam: int = setting(5, least=1, most=100)
    preset: str = setting("default", choices=PRESETS)
    epochs: float | None = shared("epochs")
    seed: int = shared("seed")
    timeout: float | None = shared("timeout")


@dataclass(frozen=True, kw_only=True)
class CommandSettings(Settings):
    """The commands that train and parse, see `d2c.dparsers.file_parser`.

    train_command: has {train} and {dev}, two CoNLL-U files, and {model}, where the command may leave a file
                   or a directory, which is then copied
    parse_command: has {model}, {input}, a CoNLL-U file whose heads are all 0, and {output}, where the command
                   must leave the same sentences with heads and labels
    timeout:       seconds after which a run of either command is ended
    """

    train_command: str
    parse_command: str
    timeout: float | None = shared("timeout")


@dataclass(frozen=True, kw_only=True)
class FileSettings(Settings):
    """The files that hold d-trees.

    path: the file; a model keeps the absolute path of the file that `parse` reads, not its d-trees
    dev:  a second file, which `parse` then reads; the first has the d-trees of the training treebank. The
          d-trees of both may follow any convention.
    """

    path: Path
    dev: Path | None = None


@dataclass(frozen=True, kw_only=True)
class PipelineSettings(Settings):
    """The pipeline that parses.

    pipeline: `spacy:` and what `spacy.load` takes, or `stanza:` and the language of a `stanza.Pipeline`; a
              model keeps this name, not the pipeline, and keeps nothing where the name is a directory
    """

    pipeline: str
