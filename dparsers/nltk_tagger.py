"""NLTK's tagger, trained from scratch on CoNLL-U: an averaged perceptron (Collins 2002) over hashed strings.

It goes from left to right and sees the two tags before, the two words to either side, and suffixes of three
characters; words that nearly always have one tag get that. It trains in seconds, where the networks beside it
take minutes, and gets a bit fewer tags right (docs/dparsers.md).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
from nltk.tag.perceptron import PerceptronTagger

from d2c.base.errors import ModelError
from d2c.base.progress import log
from d2c.base.schema import checked
from d2c.base.settings import setting
from d2c.dparsers.directories import ModelFormat, loading, parameters, whole_directory
from d2c.dparsers.protocol import EMPTY_FORM, Report, TaggingProgress
from d2c.dparsers.training import (
    DEV_WORDS,
    accuracy,
    check_choice,
    check_limits,
    read_tagged,
    reporter,
    seeded,
    tags_of,
    thinned,
)
from d2c.linear.weights import Like, check_numbers, read_arrays, write_arrays
from d2c.trees.ctree import Tokens

# The model directory: the settings, with the names of features and the words that have one tag, and the
# weights: those of each feature, as many as `counts` says, one after the other; and how many tags there are.
FORMAT = ModelFormat("tagger", "nltk", 1, ("preset", "epochs", "seed"))
_MODEL = "weights.npz"
_ARRAYS = {"counts": Like("i4", 1), "tags": Like("i4", 1), "values": Like("f8", 1), "size": Like("i4", 1)}

PRESETS = {"default": 5, "small": 5}  # passes over the training treebank: NLTK's own


@dataclass(eq=False)
class NltkTagger:
    """NLTK's averaged perceptron.

    preset: default and small are the same here
    epochs: so many passes over the training treebank, rounded, instead of 5
    seed:   same seed, same model
    """

    preset: str = "default"
    epochs: float | None = setting(None, above=0)
    seed: int = 1
    tags_: tuple[str, ...] = field(default=(), init=False)
    tagger_: PerceptronTagger | None = field(default=None, init=False)

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learn; what it finds on the second file is only reported: the weights are the mean of all that
        there were. Errors: `Tagger`."""
        check_limits(self)
        check_choice("preset", self.preset, PRESETS)
        train, dev = read_tagged(train_conllu), thinned(read_tagged(dev_conllu), DEV_WORDS)
        epochs = max(1, round(PRESETS[self.preset] if self.epochs is None else self.epochs))
        report = reporter(TaggingProgress, progress)
        log.info("tagger nltk: %d passes over %d sentences", epochs, len(train))
        with seeded(self.seed), whole_directory(directory, FORMAT.file) as staging:
            self.tags_, self.tagger_ = tags_of(train), PerceptronTagger(load=False)
            pairs = [[*zip(_forms(one.forms), one.tags, strict=True)] for one in train if len(one)]
            random.shuffle(pairs)  # NLTK shuffles after a pass
            self.tagger_.train(pairs, nr_iter=epochs)
            report(epochs, epochs, 0.0, accuracy(dev, self.tag(one.forms for one in dev)))
            self._write(staging)
        return self

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return the tagger that `train` left in a directory. Raises ModelError."""
        settings = FORMAT.read(directory)
        with loading(directory):
            tagger = cls(**parameters(settings, FORMAT.parameters))
            tagger.tags_, features = (
                checked(settings["tags"], tuple[str, ...]),
                checked(settings["features"], tuple[str, ...]),
            )
            perceptron, words = PerceptronTagger(load=False), settings["words"]
            if not isinstance(words, dict) or not {*words.values()} <= {*tagger.tags_}:
                raise ValueError("a word has none of the tags")
            perceptron.tagdict = words
            perceptron.classes = perceptron.model.classes = {*tagger.tags_}
            perceptron.model.weights = _weights(Path(directory) / _MODEL, features, tagger.tags_)
            tagger.tagger_ = perceptron
            next(tagger.tag([(EMPTY_FORM,)]))
        return tagger

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tokens]:
        """Yield each sentence's words with their tags, in order, one sentence at a time."""
        if self.tagger_ is None:
            raise ModelError("this tagger is not trained yet")
        for forms in sentences:
            yield Tokens(tuple(forms), tuple([tag for _, tag in self.tagger_.tag(_forms(forms))]))

    def _write(self, directory: Path) -> None:
        assert self.tagger_ is not None
        number = {tag: i for i, tag in enumerate(self.tags_)}
        weights = self.tagger_.model.weights
        arrays = {
            "counts": [len(of_tags) for of_tags in weights.values()],
            "tags": [number[tag] for of_tags in weights.values() for tag in of_tags],
            "values": [value for of_tags in weights.values() for value in of_tags.values()],
            "size": [len(self.tags_)],
        }
        write_arrays(directory / _MODEL, {k: np.asarray(v, _ARRAYS[k].kind) for k, v in arrays.items()})
        settings = {"tags": self.tags_, "features": [*weights], "words": self.tagger_.tagdict}
        FORMAT.write(directory, settings, self)


def _forms(forms: Iterable[str]) -> list[str]:
    return [form or EMPTY_FORM for form in forms]


def _weights(path: Path, features: Sequence[str], tags: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return what `_write` wrote: of each feature the weights of tags. Raises ModelError, ValueError."""
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
