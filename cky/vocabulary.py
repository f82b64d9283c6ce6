"""Numbers for words, tags and d-labels, as the features of the constrained chart know them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Self

import msgspec
import numpy as np

from d2c.base.counting import commonest
from d2c.cky.search.skeleton import TOKEN, Observed
from d2c.cky.search.templates import COLUMNS
from d2c.learning.words import UNKNOWN, morph_numbers, number_morphs, number_words, numbered, word_number
from d2c.trees.ctree import Tokens

Numbers = dict[str, Annotated[int, msgspec.Meta(ge=1, le=(1 << 20) - 1)]]


@dataclass(frozen=True)
class Vocabulary:
    """The number of each name.

    words:  see `d2c.learning.words`
    tags, labels: of all that were seen; there are no labels where d-labels are not features
    unknown_tag: the commonest tag of words seen once; a tag never seen is treated as this one
    morphs: numbered as words are; none unless most sentences of the treebank have morphology
    """

    words: Numbers
    tags: Numbers
    labels: Numbers
    unknown_tag: str
    morphs: Numbers = field(default_factory=dict)

    @classmethod
    def of(cls, sentences: Sequence[Tokens], labels: Iterable[Sequence[str]] = ()) -> Self:
        """Return the vocabulary of a treebank. labels: those of each d-tree, if they are features"""
        seen = Counter(form for tokens in sentences for form in tokens.forms)
        tags = Counter(tag for tokens in sentences for tag in tokens.tags)
        of_rare = Counter(
            tag
            for tokens in sentences
            for form, tag in zip(tokens.forms, tokens.tags, strict=True)
            if seen[form] == 1
        )
        return cls(
            number_words(tokens.forms for tokens in sentences),
            numbered(sorted(tags), 1),
            numbered(sorted({label for row in labels for label in row})),
            commonest(of_rare or tags, ""),
            number_morphs(sentences),
        )

    @property
    def columns(self) -> frozenset[str]:
        """Return which of `d2c.cky.search.templates.COLUMNS` are used."""
        numbers = {"label": self.labels, "morph": self.morphs}
        return frozenset(column for column in COLUMNS if numbers[column])

    def observe(self, tokens: Tokens, heads: Sequence[int], labels: Sequence[str] | None) -> Observed:
        """Return the numbers [n + 2] that features see of a sentence with its d-tree; labels that were never
        seen are UNKNOWN."""
        words, tags, known, unknown = self.words, self.tags, self.labels, self.tags[self.unknown_tag]
        observed = np.zeros(len(tokens) + 2, TOKEN)
        observed["word"][1:-1] = [word_number(words, form) for form in tokens.forms]
        observed["tag"][1:-1] = [tags.get(tag, unknown) for tag in tokens.tags]
        observed["head"][1:-1] = heads
        if known:
            named = labels or ("",) * len(tokens)
            observed["label"][1:-1] = [known.get(label, UNKNOWN) for label in named]
        observed["morph"][1:-1] = morph_numbers(self.morphs, tokens)
        return observed
