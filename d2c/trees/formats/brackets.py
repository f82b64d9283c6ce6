"""PTB brackets: `( (S (NP-SBJ (PRP They)) (VP (VBD slept)) (. .)) )`, one tree per line or over many lines.

A text is split at its opening brackets. What follows one is a label, the word if it is a pre-terminal, and
closing brackets; such openings repeat so often that each is analysed once and then looked up.
Only ASCII blanks separate: words may hold other spaces. Round brackets inside words and tags are written
-LRB- and -RRB-, blanks as no-break spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import pairwise
from pathlib import Path

from d2c.base.errors import FormatError, stop
from d2c.base.files import AnyPath, open_input
from d2c.trees.cleaning import WRAPPERS, check_names, take_wrapper, unescape
from d2c.trees.ctree import CTree, Tokens, trusted_ctree
from d2c.trees.formats.format import CFormat, Malformed, Options, Reader, Writer, check_text

BLANKS = " \t\r\n"
# Nothing is tried twice (`*+`): otherwise a long word beside another takes quadratic time.
_OPENING = re.compile(r"[ \t\r\n]*+([^ \t\r\n()]*+)[ \t\r\n]*+([^ \t\r\n()]*+)[ \t\r\n]*+([) \t\r\n]*+)")
_TREE_BEGINS = ("((", "( (", *(f"({wrapper} " for wrapper in WRAPPERS if wrapper))
_ESCAPES = str.maketrans(dict.fromkeys(BLANKS, "\N{NO-BREAK SPACE}") | {"(": "-LRB-", ")": "-RRB-"})
_OPENINGS_REMEMBERED = 1 << 18
LONGEST_RUN = 1 << 18  # lines
_NOT_PARSED = "(TOP (ERROR (ERROR ERROR)))"  # as `d2c parse` writes it, what `(())` is read as
_UNCLOSED = "a closing bracket is missing in this tree"


def bracket_items(path: AnyPath, options: Options) -> Iterator[tuple[int, str]]:
    """Yield runs of lines that hold whole trees; see `balanced`. Raises FormatError."""
    with open_input(path, options.charset or "utf-8-sig") as stream:
        yield from balanced(stream)


def bracket_trees(text: str) -> Iterator[CTree]:
    """Yield the trees of a text. Until one is complete, its k-th proper node is called -1 - k.

    Raises Malformed.
    """
    analysed = _OPENINGS
    before, *openings = text.split("(")
    if len(openings) == 2 and "".join(text.split()) == "(())":
        before, *openings = _NOT_PARSED.split("(")
    if before.strip(BLANKS):
        raise Malformed(f"expected '(', found {before.strip(BLANKS)[:20]!r}")
    begin = index = 0
    open_labels: list[str] = []
    open_kids: list[list[int]] = []
    kids, forms, tags, labels, children = _no_nodes()
    try:
        for index, opening in enumerate(openings):
            label, form, closing = analysed[opening]
            if not form:
                if not label and open_labels:
                    raise Malformed("a node inside a tree has no label")
                open_labels.append(label)
                open_kids.append(kids)
                kids = []
                continue
            kids.append(len(forms))
            forms.append(form)
            tags.append(label)
            while closing:
                if not open_labels:
                    raise Malformed("a closing bracket too many")
                closing -= 1
                labels.append(open_labels.pop())
                children.append(kids)
                kids = open_kids.pop()
                kids.append(-len(labels))
            if not open_labels:
                yield _complete(forms, tags, labels, children)
                begin = index + 1
                kids, forms, tags, labels, children = _no_nodes()
        if open_labels:
            index = begin
            raise Malformed(_UNCLOSED)
    except Malformed as error:
        cut_off = (
            index + 1 == len(openings) and ")" not in openings[index] and _OPENING.fullmatch(openings[index])
        )
        fault, index = (Malformed(_UNCLOSED), begin) if cut_off else (error, index)
        fault.lines = before.count("\n") + "".join(openings[:index]).count("\n")
        raise fault from None


read_brackets = Reader(bracket_items, lambda text, _: bracket_trees(text))


def parse_bracket(text: str, clean: bool = False) -> CTree:
    """Return the one tree that a text holds. Raises FormatError."""
    items, options = balanced(StringIO(text)), Options(clean)
    ctrees = list(read_brackets.parse(items, "<string>", stop, options, may_be_empty=True))
    if len(ctrees) != 1:
        raise FormatError("<string>", 0, 0, f"expected one tree, found {len(ctrees)}")
    return ctrees[0]


def format_bracket(ctree: CTree) -> str:
    """Return a tree on one line. Raises ValueError for gaps, empty names and half characters."""
    check_names(ctree)
    n, spans = len(ctree.tokens.forms), ctree.spans()
    if spans is None:
        raise ValueError("brackets cannot hold a tree with gaps; discbracket can")
    first, last = spans
    words = [
        f"({tag} {form})" if tag.isalnum() and form.isalnum() else f"({escape(tag)} {escape(form)})"
        for tag, form in zip(ctree.tokens.tags, ctree.tokens.forms, strict=True)
    ]
    symbols = ctree.labels if "".join(ctree.labels).isalnum() else tuple(map(escape, ctree.labels))
    opening: dict[int, list[str]] = {}
    closing = [0] * n
    for node in range(len(first) - 1, n - 1, -1):  # parents before children
        opening.setdefault(first[node], []).append(symbols[node - n])
        closing[last[node]] += 1
    for token, labels in opening.items():
        words[token] = f"({' ('.join(labels)} {words[token]}"
    text = " ".join([word + ")" * count for word, count in zip(words, closing, strict=True)])
    return check_text(text if ctree.top is None else f"({ctree.top} {text})")


write_brackets = Writer[CTree](lambda ctree, _: format_bracket(ctree) + "\n")
BRACKETS = CFormat(
    "brackets",
    (".mrg", ".brackets", ".ptb", ".parse", ".tree", ".trees"),
    read_brackets,
    write_brackets,
    holds=("traces", "indices"),
)


def save_brackets(ctrees: Iterable[CTree], path: Path) -> None:
    """Write a file of trees in brackets. Raises OSError, and what `format_bracket` raises."""
    with open(path, "w", encoding="utf-8") as stream:
        write_brackets(ctrees, stream)


def escape(word: str) -> str:
    """Return a word or label as bracket files hold it: -LRB-, -RRB-, no-break spaces."""
    return word.translate(_ESCAPES)


def balanced(stream: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield runs of lines with as many closing as opening brackets, each with the number of its first line.

    A run cannot close any more at the end of the file, after very many lines, and where a line begins with a
    wrapper, which never stands inside a tree. It is handed out cut where lines begin with a bracket: most
    trees begin so, so that a missing bracket is reported where it is missing, and costs one sentence.
    """
    lines: list[str] = []
    start = depth = 0
    for number, line in enumerate(stream, 1):
        if lines and (line.startswith(_TREE_BEGINS) or len(lines) == LONGEST_RUN):
            yield from _unclosed(start, lines)
            lines, depth = [], 0
        if not lines:
            if not line.strip(BLANKS):
                continue
            start = number
        lines.append(line)
        depth += line.count("(") - line.count(")")
        if depth <= 0:
            yield start, "".join(lines)
            lines, depth = [], 0
    yield from _unclosed(start, lines)


