"""A c-tree as Python users have it: brackets, pictures, spans, and the trees of other libraries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from d2c.base.files import AnyPath
from d2c.parsing.json_lines import tree_to_json
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import format_bracket
from d2c.trees.formats.discbracket import format_discbracket
from d2c.trees.heads import load_head_rules
from d2c.trees.patterns.matches import Match, Searched, matches
from d2c.trees.spans import Source, Span, labelled, spans_of

if TYPE_CHECKING:
    import nltk
    from stanza.models.constituency import parse_tree


@dataclass(frozen=True, repr=False)
class Tree:
    """A constituency tree over n words with K constituents.

    ctree:       the tree itself
    confidences: [K] how sure the parser is of each, from 0 to 1; None where it does not say so
    offsets:     [n] of each word its first character and the one after its last in the text that was parsed;
                 None where that was no text
    text:        the sentence as it stands there; its words with blanks between them where it is not given
    """

    ctree: CTree
    confidences: tuple[float, ...] | None = None
    offsets: Sequence[tuple[int, int]] | None = None
    text: str = ""

    def __post_init__(self) -> None:
        if not self.text:
            object.__setattr__(self, "text", " ".join(self.words))

    @property
    def words(self) -> tuple[str, ...]:
        """[n] the words; quotation marks are `` and '' where rules for English have cut a text."""
        return self.ctree.tokens.forms

    @property
    def tags(self) -> tuple[str, ...]:
        """[n] their tags."""
        return self.ctree.tokens.tags

    @property
    def labels(self) -> tuple[str, ...]:
        """[K] the label of each constituent, in the order of `spans`."""
        return tuple([span.label for span in self.spans()])

    @property
    def has_gaps(self) -> bool:
        """Whether a constituent does not stand in one piece."""
        return not self.ctree.is_continuous()

    def spans(self) -> list[Span]:
        """Return the constituents from left to right, the higher of two that begin at the same word first."""
        return spans_of(self.ctree, None, self.confidences, self._source)

    def phrases(self, *labels: str, nested: bool = False) -> list[Span]:
        """Return the constituents with one of some labels, as `spans` has them.

        nested: also those that are inside another one of these
        """
        if not labels:
            raise ValueError("which phrases? say their labels: phrases('NP')")
        nodes = labelled(self.ctree, labels, nested)
        return spans_of(self.ctree, nodes, self.confidences, self._source)

    def search(self, pattern: str) -> list[Match]:
        """Return where a pattern in Tregex's language matches, from left to right, the higher node first.

        Raises ValueError for a pattern that cannot be read, or that asks for heads where the tree has none.
        """
        [(_, found)] = matches(pattern, [self], lambda tree: tree.searched)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return words, tags, offsets of text, and spans, as `d2c parse --to json` writes them."""
        return tree_to_json(self.ctree, self.confidences, self.offsets)

    def to_nltk(self) -> nltk.Tree:
        """Return an `nltk.Tree`. Raises ValueError for a tree with gaps."""
        from d2c.trees.objects import to_nltk

        return to_nltk(self.ctree)

    def to_stanza(self) -> parse_tree.Tree:
        """Return a tree of Stanza's. Raises ValueError for a tree with gaps."""
        from d2c.trees.objects import to_stanza

        return to_stanza(self.ctree)

    def __str__(self) -> str:
        """Return brackets on one line, as `d2c parse` writes them; discbracket for a tree with gaps."""
        return format_discbracket(self.ctree) if self.has_gaps else format_bracket(self.ctree)

    def __repr__(self) -> str:
        return f"<Tree {self}>"

    def _repr_svg_(self) -> str | None:
        """Show the tree in a notebook; one that is too deep for a picture is shown as `repr`."""
        from d2c.trees.pictures import ctree_svg  # only here: it needs nltk

        try:
            return ctree_svg(self.ctree, self.text)
        except ValueError:
            return None

    @property
    def searched(self) -> Searched:
        """What a pattern is sought in."""
        return Searched(self.ctree, self.confidences, self._source)

    @property
    def _source(self) -> Source:
        offsets = self.offsets or [(0, 0)]
        known = (
            len(self.text) == offsets[-1][1] - offsets[0][0]
        )  # not where only words and offsets were given
        return Source(self.words, self.offsets, self.text if known else "")


def read(path: AnyPath, *, format: str | None = None, head_rules: str | None = None) -> Iterator[Tree]:
    """Yield the trees of a treebank file (`-`: standard input), without traces and function tags.

    format:     one of those of `d2c convert`; None: as the file's name says
    head_rules: a bundled table or a file that says which children are heads, `marked`: as the treebank marks
                them; without it spans have no heads, unless the treebank marks some

    Raises FormatError.
    """
    from d2c.treebanks.reading import Reading

    rules = load_head_rules(head_rules) if head_rules else None
    for ctree in Reading(format, marked=head_rules == "marked")(Path(path)):
        yield Tree(rules.headed(ctree) if rules else ctree)
