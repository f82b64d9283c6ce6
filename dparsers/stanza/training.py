"""The training loop and the prediction of Stanza's dependency parsers over plain rows of words.

The loop follows `stanza.models.parser.train`. It is written anew because that one scores with the UD
evaluation, which cuts labels at `:`, refuses forms made of spaces and recurses over the depth of a tree;
because it goes on after an interrupted save; and because it knows no learning rate that falls with the steps
to go. Stanza's own classes do the rest: vocabularies, batches, networks, updates, decoding.
"""

from __future__ import annotations

import logging
import math
import random
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stanza.models.common.pretrain import Pretrain
from stanza.models.common.utils import set_random_seed, update_word_cutoff
from stanza.models.common.vocab import VOCAB_PREFIX_SIZE
from stanza.models.depparse.data import DataLoader
from stanza.models.depparse.trainer import GraphTrainer, Trainer, TransitionTrainer
from stanza.models.depparse.utils import predict_dataset
from torch.optim.lr_scheduler import LambdaLR

from d2c.dparsers.protocol import Arcs, Progress, Report
from d2c.dparsers.training import evaluations, reporter, rise_and_fall, thinned
from d2c.dparsers.training import seeded as seeded_numpy
from d2c.packed.arcs import LEAST_LABEL, ArcLabels, PackedArcs, arcs_of

TRAINERS = {"graph": GraphTrainer, "transition": TransitionTrainer}

Row = list[Any]  # of one word: form, UPOS, XPOS, FEATS, lemma, head, label, as Stanza's loader asks for them

_NUMBERS_TRAINING, _NUMBERS_PARSING = 1 << 28, 1 << 26  # in the largest array of one batch

# Held while networks predict: a call switches its network, and torch's number of threads, for all that run.
# One for all networks: they are copied to other processes, a lock in them would not be.
ONE_AT_A_TIME = Lock()

# Of Stanza's networks of one layer, whose dropout is elsewhere.
warnings.filterwarnings("ignore", message="dropout option adds dropout after all but last recurrent layer")

_QUIET = ContextVar("quiet", default=False)


@dataclass(frozen=True)
class Preset:
    """Sizes and schedule of a training.

    arguments:   those of Stanza's training program that differ from its defaults
    epochs:      passes over the training treebank; the learning rate rises over the first twentieth of the
                 steps, then falls linearly to 0. None: Stanza's own schedule, which follows the scores on
                 the development treebank
    least_steps: more epochs than that, where a treebank is too small to make so many steps
    evaluations: on the development treebank, evenly spread over the epochs
    dev_words:   the development treebank is thinned out evenly to about so many words. None: all of it
    """

    arguments: Mapping[str, Any] = field(default_factory=dict)
    epochs: float | None = None
    least_steps: int = 0
    evaluations: int = 8
    dev_words: int | None = None


class Rows:
    """Sentences as Stanza's loaders see its `Document`, which interprets forms and is slow to build."""

    def __init__(self, sentences: Sequence[Sequence[Row]]) -> None:
        self.sentences = sentences

    def get(self, fields: object, as_sentences: bool) -> list[list[Row]]:
        return [[row.copy() for row in sentence] for sentence in self.sentences]  # loaders change them


def predict(trainer: Trainer, pretrain: Pretrain | None, sentences: Sequence[Sequence[Row]]) -> list[Arcs]:
    """Heads and labels of sentences, each of at least one word; they are sorted by length into batches."""
    predictions = _predicted(trainer, pretrain, sentences)
    return [([int(head) for head, _ in arcs], [label for _, label in arcs]) for arcs in predictions]


def predict_packed(
    trainer: Trainer, pretrain: Pretrain | None, sentences: Sequence[Sequence[Row]]
) -> list[tuple[Arcs, PackedArcs]]:
    """As `predict`, by a graph parser, with the probabilities of heads and labels: its softmax over them."""
    decode = trainer.model.decode_graph_predictions
    vocab = trainer.vocab["deprel"]
    names = tuple(vocab.unmap(range(VOCAB_PREFIX_SIZE, len(vocab))))

    def with_scores(
        vocab: object, size: int, scores: Any, lengths: Sequence[int], *rest: Any, **more: Any
    ) -> Any:
        trees = decode(vocab, size, scores, lengths, *rest, **more)
        sentences = zip(scores[0], scores[2], lengths, trees, strict=False)
        found = (_packed(of[1:n, :n], names, by[1:n, :n], arcs) for of, by, n, arcs in sentences)
        return list(zip(trees, found, strict=True))

    trainer.model.decode_graph_predictions = with_scores
    try:
        predictions = _predicted(trainer, pretrain, sentences)
    finally:
        del trainer.model.decode_graph_predictions
    return [(([int(h) for h, _ in arcs], [label for _, label in arcs]), found) for arcs, found in predictions]


def _packed(
    scores: NDArray[Any], names: tuple[str, ...], of_labels: NDArray[Any], arcs: Sequence[Any]
) -> PackedArcs:
    """scores: [n, n + 1] logarithms of probabilities, which do not sum to 1 in a batch with longer ones;
    of_labels: [n, n + 1, L] the same of the labels"""
    shares = np.exp(scores.astype(np.float64))
    logs = np.maximum(of_labels, np.log(LEAST_LABEL)).reshape(-1, len(names))
    heads = [int(head) for head, _ in arcs]
    return arcs_of(shares / shares.sum(axis=1, keepdims=True), heads, labels=ArcLabels(names, logs))


