"""disco-dop's discbracket, trees with gaps in brackets: `(S (VP (VB 0=is) (JJ 2=rich)) (NP (NN 1=Mary)))`.

A leaf is the token's index from 0, `=`, the word. Otherwise as `d2c.trees.formats.brackets`, escapes too; but
labels and tags such as `$(` come back, only -LRB- and -RRB- themselves stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from d2c.trees.cleaning import unescape, unwrap
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.errors import Refuse, stop
from d2c.trees.files import AnyPath, file_name
from d2c.trees.formats.brackets import balanced, escape, read_bracket_chunks
from d2c.trees.formats.chunks import Chunk, Malformed, Write, parse_chunks, parse_each, writer

NO_TAG = "_"  # of a leaf that shares its node with others

_TOKEN = re.compile(r"[()]|[^ \t\r\n()]+")
_LEAF = re.compile(r"([0-9]+)=(.*)", re.DOTALL)


def read_discbracket(path: AnyPath, refuse: Refuse = stop) -> Iterator[CTree]:
    """The trees of a file, one at a time. Raises FormatError."""
    return parse_chunks(read_bracket_chunks(path), parse_discbracket, file_name(path), refuse)


def parse_discbracket(chunk: Chunk, file: str, refuse: Refuse = stop) -> Iterator[CTree]:
    """The trees of a chunk, sentences counted from 1. Raises FormatError."""
    return parse_each(balanced(chunk), _parse, file, refuse)


def format_discbracket(ctree: CTree) -> str:
    """A tree on one line."""
    n, forms = len(ctree.tokens), ctree.tokens.forms
    pieces: list[str] = []
    stack: list[int | None] = [ctree.root]  # None: a node ends
    while stack:
        node = stack.pop()
        if node is None:
            pieces[-1] += ")"
        elif node < n:
            pieces.append(f"({escape(ctree.tokens.tags[node])} {node}={escape(forms[node])})")
        else:
            pieces.append(f"({escape(ctree.labels[node - n])}")
            stack.append(None)
            stack += reversed(ctree.children[node - n])
    text = " ".join(pieces)
    return text if ctree.top is None else f"({ctree.top} {text})"


write_discbracket: Write[CTree] = writer(lambda ctree, _: format_discbracket(ctree) + "\n")


def _label(text: str) -> str:
    return text if text in ("-LRB-", "-RRB-") else unescape(text)


def _parse(text: str) -> CTree:
    """One tree; until it is complete, the k-th proper node is called -1 - k."""
    words: dict[int, tuple[str, str]] = {}  # form and tag of each index
    labels: list[str] = []
    children: list[list[int]] = []
    open_nodes: list[tuple[str, list[int]]] = []
    root: int | None = None
    tokens = iter(_TOKEN.findall(text))
    for token in tokens:
        if root is not None:
            raise Malformed(f"{token!r} stands behind the tree")
        if token == "(":
            label = next(tokens, ")")
            if label == ")":
                raise Malformed("a bracket is followed by no label")
            if label == "(":
                open_nodes.append(("", []))
                label = next(tokens, ")")
            open_nodes.append((label, []))
        elif token == ")":
            if not open_nodes:
                raise Malformed("a closing bracket too many")
            label, kids = open_nodes.pop()
            if not kids:
                raise Malformed(f"the node {label!r} is empty")
            if len(kids) == 1 and kids[0] >= 0 and words[kids[0]][1] == NO_TAG:
                words[kids[0]] = words[kids[0]][0], _label(label)
                node = kids[0]
            else:
                labels.append(_label(label))
                children.append(kids)
                node = -len(labels)
            if open_nodes:
                open_nodes[-1][1].append(node)
            else:
                root = node
        else:
            leaf = _LEAF.fullmatch(token)
            if not leaf or not open_nodes:
                raise Malformed(f"expected a leaf like 0=word, found {token[:20]!r}")
            index = int(leaf[1])
            if index in words:
                raise Malformed(f"the token {index} comes twice")
            words[index] = unescape(leaf[2]), NO_TAG
            open_nodes[-1][1].append(index)
    if root is None:
        raise Malformed("a closing bracket is missing in this tree")
    n = len(words)
    if max(words) != n - 1:
        missing = min(set(range(max(words))) - set(words))
        raise Malformed(f"the token {missing} is missing")
    sentence = Tokens(*(tuple(column) for column in zip(*(words[i] for i in range(n)), strict=True)))
    ids = [[kid if kid >= 0 else n - 1 - kid for kid in kids] for kids in children]
    return unwrap(build_ctree(sentence, labels, ids, root if root >= 0 else n - 1 - root), False)
