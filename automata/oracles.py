"""Oracles that are learned: distributions over the applicable actions, functions of feature values alone.

Section 7 of Nederhof (2015) leaves their estimation open.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Self, TypeVar

import numpy as np

from d2c.automata import greedy, learning
from d2c.automata.features import OracleTemplates
from d2c.automata.scores import OracleScorer
from d2c.automata.states import AHEAD, Text, new_stack
from d2c.automata.systems import KINDS, Action, System
from d2c.base.model_files import read_settings, reading, strings, typed, write_settings
from d2c.base.progress import counted
from d2c.linear.adagrad import AdaGrad, Gradient
from d2c.linear.adagrad import step as descend
from d2c.linear.weights import SPARSE, dense, read_arrays, sparse, write_arrays
from d2c.linear.words import UNKNOWN, morph_numbers, number_morphs, number_words, word_number
from d2c.trees.ctree import Tokens

Choice = TypeVar("Choice", bound=Hashable)

PRESETS = {"default": 10, "small": 4}  # passes over the training treebank
FORMAT = 1  # of the model files
_SETTINGS, _WEIGHTS = "oracle.json", "oracle.npz"
_PARAMETERS = {"epochs": int, "rate": int | float, "penalty": int | float, "table_bits": int, "seed": int}


def passes(preset: str, epochs: float | None = None) -> int:
    """Those of one of PRESETS, or so many instead, rounded up."""
    return PRESETS[preset] if epochs is None else max(1, math.ceil(epochs))


class Counts:
    """Relative frequencies of actions, where some features have their values, backed off to ever fewer.

    Of n values, those of the most telling features first, p is interpolated with that of the first n - 1, as
    Witten and Bell (1991) do; that of no value, with the uniform distribution:

        p(action | v1...vn) = (c(v1...vn, action) + t p(action | v1...vn-1)) / (c(v1...vn) + t)

    where t is the number of different actions that were seen with v1...vn. Only actions that apply get a
    share. An action may be a rule, or whatever else can be a key.
    """

    def __init__(self) -> None:
        self.counts_: dict[tuple[Hashable, ...], Counter[Hashable]] = {}

    def fit(self, seen: Iterable[tuple[Sequence[Hashable], Hashable]]) -> Self:
        """Counts actions, each after the values of the features."""
        for values, action in seen:
            for length in range(len(values) + 1):
                self.counts_.setdefault(tuple(values[:length]), Counter())[action] += 1
        return self

    def shares(self, values: Sequence[Hashable], applicable: Sequence[Choice]) -> dict[Choice, float]:
        """The probability of each action that applies, in their order; there must be one."""
        shares = dict.fromkeys(applicable, 1 / len(applicable))
        for length in range(len(values) + 1):
            counts = self.counts_.get(tuple(values[:length]))
            if counts is None:
                break
            total, different = counts.total(), len(counts)
            shares = {
                action: (counts[action] + different * share) / (total + different)
                for action, share in shares.items()
            }
        total_share = sum(shares.values())
        return {action: share / total_share for action, share in shares.items()}


class Linear:
    """A log-linear oracle for any system: `d2c.automata.scores`.

    system:     whose actions it knows
    epochs:     passes over the treebank
    rate:       of AdaGrad; penalty: its L1 penalty
    table_bits: 2^table_bits weights, where hashed features share them
    seed:       of the order of sentences; same seed, same model
    """

    def __init__(
        self,
        system: System,
        epochs: int = 8,
        rate: float = 0.05,
        penalty: float = 0.0,
        table_bits: int = 22,
        seed: int = 1,
    ) -> None:
        self.system = system
        self.epochs, self.rate, self.penalty = epochs, rate, penalty
        self.table_bits, self.seed = table_bits, seed
        self.words_: dict[str, int] = {}
        self.tags_: dict[str, int] = {}
        self.morphs_: dict[str, int] = {}
        self.weights_ = np.zeros(0, np.float32)

    def fit(
        self,
        sentences: Sequence[Tokens],
        actions: Sequence[Iterable[Action]],
        evaluate: Callable[[int, float], float] | None = None,
    ) -> Self:
        """Learns from the actions of a static oracle, with averaged weights.

        After each epoch it calls evaluate(epoch, mean loss), which may parse, and returns a score. The
        weights with the highest one are kept, of equal ones the first; without `evaluate` the last.
        """
        self.words_ = number_words(tokens.forms for tokens in sentences)
        self.tags_ = _numbered(sorted({tag for tokens in sentences for tag in tokens.tags}))
        self.morphs_ = number_morphs(sentences)
        text = self.text(sentences)
        number_of = self.system.number_of
        numbers = [[number_of[action] for action in sequence] for sequence in actions]
        begin = np.cumsum([0, *map(len, numbers)])
        gold = np.array(list(chain.from_iterable(numbers)), np.int64)
        learner = AdaGrad.new(1 << self.table_bits, self.rate, self.penalty)
        gradient, stack = Gradient.of(learner), new_stack(text)
        scorer = self.scorer()._replace(weights=learner.weights)
        best, best_score = learner.weights, -math.inf
        rng, order = np.random.default_rng(self.seed), np.arange(len(sentences))
        for epoch in range(1, self.epochs + 1):
            rng.shuffle(order)
            loss = 0.0
            for sentence in counted(order.tolist(), f"oracle: epoch {epoch} of {self.epochs}"):
                loss += learning.learn(scorer, text, stack, begin, gold, sentence, gradient)
                descend(learner, gradient)
            self.weights_ = learner.average()
            score = evaluate(epoch, loss / max(1, len(gold))) if evaluate else epoch
            if score > best_score:
                best, best_score = self.weights_, score
        self.weights_ = best
        return self

    def parse(self, sentences: Sequence[Tokens]) -> list[list[Action]]:
        """The actions of the greedy parser for sentences that are not empty, and none for those that are."""
        text = self.text(sentences)
        room = 1 + 2 * text.lengths * (1 + self.system.tables.unaries)
        begin = np.cumsum(room) - room
        taken = np.full(room.sum(), -1)
        greedy.parse(self.scorer(), text, new_stack(text), begin, taken)
        actions, parts = self.system.actions, np.split(taken, begin[1:])
        return [[actions[number] for number in part[part >= 0].tolist()] for part in parts]

    def save(self, directory: Path) -> None:
        """Writes JSON, and the weights that are not 0 as .npz, into a directory, made if absent.

        The system is not among it: whoever made it keeps what it was made of.
        """
        settings = {
            "parameters": {name: getattr(self, name) for name in _PARAMETERS},
            "actions": len(self.system.actions),
            "tags": list(self.tags_),
            "words": list(self.words_),
            "morphs": list(self.morphs_),
        }
        write_settings(directory / _SETTINGS, FORMAT, settings)
        write_arrays(directory / _WEIGHTS, sparse(self.weights_))

    @classmethod
    def load(cls, directory: Path, system: System) -> Self:
        """What `save` wrote of an oracle for the same system. Raises ModelError."""
        path = directory / _SETTINGS
        settings = read_settings(path, FORMAT)
        with reading(path):
            oracle = cls(system, **typed(settings["parameters"], _PARAMETERS))
            if settings["actions"] != len(system.actions):
                raise ValueError("it is for another system")
            oracle.tags_, oracle.words_ = (_numbered(strings(settings[name])) for name in ("tags", "words"))
            oracle.morphs_ = _numbered(strings(settings.get("morphs", ())))  # models of 0.2.0 have none
        path = directory / _WEIGHTS
        arrays = read_arrays(path, SPARSE)
        with reading(path):
            oracle.weights_ = dense(arrays, oracle.table_bits)
            if len(oracle.weights_) < max(KINDS, len(system.actions)):
                raise ValueError("fewer weights than actions")
        return oracle

    def text(self, sentences: Sequence[Tokens]) -> Text:
        """Sentences as kernels see them."""
        lengths = np.array([len(tokens) for tokens in sentences], np.int64)
        begin = 1 + np.cumsum(lengths + AHEAD) - lengths - AHEAD
        size = 1 + AHEAD + int((lengths + AHEAD).sum())
        words, numbers, morphs, leaves = np.zeros((4, size), np.int32)
        tokens = np.repeat(begin - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        forms = chain.from_iterable(one.forms for one in sentences)
        tags = [tag for one in sentences for tag in one.tags]
        words[tokens] = [word_number(self.words_, form) for form in forms]
        numbers[tokens] = [self.tags_.get(tag, UNKNOWN) for tag in tags]
        morphs[tokens] = [number for one in sentences for number in morph_numbers(self.morphs_, one)]
        leaves[tokens] = [self.system.leaf(tag) for tag in tags]
        return Text(words, numbers, morphs, leaves, begin, lengths)

    def scorer(self) -> OracleScorer:
        """The oracle for kernels, with buffers of its own."""
        return OracleScorer.of(self.system.tables, OracleTemplates.of(bool(self.morphs_)), self.weights_)


def _numbered(texts: Iterable[str]) -> dict[str, int]:
    return {text: number for number, text in enumerate(texts, UNKNOWN + 1)}
