"""Rows of CoNLL-X (2006, 2007), CoNLL-2008 and CoNLL-2009, which are turned into rows of CoNLL-U.

The first row of a sentence shows which columns it has. CoNLL-X has CoNLL-U's ten, but its last two are PHEAD
and PDEPREL, which stay where they are; eight without these; six where nothing is parsed. CoNLL-2009 has 14
and one more for each predicate. Its gold columns count; where a gold column is empty, the predicted one does.
CoNLL-2008 has eleven and one more for each predicate. The last six of the eleven are the form, lemma, tag,
head and label of words that are split at hyphens, and the predicate.

    1  She   _  she   _  PRP  _  _  2  _  SBJ   _  _  _         A0
    2  left  _  leave _  VBD  _  _  0  _  ROOT  _  Y  leave.01  _

    1  She   she    PRP  PRP  _  2  SBJ   _  _
    2  left  leave  VBD  VBD  _  0  ROOT  _  _
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from d2c.trees.formats.format import Malformed, Options

MISPLACED = "a line that begins with # is a comment, which stands before the first token: move it there"
_NOTHING = "_"


@dataclass(frozen=True)
class Layout:
    """The columns of rows, counted from 0.

    width:  how many columns every row has
    places: for each of CoNLL-U's ten, the columns that may hold it; the first that is not empty counts
    beside: further columns, each with the column of CoNLL-U's for which it has alternative values
    exact:  whether rows have no more columns; otherwise the last column of `width` holds the predicates, and
            those after it hold their arguments
    """

    name: str
    width: int
    places: tuple[tuple[int, ...], ...]
    beside: tuple[tuple[int, int], ...] = ()
    exact: bool = True

    def as_conllu(self, text: str, line: int, options: Options) -> str:
        """Return rows of ten columns, and count what is left out; line: of the first row, from 0 in a block.

        Raises Malformed for a row of another width, and for a comment among the rows.
        """
        rows = [row.split("\t") for row in text.split("\n")]
        for number, row in enumerate(rows, line):
            if row[0].startswith("#"):
                raise Malformed(MISPLACED, number)
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
        """Count what rows say and d-trees do not keep."""
        left_out = options.left_out
        for row, kept in zip(rows, zip(*columns, strict=True), strict=True):
            left_out["alternative values"] += sum(
                row[one] not in (_NOTHING, kept[own]) for one, own in self.beside
            )
            left_out["predicates"] += row[self.width - 1] != _NOTHING
            left_out["arguments of predicates"] += sum(cell != _NOTHING for cell in row[self.width :])


_CONLLX = tuple((place,) for place in range(8))
_OF_2008 = ((0,), (5, 1), (6, 2), (7, 4, 3), (7, 4, 3), (), (8,), (9,), (), ())
_OF_2009 = ((0,), (1,), (2, 3), (4, 5), (4, 5), (6, 7), (8, 9), (10, 11), (), ())
CONLLX = Layout("CoNLL-X", 8, (*_CONLLX, (), ()))
BLIND = Layout("CoNLL-X without heads", 6, (*_CONLLX[:6], (), (), (), ()))
CONLL2008 = Layout("CoNLL-2008", 11, _OF_2008, ((1, 1), (2, 2), (3, 4), (4, 4)), exact=False)
CONLL2009 = Layout("CoNLL-2009", 14, _OF_2009, ((3, 2), (5, 4), (7, 5), (9, 6), (11, 7)), exact=False)


def layout_of(text: str) -> Layout | None:
    """Return the layout of a sentence's rows, told by the first; None for CoNLL-U's and for unknown ones."""
    first, *row = text.partition("\n")[0].split("\t")
    if first != "1":
        return None
    if len(row) + 1 in (CONLLX.width, BLIND.width):
        return CONLLX if len(row) + 1 == CONLLX.width else BLIND
    heads = [cell == _NOTHING or cell.isdecimal() for cell in row[7:9]]  # HEAD, then PHEAD or a label
    if len(row) + 1 >= CONLL2009.width and heads == [True, True]:
        return CONLL2009
    return CONLL2008 if len(row) + 1 >= CONLL2008.width and heads == [True, False] else None
