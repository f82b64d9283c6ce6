"""Words as a treebank cuts them: those of languages that are written without blanks, and parts of words.

In a language without blanks, a linear classifier decides separately for each place between two characters
whether a word ends there, by n-grams of the characters around and of their scripts: Neubig, Nakata and Mori,
"Pointwise Prediction for Robust, Adaptable Japanese Morphological Analysis" (ACL 2011). It needs no
dictionary, and its words are those that tagger and d-parser have learned from. Features are hashed into
slots; those that share a slot share a weight. Linear time.

Corpora like the Penn ones of historical English cut some words in two, and mark this: `bíl$ $inn`, the car in
Icelandic. Words of text are cut likewise where their endings say so.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain
from pathlib import Path
from typing import Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from d2c.base.arrays import Floats
from d2c.base.model_files import read_as, reading, write_settings
from d2c.base.numbers import Count
from d2c.learning.weights import CODED, coded, decoded, read_arrays, write_arrays
from d2c.protocols.dparser import Word
from d2c.trees.ctree import Tokens

WITHOUT_BLANKS = frozenset(("bo", "ja", "km", "lo", "my", "th", "zh"))  # languages, as spaCy calls them
_FILE, _PARTS, _VERSION = "words.npz", "parts.json", 1
_BITS = 20  # of a table of weights: with fewer, so many features share slots that learning takes long
_AROUND, _LONGEST = 3, 3  # characters that are seen on either side of a boundary; characters of an n-gram
_MOST = 500_000  # characters of a treebank that are learned from, which take half a gigabyte
_DECAY = 0.1  # inverse strength of the penalty on squared weights
_SALT, _PRIME = 0x9E3779B97F4A7C15, np.uint64(0xD6E8FEB86659FD93)  # odd numbers without pattern
_WRITTEN = re.compile(r"\S+")
_MARK = "$"  # of parts of words
_LONGEST_ENDING = 12  # characters
_FEWEST = 2  # words with an ending that is learned


@dataclass(frozen=True)
class WordCuts:
    """A classifier of boundaries. weights: [2^_BITS] of features; a word ends if their sum is above 0"""

    weights: Floats

    @classmethod
    def fit(cls, sentences: Iterable[Tokens]) -> Self:
        """Learn from a treebank; from an even sample of it, where it is large."""
        from scipy.sparse import csr_array
        from sklearn.svm import LinearSVC

        forms = [tokens.forms for tokens in sentences]
        step = 1 + sum(map(len, map("".join, forms))) // _MOST
        rows, ends = list[NDArray[np.uint64]](), list[NDArray[np.bool_]]()
        for words in forms[::step]:
            text = "".join(words)
            rows.append(np.stack([*_slots(text)], axis=1))
            ends.append(np.isin(np.arange(1, len(text)), [*accumulate(map(len, words))]))
        slots, right = np.concatenate(rows), np.concatenate(ends)
        if right.all() or not right.any():  # each character is a word, or each sentence is
            weights = np.zeros(1 << _BITS, np.float32)
            weights[0] = 1 if right.any() else -1
            return cls(weights)
        begins = np.arange(len(slots) + 1, dtype=np.int32) * slots.shape[1]
        columns = slots.ravel().astype(np.int32)
        seen = csr_array((np.ones(len(columns)), columns, begins), (len(slots), 1 << _BITS))
        seen.sum_duplicates()
        learned = LinearSVC(C=_DECAY, fit_intercept=False, random_state=0).fit(seen, right)
        return cls(learned.coef_[0].astype(np.float32))

    def words(self, text: str) -> list[Word]:
        """Return the words of a text; none has a blank in it."""
        sums = np.zeros(max(0, len(text) - 1), np.float32)
        for slots in _slots(text):
            sums += self.weights[slots]
        found, begin = list[Word](), 0
        for end in (*(np.flatnonzero(sums > 0) + 1).tolist(), len(text)):
            for part in _WRITTEN.finditer(text, begin, end):
                found.append((part[0], *part.span()))
            begin = end
        return found

    def save(self, directory: Path) -> None:
        """Write a file into a directory, made if absent."""
        directory.mkdir(parents=True, exist_ok=True)
        write_arrays(directory / _FILE, coded([self.weights]))

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return what `save` wrote. Raises ModelError."""
        path = directory / _FILE
        arrays = read_arrays(path, CODED)
        with reading(path):
            return cls(*decoded(arrays, [1 << _BITS]))


