"""What a d-parser is to the rest of d2c: trained on CoNLL-U, it labels sentences with d-trees.

A parser is an estimator: its constructor keeps its parameters and does no work; `train` and `load` give it
its learned state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self, runtime_checkable

from d2c.base.errors import ModelError
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree


@dataclass(frozen=True, slots=True)
class Progress:
    """One evaluation on the development treebank during training; its text is one line.

    step, steps: training steps so far, and at most
    loss:        mean of the training loss since the previous evaluation
    uas, las:    attachment scores with exact labels, punctuation counted, in [0, 1]
    seconds:     since training began
    """

    step: int
    steps: int
    loss: float
    uas: float
    las: float
    seconds: float

    def __str__(self) -> str:
        left = time_left(self.step, self.steps, self.seconds)
        return (
            f"step {self.step}/{self.steps}  loss {self.loss:.3f}  dev UAS {100 * self.uas:.2f}  "
            f"LAS {100 * self.las:.2f}  {self.seconds:.0f} s, {left}"
        )


def time_left(done: int, steps: int, seconds: float) -> str:
    """How long the steps to go will take if they take as long as those before, and training does not end
    early."""
    if not 0 < done <= steps:
        return "time left unknown"
    left = seconds / done * (steps - done)
    for unit, size in (("h", 3600), ("min", 60)):
        if left >= 2 * size:
            return f"about {left / size:.0f} {unit} left"
    return f"about {left:.0f} s left"


Report = Callable[[Progress], None] | None
Arcs = tuple[Sequence[int], Sequence[str]]  # heads and labels of a sentence


Word = tuple[str, int, int]  # its form, its first character in a text and the one after its last


class TextRules(Protocol):
    """How text is cut."""

    def words(self, text: str) -> Iterable[Word]:
        """The words of a sentence, in order; several may be of the same characters."""

    def sentences(self, text: str) -> Iterable[tuple[int, int]]:
        """Of each sentence of a paragraph its first character and the one after its last, in order."""


class DependencyParser(Protocol):
    """A dependency parser that can be trained."""

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learns from one CoNLL-U file, selects the model on another, and leaves it in a directory.

        Words, tags (XPOS), heads and labels (DEPREL) are read. The directory appears whole, or, where
        training fails or is interrupted, not at all. Raises FormatError for what cannot be learned from,
        ModelError for unknown parameters and for directories and other files that cannot be used.
        """

    @classmethod
    def load(cls, directory: Path) -> Self:
        """The parser that `train` left there. Raises ModelError."""

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """The d-tree of each sentence, heads and labels filled in, in order, in batches, over any stream.

        The tokens are those given. Raises ModelError where nothing was trained or loaded yet.
        """


@runtime_checkable
class ForeignParser(DependencyParser, Protocol):
    """A dependency parser that may be trained elsewhere, on d-trees of another convention (UD, ClearNLP).

    `train` teaches it nothing then. What converts its d-trees must learn from them.
    """

    @property
    def foreign(self) -> bool:
        """Whether it was trained elsewhere."""

    def parse_training(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """Parses the sentences of the training treebank, as `parse` does others."""


@runtime_checkable
class GivesArcs(DependencyParser, Protocol):
    """A dependency parser that says how probable other heads are."""

    @property
    def gives_arcs(self) -> bool:
        """Whether, as it is set, it does."""

    def parse_packed(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """The d-trees of `parse`, with their packed arcs (`d2c.packed.arcs`)."""


@runtime_checkable
class ReadsAlong(DependencyParser, Protocol):
    """A dependency parser that has its d-trees in order, and so must be given all sentences in one stream."""

    @property
    def reads_along(self) -> bool:
        """Whether that is so."""


@runtime_checkable
class MadeForGPUs(Protocol):
    """A d-parser or tagger that may be too large to train on a CPU."""

    @property
    def misses_gpu(self) -> bool:
        """Whether, as it is set, it is made for a GPU, and there is none here."""


@runtime_checkable
class ReadsText(DependencyParser, Protocol):
    """A dependency parser that comes with words, sentences and tags of its own."""

    def rules(self) -> TextRules:
        """How it cuts text."""

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tokens]:
        """As that of a tagger, `d2c.dparsers.taggers`."""


def with_arcs(sentences: Iterable[Tokens], arcs: Iterable[Arcs], parser: str) -> Iterator[DTree]:
    """Gives each sentence its arcs; those without words have none among them.

    Raises ModelError, which names the parser, for arcs of another number of words.
    """
    stream = iter(arcs)
    for tokens in sentences:
        heads, labels = next(stream) if len(tokens) else ((), ())
        if len(heads) != len(tokens):
            message = f"finds {len(heads)} words in a sentence of {len(tokens)}"
            raise ModelError(f"{parser}: {message}: {' '.join(tokens.forms)}")
        yield DTree(tokens, tuple(heads), labels=tuple(labels))
