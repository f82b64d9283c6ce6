"""Words and sentences of plain text, with their offsets, by rules for English.

Words are cut as the Penn Treebank cuts them, by NLTK's tokeniser: `can't` is `ca n't`, quotation marks become
`` and '', typographic ones, too; round brackets stay. It would cut URLs, addresses and hashtags, so it sees
letters instead. Sentences are cut by Punkt (Kiss and Strunk 2006), which is given the abbreviations of the
treebank and learns nothing from the text. Rules for other languages are objects with the same two functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from d2c.dparsers.protocol import TextRules, Word
from d2c.parsing.tokenizers import NLTKWordTokenizer, PunktParameters, PunktSentenceTokenizer

Offsets = tuple[tuple[int, int], ...]

_WORDS = NLTKWordTokenizer()
_QUOTES = ("``", "''")  # what `"` becomes
_TYPOGRAPHIC = {"“": "``", "”": "''", "‘": "`"}  # what these become; ’ is an apostrophe everywhere
_HELD = 1 << 16  # characters of one paragraph; the sentences in it are cut when it grows beyond that
_LONGEST = 1 << 18  # characters of a sentence; tokenisers take seconds for more, or give up
_BOUNDARY = re.compile(r"""[.!?…]["'”’»)\]]*\s+|[。！？]""")  # what may end a sentence

# What stays whole: addresses of the web and of mail, paths with a drive, hashtags, names as in @name.
_WHOLE = re.compile(
    r"""(?:(?:https?|ftp)://|www\.)[^\s<>"“”]*[^\s<>"“”.,:;!?'’)\]}]
    | (?<![\w.+%-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)+
    | (?<![\w.-])(?:\w[\w-]*\.)+[a-z]{2,}/[^\s<>"“”]*[^\s<>"“”.,:;!?'’)\]}]
    | (?<!\w)[A-Za-z]:[\\/][^\s<>"“”|?*]*[^\s<>"“”|?*.,:;!'’)\]}]
    | (?<![\w\#&@])[\#@](?=\w*[^\W\d_])\w+""",
    re.VERBOSE,
)
# Words whose full stop ends no sentence; if a number follows; if a small letter does; if no starter does.
_NEVER = re.compile(r"(?:e\.g|i\.e|cf|vs|viz|mr|mrs|ms|dr|prof|gen|sen|rep|gov|capt|lt|col|sgt)\.")
_BEFORE_NUMBER = re.compile(r"(?:nos?|figs?|eqs?|sec|ch|vol|pp?|art|approx|ca)\.")
_BEFORE_SMALL = re.compile(r"(?:etc|al|[ap]\.m|jr|sr|inc|corp|co|ltd|approx|ca|est|no)\.")
_INITIALS = re.compile(r"st\.|(?:[^\W\d_]\.){2,}")
_NEXT = re.compile(r"\s+(\w+)")
_STARTERS = re.compile(  # of sentences
    "A|An|The|This|That|These|Those|He|She|It|We|They|You|I|There|Here|His|Her|Its|Our|Their|In|On|At|But|And"
    "|Or|So|If|When|While|As|What|Who|Why|How|Not|No|Yes"
)


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


class PennRules:
    """English, as the Penn Treebank has it.

    abbreviations: words that end in a full stop without ending a sentence
    """

    def __init__(self, abbreviations: Iterable[str] = ()) -> None:
        parameters = PunktParameters()
        parameters.abbrev_types = {word.lower().removesuffix(".") for word in abbreviations}
        self._punkt = PunktSentenceTokenizer(parameters)

    def words(self, text: str) -> Iterator[Word]:
        """The words of a sentence."""
        plain = text.replace("’", "'")
        masked, end = _WHOLE.sub(lambda found: "x" * len(found[0]), plain), 0
        for form in _WORDS.tokenize(masked):
            start = end
            while text[start].isspace():
                start += 1
            end = start + (1 if form in _QUOTES and text[start] == '"' else len(form))
            if masked[start:end] != plain[start:end]:
                form = plain[start:end]
            yield _TYPOGRAPHIC.get(form, form), start, end

    def sentences(self, text: str) -> Iterator[tuple[int, int]]:
        """The sentences of a paragraph."""
        begin = None
        for start, end in self._punkt.span_tokenize(text):
            begin = start if begin is None else begin
            if not _goes_on(text[start:end], _NEXT.match(text, end)):
                yield begin, end
                begin = None


