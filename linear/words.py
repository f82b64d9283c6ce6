"""Words as features know them: those seen twice or more have numbers of their own, rarer ones go by class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from d2c.trees.ctree import Tokens

UNKNOWN = 1  # number of a rare word of no known class; 0 is beyond the sentence


def number_words(sentences: Iterable[Sequence[str]]) -> dict[str, int]:
    """The numbers of words and of classes of rare words, from UNKNOWN + 1 on."""
    seen = Counter(form for forms in sentences for form in forms)
    return {name: number for number, name in enumerate(sorted(_names(seen)), UNKNOWN + 1)}


def word_number(words: Mapping[str, int], form: str) -> int:
    """The number of a word by `number_words`."""
    return words.get(form) or words.get(word_class(form), UNKNOWN)


def number_morphs(sentences: Sequence[Tokens]) -> dict[str, int]:
    """`number_words` of their morphology; nothing where most sentences have none.

    What is known of few would tell which text they are from, rather than what their words are.
    """
    known = [tokens.morphs for tokens in sentences if tokens.morphs is not None]
    return number_words(known) if 2 * len(known) > len(sentences) else {}


def morph_numbers(morphs: Mapping[str, int], tokens: Tokens) -> list[int]:
    """[n] the numbers of a sentence's morphology by `number_morphs`; 0 where there is none."""
    if not morphs or tokens.morphs is None:
        return [0] * len(tokens)
    return [word_number(morphs, morph) for morph in tokens.morphs]


def word_class(form: str) -> str:
    """What stands for a rare word: has it digits, or which last letters; hyphens; capitals."""
    shape = "9" if any(map(str.isdigit, form)) else form[-3:].lower()
    return f"\t{shape}{'-' * ('-' in form)}{'A' * form[:1].isupper()}{'A' * form[1:].isupper()}"


def _names(seen: Counter[str]) -> Iterator[str]:
    """The words seen more than once, and the classes of more than one of the others."""
    yield from (form for form, count in seen.items() if count > 1)
    classes = Counter(word_class(form) for form, count in seen.items() if count == 1)
    yield from (name for name, count in classes.items() if count > 1)
