"""Numbers of words, tags and morphology, as features know them.

Words seen twice or more have numbers of their own, rarer words have those of their classes. Morphology is
numbered in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Self

import numpy as np

from d2c.base.arrays import Longs
from d2c.trees.ctree import Tokens

_LONGEST = 1_000  # characters of a word that has a number of its own
UNKNOWN = 1  # number of a rare word of no known class, and of an unknown tag; 0 stands beyond the sentence


@dataclass(frozen=True, kw_only=True)
class NamesFile:
    """The names of a lexicon in the JSON file of a model, in order."""

    words: list[str]
    tags: list[str]
    morphs: list[str]


@dataclass(frozen=True)
class Lexicon:
    """The numbers of a treebank's names, from UNKNOWN + 1 on.

    words:  of words and of classes of rare words, see `number_words`
    tags:   of all tags
    morphs: as words; none unless most sentences of the treebank have morphology
    """

    words: dict[str, int] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)
    morphs: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, sentences: Sequence[Tokens]) -> Self:
        """Return the lexicon of a treebank."""
        tags = sorted({tag for tokens in sentences for tag in tokens.tags})
        words = number_words(tokens.forms for tokens in sentences)
        return cls(words, numbered(tags), number_morphs(sentences))

    def columns(self, sentences: Sequence[Tokens]) -> Longs:
        """Return the numbers [3, n] of words, tags and morphology of all tokens; 0: no morphology."""
        forms = chain.from_iterable(tokens.forms for tokens in sentences)
        tags = chain.from_iterable(tokens.tags for tokens in sentences)
        morphs = chain.from_iterable(morph_numbers(self.morphs, tokens) for tokens in sentences)
        words = [word_number(self.words, form) for form in forms]
        return np.array([words, [self.tags.get(tag, UNKNOWN) for tag in tags], list(morphs)], np.int64)

    def names(self) -> dict[str, list[str]]:
        """Return the names in their order, for the file of a model."""
        return {"words": list(self.words), "tags": list(self.tags), "morphs": list(self.morphs)}

    @classmethod
    def of_names(cls, file: NamesFile) -> Self:
        """Return the lexicon of a model's file. Raises ValueError where a tag comes twice."""
        tags = numbered(file.tags)
        if len(tags) != len(file.tags):
            raise ValueError("a tag comes twice")
        return cls(numbered(file.words), tags, numbered(file.morphs))


def numbered(names: Iterable[str], first: int = UNKNOWN + 1) -> dict[str, int]:
    """Return the number of each name, in order; `first` is that of the first."""
    return {name: number for number, name in enumerate(names, first)}


def number_words(sentences: Iterable[Sequence[str]]) -> dict[str, int]:
    """Return the numbers of words and of classes of rare words, from UNKNOWN + 1 on."""
    counts = Counter(form for forms in sentences for form in forms)
    return numbered(sorted(_frequent(counts)))


def word_number(words: Mapping[str, int], form: str) -> int:
    """Return the number of a word by `number_words`."""
    return words.get(form) or words.get(word_class(form), UNKNOWN)


def number_morphs(sentences: Sequence[Tokens]) -> dict[str, int]:
    """Return `number_words` of the sentences' morphology; nothing unless most sentences have some.

    The morphology of a few sentences would tell which text they are from, rather than what their words are.
    """
    known = [tokens.morphs for tokens in sentences if tokens.morphs is not None]
    return number_words(known) if 2 * len(known) > len(sentences) else {}


def morph_numbers(morphs: Mapping[str, int], tokens: Tokens) -> list[int]:
    """Return the numbers [n] of a sentence's morphology by `number_morphs`; 0 where there is none."""
    if not morphs or tokens.morphs is None:
        return [0] * len(tokens)
    return [word_number(morphs, morph) for morph in tokens.morphs]


@lru_cache(maxsize=1 << 16)
def word_class(form: str) -> str:
    """Return the class of a rare word: its digits or else last three letters, its hyphens, its capitals."""
    shape = "9" if any(map(str.isdigit, form)) else form[-3:].lower()
    return f"\t{shape}{'-' * ('-' in form)}{'A' * form[:1].isupper()}{'A' * form[1:].isupper()}"


def _frequent(counts: Counter[str]) -> Iterator[str]:
    """Yield the words counted more than once, except very long ones, which are data, and the classes of more
    than one of the words counted once."""
    yield from (form for form, count in counts.items() if count > 1 and len(form) <= _LONGEST)
    classes = Counter(word_class(form) for form, count in counts.items() if count == 1)
    yield from (name for name, count in classes.items() if count > 1)
