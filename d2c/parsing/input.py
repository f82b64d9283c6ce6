"""The input of `d2c parse`: CoNLL-U, JSON lines, text with a sentence on each line, and free text.

All are streams of lines. A line or sentence that cannot be read keeps its place among the others: it is a
sentence without tokens that says what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NamedTuple

from d2c.base.errors import FormatError
from d2c.base.files import NOT_UTF8, file_name, open_input
from d2c.base.inputs import Paths, files_of
from d2c.parsing.asked import Asked, read_asked
from d2c.parsing.options import JSON, JSON_LINES, TAGGED, TAGGED_NAMES, TEXT_NAMES
from d2c.parsing.text import PENN, Line, Offsets, SentenceSplitter, Words, words_of
from d2c.protocols.dparser import Arcs, TextRules
from d2c.trees.constraints import SpanConstraints
from d2c.trees.ctree import Tokens
from d2c.trees.formats.brackets import BLANKS
from d2c.trees.formats.checks import check_text
from d2c.trees.formats.conllu import Chunk, has_two_tagsets, parse_conllu

_BYTE_ORDER_MARK = "\ufeff"
_UNDECODED = re.compile("[\ud800-\udfff\0]")  # NUL; what is no UTF-8, by `surrogateescape`
_WORD = re.compile(rf"[^{BLANKS}]+")

_NO_TAG, _NO_HEAD = "_", -1


@dataclass(frozen=True, slots=True)
class InputSentence:
    """A sentence to be parsed.

    tokens:  its tags are empty where the input has none
    line:    of the file, where it begins
    offsets: of its words, in characters from the file's beginning, any line break as one; None in CoNLL-U
    error:   why it cannot be parsed; there are no tokens then
    text:    from its first word to its last, as it stands there; "" in CoNLL-U
    file:    where it is from, if there are several; "" otherwise
    arcs:    the d-tree that CoNLL-U has; None where it has no heads
    wanted:  constituents that must be there, or must not
    """

    tokens: Tokens
    line: int
    offsets: Offsets | None = None
    error: FormatError | None = None
    text: str = field(default="", repr=False, compare=False)
    file: str = ""
    arcs: Arcs | None = None
    wanted: SpanConstraints | None = None


class InputKind(NamedTuple):
    """A kind of input.

    words: cuts a line into words; None where these are given, and perhaps tags
    split: whether the lines must be cut into sentences first
    suffixes: how files of it are called in directories
    read:  yields the sentences of lines of a file with this name, where words are given
    """

    words: Callable[[Line, TextRules], Words] | None
    split: bool = False
    suffixes: tuple[str, ...] = TEXT_NAMES
    read: Callable[[Iterable[Line], str], Iterator[InputSentence]] = lambda lines, file: iter(())

    @property
    def tagged(self) -> bool:
        """Whether its sentences have tags."""
        return self.words is None

    @property
    def cut(self) -> bool:
        """Whether rules cut its lines into words."""
        return self.words is words_of


def read_sentences(paths: Paths, kind: str, rules: TextRules = PENN) -> Iterator[InputSentence]:
    """Yield the sentences of files (`-`: standard input) of one of KINDS, which say of several their file.
    Empty lines are none.

    rules: cut text into words and sentences
    Raises FormatError for a file that cannot be read at all.
    """
    for path in files_of(paths):
        with open_input(path, "utf-8", "surrogateescape") as stream:
            sentences = sentences_of(stream, kind, rules, file_name(path))
            if len(files_of(paths)) > 1:
                sentences = (replace(sentence, file=file_name(path)) for sentence in sentences)
            yield from sentences


def sentences_of(
    lines: Iterable[str], kind: str, rules: TextRules = PENN, file: str = "<text>"
) -> Iterator[InputSentence]:
    """Yield the same of lines, each with its line break; errors name a file."""
    words_of, split, _, read = KINDS[kind]
    if words_of is None:
        yield from read(lines_of(lines, mark=""), file)
        return
    splitter = SentenceSplitter(rules)
    numbered = lines_of(lines, mark=" ")  # offsets stay as they are
    for bad, run in groupby(numbered, lambda line: _UNDECODED.search(line.text) is not None):
        for line in splitter.sentences(run) if split and not bad else run:
            if bad:
                yield _refused(FormatError(file, line.number, 0, _why(line.text)))
            elif line.text.strip():
                yield _sentence(line, file, words_of, rules)


def _sentence(
    line: Line, file: str, words_of: Callable[[Line, TextRules], Words], rules: TextRules
) -> InputSentence:
    try:
        words = words_of(line, rules)
    except (ValueError, TimeoutError) as error:  # NLTK gives up after 5 seconds
        return _refused(FormatError(file, line.number, 0, str(error)))
    tokens = Tokens.untagged(words.forms)
    start, end = (words.offsets[0][0], words.offsets[-1][1]) if words.offsets else (line.begin, line.begin)
    text = line.text[start - line.begin : end - line.begin]
    return InputSentence(tokens, words.line, words.offsets, text=text)


def sentence_of_words(asked: Asked, line: int, file: str) -> InputSentence:
    """Return a sentence of words and tags (empty: to be tagged), or one that says why it cannot be parsed."""
    forms, tags, require, forbid = asked
    try:
        if not forms:
            raise ValueError("there are no words")
        for number, (form, tag) in enumerate(zip(forms, tags, strict=True), 1):
            if not form.strip():
                raise ValueError(f"the token {number} is empty")
            if "\0" in form + tag:
                raise ValueError(_why("\0"))
            check_text(form)
            check_text(tag)
        wanted = SpanConstraints.of(require, forbid, len(forms))
    except ValueError as error:
        return _refused(FormatError(file, line, 0, str(error)))
    return InputSentence(Tokens(forms, tags), line, wanted=wanted)


def _why(line: str) -> str:
    return "a NUL character, which no text has" if "\0" in line else NOT_UTF8


def _refused(error: FormatError) -> InputSentence:
    return InputSentence(Tokens((), ()), error.line, error=error)


def lines_of(stream: Iterable[str], mark: str = _BYTE_ORDER_MARK) -> Iterator[Line]:
    """Yield the lines of a file; `mark` stands for a byte order mark."""
    begin = 0
    for number, text in enumerate(stream, 1):
        if number == 1 and text.startswith(_BYTE_ORDER_MARK):
            text = mark + text[1:]
        yield Line(number, begin, text)
        begin += len(text)


def _tokenized(line: Line, _: TextRules = PENN) -> Words:
    """Return the words between blanks. Raises ValueError for words of nothing but other spaces."""
    matches = [*_WORD.finditer(line.text)]
    for number, match in enumerate(matches, 1):
        if match[0].isspace():
            raise ValueError(f"the token {number} is empty: it holds nothing but {ascii(match[0])}")
    offsets = [(line.begin + match.start(), line.begin + match.end()) for match in matches]
    return Words(line.number, tuple([match[0] for match in matches]), tuple(offsets))


def _conllu(lines: Iterable[Line], file: str) -> Iterator[InputSentence]:
    count, xpos = 0, False
    for block in _blocks(lines):
        first, text = block[0].number, "".join(line.text for line in block)
        xpos = xpos or has_two_tagsets(text)
        try:
            for line in block:
                if _UNDECODED.search(line.text):
                    raise FormatError(file, line.number, 1, _why(line.text))
            for dtree in parse_conllu(Chunk(first, text), file, xpos=xpos):
                arcs = None if {*dtree.heads} == {_NO_HEAD} else (dtree.heads, dtree.labels or ())
                yield InputSentence(_without_no_tags(dtree.tokens), first, arcs=arcs)
                count += 1
        except FormatError as error:
            yield _refused(error.after(count))
            count += 1


def _json(lines: Iterable[Line], file: str) -> Iterator[InputSentence]:
    for line in lines:
        if line.text.strip():
            try:
                if _UNDECODED.search(line.text):
                    raise ValueError(_why(line.text))
                yield sentence_of_words(read_asked(line.text), line.number, file)
            except ValueError as error:
                yield _refused(FormatError(file, line.number, 0, str(error)))


def _without_no_tags(tokens: Tokens) -> Tokens:
    """Return tokens with empty tags where no word has one."""
    return replace(tokens, tags=("",) * len(tokens)) if set(tokens.tags) == {_NO_TAG} else tokens


def _blocks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Yield the lines between empty ones."""
    for empty, block in groupby(lines, lambda line: not line.text.strip()):
        if not empty:
            yield list(block)


KINDS = {
    TAGGED: InputKind(None, False, TAGGED_NAMES, _conllu),
    JSON: InputKind(None, False, JSON_LINES, _json),
    "text": InputKind(words_of),
    "tokenized": InputKind(_tokenized),
    "split": InputKind(words_of, split=True),
}
