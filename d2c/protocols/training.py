"""What trainings of d-parsers and taggers have in common: evaluations, the best state, reports, the seed."""

from __future__ import annotations

import math
import random
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import msgspec
import numpy

from d2c.base.batches import batches
from d2c.base.counting import many, ranked
from d2c.base.errors import ModelError
from d2c.base.progress import log
from d2c.base.settings import limits_of
from d2c.base.temporary import whole_directory
from d2c.protocols.directories import ModelFormat, loading
from d2c.protocols.dparser import EMPTY_FORM, DependencyParser, Progress, Report, TaggingProgress
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.scores.attachment import attachment_scores

T = TypeVar("T")
Tree = TypeVar("Tree", CTree, DTree)
Treebanks = tuple[Sequence[Tokens], Sequence[Tokens]]
Evaluate = Callable[[int, int, float, float], float]  # as `evaluating` makes it

DEV_WORDS = 20_000  # of the development treebank that are enough to tell which state is the best


def check_choice(what: str, name: str, known: Iterable[str]) -> None:
    """Raise ModelError for a name that is none of those known."""
    if name not in known:
        raise ModelError(f"{what} {name!r} is none of {', '.join(known)}")


def check_limits(estimator: Any) -> None:
    """Raise ModelError where a parameter, a field made by `setting`, is out of its range."""
    for one in fields(estimator):
        value = getattr(estimator, one.name)
        if one.init and value is not None:
            try:
                limits_of(type(estimator), one.name).check(one.name, value)
            except ValueError as error:
                raise ModelError(str(error)) from None


def attachment(gold: Sequence[DTree], predicted: Iterable[DTree]) -> tuple[float, float]:
    """Return UAS and LAS in [0, 1] with exact labels; every word counts."""
    score = attachment_scores(gold, predicted, punctuation=True)
    return score.uas / 100, score.las / 100


def read_tagged(path: Path) -> list[Tokens]:
    """Return words and tags of a CoNLL-U file; heads may be anything. Raises FormatError."""
    return [dtree.tokens for dtree in read_conllu(path)]


def tags_of(sentences: Iterable[Tokens]) -> tuple[str, ...]:
    """Return all tags, the commonest first. Taggers are taught numbers: some read `!` or `_` as no tag."""
    counts = Counter(tag for tokens in sentences for tag in tokens.tags)
    return tuple(ranked(counts))


def accuracy(gold: Sequence[Tokens], predicted: Iterable[Tokens]) -> float:
    """Return the share of words with the right tag; 0 where there is no word."""
    right = words = 0
    for a, b in zip(gold, predicted, strict=True):
        right += sum(x == y for x, y in zip(a.tags, b.tags, strict=True))
        words += len(a)
    return right / max(1, words)


