"""disco-dop's discbracket, trees with gaps in brackets: `(S (VP (VB 0=is) (JJ 2=rich)) (NP (NN 1=Mary)))`.

A leaf is the token's index from 0, `=`, the word. Otherwise as `d2c.trees.formats.brackets`, escapes too; but
labels and tags such as `$(` come back, only -LRB- and -RRB- themselves stay.
"""

from __future__ import annotations

import re

from d2c.trees.cleaning import unescape, unwrap
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.formats.brackets import bracket_items, escape
from d2c.trees.formats.checks import check_names, check_text, whole_number
from d2c.trees.formats.format import CFormat, Options, Writer, item_reader
from d2c.trees.traces import resolve_traces

NO_TAG = "_"  # of a leaf that shares its node with others

_TOKEN = re.compile(r"[()]|[^ \t\r\n()]+")
_LAST_WORD = re.compile(r"[ \t\r\n]([^ \t\r\n()]+)[ \t\r\n]*\)")  # of its node
_LEAF = re.compile(r"([0-9]+)=(.*)", re.DOTALL)


def format_discbracket(ctree: CTree) -> str:
    """Return a tree on one line. Raises ValueError for empty names and half characters."""
    check_names(ctree)
    n, forms = len(ctree.tokens), ctree.tokens.forms
    texts: list[str] = []
    stack: list[int | None] = [ctree.root]  # None: a node ends
    while stack:
        node = stack.pop()
        if node is None:
            texts.append(")")
        elif node < n:
            texts.append(f" ({escape(ctree.tokens.tags[node])} {node}={escape(forms[node])})")
        else:
            texts.append(f" ({escape(ctree.labels[node - n])}")
            stack.append(None)
            stack += reversed(ctree.children[node - n])
    text = "".join(texts)[1:]
    return check_text(text if ctree.top is None else f"({ctree.top} {text})")


write_discbracket = Writer[CTree](lambda ctree, _: format_discbracket(ctree) + "\n")


def is_discbracket(text: str) -> bool:
    """Return whether brackets are discbracket: each word begins with a number and `=`."""
    words = _LAST_WORD.findall(text)
    return bool(words) and all(map(_LEAF.fullmatch, words))


def _label(text: str) -> str:
    return text if text in ("-LRB-", "-RRB-") else unescape(text)


def parse_discbracket(text: str) -> CTree:
    """Return the tree of a text. Raises ValueError."""
    forms: dict[int, str] = {}  # of each index
    tags: dict[int, str] = {}  # of those that have a node of their own
    labels: list[str] = []
    children: list[list[int]] = []  # until the tree is complete, the k-th proper node is called -1 - k
    open_nodes: list[tuple[str, list[int]]] = []
    root: int | None = None
    tokens = iter(_TOKEN.findall(text))
    for token in tokens:
        if root is not None:
            raise ValueError(f"{token!r} stands behind the tree")
        if token == "(":
            label = next(tokens, ")")
            if label == "(":
                if open_nodes:
                    raise ValueError("a node inside a tree has no label")
                open_nodes.append(("", []))
                label = next(tokens, ")")
            if label in "()":
                raise ValueError("a bracket is followed by no label")
            open_nodes.append((label, []))
        elif token == ")":
            if not open_nodes:
                raise ValueError("a closing bracket too many")
            label, kids = open_nodes.pop()
            if not kids:
                raise ValueError(f"the node {label!r} is empty")
            if len(kids) == 1 and kids[0] >= 0 and kids[0] not in tags:
                node = kids[0]
                tags[node] = _label(label)
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
                raise ValueError(f"expected a leaf like 0=word, found {token[:20]!r}")
            index = whole_number(leaf[1])
            if index in forms:
                raise ValueError(f"the token {index} comes twice")
            if not leaf[2]:
                raise ValueError(f"the token {index} has no word")
            forms[index] = unescape(leaf[2])
            open_nodes[-1][1].append(index)
    if root is None:
        raise ValueError("a closing bracket is missing in this tree")
    n = len(forms)
    for i in range(n):
        if i not in forms:
            raise ValueError(f"the token {i} is missing")
    sentence = Tokens(tuple([forms[i] for i in range(n)]), tuple([tags.get(i, NO_TAG) for i in range(n)]))
    ids = [[kid if kid >= 0 else n - 1 - kid for kid in kids] for kids in children]
    return unwrap(build_ctree(sentence, labels, ids, root if root >= 0 else n - 1 - root), False)


def _tree(text: str, options: Options) -> CTree | None:
    ctree = parse_discbracket(text)
    return resolve_traces(ctree) if options.traces else ctree


read_discbracket = item_reader(bracket_items, _tree)
DISCBRACKET = CFormat(
    "discbracket",
    (".discbracket", ".dbr"),
    read_discbracket,
    write_discbracket,
    holds=("gaps", "brackets"),
    named_as="brackets",
    looks_so=is_discbracket,
)
