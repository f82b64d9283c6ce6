"""What a tagger is to the rest of d2c: trained on a treebank's tags, it gives each word of a sentence one.

It is an estimator as a d-parser is (`d2c.dparsers.protocol`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from d2c.dparsers.protocol import time_left
from d2c.trees.ctree import Tokens
from d2c.trees.formats.conllu import read_conllu

EMPTY_FORM = "_"  # what taggers see for the empty form, which networks over characters cannot take


@dataclass(frozen=True, slots=True)
class TaggingProgress:
    """One evaluation on the development treebank during training; its text is one line.

    step, steps: training steps so far, and in all
    loss:        mean of the training loss since the previous evaluation
    accuracy:    share of words with the right tag, in [0, 1]
    seconds:     since training began
    """

    step: int
    steps: int
    loss: float
    accuracy: float
    seconds: float

    def __str__(self) -> str:
        return (
            f"tagger: step {self.step}/{self.steps}  loss {self.loss:.3f}  "
            f"dev accuracy {100 * self.accuracy:.2f}  {self.seconds:.0f} s, "
            f"{time_left(self.step, self.steps, self.seconds)}"
        )


Report = Callable[[TaggingProgress], None] | None


class Tagger(Protocol):
    """A part-of-speech tagger that can be trained."""

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learn from one CoNLL-U file, select the model on another, and leave it in a directory.

        Words and tags (XPOS) are read, nothing else. The directory appears whole, or, where training fails
        or is interrupted, not at all. Raises FormatError for what cannot be learned from, ModelError for
        unknown parameters and directories that cannot be used.
        """

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return the tagger that `train` left in a directory. Raises ModelError."""

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tokens]:
        """Yield each sentence's words with one tag for each, in order, in batches, over any stream.

        The words are those given. Raises ModelError where nothing was trained or loaded yet.
        """


def read_tagged(path: Path) -> list[Tokens]:
    """Return words and tags of a CoNLL-U file; heads may be anything. Raises FormatError."""
    return [dtree.tokens for dtree in read_conllu(path)]


def tags_of(sentences: Iterable[Tokens]) -> tuple[str, ...]:
    """Return all tags, the commonest first. Taggers are taught numbers: some read `!` or `_` as no tag."""
    counts = Counter(tag for tokens in sentences for tag in tokens.tags)
    return tuple(sorted(counts, key=lambda tag: (-counts[tag], tag)))


def accuracy(gold: Sequence[Tokens], predicted: Iterable[Tokens]) -> float:
    """Return the share of words with the right tag; 0 where there is no word."""
    right = words = 0
    for a, b in zip(gold, predicted, strict=True):
        right += sum(x == y for x, y in zip(a.tags, b.tags, strict=True))
        words += len(a)
    return right / max(1, words)
