"""spaCy's tagger, trained from scratch on CoNLL-U, on the CPU.

Each word's tag is chosen by itself, from the vector of a convolutional network that sees some words to either
side (whole, prefix, suffix, shape). It gives every word one of the tags of the treebank.

A model is one file of spaCy's: `model` (MessagePack, numpy's arrays in it as type, shape and bytes). Nothing
is unpickled. The network is built here, not from spaCy's `config.cfg`, which could name functions to call.
spaCy is taught numbers: it reads tags that begin with `!` as tags that a word does not have.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Self

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam, warmup_linear

from d2c.dparsers.directories import TAGGER_SETTINGS, read_settings, whole_directory, write_settings
from d2c.dparsers.spacy.training import batches_of, seeded, tok2vec
from d2c.dparsers.taggers import EMPTY_FORM, TaggingProgress, accuracy, read_tagged, tags_of, thinned
from d2c.trees.ctree import Tokens
from d2c.trees.errors import ModelError

FORMAT = 1  # of the model directory: the settings and spaCy's own file of the component
_MODEL = "tagger"
_LEFT_OUT = ["vocab", "cfg"]  # of spaCy's files: words are hashed, and the tags stand in the settings

_WINDOW = 256  # sentences that `tag` holds at a time

PRESETS = {"default": 10, "small": 5}  # passes over the training treebank
SIZES = {"width": 96, "depth": 4, "rows": 5000}  # of the network: spaCy's own
_DROPOUT, _RATE, _BATCH_WORDS, _DEV_WORDS = 0.1, 0.002, 300, 20_000


class SpacyTagger:
    """spaCy's tagger.

    preset: default (10 passes over the training treebank) or small (5)
    epochs: so many passes instead
    seed:   same seed, same model, on one machine
    """

    def __init__(self, preset: str = "default", epochs: float | None = None, seed: int = 1) -> None:
        self.preset, self.epochs, self.seed = preset, epochs, seed
        self.tags_: tuple[str, ...] = ()
        self.nlp_: Language | None = None

    def train(
        self,
        train_conllu: Path,
        dev_conllu: Path,
        directory: Path,
        progress: Callable[[TaggingProgress], None] | None = None,
    ) -> Self:
        """Learns from one CoNLL-U file and leaves the model with the best accuracy on another in a directory.

        Raises FormatError for files that cannot be read, ModelError for unknown presets and directories that
        cannot be used.
        """
        if self.preset not in PRESETS:
            raise ModelError(f"preset {self.preset!r} is none of {', '.join(PRESETS)}")
        train, dev = read_tagged(train_conllu), read_tagged(dev_conllu)
        epochs = PRESETS[self.preset] if self.epochs is None else self.epochs
        with seeded(self.seed), whole_directory(Path(directory), TAGGER_SETTINGS) as staging:
            self.tags_ = tags_of(train)
            self.nlp_ = _pipeline(SIZES, len(self.tags_))
            self._fit(train, thinned(dev, _DEV_WORDS), epochs, progress)
            self._tagger.to_disk(staging / _MODEL, exclude=_LEFT_OUT)
            settings = {name: getattr(self, name) for name in ("preset", "epochs", "seed")}
            learned = {"sizes": SIZES, "tags": self.tags_}
            write_settings(staging, "spacy", FORMAT, settings | learned, TAGGER_SETTINGS)
        return self

    @classmethod
    def load(cls, directory: Path) -> Self:
        """The tagger that `train` left in a directory, which cannot bring code with it. Raises ModelError."""
        settings: dict[str, Any] = read_settings(Path(directory), "spacy", FORMAT, TAGGER_SETTINGS)
        path = Path(directory) / _MODEL
        try:
            tagger = cls(settings["preset"], settings["epochs"], settings["seed"])
            tagger.tags_ = tuple(settings["tags"])
            tagger.nlp_ = _pipeline(settings["sizes"], len(tagger.tags_))
            tagger._tagger.from_disk(path, exclude=_LEFT_OUT)
            next(tagger.tag([(EMPTY_FORM,)]))
            outputs = tagger._tagger.model.get_ref("output_layer").get_dim("nO")
            if outputs != len(tagger.tags_):
                raise ValueError(f"a model of {outputs} tags, where the settings have {len(tagger.tags_)}")
        except Exception as error:  # of any kind: it is what someone else's broken data led spaCy to do
            line = str(error).strip().partition("\n")[0] or type(error).__name__
            raise ModelError(f"{path}: cannot be loaded: {line}") from error
        return tagger

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tokens]:
        """Each sentence's words with their tags, in order; some hundred sentences are held at a time."""
        if self.nlp_ is None:
            raise ModelError("this tagger is not trained yet")
        stream = iter(sentences)
        while window := [*islice(stream, _WINDOW)]:
            with self.nlp_.memory_zone():  # else spaCy keeps every word that it ever saw
                numbers = [row.tolist() for row in self._tagger.predict([*map(self._doc, window)])]
            for forms, row in zip(window, numbers, strict=True):
                if len(row) != len(forms):
                    raise AssertionError(f"{len(row)} words came back for {len(forms)}")
                yield Tokens(tuple(forms), tuple([self.tags_[i] for i in row]))

    def _fit(
        self,
        train: Sequence[Tokens],
        dev: Sequence[Tokens],
        epochs: float,
        progress: Callable[[TaggingProgress], None] | None,
    ) -> None:
        """Updates the tagger's model and leaves the weights that had the best accuracy on dev."""
        tagger, begin = self._tagger, time.monotonic()
        code_of = {tag: f"t{i}" for i, tag in enumerate(self.tags_)}
        examples = [
            Example(self._doc(tokens.forms), self._doc(tokens.forms, [code_of[tag] for tag in tokens.tags]))
            for tokens in train
        ]
        tagger.initialize(lambda: examples, labels=[*code_of.values()])
        steps = max(1, round(epochs * sum(map(len, examples)) / _BATCH_WORDS))
        interval = math.ceil(steps / max(1, min(epochs, 10)))  # ten evaluations, or one after each pass
        rate = warmup_linear(_RATE, max(1, steps // 20), steps + 1)
        optimizer = Adam(rate, L2=0.01, L2_is_weight_decay=True, grad_clip=1.0)  # type: ignore[arg-type]
        batches = batches_of(examples, _BATCH_WORDS)
        best, best_score = tagger.model.to_bytes(), -1.0
        losses: dict[str, float] = {}
        for step in range(1, steps + 1):
            tagger.update(next(batches), drop=_DROPOUT, sgd=optimizer, losses=losses)
            optimizer.step_schedules()
            if step % interval == 0 or step == steps:
                score = self._score(dev)
                if score > best_score:
                    best, best_score = tagger.model.to_bytes(), score
                if progress is not None:
                    loss = losses.pop(tagger.name) / ((step - 1) % interval + 1)
                    progress(TaggingProgress(step, steps, loss, score, time.monotonic() - begin))
        tagger.model.from_bytes(best)

    def _score(self, dev: Sequence[Tokens]) -> float:
        return accuracy(dev, self.tag(tokens.forms for tokens in dev))

    @property
    def _tagger(self) -> Any:
        assert self.nlp_ is not None
        return self.nlp_.get_pipe(_MODEL)

    def _doc(self, forms: Sequence[str], codes: list[str] | None = None) -> Doc:
        assert self.nlp_ is not None
        return Doc(self.nlp_.vocab, [form or EMPTY_FORM for form in forms], tags=codes)


def _pipeline(sizes: dict[str, int], tags: int) -> Language:
    """An untrained tagger. It is built here, not from a file, which could name other functions."""
    nlp = spacy.blank("xx")
    model = {
        "@architectures": "spacy.Tagger.v2",
        "nO": tags,
        "tok2vec": tok2vec(sizes, ["NORM", "PREFIX", "SUFFIX", "SHAPE"]),
    }
    nlp.add_pipe("tagger", _MODEL, config={"model": model})
    return nlp
