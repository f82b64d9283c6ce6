"""What trainings of d-parsers and taggers have in common: evaluations, the best state, reports, the seed."""

from __future__ import annotations

import math
import random
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy

from d2c.base.batches import batches
from d2c.base.counting import many, ranked
from d2c.base.errors import ModelError
from d2c.base.model_files import as_type
from d2c.base.progress import at_step, log
from d2c.base.temporary import whole_directory
from d2c.protocols.abilities import TaggerAbilities
from d2c.protocols.directories import ModelFormat, loading
from d2c.protocols.dparser import EMPTY_FORM, DependencyParser, Evaluation, Report
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.scores.attachment import attachment_scores

T = TypeVar("T")
Tree = TypeVar("Tree", CTree, DTree)
Treebanks = tuple[Sequence[Tokens], Sequence[Tokens]]
Evaluate = Callable[[int, int, float, float], float]  # as `evaluating` makes it

_MINUTES = 5.0  # between checkpoints, which are also written after each evaluation
DEV_WORDS = 20_000  # words of the development treebank that are enough to tell which state is the best


def attachment(gold: Sequence[DTree], predicted: Iterable[DTree]) -> dict[str, float]:
    """Return UAS and LAS, by these names, in [0, 1] with exact labels; every word counts."""
    score = attachment_scores(gold, predicted, punctuation=True)
    return {"UAS": score.uas / 100, "LAS": score.las / 100}


def read_tagged(path: Path) -> list[Tokens]:
    """Return words and tags of a CoNLL-U file; heads may be anything. Raises FormatError."""
    return [dtree.tokens for dtree in read_conllu(path)]


