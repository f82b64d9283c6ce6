"""The input of `d2c parse`: CoNLL-U, JSON lines, text with a sentence on each line, and free text.

All are streams of lines. A line or sentence that cannot be read keeps its place among the others: it becomes
a sentence without tokens, whose error says what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from d2c.base.errors import FormatError
from d2c.base.files import NOT_UTF8, file_name, first_characters, open_input
from d2c.base.inputs import Paths, files_of, is_called
from d2c.parsing.json_lines import read_given
from d2c.parsing.options import JSON, JSON_LINES, TAGGED, TAGGED_NAMES, TEXT_NAMES
from d2c.parsing.sentence import Sentence, refused
from d2c.parsing.text import PENN, Line, split_sentences, words_of
from d2c.protocols.dparser import LONGEST, TextRules, Word
from d2c.trees.constraints import SpanConstraints
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.bracket_lines import BLANKS
from d2c.trees.formats.conllu import Chunk, has_two_tagsets, parse_conllu
from d2c.trees.formats.format import check_text
from d2c.trees.formats.registry import treebank_called

_BYTE_ORDER_MARK = "\ufeff"
_UNDECODED = re.compile("[\ud800-\udfff\0]")  # NUL; bytes that are not UTF-8, by `surrogateescape`
_WORD = re.compile(rf"[^{BLANKS}]+")

_NO_TAG, _NO_HEAD = "_", -1
_START = 4096  # characters at the beginning of a file, which show its kind
_TAGGED_START = re.compile(r"(?:#.*\n|\s)*\d+(?:[-.]\d+)?\t")
_OBJECT = re.compile(r'\s*\{[ \t]*"')
_TREE = re.compile(r"\s*\([-A-Z0-9_]*\s*\([-A-Z0-9=$|+]+[\s(]")
_PAGE = re.compile(
    r"\s*(?:<!--.*?-->\s*|<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)


class InputKind(NamedTuple):
    """A kind of input.

    words: cuts a line into words, given rules and whether it begins inside a quotation; None where the input
           has words, and perhaps tags
    split: whether the lines must be cut into sentences first
    suffixes: endings by which files of this kind are found in directories
    read:  yields the sentences of a file, given its lines and its name, where the input has words
    """

    words: Callable[[str, TextRules, bool], Iterable[Word]] | None
    split: bool = False
    suffixes: tuple[str, ...] = TEXT_NAMES
    read: Callable[[Iterable[Line], str], Iterator[Sentence]] = lambda lines, file: iter(())

    @property
    def cut(self) -> bool:
        """Return whether rules cut its lines into words."""
        return self.words is words_of


def read_sentences(paths: Paths, kind: str, rules: TextRules = PENN) -> Iterator[Sentence]:
    """Yield the sentences of files (`-`: standard input), all of one of KINDS; if there are several files,
    each sentence names its own. Empty lines are skipped.

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
) -> Iterator[Sentence]:
    """Yield the sentences of lines, each with its line break. file: its name in errors"""
    cut_words, split, _, read = KINDS[kind]
    if cut_words is None:
        yield from read(lines_of(lines, mark=""), file)
        return
    numbered = lines_of(lines, mark=" ")  # a blank for the mark: offsets stay right
    for bad, run in groupby(numbered, lambda line: _UNDECODED.search(line.text) is not None):
        for line in split_sentences(run, rules) if split and not bad else run:
            if bad:
                yield refused(FormatError(file, line.number, 0, _why(line.text)))
            elif line.text.strip():
                yield sentence_of_line(line, file, cut_words, rules)


def kind_of(path: Path) -> str:
    """Return the kind of input, a key of KINDS, that a file's name or beginning shows: CoNLL-U for an empty
    file, or a pipe whose beginning cannot be seen; `split` (free text) where nothing shows another kind.

    Raises FormatError for a treebank, for HTML, and for a file that is not text.
    """
    start = first_characters(path, _START).removeprefix("\xef\xbb\xbf")
    if not start or is_called(path, TAGGED_NAMES) or _TAGGED_START.match(start):
        return TAGGED
    if is_called(path, JSON_LINES) or _OBJECT.match(start):
        return JSON
    name, why = file_name(path), ""
    if treebank_called(path) or _TREE.match(start):
        again = f"d2c encode {name} -o words.conllu; d2c parse words.conllu"
        why = f"is a treebank; to parse its words again: {again}"
    elif _PAGE.match(start):
        why = "is HTML; `pandoc -t plain`, or saving as text in a browser, makes plain text of it"
    if why:
        raise FormatError(name, 0, 0, why)
    return "split"


def sentence_of_line(
    line: Line, file: str, words_of: Callable[[str, TextRules, bool], Iterable[Word]], rules: TextRules
) -> Sentence:
    """Return the sentence on a line, or a refused one that says why the line cannot be cut into words."""
    try:
        found = [*words_of(line.text, rules, line.quoted)]
    except (ValueError, TimeoutError) as error:  # NLTK gives up after 5 seconds
        return refused(FormatError(file, line.number, 0, str(error)))
    tokens = Tokens.untagged(tuple([form for form, _, _ in found]))
    offsets = tuple([(line.begin + start, line.begin + end) for _, start, end in found])
    text = line.text[found[0][1] : found[-1][2]] if found else ""
    return Sentence(tokens, line=line.number, text=text, offsets=offsets)


