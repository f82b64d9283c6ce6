"""Parsed sentences, and all of a text."""

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
from d2c.parsing.sentence import NO_CTREE

if TYPE_CHECKING:
    import pandas

COLUMNS = {  # of tables, with their types: integers with a capital letter may be missing
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
    """One of the best trees of a sentence, and how probable it is; None: the parser does not say so."""

    tree: Tree
    probability: float | None


class Sentence:
    """A sentence that was parsed.

    tree:  where it could not be parsed, the empty tree `(TOP (ERROR (ERROR ERROR)))` in its place
    text:  as it stands in the input; of words, with blanks between them
    line:  of the input, where it begins, from 1; of words, the number of the sentence
    error: why it could not be parsed; "" where it was
    alternatives: the best trees, `tree` first, where several were asked for
    comments: of CoNLL-U, as `sent_id = 1`
    """

    def __init__(self, parsed: parsing.Sentence) -> None:
        """Show what `d2c.parsing` made of a sentence."""
        self._parsed, self.line, self.error = parsed, parsed.line, parsed.why
        self.text = parsed.text or " ".join(parsed.tokens.forms)
        self.comments = () if self.error else parsed.tokens.comments

    @cached_property
    def tree(self) -> Tree:
        """Return its tree, or the empty one."""
        one = self._parsed
        return Tree(NO_CTREE) if one.error else Tree(one.tree, one.confidences, one.offsets, one.text)

    @cached_property
    def alternatives(self) -> tuple[Alternative, ...]:
        """Return the best trees, with their probabilities."""
        one = self._parsed
        pairs = ((Tree(ctree, None, one.offsets, one.text), share) for ctree, share in one.alternatives)
        return tuple([Alternative(tree, share) for tree, share in pairs])

    def to_dict(self) -> dict[str, Any]:
        """Return a line of `d2c parse --to json`."""
        return to_json(self._parsed)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Sentence) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"<Sentence {self.line} {self.error or str(self.tree)}>"

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
        start_char, end_char: its place in the text; missing where words were parsed
        head, head_word: the number of its head word, and that word
        governor:    the word on which the head depends; missing for the head of the sentence
        depth:       how many constituents are above it
        confidence:  from 0 to 1; missing where the parser does not say so

        Raises ImportError where pandas is not installed.
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
        """Return the trees, one a line."""
        return "\n".join(str(sentence.tree) for sentence in self.sentences)

    def _repr_html_(self) -> str:
        """Show the text in a notebook: the trees of its sentences below each other."""
        return "".join(f"<div>{sentence._repr_html_()}</div>" for sentence in self.sentences)
