"""Floresta sinta(c)tica in its bracket dialect, in Latin-1 or UTF-8; read only.

    #44 CP8-1 A história começa.
    (STA+fcl (SUBJ+np (>N+art A) (H+n história)) (P+v-fin começa) (.))

A label is FUNCTION+form, on tokens too, whose form is the tag. Punctuation has a label and no word: `(,)`;
brackets are `({)` and `(})`. A constituent with gaps stands in pieces with a hyphen where it goes on, `P-+vp`
or `P+vp-`, then `-P+vp`: pieces of one function and form become one node. The treebank's own slips are taken
as they are meant: what is not closed ends with the item, several trees get a root, a word beside nodes is a
token tagged with their parent's form, words side by side are one token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from d2c.base.errors import FormatError
from d2c.base.files import AnyPath, file_name, lines_in_utf8_or_latin1
from d2c.trees.ctree import CTree
from d2c.trees.formats.format import CFormat, Malformed, Options, item_reader
from d2c.trees.formats.graphs import Graph

_ITEM = re.compile(r"#[0-9]+ ")
_LOOKS = re.compile(r"^#[0-9]+ [^\n]*\n\([^ ()+\n]+\+[^ ()\n]+[ \r\n]*\(", re.MULTILINE)
# A line break other than a line feed, which ends no line here, and a tree after it; U+0085 is an ellipsis in
# Windows-1252.
_HIDDEN = re.compile(r"([\v\f\x1c-\x1e\u2028\u2029])[ \t]*\(|(\x85)\(")
_TOKEN = re.compile(r"[()]|[^ \t\r\n()]+")
_BRACKETS = {"{": ("(", "-LRB-"), "}": (")", "-RRB-")}  # word and tag


def _items(path: AnyPath, options: Options) -> Iterator[tuple[int, str | Malformed]]:
    """Yield the text below each item's first line, after the number of the line where that text begins.

    The first line, with an id and the sentence as it was written, is left out and counted.
    """
    start, lines, fault = 0, list[str](), None
    for number, line in enumerate(lines_in_utf8_or_latin1(path, options.charset), 1):
        if _ITEM.match(line):
            if start:
                yield start, fault or "".join(lines)
            options.left_out["ids and texts"] += 1
            start, lines = number + 1, []
            hidden = _HIDDEN.search(line)
            fault = _hidden_tree(hidden[1] or hidden[2]) if hidden else None
        elif start:
            lines.append(line)
        elif line.strip():
            raise FormatError(file_name(path), number, 0, "expected an item, #NUMBER and its text")
    if start:
        yield start, fault or "".join(lines)


def _hidden_tree(mark: str) -> Malformed:
    return Malformed(
        f"the line break U+{ord(mark):04X} hides a tree in the first line of an item; write a line feed", -1
    )


def _split(label: str) -> tuple[str, str]:
    """Return function and form, before and after the last +, as in `N</N<[+2]+pp`; without any + all is the
    function."""
    function, plus, form = label.rpartition("+")
    return (function, form) if plus else (label, "")


def _tree(text: str, options: Options) -> CTree | None:
    """Return the tree of an item, None where there is no token. Raises ValueError."""
    graph, tokens = Graph(), _TOKEN.findall(text)
    open_nodes: list[str] = []
    unfinished: dict[tuple[str, str], str] = {}  # function and form → the node that goes on
    begin = 0
    while begin < len(tokens):
        token = tokens[begin]
        begin += 1
        if token == ")":
            del open_nodes[-1:]
        elif token != "(":
            _add_words(graph, [token], open_nodes)
        else:
            end = begin
            while end < len(tokens) and tokens[end] not in "()":
                end += 1
            label, *words = tokens[begin:end] or [""]
            leaf = end == len(tokens) or tokens[end] == ")"
            begin = end + leaf
            if leaf:
                _add_leaf(graph, label, words, open_nodes[-1] if open_nodes else None)
            else:
                open_nodes.append(_add_node(graph, label, open_nodes[-1] if open_nodes else None, unfinished))
                _add_words(graph, words, open_nodes)
    return graph.tree(options.marked, left_out=options.beside) if graph.words else None


def _add_words(graph: Graph, words: list[str], open_nodes: list[str]) -> None:
    """Add tokens tagged with their parent's form."""
    above = open_nodes[-1] if open_nodes else None
    for word in words:
        graph.add_word((word, graph.labels[above] if above else "?"), above)


def _add_leaf(graph: Graph, label: str, words: list[str], above: str | None) -> None:
    function, form = _split(label)
    if words:
        graph.add_word(("_".join(words), form.rstrip("-") or function or "?"), above, function)
    elif label:
        graph.add_word(_BRACKETS.get(label, (label, label)), above)


def _add_node(graph: Graph, label: str, above: str | None, unfinished: dict[tuple[str, str], str]) -> str:
    """Return the name of a new node, or of the unfinished node that this piece continues."""
    function, form = _split(label)
    goes_on = function.endswith("-") or form.endswith("-")
    form = form.rstrip("-")
    key = function.strip("-"), form
    name = unfinished.pop(key, None) if function.startswith("-") else None
    if name is None:
        name = graph.add_node(form or function or "?", above, key[0])
    if goes_on:
        unfinished[key] = name
    return name


read_floresta = item_reader(_items, _tree)
FLORESTA = CFormat(
    "floresta",
    (".floresta",),
    read_floresta,
    holds=("gaps", "heads", "functions", "escapes"),
    named_as="brackets",
    looks_so=lambda start: _LOOKS.search(start) is not None,
)
