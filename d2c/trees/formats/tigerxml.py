"""TIGER XML: sentences `s`, each a `graph` of terminals `t` and nonterminals `nt` with `edge`s to children.

Attributes of `s` are comments, `text="A b"` is `text = A b`; its id is `sent_id`. What no edge leads to hangs
from the virtual root; `graph/@root` alone would lose such tokens. A secondary edge, `secedge`, stands in the
child, and names the second parent. The function of a root, to which no edge leads, is its feature `function`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from xml.etree.ElementTree import Element

from d2c.trees.ctree import CTree
from d2c.trees.formats.format import OF_GRAPHS, CFormat, Options, Writer
from d2c.trees.formats.graphs import NO_FUNCTION, SENT_ID, VIRTUAL_ROOT, Graph, Name, is_id, listed, value_of
from d2c.trees.formats.xml import attributes, element_reader, named

FIRST_NODE = 500
_WITHOUT_TEXT = frozenset(
    ["corpus", "subcorpus", "body", "s", "graph", "terminals", "t", "nonterminals", "nt", "edge", "secedge"]
)
_STARTS = re.compile("<(?:corpus|subcorpus|s|graph|body)[ >]")
_NAMED = re.compile(r"(?!xml)([A-Za-z_][\w.-]*) = (.*)", re.ASCII | re.DOTALL)
_OF_XML = re.compile("xml|[^:]+:")
_FREE = re.compile(r"comment\.[0-9]+")
_SENT_ID = re.compile(r"sent_id = ([A-Za-z_][\w.-]*)", re.ASCII)


def _tree(element: Element, options: Options) -> CTree | None:
    """Return the tree of a graph; None where it has no words."""
    graph = Graph()
    terminals, nodes = list(element.iter("t")), list(element.iter("nt"))
    if not terminals:
        return None
    ids = [one.attrib["id"] for one in (*terminals, *nodes)]
    above: dict[str, tuple[str, str] | None] = dict.fromkeys(ids)  # parent and edge label
    if len(above) < len(ids):
        raise ValueError(f"the id {Counter(ids).most_common(1)[0][0]!r} comes twice")
    for nt in nodes:
        for edge in nt.iter("edge"):
            child = edge.attrib["idref"]
            if child not in above:
                raise ValueError(f"an edge leads to {child!r}, which does not exist")
            if above[child]:
                raise ValueError(f"two edges lead to {child!r}")
            above[child] = nt.attrib["id"], edge.get("label", "")
    for t in terminals:
        parent, function = above[t.attrib["id"]] or (None, t.get("function", ""))
        columns = named(t, "word"), t.get("pos") or "--", t.get("lemma") or "--", t.get("morph") or "--"
        graph.add_word(columns, parent, function)
    for nt in nodes:
        parent, function = above[nt.attrib["id"]] or (None, nt.get("function", ""))
        graph.add_node(named(nt, "cat"), parent, function, nt.attrib["id"])
    if next(element.iter("secedge"), None) is not None:
        names: list[Name] = [*range(len(terminals)), *ids[len(terminals) :]]
        for name, node in zip(names, (*terminals, *nodes), strict=True):
            for edge in node.findall("secedge"):
                graph.add_edge(name, edge.get("label", ""), edge.attrib["idref"])
    comments = [_comment(*item) for item in element.items() if not _OF_XML.match(item[0])]
    if "id" in element.attrib and sum(map(is_id, comments)) > 1:  # the other one is no id in XML
        comments.remove(f"{SENT_ID}{element.get('id')}")
    return graph.tree(options.marked, tuple(comments), options.beside)


def _comment(name: str, value: str) -> str:
    """Return an attribute of `s` as a comment, as `_attributes` wrote it."""
    return value if _FREE.fullmatch(name) else f"{'sent_id' if name == 'id' else name} = {value}"


def _attributes(comments: Iterable[str]) -> dict[str, str]:
    """Return comments as attributes; those that are no `name = value`, or come twice, get the names
    `comment.1` and so on."""
    found: dict[str, str] = {}
    for comment in comments:
        match = _NAMED.fullmatch(comment)
        name = "id" if match and _SENT_ID.fullmatch(comment) else match[1] if match else ""
        if not match or name in found or (name == "id") != (match[1] == "sent_id") or _FREE.fullmatch(name):
            name, value = f"comment.{len(found) + 1}", comment
        else:
            value = match[2]
        found[name] = value
    return found


def format_tigerxml(ctree: CTree, number: int = 1) -> str:
    """Return one `s` element; edges are labelled as in `listed`.

    Raises ValueError for empty names and for characters that XML cannot hold.
    """
    whole, parents, functions = listed(ctree)
    n, tokens = len(whole.tokens), whole.tokens
    sentence = _attributes(tokens.comments)
    if "id" not in sentence:
        sentence = {"id": f"s{number}"} | sentence
    first, name = max(FIRST_NODE, n + 1), sentence["id"]
    names = [f"{name}_{i + 1 if i < n else first + i - n}" for i in range(n + len(whole.labels))]
    if len(parents) < len(names):
        names[-1], parents = f"{name}_{VIRTUAL_ROOT}", [*parents, -1]
    root = whole.root
    of_root = {root: {"function": functions[root]}} if len(functions) > root and functions[root] else {}
    secondary: dict[int, list[str]] = {}
    for node, function, parent in whole.secondary:
        secondary.setdefault(node, []).append(_edge("secedge", function, names[parent]))
    lines = [f'<s {attributes(sentence)}>\n<graph root="{names[-1]}">\n<terminals>\n']
    for i in range(n):
        columns = {"id": names[i], "word": tokens.forms[i], "pos": tokens.tags[i]}
        columns |= {"lemma": value_of(tokens.lemmas, i, tokens), "morph": value_of(tokens.morphs, i, tokens)}
        edges = secondary.get(i, [])
        columns |= of_root.get(i, {})
        lines += [f"<t {attributes(columns)}{'' if edges else '/'}>\n", *edges, "</t>\n" if edges else ""]
    lines.append("</terminals>\n<nonterminals>\n")
    for node, (category, kids) in enumerate(zip(whole.labels, whole.children, strict=True), n):
        columns = {"id": names[node], "cat": category} | of_root.get(node, {})
        lines.append(f"<nt {attributes(columns)}>\n")
        lines += [_edge("edge", functions[kid], names[kid]) for kid in kids]
        lines += [*secondary.get(node, ()), "</nt>\n"]
    return "".join([*lines, "</nonterminals>\n</graph>\n</s>\n"])


def _edge(tag: str, function: str, name: str) -> str:
    return f"<{tag} {attributes({'label': function or NO_FUNCTION, 'idref': name})}/>\n"


write_tigerxml = Writer(
    format_tigerxml,
    '<?xml version="1.0" encoding="UTF-8"?>\n<corpus id="corpus">\n<body>\n',
    "</body>\n</corpus>\n",
)
read_tigerxml = element_reader("s", _tree, _WITHOUT_TEXT)
TIGERXML = CFormat(
    "tigerxml",
    (".tiger.xml", ".tigerxml", ".xml"),
    read_tigerxml,
    write_tigerxml,
    holds=(*OF_GRAPHS, "comments", "blanks"),
    named_as="alpinoxml",
    looks_so=lambda start: _STARTS.search(start) is not None,
)
