"""Learned oracles: distributions over the applicable actions that depend on feature values alone.

Section 7 of Nederhof (2015) leaves their estimation open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np

from d2c.automata.features import OracleTemplates
from d2c.automata.scores import OracleScorer, add_gradient, parse_greedily
from d2c.automata.states import AHEAD, Text, new_stack
from d2c.automata.systems import KINDS, Action, System
from d2c.base.arrays import Floats, Longs
from d2c.base.model_files import read_as, reading, write_settings
from d2c.base.numbers import Count
from d2c.learning.adagrad import step as descend
from d2c.learning.learner import Epoch, Training
from d2c.learning.settings import LearnerSettings
from d2c.learning.weights import CODED, coded, decoded, read_arrays, write_arrays
from d2c.learning.words import Lexicon, NamesFile
from d2c.trees.ctree import Tokens

PRESETS = {"default": 10, "small": 4}  # passes over the training treebank
ORACLE_FORMAT = 1  # of the model files
_SETTINGS, _WEIGHTS = "oracle.json", "oracle.npz"


def passes(preset: str, epochs: float | None = None) -> int:
    """Return the passes of one of PRESETS, or `epochs` instead, rounded up."""
    return PRESETS[preset] if epochs is None else max(1, math.ceil(epochs))


@dataclass(frozen=True, kw_only=True)
class OracleFile(NamesFile):
    """What the JSON file of an oracle holds, besides the names of its lexicon.

    actions: how many its system has
    """

    parameters: LearnerSettings
    actions: Count


class LinearOracle:
    """A log-linear oracle for any system: `d2c.automata.scores`.

    system: the transition system whose actions it knows

    Its other parameters are the fields of `d2c.learning.settings.LearnerSettings`. Raises ValueError for one
    that is out of range.
    """

    def __init__(self, system: System, **settings: Any) -> None:
        self.system, self.settings = system, LearnerSettings(**settings)
        self.lexicon_ = Lexicon()
        self.weights_ = np.zeros(0, np.float32)

    def fit(
        self,
        sentences: Sequence[Tokens],
        actions: Sequence[Iterable[Action]],
        score: Callable[[], float] | None = None,
        progress: Callable[[Epoch], None] | None = None,
    ) -> Self:
        """Learn from the actions of a static oracle, with averaged weights.

        score:    of the present weights, with which it may parse; the weights with the highest score, of
                  equal ones the first, are kept; without `score`, the last weights
        progress: is told of each epoch, after `score`
        """
        self.lexicon_ = Lexicon.of(sentences)
        text, training = self.text(sentences), Training("oracle", self.settings)
        number_of = self.system.number_of
        numbers = [[number_of[action] for action in sequence] for sequence in actions]
        begin = np.cumsum([0, *map(len, numbers)])
        gold = np.array(list(chain.from_iterable(numbers)), np.int64)
        scorer, stack = self.scorer()._replace(weights=training.learner.weights), new_stack(text)

        def learn(chosen: Longs) -> tuple[float, int]:
            loss = 0.0
            for sentence in chosen.tolist():
                loss += add_gradient(scorer, text, stack, begin, gold, sentence, training.gradient)
                descend(training.learner, training.gradient)
            return loss, int((begin[chosen + 1] - begin[chosen]).sum())

        def scored(weights: Floats) -> float:
            self.weights_ = weights
            return score() if score else 0.0

        self.weights_ = training.run(len(sentences), learn, scored if score else None, progress)
        return self

    def parse(self, sentences: Sequence[Tokens]) -> list[list[Action]]:
        """Return the actions of the greedy parser for each sentence; none for an empty one."""
        text = self.text(sentences)
        room = 1 + 2 * text.lengths * (1 + self.system.tables.unaries)
        begin = np.cumsum(room) - room
        taken = np.full(room.sum(), -1)
        parse_greedily(self.scorer(), text, new_stack(text), begin, taken)
        actions, parts = self.system.actions, np.split(taken, begin[1:])
        return [[actions[number] for number in part[part >= 0].tolist()] for part in parts]

    def save(self, directory: Path) -> None:
        """Write JSON, and the weights as .npz, into a directory, made if absent.

        The system is not saved: the caller keeps what it was made of.
        """
        file = OracleFile(**self.lexicon_.names(), parameters=self.settings, actions=len(self.system.actions))
        write_settings(directory / _SETTINGS, ORACLE_FORMAT, file)
        write_arrays(directory / _WEIGHTS, coded([self.weights_]))

    @classmethod
    def load(cls, directory: Path, system: System) -> Self:
        """Return what `save` wrote of an oracle for the same system. Raises ModelError."""
        path = directory / _SETTINGS
        file = read_as(path, ORACLE_FORMAT, OracleFile)
        with reading(path):
            oracle = cls(system)
            oracle.settings = file.parameters
            if file.actions != len(system.actions):
                raise ValueError("it is for another system")
            oracle.lexicon_ = Lexicon.of_names(file)
        path = directory / _WEIGHTS
        arrays = read_arrays(path, CODED)
        with reading(path):
            [oracle.weights_] = decoded(arrays, [1 << oracle.settings.table_bits])
            if len(oracle.weights_) < max(KINDS, len(system.actions)):
                raise ValueError("fewer weights than actions")
        return oracle

    def text(self, sentences: Sequence[Tokens]) -> Text:
        """Return sentences as kernels see them."""
        lengths = np.array([len(tokens) for tokens in sentences], np.int64)
        begin = 1 + np.cumsum(lengths + AHEAD) - lengths - AHEAD
        columns = np.zeros((4, 1 + AHEAD + int((lengths + AHEAD).sum())), np.int32)
        tokens = np.repeat(begin - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        columns[:3, tokens] = self.lexicon_.columns(sentences)
        columns[3, tokens] = [self.system.leaf(tag) for one in sentences for tag in one.tags]
        words, tags, morphs, leaves = columns
        return Text(words, tags, morphs, leaves, begin, lengths)

    def scorer(self) -> OracleScorer:
        """Return the oracle for kernels, with buffers of its own."""
        templates = OracleTemplates.of(bool(self.lexicon_.morphs))
        return OracleScorer.of(self.system.tables, templates, self.weights_)