PENN = PennRules()


def _goes_on(sentence: str, following: re.Match[str] | None) -> bool:
    """Whether what Punkt took for a sentence ends in no more than an abbreviation."""
    if following is None:
        return False
    last, word = sentence.split()[-1].lstrip("([{\"'“‘").lower(), following[1]
    return bool(
        _NEVER.fullmatch(last)
        or (word[0].isdigit() and _BEFORE_NUMBER.fullmatch(last))
        or (word[0].islower() and _BEFORE_SMALL.fullmatch(last))
        or (not _STARTERS.fullmatch(word) and _INITIALS.fullmatch(last))
    )


def words_of(line: Line, rules: TextRules = PENN) -> Words:
    """Cut one sentence into words. Raises ValueError for one that is too long."""
    if len(line.text) > _LONGEST:
        raise ValueError(f"{len(line.text):,} characters without an end of a sentence: too long to be cut")
    found = [*rules.words(line.text)]
    offsets = [(line.begin + start, line.begin + end) for _, start, end in found]
    return Words(line.number, tuple([form for form, _, _ in found]), tuple(offsets))


class SentenceSplitter:
    """Cuts free text into sentences by rules. An empty line ends one, another line break does not."""

    def __init__(self, rules: TextRules = PENN) -> None:
        self.rules = rules

    def sentences(self, lines: Iterable[Line]) -> Iterator[Line]:
        """The sentences of a stream of lines, each as a line of its own; one paragraph is held at a time."""
        for paragraph in self.paragraphs(lines):
            yield from self._cut(paragraph)

    def paragraphs(self, lines: Iterable[Line]) -> Iterator[list[Line]]:
        """The lines between empty ones; of a very long paragraph, parts that end where a sentence does."""
        held: list[Line] = []
        size = 0
        for line in chain.from_iterable(map(_pieces, lines)):
            blank = not line.text.strip()
            apart = blank or len(line.text) > _LONGEST
            if held and (apart or held[-1].begin + len(held[-1].text) != line.begin):
                yield held
                held, size = [], 0
            if not blank:
                held.append(line)
                size += len(line.text)
            if size > _HELD:
                *whole, last = self._cut(held)
                if whole:
                    text = "".join(line.text for line in held)
                    yield [held[0]._replace(text=text[: last.begin - held[0].begin])]
                    held, size = [last], len(last.text)
                if size > _HELD:  # a sentence without an end
                    yield held
                    held, size = [], 0
        if held:
            yield held

    def _cut(self, lines: list[Line]) -> Iterator[Line]:
        """The sentences of a paragraph; the last one keeps what follows it."""
        text = "".join(line.text for line in lines)
        begin, number, counted = lines[0].begin, lines[0].number, 0
        spans = [*self.rules.sentences(text)] if len(text) <= _LONGEST else [(0, len(text))]
        for i, (start, end) in enumerate(spans):
            number += text.count("\n", counted, start)
            counted = start
            yield Line(number, begin + start, text[start : end if i + 1 < len(spans) else None])


def _pieces(line: Line) -> Iterator[Line]:
    """Cut a very long line where sentences may end, so that rules never see much more than `_HELD` of it."""
    begin = end = 0
    stops = (stop.end() for stop in _BOUNDARY.finditer(line.text)) if len(line.text) > _HELD else ()
    for following in chain(stops, [len(line.text)]):
        if following - begin > _HELD and end > begin:
            yield Line(line.number, line.begin + begin, line.text[begin:end])
            begin = end
        end = following
    yield Line(line.number, line.begin + begin, line.text[begin:])
