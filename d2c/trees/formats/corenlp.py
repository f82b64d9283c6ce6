"""Stanford CoreNLP's output in JSON; read only.

    {"sentences": [{"parse": "(ROOT (S ...))", "tokens": [{"word": "They", "lemma": "they", "pos": "PRP"}]}]}

A file holds a document or several. Words and lemmas are those of the tokens, labels and tags those of the
tree. All else, such as dependencies and entities, is left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from d2c.base.files import AnyPath
from d2c.trees.ctree import CTree
from d2c.trees.formats.format import Attribute, CFormat, Options, tree_reader
from d2c.trees.formats.graphs import known_column
from d2c.trees.formats.jsonfiles import json_values, outer_keys
from d2c.trees.formats.treestrings import tree_over

HOLDS: tuple[Attribute, ...] = ("lemmas", "comments", "escapes", "blanks")
_NO_SENTENCE = "no sentence as CoreNLP writes it: {}"


def tree_of_sentence(
    parse: str,
    columns: Sequence[Sequence[str]],
    others: dict[str, int],
    comments: tuple[str, ...],
    options: Options,
) -> CTree:
    """Return the tree of a sentence. Raises ValueError.

    columns: words, tags, lemmas and entity tags
    others:  counts of what else the file says of the sentence
    """
    if not parse:
        raise ValueError("it has no parse; the annotator `parse` of CoreNLP makes one")
    words, tags, lemmas, entities = columns
    tree = tree_over(parse, words, tags)
    options.left_out.update(others)
    options.left_out["entity tags"] += sum(tag not in ("O", "") for tag in entities)
    unlike = sum(a != b for a, b in zip(tags, tree.tokens.tags, strict=False) if a)
    options.left_out["tags unlike the tree's"] += unlike
    column = known_column(lemma or "--" for lemma in lemmas)
    return replace(tree, tokens=replace(tree.tokens, lemmas=column, comments=comments))


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
        columns = [[token.get(name) or "" for token in tokens] for name in ("word", "pos", "lemma", "ner")]
        if not all(isinstance(value, str) for value in chain([parse], *columns)):
            raise TypeError("words, lemmas, tags and trees are strings")
        arcs = [_length(value) for key, value in sentence.items() if key.endswith("ependencies")]
        others = {
            "text offsets": sum("characterOffsetBegin" in token for token in tokens),
            "dependencies": sum(arcs),
            "sentiments": int("sentiment" in sentence),
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(_NO_SENTENCE.format(error)) from None
    return tree_of_sentence(parse, columns, others, comments, options)


CORENLP = CFormat(
    "corenlp",
    (".corenlp.json",),
    tree_reader(_sentences, _of_json),
    holds=HOLDS,
    named_as="json",
    looks_so=lambda start: "sentences" in outer_keys(start),
)