def _unclosed(start: int, lines: list[str]) -> Iterator[tuple[int, str]]:
    begins = [k for k, line in enumerate(lines) if not k or line.startswith("(")]
    for begin, end in pairwise([*begins, len(lines)]):
        yield start + begin, "".join(lines[begin:end])


class _Openings(dict[str, tuple[str, str, int]]):
    """A cache: text between two opening brackets → label, word ("": a phrase), nodes closed by its end.

    The pre-terminal's own closing bracket is not counted.
    """

    def __missing__(self, opening: str) -> tuple[str, str, int]:
        match = _OPENING.fullmatch(opening)
        if not match:
            stray = re.findall(r"[^ \t\r\n()]+", opening)[-1]
            raise Malformed(f"the word {stray!r} stands beside other words or nodes")
        label, word, closing = match[1], match[2], match[3].count(")")
        if word and not closing:
            raise Malformed(f"the node {label!r} mixes the word {word!r} with child nodes")
        if closing and not word:
            raise Malformed(f"the node {label!r} is empty")
        if len(self) >= _OPENINGS_REMEMBERED:
            self.clear()
        node = self[opening] = label, unescape(word), closing - 1
        return node


_OPENINGS = _Openings()  # kept from chunk to chunk


def _no_nodes() -> tuple[list[int], list[str], list[str], list[str], list[list[int]]]:
    return [], [], [], [], []


def _complete(forms: list[str], tags: list[str], labels: list[str], children: list[list[int]]) -> CTree:
    """Return a tree without its wrapper."""
    last, top = len(forms) - 1, take_wrapper(labels, children, clean=False)
    rows = tuple([tuple([kid if kid >= 0 else last - kid for kid in kids]) for kids in children])
    return trusted_ctree(Tokens(tuple(forms), tuple(tags)), tuple(labels), rows, top=top)
