"""What the report counts, on trees made by hand, and its agreement with the scorers on random ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given

from d2c.experiments.analysis import (
    DEPENDENCY,
    LABEL,
    RULE_CLASSES,
    SENTENCE_LENGTHS,
    SPAN,
    SPAN_LENGTHS,
    SPLIT,
    UNARY,
    Bracket,
    binary_rules,
    by_length,
    class_name,
    judge,
    length_class,
    table5,
    tally,
)
from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.scores.brackets import METRICS, metric_for
from d2c.trees.scores.matches import ERROR, Matches, Score
from tests.strategies import ctrees


def headed(text: str) -> CTree:
    """A tree in which `*` ends the label of a head child."""
    tree = parse_bracket(text)
    n = len(tree.tokens)
    names = [tree.label(node) for node in range(n + len(tree.labels))]
    heads = [next(kid for kid in kids if len(kids) == 1 or names[kid][-1] == "*") for kids in tree.children]
    tags = tuple(tag.rstrip("*") for tag in tree.tokens.tags)
    labels = [label.rstrip("*") for label in tree.labels]
    return build_ctree(Tokens(tree.tokens.forms, tags), labels, tree.children, tree.root, heads, tree.top)


# "saw" heads the sentence; the guess hangs "with ..." on "man" instead of "saw".
GOLD = headed(
    "(TOP (S (NP (PRP* I)) (VP* (VBD* saw) (NP (DT a) (NN* man)) (PP (IN* with) (NP (NN* hat)))) (. .)))"
)
GUESS = headed(
    "(TOP (S (NP (PRP* I)) (VP* (VBD* saw) (NP (NP* (DT a) (NN* man)) (PP (IN* with) (NP (NN* hat)))))"
    " (. .)))"
)
EVALB = metric_for([GOLD])


def errors(gold: CTree, guess: CTree) -> list[list[tuple[str, str]]]:
    """Labels and classes of missed gold brackets, then of wrong brackets of the guess."""
    return [[(b.label, b.error) for b in side if b.error] for side in judge(gold, guess, EVALB)]


def test_binary_rules_take_the_right_side_first() -> None:
    tree = headed("(S (A a) (B b) (C* c) (D d) (E e))")
    assert [tuple(rule) for rule in binary_rules(tree)] == [
        (2, 3, 0b01100, 0b00100, "S", True),
        (2, 4, 0b11100, 0b01100, "S", True),
        (2, 1, 0b11110, 0b00010, "S", True),
        (2, 0, 0b11111, 0b00001, "S", False),
    ]


def test_table5() -> None:
    counts = table5([GOLD], [GUESS])
    assert [counts[known] for known in RULE_CLASSES] == [
        (4, 4),  # hat <- with, a <- man, . <- saw, I <- saw
        (0, 0),
        (1, 1),  # saw (a man with hat): VP over the same words, cut elsewhere
        (0, 0),
        (0, 0),
        (1, 0),  # man <- with
    ]


def test_table5_with_other_heads_and_symbols() -> None:
    gold, guess = headed("(S (X (A a) (B* b)) (C* c))"), headed("(S (Y (A* a) (B b)) (C* c))")
    counts = {known: count for known, count in table5([gold], [guess]).items() if count[0]}
    # a -> b is no gold arc and Y no X; a <- c is none either, but S is right
    assert counts == {(False, True, True): (2, 1)}


def test_table5_with_a_constituent_that_is_not_finished() -> None:
    """In both trees a and b are an X; in the guess it still takes c."""
    gold, guess = headed("(X (X* (A* a) (B b)) (C c))"), headed("(X (A* a) (B b) (C c))")
    counts = {known: count for known, count in table5([gold], [guess]).items() if count[0]}
    assert counts == {(True, True, True): (2, 1)}


def test_errors_of_dependency() -> None:
    assert errors(GOLD, GUESS) == [[], [("NP", DEPENDENCY)]]
    wrong = judge(GOLD, GUESS, EVALB)[1]
    assert [b for b in wrong if b.error] == [Bracket(11, "NP", 0b111100, DEPENDENCY)]
    assert GUESS.labels[11 - 7] == "NP" and GUESS.yields()[11] == (2, 3, 4, 5)


def test_errors_of_span_and_label() -> None:
    flat = headed("(S (A a) (B* b) (C c))")
    assert errors(flat, headed("(S (X* (A a) (B* b)) (C c))")) == [[], [("X", SPAN)]]
    assert errors(flat, headed("(X (A a) (B* b) (C c))")) == [[("S", LABEL)], [("X", LABEL)]]
    split = headed("(X (Y* (A a) (B* b)) (C c))")
    assert errors(flat, split) == [[("S", SPLIT)], [("Y", SPAN), ("X", SPLIT)]]


def test_unary_nodes_and_punctuation() -> None:
    gold = headed("(S (NP* (NN* a)) (, ,) (VP (VB* b)))")
    assert errors(gold, headed("(S (X* (NN* a)) (, ,) (VP (VB* b)))")) == [[("NP", LABEL)], [("X", LABEL)]]
    moved = headed("(S (NP* (NN* a) (, ,)) (VP (VB* b)))")
    assert errors(gold, moved) == [[], []]  # EVALB does not see the comma
    doubled = headed("(S (NP* (NP* (NN* a))) (, ,) (VP (VB* b)))")
    assert errors(gold, doubled) == [[], [("NP", UNARY)]]
    bare = headed("(S (NN* a) (, ,) (VP (VB* b)))")
    assert errors(gold, bare) == [[("NP", UNARY)], []]
    chain = headed("(S (X* (NP* (NN* a))) (, ,) (VP (VB* b)))")
    assert errors(doubled, chain) == [[("NP", LABEL)], [("X", LABEL)]]
    over = headed("(S (VP* (A a) (B* b)))")
    assert errors(over, headed("(X (A a) (B* b))")) == [[("VP", UNARY), ("S", UNARY)], [("X", UNARY)]]
    assert errors(over, headed("(S (A a) (B* b))")) == [[("VP", UNARY)], []]


def test_tallies() -> None:
    judged = [judge(GOLD, GUESS, EVALB)]
    assert tally(judged, lambda b: b.label) == {
        "NP": Matches(3, 4, 3),
        "PP": Matches(1, 1, 1),
        "S": Matches(1, 1, 1),
        "VP": Matches(1, 1, 1),
    }
    assert tally(judged, lambda b: b.tokens.bit_count()) == {
        1: Matches(2, 2, 2),
        2: Matches(2, 2, 2),
        4: Matches(0, 1, 0),
        5: Matches(1, 1, 1),
        6: Matches(1, 1, 1),
    }
    noun = Matches(3, 4, 3)
    assert (noun.recall, noun.precision, round(noun.f1, 2)) == (100.0, 75.0, 85.71)
    assert (Matches().recall, Matches().precision, Matches(1, 1, 0).f1) == (0.0, 0.0, 0.0)


def test_classes_of_length() -> None:
    assert [length_class(n, SENTENCE_LENGTHS) for n in (1, 10, 11, 60, 61, 999)] == [0, 0, 1, 5, 6, 6]
    names = [class_name(number, SPAN_LENGTHS) for number in range(len(SPAN_LENGTHS) + 1)]
    assert names == ["1", "2", "3", "4", "5", "6–10", "11–20", "21–40", "41+"]
    scores = [
        Score(1, 9, matched=3, gold=4, guess=5),
        Score(2, 9, ERROR, 9, 9, 9),
        Score(3, 11, 0, 1, 1, 1),
    ]
    assert by_length([9, 9, 11], scores) == {0: Matches(4, 5, 3), 1: Matches(1, 1, 1)}


def aligned(one: CTree, other: CTree) -> tuple[CTree, CTree] | None:
    """Both trees, if they are over the same tokens."""
    return (one, other) if one.tokens == other.tokens else None


@given(ctrees(gaps=False, max_tokens=5), ctrees(gaps=False, max_tokens=5))
def test_brackets_are_those_of_evalb(gold: CTree, guess: CTree) -> None:
    if aligned(gold, guess):
        check_against_the_scorer(gold, guess)


@given(ctrees(max_tokens=5), ctrees(max_tokens=5))
def test_brackets_are_those_of_disco_dop(gold: CTree, guess: CTree) -> None:
    if aligned(gold, guess):
        check_against_the_scorer(gold, guess)


def check_against_the_scorer(gold: CTree, guess: CTree) -> None:
    metric = metric_for([gold], gaps=not guess.is_continuous())
    (score,) = metric.score([gold], [guess])
    ours, theirs = judge(gold, guess, metric)
    assert (len(ours), len(theirs)) == (score.gold, score.guess)
    assert sum(b.error is None for b in ours) == sum(b.error is None for b in theirs) == score.matched


@given(ctrees(), ctrees())
def test_binary_rules_are_the_arcs(gold: CTree, guess: CTree) -> None:
    heads = to_dependencies(gold).heads
    rules = list(binary_rules(gold))
    assert Counter((r.head + 1, r.modifier) for r in rules) == Counter(
        (h, m) for m, h in enumerate(heads) if h
    )
    assert len({rule.tokens for rule in rules}) == len(rules)
    if aligned(gold, guess):
        counts = table5([gold], [guess])
        assert sum(count for count, _ in counts.values()) == len(gold.tokens) - 1
        assert all(not right for known, (_, right) in counts.items() if not known.span)
        assert table5([gold], [gold])[RULE_CLASSES[0]] == (len(rules), len(rules))


@given(ctrees())
def test_errors_between_trees_with_one_d_tree(gold: CTree) -> None:
    everything = replace(METRICS["evalb"], label=lambda symbol: symbol, tags=frozenset())
    flatter = without_head_children(gold)
    assert to_dependencies(flatter).heads == to_dependencies(gold).heads
    missed, wrong = judge(gold, flatter, everything)
    assert all(b.error != DEPENDENCY for b in missed)
    assert all(b.error is None for b in wrong)


def without_head_children(ctree: CTree) -> CTree:
    """The c-tree in which every node that is a head child is merged with its parent, but for the root."""
    n = len(ctree.tokens)
    children: list[list[int]] = []
    heads: list[int] = []
    for kids, head in zip(ctree.children, ctree.head_children or (), strict=True):
        inside = children[head - n] if head >= n else [head]
        children.append([*inside, *(kid for kid in kids if kid != head)])
        heads.append(heads[head - n] if head >= n else head)
    return build_ctree(ctree.tokens, ctree.labels, children, ctree.root, heads, ctree.top)
