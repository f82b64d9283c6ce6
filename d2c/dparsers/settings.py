"""The settings of d-parsers and taggers, apart from what they run: the command line needs no library to show
them. Those without a word here are described in `d2c.protocols.settings`."""

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
    seed:      same seed, same model, on one machine and number of threads; not on cuda
    arguments: further arguments of Stanza's training program, over those of the preset
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

    model_type: graph, or joint, which finds tags, too (`d2c.dparsers.stanza.graph`)
    """

    model_type: str = setting("graph", choices=("graph", "joint"))
    vectors: Path | None = shared("vectors")
    charlm: tuple[Path, Path] | None = shared("charlm")


@dataclass(frozen=True, kw_only=True)
class SpacyTaggerSettings(Settings):
    """How spaCy's tagger learns.

    preset: default (10 passes over the training treebank) or small (5)
    seed:   same seed, same model, on one machine
    """

    preset: str = setting("default", choices=PRESETS)
    epochs: float | None = shared("epochs")
    seed: int = shared("seed")
    checkpoints: Path | None = shared("checkpoints")


@dataclass(frozen=True, kw_only=True)
class SpacySettings(SpacyTaggerSettings):
    """How spaCy's parser learns.

    preset:  default (30 passes over the training treebank) or small (10)
    network: narrow, or wide, which learns more from large treebanks, and takes longer
    """

    network: str = setting("narrow", choices=("narrow", "wide"))
    vectors: Path | None = shared("vectors")


@dataclass(frozen=True, kw_only=True)
class UDPipeSettings(Settings):
    """How UDPipe's parser learns.

    system: of transitions, see `d2c.dparsers.udpipe.parser`
    beam:   width of the beam search in parsing; 1: greedy, which is five times as fast
    preset: default (UDPipe's own: 10 passes over the training treebank) or small (4 passes, quick ones)
    epochs: rounded up
    seed:   same seed, same model; UDPipe's own is fixed, so this shuffles the training sentences
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

    train_command: with {train} and {dev}, two CoNLL-U files, and {model}, where it may leave a file or a
                   directory, which is copied afterwards
    parse_command: with {model}, {input}, a CoNLL-U file whose heads are all 0, and {output}, where it must
                   leave the same sentences with heads and labels
    timeout:       seconds after which a run of either is ended
    """

    train_command: str
    parse_command: str
    timeout: float | None = shared("timeout")


@dataclass(frozen=True, kw_only=True)
class FileSettings(Settings):
    """The files that hold d-trees.

    path: the file; a model keeps its absolute path, not what it holds
    dev:  with a second file, the first has the d-trees of the training treebank, and the second is the one
          that `parse` reads. They may be of any convention.
    """

    path: Path
    dev: Path | None = None


@dataclass(frozen=True, kw_only=True)
class PipelineSettings(Settings):
    """The pipeline that parses.

    pipeline: `spacy:` with what `spacy.load` takes, or `stanza:` with the language of a `stanza.Pipeline`;
              a model keeps this name, not the pipeline, and nothing where it is a directory
    """

    pipeline: str
