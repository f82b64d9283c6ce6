"""Floresta sinta(c)tica in its bracket dialect, in Latin-1 or UTF-8; read only.

    #44 CP8-1 A história começa.
    (STA+fcl (SUBJ+np (>N+art A) (H+n história)) (P+v-fin começa) (.))

A label is FUNCTION+form, on tokens too, whose form is the tag. A mark has a label and no word: `(,)`;
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
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats.chunks import Malformed, item_reader
from d2c.trees.graphs import Name, tree_of

_ITEM = re.compile(r"#[0-9]+ ")
# A line break that ends no line, and a tree behind it; U+0085 is an ellipsis in Windows-1252.
_HIDDEN = re.compile(r"([\v\f\x1c-\x1e\u2028\u2029])[ \t]*\(|(\x85)\(")
_TOKEN = re.compile(r"[()]|[^ \t\r\n()]+")
_BRACKETS = {"{": ("(", "-LRB-"), "}": (")", "-RRB-")}  # word and tag
_RANKS = {"H": 0, "P": 1, "MV": 1}  # functions of head children; of the main verb where nothing is marked H
_OTHER, _MARK = 2, 3


def _items(path: AnyPath) -> Iterator[tuple[int, str | Malformed]]:
    """Yield the text below each item's first line, after the number of its own first line."""
    start, lines, fault = 0, list[str](), None
    for number, line in enumerate(lines_in_utf8_or_latin1(path), 1):
        if _ITEM.match(line):
            if start:
                yield start, fault or "".join(lines)
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
    """Return function and form; functions may hold a + of their own. A label without one is a function."""
    parts = label.split("+")
    return parts[0], parts[-1] if len(parts) > 1 else ""


class _Item:
    """The nodes of one tree as they are read."""

    def __init__(self) -> None:
        self.words: list[tuple[str, str]] = []
        self.labels: dict[str, str] = {}
        self.parents: dict[Name, str | None] = {}
        self.ranks: dict[Name, int] = {}
        self.unfinished: dict[tuple[str, str], str] = {}  # function and form → the node that goes on

    def parse(self, text: str, marked: bool) -> CTree | None:
        """Return the tree; None where there is no token. Raises ValueError."""
        tokens = _TOKEN.findall(text)
        open_nodes: list[str] = []
        begin = 0
        while begin < len(tokens):
            token = tokens[begin]
            begin += 1
            above = open_nodes[-1] if open_nodes else None
            if token == ")":
                if open_nodes:
                    open_nodes.pop()
            elif token != "(":
                self._add_token(token, self.labels[above] if above else "", above, _OTHER)
            else:
                end = begin
                while end < len(tokens) and tokens[end] not in "()":
                    end += 1
                label, *words = tokens[begin:end] or [""]
                leaf = end == len(tokens) or tokens[end] == ")"
                begin = end + leaf
                if leaf:
                    self._add_leaf(label, words, above)
                else:
                    open_nodes.append(self._add_node(label, above))
                    for word in words:
                        self._add_token(word, self.labels[open_nodes[-1]], open_nodes[-1], _OTHER)
        if not self.words:
            return None
        forms, tags = zip(*self.words, strict=True)
        return tree_of(Tokens(forms, tags), self.labels, self.parents, self.ranks if marked else None)

    def _add_leaf(self, label: str, words: list[str], above: str | None) -> None:
        function, form = _split(label)
        if words:
            self._add_token("_".join(words), form or function, above, _RANKS.get(function, _OTHER))
        elif label:
            self._add_token(*_BRACKETS.get(label, (label, label)), above, _MARK)

    def _add_token(self, form: str, tag: str, above: str | None, rank: int) -> None:
        name = len(self.words)
        self.words.append((form, tag or "?"))
        self.parents[name], self.ranks[name] = above, rank

    def _add_node(self, label: str, above: str | None) -> str:
        """Return a new node, or the one whose next piece this is."""
        function, form = _split(label)
        goes_on = function.endswith("-") or form.endswith("-")
        form = form.rstrip("-")
        key = function.strip("-"), form
        name = self.unfinished.pop(key, None) if function.startswith("-") else None
        if name is None:
            name = str(len(self.labels))
            self.labels[name] = form or function or "?"
            self.parents[name], self.ranks[name] = above, _RANKS.get(key[0], _OTHER)
        if goes_on:
            self.unfinished[key] = name
        return name


def _tree(text: str, marked: bool = False) -> CTree | None:
    return _Item().parse(text, marked)


read_floresta = item_reader(_items, _tree)
