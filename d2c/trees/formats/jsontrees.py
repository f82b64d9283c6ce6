"""JSON objects with trees in brackets, on a line each or not: AllenNLP's and benepar's output, SNLI; read
only.

    {"trees": "(S (NP (PRP They)) (VP (VBD slept)))", "tokens": ["They", "slept"], "pos_tags": [...]}

A tree, or a list of trees, stands under a key such as `tree`, `trees`, `parse`, `parse_string`, `parse_tree`,
`constituency` or `sentence1_parse` (not `..._binary_parse`). Words are those of `tokens` or `words`, if they
stand beside the only tree. Comments are `id` and the text. What else there is is left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from d2c.trees.ctree import CTree
from d2c.trees.formats.format import CFormat, Options, Reader
from d2c.trees.formats.jsonfiles import json_values, outer_keys
from d2c.trees.formats.treestrings import tree_over

_TREE = re.compile(
    r"(?!.*binary)(?:.*[_.-])?(?:(?:parse|const(?:ituency)?)(?:[_-]?(?:trees?|string))?|trees?|ptb|brackets?)",
    re.IGNORECASE,
)
_N_BEST = re.compile(r"top_k_trees|n_?best_.*", re.IGNORECASE)
_WORDS, _TAGS = ("tokens", "words"), ("pos_tags", "pos", "tags")
_COMMENTS = {
    "id": "sent_id",
    "sent_id": "sent_id",
    "sentence_id": "sent_id",
    "text": "text",
    "sentence": "text",
}
_OF_ALLENNLP = frozenset(["class_probabilities", "hierplane_tree"])  # stand long before the tree
_LISTED = ("spans", "num_spans", "nodes")  # say again what the tree says


def _trees(value: Any, options: Options) -> Iterator[CTree]:
    """Yield the trees of an object. Raises ValueError."""
    if not isinstance(value, dict):
        raise ValueError("a JSON object with a tree was expected")
    texts = [text for key, one in value.items() for text in _texts(key, one, options)]
    if not texts:
        known = "trees, tree, parse, parse_string"
        raise ValueError(
            f"no key of {', '.join(map(repr, list(value)[:8]))} has a tree; known are {known}, ..."
        )
    words = next((found for name in _WORDS if (found := _strings(value.get(name)))), [])
    tags = next((found for name in _TAGS if (found := _strings(value.get(name)))), [])
    alone = len(texts) == 1 and words
    comments = tuple(
        f"{name} = {' '.join(text.split())}"
        for key, name in _COMMENTS.items()
        if isinstance(text := value.get(key), str) and len(texts) == 1
    )
    used = {*_WORDS, *_TAGS, *_COMMENTS, *_OF_ALLENNLP, *_LISTED}
    options.left_out["JSON fields"] += sum(key not in used and not _TREE.fullmatch(key) for key in value)
    for text in texts:
        tree = tree_over(text, words, tags) if alone else tree_over(text)
        yield replace(tree, tokens=replace(tree.tokens, comments=comments)) if comments else tree


def _texts(key: str, value: Any, options: Options) -> list[str]:
    """Return the trees under a key, as they are written."""
    n_best = _N_BEST.fullmatch(key)
    if not _TREE.fullmatch(key) or (n_best and not options.n_best):
        return []
    texts = [value] if isinstance(value, str) else _strings(value)
    return [text for text in texts if text.lstrip().startswith("(")]


def _strings(value: Any) -> list[str]:
    """Return a list of nothing but strings; otherwise none."""
    return value if isinstance(value, list) and all(isinstance(one, str) for one in value) else []


def _looks_so(start: str) -> bool:
    keys = outer_keys(start)
    if {"tokens", "tags"} <= keys.keys():  # lines of `d2c parse`, which say the tree by spans, too
        keys.pop("bracket", None)
    of_trees = (mark.endswith("(") for key, mark in keys.items() if _TREE.fullmatch(key))
    return any(of_trees) or not _OF_ALLENNLP.isdisjoint(keys)


read_jsontrees = Reader(json_values, _trees)
JSONTREES = CFormat(
    "jsontrees",
    (".trees.json", ".trees.jsonl"),
    read_jsontrees,
    holds=("comments", "traces", "indices"),
    named_as="json",
    looks_so=_looks_so,
)
