"""Constituents as attributes of spaCy's spans and tokens, by the names that benepar gave them.

    span._.labels         labels of the node over exactly these tokens with its unary nodes, topmost first
    span._.parse_string   the node in brackets, with tags
    span._.constituents   the spans of the node and of all below it, words included, parents first
    span._.children       the spans of its children
    span._.parent         the span of the smallest larger node; None for the root

A token has the attributes of the span of that token alone. The wrapper around the root (TOP) is no node.
Tokens of blanks are in no tree; at the ends of a span they do not count, and a span of nothing else has no
labels, no brackets, no parts and no parent. Spans and tokens have these attributes once a component has been
made; to read documents parsed elsewhere, call `register`.

What is stored is one value of the extension attribute `_constituents` for each sentence, in `Doc.user_data`:
a list of `[start, end, *labels]`, token offsets from the beginning of the sentence, parents first. It goes
wherever spaCy takes the user data of spans: into bytes, DocBin, `Span.as_doc` and `Doc.from_docs`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any

from spacy.tokens import Span, Token

from d2c.base.errors import ModelError
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import escape

Constituent = list[Any]  # start, end, labels
_STORE = "_constituents"


class NonConstituentException(Exception):
    """A span that is no constituent was asked for what only constituents have."""


def store(sentence: Span, words: Sequence[int], ctree: CTree) -> None:
    """Keep a c-tree without gaps for a sentence. words: the numbers of its words in the document"""
    of_node: list[Constituent] = [[i - sentence.start, i - sentence.start + 1] for i in words]
    found = of_node.copy()
    for label, kids in zip(ctree.labels, ctree.children, strict=True):
        first, last = of_node[kids[0]], of_node[kids[-1]]
        if len(kids) == 1:
            first.insert(2, label)
            of_node.append(first)
        else:
            found.append([first[0], last[1], label])
            of_node.append(found[-1])
    sentence._.set(_STORE, sorted(found, key=_extent))


def register(prefix: str = "") -> None:
    """Give spans and tokens the attributes, by names that begin with a prefix.

    Raises ModelError where the program, or another package, has already given them another of such a name.
    """
    wanted = [(f"{prefix}{getter.__name__}", getter) for getter in GETTERS]
    for kind in (Span, Token):
        for name, getter in wanted:
            if kind.has_extension(name) and kind.get_extension(name)[2] is not getter:
                attribute = f"{kind.__name__.lower()}._.{name}"
                said = 'give d2c\'s a prefix, config={"prefix": "d2c_"}'
                raise ModelError(f"{attribute} is already something else than d2c's: {said}")
        for name, getter in wanted:
            kind.set_extension(name, getter=getter, force=True)  # over d2c's own
    if not Span.has_extension(_STORE):
        Span.set_extension(_STORE, default=None)


def labels(span: Span | Token) -> tuple[str, ...]:
    """Return the labels of the constituent, topmost first.

    Like the other attributes, raises NonConstituentException, and ValueError for a sentence not parsed.
    """
    below, _ = _below(span)
    return tuple(below[0][2:]) if below else ()


def parse_string(span: Span | Token) -> str:
    """Return the constituent in brackets."""
    below, offset = _below(span)
    words = {
        token.i: f"({escape(token.tag_)} {escape(token.text)})" for token in _span(span) if not token.is_space
    }
    for start, end, *symbols in reversed(below):
        for symbol in reversed(symbols):
            words[start + offset] = f"({escape(symbol)} {words[start + offset]}"
            words[end - 1 + offset] += ")"
    return " ".join(words.values())


def constituents(span: Span | Token) -> Iterator[Span]:
    """Yield the constituent and all below it."""
    below, offset = _below(span)
    for start, end, *_ in below:
        yield span.doc[start + offset : end + offset]


def children(span: Span | Token) -> Iterator[Span]:
    """Yield the children of the constituent, words included."""
    below, offset = _below(span)
    covered = 0
    for start, end, *_ in below[1:]:
        if start >= covered:
            covered = end
            yield span.doc[start + offset : end + offset]


def parent(span: Span | Token) -> Span | None:
    """Return the smallest larger constituent around this one; None for the root."""
    found, index, offset = _find(span)
    own_end = found[index][1] if found else 0
    for start, end, *_ in reversed(found[:index]):
        if end >= own_end:
            return span.doc[start + offset : end + offset]
    return None


def _span(part: Span | Token) -> Span:
    return part.doc[part.i : part.i + 1] if isinstance(part, Token) else part


def _below(span: Span | Token) -> tuple[list[Constituent], int]:
    """Return the constituent and all below it, and the number of the sentence's first token."""
    found, index, offset = _find(span)
    if not found:
        return [], offset
    end = bisect_left(found, found[index][1], lo=index, key=lambda constituent: constituent[0])
    return found[index:end], offset


def _find(part: Span | Token) -> tuple[list[Constituent], int, int]:
    """Return all constituents of the sentence (none for a span of blanks), the index of this one, and the
    number of the sentence's first token."""
    span = _span(part)
    doc, start, end = span.doc, span.start, span.end
    while start < end and doc[start].is_space:
        start += 1
    while start < end and doc[end - 1].is_space:
        end -= 1
    if start == end and (len(span) or not len(doc)):
        return [], 0, span.start
    if start < end:
        sentence = doc[start:end].sent
        found: list[Constituent] | None = sentence._.get(_STORE)
        if found is None:
            raise ValueError("this sentence has no constituents: does the pipeline have a component d2c?")
        words_end = found[0][1]
        if words_end > len(sentence) or not all(token.is_space for token in sentence[words_end:]):
            raise ValueError("the tokens of this sentence have changed since it was parsed")
        extent = start - sentence.start, sentence.start - end
        index = bisect_left(found, extent, key=_extent)
        if index < len(found) and _extent(found[index]) == extent:
            return found, index, sentence.start
    raise NonConstituentException(f"Span is not a constituent: {span}")


def _extent(constituent: Constituent) -> tuple[int, int]:
    """Return a key that sorts parents before their children."""
    return constituent[0], -constituent[1]


# Functions of the module: spaCy sends them to other processes (`n_process`), which fork or start anew.
GETTERS = (labels, parse_string, constituents, children, parent)
