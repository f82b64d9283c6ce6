"""Lines of .prm files, in which EVALB and disco-dop keep parameters: a keyword, then its values; and those of
EVALB and of its SPMRL variant.

Whatever is malformed is an error here; EVALB warns and goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files

from d2c.base.errors import FormatError
from d2c.base.files import AnyPath, file_name, open_input
from d2c.base.numbers import MOST_DIGITS

BLANKS = " \t\n\v\f\r"  # what C calls white space; other Unicode spaces are parts of words
MANY = 1 << 16

_FIELD = re.compile(f"[^{BLANKS}]+")
_NUMBER = re.compile(f"[+-]?[0-9]{{1,{MOST_DIGITS}}}")


class Prm(dict[str, list[list[str]]]):
    """The values of each line of a file, by keyword.

    numbers:  keyword → a whole number, unless the file says another
    keywords: of other lines → how many values these have, at least and at most
    """

    def __init__(
        self,
        lines: Iterable[str],
        file: str,
        numbers: Mapping[str, int],
        keywords: Mapping[str, tuple[int, int]],
    ) -> None:
        super().__init__({keyword: [] for keyword in keywords})
        self.numbers = dict(numbers)
        for number, line in enumerate(lines, 1):
            keyword, *values = _FIELD.findall(line) or ["#"]
            if keyword.startswith("#"):
                continue
            if keyword not in self.numbers and keyword not in keywords:
                raise FormatError(file, number, 0, f"unknown parameter {keyword!r}")
            least, most = keywords.get(keyword, (1, 1))
            if not least <= len(values) <= most:
                raise FormatError(file, number, 0, f"{keyword} needs a value, or has one too many")
            if keyword in keywords:
                self[keyword].append(values)
            elif _NUMBER.fullmatch(values[0]):
                self.numbers[keyword] = int(values[0])
            else:
                raise FormatError(
                    file, number, 0, f"{keyword} needs a whole number of at most {MOST_DIGITS} digits"
                )

    def all(self, keyword: str) -> frozenset[str]:
        """Return the values of all lines with a keyword."""
        return frozenset(value for values in self[keyword] for value in values)


def bundled(name: str) -> list[str]:
    """Return the lines of a file of `data/prm/`."""
    return (files("d2c.data") / "prm" / name).read_text(encoding="utf-8").splitlines()


@dataclass(frozen=True, slots=True)
class EvalbParameters:
    """EvalbParameters of EVALB. The defaults are those that it has without a parameter file.

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
    def read(cls, path: AnyPath, spmrl: bool = False) -> EvalbParameters:
        """Read the parameters in a .prm file. DEBUG is read over, since it changes no number.

        Raises FormatError for an unknown keyword or a malformed value, where EVALB warns and goes on.
        """
        with open_input(path) as lines:
            return _evalb(lines, file_name(path), spmrl)

    @classmethod
    def collins(cls) -> EvalbParameters:
        """Return the usual parameters for English (Collins, 1997), from the bundled `collins.prm`."""
        return _evalb(bundled("collins.prm"), "collins.prm", spmrl=False)

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


def _evalb(lines: Iterable[str], file: str, spmrl: bool) -> EvalbParameters:
    numbers = {"MAX_ERROR": 10, "CUTOFF_LEN": 40, "LABELED": 1, "DEBUG": 0}
    labels = dict.fromkeys(("DELETE_LABEL", "DELETE_LABEL_FOR_LENGTH", "QUOTE_LABEL"), (1, 1))
    prm = Prm(lines, file, numbers, labels | {"EQ_LABEL": (2, 2), "EQ_WORD": (2, 2)})
    return EvalbParameters(
        max_error=prm.numbers["MAX_ERROR"],
        cutoff=prm.numbers["CUTOFF_LEN"],
        labeled=prm.numbers["LABELED"] != 0,
        delete_labels=prm.all("DELETE_LABEL"),
        delete_labels_for_length=prm.all("DELETE_LABEL_FOR_LENGTH"),
        quote_labels=prm.all("QUOTE_LABEL"),
        equal_labels=frozenset((a, b) for a, b in prm["EQ_LABEL"]),
        equal_words=frozenset((a, b) for a, b in prm["EQ_WORD"]),
        spmrl=spmrl,
    )
