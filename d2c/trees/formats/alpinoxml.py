"""Alpino XML: a file of `alpino_ds` elements, each a graph of `node` elements.

A node with `word` is a token at the position `begin`; one with `cat` is a constituent; one with neither is a
secondary edge and no leaf. The ends of constituents cover such edges, too, and are not looked at. Tags are
`pt`, or `pos` in files of older versions, lemmas `lemma`, or `root`; morphology is `postag`. rel="hd"
marks heads.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from d2c.base.counting import many
from d2c.trees.ctree import CTree
from d2c.trees.formats.format import OF_GRAPHS, CFormat, Options, Writer, whole_number
from d2c.trees.formats.graphs import Graph, listed
from d2c.trees.formats.xml import attributes, element_reader, named

# Relations by which the head child is chosen, where several lack a head (coordinations, multi-word units).
HEAD_RELATIONS = ("hd", "cmp", "whd", "rhd", "crd", "nucl", "cnj", "mwp", "body", "dp", "tag")


def _tree(element: Element, options: Options) -> CTree:
    """Return the tree of a graph; marked heads go by relations."""
    graph = Graph()
    words: dict[int, tuple[Element, str | None]] = {}  # with their parents
    stack: list[tuple[Element, str | None]] = [(node, None) for node in element.findall("node")]
    while stack:
        node, parent = stack.pop()
        if "word" in node.attrib:
            begin = whole_number(node.attrib["begin"])
            if begin in words:
                raise ValueError(f"two words begin at {begin}")
            words[begin] = node, parent
        elif "cat" in node.attrib:
            name = graph.add_node(named(node, "cat"), parent, _rank(node))
            stack += [(child, name) for child in node.findall("node")]
        else:
            options.left_out["secondary edges"] += 1
            continue
        options.function(node.get("rel", "--"))
    n = len(words)
    if sorted(words) != list(range(n)):
        raise ValueError(f"its {many(n, 'word')} do not begin at 0 to {n - 1}")
    for begin in range(n):
        node, parent = words[begin]
        tag, lemma = node.get("pt") or node.get("pos") or "--", node.get("lemma") or node.get("root") or "--"
        graph.add_word((named(node, "word"), tag, lemma, node.get("postag") or "--"), parent, _rank(node))
    return graph.tree(options.marked)


def _rank(node: Element) -> int:
    relation = node.get("rel", "--")
    if relation in HEAD_RELATIONS:
        return HEAD_RELATIONS.index(relation)
    punctuation = (node.get("pt") or node.get("pos")) in ("let", "punct")
    return len(HEAD_RELATIONS) + punctuation  # `--` is of punctuation, but also of the top


def format_alpinoxml(ctree: CTree, number: int = 1) -> str:
    """Return one `alpino_ds` element. Relations are `hd` and `--`: others are not kept in a c-tree.

    Raises ValueError for empty names and for characters that XML cannot hold.
    """
    whole, parents, heads = listed(ctree)
    n = len(whole.tokens)
    begin, end = list(range(n)), list(range(1, n + 1))
    for kids in whole.children:
        begin.append(begin[kids[0]])
        end.append(max([end[kid] for kid in kids]))
    lines = [f'<alpino_ds id="{number}" version="1.3">\n']
    stack: list[int | None] = [node for node, parent in enumerate(parents) if parent < 0]
    stack.reverse()
    while stack:
        node = stack.pop()
        if node is None:
            lines.append("</node>\n")
            continue
        relation = "hd" if heads[node] else "--"
        values = {"begin": str(begin[node]), "end": str(end[node]), "rel": relation}
        if node >= n:
            lines.append(f"<node {attributes(values | {'cat': whole.labels[node - n]})}>\n")
            stack.append(None)
            stack += reversed(whole.children[node - n])
            continue
        tokens = whole.tokens
        values |= {"word": tokens.forms[node], "pt": tokens.tags[node]}
        if tokens.lemmas:
            values["lemma"] = tokens.lemmas[node]
        if tokens.morphs:
            values["postag"] = tokens.morphs[node]
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
