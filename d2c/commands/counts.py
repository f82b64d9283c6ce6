"""What `search --count` and `phrases --count` write: a row for each file and each pattern or label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from d2c.trees.conventions import PENN_TREEBANK, Convention, convention_of
from d2c.trees.ctree import CTree


class CountTable:
    """Counts by file and name: what was found, sentences with some; by file all sentences, and their words.

    Words are tokens with a letter or a digit that are no empty elements, such as traces. The names are in a
    column `kind`, what was found in `what`.
    """

    def __init__(self, kind: str, what: str) -> None:
        numbers = dict.fromkeys((what, "sentences_with", "sentences", "words"), int)
        self.columns: dict[str, type] = {"file": str, kind: str, **numbers}
        self._found, self._with = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        self._sentences, self._words = Counter[str](), Counter[str]()
        self._conventions = dict[str, Convention]()

    def add(self, file: str, ctree: CTree, found: Iterable[str]) -> None:
        """Count a sentence by its tree; found: the name of each that was found in it."""
        here = Counter([(file, name) for name in found])
        self._found.update(here)
        self._with.update(here.keys())
        self._sentences[file] += 1
        convention = self._conventions.get(file, PENN_TREEBANK)
        if convention is PENN_TREEBANK:  # as long as no tree tells the other
            convention = self._conventions[file] = convention_of([ctree])
        no_text = convention.no_text(ctree)
        words = [form for i, form in enumerate(ctree.tokens.forms) if i not in no_text]
        self._words[file] += sum([any(map(str.isalnum, word)) for word in words])

    def rows(self, files: Iterable[str], names: Iterable[str]) -> Iterator[dict[str, Any]]:
        """Yield the rows of the files that sentences are from, in order, or of `files` where there are none.

        names: of a row each; if there are none, all that were found in any file
        """
        names = [*names] or sorted({name for _, name in self._found})
        for file in self._sentences or files:
            for key in [(file, name) for name in names]:
                numbers = self._found[key], self._with[key], self._sentences[file], self._words[file]
                yield dict(zip(self.columns, (*key, *numbers), strict=True))
