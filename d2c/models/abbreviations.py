"""Abbreviations of a tagger's treebank, kept beside it: where text is cut, they end no sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from d2c.base.model_files import read_as, write_settings
from d2c.trees.ctree import Tokens

FORMAT = 1  # of the file
_FILE = "abbreviations.json"


@dataclass(frozen=True)
class AbbreviationFile:
    """What `save_abbreviations` writes."""

    abbreviations: tuple[str, ...]


def save_abbreviations(sentences: Iterable[Tokens], directory: Path) -> None:
    """Write which words of a treebank end in a full stop, more than once."""
    counts = Counter(form for tokens in sentences for form in tokens.forms if form[-1:] == ".")
    known = sorted(form for form, count in counts.items() if count > 1 and form.strip("."))
    write_settings(directory / _FILE, FORMAT, AbbreviationFile(tuple(known)))


def load_abbreviations(directory: Path) -> tuple[str, ...]:
    """Return what `save_abbreviations` wrote. Raises ModelError."""
    return read_as(directory / _FILE, FORMAT, AbbreviationFile).abbreviations