def thinned(trees: Sequence[Tree], words: int) -> Sequence[Tree]:
    """Return evenly chosen trees with about so many words, all of them where they have no more."""
    return trees[:: 1 + sum(len(tree.tokens) for tree in trees) // words]


def evaluations(
    steps: int, interval: int, update: Callable[[], float], who: str, device: str = "cpu", done: int = 0
) -> Iterator[tuple[int, float | None]]:
    """Make the steps of a training; yield the number of each and, where an evaluation is due, the mean loss
    since the last one, otherwise None. `update` makes a step and returns its loss.

    who:  trains, on which device, which is told first
    done: steps that were made before
    """
    total, first = 0.0, min(steps, (done // interval + 1) * interval)
    log.info("%s: %s at most on %s, the first score after step %d", who, many(steps, "step"), device, first)
    for step in range(done + 1, steps + 1):
        due = min(steps, math.ceil(step / interval) * interval)
        log.debug("%s: step %d of %d, the next score after step %d", who, step, steps, due)
        total += update()
        if step == due:
            log.debug("%s: scoring after step %d of %d", who, step, steps)
            yield step, total / ((step - 1) % interval + 1)
            total = 0.0
        else:
            yield step, None


def best_state(
    steps: Iterable[tuple[int, float | None]],
    evaluate: Callable[[int, float], float],
    state: Callable[[], T],
    known: tuple[T, float] | None = None,
    keep: Callable[[T, float], None] | None = None,
) -> T:
    """Return the `state` after that of the `evaluations` with the highest score, the first of equal ones.

    evaluate: score on the development treebank after a step, given the mean loss
    known:    the best state of the evaluations before, and its score
    keep:     is told the best state and its score after each evaluation
    """
    best, best_score = known or (state(), -1.0)
    for step, loss in steps:
        if loss is not None:
            score = evaluate(step, loss)
            if score > best_score:
                best, best_score = state(), score
            if keep is not None:
                keep(best, best_score)
    return best


def reporter(report: Callable[..., T], progress: Callable[[T], None] | None) -> Callable[..., T]:
    """Return a function that makes reports of their fields, adds the seconds since now, and hands them on."""
    begin = time.monotonic()

    def pass_on(*fields: float) -> T:
        evaluation = report(*fields, time.monotonic() - begin)
        if progress is not None:
            progress(evaluation)
        return evaluation

    return pass_on


def evaluating(
    report: Callable[..., T], progress: Callable[[T], None] | None, scores: Callable[[], tuple[float, ...]]
) -> Evaluate:
    """Return a function that evaluates after a step of so many, given the mean loss and the seconds so far.

    It hands on a report with the scores, and returns the last of them.
    """

    def evaluate(step: int, steps: int, loss: float, seconds: float) -> float:
        measured = scores()
        if progress is not None:
            progress(report(step, steps, loss, *measured, seconds))
        return measured[-1]

    return evaluate


def evaluating_arcs(parser: DependencyParser, dev: Sequence[DTree], progress: Report) -> Evaluate:
    """Return what `evaluating` does, of a parser's UAS and LAS on d-trees."""
    return evaluating(Progress, progress, lambda: attachment(dev, parser.parse(one.tokens for one in dev)))


class TrainedTagger(ABC):
    """A tagger that is taught the tags of a treebank; what a library does of that is left to classes.

    FORMAT, WINDOW: of its model directory; sentences that `tag` holds at a time
    tags_:          all tags, the commonest first
    """

    FORMAT: ClassVar[ModelFormat]
    WINDOW: ClassVar[int]
    seed: int
    tags_: tuple[str, ...]

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learn, and leave the model with the best accuracy on the second file; errors: `Tagger`."""
        self._check()
        train = read_tagged(train_conllu)
        dev = [dtree.tokens for dtree in thinned([*read_conllu(dev_conllu)], DEV_WORDS)]
        with self._seeded(), whole_directory(directory, self.FORMAT.file) as staging:
            self.tags_ = tags_of(train)
            settings = self._fit((train, dev), self._evaluating(dev, progress), staging)
            self.FORMAT.write(staging, {"tags": self.tags_} | settings, self)
        return self

    @classmethod
    def load(cls, directory: Path, **given: Any) -> Self:
        """Return the tagger that `train` left, which cannot bring code with it. Raises ModelError.

        given: parameters that are not in the directory
        """
        settings = cls.FORMAT.read(directory)
        with loading(directory):
            tagger = cls(**given, **cls.FORMAT.parameters_in(settings))
            tagger.tags_ = msgspec.convert(settings["tags"], tuple[str, ...])
            tagger._restore(Path(directory), settings)
            next(tagger.tag([(EMPTY_FORM,)]))  # what cannot tag says so now
        return tagger

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tokens]:
        """Yield each sentence's words with their tags, in order; WINDOW sentences are held at a time."""
        if not self.tags_:
            raise ModelError("this tagger is not trained yet")
        for window in batches(sentences, self.WINDOW):
            tagged = self._predict([[form or EMPTY_FORM for form in forms] for forms in window])
            for forms, tags in zip(window, tagged, strict=True):
                if len(tags) != len(forms):
                    raise AssertionError(f"{len(tags)} words came back for {len(forms)}")
                yield Tokens(tuple(forms), tuple(tags))

    def _evaluating(self, dev: Sequence[Tokens], progress: Report) -> Evaluate:
        return evaluating(
            TaggingProgress, progress, lambda: (accuracy(dev, self.tag(one.forms for one in dev)),)
        )

    def _check(self) -> None:
        """Raise ModelError for parameters that are unknown or out of range."""
        check_limits(self)

    def _seeded(self) -> AbstractContextManager[None]:
        return seeded(self.seed)

    @abstractmethod
    def _fit(self, treebanks: Treebanks, evaluate: Evaluate, directory: Path) -> dict[str, Any]:
        """Leave the best model in a directory; return what else its settings say.

        treebanks: to learn from, and that which `evaluate` scores on
        """

    @abstractmethod
    def _restore(self, directory: Path, settings: dict[str, Any]) -> None:
        """Read what `_fit` left. Raises what broken files lead a library to raise."""

    @abstractmethod
    def _predict(self, sentences: list[list[str]]) -> Sequence[Sequence[str]]:
        """Return the tags of the words of each sentence; no word is empty."""


def rise_and_fall(steps: int) -> Callable[[int], float]:
    """Return the factor of the learning rate at each step: up over the first twentieth, then down to 0."""
    rise = max(1, steps // 20)
    return lambda step: min((step + 1) / rise, (steps - step) / max(1, steps - rise))


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the generators of Python and numpy; afterwards they go on as if nothing was drawn."""
    states = random.getstate(), numpy.random.get_state()
    random.seed(seed)
    numpy.random.seed(seed % 2**32)
    try:
        yield
    finally:
        random.setstate(states[0])
        numpy.random.set_state(states[1])
