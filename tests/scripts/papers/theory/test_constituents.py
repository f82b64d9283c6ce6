"""Grammars of c-trees: parse trees are c-trees once bars are hidden, and Theorem 1 holds of them, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.trees.binarization import BINARIZATIONS, binarize
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import parse_bracket, read_brackets
from d2c.trees.heads import load_head_rules
from papers.shift_reduce import unbinarize
from papers.theory.automaton import Automaton, Feature, Lookahead, classes_for
from papers.theory.automaton import Path as Child
from papers.theory.grammars import (
    TOP,
    Rule,
    Steps,
    brackets,
    derivation_of,
    heads_of,
    of_derivations,
    steps_of,
    terminals_of,
)
from papers.theory.latent import latent_grammar, parse_trees
from tests.scripts.papers.theory.attributes import Unaries
from tests.scripts.papers.theory.theorem import strings, trees_by_string, verify
from tests.strategies import ctrees

SAMPLE = Path(__file__).parents[4] / "data" / "sample"
HEAD_RULES = load_head_rules("collins")
HAND = [  # trees over two tags, with chains of unary nodes and constituents of three and four
    "(S (NP (a w)) (VP (b w)))",
    "(S (NP (a w) (a w)) (VP (b w) (NP (a w))))",
    "(NP (NP (a w)) (S (VP (b w))) (a w))",
    "(S (VP (b w) (NP (a w)) (NP (a w) (a w) (a w))))",
    "(S (NP (b w)) (b w) (b w) (VP (b w)))",
]
FEATURES = (Feature(-3, Child()), Feature(-1, Unaries(2)))


def trees_of(texts: Iterable[str]) -> list[CTree]:
    return [HEAD_RULES.apply(parse_bracket(text)) for text in texts]


def taught(trees: Sequence[Steps], lookahead: int) -> Automaton:
    """Does what most of these trees do in each class of configurations."""
    grammar = of_derivations(trees)
    counts: dict[tuple[int, Lookahead], Counter[Rule]] = {}
    classes = classes_for(grammar, FEATURES, lookahead)
    machine = Automaton(
        grammar, classes, lambda *place: {counts[place].most_common(1)[0][0]: 1.0} if place in counts else {}
    )
    for steps in trees:
        configuration = machine.start(terminals_of(steps))
        for rule in steps:
            counts.setdefault(machine.place(configuration), Counter())[rule] += 1
            configuration = machine.step(configuration, rule)
        assert machine.accepts(configuration)
    return machine


def bracketed(ctree: CTree) -> str:
    """A c-tree as a term, tags being the terminals."""
    tags = ctree.tokens.tags
    terms = [f"{tag}({tag})" for tag in tags]
    for label, kids in zip(ctree.labels, ctree.children, strict=True):
        terms.append(f"{label}({' '.join(terms[kid] for kid in kids)})")
    return f"TOP({terms[ctree.root]})"


@given(ctrees(gaps=False), st.sampled_from(sorted(BINARIZATIONS)))
def test_hiding_bars_gives_the_c_tree_back(ctree: CTree, name: str) -> None:
    scheme = BINARIZATIONS[name]
    steps = steps_of(ctree, scheme)
    assert brackets(steps) == bracketed(ctree)
    assert terminals_of(steps) == ctree.tokens.tags
    heads, derivation = heads_of(steps), derivation_of(steps)
    assert (list(heads), derivation) == binarize(ctree, scheme)
    assert unbinarize(ctree.tokens, heads, derivation, ctree.top) == ctree


def test_the_grammar_has_the_trees_rules() -> None:
    grammar = of_derivations(map(steps_of, trees_of(["(NP (DT w) (JJ w) (NN w))", "(NN w)"])))
    assert grammar.terminals == ("DT", "JJ", "NN") and grammar.start == TOP
    assert [str(rule) for rule in grammar.rules] == [
        *("DT/tag → DT", "JJ/tag → JJ", "NN/tag → NN"),
        *("NP/bar → JJ/tag NN/tag", "NP → DT/tag NP/bar", "TOP/top → NP", "TOP/top → NN/tag"),
    ]
    assert {brackets(steps) for steps in parse_trees(grammar, 3)} == {
        *("TOP(NN(NN))", "TOP(NP(DT(DT) JJ(JJ) NN(NN)))"),
    }


@pytest.mark.parametrize("name", sorted(BINARIZATIONS))
@pytest.mark.parametrize("lookahead", [1, 2])
def test_theorem_1_on_every_string_of_two_tags(name: str, lookahead: int) -> None:
    machine = taught([steps_of(ctree, BINARIZATIONS[name]) for ctree in trees_of(HAND)], lookahead)
    assert machine.grammar.terminals == ("a", "b")
    found = verify(machine)
    assert found.strings == len(list(strings(6))) and found.accepted >= 5
    assert found.mismatches == 0


def test_theorem_1_on_trees_of_the_sample() -> None:
    short = (ctree for ctree in read_brackets(SAMPLE / "train.mrg") if 3 <= len(ctree.tokens) <= 8)
    gold = [steps_of(HEAD_RULES.apply(ctree)) for ctree in islice(short, 12)]
    machine = taught(gold, 1)
    found = trees_by_string(latent_grammar(machine).reduced(), 8)
    assert all(trees == [machine.parse(w)] for w, trees in found.items())
    accepted = [steps for steps in gold if machine.parse(terminals_of(steps))]
    assert len(accepted) >= 6
    assert all(terminals_of(steps) in found for steps in accepted)
