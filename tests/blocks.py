"""Blocks of code in documents. A block of `text` right after another one is what that one prints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(?:^<!-- ([^\n]+) -->\n)?^```(\w*)\n(.*?)^```\n(\n```text\n(.*?)^```$)?", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A block of code; mark: the comment before it; printed: what it should print, if that is said."""

    mark: str
    language: str
    code: str
    printed: str | None

    def lines(self) -> Iterator[str]:
        """The commands of a block of `sh`."""
        yield from filter(None, self.code.replace("\\\n", " ").splitlines())


def blocks(document: Path) -> list[Block]:
    return blocks_of(document.read_text(encoding="utf-8"))


def blocks_of(text: str) -> list[Block]:
    return [
        Block(mark, language, code, printed if follows else None)
        for mark, language, code, follows, printed in BLOCK.findall(text)
        if language != "text"
    ]


def trimmed(text: str) -> list[str]:
    """Lines without blanks at their ends and without empty lines at the end."""
    return [line.rstrip() for line in text.rstrip().splitlines()]
