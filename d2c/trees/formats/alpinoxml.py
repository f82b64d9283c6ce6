"""Alpino XML: a file of `alpino_ds` elements, each a graph of `node` elements.

A node with `word` is a token at the position `begin`; a node with `cat` is a constituent; one with neither is
no leaf but a secondary edge, from the node with its `index`. The ends of constituents cover such edges, too,
and are not used. Tags are `pt`, or `pos` in files of older versions, lemmas `lemma`, or `root`; morphology
is `postag`, functions are `rel`. The id of `alpino_ds` is the comment `sent_id`. Other attributes, and
elements such as `sentence`, are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from d2c.base.counting import many
from d2c.trees.ctree import CTree, Edge, comment_of
from d2c.trees.formats.format import OF_GRAPHS, CFormat, Options, Writer, whole_number
from d2c.trees.formats.graphs import NO_FUNCTION, SENT_ID, Graph, Name, listed, value_of
from d2c.trees.formats.xml import attributes, element_reader, named

HEAD_RELATION = "hd"
_READ = frozenset(["begin", "cat", "end", "id", "index", "lemma", "postag", "pt", "rel", "word"])
_OLDER = (("pt", "pos"), ("lemma", "root"))  # an attribute, and the one that is read where it is missing


def _tree(element: Element, options: Options) -> CTree:
    """Return the tree of a graph."""
    graph, left_out = Graph(), options.left_out
    for child in element:
        left_out[f"<{child.tag}> elements"] += child.tag != "node"
    words: dict[int, tuple[Element, str | None]] = {}  # with their parents
    named_by, references = dict[str, Name](), list[tuple[str, str, str | None]]()  # by index
    stack: list[tuple[Element, str | None]] = [(node, None) for node in element.findall("node")]
    while stack:
        node, parent = stack.pop()
        instead = (older for newer, older in _OLDER if not node.get(newer))
        left_out["other attributes"] += len(node.attrib.keys() - _READ - {*instead})
        if "word" in node.attrib:
            begin = whole_number(node.attrib["begin"])
            if begin in words:
                raise ValueError(f"two words begin at {begin}")
            words[begin] = node, parent
            name: Name = begin
        elif "cat" in node.attrib:
            name = constituent = graph.add_node(named(node, "cat"), parent, node.get("rel", ""))
            stack += [(child, constituent) for child in node.findall("node")]
        else:
            references.append((node.get("index", ""), node.get("rel", ""), parent))
            continue
        if index := node.get("index"):
            named_by[index] = name
    n = len(words)
    if sorted(words) != list(range(n)):
        raise ValueError(f"`begin` does not number its {many(n, 'word')} from 0 to {n - 1}")
    for begin in range(n):
        node, parent = words[begin]
        tag, lemma = node.get("pt") or node.get("pos") or "--", node.get("lemma") or node.get("root") or "--"
        columns = named(node, "word"), tag, lemma, node.get("postag") or "--"
        graph.add_word(columns, parent, node.get("rel", ""))
    for index, relation, parent in reversed(references):
        graph.add_edge(named_by.get(index, ""), relation, parent)
    comments = (SENT_ID + element.attrib["id"],) if "id" in element.attrib else ()
    return graph.tree(options.marked, comments, options.beside)


def format_alpinoxml(ctree: CTree, number: int = 1) -> str:
    """Return one `alpino_ds` element; relations are the functions of `listed`.

    Raises ValueError for empty names and for characters that XML cannot hold.
    """
    whole, parents, functions = listed(ctree, HEAD_RELATION)
    n = len(whole.tokens)
    begin, end = list(range(n)), list(range(1, n + 1))
    for kids in whole.children:
        begin.append(begin[kids[0]])
        end.append(max([end[kid] for kid in kids]))
    index = {node: str(k) for k, node in enumerate(dict.fromkeys([edge[0] for edge in whole.secondary]), 1)}
    below: dict[int, list[Edge]] = {}
    for edge in whole.secondary:
        below.setdefault(edge[2], []).append(edge)
    name = comment_of(whole.tokens.comments, "sent_id") or str(number)
    lines = [f"<alpino_ds {attributes({'id': name, 'version': '1.3'})}>\n"]
    stack: list[int | None] = [node for node, parent in enumerate(parents) if parent < 0]
    stack.reverse()

    def references(parent: int) -> Iterator[str]:
        for child, function, _ in below.get(parent, ()):
            span = {"begin": str(begin[child]), "end": str(end[child])}
            values = {"rel": function or NO_FUNCTION, "index": index[child]} | span
            yield f"<node {attributes(values)}/>\n"

    if len(parents) <= whole.root:  # a root VROOT is no node
        lines += references(whole.root)
    while stack:
        node = stack.pop()
        if node is None:
            lines.append("</node>\n")
            continue
        values = {"begin": str(begin[node]), "end": str(end[node]), "rel": functions[node] or NO_FUNCTION}
        if node in index:
            values["index"] = index[node]
        if node >= n:
            lines.append(f"<node {attributes(values | {'cat': whole.labels[node - n]})}>\n")
            lines += references(node)
            stack.append(None)
            stack += reversed(whole.children[node - n])
            continue
        tokens = whole.tokens
        values |= {"word": tokens.forms[node], "pt": tokens.tags[node]}
        if tokens.lemmas:
            values["lemma"] = value_of(tokens.lemmas, node, tokens)
        if tokens.morphs:
            values["postag"] = value_of(tokens.morphs, node, tokens)
        lines.append(f"<node {attributes(values)}/>\n")
    return "".join([*lines, "</alpino_ds>\n"])


write_alpinoxml = Writer(
    format_alpinoxml, '<?xml version="1.0" encoding="UTF-8"?>\n<alpino>\n', "</alpino>\n"
)
read_alpinoxml = element_reader("alpino_ds", _tree, frozenset(["alpino", "treebank", "alpino_ds", "node"]))
ALPINOXML = CFormat(
    "alpinoxml",
    (".alpino.xml",),
    read_alpinoxml,
    write_alpinoxml,
    holds=(*OF_GRAPHS, "blanks"),
    named_as="tigerxml",
    looks_so=lambda start: "<alpino" in start,
)
