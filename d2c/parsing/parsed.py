"""The result of parsing a sentence: its trees, or why it has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree

if TYPE_CHECKING:  # its imports take a second: NLTK
    from d2c.parsing.input import InputSentence


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed sentence, which is the number-th of the input.

    dtree: the d-parser's; ctree: where it was wanted; confidences: one for each node of it [K]
    alternatives: the best c-trees, of which it is the first, where several were wanted, with their
                  probabilities, if the parser says them
    error: why they are NO_DTREE and NO_CTREE
    """

    sentence: InputSentence
    number: int
    dtree: DTree | None = None
    ctree: CTree | None = None
    confidences: tuple[float, ...] | None = None
    error: str = ""
    alternatives: tuple[tuple[CTree, float | None], ...] = ()


# The trees of a sentence that could not be parsed.
_ERROR = Tokens(("ERROR",), ("ERROR",))
NO_CTREE = CTree(_ERROR, ("ERROR",), ((0,),), (0,), "TOP")
NO_DTREE = DTree(_ERROR, (0,), labels=("root",))


def failed(parsed: Parsed, error: str) -> Parsed:
    """Return the sentence with a marked empty tree, and on one line what is wrong with it."""
    return Parsed(parsed.sentence, parsed.number, NO_DTREE, NO_CTREE, error=" ".join(error.split()))
