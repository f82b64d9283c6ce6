"""Stanza's dependency parsers, trained from scratch on CoNLL-U: the d-parser that d2c uses by default.

`graph` is the deep biaffine parser of Qi et al. (2018) after Dozat and Manning (2017): O(n^2) arc scores and
the best single-rooted tree (Chu-Liu-Edmonds, so not always projective). `transition` builds a stack of
subtrees, its arcs may cross as well; it is many times slower. Both give exactly one root and no cycles.

The training loop is ours and follows `stanza.models.parser.train`, because that one scores with the UD
evaluation, which cuts labels at `:`, refuses forms made of spaces and recurses over the depth of a tree; it
goes on after an interrupted save; and it knows no learning rate that falls with the steps to go. Stanza's
own classes do the rest: vocabularies, batches, networks, updates and decoding.
"""

from __future__ import annotations

import logging
import random
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy
import torch
from stanza.models import parser as stanza_program
from stanza.models.common.pretrain import Pretrain
from stanza.models.common.utils import default_device, set_random_seed, update_word_cutoff
from stanza.models.depparse.data import DataLoader, InfiniteBatch
from stanza.models.depparse.trainer import GraphTrainer, Trainer, TransitionTrainer
from stanza.models.depparse.utils import predict_dataset
from stanza.utils.conll import CoNLL
from torch.optim.lr_scheduler import LambdaLR

from dparsers.directories import read_settings, whole_directory, write_settings
from dparsers.protocol import Progress
from trees.ctree import Tokens
from trees.dtree import DTree, is_tree
from trees.errors import FormatError, ModelError

FORMAT = 1  # of the model directory
MODEL, VECTORS, CHARLMS = "parser.pt", "vectors.pt", ("charlm_forward.pt", "charlm_backward.pt")

_TRAINERS = {"graph": GraphTrainer, "transition": TransitionTrainer}
_WINDOW = 1024  # sentences that `parse` sorts by length and holds at a time
_SCORES_PARSING, _SCORES_TRAINING = 1 << 26, 1 << 28  # numbers in the largest array of one batch


@dataclass(frozen=True)
class Preset:
    """Sizes and schedule of a training.

    arguments:   those of Stanza's training program that differ from its defaults
    words:       words to train on in total, repetitions counted; the learning rate rises over the first
                 tenth of the steps, then falls linearly to 0. None: Stanza's own schedule, which watches
                 the development treebank
    epochs:      least and greatest number of passes over the training treebank that `words` may become
    evaluations: on the development treebank during such a training
    dev_words:   the development treebank is thinned out evenly to about so many words. None: all of it
    """

    arguments: Mapping[str, Any] = field(default_factory=dict)
    words: int | None = None
    epochs: tuple[int, int] = (1, 1000)
    evaluations: int = 8
    dev_words: int | None = None


_SMALL: dict[str, Any] = {
    "hidden_dim": 200,
    "num_layers": 2,
    "deep_biaff_hidden_dim": 100,
    "char_hidden_dim": 100,
    "char_emb_dim": 50,
    "transformed_dim": 100,
    "word_emb_dim": 100,
    "tag_emb_dim": 50,
    "word_cutoff": 2,
    "dropout": 0.33,
    "word_dropout": 0.2,
    "optim": "adam",
    "lr": 0.003,
    "beta2": 0.95,
    "weight_decay": None,
    "batch_size": 700,
    "max_grad_norm": 5.0,
}
PRESETS = {
    "default": {"graph": Preset(), "transition": Preset({"batch_size": 1000})},
    "small": {
        "graph": Preset(_SMALL, 1_000_000, (6, 40), dev_words=20_000),
        "transition": Preset(_SMALL, 300_000, (2, 20), dev_words=5_000),
    },
}


