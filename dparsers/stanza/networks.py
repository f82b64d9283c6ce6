"""What all of Stanza's networks share here: plain rows of words, prediction, seeds, silence and turns."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stanza.models.common.pretrain import Pretrain
from stanza.models.common.utils import set_random_seed
from stanza.models.common.vocab import VOCAB_PREFIX_SIZE
from stanza.models.depparse.data import DataLoader
from stanza.models.depparse.trainer import GraphTrainer, Trainer, TransitionTrainer
from stanza.models.depparse.utils import predict_dataset

from d2c.dparsers.protocol import Arcs
from d2c.dparsers.training import seeded as seeded_numpy
from d2c.packed.arcs import LEAST_LABEL, ArcLabels, PackedArcs, arcs_of

TRAINERS = {"graph": GraphTrainer, "transition": TransitionTrainer}

# Of one word: form, UPOS, XPOS, FEATS, lemma, head and label, as Stanza's loader asks for them.
WordRow = list[Any]
Sentences = Sequence[Sequence[WordRow]]

_NUMBERS_TRAINING, _NUMBERS_PARSING = 1 << 28, 1 << 26  # in the largest array of one batch

# Held while networks predict: a call switches its network, and torch's number of threads, for all that run.
# One for all networks: they are copied to other processes, a lock in them would not be.
ONE_AT_A_TIME = Lock()

# Of Stanza's networks of one layer, whose dropout is elsewhere.
warnings.filterwarnings("ignore", message="dropout option adds dropout after all but last recurrent layer")

_QUIET = ContextVar("quiet", default=False)


class StanzaDocument:
    """Sentences as Stanza's loaders see its `Document`, which interprets forms and is slow to build."""

    def __init__(self, sentences: Sentences) -> None:
        self.sentences = sentences

    def get(self, fields: object, as_sentences: bool) -> list[list[WordRow]]:
        return [[row.copy() for row in sentence] for sentence in self.sentences]  # loaders change them


def predict(trainer: Trainer, pretrain: Pretrain | None, sentences: Sentences) -> list[Arcs]:
    """Return heads and labels of sentences, each of at least one word, sorted by length into batches."""
    return [_arcs(tree) for tree in _predicted(trainer, pretrain, sentences)]


def predict_packed(
    trainer: Trainer, pretrain: Pretrain | None, sentences: Sentences
) -> list[tuple[Arcs, PackedArcs]]:
    """Predict as `predict`, by a graph parser, with its softmax over heads and labels as probabilities."""
    decode = trainer.model.decode_graph_predictions
    vocab = trainer.vocab["deprel"]
    names = tuple(vocab.unmap(range(VOCAB_PREFIX_SIZE, len(vocab))))

    def with_scores(
        vocab: object, size: int, scores: Any, lengths: Sequence[int], *rest: Any, **more: Any
    ) -> Any:
        trees = decode(vocab, size, scores, lengths, *rest, **more)
        sentences = zip(scores[0], scores[2], lengths, trees, strict=False)
        packed = (_packed(of[1:n, :n], names, by[1:n, :n], arcs) for of, by, n, arcs in sentences)
        return list(zip(trees, packed, strict=True))

    trainer.model.decode_graph_predictions = with_scores
    try:
        predictions = _predicted(trainer, pretrain, sentences)
    finally:
        del trainer.model.decode_graph_predictions
    return [(_arcs(tree), packed) for tree, packed in predictions]


def _arcs(tree: Sequence[Any]) -> Arcs:
    return [int(head) for head, _ in tree], [label for _, label in tree]


def _packed(
    scores: NDArray[Any], names: tuple[str, ...], of_labels: NDArray[Any], tree: Sequence[Any]
) -> PackedArcs:
    """scores: [n, n + 1] logarithms of probabilities, which do not sum to 1 in a batch with longer ones;
    of_labels: [n, n + 1, L] the same of the labels"""
    shares = np.exp(scores.astype(np.float64))
    logs = np.maximum(of_labels, np.log(LEAST_LABEL)).reshape(-1, len(names))
    return arcs_of(shares / shares.sum(axis=1, keepdims=True), _arcs(tree)[0], labels=ArcLabels(names, logs))


def _predicted(trainer: Trainer, pretrain: Pretrain | None, sentences: Sentences) -> list[Any]:
    """Return pairs of head and label of each word of each sentence."""
    words = batch_words(trainer.args, len(trainer.vocab["deprel"]), _NUMBERS_PARSING)
    loader = DataLoader(
        StanzaDocument(sentences),
        words,
        trainer.args,
        pretrain,
        trainer.vocab,
        evaluation=True,
        sort_during_eval=True,
    )
    return predict_dataset(trainer, loader)  # type: ignore[no-any-return]


def batch_words(arguments: Mapping[str, Any], labels: int, numbers: int = _NUMBERS_TRAINING) -> int:
    """Return the words of a batch, so few that the label scorer's [words, hidden, labels] array stays small.

    Stanza's 5000 words are meant for the 50 labels of UD; there may be a thousand here.
    """
    wanted, hidden = int(arguments["batch_size"]), int(arguments["deep_biaff_hidden_dim"])
    return max(1, min(wanted, numbers // ((hidden + 1) * labels)))


@contextmanager
def quiet() -> Iterator[None]:
    """Silence what Stanza logs in this thread; it repeats what `Progress` and exceptions say."""
    for one in _that_log():
        one.addFilter(_unless_quiet)  # is added once
    before = _QUIET.set(True)
    try:
        yield
    finally:
        _QUIET.reset(before)


def _that_log() -> Iterator[logging.Filterer]:
    """Stanza's loggers, each of which hands what it logs to other handlers, too, and Stanza's handlers."""
    for name, log in [*logging.root.manager.loggerDict.items()]:
        if name.partition(".")[0] == "stanza" and isinstance(log, logging.Logger):
            yield log
    yield from logging.getLogger("stanza").handlers


def _unless_quiet(_: logging.LogRecord) -> bool:
    return not _QUIET.get()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the generators that Stanza draws from; afterwards they go on as if nothing was drawn."""
    with seeded_numpy(seed), torch.random.fork_rng(devices=[]):
        set_random_seed(seed)
        yield
