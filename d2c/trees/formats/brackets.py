"""PTB brackets: `( (S (NP-SBJ (PRP They)) (VP (VBD slept)) (. .)) )`, one tree per line or over many lines.

A text is split at its closing brackets. Before such a bracket stand the phrases that begin there and a
pre-terminal, `( (S (NP-SBJ (PRP They`, or nothing, where a phrase ends. A text that does not fit is read
again, with more care. Only ASCII blanks separate: words may hold other spaces. Round brackets in words, tags
and labels are written -LRB- and -RRB-, and read back as brackets, unless the tag or label is nothing else.
Blanks are written as no-break spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import repeat
from operator import contains
from sys import intern

from d2c.base.errors import FormatError, stop
from d2c.base.files import AnyPath, open_input
from d2c.trees.cleaning import check_names, take_wrapper, unescape, unescape_label
from d2c.trees.ctree import CTree, trusted_ctree, trusted_tokens
from d2c.trees.formats.bracket_lines import BLANKS, NOT_PARSED, tree_lines
from d2c.trees.formats.format import CFormat, Malformed, Options, Reader, Writer, check_text

_ERROR = "(TOP (ERROR (ERROR ERROR)))"  # as `d2c parse` writes a sentence that was not parsed
_ESCAPES = str.maketrans(dict.fromkeys(BLANKS, "\N{NO-BREAK SPACE}") | {"(": "-LRB-", ")": "-RRB-"})
_WORD = re.compile(r"[^ \t\r\n]+")
_REMEMBERED, _LONGEST = 1 << 16, 1 << 8  # openings in the cache; characters of such an opening


def bracket_items(path: AnyPath, options: Options) -> Iterator[tuple[int, str | Malformed]]:
    """Yield runs of lines that hold whole trees; see `tree_lines`. Raises FormatError."""
    with open_input(path, options.charset) as stream:
        yield from tree_lines(stream, options.outside)


def bracket_trees(text: str) -> Iterable[CTree]:
    """Return the trees of a text as they are, but without their wrappers. Raises Malformed."""
    try:
        ctree = _tree(text)
    except (Malformed, IndexError):
        ctree = None
    if ctree:
        return (ctree,)
    if "".join(text.split()) == NOT_PARSED:
        return bracket_trees(_ERROR)
    return _several(text)


def _tree(text: str) -> CTree | None:
    """Return the tree of a text, without its wrapper; None unless the text is one tree with one blank in each
    leaf.

    Raises Malformed and IndexError for some texts that are not.
    """
    pieces = text.split(")")
    after = pieces.pop()
    leaves: list[str] = []  # not list[str](): that takes as long as four words
    labels: list[str] = []
    children: list[list[int]] = []
    open_labels: list[str] = []
    open_kids: list[list[int]] = []
    kids: list[int] = []
    n = len(pieces) - pieces.count("") - (pieces[-1:] == [" "])  # unless there are more blanks
    token, node = 0, n  # the next of each
    for piece in pieces:
        if piece and piece != " ":
            openings, _, leaf = piece.rpartition("(")
            if openings != " " and (begun := _BEGUN[openings]):
                open_labels += begun
                for _ in begun:
                    open_kids.append(kids)
                    kids = []
            leaves.append(leaf)
            kids.append(token)
            token += 1
        else:
            labels.append(open_labels.pop())
            children.append(kids)
            kids = open_kids.pop()
            kids.append(node)
            node += 1
    if token != n or open_kids or len(kids) != 1 or after.strip(BLANKS):
        return None
    names = " ".join(leaves).split(" ")  # tag and word in turn
    words = "".join(names)
    pairs = len(names) == 2 * n and all(map(contains, leaves, repeat(" ")))
    if not pairs or "" in names or "\n" in words or "\t" in words or "\r" in words:
        return None
    tags, forms = names[::2], names[1::2]
    rows = [*map(tuple, children)]
    top = take_wrapper(labels, rows, clean=False)
    if not all(labels) and not all(labels[:-1]):
        return None
    if "-LRB-" in words or "-RRB-" in words:
        forms = [unescape(form) if "-" in form else form for form in forms]
        tags = [unescape_label(tag) if "-" in tag else tag for tag in tags]
    return trusted_ctree(trusted_tokens(tuple(forms), tuple(tags)), tuple(labels), tuple(rows), None, top)


def _several(text: str) -> Iterator[CTree]:
    """Yield the trees of a text, up to its fault if there is one. Raises Malformed."""
    *pieces, after = text.split(")")
    tree, done = list[str](), list[CTree]()  # a complete tree waits for what follows it
    depth = begin = at = 0  # of the pieces, where the tree begins, and where the fault is
    try:
        for at, piece in enumerate(pieces):
            if piece.strip(BLANKS):
                yield from done
                done = []
            begin = begin if tree else at
            tree.append(plain := _plain(piece))
            depth += plain.count("(") - 1
            if depth < 0:
                raise Malformed("a closing bracket too many")
            if not depth:
                if not (ctree := _tree(")".join((*tree, "")))):
                    nameless = (k for k, one in enumerate(tree) if k and "" in _BEGUN[one.rpartition("(")[0]])
                    at = begin + next(nameless, 0)
                    raise Malformed("a node inside a tree has no label", _lines_before(pieces[at]))
                tree, done = [], [ctree]
        yield from done
        at = begin if tree else len(pieces)
        rest = (*pieces, after)[at]
        if tree or "(" in rest:
            raise Malformed("a closing bracket is missing in this tree", _lines_before(rest))
        if words := _WORD.findall(rest):
            raise _beside(words) if pieces else Malformed(f"expected '(', found {rest.strip(BLANKS)[:20]!r}")
    except Malformed as fault:
        fault.lines += ")".join(pieces[:at]).count("\n")
        raise


def _lines_before(text: str) -> int:
    """Return how many lines end before the first opening bracket."""
    return text.partition("(")[0].count("\n")


def _beside(words: Sequence[str], lines: int = 0) -> Malformed:
    return Malformed(f"the word {words[-1]!r} stands beside other words or nodes", lines)


def _plain(piece: str) -> str:
    """Return what stands before a closing bracket with one blank between tag and word, "" for blanks.

    Raises Malformed.
    """
    openings, bracket, leaf = piece.rpartition("(")
    _, words = _BEGUN[openings], _WORD.findall(leaf)
    if not bracket and not words:
        return ""
    if not bracket or len(words) > 2:
        raise _beside(words, openings.count("\n"))
    if len(words) < 2:
        raise Malformed(f"the node {''.join(words)!r} is empty", openings.count("\n"))
    return f"{openings}({words[0]} {words[1]}"


class _Openings(dict[str, tuple[str, ...]]):
    """A cache: opening brackets → the label after each, "" for none."""

    def __missing__(self, text: str) -> tuple[str, ...]:
        beside, *nodes = text.split("(")
        if words := _WORD.findall(beside):
            raise _beside(words)
        labels = list[str]()
        for k, node in enumerate(nodes):
            words = _WORD.findall(node)
            if len(words) > 1:
                lines = "".join((beside, *nodes[:k])).count("\n")
                if len(words) > 2:
                    raise _beside(words, lines)
                raise Malformed(f"the node {words[0]!r} mixes the word {words[1]!r} with child nodes", lines)
            labels.append(intern(unescape_label(words[0])) if words else "")
        if len(text) <= _LONGEST and len(self) < _REMEMBERED:
            self[text] = tuple(labels)
        return tuple(labels)


_BEGUN = _Openings()  # kept from text to text
read_brackets = Reader(bracket_items, lambda text, _: bracket_trees(text))


def parse_bracket(text: str, clean: bool = False) -> CTree:
    """Return the one tree that a text holds. Raises FormatError."""
    options = Options(clean, strict=True)
    items = tree_lines(StringIO(text), options.outside)
    ctrees = list(read_brackets.parse(items, "<string>", stop, options, may_be_empty=True))
    if len(ctrees) != 1:
        raise FormatError("<string>", 0, 0, f"expected one tree, found {len(ctrees)}")
    return ctrees[0]


def format_bracket(ctree: CTree) -> str:
    """Return a tree on one line. Raises ValueError for gaps, empty names and lone surrogates."""
    check_names(ctree)
    n, spans = len(ctree.tokens.forms), ctree.spans()
    if spans is None:
        raise ValueError("brackets cannot hold a tree with gaps; discbracket can")
    first, last = spans
    words = [
        f"({tag} {form})" if tag.isalnum() and form.isalnum() else f"({escape(tag)} {escape(form)})"
        for tag, form in zip(ctree.tokens.tags, ctree.tokens.forms, strict=True)
    ]
    symbols = ctree.labels if "".join(ctree.labels).isalnum() else tuple(map(escape, ctree.labels))
    opening: dict[int, list[str]] = {}
    closing = [0] * n
    for node in range(len(first) - 1, n - 1, -1):  # parents before children
        opening.setdefault(first[node], []).append(symbols[node - n])
        closing[last[node]] += 1
    for token, labels in opening.items():
        words[token] = f"({' ('.join(labels)} {words[token]}"
    text = " ".join([word + ")" * count for word, count in zip(words, closing, strict=True)])
    return check_text(text if ctree.top is None else f"({ctree.top} {text})")


write_brackets = Writer[CTree](lambda ctree, _: format_bracket(ctree) + "\n")
save_brackets = write_brackets.save
BRACKETS = CFormat(
    "brackets",
    (".mrg", ".brackets", ".ptb", ".parse", ".tree", ".trees"),
    read_brackets,
    write_brackets,
    holds=("traces", "indices"),
)


def escape(word: str) -> str:
    """Return a word or label as bracket files hold it: -LRB-, -RRB-, no-break spaces."""
    return word.translate(_ESCAPES)
