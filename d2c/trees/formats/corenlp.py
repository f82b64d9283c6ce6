"""Stanford CoreNLP's output, its JSON and its XML; read only.

    {"sentences": [{"parse": "(ROOT (S ...))", "tokens": [{"word": "They", "lemma": "they", "pos": "PRP"}]}]}
    <sentence id="1"><tokens><token id="1"><word>They</word>...</token></tokens><parse>(ROOT ...) </parse>

A file holds a document or several. Words and lemmas are those of the tokens, labels and tags those of the
tree. What else there is, dependencies and entities, say, is left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

from d2c.base.files import AnyPath
from d2c.trees.ctree import CTree
from d2c.trees.formats.format import Attribute, CFormat, Options, item_reader
from d2c.trees.formats.graphs import known_column
from d2c.trees.formats.jsonfiles import json_values, outer_keys
from d2c.trees.formats.treestrings import tree_over
from d2c.trees.formats.xml import element_reader, text_of

_HOLDS: tuple[Attribute, ...] = ("lemmas", "comments", "escapes", "blanks")
_NO_PARSE = "it has no parse; the annotator `parse` of CoreNLP makes one"
_NO_SENTENCE = "no sentence as CoreNLP writes it: {}"
Column = Sequence[str]


def _tree(parse: str, words: Column, tags: Column, lemmas: Column, options: Options) -> CTree:
    """Return the tree of a sentence. Raises ValueError."""
    if not parse:
        raise ValueError(_NO_PARSE)
    tree = tree_over(parse, words, tags)
    others = sum(a != b for a, b in zip(tags, tree.tokens.tags, strict=False) if a)
    options.left_out["tags unlike the tree's"] += others
    return replace(tree, tokens=replace(tree.tokens, lemmas=known_column(lemma or "--" for lemma in lemmas)))


def _sentences(path: AnyPath, options: Options) -> Iterator[tuple[int, Any]]:
    """Yield the sentences of documents in JSON, each after the number of its document's first line."""
    for line, document in json_values(path, options):
        if isinstance(document, ValueError):
            yield line, document
        elif not isinstance(document, dict) or not isinstance(document.get("sentences"), list):
            yield line, ValueError(_NO_SENTENCE.format("an object with `sentences` was expected"))
        else:
            chains = document.get("corefs")
            if isinstance(chains, dict):
                options.left_out["coreferent mentions"] += sum(map(_length, chains.values()))
            name = document.get("docId")
            for number, sentence in enumerate(document["sentences"]):
                comments = (f"newdoc id = {name}",) if isinstance(name, str) and not number else ()
                yield line, (sentence, comments)


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else 0


def _of_json(item: tuple[Any, tuple[str, ...]], options: Options) -> CTree:
    sentence, comments = item
    try:
        tokens, parse = sentence["tokens"], sentence.get("parse") or ""
        words, lemmas, tags = (
            [token.get(name) or "" for token in tokens] for name in ("word", "lemma", "pos")
        )
        if not all(isinstance(value, str) for value in (parse, *words, *lemmas, *tags)):
            raise TypeError("words, lemmas, tags and trees are strings")
        count = options.left_out
        count["text offsets"] += sum("characterOffsetBegin" in token for token in tokens)
        count["entity tags"] += sum(token.get("ner", "O") not in ("O", "") for token in tokens)
        count["dependencies"] += sum(_length(value) for key, value in sentence.items() if _is_of_arcs(key))
        count["sentiments"] += "sentiment" in sentence
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(_NO_SENTENCE.format(error)) from None
    tree = _tree(parse, words, tags, lemmas, options)
    return replace(tree, tokens=replace(tree.tokens, comments=comments)) if comments else tree


def _is_of_arcs(key: str) -> bool:
    return key.endswith("ependencies")


def _of_xml(element: Element, options: Options) -> CTree | None:
    """Return the tree of a sentence; None where `sentence` is the number of one, in a coreferent mention."""
    if not len(element):
        options.left_out["coreferent mentions"] += 1
        return None
    tokens = element.findall("tokens/token")
    words, lemmas, tags, entities = (
        [text_of(token.find(name)) for token in tokens] for name in ("word", "lemma", "POS", "NER")
    )
    count = options.left_out
    count["text offsets"] += sum(token.find("CharacterOffsetBegin") is not None for token in tokens)
    count["entity tags"] += sum(entity not in ("O", "") for entity in entities)
    count["dependencies"] += sum(1 for _ in element.iter("dep"))
    count["sentiments"] += "sentiment" in element.attrib
    return _tree(text_of(element.find("parse")), words, tags, lemmas, options)


_TEXTS = frozenset(["word", "lemma", "POS", "NER", "parse"])
read_corenlp = item_reader(_sentences, _of_json, in_here=True)
CORENLP = CFormat(
    "corenlp",
    (".corenlp.json",),
    read_corenlp,
    holds=_HOLDS,
    named_as="json",
    looks_so=lambda start: "sentences" in outer_keys(start),
)
read_corenlp_xml = element_reader("sentence", _of_xml, frozenset(["tokens", "token"]), _TEXTS)
CORENLP_XML = CFormat(
    "corenlpxml",
    (".corenlp.xml",),
    read_corenlp_xml,
    holds=_HOLDS,
    named_as="tigerxml",
    looks_so=lambda start: "<document>" in start and ("<root>" in start or "<sentences>" in start),
)
