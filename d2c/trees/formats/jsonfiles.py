"""JSON as a stream, with one value, or one list over several lines, held at a time; keys of the first one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from d2c.base.files import AnyPath, open_input
from d2c.trees.formats.format import Malformed, Options

_PIECE = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}\[\]]')  # a string that does not end goes on to the end
_DEPTHS = {"{": 1, "[": 1, "}": -1, "]": -1}
_SAID = re.compile(r"(?:prediction|output): *")  # what `allennlp predict` prints before a line
_ESCAPE = re.compile(r"\\.")  # CoreNLP 3.5 writes \' in JSON
_BLANKS = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_KEY = re.compile(r'\s*:\s*([\["]?\s*"?\s*\(?)')


def json_values(path: AnyPath, options: Options) -> Iterator[tuple[int, Any]]:
    """Yield the JSON values of a file, each after the number of its first line; there may be several, on one
    line each or on more. Lists are yielded element by element, malformed text as a ValueError.

    An object that is not closed ends before the next line that begins with `{`, unless its own first line is
    nothing else.
    """
    lines, start, depth = list[str](), 0, 0
    with open_input(path, options.charset) as stream:
        for number, line in enumerate(stream, 1):
            if lines and line.startswith("{") and lines[0].startswith("{") and lines[0].strip() != "{":
                yield from ((start, value) for value in _loaded("".join(lines)))
                lines, depth = [], 0
            if not lines:
                line = _SAID.sub("", line, count=1) if line[0] in "po" else line
                if not line.lstrip().startswith(("{", "[")):
                    yield from options.outside(line, number) if line.strip() else ()
                    continue
                start = number
            lines.append(line)
            depth += sum(_DEPTHS.get(piece, 0) for piece in _PIECE.findall(line))
            if depth <= 0:
                yield from ((start, value) for value in _loaded("".join(lines)))
                lines, depth = [], 0
    yield from ((start, value) for value in _loaded("".join(lines)))


def _loaded(text: str) -> Iterator[Any]:
    """Yield the values of a text, lists element by element, and what is wrong with the text."""
    position = len(text) - len(text.lstrip())
    while position < len(text):
        try:
            value, position = _DECODER.raw_decode(text, position)
        except json.JSONDecodeError as error:
            if error.msg.startswith("Invalid \\escape"):
                fixed = _ESCAPE.sub(lambda one: "'" if one[0] == "\\'" else one[0], text)
                if fixed != text:
                    text = fixed
                    continue
            what = "a closing bracket is missing" if not text[error.pos :].strip() else error.msg
            yield Malformed(f"malformed JSON ({what})", error.lineno - 1)
            return
        except (ValueError, RecursionError):
            yield ValueError("malformed JSON (a number is too long, or it is too deep)")
            return
        yield from value if isinstance(value, list) else [value]
        position = _BLANKS.match(text, position).end()  # type: ignore[union-attr]


def outer_keys(start: str) -> dict[str, str]:
    """Return the keys of the first object at the beginning of a file, each with the marks that its value
    begins with: `"(` of a string that is a tree."""
    keys, depth = dict[str, str](), 0
    for match in _PIECE.finditer(start.lstrip().removeprefix("[")):
        piece = match[0]
        if piece in _DEPTHS:
            depth += _DEPTHS[piece]
            if not depth:
                break
        elif depth == 1 and (value := _KEY.match(match.string, match.end())):
            keys[piece[1:-1]] = "".join(value[1].split())
    return keys
