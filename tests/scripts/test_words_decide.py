"""The bundled sample: words, not tags, decide its ambiguities.

``pytest -n 0 -s -m scripts tests/scripts/test_words_decide.py`` prints the figures of data/sample/README.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from make_sample import read_grammar
from make_sample import sample as draw
from tests.scripts.sample import GRAMMAR, TREES, Tree, nodes, parse, rule, shape, tags

# The decisions that the sample is about. Each yields (kind of attachment, tags around it, words that matter).

Decision = tuple[str, tuple[str, ...], tuple[str, ...]]


def stem(leaf: Tree) -> str:
    """Four letters of a word, a poor man's lemma."""
    return leaf.word[:4].lower()


def plain(tree: Tree) -> bool:
    """A noun phrase without a phrase inside except a possessor, a numeral phrase or an adjective phrase."""
    return (
        tree.label == "NP"
        and not set(shape(tree)) & {"CC", "SBAR", "PP", "S", "VP", ","}
        and noun(tree) != ""
    )


def noun(tree: Tree) -> str:
    """The stem of the head word of a plain noun phrase."""
    last = tree.children[-1]
    return stem(last) if last.label in ("NN", "NNS", "NNP", "PRP") else ""


def first_np(tree: Tree) -> Tree:
    """The leftmost plain noun phrase of a noun phrase."""
    while not plain(tree) and tree.children and tree.children[0].label == "NP":
        tree = tree.children[0]
    return tree


def pp_attachment(node: Tree) -> Iterator[Decision]:
    """ate [NP soup] [PP with a spoon] or ate [NP [NP soup] [PP with mushrooms]]."""
    if node.label != "VP" or not re.match(r"VB. NP|VB NP", " ".join(shape(node))):
        return
    verb, np, *rest = node.children
    if plain(np) and rest and rest[0].label == "PP":
        kind, first, pp = "verb", np, rest[0]
    elif shape(np) == ["NP", "PP"] and plain(np.children[0]):
        kind, (first, pp) = "noun", np.children
    else:
        return
    second = first_np(pp.children[1])
    if plain(second):
        seen = (verb.label, *tags(first), pp.children[0].label, *tags(second))
        yield kind, seen, (pp.children[0].word, stem(verb), noun(first), noun(second))


def adjective_scope(node: Tree) -> Iterator[Decision]:
    """[NP young men and women] or [NP [NP polite men] and [NP dogs]]."""
    found = [leaf for leaf in node.leaves()]
    if node.label == "NP" and shape(node) == ["JJ", "NNS", "CC", "NNS"]:
        kind = "both"
    elif rule(node) == "NP -> NP CC NP" and [leaf.label for leaf in found] == ["JJ", "NNS", "CC", "NNS"]:
        kind = "first"
    else:
        return
    yield kind, tuple(tags(node)), (stem(found[0]), stem(found[1]), stem(found[3]))


def pp_scope(node: Tree) -> Iterator[Decision]:
    """[NP man [PP with [NP hat and scarf]]] or [NP [NP man with hat] and [NP woman]]."""
    if rule(node) == "NP -> NP PP" and shape(node.children[1].children[1])[:3] == ["NP", "CC", "NP"]:
        first, pp = node.children
        kind, prep, (second, _, third) = "inner", pp.children[0], pp.children[1].children
    elif rule(node) == "NP -> NP CC NP" and rule(node.children[0]) == "NP -> NP PP":
        (first, pp), third = node.children[0].children, node.children[2]
        kind, (prep, second) = "outer", pp.children
    else:
        return
    if plain(first) and plain(second) and plain(third):
        yield kind, tuple(tags(node)), (prep.word, noun(first), noun(second), noun(third))


def verb_coordination(node: Tree) -> Iterator[Decision]:
    """[VP washed and dried [NP plates]] or [VP [VP smiled] and [VP dried [NP plates]]]."""
    leaves = list(node.leaves())
    if node.label == "VP" and re.fullmatch(r"(VB.?) CC \1 NP", " ".join(shape(node))):
        kind = "one object"
    elif rule(node) == "VP -> VP CC VP" and [rule(c)[:9] for c in node.children[::2]] == [
        "VP -> VBD",
        "VP -> VBD",
    ]:
        first, _, second = node.children
        if len(first.children) > 1 or shape(second) != ["VBD", "NP"]:
            return
        kind = "two phrases"
    else:
        return
    yield kind, tuple(tags(node)), (stem(leaves[0]), stem(leaves[2]))


def relative_clause(node: Tree) -> Iterator[Decision]:
    """[NP owner of [NP dog that barked]] or [NP [NP owner] [PP of dog] [SBAR that smiled]]."""
    if rule(node) == "NP -> NP PP SBAR":
        kind, (first, pp, clause) = "high", node.children
        second = pp.children[1]
    elif rule(node) == "NP -> NP PP" and rule(node.children[1].children[1]) == "NP -> NP SBAR":
        kind, (first, pp) = "low", node.children
        second, clause = pp.children[1].children
    else:
        return
    if rule(clause) != "SBAR -> WHNP S":
        return
    body = clause.children[1]
    verb = next(leaf for leaf in body.children[-1].leaves() if leaf.label[:2] in ("VB", "MD"))
    voice = "/subject" if shape(body) == ["VP"] else "/object"  # what the noun is in the clause
    yield kind, tuple(tags(node)), (stem(verb) + voice, pp.children[0].word, noun(first), noun(second))


