"""Numbers for words, tags and d-labels, as the features of the constrained chart know them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from d2c.cky.search.features import Observed
from d2c.forests.forest import Ints
from d2c.linear.words import UNKNOWN, number_words, word_number
from d2c.trees.ctree import Tokens

NONE = np.zeros(0, np.int32)  # the labels of a sentence where they are not used


@dataclass(frozen=True)
class Vocabulary:
    """The number of each name.

    words:  see `d2c.linear.words`
    tags, labels: labels are none where they are not used
    unknown_tag: the tag of most words seen once, which tags never seen count as
    """

    words: dict[str, int]
    tags: dict[str, int]
    labels: dict[str, int]
    unknown_tag: str

    @classmethod
    def of(cls, sentences: Sequence[Tokens], labels: Iterable[Sequence[str]] = ()) -> Self:
        """The vocabulary of a treebank."""
        seen = Counter(form for tokens in sentences for form in tokens.forms)
        tags = Counter(tag for tokens in sentences for tag in tokens.tags)
        of_rare = Counter(
            tag
            for tokens in sentences
            for form, tag in zip(tokens.forms, tokens.tags, strict=True)
            if seen[form] == 1
        )
        commonest = of_rare or tags
        return cls(
            number_words(tokens.forms for tokens in sentences),
            _numbered(tags, 1),
            _numbered({label for row in labels for label in row}, UNKNOWN + 1),
            min(commonest, key=lambda tag: (-commonest[tag], tag), default=""),
        )

    def known_tag(self, tag: str) -> str:
        """The tag itself, or `unknown_tag` in its place."""
        return tag if tag in self.tags else self.unknown_tag

    def observe(self, tokens: Tokens, heads: Sequence[int], labels: Sequence[str] | None) -> Observed:
        """What the features see of a sentence with its d-tree; one without labels has unknown ones only."""
        named = labels or ("",) * len(tokens)
        return Observed(
            _padded(word_number(self.words, form) for form in tokens.forms),
            _padded(self.tags[self.known_tag(tag)] for tag in tokens.tags),
            _padded(heads),
            _padded(self.labels.get(label, UNKNOWN) for label in named) if self.labels else NONE,
        )


def _padded(numbers: Iterable[int]) -> Ints:
    """With a 0 before and behind."""
    return np.array([0, *numbers, 0], np.int32)


def _numbered(names: Iterable[str], first: int) -> dict[str, int]:
    return {name: number for number, name in enumerate(sorted(names), first)}
