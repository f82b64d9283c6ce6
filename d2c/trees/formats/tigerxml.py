"""TIGER XML: sentences `s`, each a `graph` of terminals `t` and nonterminals `nt` with `edge`s to children.

The id of `s` is the comment `sent_id`. What no edge leads to hangs from the virtual root; `graph/@root` alone
would lose such tokens. Secondary edges are left out and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from xml.etree.ElementTree import Element

from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats.format import OF_GRAPHS, CFormat, Options, Writer
from d2c.trees.formats.graphs import HEAD, VIRTUAL_ROOT, Graph, head_rank, listed
from d2c.trees.formats.xml import attributes, element_reader, named

FIRST_NODE = 500
_WITHOUT_TEXT = frozenset(
    ["corpus", "subcorpus", "body", "s", "graph", "terminals", "t", "nonterminals", "nt", "edge", "secedge"]
)
_STARTS = re.compile("<(?:corpus|subcorpus|s|graph|body)[ >]")
_SENT_ID = re.compile(r"sent_id = ([A-Za-z_][\w.-]*)", re.ASCII)


def _tree(element: Element, options: Options) -> CTree | None:
    """Return the tree of a graph, None without words; marked heads go by `head_rank`."""
    graph = Graph()
    terminals, nodes = list(element.iter("t")), list(element.iter("nt"))
    if not terminals:
        return None
    ids = [one.attrib["id"] for one in (*terminals, *nodes)]
    above: dict[str, tuple[str | None, str]] = dict.fromkeys(ids, (None, "--"))  # parent and edge label
    if len(above) < len(ids):
        raise ValueError(f"the id {Counter(ids).most_common(1)[0][0]!r} comes twice")
    for nt in nodes:
        for edge in nt.iter("edge"):
            child = edge.attrib["idref"]
            if child not in above:
                raise ValueError(f"an edge leads to {child!r}, which does not exist")
            if above[child][0] is not None:
                raise ValueError(f"two edges lead to {child!r}")
            above[child] = nt.attrib["id"], edge.get("label", "--")
            options.function(above[child][1])
    options.left_out["secondary edges"] += sum(1 for _ in element.iter("secedge"))
    for t in terminals:
        parent, function = above[t.attrib["id"]]
        columns = named(t, "word"), t.get("pos") or "--", t.get("lemma") or "--", t.get("morph") or "--"
        graph.add_word(columns, parent, head_rank(function, columns[0]))
    for nt in nodes:
        parent, function = above[nt.attrib["id"]]
        graph.add_node(named(nt, "cat"), parent, head_rank(function), nt.attrib["id"])
    comments = (f"sent_id = {element.attrib['id']}",) if "id" in element.attrib else ()
    return graph.tree(options.marked, comments)


def _name(tokens: Tokens) -> str | None:
    """Return the `sent_id` of a sentence, where XML can have it as an id."""
    ids = (_SENT_ID.fullmatch(comment) for comment in tokens.comments)
    return next((match[1] for match in ids if match), None)


def format_tigerxml(ctree: CTree, number: int = 1) -> str:
    """Return one `s` element. Edges are labelled HD or `--`: others are not kept in a c-tree.

    Raises ValueError for empty names and for characters that XML cannot hold.
    """
    whole, parents, heads = listed(ctree)
    n, tokens = len(whole.tokens), whole.tokens
    first, name = max(FIRST_NODE, n + 1), _name(tokens) or f"s{number}"
    names = [f"{name}_{i + 1 if i < n else first + i - n}" for i in range(n + len(whole.labels))]
    tops = [node for node, parent in enumerate(parents) if parent < 0]
    root = names[tops[0]] if len(tops) == 1 else f"{name}_{VIRTUAL_ROOT}"
    lines = [f'<s id="{name}">\n<graph root="{root}">\n<terminals>\n']
    for i in range(n):
        columns = {"id": names[i], "word": tokens.forms[i], "pos": tokens.tags[i]}
        columns["lemma"] = (tokens.lemmas[i] if tokens.lemmas else "") or "--"
        columns["morph"] = (tokens.morphs[i] if tokens.morphs else "") or "--"
        lines.append(f"<t {attributes(columns)}/>\n")
    lines.append("</terminals>\n<nonterminals>\n")
    nodes = [
        (names[node], whole.labels[node - n], whole.children[node - n]) for node in range(n, len(parents))
    ]
    if len(tops) > 1:
        nodes.append((root, VIRTUAL_ROOT, tuple(tops)))
    for identifier, category, kids in nodes:
        lines.append(f"<nt {attributes({'id': identifier, 'cat': category})}>\n")
        for kid in kids:
            lines.append(f'<edge label="{HEAD if heads[kid] else "--"}" idref="{names[kid]}"/>\n')
        lines.append("</nt>\n")
    return "".join([*lines, "</nonterminals>\n</graph>\n</s>\n"])


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
    holds=(*OF_GRAPHS, "blanks"),
    named_as="alpinoxml",
    looks_so=lambda start: _STARTS.search(start) is not None,
)
