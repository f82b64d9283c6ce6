"""Words and sentences of plain text, with their offsets.

Words are cut as the Penn Treebank cuts them, by NLTK's tokeniser: `can't` is `ca n't`, quotation marks become
`` and '', typographic ones, too; round brackets stay. Sentences are cut by Punkt (Kiss and Strunk 2006),
which is given the abbreviations of the treebank and learns nothing from the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nltk.tokenize import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

Offsets = tuple[tuple[int, int], ...]

_WORDS = NLTKWordTokenizer()
_QUOTES = ("``", "''")  # what `"` becomes
_TYPOGRAPHIC = {"“": "``", "”": "''", "‘": "`"}  # what these become; ’ is an apostrophe everywhere
_HELD = 1 << 16  # characters of one paragraph; the sentences in it are cut when it grows beyond that


class Line(NamedTuple):
    """A line of a file, with its line break: its number from 1, and the characters before it."""

    number: int
    begin: int
    text: str


class Words(NamedTuple):
    """A sentence's words; of each, its first character and the one after its last, counted from the text's.

    line: of the file, where the sentence begins
    """

    line: int
    forms: tuple[str, ...]
    offsets: Offsets


def words_of(line: Line) -> Words:
    """The words of one sentence."""
    forms, offsets, end = [], [], 0
    for form in _WORDS.tokenize(line.text.replace("’", "'")):
        start = end
        while line.text[start].isspace():
            start += 1
        end = start + (1 if form in _QUOTES and line.text[start] == '"' else len(form))
        forms.append(_TYPOGRAPHIC.get(form, form))
        offsets.append((line.begin + start, line.begin + end))
    return Words(line.number, tuple(forms), tuple(offsets))


class SentenceSplitter:
    """Cuts free text into sentences. An empty line ends one, another line break does not.

    abbreviations: words that end in a full stop without ending a sentence
    """

    def __init__(self, abbreviations: Iterable[str] = ()) -> None:
        parameters = PunktParameters()
        parameters.abbrev_types = {word.lower().removesuffix(".") for word in abbreviations}
        self.punkt = PunktSentenceTokenizer(parameters)

    def sentences(self, lines: Iterable[Line]) -> Iterator[Line]:
        """The sentences of a stream of lines, each as a line of its own; one paragraph is held at a time."""
        held: list[Line] = []
        size = 0
        for line in lines:
            blank = not line.text.strip()
            if held and (blank or held[-1].begin + len(held[-1].text) != line.begin):
                yield from self._cut(held)
                held, size = [], 0
            if not blank:
                held.append(line)
                size += len(line.text)
            if size > _HELD:
                *whole, last = self._cut(held)
                yield from whole
                held, size = [last], len(last.text)
                if size > _HELD:  # a sentence without an end
                    yield last
                    held, size = [], 0
        yield from self._cut(held)

    def _cut(self, lines: list[Line]) -> Iterator[Line]:
        """The sentences of a paragraph; the last one keeps what follows it."""
        if not lines:
            return
        text = "".join(line.text for line in lines)
        begin, number, counted = lines[0].begin, lines[0].number, 0
        spans = [*self.punkt.span_tokenize(text)]
        for i, (start, end) in enumerate(spans):
            number += text.count("\n", counted, start)
            counted = start
            yield Line(number, begin + start, text[start : end if i + 1 < len(spans) else None])
