"""Lines of .prm files, in which EVALB and disco-dop keep parameters: a keyword, then its values.

Whatever is malformed is an error here; EVALB warns and goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib.resources import files

from d2c.base.errors import FormatError
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
        """The values of all lines with a keyword."""
        return frozenset(value for values in self[keyword] for value in values)


def bundled(name: str) -> list[str]:
    """The lines of a file of `data/prm/`."""
    return (files("d2c.data") / "prm" / name).read_text(encoding="utf-8").splitlines()
