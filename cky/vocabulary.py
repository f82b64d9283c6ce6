"""Numbers for words, tags and d-labels, as the features of the constrained chart know them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from cky.features import Sentence
from cky.layout import Ints
from cky.learning import pad
from trees.ctree import Tokens

UNKNOWN = 1  # number of a rare word of no known class, and of a new label; 0 is beyond the sentence


@dataclass(frozen=True)
class Vocabulary:
    """The number of each name.

    words:  those seen twice or more, and classes of rarer ones, see `word_class`
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
            _numbered(_words(seen), UNKNOWN + 1),
            _numbered(tags, 1),
            _numbered({label for row in labels for label in row}, UNKNOWN + 1),
            min(commonest, key=lambda tag: (-commonest[tag], tag), default=""),
        )

    def known_tag(self, tag: str) -> str:
        """The tag itself, or what serves for it."""
        return tag if tag in self.tags else self.unknown_tag

    def word_numbers(self, tokens: Tokens) -> Ints:
        """[n]"""
        words = self.words
        return np.array(
            [words.get(form) or words.get(word_class(form), UNKNOWN) for form in tokens.forms], np.int32
        )

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


def word_class(form: str) -> str:
    """What stands for a rare word: has it digits, or which last letters; hyphens; capitals."""
    shape = "9" if any(map(str.isdigit, form)) else form[-3:].lower()
    return f"\t{shape}{'-' * ('-' in form)}{'A' * form[:1].isupper()}{'A' * form[1:].isupper()}"


def _words(seen: Counter[str]) -> Iterator[str]:
    """The words seen more than once, and the classes of more than one of the others."""
    yield from (form for form, count in seen.items() if count > 1)
    classes = Counter(word_class(form) for form, count in seen.items() if count == 1)
    yield from (name for name, count in classes.items() if count > 1)


def _numbered(names: Iterable[str], first: int) -> dict[str, int]:
    return {name: number for number, name in enumerate(sorted(names), first)}
