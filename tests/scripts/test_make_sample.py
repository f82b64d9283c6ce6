"""The bundled sample: reproducible, well-formed, varied. (Also `test_words_decide.py`.)"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import make_sample
from tests.scripts.sample import ALL, GRAMMAR, SAMPLE, SIZES, TREES, nodes, rule, tags, words

# The files


def test_same_seed_same_files(tmp_path: Path) -> None:
    """The committed files are what the program writes, whatever Python's hash seed."""
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    subprocess.run(
        [sys.executable, make_sample.__file__, "--seed", "1", "--out", tmp_path], check=True, env=environment
    )
    for name in SIZES:
        assert (tmp_path / f"{name}.mrg").read_bytes() == (SAMPLE / f"{name}.mrg").read_bytes()


def test_other_seed_other_trees() -> None:
    grammar = make_sample.read_grammar(GRAMMAR)
    first, again, other = (list(map(str, make_sample.sample(grammar, seed, 20))) for seed in (2, 2, 3))
    assert first == again != other


def test_sizes_lengths_and_disjointness() -> None:
    assert {name: len(trees) for name, trees in TREES.items()} == SIZES
    lengths = [len(words(tree)) for tree in ALL]
    assert min(lengths) == 4
    assert max(lengths) == 25
    assert 11 <= sum(lengths) / len(lengths) <= 13
    assert len({" ".join(words(tree)).lower() for tree in ALL}) == len(
        ALL
    )  # none twice, in one file or in two


def test_reading_and_writing_agree() -> None:
    for name in SIZES:
        text = (SAMPLE / f"{name}.mrg").read_text(encoding="utf-8")
        assert text == "".join(f"{tree}\n" for tree in TREES[name])
    assert all(tree.label == "TOP" and len(tree.children) == 1 for tree in ALL)


def test_unknown_words_are_few() -> None:
    """In dev some words are new, mostly names, numbers and rare verb forms."""
    known = {word.lower() for tree in TREES["train"] for word in words(tree)}
    new = [word for tree in TREES["dev"] for word in words(tree) if word.lower() not in known]
    assert 5 < len(new) < 0.02 * sum(len(words(tree)) for tree in TREES["dev"])


# The labels and phenomena

# The Penn Treebank's, without those for which the sample has no use
PHRASES = """ADJP ADVP CONJP FRAG INTJ NP PP PRN PRT QP S SBAR SBARQ SINV SQ TOP VP
    WHADJP WHADVP WHNP WHPP"""
TAGS = """CC CD DT EX IN JJ JJR MD NN NNS NNP POS PRP PRP$ RB RP TO UH VB VBD VBG VBN VBP VBZ
    WDT WP WP$ WRB $ , . : `` '' -LRB- -RRB-"""


def test_labels() -> None:
    assert {node.label for tree in ALL for node in nodes(tree)} == set(PHRASES.split())
    assert {tag for tree in ALL for tag in tags(tree)} == set(TAGS.split())


