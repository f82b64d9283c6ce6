"""A c-tree for Python users: brackets, pictures, spans, and the trees of other libraries."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

from d2c.base.errors import FormatError
from d2c.base.files import AnyPath, open_binary_output
from d2c.base.inputs import ending_of
from d2c.parsing.json_lines import format_tree, to_json
from d2c.parsing.sentence import Sentence
from d2c.trees.binarization import binarized, is_part, unbinarized
from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import CTree, canonical
from d2c.trees.draft import unchanged
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.formats.discbracket import is_discbracket, parse_discbracket
from d2c.trees.heads import load_head_rules
from d2c.trees.patterns.edits import edit_of
from d2c.trees.patterns.limits import SECONDS, RanOver
from d2c.trees.patterns.matches import Match, matches
from d2c.trees.spans import Constituents, Source, Span, labelled, spans_of, unheard
from d2c.trees.universal.conversion import to_universal
from d2c.trees.universal.rules import check_tags
from d2c.trees.universal.tree import UniversalTree

if TYPE_CHECKING:
    import nltk
    from nltk.grammar import Production
    from stanza.models.constituency import parse_tree


class Tree:
    """A constituency tree over n words with K constituents, or the part of one below a node.

    A part is a tree of its own: its words are counted from 0, and gaps between them are closed. Its `offsets`
    are still those in the text, and its `span` is its place in the sentence. Trees are equal if they have the
    same brackets.

    Trees are sequences, as in nltk: the elements are the children or, of a tag, the word; `tree[0, 1]` is
    the second child of the first. The wrapper around a sentence (TOP) is a tree, too, but not a constituent.

    ctree:       d2c's internal tree
    confidences: [K] how sure the parser is of each node, from 0 to 1; None if not known
    offsets:     [n] the first character of each word and the one after its last in the text that was parsed;
                 None if words were parsed
    text:        the sentence as it stands in the text; if not given, its words joined by blanks
    """

    def __init__(
        self,
        ctree: CTree,
        confidences: Sequence[float | None] | None = None,
        offsets: Sequence[tuple[int, int]] | None = None,
        text: str = "",
    ) -> None:
        if not isinstance(ctree, CTree):
            makers = "Tree.from_string, Tree.from_nltk or Tree.from_stanza"
            raise TypeError(f"a Tree is made of a CTree, not {type(ctree).__name__}; see {makers}")
        self._whole = Constituents(ctree, confidences, Source(ctree.tokens.forms, offsets, text))
        self._node = _highest(ctree)

    @classmethod
    def from_string(cls, brackets: str) -> Tree:
        """Return the tree that brackets describe, with traces and functions; the inverse of `str`.

        If each word begins with a number and `=`, they are read as discbracket. Raises ValueError.
        """
        return cls((parse_discbracket if is_discbracket(brackets) else parse_bracket)(brackets))

    @classmethod
    def from_nltk(cls, tree: nltk.Tree) -> Tree:
        """Return the tree of an `nltk.Tree`; the inverse of `to_nltk`, without heads.

        Raises TypeError for another object, and ValueError for words without tags and nodes without words.
        """
        from d2c.trees.objects import from_nltk

        return cls(from_nltk(tree))

    @classmethod
    def from_stanza(cls, tree: parse_tree.Tree) -> Tree:
        """Return the tree of a Stanza tree; the inverse of `to_stanza`. Raises as `from_nltk` does."""
        from d2c.trees.objects import from_stanza

        return cls(from_stanza(tree))

    @property
    def label(self) -> str:
        """Return the label of its root, such as NP, or TOP around a sentence; of a word, its tag."""
        ctree = self._whole.ctree
        return ctree.top or "" if self._node > ctree.root else ctree.label(self._node)

    @property
    def children(self) -> tuple[Tree, ...]:
        """Return the trees below its root, including tags with their words, which have no children."""
        ctree, n = self._whole.ctree, len(self._whole.ctree.tokens)
        if self._node > ctree.root:
            return (_part(self._whole, ctree.root),)
        below = ctree.children[self._node - n] if self._node >= n else ()
        return tuple([_part(self._whole, node) for node in below])

    @property
    def span(self) -> Span:
        """Return its place in the sentence: first and last word, head, parent."""
        return self._whole.span(min(self._node, self._whole.ctree.root))

    @property
    def ctree(self) -> CTree:
        """Return the tree that d2c computes with."""
        return self._own.ctree

    @property
    def constituents(self) -> Constituents:
        """Return the nodes of `ctree`, with confidences and places in the sentence."""
        return self._own

    @property
    def confidences(self) -> Sequence[float | None] | None:
        """Return [K] how sure the parser is of each node of `ctree`, from 0 to 1; None for edited nodes."""
        return self._own.confidences

    @property
    def offsets(self) -> Sequence[tuple[int, int]] | None:
        """Return [n] the first character of each word in the text, and the one after its last."""
        return self._own.source.offsets

    @property
    def text(self) -> str:
        """Return its words as they stand in the text."""
        return self._own.source.text or " ".join(self.words)

    @property
    def words(self) -> tuple[str, ...]:
        """Return [n] the words; in English text that was parsed, quotation marks are `` and ''."""
        return self.ctree.tokens.forms

    @property
    def tags(self) -> tuple[str, ...]:
        """Return [n] the words' tags."""
        return self.ctree.tokens.tags

    @property
    def heads(self) -> tuple[int, ...] | None:
        """Return [n] the number of the word on which each word depends; the root has its own, as in spaCy.

        None in a treebank that was read without head rules; see `with_heads`.
        """
        if self.ctree.head_children is None:
            return None
        heads = to_dependencies(self.ctree).heads
        return tuple([head - 1 if head else word for word, head in enumerate(heads)])

    @property
    def labels(self) -> tuple[str, ...]:
        """Return [K] the label of each constituent, in the order of `spans`."""
        return tuple([span.label for span in self.spans()])

    @property
    def has_gaps(self) -> bool:
        """Return whether any constituent is discontinuous."""
        return not self.ctree.is_continuous()

    def spans(self) -> list[Span]:
        """Return the constituents from left to right, the higher of two that begin at the same word first."""
        return spans_of(self.ctree, None, self.confidences, self._own.source)

    def phrases(self, *labels: str, nested: bool = False) -> list[Span]:
        """Return the constituents with one of these labels, in the order of `spans`.

        nested: also those inside another one of them

        Warns if nothing is found but a tag has the name, or a label has it in other letters (`np` for NP).
        """
        if not labels:
            raise ValueError("which phrases? say their labels: phrases('NP')")
        for label in labels:
            if not isinstance(label, str):
                raise TypeError(f"a label is a str, not {type(label).__name__}: phrases('NP', 'PP')")
        nodes = labelled(self.ctree, labels, nested)
        for said in unheard(labels, self.ctree) if not nodes else ():
            warnings.warn(said, stacklevel=2)
        return spans_of(self.ctree, nodes, self.confidences, self._own.source)

    def leaves(self) -> list[str]:
        """Return the words."""
        return [*self.words]

    def pos(self) -> list[tuple[str, str]]:
        """Return the words with their tags."""
        return [*zip(self.words, self.tags, strict=True)]

    def height(self) -> int:
        """Return the number of nodes on the longest path down, counting the word, as nltk does."""
        return self.ctree.height() + 1 + (self.ctree.top is not None)

    def subtrees(self, filter: Callable[[Tree], object] | None = None) -> Iterator[Tree]:
        """Yield the tree and all trees below it, including tags, from left to right, the higher first.

        filter: yield only those for which it returns a true value
        """
        stack: list[Tree] = [self]
        while stack:
            tree = stack.pop()
            if filter is None or filter(tree):
                yield tree
            stack += reversed(tree.children)

    def productions(self) -> list[Production]:
        """Return nltk's productions of its nodes, including tags, in the order of `subtrees`."""
        from nltk.grammar import Nonterminal, Production

        return [
            Production(
                Nonterminal(tree.label),
                [one if isinstance(one, str) else Nonterminal(one.label) for one in tree],
            )
            for tree in self.subtrees()
        ]

    def search(self, pattern: str, timeout: float = SECONDS) -> list[Match]:
        """Return where a pattern in Tregex's language matches, from left to right, the higher node first.

        timeout: seconds of CPU time

        Raises ValueError for a pattern that cannot be read, or that asks for heads where the tree has none,
        and for a search that takes longer or finds more than 100,000 matches.
        """
        [(_, found)] = matches(pattern, [self._own], lambda own: own, timeout)
        if isinstance(found, RanOver):
            raise found
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return words, tags, brackets and spans, as `d2c parse --to json` writes them; offsets if known, and
        confidences if those of all nodes are."""
        tokens = replace(self.ctree.tokens, comments=())
        offsets, shares = self.offsets, self.confidences or ()
        known = tuple([share for share in shares if share is not None])
        return to_json(
            Sentence(
                tokens,
                offsets=None if offsets is None else tuple(offsets),
                ctree=self.ctree,
                confidences=known if known and len(known) == len(shares) else None,
            )
        )

    def to_nested(self) -> dict[str, Any]:
        """Return nodes inside each other, as JSON and d3.js have them: `{"label": "NP", "children": [...]}`.

        A word is `{"label": "NN", "word": "cat", "token": 0}`, with its number. Words have `start_char` and
        `end_char` if offsets are known, and nodes `confidence` if theirs is, as in `to_dict`. The wrapper
        (TOP) is the outermost node.
        """
        ctree, shares = self.ctree, self.confidences or [None] * len(self.ctree.labels)
        nodes = list[dict[str, Any]]()
        for i, (form, tag) in enumerate(zip(self.words, self.tags, strict=True)):
            nodes.append({"label": tag, "word": form, "token": i})
            if self.offsets:
                nodes[-1] |= zip(("start_char", "end_char"), self.offsets[i], strict=True)
        for label, kids, share in zip(ctree.labels, ctree.children, shares, strict=True):
            known = {} if share is None else {"confidence": round(share, 6)}
            nodes.append({"label": label, **known, "children": [nodes[kid] for kid in kids]})
        return nodes[-1] if ctree.top is None else {"label": ctree.top, "children": nodes[-1:]}

    def to_nltk(self) -> nltk.Tree:
        """Return an `nltk.Tree`. Raises ValueError for a tree with gaps."""
        from d2c.trees.objects import to_nltk

        return to_nltk(self.ctree)

    def to_stanza(self) -> parse_tree.Tree:
        """Return a tree of Stanza's. Raises ValueError for a tree with gaps."""
        from d2c.trees.objects import to_stanza

        return to_stanza(self.ctree)

    def to_ud(self) -> UniversalTree:
        """Return basic Universal Dependencies, by rules for English trees with the Penn Treebank's labels.

        They print as CoNLL-U. `heads`, `labels` (the relations), `upos`, `xpos`, `feats` and `tokens.forms`
        have one item for each word; heads are counted from 1, that of the root is 0. If the text is known,
        words are as they stand there, with quotation marks for `` and ''.

        Raises ValueError for a tree of traces, and if more than half of the tags are not the Penn Treebank's.
        """
        check_tags(self.ctree)
        return to_universal(self.ctree, self._own.source.text)

    def with_heads(self, head_rules: str = "collins") -> Tree:
        """Return the tree with the heads that a table finds; heads that it has already stay.

        head_rules: a bundled table or a file, see `d2c heads`. Raises FormatError for anything else.
        """
        ctree = load_head_rules(head_rules).headed(self.ctree)
        return Tree(ctree, self.confidences, self.offsets, self._own.source.text)

    def binarized(self, how: Literal["left", "right", "head"] = "head") -> Tree:
        """Return a tree whose nodes have at most two children; parts of a node X are nodes @X.

        how: `left`: (X (@X (@X a b) c) d); `right`: (X a (@X b (@X c d))); `head`: the head lowest, then
             the children on its right, then those on its left

        Parts have no confidence (None). Raises ValueError for another `how`, for `head` in a tree without
        heads, and for a label that begins with @.
        """
        binary, shares = binarized(self.ctree, how), iter(self.confidences or ())
        known = [None if is_part(label) else next(shares, None) for label in binary.labels]
        return Tree(binary, self.confidences and known, self.offsets, self._own.source.text)

    def unbinarized(self) -> Tree:
        """Return the tree without the nodes that `binarized` made: all whose labels begin with @."""
        ctree, shares = unbinarized(self.ctree), self.confidences
        if shares:
            whole = zip(self.ctree.labels[:-1], shares[:-1], strict=True)
            shares = [*(share for label, share in whole if not is_part(label)), *shares[-1:]]
        return Tree(ctree, shares, self.offsets, self._own.source.text)

    def edit(self, pattern: str, operations: str) -> Tree:
        """Return it edited where a pattern matches: `tree.edit("NP=n < PP=p", "relabel n NX; delete p")`.

        operations: relabel, delete, excise, insert, move and wrap, with `;` between them, on nodes that have
                    names in the pattern

        Offsets are kept unless words are new, or in another order; they still count in the text that was
        parsed, even if words are gone from `text`. Nodes that are new, or have another label or other words,
        have None as their confidence. Raises ValueError for what cannot be read or done.
        """
        edited, _ = edit_of(pattern, operations)(self.ctree)
        if edited is None:
            return self
        words, offsets, shares = [*edited.words], self.offsets, self.confidences
        if offsets:
            offsets = None if -1 in words or words != sorted(words) else [offsets[word] for word in words]
        if shares:
            n, same = len(self.words), unchanged(self.ctree, edited)
            shares = [shares[node - n] if node >= 0 else None for node in same]
        text = self._own.source.text if edited.ctree.tokens.forms == self.words else ""
        return Tree(edited.ctree, shares, offsets, text)

    def to_svg(self) -> str:
        """Return a picture as an SVG element. Raises ValueError for a tree that is too deep."""
        from d2c.trees.pictures import ctree_svg  # only here: it needs nltk

        return ctree_svg(self.ctree, self.text)

    def pretty_print(self, stream: TextIO | None = None) -> None:
        """Print a drawing in characters, to a stream or to standard output. Raises ValueError as `to_svg`."""
        from d2c.trees.pictures import ctree_text

        print(ctree_text(self.ctree), file=stream)

    def draw(self, path: AnyPath) -> None:
        """Write a picture to a file: `*.svg`, `*.pdf`, `*.png`, `*.tex` (LaTeX), or in characters `*.txt`.

        Raises ValueError as `to_svg` and for a tree with gaps in LaTeX, FormatError for other names or if the
        file cannot be written, and ModelError for PDF and PNG if the software for these is not installed.
        """
        from d2c.trees.pictures import ENDINGS, drawing

        if (ending := ending_of(Path(path))) not in ENDINGS:
            raise FormatError(str(path), 0, 0, f"pictures are called *{', *'.join(ENDINGS)}")
        with open_binary_output(path) as stream:
            stream.write(drawing(self.ctree, None, "ctree", ending, self.text))

    def __len__(self) -> int:
        return len(self._parts)

    def __iter__(self) -> Iterator[Tree | str]:
        return iter(self._parts)

    def __getitem__(self, position: int | slice | tuple[int, ...]) -> Any:  # the caller knows what is there
        if isinstance(position, slice):
            return self._parts[position]
        found: Tree | str = self
        for index in (position,) if isinstance(position, int) else position:
            if isinstance(found, str):
                raise IndexError(f"{position}: there is nothing below the word {found!r}")
            found = found._parts[index]
        return found

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Tree) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        """Return brackets on one line, as `d2c parse` writes them.

        A tree with gaps is written as discbracket, and so is one whose words all look like it: `0=a`.
        """
        return format_tree(self.ctree)

    def __repr__(self) -> str:
        return f"<Tree {self}>"

    def _repr_svg_(self) -> str | None:
        """Return a picture; None for a tree that is too deep, which a notebook shows as its `repr`."""
        try:
            return self.to_svg()
        except ValueError:
            return None

    def _repr_html_(self) -> str | None:
        """Show the tree in a notebook: the picture, scrolled if it is wider than the page, always in light
        colours: a notebook has colours of its own, whatever the browser prefers."""
        from d2c.trees.pictures import ctree_svg

        try:
            picture = ctree_svg(self.ctree, self.text, dark=False)
        except ValueError:
            return None
        return f'<div style="overflow-x:auto">{picture}</div>'

    @property
    def _parts(self) -> tuple[Tree | str, ...]:
        return self.children or (self._whole.ctree.tokens.forms[self._node],)

    @cached_property
    def _own(self) -> Constituents:
        """Return the tree's own constituents; those of a part are numbered anew."""
        whole = self._whole
        return whole if self._node == _highest(whole.ctree) else whole.below(self._node)

    def _key(self) -> tuple[object, ...]:
        """Return what brackets show of the tree, by which trees are compared."""
        ctree = canonical(self.ctree)
        return ctree.tokens.forms, ctree.tokens.tags, ctree.labels, ctree.children, ctree.top


def _part(whole: Constituents, node: int) -> Tree:
    part = object.__new__(Tree)
    part._whole, part._node = whole, node
    return part


Constituents.as_tree = _part  # for `Span.tree`: that module may not import this one


def _highest(ctree: CTree) -> int:
    """Return the root's id or, if the root has a wrapper, the next id, which stands for the wrapper."""
    return ctree.root + (ctree.top is not None)
