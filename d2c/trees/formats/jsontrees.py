"""JSON objects with trees in brackets, on a line each or not: AllenNLP's and benepar's output, SNLI; read
only.

    {"trees": "(S (NP (PRP They)) (VP (VBD slept)))", "tokens": ["They", "slept"], "pos_tags": [...]}

A tree, or a list of trees, stands under a key such as `tree`, `trees`, `parse`, `parse_string`, `parse_tree`,
`constituency` or `sentence1_parse` (not `..._binary_parse`). Words are those of `tokens` or `words`, if they
stand beside the only tree. Comments are `id` and the text. All else is left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from d2c.trees.ctree import CTree
from d2c.trees.formats.format import CFormat, Options, Reader
from d2c.trees.formats.jsonfiles import json_values, outer_keys
from d2c.trees.formats.nbest import FURTHER
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
_LISTED = ("spans", "num_spans", "nodes")  # repeat what the tree says


def _trees(value: Any, options: Options) -> Iterator[CTree]:
    """Yield the trees of an object. Raises ValueError."""
    if not isinstance(value, dict):
        raise ValueError("expected a JSON object with a tree")
    texts = _texts(value, options)
    if not texts:
        known = "trees, tree, parse, parse_string"
        raise ValueError(
            f"no key of {', '.join(map(repr, list(value)[:8]))} has a tree; known are {known}, ..."
        )
    words = next((found for name in _WORDS if (found := _strings(value.get(name)))), [])
    tags = next((found for name in _TAGS if (found := _strings(value.get(name)))), [])
    alone = len(texts) == 1
    said = {key: text for key in _COMMENTS if alone and isinstance(text := value.get(key), str)}
    comments = tuple([f"{_COMMENTS[key]} = {' '.join(text.split())}" for key, text in said.items()])
    used = {*((*_WORDS, *_TAGS) if alone else ()), *said, *_OF_ALLENNLP, *_LISTED}
    options.left_out["JSON fields"] += sum(key not in used and not _TREE.fullmatch(key) for key in value)
    for text in texts:
        tree = tree_over(text, words, tags) if alone else tree_over(text)
        yield replace(tree, tokens=replace(tree.tokens, comments=comments)) if comments else tree


def _texts(value: dict[str, Any], options: Options) -> list[str]:
    """Return the trees of an object, as they are written; after them the further ones in its n-best lists, or
    count those if they are not wanted."""
    best, further = list[str](), list[str]()
    for key, one in value.items():
        texts = [one] if isinstance(one, str) else _strings(one)
        if _TREE.fullmatch(key):
            found = further if _N_BEST.fullmatch(key) else best
            found += [text for text in texts if text.lstrip().startswith("(")]
    known = {*best}
    others = [text for text in further if text not in known]
    options.left_out[FURTHER] += 0 if options.n_best else len(others)
    return best + others if options.n_best else best


def _strings(value: Any) -> list[str]:
    """Return the value if it is a list of nothing but strings; otherwise an empty list."""
    return value if isinstance(value, list) and all(isinstance(one, str) for one in value) else []


def _looks_so(start: str) -> bool:
    keys = outer_keys(start)
    if {"tokens", "tags"} <= keys.keys():  # lines of `d2c parse`, which say the tree by spans, too
        keys.pop("bracket", None)
    of_trees = (mark.endswith("(") for key, mark in keys.items() if _TREE.fullmatch(key))
    return any(of_trees) or not _OF_ALLENNLP.isdisjoint(keys)


JSONTREES = CFormat(
    "jsontrees",
    (".trees.json", ".trees.jsonl"),
    Reader(json_values, _trees),
    holds=("comments", "traces", "indices"),
    named_as="json",
    looks_so=_looks_so,
)
