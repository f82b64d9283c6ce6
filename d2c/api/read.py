"""Trees of treebank files, for Python users."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

from d2c.api.tree import Tree
from d2c.base.errors import Faults, FormatError
from d2c.base.files import AnyPath, file_name
from d2c.parsing.sentences import numbered_sentences
from d2c.trees.formats.reading import Reading
from d2c.trees.heads import load_head_rules
from d2c.trees.marks import NOTHING_MARKED


def warned(error: FormatError) -> None:
    """Warn of a sentence that is left out."""
    warnings.warn(f"{error}; left out", stacklevel=2)


def read(path: AnyPath, *, format: str | None = None, head_rules: str | None = None) -> Iterator[Tree]:
    """Yield the trees of a treebank (`-`: standard input), without traces and function tags.

    path:       a file, such as JSON lines of `d2c parse`, or a directory, such as that of `d2c corpus`
    format:     a format of `d2c convert`; None: shown by name and content
    head_rules: a bundled table, a file, or `marked` (by the treebank); without it spans have no heads, unless
                the treebank marks some

    Sentences that were not parsed, `(())`, or have nothing but traces are left out with a warning. Raises
    FormatError.
    """
    rules = load_head_rules(head_rules) if head_rules else None
    reading = Reading(format, marked=head_rules == "marked", faults=Faults(no_tree=warned))
    for file in reading.files([Path(path)]):
        for _, one in numbered_sentences(file, reading):
            if reading.nothing_marked:
                raise FormatError(file_name(file), 0, 0, NOTHING_MARKED)
            ctree = rules.headed(one.tree) if rules else one.tree
            yield Tree(ctree, one.confidences, one.offsets, one.text)
