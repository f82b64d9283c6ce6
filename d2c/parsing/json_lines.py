"""The JSON lines that `d2c parse --to json` writes, read again: c-trees, and how sure the parser was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from d2c.combination.constituents import Constituent, Parse, bits, child_over, tree_of
from d2c.parsing.output import FORMATS, NO_CTREE
from d2c.trees.ctree import Tokens
from d2c.trees.errors import FormatError
from d2c.trees.files import AnyPath, file_name, open_input
from d2c.trees.model_files import strings, typed

TOP = "TOP"  # the wrapper of all trees, which JSON lines do not have


def is_json_lines(path: AnyPath) -> bool:
    """Whether the name of a file says that it holds JSON lines."""
    return file_name(path).removesuffix(".gz").endswith(FORMATS["json"].suffixes)


def read_json_lines(path: AnyPath) -> Iterator[Parse]:
    """The sentences of a file; those that could not be parsed are marked empty trees. Raises FormatError."""
    sentence = 0
    with open_input(path) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                sentence += 1
                try:
                    yield _parse(json.loads(line))
                except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
                    why = f"no {error} is there" if isinstance(error, KeyError) else str(error)
                    message = f"is no line of `parse --to json` ({why})"
                    raise FormatError(file_name(path), number, sentence, message) from None


def _parse(line: Any) -> Parse:
    if not isinstance(line, dict):
        raise TypeError("no object")
    if "error" in line:
        return Parse(NO_CTREE)
    tokens = Tokens(
        strings(line["tokens"]), strings(line["tags"]), comments=strings(line.get("comments", []))
    )
    if not tokens.forms or len(tokens.forms) != len(tokens.tags):
        raise ValueError("tokens and tags are not equally many")
    spans = [span for span in reversed(typed(line, {"spans": list})["spans"])]
    nodes = [
        _constituent(typed(span, {"label": str, "start": int, "end": int}), span, len(tokens))
        for span in spans
    ]
    order = sorted(range(len(nodes)), key=lambda k: nodes[k].tokens.bit_count())
    tree = tree_of(tokens, [nodes[k] for k in order], TOP)
    heads, sure = ([spans[k].get(name) for k in order] for name in ("head", "confidence"))
    if all(isinstance(head, int) for head in heads):
        tree = replace(tree, head_children=child_over(tree, _checked(heads, nodes, order)))
    confidences = None
    if any(one is not None for one in sure):
        confidences = tuple(_share(1.0 if one is None else one) for one in sure)
    return Parse(tree, confidences)


def _constituent(span: dict[str, Any], given: dict[str, Any], n: int) -> Constituent:
    """Of a span, in whose yield its number of tokens is bounded before a number with so many bits is made."""
    tokens = given.get("tokens")
    tokens = list(range(max(0, span["start"]), min(n, span["end"]))) if tokens is None else tokens
    if not isinstance(tokens, list) or not all(isinstance(one, int) and 0 <= one < n for one in tokens):
        raise ValueError(f"the span {span['label']!r} has other tokens than the sentence")
    if not tokens or (min(tokens), max(tokens) + 1) != (span["start"], span["end"]):
        raise ValueError(f"the span {span['label']!r} does not begin or end with its tokens")
    return Constituent(span["label"], sum(1 << token for token in set(tokens)))


def _checked(heads: Sequence[int], nodes: Sequence[Constituent], order: Sequence[int]) -> list[int]:
    for head, k in zip(heads, order, strict=True):
        if head not in bits(nodes[k].tokens):
            raise ValueError(f"the head of the span {nodes[k].label!r} is not in it")
    return list(heads)


def _share(number: Any) -> float:
    if not isinstance(number, int | float) or not 0 <= number <= 1:
        raise ValueError(f"the confidence {number!r} is not between 0 and 1")
    return float(number)
