"""Parameters of scorers in .prm files, as EVALB and disco-dop have them: a keyword, then its values.

Whatever is malformed is an error here; EVALB warns and goes on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from importlib.resources import files
from typing import Any, Self

from d2c.base.errors import FormatError
from d2c.base.files import AnyPath, file_name, open_input
from d2c.trees.formats.format import MOST_DIGITS

BLANKS = " \t\n\v\f\r"  # what C calls white space; other Unicode spaces are parts of words
MANY = 1 << 16

_FIELD = re.compile(f"[^{BLANKS}]+")
_NUMBER = re.compile(f"[+-]?[0-9]{{1,{MOST_DIGITS}}}")
_NUMBERS = ("DEBUG", "MAX_ERROR")  # skipped where no field has them: they change no score of disco-dop

Values = list[list[str]]  # the values of each line with a keyword


def _number(keyword: str, default: int) -> Any:
    """Return a field that a whole number sets; it is a bool if the default is one."""
    return field(default=default, metadata={"prm": (keyword, 1, 1, type(default))})


def _names(keyword: str) -> Any:
    """Return a field that is the set of the names in all lines with its keyword."""
    return field(
        default=frozenset(),
        metadata={"prm": (keyword, 1, 1, lambda rows: frozenset(name for [name] in rows))},
    )


def _equal(keyword: str, most: int, make: Callable[[Values], Any]) -> Any:
    """Return a field that `make` builds from lines of 2 to `most` equal names."""
    return field(default_factory=lambda: make([]), metadata={"prm": (keyword, 2, most, make)})


def _pairs(rows: Values) -> frozenset[tuple[str, str]]:
    return frozenset((a, b) for a, b in rows)


def _representatives(rows: Values) -> dict[str, str]:
    """Return name → the name that stands for it; names that lines join, directly or in a chain, are equal."""
    representatives: dict[str, str] = {}
    for row in rows:
        first, *others = (representatives.get(name, name) for name in row)
        joined = [name for name, other in representatives.items() if other in others]
        representatives |= dict.fromkeys([*joined, *row, *others], first)
    return {name: first for name, first in representatives.items() if name != first}


class _Prm:
    """A dataclass of parameters; the metadata of some fields give the keyword of their lines."""

    __slots__ = ()

    @classmethod
    def read(cls, path: AnyPath, **others: Any) -> Self:
        """Read the parameters in a .prm file; others: fields that it does not set. Raises FormatError."""
        with open_input(path) as lines:
            return cls.parse(lines, file_name(path), **others)

    @classmethod
    def bundled(cls, name: str) -> Self:
        """Return the parameters in a file of `data/prm/`."""
        text = (files("d2c.data") / "prm" / name).read_text(encoding="utf-8")
        return cls.parse(text.splitlines(), name)

    @classmethod
    def parse(cls, lines: Iterable[str], file: str, **others: Any) -> Self:
        """Return the parameters in the lines of a file. Raises FormatError."""
        known: dict[str, Any] = dict.fromkeys(_NUMBERS, (None, 1, 1, int))
        for one in fields(cls):  # type: ignore[arg-type]
            if "prm" in one.metadata:
                keyword, *values = one.metadata["prm"]
                known[keyword] = one.name, *values
        found: dict[str, Values] = {keyword: [] for keyword in known}
        for number, line in enumerate(lines, 1):
            keyword, *values = _FIELD.findall(line) or ["#"]
            if keyword.startswith("#"):
                continue
            if keyword not in known:
                raise FormatError(file, number, 0, f"unknown parameter {keyword!r}")
            _, least, most, make = known[keyword]
            if not least <= len(values) <= most:
                raise FormatError(file, number, 0, f"{keyword} has too few or too many values")
            if make in (int, bool) and not _NUMBER.fullmatch(values[0]):
                message = f"{keyword} needs a whole number of at most {MOST_DIGITS} digits"
                raise FormatError(file, number, 0, message)
            found[keyword].append(values)
        for keyword, (name, _, _, make) in known.items():
            if name and found[keyword]:
                rows = found[keyword]
                others[name] = make(int(rows[-1][0]) if make in (int, bool) else rows)
        return cls(**others)


@dataclass(frozen=True, slots=True)
class EvalbParameters(_Prm):
    """Parameters of EVALB. The defaults are those of EVALB without a parameter file.

    max_error:      errors that may follow the first; the next one ends the scoring
    cutoff:         the second summary is of sentences with at most this many tokens
    labeled:        whether the labels of brackets must match
    delete_labels:  brackets that are left out, and tags that are left out with their words
    delete_labels_for_length:  tags of tokens that do not count towards a sentence's length
    quote_labels:   tags of quotation marks that come back where only one side leaves them out
    equal_labels, equal_words: pairs that count as equal, in both directions
    spmrl:          follow the variant of the SPMRL 2013 shared task: words are never left out, `#` ends a
                    label as `-` and `=` do, tags end there too, and sentences of unequal length count as
                    valid ones without brackets. A .prm file does not say which program it is for.
    morphology:     in the variant, tags are compared whole, with the morphological features behind `#`
    """

    max_error: int = _number("MAX_ERROR", 10)
    cutoff: int = _number("CUTOFF_LEN", 40)
    labeled: bool = _number("LABELED", True)
    delete_labels: frozenset[str] = _names("DELETE_LABEL")
    delete_labels_for_length: frozenset[str] = _names("DELETE_LABEL_FOR_LENGTH")
    quote_labels: frozenset[str] = _names("QUOTE_LABEL")
    equal_labels: frozenset[tuple[str, str]] = _equal("EQ_LABEL", 2, _pairs)
    equal_words: frozenset[tuple[str, str]] = _equal("EQ_WORD", 2, _pairs)
    spmrl: bool = False
    morphology: bool = False

    @classmethod
    def collins(cls) -> EvalbParameters:
        """Return the usual parameters for English (Collins, 1997), from the bundled `collins.prm`."""
        return cls.bundled("collins.prm")

    @classmethod
    def spmrl2013(cls) -> EvalbParameters:
        """Return the parameters of the SPMRL 2013 shared task, for its variant of EVALB."""
        return cls(
            max_error=10000,
            cutoff=70,
            delete_labels=frozenset({"TOP", "ROOT", "S1", "VROOT", "-NONE-"}),
            delete_labels_for_length=frozenset({"-NONE-"}),
            spmrl=True,
        )


@dataclass(frozen=True)
class DiscoParameters(_Prm):
    """Parameters of disco-dop.

    delete_labels: nodes left out, and tokens with such a gold tag; delete_words: tokens left out
    uncounted:     tags left out of a sentence's length
    equal_labels, equal_words: a name → the name that stands for it
    cutoff:        length up to which sentences have a summary of their own
    labeled, disc_only: whether labels count; whether brackets without gaps are left out
    """

    delete_labels: frozenset[str] = _names("DELETE_LABEL")
    delete_words: frozenset[str] = _names("DELETE_WORD")
    uncounted: frozenset[str] = _names("DELETE_LABEL_FOR_LENGTH")
    equal_labels: dict[str, str] = _equal("EQ_LABEL", MANY, _representatives)
    equal_words: dict[str, str] = _equal("EQ_WORD", MANY, _representatives)
    cutoff: int = _number("CUTOFF_LEN", 40)
    labeled: bool = _number("LABELED", True)
    disc_only: bool = _number("DISC_ONLY", False)

    @classmethod
    def proper(cls) -> DiscoParameters:
        """Return the parameters of disco-dop's proper.prm: without punctuation and the root."""
        return cls.bundled("proper.prm")
