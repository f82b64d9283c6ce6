"""What d-parsers and taggers are to the rest of d2c: trained on CoNLL-U, they find d-trees, and tags.

Each is an estimator: its constructor keeps its settings and does no work; `train` and `load` give it its
learned state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from d2c.base.counting import many
from d2c.base.errors import ModelError
from d2c.packed.arcs import LEAST
from d2c.protocols.abilities import DParserAbilities, TaggerAbilities
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation on the development treebank during training; its text is one line.

    step, steps: training steps so far, and at most
    loss:        mean of the training loss since the previous evaluation
    scores:      in [0, 1], by their names; the last one decides which state is best: UAS and LAS with exact
                 labels, punctuation counted, or the accuracy of tags
    seconds:     since training began
    who:         what is trained; empty for a d-parser
    """

    step: int
    steps: int
    loss: float
    scores: Mapping[str, float]
    seconds: float
    who: str = ""

    def __str__(self) -> str:
        return f"{self.scored}  {self.seconds:.0f} s, {time_left(self.step, self.steps, self.seconds)}"

    @property
    def at(self) -> tuple[str, float]:
        """Return what is trained, and which share of the steps is done."""
        return self.who, self.step / self.steps

    @property
    def scored(self) -> str:
        """Return what was reached, without the time that it took."""
        who = f"{self.who}: " if self.who else ""
        scores = "  ".join([f"{name} {100 * share:.2f}" for name, share in self.scores.items()])
        return f"{who}step {self.step}/{self.steps}  loss {self.loss:.3f}  dev {scores}"


def time_left(done: int, steps: int, seconds: float) -> str:
    """Say how long the remaining steps take at the pace of those done, if training does not end early."""
    if not 0 < done <= steps:
        return "time left unknown"
    left = seconds / done * (steps - done)
    for unit, size in (("h", 3600), ("min", 60)):
        if left >= 2 * size:
            return f"about {left / size:.0f} {unit} left"
    return f"about {left:.0f} s left"


Report = Callable[[Evaluation], None] | None  # is told each evaluation
EMPTY_FORM = "_"  # what taggers see for the empty form, which networks over characters cannot take
Arcs = tuple[Sequence[int], Sequence[str]]  # heads and labels of a sentence
Word = tuple[str, int, int]  # its form, its first character in a text and the one after its last


LONGEST = 1 << 18  # characters that rules take at once; tokenisers take seconds for more, or give up


class TextRules(Protocol):
    """Rules by which text is cut.

    longest: characters that they take at once
    """

    longest: int

    def words(self, text: str) -> Iterable[Word]:
        """Return the words of a sentence, in order; several words may have the same characters."""
        ...

    def sentences(self, text: str) -> Iterable[tuple[int, int]]:
        """Return the first character of each sentence of a paragraph and the one after its last, in order."""
        ...


class DependencyParser(ABC):
    """A dependency parser that can be trained; what only some parsers can do has a default here.

    Its constructor takes one value, its settings, if it has any.

    abilities: what it provides and requires, with its settings
    """

    abilities: DParserAbilities = DParserAbilities()

    def __init__(self, settings: Any = None) -> None:
        self.settings = settings

    @abstractmethod
    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learn from one CoNLL-U file, select the model on another, and leave it in a directory.

        Words, tags (XPOS), heads and labels (DEPREL) are read. The directory appears whole, or, where
        training fails or is interrupted, not at all. Raises FormatError for what cannot be learned from,
        ModelError for unknown parameters and for directories and other files that cannot be used.
        """

    @classmethod
    @abstractmethod
    def load(cls, directory: Path) -> Self:
        """Return the parser that `train` left in a directory. Raises ModelError."""

    @abstractmethod
    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """Yield the d-tree of each sentence, heads and labels filled in, in order, over any stream.

        The tokens are those given, but have the tags that a parser with `tags` predicts. Raises ModelError
        where nothing was trained or loaded yet.
        """

    def parse_packed(self, sentences: Iterable[Tokens], least: float = LEAST) -> Iterator[DTree]:
        """Yield the d-trees of `parse` with their packed arcs (`d2c.packed.arcs`).

        least: probability from which on arcs are wanted; there may be others
        """
        raise ModelError("this parser does not say how probable other heads are")

    def parse_training(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """Parse the sentences of the training treebank, as `parse` does others."""
        return self.parse(sentences)

    def rules(self) -> TextRules:
        """Return the rules by which it cuts text. Raises ModelError for a parser that cuts none."""
        raise ModelError("this parser cuts no text")

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tokens]:
        """Tag words as a `Tagger` does. Raises ModelError for a parser that predicts no tags."""
        if not self.abilities.tags:
            raise ModelError("this parser has no tags of its own")
        untagged = map(Tokens.untagged, sentences)
        return (dtree.tokens for dtree in self.parse(untagged))


class Tagger(Protocol):
    """A part-of-speech tagger that can be trained; its constructor takes one value, its settings.

    abilities: what it requires, with its settings
    """

    abilities: TaggerAbilities

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learn from one CoNLL-U file, select the model on another, and leave it in a directory.

        Words and tags (XPOS) are read, nothing else. The directory appears whole, or, where training fails
        or is interrupted, not at all. Raises FormatError for what cannot be learned from, ModelError for
        unknown parameters and directories that cannot be used.
        """
        ...

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return the tagger that `train` left in a directory. Raises ModelError."""
        ...

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tokens]:
        """Yield each sentence's words with one tag for each, in order, in batches, over any stream.

        The words are those given. Raises ModelError where nothing was trained or loaded yet.
        """
        ...


def with_arcs(sentences: Iterable[Tokens], arcs: Iterable[Arcs], parser: str) -> Iterator[DTree]:
    """Yield the d-tree of each sentence, with its arcs; `arcs` has none for sentences without words.

    Raises ModelError, which names the parser, for arcs of another number of words.
    """
    stream = iter(arcs)
    for tokens in sentences:
        heads, labels = next(stream) if len(tokens) else ((), ())
        if len(heads) != len(tokens):
            message = f"finds {many(len(heads), 'word')} in a sentence of {len(tokens)}"
            raise ModelError(f"{parser}: {message}: {' '.join(tokens.forms)}")
        yield DTree(tokens, tuple(heads), labels=tuple(labels))
