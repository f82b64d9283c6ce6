"""The French Treebank's XML: a `SENT` of phrases, which are elements, and words `w`; read only.

    <SENT nb="7"><NP fct="SUJ"><w cat="D" lemma="le" mph="fs" subcat="def">La</w> ...</NP> ...</SENT>

The tag of a word is `cat`, or `catint` in a compound, which is a node MWN, MWADV, ...; the morphology is
`mph` and `subcat`. A word without text is the second part of an amalgam (`du`): an empty element, with its
tag in the morphology. All attributes of a `SENT` are comments.
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

from d2c.trees.conventions import EMPTY_TAG
from d2c.trees.ctree import CTree
from d2c.trees.formats.format import CFormat, Options
from d2c.trees.formats.graphs import Graph
from d2c.trees.formats.xml import element_reader, text_of

_COMPOUND = "MW"  # as Stanford's and disco-dop's readers call them
_EMPTY = "*"
_PHRASES = "SENT AP AdP COORD NP PP VN VP VPinf VPpart Sint Srel Ssub"
_STARTS = re.compile("<SENT[ >]")


def _tree(element: Element, options: Options) -> CTree | None:
    """Return the tree of a sentence; None where it has no words."""
    graph = Graph()
    stack: list[tuple[Element, str | None]] = [(element, None)]
    while stack:
        node, parent = stack.pop()
        function = node.get("fct", "")
        if node.tag == "w" and not len(node):
            graph.add_word(_word(node), parent, function)
            continue
        label = _COMPOUND + _tag(node) if node.tag == "w" else node.tag
        name = graph.add_node(label, parent, function)
        options.left_out["compound lemmas"] += "lemma" in node.attrib
        stack += [(child, name) for child in reversed(node)]
    comments = [f"sent_id = {element.attrib['nb']}"] if "nb" in element.attrib else []
    comments += [f"{name} = {value}" for name, value in element.attrib.items() if name != "nb"]
    return graph.tree(False, tuple(comments), options.beside) if graph.words else None


def _tag(node: Element) -> str:
    return node.get("cat") or node.get("catint") or "--"


def _word(node: Element) -> tuple[str, str, str, str]:
    """Return form, tag, lemma and morphology."""
    form, known = text_of(node), {name: value for name in ("mph", "subcat") if (value := node.get(name))}
    if not form:
        known = {"cat": _tag(node)} | known
    morphology = "|".join([f"{name}={value}" for name, value in known.items()])
    tag = _tag(node) if form else EMPTY_TAG
    return form or _EMPTY, tag, " ".join(node.get("lemma", "").split()) or "--", morphology or "--"


FRENCHXML = CFormat(
    "frenchxml",
    (".ftb.xml",),
    element_reader("SENT", _tree, frozenset(["text", *_PHRASES.split()]), frozenset(["w"])),
    holds=("functions", "traces", "lemmas", "morphology", "comments", "escapes", "blanks"),
    named_as="tigerxml",
    looks_so=lambda start: _STARTS.search(start) is not None,
)
