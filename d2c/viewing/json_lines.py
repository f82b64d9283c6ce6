"""Reads the JSON lines of `d2c parse`, which `d2c.parsing.output.format_json` writes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

from d2c.trees.checks import check_text
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.errors import Refuse, stop
from d2c.trees.files import AnyPath, file_name, open_input
from d2c.trees.formats.chunks import parse_each


class Sure(NamedTuple):
    """A c-tree with head children, and how sure its parser was of each node [K], if the line says so."""

    ctree: CTree
    confidences: tuple[float, ...]


def read_json_lines(path: AnyPath, refuse: Refuse = stop) -> Iterator[Sure]:
    """The c-trees of a file (`-`: standard input), one at a time. Raises FormatError.

    A line that says why its sentence could not be parsed becomes a tree ERROR over that message.
    """
    with open_input(path) as stream:
        lines = ((number, line) for number, line in enumerate(stream, 1) if not line.isspace())
        yield from parse_each(lines, parse_json_line, file_name(path), refuse)


def parse_json_line(line: str) -> Sure:
    """The inverse of `format_json`. Linear in the number of tokens of all spans. Raises ValueError."""
    try:
        shown = json.loads(check_text(line), parse_constant=_no_number)
        tokens = Tokens(_strings(shown["tokens"]), _strings(shown["tags"]))
        for text in (*tokens.forms, *tokens.tags):
            check_text(text)
        if "error" in shown and not tokens.forms:
            failed = Tokens((check_text(str(shown["error"])) or "ERROR",), ("ERROR",))
            return Sure(CTree(failed, ("ERROR",), ((0,),), (0,), "TOP"), ())
        if not tokens.forms or len(tokens.forms) != len(tokens.tags):
            raise ValueError(f"{len(tokens.forms)} tokens with {len(tokens.tags)} tags")
        return _built(tokens, [_Span.of(span, len(tokens)) for span in shown["spans"]])
    except KeyError as error:
        raise ValueError(f"there is no {error.args[0]!r}") from None
    except (TypeError, AttributeError, RecursionError, json.JSONDecodeError):
        raise ValueError("no JSON line as `d2c parse --to json` writes it") from None


class _Span(NamedTuple):
    label: str
    tokens: Sequence[int]
    head: int
    confidence: float | None

    @classmethod
    def of(cls, span: dict[str, Any], n: int) -> _Span:
        """Raises ValueError unless these are tokens of n, the head one of them."""
        (label,), start, end, head = _strings([span["label"]]), span["start"], span["end"], span["head"]
        tokens = span.get("tokens") or range(start, end)
        if not 0 <= start < end <= n or sorted({*tokens, start, end - 1}) != [*tokens] or head not in tokens:
            raise ValueError(
                f"the span {label!r} of {start} to {end} is none of {n} tokens with a head among them"
            )
        confidence = span.get("confidence")
        if confidence is not None and not 0 <= confidence <= 1:
            raise ValueError(f"the confidence {confidence} is not between 0 and 1")
        return cls(check_text(label), tokens, head, confidence)


def _built(tokens: Tokens, spans: list[_Span]) -> Sure:
    """The c-tree of spans, of which the higher come first where they have the same tokens."""
    n = len(tokens)
    spans = sorted(spans, key=lambda span: -len(span.tokens))[::-1]  # the highest is the last node
    children: list[list[int]] = [[] for _ in spans]
    above = [-1] * n  # of each token, the lowest node so far that is over it
    for node in range(n + len(spans) - 1, n - 1, -1):
        span = spans[node - n]
        parents = {above[token] for token in span.tokens}
        if len(parents) > 1 or (-1 in parents) != (node == n + len(spans) - 1):
            raise ValueError(
                f"the span {span.label!r} of {span.tokens[0]} to {span.tokens[-1] + 1} fits in no tree"
            )
        for parent in parents - {-1}:
            children[parent - n].append(node)
        for token in span.tokens:
            above[token] = node
    for token, parent in enumerate(above):
        if parent >= 0:
            children[parent - n].append(token)
        elif n > 1:
            raise ValueError(f"token {token} is in no span")
    first = [*range(n), *(span.tokens[0] for span in spans)]
    lexical = [*range(n), *(span.head for span in spans)]
    kids = [tuple(sorted(below, key=first.__getitem__)) for below in children]
    heads = []
    for span, below in zip(spans, kids, strict=True):
        child = next((kid for kid in below if lexical[kid] == span.head), None)
        if child is None:
            raise ValueError(
                f"the head {span.head} of the span {span.label!r} is the head of none of its parts"
            )
        heads.append(child)
    ctree = CTree(tokens, tuple(span.label for span in spans), tuple(kids), tuple(heads))
    confidences = [span.confidence for span in spans if span.confidence is not None]
    return Sure(ctree, tuple(confidences) if len(confidences) == len(spans) else ())


def _strings(column: Any) -> tuple[str, ...]:
    """Raises TypeError unless it is a list of texts."""
    if not isinstance(column, list) or not all(isinstance(text, str) for text in column):
        raise TypeError
    return tuple(column)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
