"""NLTK's tagger, trained from scratch on CoNLL-U: an averaged perceptron (Collins 2002) over hashed strings.

It goes from left to right and sees the two tags before, the two words to either side, and suffixes of three
characters; words that nearly always have one tag get that. It trains in seconds, where the networks beside it
take minutes, and gets a bit fewer tags right (docs/dparsers.md).
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from nltk.tag.perceptron import PerceptronTagger

from d2c.base.counting import many
from d2c.base.progress import log
from d2c.base.schema import checked
from d2c.base.settings import seed_setting, setting
from d2c.learning.weights import Like, check_numbers, read_arrays, write_arrays
from d2c.protocols.directories import ModelFormat
from d2c.protocols.dparser import EMPTY_FORM
from d2c.protocols.training import Evaluate, TrainedTagger, Treebanks, check_choice

# The model directory: the settings, with the names of features and the words that have one tag, and the
# weights: those of each feature, as many as `counts` says, one after the other; and how many tags there are.
FORMAT = ModelFormat("tagger", "nltk", 1, ("preset", "epochs", "seed"))
_MODEL = "weights.npz"
_ARRAYS = {"counts": Like("i4", 1), "tags": Like("i4", 1), "values": Like("f8", 1), "size": Like("i4", 1)}

PRESETS = {"default": 5, "small": 5}  # passes over the training treebank: NLTK's own


@dataclass(eq=False)
class NltkTagger(TrainedTagger):
    """NLTK's averaged perceptron.

    preset: default and small are the same here
    epochs: so many passes over the training treebank, rounded, instead of 5
    seed:   same seed, same model

    What it finds on the development treebank is only reported: the weights are the mean of all there were.
    """

    FORMAT: ClassVar[ModelFormat] = FORMAT
    WINDOW: ClassVar[int] = 1

    preset: str = "default"
    epochs: float | None = setting(None, above=0)
    seed: int = seed_setting()
    tags_: tuple[str, ...] = field(default=(), init=False)
    tagger_: PerceptronTagger | None = field(default=None, init=False)

    def _check(self) -> None:
        super()._check()
        check_choice("preset", self.preset, PRESETS)

    def _fit(self, treebanks: Treebanks, evaluate: Evaluate, directory: Path) -> dict[str, Any]:
        train, _ = treebanks
        epochs = max(1, round(PRESETS[self.preset] if self.epochs is None else self.epochs))
        log.info("tagger nltk: %s over %s", many(epochs, "pass"), many(len(train), "sentence"))
        begin, self.tagger_ = time.monotonic(), PerceptronTagger(load=False)
        words = ([form or EMPTY_FORM for form in one.forms] for one in train)
        pairs = [
            [*zip(forms, one.tags, strict=True)] for forms, one in zip(words, train, strict=True) if forms
        ]
        random.shuffle(pairs)  # NLTK shuffles after a pass
        self.tagger_.train(pairs, nr_iter=epochs)
        evaluate(epochs, epochs, 0.0, time.monotonic() - begin)
        number, weights = {tag: i for i, tag in enumerate(self.tags_)}, self.tagger_.model.weights
        arrays = {
            "counts": [len(of_tags) for of_tags in weights.values()],
            "tags": [number[tag] for of_tags in weights.values() for tag in of_tags],
            "values": [value for of_tags in weights.values() for value in of_tags.values()],
            "size": [len(self.tags_)],
        }
        write_arrays(directory / _MODEL, {k: np.asarray(v, _ARRAYS[k].kind) for k, v in arrays.items()})
        return {"features": [*weights], "words": self.tagger_.tagdict}

    def _restore(self, directory: Path, settings: dict[str, Any]) -> None:
        features, words = checked(settings["features"], tuple[str, ...]), settings["words"]
        if not isinstance(words, dict) or not {*words.values()} <= {*self.tags_}:
            raise ValueError("a word has none of the tags")
        self.tagger_ = PerceptronTagger(load=False)
        self.tagger_.tagdict = words
        self.tagger_.classes = self.tagger_.model.classes = {*self.tags_}
        self.tagger_.model.weights = _weights(directory / _MODEL, features, self.tags_)

    def _predict(self, sentences: list[list[str]]) -> Sequence[Sequence[str]]:
        assert self.tagger_ is not None
        return [[tag for _, tag in self.tagger_.tag(forms)] for forms in sentences]


def _weights(path: Path, features: Sequence[str], tags: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return what `NltkTagger` wrote: of each feature the weights of tags. Raises ModelError, ValueError."""
    arrays = read_arrays(path, _ARRAYS)
    counts, numbers, values = arrays["counts"], arrays["tags"], arrays["values"]
    check_numbers(values)
    if arrays["size"].tolist() != [len(tags)] or not tags:
        raise ValueError("has weights of other tags")
    if (
        len(counts) != len(features)
        or counts.min(initial=0) < 0
        or not (counts.sum() == len(numbers) == len(values))
    ):
        raise ValueError("has weights of other features")
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(tags):
        raise ValueError("has weights of unknown tags")
    pairs = zip([tags[i] for i in numbers.tolist()], values.tolist(), strict=True)
    return {
        feature: {tag: value for _, (tag, value) in zip(range(count), pairs)}  # noqa: B905
        for feature, count in zip(features, counts.tolist(), strict=True)
    }
