"""The Sinica treebank: `#3:id.[doc] VP(Head:VC2:看|goal:NP(Head:Nab:書))#。(PERIODCATEGORY)`; read only.

A node is `role:CATEGORY(child|child)`, a leaf `role:TAG:word` or `TAG:word`. Roles are functions; Head marks
head children, or, where no child is the Head, `head`, the role of what 的 or 得 stands with.
The id before the tree is the comment `sent_id`. The final punctuation, outside the tree, becomes the last
child of its root, tagged with its category.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from d2c.base.files import AnyPath, open_input
from d2c.trees.ctree import CTree
from d2c.trees.formats.format import CFormat, Options, item_reader
from d2c.trees.formats.graphs import SENT_ID, Graph

_NUMBER = re.compile("#[^ ]*+ ++")
_MARK = re.compile(r"([^#]*)\(([A-Z0-9]*CATEGORY)\)")
_FULL_WIDTH = re.compile("[｜（）]")
_HIDES = re.compile("[｜（）](?=.*:)")  # only a word may hold them, and nothing follows it
_TOKEN = re.compile(r"[()|]|[^()|]+")
_HEADS = ("Head", "head")
_LOOKS = re.compile(r"^#[0-9][^ \n]*:[^ \n]* +[^ ()\n]+\([^\n]*\)#", re.MULTILINE)


def _items(path: AnyPath, options: Options) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers."""
    with open_input(path, options.charset) as stream:
        lines = ((number, line.strip(" \t\r\n")) for number, line in enumerate(stream, 1))
        yield from (item for item in lines if item[1])


def _tree(text: str, options: Options) -> CTree:
    """Return the tree on a line; where no head child is marked, it is the leftmost that is no punctuation."""
    number = _NUMBER.match(text)
    body = text[number.end() :].rstrip(" ").removesuffix("#").rstrip(" ") if number else ""
    if number is None or not body:
        raise ValueError("expected `#number tree`")
    before, _, after = body.rpartition("#")
    mark = _MARK.fullmatch(after) if before else None
    graph = Graph()
    open_nodes: list[str | None] = [None]
    full_width = _FULL_WIDTH.search(body)
    tokens = _TOKEN.findall(before.rstrip(" ") if mark else body)
    for k, token in enumerate(tokens):
        if token == ")":
            if len(open_nodes) == 1:
                raise ValueError("a closing bracket too many")
            open_nodes.pop()
        elif token not in "(|":
            is_node = tokens[k + 1 : k + 2] == ["("]
            if full_width and (hides := _HIDES.search(f"{token}:" if is_node else token)):
                meant = "|()"["｜（）".index(hides[0])]
                raise ValueError(f"the full-width {hides[0]} in {token!r} hides words; write {meant}")
            role, *rest = token.split(":")
            function = role if len(rest) > 1 - is_node else ""
            if is_node:
                label = rest[0] if rest else role
                if not label:
                    raise ValueError(f"the node {token!r} has no label")
                if len(rest) > 1:
                    raise ValueError(f"the node {token!r} has more than a role and a label")
                open_nodes.append(graph.add_node(label, open_nodes[-1], function))
                continue
            if not rest:
                raise ValueError(f"the leaf {token!r} has no tag")
            if len(rest) > 2 and rest[0] in _HEADS:
                del rest[0]  # of two roles
            if len(rest) > 2:
                raise ValueError(f"the leaf {token!r} has more than a role, a tag and a word")
            tag, word = rest if len(rest) > 1 else (role, rest[0])
            if not tag or not word:
                raise ValueError(f"the leaf {token!r} has no {'word' if tag else 'tag'}")
            graph.add_word((word, tag), open_nodes[-1], function)
    if len(open_nodes) > 1:
        raise ValueError("a closing bracket is missing")
    if mark and mark[1].strip():
        tops = [name for name, parent in graph.parents.items() if parent is None]
        root = tops[0] if len(tops) == 1 and isinstance(tops[0], str) else None
        graph.add_word((mark[1].strip(), mark[2]), root)
    return graph.tree(options.marked, (SENT_ID + number[0].strip("# "),), options.beside)


read_sinica = item_reader(_items, _tree)
SINICA = CFormat(
    "sinica",
    (".sinica",),
    read_sinica,
    holds=("heads", "functions", "comments", "blanks"),
    named_as="brackets",
    looks_so=lambda start: _LOOKS.search(start) is not None,
)