def sentence_of_words(
    file: str,
    line: int,
    forms: tuple[str, ...],
    tags: tuple[str, ...] = (),
    require: Any = None,
    forbid: Any = None,
) -> Sentence:
    """Return the sentence with these words and tags, or a refused one that says why it cannot be parsed.

    tags:            an empty tag, or no tags at all, if a tagger is to find them
    require, forbid: constituents, as for `SpanConstraints.of`
    """
    tags = tags or ("",) * len(forms)
    try:
        if not forms:
            raise ValueError("there are no words")
        _check_length(forms)
        for number, (form, tag) in enumerate(zip(forms, tags, strict=True), 1):
            if not form.strip():
                raise ValueError(f"the token {number} is empty")
            if "\0" in form + tag:
                raise ValueError(_why("\0"))
            check_text(form)
            check_text(tag)
        wanted = SpanConstraints.of(require, forbid, len(forms))
    except ValueError as error:
        return refused(FormatError(file, line, 0, str(error)))
    return Sentence(Tokens(forms, tags), line=line, wanted=wanted)


def _check_length(forms: Iterable[str]) -> None:
    """Raise ValueError for words that have more than LONGEST characters together."""
    if (size := sum(map(len, forms))) > LONGEST:
        raise ValueError(f"{size:,} characters in one sentence, more than the {LONGEST:,} that may be")


def _why(line: str) -> str:
    return "a NUL character, which no text has" if "\0" in line else NOT_UTF8


def lines_of(stream: Iterable[str], mark: str = _BYTE_ORDER_MARK) -> Iterator[Line]:
    """Yield the lines of a file, numbered; `mark` replaces a byte order mark at the beginning."""
    begin = 0
    for number, text in enumerate(stream, 1):
        if number == 1 and text.startswith(_BYTE_ORDER_MARK):
            text = mark + text[1:]
        yield Line(number, begin, text)
        begin += len(text)


def _tokenized(text: str, _: TextRules = PENN, quoted: bool = False) -> Iterator[Word]:
    """Yield the words between blanks. Raises ValueError for a word of white space, or a line too long."""
    if len(text) > LONGEST:
        _check_length(match[0] for match in _WORD.finditer(text))
    for number, match in enumerate(_WORD.finditer(text), 1):
        if match[0].isspace():
            raise ValueError(f"the token {number} is empty: it holds nothing but {ascii(match[0])}")
        yield match[0], match.start(), match.end()


def sentences_of_conllu(lines: Iterable[Line], file: str, xpos: bool = False) -> Iterator[Sentence]:
    """Yield the sentences of CoNLL-U.

    xpos: as for `blocks_of`
    """
    count = 0
    for begin, block, chunk in blocks_of(lines, xpos):
        try:
            _check_block(block, file)
            for dtree in parse_conllu(chunk, file):
                yield _of_dtree(dtree, begin)
                count += 1
        except FormatError as error:
            yield refused(error.after(count))
            count += 1


def _check_block(block: Sequence[Line], file: str) -> None:
    """Raise FormatError for a sentence of CoNLL-U that is too long or has NUL or bytes that are not UTF-8."""
    for line in block:
        if _UNDECODED.search(line.text):
            raise FormatError(file, line.number, 1, _why(line.text))
    rows = (line.text.split("\t", 2) for line in block)
    try:
        _check_length(row[1] for row in rows if row[0].isdecimal() and len(row) > 1)
    except ValueError as error:
        raise FormatError(file, block[0].number, 1, str(error)) from None


def _of_dtree(dtree: DTree, line: int) -> Sentence:
    """Return a sentence of CoNLL-U: its tags are empty if no word has one, its d-tree None without heads."""
    tokens = dtree.tokens
    if set(tokens.tags) == {_NO_TAG}:
        tokens = replace(tokens, tags=("",) * len(tokens))
    parsed = {*dtree.heads} != {_NO_HEAD}
    return Sentence(tokens, line=line, dtree=replace(dtree, tokens=tokens) if parsed else None)


def _json(lines: Iterable[Line], file: str) -> Iterator[Sentence]:
    for line in lines:
        if line.text.strip():
            try:
                if _UNDECODED.search(line.text):
                    raise ValueError(_why(line.text))
                given = read_given(line.text)
            except ValueError as error:
                yield refused(FormatError(file, line.number, 0, str(error)))
            else:
                yield sentence_of_words(file, line.number, *given)


def blocks_of(lines: Iterable[Line], xpos: bool = False) -> Iterator[tuple[int, list[Line], Chunk]]:
    """Yield each sentence of CoNLL-U: the number of its first line, its lines, and their text with the empty
    lines between them.

    Comments alone between empty lines belong to the next sentence, which begins after them.

    xpos: whether earlier lines have shown that UPOS and XPOS hold two tagsets
    """
    held = list[Line]()
    for empty, group in groupby(lines, lambda line: not line.text.strip()):
        if empty:
            continue
        block = list(group)
        begin = block[0].number
        if all(line.text.startswith("#") for line in block):
            held += block
            continue
        block, held = [*held, *block], []
        before = [block[0].number - 1, *(line.number for line in block)]
        gaps = ("\n" * (line.number - number - 1) for number, line in zip(before, block, strict=False))
        text = "".join([gap + line.text for gap, line in zip(gaps, block, strict=True)])
        xpos = xpos or has_two_tagsets(text)
        yield begin, block, Chunk(block[0].number, text, xpos)


KINDS = {
    TAGGED: InputKind(None, False, TAGGED_NAMES, sentences_of_conllu),
    JSON: InputKind(None, False, JSON_LINES, _json),
    "text": InputKind(words_of),
    "tokenized": InputKind(_tokenized),
    "split": InputKind(words_of, split=True),
}