DECISIONS: dict[str, tuple[Callable[[Tree], Iterator[Decision]], ...]] = {
    "PP attachment": (pp_attachment,),
    "coordination": (adjective_scope, pp_scope, verb_coordination),
    "relative clauses": (relative_clause,),
}


def decisions(trees: list[Tree], finders: tuple[Callable[[Tree], Iterator[Decision]], ...]) -> list[Decision]:
    """All decisions of one sort, the name of the finder put before tags and words."""
    return [
        (kind, (finder.__name__, *seen), (finder.__name__, *important))
        for tree in trees
        for node in nodes(tree)
        for finder in finders
        for kind, seen, important in finder(node)
    ]


# What can be told from the tags, and what from the words? Both by the same learner, logistic regression.


def tag_features(decision: Decision) -> list[tuple]:
    """The tag sequence, and its runs of one, two and three tags."""
    name, *seen = decision[1]
    runs = [(name, i, *seen[i : i + size]) for size in (1, 2, 3) for i in range(len(seen) - size + 1)]
    return [decision[1], (name,), *runs]


def word_features(decision: Decision) -> list[tuple]:
    """All subsets of the deciding words."""
    name, *important = decision[2]
    numbered = list(enumerate(important))
    return [(name, *chosen) for size in range(len(numbered) + 1) for chosen in combinations(numbered, size)]


def accuracy(
    train: list[Decision], held_out: list[Decision], features: Callable[[Decision], list[tuple]]
) -> float:
    """Percentage of the held-out decisions that logistic regression (AdaGrad, L2) gets right."""
    kinds = {
        name: sorted({kind for kind, (other, *_), _ in train if other == name}) for _, (name, *_), _ in train
    }
    columns: dict[tuple, int] = {}
    rows = [sorted({columns.setdefault(feature, len(columns)) for feature in features(d)}) for d in train]
    ends, present = np.cumsum([0, *map(len, rows)]), [column for row in rows for column in row]
    matrix = csr_matrix((np.ones(len(present)), present, ends), (len(rows), len(columns)))
    signs = np.array([2 * kinds[seen[0]].index(kind) - 1 for kind, seen, _ in train])
    weights, squares = np.zeros(len(columns)), np.full(len(columns), 1e-8)
    for _ in range(100):
        gradient = 0.1 * weights - matrix.T @ (signs / (1 + np.exp(signs * (matrix @ weights))))
        squares += gradient**2
        weights -= 0.3 * gradient / np.sqrt(squares)
    scores = [sum(weights[columns[f]] for f in features(d) if f in columns) for d in held_out]
    right = [
        kinds[seen[0]][int(score > 0)] == kind
        for score, (kind, seen, _) in zip(scores, held_out, strict=True)
    ]
    return 100 * sum(right) / len(right)


@pytest.mark.parametrize("sort", DECISIONS)
def test_words_decide(sort: str) -> None:
    train = decisions(TREES["train"], DECISIONS[sort])
    held_out = decisions(TREES["dev"] + TREES["test"], DECISIONS[sort])
    by_tags, by_words = (accuracy(train, held_out, features) for features in (tag_features, word_features))
    print(f"\n{sort}: {len(train)} in train, {len(held_out)} in dev and test;", end=" ")
    print(f"tags alone decide {by_tags:.1f} %, words {by_words:.1f} %")
    for finder in DECISIONS[sort]:
        print(
            "   ", finder.__name__, dict(Counter(k for k, (name, *_), _ in train if name == finder.__name__))
        )
    assert len(train) > 300
    assert by_tags < 70
    assert by_words > 90


@pytest.mark.stress
def test_words_decide_in_other_samples() -> None:
    """The grammar was written with an eye on the sample of seed 1, so others are drawn to be measured too."""
    grammar = read_grammar(GRAMMAR)
    figures: dict[str, list[tuple[float, float]]] = {sort: [] for sort in DECISIONS}
    for seed in range(2, 7):
        trees = [parse(tree) for tree in draw(grammar, seed, 2600)]
        for sort, finders in DECISIONS.items():
            train, held_out = decisions(trees[:2000], finders), decisions(trees[2000:], finders)
            by_tags, by_words = (accuracy(train, held_out, f) for f in (tag_features, word_features))
            figures[sort].append((by_tags, by_words))
    for sort, pairs in figures.items():
        by_tags, by_words = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
        print(
            f"\n{sort}, mean of seeds 2 to 6: tags alone decide {by_tags:.1f} %, words {by_words:.1f} %",
            end="",
        )
        assert by_tags < 70
        assert by_words > 88
