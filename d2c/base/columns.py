"""Tables as aligned text that fits the width of a terminal.

Columns of text become narrower, and their cells take several lines. Columns that still do not fit stand
below, after the first columns once more:

    route    F1  train  source        route    F1  train
    cky    80.1     12  Kong, Rush    cky    80.1     12
                        and Smith
                                      route  source
                                      cky    Kong, Rush and Smith
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from shutil import get_terminal_size
from unicodedata import category, east_asian_width

_GAP = 2  # blanks between the columns of a table
_LEAST = 16  # width that a column of text keeps, if its texts are as wide


def terminal_width() -> int | None:
    """Return the width of the terminal if standard output is one, otherwise None."""
    return get_terminal_size().columns if sys.stdout.isatty() else None


def width_of(text: str) -> int:
    """Return how many columns of a terminal a text takes: a wide character two, a combining one none."""
    return len(text) if text.isascii() else sum(map(width_of_character, text))


def width_of_character(char: str) -> int:
    """Return how many columns of a terminal a character takes."""
    return 0 if category(char) in ("Mn", "Me", "Cf") else 1 + (east_asian_width(char) in "WF")


def padded(text: str, width: int, left: bool = True) -> str:
    """Return a text padded with blanks to so many columns, aligned left or right."""
    blanks = " " * (width - width_of(text))
    return text + blanks if left else blanks + text


def in_columns(
    rows: Sequence[Sequence[str]], width: int | None, texts: Collection[int], names: int = 1
) -> Iterator[str]:
    """Yield the lines of a table.

    rows:  the cells of each row, equally many
    width: of the terminal; None: as wide as the cells need
    texts: the columns of text, which are aligned left and may become narrower; the others hold numbers
    names: how many of the first columns say what a row is about
    """
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    for number, block in enumerate(_blocks(widths, width, texts, names)):
        if number:
            yield ""
        narrowed = _narrowed([widths[k] for k in block], width, [k in texts for k in block])
        for row in rows:
            cells = [wrapped(row[k], own) for k, own in zip(block, narrowed, strict=True)]
            for line in zip_longest(*cells, fillvalue=""):
                beside = zip(block, line, narrowed, strict=True)
                yield (" " * _GAP).join(padded(text, own, k in texts) for k, text, own in beside).rstrip()


def in_context(rows: Sequence[Sequence[str]], width: int | None, texts: Collection[int]) -> Iterator[str]:
    """Yield the lines of a concordance, one for each row: the last three columns are the words before the
    match, the match, and the words after it; what does not fit is cut.

    width, texts: as of `in_columns`
    """
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    (*names, before, match, after), at = widths, len(widths) - 3
    if width is not None:
        names = [min(own, width // 4) for own in names]
        room = max(width - _total([*names, 0, 0, 0]), 3)
        match = min(match, max(room // 3, room - before - after))
        before = min(before, max((room - match) // 2, room - match - after))
        widths = [*names, before, match, room - match - before]
    for row in rows:
        beside = enumerate(zip(row, widths, strict=True))
        cells = (padded(cut(text, own, k > at), own, k != at and k in texts) for k, (text, own) in beside)
        yield (" " * _GAP).join(cells).rstrip()


def cut(text: str, width: int, begin: bool = True) -> str:
    """Return a text, or, if it is wider than this, its beginning or its end with a `…` for the rest."""
    if width_of(text) <= width:
        return text
    kept, room = "", width - 1
    for char in text if begin else reversed(text):
        room -= width_of_character(char)
        if room < 0:
            break
        kept += char
    return f"{kept}…" if begin else f"…{kept[::-1]}"


def _blocks(
    widths: Sequence[int], width: int | None, texts: Collection[int], names: int
) -> Iterator[list[int]]:
    """Yield, for each block, the numbers of the columns side by side in it; the names begin each block."""
    least = [min(own, _LEAST) if k in texts else own for k, own in enumerate(widths)]
    block = [*range(len(widths))][:names]
    for k in range(names, len(widths)):
        if width is not None and len(block) > names and _total([least[j] for j in (*block, k)]) > width:
            yield block
            block = [*range(names)]
        block.append(k)
    yield block


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _narrowed(widths: Sequence[int], width: int | None, texts: Sequence[bool]) -> Sequence[int]:
    """Return widths that fit, if possible: columns of text get a common maximum, at least _LEAST."""
    for most in range(max(widths), _LEAST - 1, -1):
        if width is None or _total(widths) <= width:
            break
        widths = [min(own, most) if text else own for own, text in zip(widths, texts, strict=True)]
    return widths


def wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a text, broken at blanks; words that are too long are cut."""
    if width_of(text) <= width:
        return [text]
    lines, line = list[str](), ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if width_of(joined) <= width:
            line = joined
            continue
        if line:
            lines.append(line)
        line, room = "", width
        for char in word:
            room -= width_of_character(char)
            if line and room < 0:
                lines.append(line)
                line, room = "", width - width_of_character(char)
            line += char
    return [*lines, line]
