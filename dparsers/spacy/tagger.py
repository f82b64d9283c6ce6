"""spaCy's tagger, trained from scratch on CoNLL-U, on the CPU.

Each word's tag is chosen by itself, from the vector of a convolutional network that sees some words to either
side (whole, prefix, suffix, shape). It gives every word one of the tags of the treebank. spaCy is taught
numbers: it reads tags that begin with `!` as tags that a word does not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from spacy.tokens import Doc
from spacy.training import Example

from d2c.base.errors import ModelError
from d2c.base.schema import checked
from d2c.base.settings import setting
from d2c.dparsers.directories import ModelFormat, loading, parameters, whole_directory
from d2c.dparsers.protocol import EMPTY_FORM, Report, TaggingProgress
from d2c.dparsers.spacy.training import (
    LEFT_OUT,
    SpacyEstimator,
    checked_sizes,
    forgetting,
    load_weights,
    tok2vec,
)
from d2c.dparsers.training import DEV_WORDS, accuracy, evaluating, read_tagged, seeded, tags_of, thinned
from d2c.trees.ctree import Tokens
from d2c.trees.formats.chunks import batches

# The model directory: the settings and spaCy's file of the component.
FORMAT = ModelFormat("tagger", "spacy", 1, ("preset", "epochs", "seed"))
MOST_TAGS = 1 << 16

_WINDOW = 256  # sentences that `tag` holds at a time

SIZES = {"width": 96, "depth": 4, "rows": 5000}  # of the network: spaCy's own


@dataclass(eq=False)
class SpacyTagger(SpacyEstimator):
    """spaCy's tagger.

    preset: default (10 passes over the training treebank) or small (5)
    epochs: so many passes instead
    seed:   same seed, same model, on one machine
    """

    COMPONENT: ClassVar[str] = "tagger"
    PRESETS: ClassVar[Mapping[str, int]] = {"default": 10, "small": 5}  # passes over the training treebank

    preset: str = "default"
    epochs: float | None = setting(None, above=0)
    seed: int = 1
    tags_: tuple[str, ...] = field(default=(), init=False)
    nlp_: Any = field(default=None, init=False)

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learn, and leave the model with the best accuracy on the second file; errors: `Tagger`."""
        self._check()
        train, dev = read_tagged(train_conllu), thinned(read_tagged(dev_conllu), DEV_WORDS)

        def scores() -> tuple[float]:
            return (accuracy(dev, self.tag(tokens.forms for tokens in dev)),)

        with seeded(self.seed), whole_directory(directory, FORMAT.file) as staging:
            self.tags_ = tags_of(train)
            self._build(SIZES)
            codes = {tag: f"t{i}" for i, tag in enumerate(self.tags_)}
            gold = (self._doc(tokens.forms, [codes[tag] for tag in tokens.tags]) for tokens in train)
            examples = [
                Example(self._doc(tokens.forms), doc) for tokens, doc in zip(train, gold, strict=True)
            ]
            evaluate = evaluating(TaggingProgress, progress, scores)
            self._fit(examples, evaluate, "tagger spacy", labels=[*codes.values()])
            self._component.to_disk(staging / self.COMPONENT, exclude=LEFT_OUT)
            FORMAT.write(staging, {"sizes": SIZES, "tags": self.tags_}, self)
        return self

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return the tagger that `train` left, which cannot bring code with it. Raises ModelError."""
        settings, path = FORMAT.read(directory), Path(directory) / cls.COMPONENT
        with loading(path):
            tagger = cls(**parameters(settings, FORMAT.parameters))
            tagger.tags_ = checked(settings["tags"], tuple[str, ...])
            tagger._build(checked_sizes(settings["sizes"], SIZES))
            if not 0 < len(tagger.tags_) <= MOST_TAGS:
                raise ValueError(f"{len(tagger.tags_)} tags")
            load_weights(tagger._component, path / "model", tagger._doc((EMPTY_FORM,)))
            next(tagger.tag([(EMPTY_FORM,)]))
        return tagger

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tokens]:
        """Yield each sentence's words with their tags, in order; some hundred are held at a time."""
        if self.nlp_ is None:
            raise ModelError("this tagger is not trained yet")
        for window in batches(sentences, _WINDOW):
            with forgetting(self.nlp_):
                numbers = [row.tolist() for row in self._component.predict([*map(self._doc, window)])]
            for forms, row in zip(window, numbers, strict=True):
                if len(row) != len(forms):
                    raise AssertionError(f"{len(row)} words came back for {len(forms)}")
                yield Tokens(tuple(forms), tuple([self.tags_[i] for i in row]))

    def _build(self, sizes: dict[str, int]) -> None:
        """Make an untrained tagger."""
        words = tok2vec(sizes, ["NORM", "PREFIX", "SUFFIX", "SHAPE"])
        model = {"@architectures": "spacy.Tagger.v2", "nO": len(self.tags_), "tok2vec": words}
        self._new_pipeline(model=model)

    def _doc(self, forms: Sequence[str], codes: list[str] | None = None) -> Doc:
        return Doc(self.nlp_.vocab, [form or EMPTY_FORM for form in forms], tags=codes)
