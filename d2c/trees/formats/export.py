"""NEGRA's export format, versions 3 and 4: `#BOS` ... `#EOS`, a line for each token and node #500, #501, ...

A line is form (or node), lemma in version 4 only, tag, morphology, edge label, parent (0: the virtual root),
then secondary edges, label and parent in turn; a comment may follow after `%%`. Comments on the line #BOS are
the sentence's, as are its number, where that is not its place in the file (`sent_id`), and the numbers of its
editor, date and origin (`edited`); other comments are left out and counted.
Header tables `#BOT` ... `#EOT` are left out and counted; a table without an end ends at the next table,
`#FORMAT` or sentence, and counts as a line outside of trees, too. `#FORMAT` says the version; without it the
number of columns does. No file says its encoding: NEGRA and TIGER are in Latin-1, newer treebanks in UTF-8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from d2c.base.errors import FormatError
from d2c.base.files import AnyPath, file_name, lines_in_utf8_or_latin1
from d2c.trees.ctree import CTree
from d2c.trees.formats.format import (
    OF_GRAPHS,
    OUTSIDE,
    CFormat,
    Malformed,
    Options,
    Writer,
    check_text,
    item_reader,
)
from d2c.trees.formats.graphs import NO_FUNCTION, SENT_ID, Graph, GraphError, Name, is_id, listed, value_of

FIRST_NODE = 500

_BLANKS = re.compile(r"[ \t]+")
_COMMENT = re.compile(r"(?<=[^ \t])[ \t]++%%.*", re.DOTALL)
_WIDE_BLANKS = re.compile(r"\t+| {2,}")  # between columns, not between the words of a comment
_EDITED = "edited = "  # by whom, when, from where, in numbers
_NUMBERS = re.compile(f"{_EDITED}[0-9]+(?: [0-9]+)*")
_COMMENTS = re.compile(r"(?<![ \t])[ \t]++%%[ \t]*")
_NODE, _NUMBER = re.compile("#[0-9]+"), re.compile("[0-9]+")
_AFTER_MARK = ("", *" \t\r\n")
_ESCAPES = str.maketrans(dict.fromkeys(" \t\r\n", "\N{NO-BREAK SPACE}"))


class _Rows(NamedTuple):
    """A sentence: the number of its #BOS line; the version, if known; its comments; the number and the
    columns of each line."""

    line: int
    version: int | None
    comments: tuple[str, ...]
    columns: list[tuple[int, list[str]]]


Fault = tuple[int, ValueError]  # the number of the line, and what is wrong with it


@dataclass
class _Outside:
    """What stands outside of sentences.

    version: of the format, once a line says it
    table:   the number of the line that begins a header table which is open
    first:   of the lines that belong nowhere, after its number; lines: how many such lines there are
    """

    options: Options
    version: int | None = None
    table: int = 0
    first: tuple[int, str] | None = None
    lines: int = 0

    def take(self, number: int, line: str) -> Iterator[Fault]:
        """Take a line, and yield what is wrong with it. Raises Malformed for versions other than 3 and 4."""
        if line.startswith(("#BOT", "#FORMAT")):
            yield from self.table_ends()
        if line.startswith("#BOT"):
            self.options.left_out["header tables"] += 1
            self.table = number
        elif line.startswith("#FORMAT"):
            numbers = line.split()[1:2]
            if numbers not in (["3"], ["4"]):
                raise Malformed("this format is neither 3 nor 4")
            self.version = int(numbers[0])
        elif line.startswith("#EOT"):
            self.table = 0
        elif line.startswith("%%"):
            self.options.left_out["comments"] += 1
        elif _is_mark(line, "#EOS"):
            yield (self.first or (number,))[0], ValueError("expected #BOS before the lines of a sentence")
            self.first, self.lines = None, 0
        elif line.strip() and not self.table:
            self.first = self.first or (number, line)
            self.lines += 1

    def end(self) -> Iterator[Fault]:
        """Count what stood before a sentence or the end of the file; yield what is an error."""
        yield from self.table_ends()
        if self.first:
            number, line = self.first
            yield from self.options.outside(line, number)
            self.options.left_out[OUTSIDE] += self.lines - 1
            self.first, self.lines = None, 0

    def table_ends(self) -> Iterator[Fault]:
        """End a table that has no #EOT where something else begins."""
        if self.table and self.options.strict:
            yield self.table, ValueError("the header table that begins here has no #EOT")
        self.options.left_out[OUTSIDE] += self.table > 0
        self.table = 0


def _sentences(path: AnyPath, options: Options) -> Iterator[tuple[int, _Rows | ValueError]]:
    """Yield the rows of each sentence after the number of its first line, or what is wrong with the lines
    around it.

    Raises FormatError for versions other than 3 and 4.
    """
    outside, rows, number, place = _Outside(options), None, 0, 0
    try:
        for number, line in enumerate(lines_in_utf8_or_latin1(path, options.charset), 1):
            if _is_mark(line, "#BOS"):
                if rows is not None:
                    yield number, ValueError("expected #EOS before the next #BOS")
                yield from outside.end()
                place += 1
                rows = _Rows(number, outside.version, _comments(line, place), [])
            elif rows is None:
                yield from outside.take(number, line)
            elif _is_mark(line, "#EOS"):
                yield rows.line, rows
                rows = None
            elif text := line.strip(" \t\r\n"):
                bare = _COMMENT.sub("", text) if "%%" in text else text
                options.left_out["comments"] += bare != text
                blanks = _WIDE_BLANKS if text.startswith("%%") else _BLANKS
                rows.columns.append((number, blanks.split(bare)))
    except Malformed as error:
        raise FormatError(file_name(path), number, 0, str(error)) from None
    if rows is not None:
        yield rows.line, ValueError("#EOS is missing")
    yield from outside.end()