def _slots(text: str) -> Iterator[NDArray[np.uint64]]:
    """Yield the slot of each feature [n - 1] at the boundaries between the n characters of a text."""
    letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    scripts = np.array([*map(_script, text)], np.uint64)
    yield np.zeros(max(0, len(text) - 1), np.uint64)  # the first one, of all boundaries
    for kind, column in enumerate((letters, scripts)):
        around = np.pad(column, _AROUND)
        for first in range(2 * _AROUND):
            salt = (1 + kind * 2 * _AROUND + first) * _SALT % (1 << 64)
            keys = np.full(max(0, len(text) - 1), salt, np.uint64)
            for begin in range(1 + first, 1 + min(first + _LONGEST, 2 * _AROUND)):
                keys = (keys ^ around[begin : begin + len(keys)]) * _PRIME
                yield keys >> np.uint64(64 - _BITS)


@lru_cache(1 << 16)
def _script(character: str) -> int:
    """Return a number for the script of a character, or for its kind, by the first word of its name."""
    return crc32(unicodedata.name(character, "").partition(" ")[0].encode())


@dataclass(frozen=True)
class WordParts:
    """Endings by which words are cut in two.

    ends: by ending, how many characters from its end a word is cut, 0: nowhere; `^` stands before the first
          character. The longest ending counts; a word without any is whole
    """

    ends: dict[str, Count]

    @classmethod
    def fit(cls, sentences: Iterable[Tokens]) -> Self:
        """Learn from a treebank. An ending counts if more than half of its words are cut alike, and not as
        the next shorter one says."""
        words = Counter(chain.from_iterable(_cut_words(tokens.forms) for tokens in sentences))
        if not any(cut for _, cut in words):
            return cls({})
        seen = defaultdict[str, Counter[int]](Counter)
        for (word, cut), count in words.items():
            whole = f"^{word}"
            for length in range(1, min(_LONGEST_ENDING, len(whole)) + 1):
                seen[whole[-length:]][cut] += count
        learned = cls({})
        for ending in sorted(seen, key=len):
            [(cut, count)] = seen[ending].most_common(1)
            if count >= _FEWEST and 2 * count > seen[ending].total() and cut != learned.cut(ending):
                learned.ends[ending] = cut
        return learned

    def cut(self, word: str) -> int:
        """Return how many characters from its end a word, given with `^` before it, is cut; 0: nowhere."""
        begins = range(max(0, len(word) - _LONGEST_ENDING), len(word))
        return next((self.ends[word[begin:]] for begin in begins if word[begin:] in self.ends), 0)

    def over(self, words: Iterable[Word]) -> Iterator[Word]:
        """Yield the words of a text, some of them replaced by their two parts."""
        for form, begin, end in words:
            cut = self.cut(f"^{form.lower()}") if form.isalpha() and end - begin == len(form) else 0
            if 0 < cut < len(form):
                yield form[:-cut] + _MARK, begin, end - cut
                yield _MARK + form[-cut:], end - cut, end
            else:
                yield form, begin, end

    def save(self, directory: Path) -> None:
        """Write a file into a directory, made if absent."""
        write_settings(directory / _PARTS, _VERSION, self)

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return what `save` wrote. Raises ModelError."""
        return read_as(directory / _PARTS, _VERSION, cls)


def _cut_words(forms: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the words of a sentence in small letters, and how many characters from its end each is cut."""
    i = 0
    while i < len(forms):
        first, second = forms[i], forms[i + 1] if i + 1 < len(forms) else ""
        is_cut = first.endswith(_MARK) and second.startswith(_MARK) and not second.endswith(_MARK)
        word, end = (first.strip(_MARK), second.strip(_MARK)) if is_cut else (first, "")
        if (word + end).isalpha():
            yield (word + end).lower(), len(end)
        i += 1 + is_cut


def cuts_of(language: str | None, sentences: Iterable[Tokens]) -> WordCuts | WordParts | None:
    """Return what is learned of the words of a treebank in a language; None if nothing is."""
    if language in WITHOUT_BLANKS:
        return WordCuts.fit(sentences)
    parts = WordParts.fit(sentences)
    return parts if parts.ends else None


def load_cuts(directory: Path) -> WordCuts | WordParts | None:
    """Return what was learned of words, if it is in a directory. Raises ModelError."""
    if (directory / _FILE).is_file():
        return WordCuts.load(directory)
    return WordParts.load(directory) if (directory / _PARTS).is_file() else None
