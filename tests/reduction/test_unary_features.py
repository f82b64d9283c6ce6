"""The unary classifier's templates against the list of section 4.4 of "Parsing as Reduction"."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from d2c.reduction.unary.features import (
    ABOVE,
    COLUMN_TEMPLATES,
    PHRASE,
    PRETERMINAL,
    Group,
    features,
    flatten,
)
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import read_brackets
from d2c.trees.unaries import strip_unaries
from tests.partitions import check_templates

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
LONGEST_BAG = 40

# The list, line by line, as templates of nodes; all are conjoined with the node's symbol, of which tags and
# phrases have none in common. What says nothing new of a pre-terminal is for phrases alone: the rule beneath
# it, its tag, the last word of its yield.
OF_ALL = {
    "the production rule above": "rule[parent] symbol[parent] index",
    "the label with the parent's": "symbol[parent]",
    "the label with the left sibling's": "symbol[left]",
    "the label with the right sibling's": "symbol[right]",
    "the leftmost word": "word[first]",
    "the leftmost lemma": "lemma[first]",
    "the rightmost lemma": "lemma[last]",
    "the leftmost morpho-syntactic tag": "morph[first]",
    "the rightmost morpho-syntactic tag": "morph[last]",
    "the word beneath a left pre-terminal": "word[left]",
    "the word beneath a right pre-terminal": "word[right]",
    "the lemma beneath a left pre-terminal": "lemma[left]",
    "the lemma beneath a right pre-terminal": "lemma[right]",
    "the morpho-syntactic tag beneath a left pre-terminal": "morph[left]",
    "the morpho-syntactic tag beneath a right pre-terminal": "morph[right]",
}
OF_PHRASES = {
    "the production rule beneath": "rule[node]",
    "the rightmost word": "word[last]",
    "the leftmost POS tag": "tag[first]",
    "the rightmost POS tag": "tag[last]",
}
BEYOND = [
    *("symbol[parent] symbol[left] symbol[right]", "symbol[parent] symbol[grandparent]"),
    *("word[first-1]", "word[last+1]", "tag[first-1] tag[last+1]", "symbol[parent] tag[first-1]"),
    *("symbol[parent] tag[last+1]", "length symbol[parent] word[end-1]"),
]
BEYOND_OF_PRETERMINALS = [
    *("ending[first]", "word[first] symbol[parent]", "symbol[parent] tag[first-1] tag[last+1]"),
    *("symbol[parent] word[first-1]", "symbol[parent] word[last+1]"),
]
BEYOND_OF_PHRASES = ["word[second]", "word[third]", "word[last-1]", "word[first] word[second]"]


def names(*groups: Group) -> list[str]:
    return [template.strip() for _, templates in groups for template in templates.split(",")]


def test_the_templates_are_those_of_the_list() -> None:
    of_phrases = names(ABOVE, PHRASE, *COLUMN_TEMPLATES.values())
    listed = [*OF_ALL.values(), *OF_PHRASES.values(), *BEYOND, *BEYOND_OF_PHRASES]
    assert sorted(of_phrases) == sorted(listed)
    of_preterminals = names(ABOVE, PRETERMINAL, *COLUMN_TEMPLATES.values())
    assert sorted(of_preterminals) == sorted([*OF_ALL.values(), *BEYOND, *BEYOND_OF_PRETERMINALS])


def test_no_two_templates_have_one_number() -> None:
    numbers = [
        range(group[0], group[0] + len(names(group)))
        for group in (ABOVE, PRETERMINAL, PHRASE, *COLUMN_TEMPLATES.values())
    ]
    assert len({number for some in numbers for number in some}) == sum(map(len, numbers))


@cache
def treebank() -> list[CTree]:
    """Trees without unary nodes, with lemmas and morphology of their own."""
    trees = []
    for ctree in islice(read_brackets(SAMPLE / "dev.mrg", clean=True), 40):
        forms = ctree.tokens.forms
        lemmas = tuple(form.lower()[:2] for form in forms)
        morphs = tuple("" if len(form) == 3 else f"{len(form)}{form[-1]}" for form in forms)
        tokens = replace(ctree.tokens, lemmas=lemmas, morphs=morphs)
        trees.append(strip_unaries(replace(ctree, tokens=tokens))[0])
    return trees


class Node(NamedTuple):
    """A node of a c-tree, with the parents of all nodes."""

    ctree: CTree
    node: int
    parents: list[int]

    @property
    def symbol(self) -> Hashable:
        return self.of(self.node)

    def of(self, node: int) -> Hashable:
        """The symbol of a node, of a tag another one than of a phrase; None where there is no node."""
        return (self.ctree.label(node), node < len(self.ctree.tokens)) if node >= 0 else None

    def children(self, node: int) -> tuple[int, ...]:
        n = len(self.ctree.tokens)
        return self.ctree.children[node - n] if node >= n else ()

    def field(self, name: str) -> Hashable:
        """What a field of a template is; None where there is nothing."""
        n, parent = len(self.ctree.tokens), self.parents[self.node]
        siblings = (-1, *(self.children(parent) if parent >= 0 else (self.node,)), -1)
        place = siblings.index(self.node)
        around = {"left": siblings[place - 1], "right": siblings[place + 1]}
        if name == "index":
            return place
        if name == "length":
            return min(n // 4, 6)
        column, _, position = name.removesuffix("]").partition("[")
        above = {"parent": parent, "grandparent": self.parents[parent] if parent >= 0 else -1}
        nodes = {"node": self.node, **above, **around}
        if column == "symbol":
            return self.of(nodes[position])
        if column == "rule":
            return tuple(map(self.of, self.children(nodes[position]))) or None
        below = self.ctree.yields()[self.node]
        first, last = below[0], below[-1]
        token = {
            **{"first": first, "last": last, "first-1": first - 1, "last+1": last + 1, "end-1": n - 1},
            **{"second": min(first + 1, last), "third": first + 2 if first + 2 <= last else -1},
            **{"last-1": max(last - 1, first)},
            **{side: sibling if sibling < n else -1 for side, sibling in around.items()},
        }[position]
        if not 0 <= token < n:
            return None
        tokens = self.ctree.tokens
        if column == "ending":
            return tokens.forms[token][-3:]
        columns = {"word": tokens.forms, "tag": tokens.tags, "lemma": tokens.lemmas, "morph": tokens.morphs}
        return (columns[column] or ())[token] or None


def all_nodes() -> list[Node]:
    return [
        Node(ctree, node, parents)
        for ctree in treebank()
        for parents in [list(ctree.parents())]
        for node in range(ctree.root + 1)
    ]


@pytest.mark.parametrize("kind", ["pre-terminals", "phrases"])
def test_what_is_computed_is_what_the_templates_say(kind: str) -> None:
    leaf = kind == "pre-terminals"
    batch, nodes = flatten(treebank()), all_nodes()
    chosen = [
        number
        for number, one in enumerate(nodes)
        if (one.node < len(one.ctree.tokens)) == leaf and one.node != one.ctree.root
    ]
    hashed = features(batch, np.array(chosen)).tolist()
    templates = names(ABOVE, PRETERMINAL if leaf else PHRASE, *COLUMN_TEMPLATES.values())
    expected: dict[str, list[Hashable]] = {}
    for template in templates:
        column = expected[template] = []
        for number in chosen:
            values = tuple(nodes[number].field(name) for name in template.split())
            column.append(None if values == (None,) else (nodes[number].symbol, *values))
    computed = [[value or (row, "none") for value in column] for row, column in enumerate(hashed)]
    check_templates(expected, computed, alike=2 * leaf)  # first and last lemma and morph of one token


def test_the_root_has_the_bag_of_its_first_words() -> None:
    batch, nodes = flatten(treebank()), all_nodes()
    roots = [number for number, one in enumerate(nodes) if one.node == one.ctree.root]
    templates = names(ABOVE, PHRASE, *COLUMN_TEMPLATES.values())
    bags = features(batch, np.array(roots))[len(templates) :].T
    assert bags.shape == (len(roots), LONGEST_BAG)
    seen: dict[Hashable, int] = {}
    for number, bag in zip(roots, bags.tolist(), strict=True):
        forms = nodes[number].ctree.tokens.forms[:LONGEST_BAG]
        assert [value != 0 for value in bag] == [place < len(forms) for place in range(LONGEST_BAG)]
        for form, value in zip(forms, bag, strict=False):
            assert seen.setdefault((nodes[number].symbol, form), value) == value
    assert len(set(seen.values())) == len(seen)