class StanzaParser:
    """One of Stanza's two dependency parsers.

    model_type:   graph or transition
    preset:       default (Stanza's sizes and schedule) or small (minutes on two cores)
    vectors:      word vectors, as text (`word 0.1 -0.2 ...`) or in Stanza's format (.pt)
    charlm:       forward and backward character language model in Stanza's format
    bert_model:   name or directory of a transformer; the one thing that may be downloaded
    epochs:       instead of the preset's number of passes over the training treebank
    device:       cpu, cuda, ...; None: cuda where there is one
    seed:         same seed, same model, on the same machine with the same number of threads; not on cuda
    threads:      for torch; None: as torch is set
    arguments:    further arguments of Stanza's training program, over those of the preset

    Words, tags, and, where there are any, lemmas and morphology are what it sees. Morphology takes the place
    of Stanza's UPOS: its own embedding of features expects the notation of UD and is not used.
    """

    def __init__(
        self,
        model_type: str = "graph",
        preset: str = "small",
        vectors: Path | None = None,
        charlm: tuple[Path, Path] | None = None,
        bert_model: str | None = None,
        epochs: float | None = None,
        device: str | None = None,
        seed: int = 1,
        threads: int | None = None,
        arguments: Mapping[str, Any] | None = None,
    ) -> None:
        self.model_type, self.preset = model_type, preset
        self.vectors, self.charlm, self.bert_model = vectors, charlm, bert_model
        self.epochs, self.device, self.seed, self.threads = epochs, device, seed, threads
        self.arguments = arguments
        self.trainer_: Trainer | None = None

    def train(
        self,
        train_conllu: Path,
        dev_conllu: Path,
        directory: Path,
        progress: Callable[[Progress], None] | None = None,
    ) -> Self:
        """Learns from one CoNLL-U file and leaves the model that is best on another in a directory.

        Raises FormatError for files that cannot be learned from, ModelError for vectors, language models and
        directories that cannot be used, ValueError for unknown parameters.
        """
        preset = self._preset()
        train_rows, dev_rows = read_rows(train_conllu), read_rows(dev_conllu)
        with _quiet(), _seeded(self.seed), self._threads(), whole_directory(Path(directory)) as staging:
            arguments = self._arguments(preset, staging)
            pretrain = _load_vectors(staging / VECTORS) if self.vectors else None
            arguments["word_cutoff"] = update_word_cutoff(pretrain, arguments["word_cutoff"])
            trainer = _fit(arguments, preset, self.epochs, train_rows, dev_rows, pretrain, progress)
            _save(trainer, staging / MODEL)
            write_settings(staging, "stanza", FORMAT, self._settings())
            self.trainer_ = _load(staging, trainer.args["device"])
        return self

    @classmethod
    def load(cls, directory: Path, device: str | None = None) -> Self:
        """The parser that `train` left in a directory. Raises ModelError. Runs no code from the directory."""
        settings = read_settings(Path(directory), "stanza", FORMAT)
        known = {name: settings[name] for name in ("model_type", "preset", "bert_model") if name in settings}
        parser = cls(**known, device=device)  # type: ignore[arg-type]
        with _quiet():
            parser.trainer_ = _load(Path(directory), device or default_device())
        return parser

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """The d-tree of each sentence, in order; holds about a thousand sentences at a time."""
        if self.trainer_ is None:
            raise ModelError("this parser is not trained yet")
        stream = iter(sentences)
        while window := [*islice(stream, _WINDOW)]:
            with _quiet(), self._threads():
                predictions = _predict(self.trainer_, [rows_of(tokens) for tokens in window if len(tokens)])
            for tokens in window:
                arcs = predictions.pop() if len(tokens) else []
                yield DTree(tokens, tuple([h for h, _ in arcs]), labels=tuple([label for _, label in arcs]))

    def _preset(self) -> Preset:
        if self.model_type not in _TRAINERS:
            raise ValueError(f"model type {self.model_type!r} is none of {', '.join(_TRAINERS)}")
        if self.preset not in PRESETS:
            raise ValueError(f"preset {self.preset!r} is none of {', '.join(PRESETS)}")
        return PRESETS[self.preset][self.model_type]

    def _arguments(self, preset: Preset, staging: Path) -> dict[str, Any]:
        """Arguments as Stanza's training program would have them; copies other models into `staging`."""
        arguments = stanza_program.parse_args([])
        unknown = {*preset.arguments, *(self.arguments or {})} - set(arguments)
        if unknown:
            raise ValueError(f"Stanza's parser has no argument {', '.join(sorted(unknown))}")
        arguments |= {
            "model_type": self.model_type,
            "shorthand": "d2c",
            "lang": "d2c",
            "seed": self.seed,
            "device": self.device or default_device(),
            "pretrain": self.vectors is not None,
            "bert_model": self.bert_model,
            # Both delete a word from some training sentences and leave all labels as they are, although
            # the labels of its head's other modifiers count that word's attachment.
            "augment_nopunct": 0.0,
            "drop_initial_punct_prob": 0.0,
            # Where features are on, Stanza (1.15) concatenates the embedding of the tags a second time.
            "use_ufeats": False,
        }
        if self.vectors is not None:
            _convert_vectors(Path(self.vectors), staging / VECTORS, arguments["pretrain_max_vocab"])
        if self.charlm is not None:
            for source, name in zip(self.charlm, CHARLMS, strict=True):
                try:
                    shutil.copyfile(source, staging / name)
                except OSError as error:
                    raise ModelError(f"{source}: cannot be read: {error.strerror or error}") from None
            arguments |= _charlm_arguments(staging)
        return arguments | dict(preset.arguments) | dict(self.arguments or {})

    def _settings(self) -> dict[str, object]:
        return {"model_type": self.model_type, "preset": self.preset, "bert_model": self.bert_model}

    @contextmanager
    def _threads(self) -> Iterator[None]:
        before = torch.get_num_threads()
        torch.set_num_threads(self.threads or before)
        try:
            yield
        finally:
            torch.set_num_threads(before)


