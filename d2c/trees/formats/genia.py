"""GENIA's XML: a `sentence` of `cons` (constituents) and `tok` (words); read only.

    <cons cat="WHNP" id="i1"><tok cat="WDT">that</tok></cons> <cons cat="NP" role="SBJ" ref="i1" null="T"/>

Trees are as in the Penn Treebank, which GENIA follows: the attributes of a `cons` become function tags and
indices of its label, NP-SBJ-1; a `cons` without children is over an empty element, `(NP-SBJ (-NONE- *T*-1))`;
tags such as COMMA are written as there.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from d2c.trees.conventions import EMPTY_TAG
from d2c.trees.ctree import CTree
from d2c.trees.formats.format import CFormat, Options
from d2c.trees.formats.graphs import Graph
from d2c.trees.formats.xml import comments_of, element_reader, named, text_of

_FUNCTIONS = ("role", "tpc", "func", "adv", "misc", "syn")  # attributes, in the order of the tags
_EMPTY = {"NONE": "*", "ZERO": "0", "QSTN": "*?*"}  # by `null`, which names all others: T is *T*
_TAGS = {
    "PERIOD": ".",
    "COMMA": ",",
    "COLON": ":",
    "LRB": "-LRB-",
    "RRB": "-RRB-",
    "LQT": "``",
    "RQT": "''",
    "PRPP": "PRP$",
    "WPP": "WP$",
}
_WITHOUT_TEXT = frozenset(["PubmedArticleSet", "PubmedArticle", "MedlineCitation", "Article", "ArticleTitle"])
_WITHOUT_TEXT |= {"Abstract", "AbstractText", "sentence", "cons"}


def _tree(element: Element, _options: Options) -> CTree | None:
    """Return the tree of a sentence; None where it has no words."""
    graph = Graph()
    stack: list[tuple[Element, str | None]] = [(child, None) for child in reversed(element)]
    while stack:
        node, parent = stack.pop()
        tag = named(node, "cat")
        if node.tag == "tok":
            if not (form := text_of(node)):
                raise ValueError(f"a word with the tag {tag} is empty")
            graph.add_word((form, _TAGS.get(tag, tag)), parent)
            continue
        name = graph.add_node(_label(node), parent)
        stack += [(child, name) for child in reversed(node)]
        if not len(node):
            null = node.get("null", "NONE")
            graph.add_word((_EMPTY.get(null, f"*{null}*") + _index(node, "ref", "-"), EMPTY_TAG), name)
    return graph.tree(comments=comments_of(element, "id")) if graph.words else None


def _label(node: Element) -> str:
    functions = [f"-{node.attrib[name]}" for name in _FUNCTIONS if name in node.attrib]
    ref = _index(node, "ref", "-") if len(node) else ""  # over an empty element it is the index of the trace
    return "".join([node.attrib["cat"], *functions, _index(node, "id", "-") or ref, _index(node, "map", "=")])


def _index(node: Element, name: str, mark: str) -> str:
    """Return an index as in the Penn Treebank, -1 of `i1`; "" for none."""
    return mark + node.attrib[name].removeprefix("i") if name in node.attrib else ""


GENIA = CFormat(
    "genia",
    (".genia.xml",),
    element_reader("sentence", _tree, _WITHOUT_TEXT, frozenset(["tok"]), "PMID"),
    holds=("traces", "indices", "comments", "escapes", "blanks"),
    named_as="tigerxml",
    looks_so=lambda start: "<PubmedArticleSet" in start or '<cons cat="' in start,
)
