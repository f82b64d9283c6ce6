"""How EVALB reads a line of trees: terminals, and brackets over them. One pass, whatever the depth."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from operator import neg

from d2c.base.errors import FormatError
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import escape
from d2c.trees.scores.prm import BLANKS

_WORD = f"[^{BLANKS}()]*"
_PIECE = re.compile(rf"({_WORD})(?:[{BLANKS}]+({_WORD})\)([{BLANKS})]*)|[{BLANKS}]*|(\)[{BLANKS})]*))")


@dataclass(frozen=True, slots=True)
class Line:
    """A line as EVALB reads it: n terminals, and brackets over them in the order of their opening.

    words, tags: [n] of the terminals, none left out yet
    labels:      [b] of the brackets, as written
    starts, ends: [b] number of terminals before a bracket opens and closes; end -1 if it never closes
    faults:      how many errors EVALB reports about unbalanced brackets
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    labels: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    faults: int = 0


def from_line(text: str) -> Line:
    """Reads one line: no tree, one or several. A bracket around one word or around a blank is a terminal.

    Raises FormatError for text outside of brackets or beside them, where EVALB gives up.
    """
    before, *pieces = text.split("(")
    words: list[str] = []
    tags: list[str] = []
    labels: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    stack: list[int] = []
    missing = _only_closing(before)  # closing brackets that close nothing
    faults = max(missing - 1, 0)
    for piece in pieces:
        label, word, closing = _read_piece(piece)
        if word is None:
            stack.append(len(labels))
            labels.append(label)
            starts.append(len(words))
            ends.append(-1)
        else:
            words.append(word)
            tags.append(label)
        while closing:
            closing -= 1
            faults += missing > len(stack)  # EVALB reports a stack below zero only when it is popped again
            if stack:
                ends[stack.pop()] = len(words)
            else:
                missing += 1
    faults += missing != len(stack)
    return Line(tuple(words), tuple(tags), tuple(labels), tuple(starts), tuple(ends), faults)


def from_ctree(tree: CTree) -> Line:
    """What `from_line` reads from the written tree; `top` is a bracket too. ValueError where it has gaps."""
    n, spans = len(tree.tokens), tree.spans()
    if spans is None:
        raise ValueError("a tree with gaps, which brackets cannot hold")
    first, last = (ends[n:] for ends in spans)
    # Parents before children: first what begins first, then what ends last, then the later node.
    rows = sorted(zip(first, map(neg, last), range(0, -len(first), -1), tree.labels, strict=True))
    labels, starts = [_escaped(row[3]) for row in rows], [row[0] for row in rows]
    ends = [1 - row[1] for row in rows]
    if tree.top is not None:
        labels, starts, ends = [_escaped(tree.top), *labels], [0, *starts], [n, *ends]
    words, tags = map(_escaped, tree.tokens.forms), map(_escaped, tree.tokens.tags)
    return Line(tuple(words), tuple(tags), tuple(labels), tuple(starts), tuple(ends))


_escaped = lru_cache(maxsize=1 << 16)(escape)


@lru_cache(maxsize=1 << 16)
def _read_piece(piece: str) -> tuple[str, str | None, int]:
    """What stands between two opening brackets: label, word (None: no terminal), further closing brackets."""
    match = _PIECE.fullmatch(piece)
    if match is None:
        message = f"a word stands beside other words or brackets in {piece.strip()[:40]!r}"
        raise FormatError("<string>", 0, 0, message)
    return match[1], match[2], (match[3] or match[4] or "").count(")")


def _only_closing(text: str) -> int:
    if text.strip(BLANKS + ")"):
        raise FormatError("<string>", 0, 0, f"text before the first bracket: {text.strip()[:40]!r}")
    return text.count(")")
