"""A sentence on its way from the input to the output, one value from its words to its tree.

What reads the input makes it of words, or of the error that they have; what parses returns it with trees
(`dataclasses.replace`); what writes it, shows it or votes on it reads it. How it stands in JSON and in tables
is in `d2c.parsing.json_lines`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from d2c.base.errors import FormatError
from d2c.trees.constraints import SpanConstraints
from d2c.trees.ctree import NO_CTREE, CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.spans import Source

Offsets = tuple[tuple[int, int], ...]

NO_DTREE = DTree(NO_CTREE.tokens, (0,), labels=("root",))  # of a sentence that could not be parsed


def plain(default: str | int, arrow: str) -> Any:
    """Return a field of `Sentence` that stands in JSON, tables, pages and Python as it is, unless it is the
    default.

    arrow: its type in tables, one of `d2c.corpora.rows.TYPES`
    """
    return field(default=default, metadata={"arrow": arrow})


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of n words.

    tokens:  its words and tags as they were given; tags are empty where they are to be found. There are none
             where the input could not be read
    file:    where it is from, if there are several files; "" otherwise
    line:    of the file, where it begins, from 1; 0 where it was in no file
    number:  among the sentences of the input, from 1
    text:    from its first word to its last, as it stands in the input; "" where that was no text
    offsets: [n] of each word its first character and the one after its last, from the file's beginning, any
             line break being one character; None where the input was no text
    document, id: what it is part of, and what it is called there; "" outside corpora
    wanted:  constituents that must be there, or must not
    dtree:   the d-tree that the input has, then the d-parser's
    ctree:   its c-tree of K nodes, where one was wanted
    confidences: [K] how sure the parser is of each node, from 0 to 1; None where it does not say so
    alternatives: the best c-trees, of which `ctree` is the first, where several were wanted, with their
             probabilities, if the parser says them
    pieces:  in how many it was parsed, if it has more words than are parsed at once; otherwise 0
    error:   why it has no trees but NO_DTREE and NO_CTREE
    """

    tokens: Tokens
    file: str = plain("", "string")
    line: int = plain(0, "int64")
    number: int = 0
    text: str = field(default="", repr=False, compare=False)
    offsets: Offsets | None = None
    document: str = ""
    id: str = ""
    wanted: SpanConstraints | None = None
    dtree: DTree | None = None
    ctree: CTree | None = None
    confidences: tuple[float, ...] | None = None
    alternatives: tuple[tuple[CTree, float | None], ...] = ()
    pieces: int = plain(0, "int64")
    error: FormatError | None = None

    @property
    def why(self) -> str:
        """Return why it could not be parsed, on one line; "" where it was."""
        return " ".join(self.error.message.split()) or "cannot be parsed" if self.error else ""

    @property
    def tree(self) -> CTree:
        """Return the c-tree, where there must be one. Raises ValueError where none was wanted."""
        if self.ctree is None:
            raise ValueError("this sentence has no c-tree")
        return self.ctree

    @property
    def source(self) -> Source | None:
        """Return its words and where they are in the text; None where the input was no text."""
        return Source(self.tokens.forms, self.offsets, self.text) if self.offsets else None

    def failed(self, error: FormatError) -> Sentence:
        """Return it with an error, and the marked empty trees in place of its own."""
        return replace(self, dtree=NO_DTREE, ctree=NO_CTREE, confidences=None, alternatives=(), error=error)


def refused(error: FormatError) -> Sentence:
    """Return a sentence of the input that cannot be read, without words."""
    return Sentence(Tokens((), ()), line=error.line).failed(error)
