"""Rows of CoNLL-X (2006, 2007) and CoNLL-2009, which become rows of CoNLL-U: a d-tree each.

A sentence shows by its first row which columns it has. CoNLL-X has CoNLL-U's ten, but its last two are PHEAD
and PDEPREL, which stay where they are; eight without them; six where nothing is parsed. CoNLL-2009 has 14 and
one more for each predicate. What it says by hand counts; where it says nothing of a column, what a program
predicted.

    1  She   _  she   _  PRP  _  _  2  _  SBJ   _  _  _         A0
    2  left  _  leave _  VBD  _  _  0  _  ROOT  _  Y  leave.01  _

    1  She   she    PRP  PRP  _  2  SBJ   _  _
    2  left  leave  VBD  VBD  _  0  ROOT  _  _
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from d2c.trees.formats.format import Malformed, Options

_NOTHING = "_"
_PARSE_BIT = 5  # of CoNLL-2012, after document, part, number, word, tag
_FEWEST_OF_2012 = 11


@dataclass(frozen=True)
class Layout:
    """The columns of rows: of CoNLL-U's ten, in order, those that say each, the first that says something
    counts.

    width: of the columns that every row has
    exact: whether rows have no more
    """

    name: str
    width: int
    exact: bool
    places: tuple[tuple[int, ...], ...]

    def as_conllu(self, text: str, line: int, options: Options) -> str:
        """Return rows of ten columns; the first is so many lines below its block. Counts what is left out.

        Raises Malformed for one of another width.
        """
        rows = [row.split("\t") for row in text.split("\n")]
        for number, row in enumerate(rows, line):
            if len(row) < self.width or (self.exact and len(row) > self.width):
                expected = f"{self.width}{'' if self.exact else ' or more'} columns of {self.name}"
                raise Malformed(f"expected the {expected}, as in the first row, found {len(row)}", number)
        read = [*zip(*[row[: self.width] for row in rows], strict=True)]
        nothing = (_NOTHING,) * len(rows)
        columns = [
            next((read[one] for one in places if set(read[one]) != {_NOTHING}), nothing)
            for places in self.places
        ]
        if not self.exact:
            self._count(rows, columns, options)
        return "\n".join(map("\t".join, zip(*columns, strict=True)))

    def _count(self, rows: Sequence[list[str]], columns: Sequence[Sequence[str]], options: Options) -> None:
        """Count what CoNLL-2009 says and d-trees do not keep."""
        left_out = options.left_out
        for row, kept in zip(rows, zip(*columns, strict=True), strict=True):
            for cell, own in zip(row[3:12:2], (kept[2], kept[4], kept[5], kept[6], kept[7]), strict=True):
                left_out["predicted values"] += cell not in (_NOTHING, own)
            left_out["predicates"] += row[13] != _NOTHING
            left_out["arguments of predicates"] += sum(cell != _NOTHING for cell in row[14:])


_CONLLX = tuple((place,) for place in range(8))
LAYOUTS = (
    Layout("CoNLL-X", 8, True, (*_CONLLX, (), ())),
    Layout("CoNLL-X without heads", 6, True, (*_CONLLX[:6], (), (), (), ())),
    Layout("CoNLL-2009", 14, False, ((0,), (1,), (2, 3), (4, 5), (4, 5), (6, 7), (8, 9), (10, 11), (), ())),
)


def layout_of(text: str) -> Layout | None:
    """Return which columns the rows of a sentence have, by its first one; None for none that is known."""
    width = text.partition("\n")[0].count("\t") + 1
    if not text.startswith("1\t"):
        return None
    return next((one for one in LAYOUTS if width == one.width or (width > one.width and not one.exact)), None)


def is_conll2012(line: str) -> bool:
    """Return whether a line is a row of CoNLL-2012: columns between blanks, a number, a word, a tag and
    part of a tree among them."""
    columns = line.split()
    return len(columns) >= _FEWEST_OF_2012 and columns[2].isdecimal() and "*" in columns[_PARSE_BIT]
