"""NEGRA's export format, versions 3 and 4: `#BOS` ... `#EOS`, a line for each token and node #500, #501, ...

A line is form (or node), lemma in version 4 only, tag, morphology, edge label, parent (0: the virtual root),
then secondary edges, label and node in turn; a comment may follow after `%%`. Those on the line #BOS are the
sentence's, others are left out and counted.
Header tables `#BOT` ... `#EOT` are skipped. `#FORMAT` says the version, otherwise the number of columns. No
file says its encoding: NEGRA and TIGER are in Latin-1, newer treebanks in UTF-8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from d2c.base.errors import FormatError
from d2c.base.files import AnyPath, file_name, lines_in_utf8_or_latin1
from d2c.trees.ctree import CTree
from d2c.trees.formats.format import OF_GRAPHS, CFormat, Malformed, Options, Writer, check_text, item_reader
from d2c.trees.formats.graphs import NO_FUNCTION, Graph, GraphError, Name, listed

FIRST_NODE = 500

_BLANKS = re.compile(r"[ \t]+")
_COMMENT = re.compile(r"(?<=[^ \t])[ \t]++%%.*", re.DOTALL)
_WIDE_BLANKS = re.compile(r"\t+| {2,}")  # between columns, not between the words of a comment
_COMMENTS = re.compile(r"[ \t]+%%[ \t]*")
_NODE, _NUMBER = re.compile("#[0-9]+"), re.compile("[0-9]+")
_AFTER_MARK = ("", *" \t\r\n")
_ESCAPES = str.maketrans(dict.fromkeys(" \t\r\n", "\N{NO-BREAK SPACE}"))


class _Rows(NamedTuple):
    """A sentence: its #BOS line's number; the version where it is known; its comments; each line's number and
    columns."""

    line: int
    version: int | None
    comments: tuple[str, ...]
    columns: list[tuple[int, list[str]]]


def _sentences(path: AnyPath, _options: Options) -> Iterator[tuple[int, _Rows | ValueError]]:
    """Yield the rows of each sentence after the number of its first line, or what is wrong with the lines
    around it.

    Raises FormatError for other versions.
    """
    version, in_table, fault = None, False, ""
    rows: _Rows | None = None
    for number, line in enumerate(lines_in_utf8_or_latin1(path), 1):
        begins = _is_mark(line, "#BOS") and not in_table
        if rows is None and not begins:
            in_table = line.startswith("#BOT") or (in_table and not line.startswith("#EOT"))
            if line.startswith("#FORMAT"):
                numbers = line.split()[1:2]
                if numbers not in (["3"], ["4"]):
                    raise FormatError(file_name(path), number, 0, "this format is neither 3 nor 4")
                version = int(numbers[0])
                continue
            if not line.strip() or in_table or line.startswith(("%%", "#EOT")):
                continue
            rows, fault = _Rows(number, version, (), []), "expected #BOS before the lines of a sentence"
        if begins:
            if rows is not None:
                yield number, ValueError(fault or "expected #EOS before the next #BOS")
            rows, fault = _Rows(number, version, tuple(_COMMENTS.split(line.strip())[1:]), []), ""
        elif rows is not None and _is_mark(line, "#EOS"):
            yield rows.line, ValueError(fault) if fault else rows
            rows = None
        elif rows is not None and not fault and (text := line.strip(" \t\r\n")):
            blanks = _WIDE_BLANKS if text.startswith("%%") else _BLANKS
            rows.columns.append((number, blanks.split(_COMMENT.sub("", text))))
    if rows is not None:
        yield rows.line, ValueError(fault or "#EOS is missing")


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
    """Return whether a line that begins so is a node's: `#` and a number from FIRST_NODE on."""
    digits = form[1:].lstrip("0")
    return bool(_NODE.fullmatch(form)) and (len(digits), digits) >= (3, str(FIRST_NODE))


def format_export(ctree: CTree, number: int = 1) -> str:
    """Return a sentence, in version 4; edges are labelled as `listed` does.

    Raises ValueError for what the format takes for something else: words like `#BOS` and `#500`, columns that
    begin with `%%`; for empty names and half characters.
    """
    whole, parents, functions = listed(ctree)
    secondary: dict[int, list[str]] = {}
    for node, function, parent in whole.secondary:
        above = str(FIRST_NODE + parent - len(whole.tokens)) if parent < len(parents) else "0"
        secondary.setdefault(node, []).extend((function or NO_FUNCTION, above))
    tokens, n = whole.tokens, len(whole.tokens)
    comments = [" ".join(comment.split()) for comment in tokens.comments]
    lines = [" %% ".join([f"#BOS {number}", *comments])]
    for node, parent in enumerate(parents):
        if node < n:
            lemma, morph = (
                (column[node] if column else "") or "--" for column in (tokens.lemmas, tokens.morphs)
            )
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
