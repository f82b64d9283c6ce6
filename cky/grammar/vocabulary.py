"""Numbers for words, tags and d-labels, as the features of the constrained chart know them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from d2c.cky.learning.svm import pad
from d2c.cky.search.features import Sentence
from d2c.cky.search.layout import Ints
from d2c.linear.words import UNKNOWN, number_words, word_number
from d2c.trees.ctree import Tokens


@dataclass(frozen=True)
class Vocabulary:
    """The number of each name.

    words:  see `d2c.linear.words`
    tags, labels: labels are none where they are not used
    unknown_tag: the tag of most words seen once, which serves for tags never seen
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
        """The tag itself, or what serves for it."""
        return tag if tag in self.tags else self.unknown_tag

    def word_numbers(self, tokens: Tokens) -> Ints:
        """[n]"""
        return np.array([word_number(self.words, form) for form in tokens.forms], np.int32)

    def tag_numbers(self, tokens: Tokens) -> Ints:
        """[n]"""
        unknown = self.tags[self.unknown_tag]
        return np.array([self.tags.get(tag, unknown) for tag in tokens.tags], np.int32)

    def label_numbers(self, labels: Sequence[str] | None) -> Ints:
        """[n], or none where labels are not used; a d-tree without labels has unknown ones only."""
        if not self.labels:
            return np.zeros(0, np.int32)
        return np.array([self.labels.get(label, UNKNOWN) for label in labels or ()], np.int32)

    def sentence(
        self, tokens: Tokens, heads: Sequence[int], labels: Sequence[str] | None, context: bool
    ) -> Sentence:
        """What the features see of a sentence with its d-tree."""
        words, tags = pad(self.word_numbers(tokens)), pad(self.tag_numbers(tokens))
        named = labels or ("",) * len(tokens)
        return Sentence(words, tags, np.array(heads, np.int32), self.label_numbers(named), context)


def _numbered(names: Iterable[str], first: int) -> dict[str, int]:
    return {name: number for number, name in enumerate(sorted(names), first)}