# Rules (or parts of them) with the number of times that they occur at least in the training file
PHENOMENA = {
    # unary chains
    r"TOP -> (S|SQ|SBARQ|SINV|NP|FRAG)": 2000,
    r"TOP -> NP": 20,
    r"TOP -> FRAG": 20,
    r"S -> VP": 400,
    r"SQ -> VP": 20,
    r"NP -> PRP": 100,
    r"NP -> NN": 50,
    r"NP -> NNP": 100,
    r"ADVP -> RB": 300,
    r"ADJP -> JJ": 50,
    r"PRT -> RP": 20,
    r"WHNP -> (WP|WDT)": 300,
    r"SBAR -> S": 10,
    # clauses
    r"SBAR -> IN S": 150,
    r"SBAR -> WHNP S": 300,
    r"SBAR -> WHADVP S": 20,
    r"SBAR -> WHPP S": 5,
    r"SBARQ -> .*": 80,
    r"SQ -> (VBD|MD|VBZ) NP VP .": 20,
    r"SINV -> .*": 80,
    r"S -> S .*CC S .": 50,
    r"S -> NP VP .": 500,
    r"S -> VP .": 50,
    r".* `` .* ''( .*)?": 60,
    r"PRN -> -LRB- .* -RRB-": 10,
    r".*(?<!->) : .*": 30,
    # verb phrases
    r"VP -> TO VP": 50,
    r"VP -> MD (RB )?VP": 50,
    r"VP -> VB.? NP NP": 20,
    r"VP -> VB. NP S": 20,
    r"VP -> VB. S": 30,
    r"VP -> VB. NP PP.*": 200,
    r"VP -> VBN PP": 80,
    r"VP -> VBG.*": 100,
    r"VP -> VP CC VP": 100,
    r"VP -> VB. CC VB. NP": 50,
    r"VP -> ADVP VB.*": 10,
    # noun phrases
    r"NP -> NP PP": 500,
    r"NP -> NP SBAR": 100,
    r"NP -> NP PP SBAR": 100,
    r"NP -> NP CC NP": 100,
    r"NP -> NP VP": 50,
    r"NP -> NP , (NP|SBAR) ,": 10,
    r"NP -> .*POS": 50,
    r"NP -> DT NN S(BAR)?": 20,
    r"NP -> RB DT .*": 50,
    r"QP -> .*": 30,
}


RULES = Counter(rule(node) for tree in TREES["train"] for node in nodes(tree))


@pytest.mark.parametrize("pattern", PHENOMENA)
def test_phenomena(pattern: str) -> None:
    found = sum(count for name, count in RULES.items() if re.fullmatch(pattern, name))
    assert found >= PHENOMENA[pattern]


# The grammar


def test_everything_the_grammar_mentions_is_defined_and_used() -> None:
    grammar = make_sample.read_grammar(GRAMMAR)
    rules = [rule for alternatives in grammar.rules.values() for rule in alternatives]
    called, drawn, passed = {("TOP", 0)}, set(), set()
    stack = [item for rule in rules for item in rule.items]
    while stack:
        item = stack.pop()
        stack.extend(item.items)
        if item.kind == "call":
            called.add((item.name, len(item.args)))
            passed.update(item.args)
        elif item.kind == "word" and not make_sample.is_variable(item.args[0]):
            drawn.add(item.args[0])
    assert called == {
        (name, len(rule.args)) for name, alternatives in grammar.rules.items() for rule in alternatives
    }
    assert drawn <= set(grammar.words)
    assert {name for rule in rules for name, _, _ in rule.conditions} <= set(grammar.relations)
    values = {
        value for rows in grammar.relations.values() for row, _ in rows if len(row) > 1 for value in row
    }
    constants = {value for rule in rules for _, arguments, _ in rule.conditions for value in arguments}
    arguments = {value for rule in rules for value in rule.args}
    assert set(grammar.words) <= drawn | values | constants | arguments | passed


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("lexicon dog: dog", "cannot read"),
        ("rule TOP()\n    1  NP(sg)", r"no rule expands NP\(sg\)"),
        ("set num: sg\nrule TOP()\n    1  (NN dog) where num(pl)", r"no rule expands TOP\(\)"),
    ],
)
def test_grammar_errors(text: str, complaint: str) -> None:
    with pytest.raises(make_sample.GrammarError, match=complaint):
        make_sample.sample(make_sample.read_grammar(text), 1, 1)


@pytest.mark.parametrize(
    ("entry", "tag", "form"),
    [
        ("woman/women", "NNS", "women"),
        ("puppy", "NNS", "puppies"),
        ("brush", "NNS", "brushes"),
        ("key", "NNS", "keys"),
        ("eat/ate/eaten", "VBN", "eaten"),
        ("eat/ate/eaten", "VBG", "eating"),
        ("copy", "VBD", "copied"),
        ("enjoy", "VBZ", "enjoys"),
        ("taste", "VBD", "tasted"),
        ("taste", "VBG", "tasting"),
        ("go/went/gone", "VBZ", "goes"),
        ("put/put/put/putting", "VBG", "putting"),
    ],
)
def test_inflection(entry: str, tag: str, form: str) -> None:
    assert make_sample.inflect(entry, tag) == form
