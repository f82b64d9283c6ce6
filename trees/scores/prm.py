"""Lines of .prm files, in which EVALB and disco-dop keep parameters: a keyword, then its values.

Whatever is malformed is an error here; EVALB warns and goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib.resources import files

from d2c.trees.errors import FormatError

BLANKS = " \t\n\v\f\r"  # what C calls white space; other Unicode spaces are parts of words

_FIELD = re.compile(f"[^{BLANKS}]+")


class Prm:
    """The parameters of a scorer by keyword.

    numbers: keyword → a whole number, at first its default
    sets:    keyword → one label or word from each of its lines
    equal:   keyword → the values of each of its lines, which count as equal: two, or, unless they come in
             `pairs`, more
    """

    def __init__(
        self, numbers: Mapping[str, int], sets: Iterable[str], equal: Iterable[str], pairs: bool = False
    ) -> None:
        self.pairs = pairs
        self.numbers = dict(numbers)
        self.sets: dict[str, set[str]] = {keyword: set() for keyword in sets}
        self.equal: dict[str, list[tuple[str, ...]]] = {keyword: [] for keyword in equal}

    def read(self, lines: Iterable[str], file: str) -> None:
        """Takes the values of a file's lines. Raises FormatError."""
        for number, line in enumerate(lines, 1):
            keyword, *values = _FIELD.findall(line) or ["#"]
            if keyword.startswith("#"):
                continue
            if problem := self._take(keyword, values):
                raise FormatError(file, number, 0, problem)

    def _take(self, keyword: str, values: list[str]) -> str:
        """What is wrong with a line, or nothing."""
        if keyword in self.numbers:
            if len(values) != 1 or not re.fullmatch("[+-]?[0-9]+", values[0]):
                return f"{keyword} needs a value, one whole number"
            self.numbers[keyword] = int(values[0])
        elif keyword in self.sets:
            if len(values) != 1:
                return f"{keyword} needs a value, one label or word"
            self.sets[keyword].add(values[0])
        elif keyword in self.equal:
            if len(values) < 2 or (self.pairs and len(values) > 2):
                return f"{keyword} needs two values"
            self.equal[keyword].append(tuple(values))
        else:
            return f"unknown parameter {keyword!r}"
        return ""


def bundled(name: str) -> str:
    """The text of a file of `data/prm/`."""
    return (files("d2c.data") / "prm" / name).read_text(encoding="utf-8")
