"""n-best lists: several parses of each sentence, the best first, with their scores; read only.

    2 sent-7               Charniak's and BLLIP's: how many parses, of which sentence
    -22.5                  the score, or two, of the parse below
    (S1 (S (NP (NNS Cats)) (VP (VBP sleep))))
    -24.25
    (S1 (NP (NP (NNS Cats)) (NP (NN sleep))))

    # Parse 1 with score -22.5      Stanford's
    (ROOT ...)

    -22.5<TAB>( (S ...))   Berkeley's: a parse on a line, and an empty line behind each sentence

The first parse of each sentence is read; all of them with `n_best`. Sentence and score are comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from d2c.base.files import AnyPath, open_input
from d2c.trees.ctree import CTree
from d2c.trees.formats.bracket_lines import NOT_PARSED, tree_lines
from d2c.trees.formats.brackets import bracket_trees
from d2c.trees.formats.format import CFormat, Malformed, Options, Reader

FURTHER = "further parses"  # the name under which they are counted

_NUMBER = r"[-+]?(?:[0-9][0-9.]*+(?:[eE][-+]?[0-9]++)?|[Ii]nf(?:inity)?|NaN|nan)"
_SCORES = re.compile(rf"{_NUMBER}(?:[ \t]++{_NUMBER})*+")
_OF_SENTENCE = re.compile(r"([0-9]{1,9})[ \t]+([^ \t]+)")
_OF_PARSE = re.compile(rf"# Parse ([0-9]{{1,9}}) with score ({_NUMBER})")
_FIRST_PARSE = re.compile(r"^# Parse 1 with score ", re.MULTILINE)
_WORD = re.compile(r"[ \t\r\n]([^ \t\r\n()]++)[ \t\r\n]*+\)")
_BEGINS = re.compile(
    rf"\s*+(?:[0-9]++[ \t]++[^ \t\n]++[ \t]*+\n[ \t]*+{_SCORES.pattern}[ \t]*+\n[ \t]*+\("
    rf"|{_NUMBER}\t[ \t]*+\([ \t]*+[^ \t\n()]*+[ \t]*+\()"
)

Item = tuple[str, tuple[str, ...]]  # the text of a parse, and comments


@dataclass
class _List:
    """What lines around parses say.

    first:    whether a line has said that the next parse is the first of its sentence
    told:     whether any line has said which parses are first: none does in Berkeley's lists
    left:     how many parses of the sentence are still to come, where a line has said how many it has
    sentence: the comment on the sentence; score: the comment on the next parse
    words:    of the last parse, which ends in the line `end`
    """

    options: Options
    first: bool = False
    told: bool = False
    left: int = 0
    sentence: tuple[str, ...] = ()
    score: tuple[str, ...] = ()
    words: list[str] = field(default_factory=list)
    end: int = 0

    def outside(self, text: str, line: int) -> Iterator[tuple[int, Item | Malformed]]:
        """Take a line outside of trees. Yield a sentence that has no parse, and, where that is an error, a
        line that does not belong in such lists."""
        of_sentence, scores = _OF_SENTENCE.fullmatch(text), _SCORES.fullmatch(text)
        if found := _OF_PARSE.fullmatch(text):
            self.told, self.first, self.score = True, int(found[1]) == 1, (f"score = {found[2]}",)
        elif of_sentence and not (self.left and scores):
            self.told, self.first, self.left = True, True, int(of_sentence[1])
            self.sentence = (f"sent_id = {of_sentence[2]}",)
            if not self.left:
                yield line, (NOT_PARSED, self.sentence)
        elif scores:
            self.score = (f"score = {' '.join(text.split())}",)
        else:
            yield from self.options.outside(text, line)

    def parse(self, line: int, text: str) -> Item | None:
        """Return a parse with the comments on it; None for one that is not wanted."""
        words = _WORD.findall(text)
        first = self.first or words != self.words or (not self.told and line > self.end + 1)
        item = text, (*self.sentence, *self.score)
        self.words, self.end = words, line + text.rstrip("\n").count("\n")
        self.first, self.score, self.left = False, (), max(self.left - 1, 0)
        if first or self.options.n_best:
            return item
        self.options.left_out[FURTHER] += 1
        return None


def _items(path: AnyPath, options: Options) -> Iterator[tuple[int, Item | Malformed]]:
    """Yield the parses that are wanted. Raises FormatError."""
    known = _List(options)
    with open_input(path, options.charset) as stream:
        for line, text in tree_lines(stream, known.outside):
            item = known.parse(line, text) if isinstance(text, str) else text
            if item:
                yield line, item


def _trees(item: Item, _options: Options) -> Iterator[CTree]:
    """Yield the trees of a text. Raises ValueError."""
    text, comments = item
    for ctree in bracket_trees(text):
        yield replace(ctree, tokens=replace(ctree.tokens, comments=comments))


def is_list(text: str) -> bool:
    """Return whether a text begins as n-best lists do."""
    return bool(_BEGINS.match(text) or _FIRST_PARSE.search(text))


NBEST = CFormat(
    "nbest",
    (".nbest",),
    Reader(_items, _trees),
    holds=("traces", "indices", "comments"),
    named_as="brackets",
    looks_so=is_list,
)