def _predicted(trainer: Trainer, pretrain: Pretrain | None, sentences: Sequence[Sequence[Row]]) -> list[Any]:
    """What Stanza makes of each sentence."""
    words = batch_words(trainer.args, len(trainer.vocab["deprel"]), _NUMBERS_PARSING)
    loader = DataLoader(
        Rows(sentences), words, trainer.args, pretrain, trainer.vocab, evaluation=True, sort_during_eval=True
    )
    return predict_dataset(trainer, loader)  # type: ignore[no-any-return]


def attachment(gold: Sequence[Sequence[Row]], predicted: Sequence[Arcs]) -> tuple[float, float]:
    """UAS and LAS with exact labels; every word counts."""
    words = heads = labels = 0
    for rows, arcs in zip(gold, predicted, strict=True):
        for (*_, gold_head, gold_label), head, label in zip(rows, *arcs, strict=True):
            words += 1
            heads += head == gold_head
            labels += head == gold_head and label == gold_label
    return heads / words, labels / words


def fit(
    arguments: dict[str, Any],
    preset: Preset,
    epochs: float | None,
    train: Sequence[Sequence[Row]],
    dev: Sequence[Sequence[Row]],
    pretrain: Pretrain | None,
    progress: Report,
) -> Trainer:
    """A parser trained on some sentences, in the state that had the best LAS on others.

    arguments: of Stanza's training program; epochs: instead of the preset's
    """
    labels = len({row[-1] for rows in train for row in rows})
    arguments["batch_size"] = batch_words(arguments, labels)
    arguments["word_cutoff"] = update_word_cutoff(pretrain, arguments["word_cutoff"])
    loader = DataLoader(Rows(train), arguments["batch_size"], arguments, pretrain)
    trainer = TRAINERS[arguments["model_type"]](
        args=arguments, vocab=loader.vocab, pretrain=pretrain, device=arguments["device"]
    )
    if preset.dev_words is not None:
        dev = thinned(dev, preset.dev_words)
    if epochs is not None:
        steps = math.ceil(epochs * len(loader))
    elif preset.epochs is not None:
        steps = max(math.ceil(preset.epochs * len(loader)), preset.least_steps)
    else:
        steps = arguments["max_steps"]
    interval = arguments["eval_interval"]
    falling = []
    if preset.epochs is not None:
        interval = math.ceil(steps / preset.evaluations)
        falling = [LambdaLR(optimizer, rise_and_fall(steps)) for optimizer in trainer.optimizer.values()]

    best: dict[str, Any] = {}
    best_las, last_best, second_stage = -1.0, 0, False
    batches, report = _batches(loader), reporter(Progress, progress)

    def update() -> float:
        loss, _ = trainer.update(next(batches))
        for scheduler in falling:
            scheduler.step()
        return float(loss)

    for step, loss in evaluations(steps, interval, update, "stanza", arguments["device"]):
        if loss is not None:
            uas, las = attachment(dev, predict(trainer, pretrain, dev))
            report(step, steps, loss, uas, las)
            if las > best_las:
                best_las, last_best = las, step
                best = {name: value.clone() for name, value in trainer.model.get_params(True).items()}
            if not falling:
                for scheduler in trainer.scheduler.values():
                    scheduler.step(num_steps=(step - 1) % interval + 1, metrics=las)
        if falling:
            continue
        stalled = step - last_best >= arguments["max_steps_before_stop"]
        if not second_stage and arguments["second_optim"]:
            if stalled or step >= (arguments["second_optim_start_step"] or steps):
                trainer.model.load_params(best)
                second_stage = arguments["second_stage"] = True
                trainer = type(trainer)(
                    args=arguments, vocab=loader.vocab, pretrain=pretrain, model=trainer.model
                )
                last_best = step
                loader.set_batch_size(arguments["second_batch_size"] or arguments["batch_size"])
        elif stalled:
            break
    trainer.model.load_params(best)
    return trainer


def _batches(loader: DataLoader) -> Iterator[Any]:
    """Batches of sentences of similar length without end, composed anew for every pass."""
    data = loader.dataset
    while True:
        random.shuffle(data.data)  # else the same sentences meet in every pass: the loader's sort is stable
        data.lengths = [len(sentence[0]) for sentence in data.data]
        loader.reshuffle()
        yield from loader


def batch_words(arguments: Mapping[str, Any], labels: int, numbers: int = _NUMBERS_TRAINING) -> int:
    """Words in a batch, such that the label scorer's [words, hidden, labels] array stays small.

    Stanza's 5000 words are meant for the 50 labels of UD; there may be a thousand here.
    """
    wanted, hidden = int(arguments["batch_size"]), int(arguments["deep_biaff_hidden_dim"])
    return max(1, min(wanted, numbers // ((hidden + 1) * labels)))


@contextmanager
def quiet() -> Iterator[None]:
    """Silences what Stanza logs in this thread; it repeats what `Progress` and exceptions say."""
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
    """Seeds the generators that Stanza draws from; afterwards they go on as if nothing was drawn."""
    state = torch.get_rng_state()
    with seeded_numpy(seed):
        set_random_seed(seed)
        try:
            yield
        finally:
            torch.set_rng_state(state)