# A sentence in the order in which Stanza asks for a word's columns, see `_Rows`.
Row = list[Any]  # text, UPOS, XPOS, FEATS, lemma, head, label


class _Rows:
    """Sentences as Stanza's data loader sees a document.

    Instead of its `Document`, which interprets forms, comments and the MISC column, and is slow to build.
    """

    def __init__(self, sentences: Sequence[list[Row]]) -> None:
        self.sentences = sentences

    def get(self, fields: object, as_sentences: bool) -> list[list[Row]]:
        return [[row.copy() for row in sentence] for sentence in self.sentences]  # the loader changes them


def rows_of(tokens: Tokens) -> list[Row]:
    """A sentence to be parsed."""
    nothing = ("_",) * len(tokens)
    columns = zip(tokens.forms, tokens.morphs or nothing, tokens.tags, tokens.lemmas or nothing, strict=True)
    return [[form or "_", morph, tag, "_", lemma, 0, "_"] for form, morph, tag, lemma in columns]


def read_rows(path: Path) -> list[list[Row]]:
    """The sentences of a CoNLL-U file with heads and labels. Raises FormatError."""
    try:
        sentences, _, _ = CoNLL.conll2dict(str(path))
    except OSError as error:
        raise FormatError(str(path), 0, 0, f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise FormatError(str(path), 0, 0, str(error).partition("\n")[0]) from None
    result = []
    for number, sentence in enumerate(sentences, 1):
        words = [word for word in sentence if len(word["id"]) == 1]
        if not all("deprel" in word for word in words) or not is_tree([word.get("head", -1) for word in words]):
            raise FormatError(str(path), 0, number, "heads and labels form no labelled tree")
        keys = ("text", "feats", "xpos", "", "lemma", "head", "deprel")
        result.append([[word.get(key, "_") for key in keys] for word in words])
    if not result:
        raise FormatError(str(path), 0, 0, "no sentence found")
    return result


def _loader(rows: list[list[Row]], trainer_arguments: dict[str, Any], pretrain: Pretrain | None, **options: Any) -> DataLoader:
    return DataLoader(_Rows(rows), options.pop("batch_size"), trainer_arguments, pretrain, **options)


def _predict(trainer: Trainer, rows: list[list[Row]]) -> list[list[tuple[int, str]]]:
    """Head and label of every word, the last sentence first."""
    loader = DataLoader(
        _Rows(rows),
        _batch_words(trainer.args, trainer.vocab, _SCORES_PARSING),
        trainer.args,
        trainer.pretrain_,
        vocab=trainer.vocab,
        evaluation=True,
        sort_during_eval=True,
    )
    predictions = predict_dataset(trainer, loader)
    if [*map(len, predictions)] != [*map(len, rows)]:
        # Stanza leaves out sentences that are too long for some transformers.
        raise ModelError(f"a sentence is too long for the transformer {trainer.args['bert_model']}")
    return [[(int(head), label) for head, label in arcs] for arcs in reversed(predictions)]
