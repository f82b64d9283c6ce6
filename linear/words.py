"""Words as features know them: those seen twice or more have numbers of their own, rarer ones go by class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

UNKNOWN = 1  # number of a rare word of no known class; 0 is beyond the sentence


def number_words(sentences: Iterable[Sequence[str]]) -> dict[str, int]:
    """The numbers of words and of classes of rare words, from UNKNOWN + 1 on."""
    seen = Counter(form for forms in sentences for form in forms)
    return {name: number for number, name in enumerate(sorted(_names(seen)), UNKNOWN + 1)}


def word_number(words: Mapping[str, int], form: str) -> int:
    """The number of a word by `number_words`."""
    return words.get(form) or words.get(word_class(form), UNKNOWN)


def word_class(form: str) -> str:
    """What stands for a rare word: has it digits, or which last letters; hyphens; capitals."""
    shape = "9" if any(map(str.isdigit, form)) else form[-3:].lower()
    return f"\t{shape}{'-' * ('-' in form)}{'A' * form[:1].isupper()}{'A' * form[1:].isupper()}"


def _names(seen: Counter[str]) -> Iterator[str]:
    """The words seen more than once, and the classes of more than one of the others."""
    yield from (form for form, count in seen.items() if count > 1)
    classes = Counter(word_class(form) for form, count in seen.items() if count == 1)
    yield from (name for name, count in classes.items() if count > 1)
