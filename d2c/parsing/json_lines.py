"""Reads the JSON lines of `d2c parse`, which `d2c.parsing.output.format_json` writes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn, TypeVar

from d2c.base.errors import Refuse, stop
from d2c.base.files import AnyPath, file_name, open_input
from d2c.combination.constituents import child_over, tree_of
from d2c.parsing.output import NO_CTREE
from d2c.trees.checks import check_text
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats.chunks import parse_each

_TOP = "TOP"  # the wrapper of all trees, which JSON lines do not have

Number = TypeVar("Number", int, float)


class Read(NamedTuple):
    """What a line says of a sentence.

    ctree:       its words with the comments; NO_CTREE where it could not be parsed; without head children
                 where spans have no heads
    confidences: how sure the parser was of each node [K], if the line says so
    error:       why it could not be parsed
    """

    ctree: CTree
    confidences: tuple[float, ...] | None = None
    error: str = ""


def read_json_lines(path: AnyPath, refuse: Refuse = stop) -> Iterator[Read]:
    """The sentences of a file (`-`: standard input), one at a time. Raises FormatError."""
    with open_input(path) as stream:
        lines = ((number, line) for number, line in enumerate(stream, 1) if not line.isspace())
        yield from parse_each(lines, parse_json_line, file_name(path), refuse)


def parse_json_line(line: str) -> Read:
    """The inverse of `format_json`, but for places in the input. Raises ValueError.

    Linear in the number of tokens of all spans.
    """
    try:
        shown = json.loads(check_text(line), parse_constant=_no_number)
        if shown.get("error"):
            return Read(NO_CTREE, error=check_text(str(shown["error"])))
        forms, tags = _strings(shown["tokens"]), _strings(shown["tags"])
        if not forms or len(forms) != len(tags):
            raise ValueError(f"{len(forms)} tokens with {len(tags)} tags")
        tokens = Tokens(forms, tags, comments=_strings(shown.get("comments", [])))
        return _built(tokens, [_Span.of(span, len(tokens)) for span in shown["spans"]])
    except KeyError as error:
        raise ValueError(f"there is no {error.args[0]!r}") from None
    except (TypeError, AttributeError, RecursionError, json.JSONDecodeError):
        raise ValueError("no JSON line as `d2c parse --to json` writes it") from None


class _Span(NamedTuple):
    label: str
    tokens: Sequence[int]
    head: int | None
    confidence: float | None

    @classmethod
    def of(cls, span: dict[str, Any], n: int) -> _Span:
        """Raises ValueError unless these are tokens of n, and the head, if it has one, is one of them."""
        (label,), start, end, head = _strings([span["label"]]), span["start"], span["end"], span.get("head")
        within = 0 <= start < end <= n  # before there is a list of so many tokens
        tokens = [*(span.get("tokens") or range(start, end))] if within else [start]
        if not within or tokens != sorted({*tokens}) or (tokens[0], tokens[-1] + 1) != (start, end):
            raise ValueError(
                f"the span {label!r} of {start} to {end} is not some of {n} tokens in their order"
            )
        if head is not None and head not in tokens:
            raise ValueError(f"the head {head} of the span {label!r} is none of its tokens")
        confidence = span.get("confidence")
        if confidence is not None and not 0 <= confidence <= 1:
            raise ValueError(f"the confidence {confidence} is not between 0 and 1")
        return cls(label, tokens, head, confidence)


def _built(tokens: Tokens, spans: Sequence[_Span]) -> Read:
    """The c-tree of spans, of which the higher come first where they have the same tokens."""
    spans = sorted(reversed(spans), key=lambda span: len(span.tokens))
    ctree = tree_of(tokens, [(span.label, span.tokens) for span in spans], _TOP)
    heads = _of_all("head", [span.head for span in spans])
    if heads is not None:
        ctree = replace(ctree, head_children=child_over(ctree, heads))
        for span, head in zip(spans, ctree.lexical_heads()[len(tokens) :], strict=True):
            if head != span.head:
                message = f"the head {span.head} of the span {span.label!r} is the head of none of its parts"
                raise ValueError(message)
    confidences = _of_all("confidence", [span.confidence for span in spans])
    return Read(ctree, None if confidences is None else tuple(map(float, confidences)))


def _of_all(name: str, column: Sequence[Number | None]) -> list[Number] | None:
    """What all spans have; None where none has it. Raises ValueError where only some have it."""
    found = [one for one in column if one is not None]
    if found and len(found) < len(column):
        raise ValueError(f"{len(column) - len(found)} of {len(column)} spans have no {name}, others have one")
    return found or None


def _strings(column: Any) -> tuple[str, ...]:
    """Raises TypeError unless it is a list of texts, and ValueError where no file can hold them."""
    if not isinstance(column, list) or not all(isinstance(text, str) for text in column):
        raise TypeError
    return tuple(map(check_text, column))


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