def tags_of(sentences: Iterable[Tokens]) -> tuple[str, ...]:
    """Return all tags, the commonest first. Taggers learn their numbers: some read `!` or `_` as no tag."""
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
    """Return evenly chosen trees with about so many words, all of them where these have no more."""
    total = sum(len(tree.tokens) for tree in trees)
    return trees[:: max(1, -(-total // words))]


@dataclass(frozen=True)
class TrainingPlan:
    """What is trained, in how many steps at most, how many lie between evaluations, and on which device."""

    who: str
    steps: int
    interval: int
    device: str = "cpu"


@dataclass
class Course(Generic[T]):
    """The progress of a training by its plan: what a checkpoint holds beside the network's own state.

    done, since: steps, in all and since the last evaluation
    total:       sum of the losses since then
    seconds:     of the training so far, evaluations included
    best:        the best state, None before the first evaluation, with its score and its step
    """

    plan: TrainingPlan
    done: int = 0
    since: int = 0
    total: float = 0.0
    seconds: float = 0.0
    best: T | None = None
    best_score: float = -1.0
    best_step: int = 0

    @property
    def numbers(self) -> dict[str, float]:
        """Return what a checkpoint keeps of it, beside the best state, to make it again with its plan."""
        return {name: getattr(self, name) for name in ("done", "since", "total", "seconds", "best_score")}


def best_state(
    course: Course[T],
    update: Callable[[], float],
    evaluate: Evaluate,
    state: Callable[[], T],
    keep: Callable[[], None] | None = None,
    over: Callable[[float | None], bool] | None = None,
) -> T:
    """Make the steps of a training; return the state with the highest score, the first of equal ones.

    update:   makes a step, and returns its loss
    evaluate: scores on the development treebank, as `evaluating` makes it
    state:    returns what the network has learned so far
    course:   is kept up to date; where an earlier training has begun it, that training goes on
    keep:     writes a checkpoint; is called after each evaluation and every few minutes
    over:     says after each step, given the score if it was evaluated, whether it was the last one
    """
    plan = course.plan
    first = min(plan.steps, (course.done // plan.interval + 1) * plan.interval)
    size = many(plan.steps, "step")
    log.info("%s: %s at most on %s, the first score after step %d", plan.who, size, plan.device, first)
    kept = time.monotonic()
    begin = kept - course.seconds

    def step() -> float:
        loss = update()
        course.seconds = time.monotonic() - begin
        return loss

    while course.done < plan.steps:
        score = _step(course, step, evaluate, state)
        if keep is not None and (score is not None or time.monotonic() - kept > 60 * _MINUTES):
            keep()
            kept = time.monotonic()
        if over is not None and over(score):
            break
    return state() if course.best is None else course.best


def _step(
    course: Course[T], update: Callable[[], float], evaluate: Evaluate, state: Callable[[], T]
) -> float | None:
    """Make a step, and score what was learned if an evaluation is due; return the score."""
    plan, step = course.plan, course.done + 1
    due = min(plan.steps, math.ceil(step / plan.interval) * plan.interval)
    said = "%s: step %d of %d, the next score after step %d"
    at_step((step - 1) / plan.steps, said, plan.who, step, plan.steps, due)
    course.total += update()
    course.done, course.since = step, course.since + 1
    if step < due:
        return None
    at_step(step / plan.steps, "%s: scoring after step %d of %d", plan.who, step, plan.steps)
    score = evaluate(step, plan.steps, course.total / course.since, course.seconds)
    if score > course.best_score:
        course.best, course.best_score, course.best_step = state(), score, step
    course.total, course.since = 0.0, 0
    return score


def reporting(progress: Report) -> Callable[[int, int, float, Mapping[str, float]], None]:
    """Return a function that passes on an `Evaluation` of its arguments, with the seconds since this call."""
    begin = time.monotonic()

    def report(step: int, steps: int, loss: float, scores: Mapping[str, float]) -> None:
        if progress is not None:
            progress(Evaluation(step, steps, loss, scores, time.monotonic() - begin))

    return report


def evaluating(progress: Report, scores: Callable[[], Mapping[str, float]], who: str = "") -> Evaluate:
    """Return a function that evaluates after a step of so many, given the mean loss and the seconds so far.

    The function passes on an `Evaluation`, and returns the last of its scores.
    """

    def evaluate(step: int, steps: int, loss: float, seconds: float) -> float:
        found = scores()
        if progress is not None:
            progress(Evaluation(step, steps, loss, found, seconds, who))
        return [*found.values()][-1]

    return evaluate


def evaluating_arcs(parser: DependencyParser, dev: Sequence[DTree], progress: Report) -> Evaluate:
    """Return a function as `evaluating` does, for a parser's UAS and LAS on d-trees."""
    return evaluating(progress, lambda: attachment(dev, parser.parse(one.tokens for one in dev)))


class TrainedTagger(ABC):
    """A tagger that is taught the tags of a treebank; subclasses do what depends on a library.

    FORMAT, WINDOW: that of its model directory; sentences that `tag` holds at a time
    tags_:          all tags, the commonest first
    """

    FORMAT: ClassVar[ModelFormat]
    WINDOW: ClassVar[int]
    abilities = TaggerAbilities()
    settings: Any  # the estimator's own, which has a seed
    tags_: tuple[str, ...] = ()

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learn, and leave the model with the best accuracy on the second file. Raises as `Tagger`."""
        train = read_tagged(train_conllu)
        dev = [dtree.tokens for dtree in thinned([*read_conllu(dev_conllu)], DEV_WORDS)]

        def scores() -> Mapping[str, float]:
            return {"accuracy": accuracy(dev, self.tag(one.forms for one in dev))}

        with self._seeded(), whole_directory(directory, self.FORMAT.file) as staging:
            self.tags_ = tags_of(train)
            settings = self._fit((train, dev), evaluating(progress, scores, "tagger"), staging)
            self.FORMAT.write(staging, {"tags": self.tags_} | settings, self.settings)
        return self

    @classmethod
    def load(cls, directory: Path, device: str | None = None) -> Self:
        """Return the tagger that `train` left, whose files cannot bring code. Raises ModelError.

        device: where it runs, for taggers that have a choice
        """
        said = cls.FORMAT.read(directory)
        with loading(directory):
            tagger = cls._of(said, device)
            tagger.tags_ = as_type(said["tags"], tuple[str, ...])
            tagger._restore(Path(directory))
            next(tagger.tag([(EMPTY_FORM,)]))  # a tagger that cannot tag fails now
        return tagger

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tokens]:
        """Yield each sentence's words with their tags, in order; WINDOW sentences are held at a time."""
        if not self.tags_:
            raise ModelError("this tagger is not trained yet")
        for window in batches(sentences, self.WINDOW, len):
            tagged = self._predict([[form or EMPTY_FORM for form in forms] for forms in window])
            for forms, tags in zip(window, tagged, strict=True):
                if len(tags) != len(forms):
                    raise AssertionError(f"{len(tags)} words came back for {len(forms)}")
                yield Tokens(tuple(forms), tuple(tags))

    def _seeded(self) -> AbstractContextManager[None]:
        return seeded(self.settings.seed)

    @classmethod
    @abstractmethod
    def _of(cls, said: dict[str, Any], device: str | None) -> Self:
        """Return a tagger without learned state, with the settings in a model directory."""

    @abstractmethod
    def _fit(self, treebanks: Treebanks, evaluate: Evaluate, directory: Path) -> dict[str, Any]:
        """Leave the best model in a directory; return further settings to be kept there.

        treebanks: the one to learn from, and the one that `evaluate` scores on
        """

    @abstractmethod
    def _restore(self, directory: Path) -> None:
        """Read what `_fit` left. Raises whatever broken files make a library raise."""

    @abstractmethod
    def _predict(self, sentences: list[list[str]]) -> Sequence[Sequence[str]]:
        """Return the tags of the words of each sentence; no word is empty."""


def rise_and_fall(steps: int) -> Callable[[int], float]:
    """Return the factor of the learning rate at each step: up over the first twentieth, then down to 0."""
    rise = max(1, steps // 20)
    return lambda step: min((step + 1) / rise, (steps - step) / max(1, steps - rise))


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the generators of Python and numpy; afterwards they go on as if nothing had been drawn."""
    states = random.getstate(), numpy.random.get_state()
    random.seed(seed)
    numpy.random.seed(seed % 2**32)
    try:
        yield
    finally:
        random.setstate(states[0])
        numpy.random.set_state(states[1])