def _comments(line: str, place: int) -> tuple[str, ...]:
    """Return as comments what a line #BOS says of its sentence: the number, where that is not the sentence's
    place in the file and no comment is an id; the editor, date and origin; the comments."""
    head, *comments = _COMMENTS.split(line.strip())
    _, *numbers = _BLANKS.split(head)
    if numbers[1:]:
        comments.insert(0, _EDITED + " ".join(numbers[1:]))
    if numbers[:1] not in ([], [str(place)]) and not any(map(is_id, comments)):
        comments.insert(0, SENT_ID + numbers[0])
    return tuple(comments)


def _sentence(sentence: _Rows, options: Options) -> CTree:
    """Return the tree of a sentence."""
    graph = Graph()
    lines: dict[Name, int] = {}  # below #BOS
    for number, row in sentence.columns:
        line = number - sentence.line
        lemma_column = sentence.version == 4 if sentence.version else len(row) % 2 == 0
        width = 5 + lemma_column
        if len(row) < width or (len(row) - width) % 2 or not _NUMBER.fullmatch(row[width - 1]):
            if row[0].startswith("%%"):
                options.left_out["comments"] += 1
                continue
            raise Malformed(f"expected {width} columns, the last a node", line)
        form, tag, morph, function, parent = (row[0], *row[width - 4 : width])
        if form.startswith("%%"):
            raise Malformed(f"the word {form!r} begins a comment; write it otherwise", line)
        above = None if parent == "0" else parent
        name: Name
        if not _is_node(form):
            name = len(graph.words)
            graph.add_word((form, tag, row[1] if lemma_column else "--", morph), above, function)
        elif (name := form[1:]) in lines:
            raise Malformed(f"the node {form[:20]} comes twice", line)
        else:
            graph.add_node(tag, above, function, name)
        lines[name] = line
        for k in range(width, len(row), 2):
            graph.add_edge(name, row[k], None if row[k + 1] == "0" else row[k + 1])
    try:
        return graph.tree(options.marked, sentence.comments, options.beside)
    except GraphError as error:
        raise Malformed(str(error), lines[error.name]) from None


def _is_mark(line: str, mark: str) -> bool:
    """Return whether a line begins with a mark of four letters, and not with a longer word."""
    return line.startswith(mark) and line[4:5] in _AFTER_MARK


def _is_node(form: str) -> bool:
    """Return whether the form is that of a node: `#` and a number from FIRST_NODE on."""
    digits = form[1:].lstrip("0")
    return bool(_NODE.fullmatch(form)) and (len(digits), digits) >= (3, str(FIRST_NODE))


def format_export(ctree: CTree, number: int = 1) -> str:
    """Return a sentence, in version 4; edges are labelled as in `listed`.

    Raises ValueError for what the format takes for something else: words like `#BOS` and `#500`, columns that
    begin with `%%`, comments with `%%` after a blank; and for empty names and lone surrogates.
    """
    whole, parents, functions = listed(ctree)
    secondary: dict[int, list[str]] = {}
    for node, function, parent in whole.secondary:
        above = str(FIRST_NODE + parent - len(whole.tokens)) if parent < len(parents) else "0"
        secondary.setdefault(node, []).extend((function or NO_FUNCTION, above))
    tokens, n = whole.tokens, len(whole.tokens)
    comments = [" ".join(comment.split()) for comment in tokens.comments]
    if double := next((comment for comment in comments if " %%" in comment), ""):
        raise ValueError(f"{double!r}, which would be two comments, cannot be written in the export format")
    edited = next(filter(_NUMBERS.fullmatch, comments), _EDITED)
    begin = f"#BOS {number} {edited.removeprefix(_EDITED)}".rstrip()
    lines = [" %% ".join([begin, *(comment for comment in comments if comment != edited)])]
    for node, parent in enumerate(parents):
        if node < n:
            lemma, morph = (value_of(column, node, tokens) for column in (tokens.lemmas, tokens.morphs))
            form, tag = tokens.forms[node], tokens.tags[node]
            if form in ("#BOS", "#EOS") or _is_node(form):
                raise ValueError(f"the word {form!r} cannot be written in the export format")
        else:
            form, lemma, tag, morph = f"#{FIRST_NODE + node - n}", "--", whole.labels[node - n], "--"
        above = str(FIRST_NODE + parent - n) if parent >= 0 else "0"
        edge = functions[node] or NO_FUNCTION
        columns = (form, lemma, tag, morph, edge, above, *secondary.get(node, ()))
        for column in columns:
            if column.startswith("%%"):
                raise ValueError(
                    f"{column!r}, which begins a comment, cannot be written in the export format"
                )
        lines.append("\t".join(column.translate(_ESCAPES) for column in columns))
    return check_text("\n".join([*lines, f"#EOS {number}"]) + "\n")


read_export = item_reader(_sentences, _sentence)
write_export = Writer(format_export, "#FORMAT 4\n")
EXPORT = CFormat(
    "export",
    (".export", ".negra"),
    read_export,
    write_export,
    holds=(*OF_GRAPHS, "comments"),
)
