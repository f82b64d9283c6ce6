"""Parsed sentences, and documents: all parsed sentences of a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from d2c.api.tree import Tree
from d2c.parsing import sentence as parsing
from d2c.parsing.json_lines import to_json
from d2c.trees.ctree import NO_CTREE

if TYPE_CHECKING:
    import pandas

COLUMNS = {  # of tables, with their types: values of `Int64` may be missing
    "sentence": "int64",
    "label": "str",
    "start": "int64",
    "end": "int64",
    "start_char": "Int64",
    "end_char": "Int64",
    "text": "str",
    "head": "int64",
    "head_word": "str",
    "governor": "Int64",
    "depth": "int64",
    "confidence": "float64",
}


class Alternative(NamedTuple):
    """One of the best trees of a sentence, and its probability; None: not known."""

    tree: Tree
    probability: float | None


class Sentence:
    """A sentence that was parsed.

    tree:         its tree; `(TOP (ERROR (ERROR ERROR)))` if it could not be parsed
    text:         the sentence as it stands in the input; if words were given, these joined by blanks
    line:         the line where it begins, from 1; if words were given, the number of the sentence
    error:        why it could not be parsed; otherwise ""
    alternatives: the best trees, `tree` first, if several were asked for
    comments:     those of CoNLL-U, such as `sent_id = 1`
    """

    def __init__(self, parsed: parsing.Sentence) -> None:
        """Hold a sentence as `d2c.parsing` has parsed it."""
        self._parsed, self.line, self.error = parsed, parsed.line, parsed.why
        self.text = parsed.text or " ".join(parsed.tokens.forms)
        self.comments = () if self.error else parsed.tokens.comments

    @cached_property
    def tree(self) -> Tree:
        """Return its tree; `(TOP (ERROR (ERROR ERROR)))` if it could not be parsed."""
        one = self._parsed
        return Tree(NO_CTREE) if one.error else Tree(one.tree, one.confidences, one.offsets, one.text)

    @cached_property
    def alternatives(self) -> tuple[Alternative, ...]:
        """Return the best trees, with their probabilities."""
        one = self._parsed
        pairs = ((Tree(ctree, None, one.offsets, one.text), share) for ctree, share in one.alternatives)
        return tuple([Alternative(tree, share) for tree, share in pairs])

    def to_dict(self) -> dict[str, Any]:
        """Return what a line of `d2c parse --to json` holds."""
        return to_json(self._parsed)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Sentence) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"<Sentence of line {self.line}: {self.error or str(self.tree)}>"

    def _key(self) -> tuple[object, ...]:
        return self.tree, self.text, self.line, self.error, self.alternatives, self.comments

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """Show the sentence in a notebook: its tree, or why there is none."""
        picture = None if self.error else self.tree._repr_html_()
        return picture or f"<p>{escape(self.error or str(self.tree))}</p>"


@dataclass(frozen=True)
class Document:
    """The sentences of a text, in order; `Document(list(parser.stream(...)))` makes one of a stream."""

    sentences: Sequence[Sentence]

    def to_dataframe(self) -> pandas.DataFrame:
        """Return a pandas table with a row for each constituent, in the order of `Tree.spans`.

        sentence:    index in `sentences`; those that could not be parsed have no rows
        start, end:  its first word and the one after its last, counted from 0
        start_char, end_char: its place in the text; missing if words were parsed
        head, head_word: the number of its head word, and that word
        governor:    the word on which the head depends; missing for the head of the sentence
        depth:       how many constituents are above it
        confidence:  how sure the parser is of it, from 0 to 1; missing if not known

        Raises ImportError if pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError(f"to_dataframe needs pandas ({error}): pip install pandas") from None
        rows = [
            (i, *attrgetter(*[*COLUMNS][1:])(one))
            for i, sentence in enumerate(self.sentences)
            if not sentence.error
            for one in sentence.tree.spans()
        ]
        return pandas.DataFrame(rows, columns=[*COLUMNS]).astype(COLUMNS)

    def __len__(self) -> int:
        return len(self.sentences)

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    @overload
    def __getitem__(self, position: int) -> Sentence: ...

    @overload
    def __getitem__(self, position: slice) -> Sequence[Sentence]: ...

    def __getitem__(self, position: int | slice) -> Sentence | Sequence[Sentence]:
        return self.sentences[position]

    def __str__(self) -> str:
        """Return the trees, one on each line."""
        return "\n".join(str(sentence.tree) for sentence in self.sentences)

    def _repr_html_(self) -> str:
        """Show the text in a notebook: the trees of its sentences below each other."""
        return "".join(f"<div>{sentence._repr_html_()}</div>" for sentence in self.sentences)
