"""A sentence on its way from the input to the output: one value that holds its words and, later, its trees.

Readers of the input make it from words, or from an error that they found; parsers return a copy with trees
(`dataclasses.replace`), which is then written, shown or voted on. `d2c.parsing.json_lines` has its form in
JSON and in tables.
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
    """Return a field of `Sentence` whose value JSON, tables and pages show as it is; JSON and pages leave out
    the default.

    arrow: its type in tables, one of `d2c.corpora.rows.TYPES`
    """
    return field(default=default, metadata={"arrow": arrow})


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of n words.

    tokens:  its words and tags as given; a tag is empty if a tagger is to find it. There are no tokens if the
             input could not be read
    file:    the file it is from, if there are several; "" otherwise
    line:    the line of the file where it begins, from 1; 0 if it was in no file
    number:  its number among the sentences of the input, from 1
    text:    from its first word to its last, as it stands in the input; "" if the input was not text
    offsets: [n] the first character of each word and the one after its last, counted from the file's
             beginning with each line break as one character; None if the input was not text
    document, id: its document, and its own name there; "" outside corpora
    wanted:  constituents that its c-tree must have, or must not have
    dtree:   the d-tree that the input has, then the d-parser's
    ctree:   its c-tree of K nodes, if one was wanted
    confidences: [K] how sure the parser is of each node, from 0 to 1; None if not known
    alternatives: the best c-trees, `ctree` first, if several were wanted; each with its probability, None if
             not known
    pieces:  in how many pieces it was parsed, if it is longer than what is parsed at once; otherwise 0
    error:   why it could not be parsed; its trees are then NO_DTREE and NO_CTREE
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
        """Return the c-tree. Raises ValueError if there is none, since none was wanted."""
        if self.ctree is None:
            raise ValueError("this sentence has no c-tree")
        return self.ctree

    @property
    def source(self) -> Source | None:
        """Return its words and where they are in the text; None where the input was no text."""
        return Source(self.tokens.forms, self.offsets, self.text) if self.offsets else None

    def failed(self, error: FormatError) -> Sentence:
        """Return the sentence with an error, and with the marked empty trees in place of its own."""
        return replace(self, dtree=NO_DTREE, ctree=NO_CTREE, confidences=None, alternatives=(), error=error)


def refused(error: FormatError) -> Sentence:
    """Return a sentence without words, for input that cannot be read."""
    return Sentence(Tokens((), ()), line=error.line).failed(error)
