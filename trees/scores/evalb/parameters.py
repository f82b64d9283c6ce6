"""Parameters of EVALB and of its SPMRL variant, and the reader of the .prm files that hold them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files

from d2c.trees.errors import FormatError
from d2c.trees.files import file_name, open_input

BLANKS = " \t\n\v\f\r"  # what C calls white space; other Unicode spaces are parts of words

_FIELD = re.compile(f"[^{BLANKS}]+")
_NUMBERS = ("DEBUG", "MAX_ERROR", "CUTOFF_LEN", "LABELED")
_LABELS = ("DELETE_LABEL", "DELETE_LABEL_FOR_LENGTH", "QUOTE_LABEL")
_PAIRS = ("EQ_LABEL", "EQ_WORD")


@dataclass(frozen=True, slots=True)
class Parameters:
    """What is compared, and how. The defaults are those of EVALB without a parameter file.

    max_error:      errors that may follow the first; the next one ends the scoring
    cutoff:         the second summary is of sentences with at most this many tokens
    labeled:        whether the labels of brackets must match
    delete_labels:  brackets that are left out, and tags that are left out with their words
    delete_labels_for_length:  tags of tokens that a sentence's length does not count
    quote_labels:   tags of quotation marks that come back where only one side leaves them out
    equal_labels, equal_words: pairs that are as good as equal, in both directions
    spmrl:          follow the variant of the SPMRL 2013 shared task: words are never left out, `#` ends a
                    label as `-` and `=` do, tags end there too, and sentences of unequal length count as
                    valid ones without brackets. A .prm file does not say which program it is for.
    morphology:     in the variant, tags are compared whole, with the morphological features behind `#`
    """

    max_error: int = 10
    cutoff: int = 40
    labeled: bool = True
    delete_labels: frozenset[str] = frozenset()
    delete_labels_for_length: frozenset[str] = frozenset()
    quote_labels: frozenset[str] = frozenset()
    equal_labels: frozenset[tuple[str, str]] = frozenset()
    equal_words: frozenset[tuple[str, str]] = frozenset()
    spmrl: bool = False
    morphology: bool = False

    @classmethod
    def read(cls, path: str | os.PathLike[str], spmrl: bool = False) -> Parameters:
        """The parameters in a .prm file. DEBUG is read over, since it changes no number.

        Raises FormatError for an unknown keyword or a malformed value, where EVALB warns and goes on.
        """
        with open_input(path) as lines:
            return _parse(lines, file_name(path), spmrl)

    @classmethod
    def collins(cls) -> Parameters:
        """The usual parameters for English (Collins, 1997), from the bundled `collins.prm`."""
        text = (files("d2c.data") / "prm" / "collins.prm").read_text(encoding="utf-8")
        return _parse(text.splitlines(), "collins.prm", spmrl=False)

    @classmethod
    def spmrl2013(cls) -> Parameters:
        """The parameters of the SPMRL 2013 shared task, for its variant of EVALB."""
        return cls(
            max_error=10000,
            cutoff=70,
            delete_labels=frozenset({"TOP", "ROOT", "S1", "VROOT", "-NONE-"}),
            delete_labels_for_length=frozenset({"-NONE-"}),
            spmrl=True,
        )


def _parse(lines: Iterable[str], file: str, spmrl: bool) -> Parameters:
    numbers = {"MAX_ERROR": Parameters().max_error, "CUTOFF_LEN": Parameters().cutoff, "LABELED": 1}
    labels: dict[str, set[str]] = {keyword: set() for keyword in _LABELS}
    pairs: dict[str, set[tuple[str, str]]] = {keyword: set() for keyword in _PAIRS}
    for number, line in enumerate(lines, 1):
        fields = _FIELD.findall(line)
        if not fields or fields[0].startswith("#"):
            continue
        keyword, *values = fields
        if keyword in _NUMBERS:
            if len(values) != 1 or not re.fullmatch(r"[+-]?[0-9]+", values[0]):
                raise FormatError(file, number, 0, f"{keyword} takes one whole number")
            numbers[keyword] = int(values[0])
        elif keyword in _LABELS:
            if len(values) != 1:
                raise FormatError(file, number, 0, f"{keyword} takes one label")
            labels[keyword].add(values[0])
        elif keyword in _PAIRS:
            if len(values) != 2:
                raise FormatError(file, number, 0, f"{keyword} takes two values")
            pairs[keyword].add((values[0], values[1]))
        else:
            raise FormatError(file, number, 0, f"unknown keyword {keyword!r}")
    return Parameters(
        max_error=numbers["MAX_ERROR"],
        cutoff=numbers["CUTOFF_LEN"],
        labeled=numbers["LABELED"] != 0,
        delete_labels=frozenset(labels["DELETE_LABEL"]),
        delete_labels_for_length=frozenset(labels["DELETE_LABEL_FOR_LENGTH"]),
        quote_labels=frozenset(labels["QUOTE_LABEL"]),
        equal_labels=frozenset(pairs["EQ_LABEL"]),
        equal_words=frozenset(pairs["EQ_WORD"]),
        spmrl=spmrl,
    )
