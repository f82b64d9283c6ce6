"""spaCy's tagger, trained from scratch on CoNLL-U, on the CPU.

Each word's tag is chosen by itself, from the vector of a convolutional network that sees some words to either
side (whole, prefix, suffix, shape). It gives every word one of the tags of the treebank. spaCy is taught
numbers: it reads tags that begin with `!` as tags that a word does not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from d2c.base.errors import ModelError
from d2c.base.schema import checked
from d2c.dparsers.directories import ModelFormat, loading, parameters, whole_directory
from d2c.dparsers.spacy.training import LEFT_OUT, checked_sizes, fit, forgetting, load_weights, tok2vec
from d2c.dparsers.taggers import EMPTY_FORM, Report, TaggingProgress, accuracy, read_tagged, tags_of
from d2c.dparsers.training import DEV_WORDS, check_choice, reporter, seeded, thinned
from d2c.trees.ctree import Tokens
from d2c.trees.formats.chunks import batches

# The model directory: the settings and spaCy's file of the component.
FORMAT = ModelFormat("tagger", "spacy", 1, ("preset", "epochs", "seed"))
_MODEL = "tagger"
MOST_TAGS = 1 << 16

_WINDOW = 256  # sentences that `tag` holds at a time

PRESETS = {"default": 10, "small": 5}  # passes over the training treebank
SIZES = {"width": 96, "depth": 4, "rows": 5000}  # of the network: spaCy's own


@dataclass(eq=False)
class SpacyTagger:
    """spaCy's tagger.

    preset: default (10 passes over the training treebank) or small (5)
    epochs: so many passes instead
    seed:   same seed, same model, on one machine
    """

    preset: str = "default"
    epochs: float | None = None
    seed: int = 1
    tags_: tuple[str, ...] = field(default=(), init=False)
    nlp_: Any = field(default=None, init=False)

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learns, and leaves the model with the best accuracy on the second file; errors: `Tagger`."""
        check_choice("preset", self.preset, PRESETS)
        train, dev = read_tagged(train_conllu), read_tagged(dev_conllu)
        with seeded(self.seed), whole_directory(directory, FORMAT.file) as staging:
            self.tags_ = tags_of(train)
            self.nlp_ = _pipeline(SIZES, len(self.tags_))
            self._fit(train, thinned(dev, DEV_WORDS), progress)
            self._tagger.to_disk(staging / _MODEL, exclude=LEFT_OUT)
            FORMAT.write(staging, {"sizes": SIZES, "tags": self.tags_}, self)
        return self

    @classmethod
    def load(cls, directory: Path) -> Self:
        """The tagger that `train` left in a directory, which cannot bring code with it. Raises ModelError."""
        settings, path = FORMAT.read(directory), Path(directory) / _MODEL
        with loading(path):
            tagger = cls(**parameters(settings, FORMAT.parameters))
            tagger.tags_ = checked(settings["tags"], tuple[str, ...])
            tagger.nlp_ = _pipeline(checked_sizes(settings["sizes"], SIZES), len(tagger.tags_))
            if not 0 < len(tagger.tags_) <= MOST_TAGS:
                raise ValueError(f"{len(tagger.tags_)} tags")
            load_weights(tagger._tagger, path / "model", tagger._doc((EMPTY_FORM,)))
            next(tagger.tag([(EMPTY_FORM,)]))
        return tagger

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tokens]:
        """Each sentence's words with their tags, in order; some hundred sentences are held at a time."""
        if self.nlp_ is None:
            raise ModelError("this tagger is not trained yet")
        for window in batches(sentences, _WINDOW):
            with forgetting(self.nlp_):
                numbers = [row.tolist() for row in self._tagger.predict([*map(self._doc, window)])]
            for forms, row in zip(window, numbers, strict=True):
                if len(row) != len(forms):
                    raise AssertionError(f"{len(row)} words came back for {len(forms)}")
                yield Tokens(tuple(forms), tuple([self.tags_[i] for i in row]))

    def _fit(self, train: Sequence[Tokens], dev: Sequence[Tokens], progress: Report) -> None:
        """Updates the tagger's model and leaves the weights that had the best accuracy on dev."""
        report = reporter(TaggingProgress, progress)

        def evaluate(step: int, steps: int, loss: float) -> float:
            score = accuracy(dev, self.tag(tokens.forms for tokens in dev))
            report(step, steps, loss, score)
            return score

        code_of = {tag: f"t{i}" for i, tag in enumerate(self.tags_)}
        examples = [
            Example(self._doc(tokens.forms), self._doc(tokens.forms, [code_of[tag] for tag in tokens.tags]))
            for tokens in train
        ]
        self._tagger.initialize(lambda: examples, labels=[*code_of.values()])
        epochs = PRESETS[self.preset] if self.epochs is None else self.epochs
        fit(self._tagger, examples, epochs, evaluate, "tagger spacy")

    @property
    def _tagger(self) -> Any:
        return self.nlp_.get_pipe(_MODEL)

    def _doc(self, forms: Sequence[str], codes: list[str] | None = None) -> Doc:
        return Doc(self.nlp_.vocab, [form or EMPTY_FORM for form in forms], tags=codes)


def _pipeline(sizes: dict[str, int], tags: int) -> Language:
    """An untrained tagger."""
    nlp = spacy.blank("xx")
    model = {
        "@architectures": "spacy.Tagger.v2",
        "nO": tags,
        "tok2vec": tok2vec(sizes, ["NORM", "PREFIX", "SUFFIX", "SHAPE"]),
    }
    nlp.add_pipe("tagger", _MODEL, config={"model": model})
    return nlp
