"""Stanford CoreNLP's output in XML, taken as `corenlp.py` takes its JSON; read only.

<sentence id="1"><tokens><token id="1"><word>They</word>...</token></tokens><parse>(ROOT ...) </parse>
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from d2c.trees.ctree import CTree
from d2c.trees.formats.corenlp import HOLDS, tree_of_sentence
from d2c.trees.formats.format import CFormat, Options
from d2c.trees.formats.xml import comments_of, element_reader, text_of

_TEXTS = frozenset(["word", "lemma", "POS", "NER", "parse"])


def _tree(element: Element, options: Options) -> CTree | None:
    """Return the tree of a sentence; None for a `sentence` that only numbers one, in a coreferent mention."""
    if not len(element):
        options.left_out["coreferent mentions"] += 1
        return None
    tokens = element.findall("tokens/token")
    columns = [[text_of(token.find(name)) for token in tokens] for name in ("word", "POS", "lemma", "NER")]
    others = {
        "text offsets": sum(token.find("CharacterOffsetBegin") is not None for token in tokens),
        "dependencies": sum(1 for _ in element.iter("dep")),
        "sentiments": int("sentiment" in element.attrib),
    }
    parse, comments = text_of(element.find("parse")), comments_of(element, "")
    return tree_of_sentence(parse, columns, others, comments, options)


CORENLPXML = CFormat(
    "corenlpxml",
    (".corenlp.xml",),
    element_reader("sentence", _tree, frozenset(["tokens", "token"]), _TEXTS, "docId"),
    holds=HOLDS,
    named_as="tigerxml",
    looks_so=lambda start: "<document>" in start and ("<root>" in start or "<sentences>" in start),
)
