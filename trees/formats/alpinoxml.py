"""Alpino XML: a file of `alpino_ds` elements, each a graph of `node` elements.

A node with `word` is a token at the position `begin`; one with `cat` is a constituent; one with neither is a
secondary edge and no leaf. The ends of constituents cover such edges, too, and are not looked at. Tags are
`pt`, or `pos` in files of older versions, lemmas `lemma`, or `root`; morphology is `postag`. rel="hd"
marks heads.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from d2c.base.numbers import whole_number
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats.chunks import writer
from d2c.trees.formats.graphs import (
    SecondaryEdges,
    attributes,
    graph_reader,
    is_head,
    known_column,
    named,
)
from d2c.trees.graphs import Name, listed, tree_of

# Relations by which the head child is chosen, where several lack a head (coordinations, multi-word units).
HEAD_RELATIONS = ("hd", "cmp", "whd", "rhd", "crd", "nucl", "cnj", "mwp", "body", "dp", "tag")
_OTHER, _NONE = len(HEAD_RELATIONS), len(HEAD_RELATIONS) + 1  # `--` is of punctuation, but also of the top


def _tree(element: Element, marked: bool = False, secondary: SecondaryEdges | None = None) -> CTree:
    """Return the tree of a graph; marked: with head children by relations."""
    edges = secondary or SecondaryEdges()
    labels: dict[str, str] = {}
    parents: dict[Name, str | None] = {}
    ranks: dict[Name, int] = {}
    rows: dict[int, Element] = {}
    stack: list[tuple[Element, str | None]] = [(node, None) for node in element.findall("node")]
    while stack:
        node, parent = stack.pop()
        name: Name
        if "word" in node.attrib:
            name = whole_number(node.attrib["begin"])
            if name in rows:
                raise ValueError(f"two words begin at {name}")
            rows[name] = node
        elif "cat" in node.attrib:
            name = f"{len(labels)}"
            labels[name] = named(node, "cat")
            stack += [(child, name) for child in node.findall("node")]
        else:
            edges.count += 1
            continue
        parents[name] = parent
        relation = node.get("rel", "--")
        if relation in HEAD_RELATIONS:
            ranks[name] = HEAD_RELATIONS.index(relation)
        else:
            punctuation = (node.get("pt") or node.get("pos")) in ("let", "punct")
            ranks[name] = _NONE if punctuation else _OTHER
    n = len(rows)
    if sorted(rows) != list(range(n)):
        raise ValueError(f"its {n} words do not begin at 0 to {n - 1}")
    words = [rows[i] for i in range(n)]
    tokens = Tokens(
        tuple(named(word, "word") for word in words),
        tuple(word.get("pt") or word.get("pos") or "--" for word in words),
        known_column(word.get("lemma") or word.get("root") or "--" for word in words),
        known_column(word.get("postag") or "--" for word in words),
    )
    return tree_of(tokens, labels, parents, ranks if marked else None)


def format_alpinoxml(ctree: CTree, number: int = 1) -> str:
    """Return one `alpino_ds` element. Relations are `hd` and `--`: others are not kept in a c-tree.

    Raises ValueError for empty names and for characters that XML cannot hold.
    """
    whole, parents = listed(ctree)
    n, heads = len(whole.tokens), is_head(whole)
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


_BEFORE = '<?xml version="1.0" encoding="UTF-8"?>\n<alpino>\n'
write_alpinoxml = writer(format_alpinoxml, _BEFORE, "</alpino>\n")
read_alpinoxml = graph_reader("alpino_ds", _tree, frozenset(["alpino", "treebank", "alpino_ds", "node"]))
