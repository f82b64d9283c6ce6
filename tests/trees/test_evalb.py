"""EVALB's own output, and each of its rules on a tree small enough to count by hand."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.base.errors import TooManyErrors
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import format_bracket, parse_bracket
from d2c.trees.scores.evalb import (
    evaluate,
    evaluate_files,
    format_line,
    report_lines,
)
from d2c.trees.scores.evalb_sides import EvalbLine, from_ctree, from_line
from d2c.trees.scores.matches import Score, Summary, Totals
from d2c.trees.scores.prm import EvalbParameters
from tests.strategies import ctrees

ROOT = Path(__file__).parents[2]
VECTORS = Path(os.environ.get("D2C_VECTORS", ROOT / ".." / "shared" / "vectors")) / "evalb"
needs_vectors = pytest.mark.skipif(not VECTORS.is_dir(), reason=f"no vectors in {VECTORS} (set D2C_VECTORS)")

COLLINS = EvalbParameters.collins()


def score(gold: str, guess: str, parameters: EvalbParameters = COLLINS) -> Score:
    (only,) = evaluate([(from_line(gold), from_line(guess))], parameters)
    return only


def labels(*names: str) -> frozenset[str]:
    return frozenset(names)


def pairs(*names: str) -> frozenset[tuple[str, str]]:
    return frozenset((a, b) for a, b in (name.split() for name in names))


def report(gold: Path, guess: Path, parameters: EvalbParameters) -> list[str]:
    return list(report_lines(evaluate_files(gold, guess, parameters), Totals(parameters.cutoff)))


# EVALB's own output


@needs_vectors
@pytest.mark.parametrize("name", ["collins", "spmrl"])
def test_600_sentences_print_as_by_evalb(name: str) -> None:
    """`expected-spmrl` is by the SPMRL variant: its four sentences of unequal length are valid ones."""
    parameters = EvalbParameters.read(VECTORS / f"{name}.prm", spmrl=name == "spmrl")
    ours = report(VECTORS / "gold.mrg", VECTORS / "guess.mrg", parameters)
    assert "\n".join(ours) + "\n" == (VECTORS / f"expected-{name}.txt").read_text()


@needs_vectors
def test_sample_of_evalb() -> None:
    """`sample.rsl` is older than the program of 2008, whose output differs from it in three things.

    - Words of a sentence with status 1 or 2: gold words (4) then; 0 now, as all numbers of such a sentence.
    - Sixth number of the sum line: sentences without crossing (16) then; crossings (1) now, mended in 2008.
    - Two lines `Bracketing FMeasure`, which came in 2006.
    """
    ours = report(
        VECTORS / "sample.gld", VECTORS / "sample.tst", EvalbParameters.read(VECTORS / "sample.prm")
    )
    theirs = (VECTORS / "sample.rsl").read_text().splitlines()
    assert [line for line in ours if "FMeasure" in line] == [
        "Bracketing FMeasure       =  89.12",
        "Bracketing FMeasure       =  83.20",
    ]
    ours = [line for line in ours if "FMeasure" not in line]
    different = {i: (a, b) for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b}
    sums = 4 + 24 - 1
    failed = [2 + number for number in (11, 12, 13, 14, 16, 17, 20)]
    assert sorted(different) == [*failed, sums + 1]
    for i in failed:
        now, then = (line.split() for line in different[i])
        assert (now[-3], then[-3]) == ("0", "4")
        assert now[:-3] + now[-2:] == then[:-3] + then[-2:]
    now, then = (line.split() for line in different[sums + 1])
    assert (now[5], then[5]) == ("1", "16")
    assert now[:5] + now[6:] == then[:5] + then[6:]


# Comparing

GOLD = "(S (A (P this)) (B (Q is) (A (R a) (T test))))"


@pytest.mark.parametrize(
    ("guess", "matched", "test", "crossing", "tags"),
    [
        (GOLD, 4, 4, 0, 4),
        ("(S (A (P this)) (B (Q is) (C (R a) (T test))))", 3, 4, 0, 4),
        ("(S (A (P this)) (B (Q is) (A (R a) (U test))))", 4, 4, 0, 3),
        ("(S (A (P this) (Q is)) (A (R a) (T test)))", 2, 3, 1, 4),
        ("(S (P this) (Q is) (R a) (T test))", 1, 1, 0, 4),
        ("(P this) (Q is) (R a) (T test)", 0, 0, 0, 4),
        ("(S (A (P this)) (B (Q is) (A (A (R a) (T test)))))", 4, 5, 0, 4),  # each bracket matches once
        ("(S (A-X (P this)) (B=2 (Q is) (A-Y=3 (R a) (T test))))", 4, 4, 0, 4),
        ("(S (X (A (P this) (Q is) (R a))) (T test))", 1, 3, 2, 4),  # each crossing bracket counts once
        ("(S (X) (A (P this)) (B (Q is) (A (R a) (T test))))", 4, 4, 0, 4),  # brackets around nothing
    ],
)
def test_brackets_and_tags(guess: str, matched: int, test: int, crossing: int, tags: int) -> None:
    assert score(GOLD, guess) == Score(1, 4, 0, matched, 4, test, crossing, 4, tags)


def test_tags_are_compared_whole_and_labels_up_to_a_sign() -> None:
    assert score("(S (A-B x))", "(S-1 (A-C x))") == Score(1, 1, 0, 1, 1, 1, 0, 1, 0)


def test_deleted_labels() -> None:
    gold = "(TOP (S (NP (NN a) (, ,)) (VP (VB b) (NP (-NONE- *))) (. .)))"
    # Length counts punctuation, but not -NONE-; words count neither; NP around nothing, TOP are no brackets.
    assert score(gold, "(TOP (S (NP (NN a)) (VP (VB b))))") == Score(1, 4, 0, 3, 3, 3, 0, 2, 2)
    assert score(gold, gold, EvalbParameters()) == Score(1, 5, 0, 5, 5, 5, 0, 5, 5)


def test_bracket_of_deleted_label_is_cut_first() -> None:
    """-NONE- as a phrase becomes the empty label, which no parameter deletes."""
    assert score("(-NONE- (A a))", "(-NONE- (A a))").gold == 1
    assert score("(TOP-1 (A a))", "(TOP-1 (A a))").gold == 0


def test_equal_labels() -> None:
    assert score("(S (ADVP (RB a)))", "(S (PRT (RB a)))").matched == 2
    tags = EvalbParameters(equal_labels=pairs("RB RP"))
    assert score("(S (RB a))", "(S (RP a))", tags).correct_tags == 1
    assert score("(S (RB a))", "(S (RP a))").correct_tags == 0
    deleted = EvalbParameters(delete_labels=labels("X"), equal_labels=pairs("Y X", "Z Y"))
    # Y goes with X, but Z, which only equals Y, stays; of tags only X itself goes.
    kept = score("(X (Y (Z (Y y) (X x))))", "(X (Y (Z (Y y))))", deleted)
    assert (kept.gold, kept.matched, kept.words) == (1, 1, 1)


def test_equal_labels_in_chain() -> None:
    """A = B = C, but not A = C: each gold bracket takes the first that fits, and may take it from another."""
    chain = EvalbParameters(equal_labels=pairs("A B", "B C"))
    assert score("(A (A (X x)))", "(B (C (X x)))", chain).matched == 1
    assert score("(B (A (X x)))", "(B (C (X x)))", chain).matched == 1
    assert score("(A (B (X x)))", "(B (C (X x)))", chain).matched == 2
    closed = EvalbParameters(equal_labels=pairs("A B", "B C", "C A"))
    assert score("(B (A (X x)))", "(B (C (X x)))", closed).matched == 2


def test_equal_words() -> None:
    equal = EvalbParameters(equal_words=pairs("This this"))
    for gold, guess in (("This", "this"), ("this", "This")):
        assert score(f"(A {gold})", f"(A {guess})", equal).status == 0
    assert score("(S (A That))", "(S (A this))", equal) == Score(1, 1, 1, problem="words differ (That|this)")


def test_unlabeled() -> None:
    unlabeled = EvalbParameters(labeled=False, delete_labels=labels("TOP"))
    result = score("(TOP (S (A (P p)) (B (Q q))))", "(TOP (C (D (P p)) (TOP (Q q))))", unlabeled)
    assert (result.matched, result.gold, result.guess) == (2, 3, 2)


@pytest.mark.parametrize("guess", ["", "(())", "(S (NP))", "(TOP (. .))"])
def test_empty_guess(guess: str) -> None:
    assert score("(TOP (S (NP (NN a)) (. .)))", guess) == Score(1, 2, 2, problem="no words in the guess")


def test_empty_gold_and_unequal_lengths() -> None:
    assert score("", "") == Score(1, 0, 2, problem="no words in the guess")
    assert score("", "(S (A a))") == Score(1, 0, 1, problem="lengths differ (0|1)")
    assert score("(S (A a) (, ,))", "(S (A a) (B ,))") == Score(1, 2, 1, problem="lengths differ (1|2)")


def test_unbalanced_sentence_has_numbers_but_is_an_error() -> None:
    """A bracket that is never closed ends at -1: it counts, and matches nothing that is closed."""
    result = score("(S (NP (A a)) (A b))", "(S (NP (A a)) (A b)")
    assert result == Score(1, 2, 1, 1, 2, 2, 0, 2, 2, "unbalanced brackets in the guess tree")
    assert Summary.of(result) == Summary(sentences=1, errors=1)


def test_deep_trees() -> None:
    depth = 5000
    chain = "(A " * depth + "(B b)" + ")" * depth
    right = "(A (B b) " * depth + "(B b)" + ")" * depth
    left = "(A " * depth + "(B b)" + " (B b))" * depth
    assert score(chain, chain) == Score(1, 1, 0, depth, depth, depth, 0, 1, 1)
    assert from_ctree(parse_bracket(chain)) == from_line(chain)
    crossed = score(left, right)
    assert (crossed.matched, crossed.gold, crossed.guess, crossed.crossing) == (1, depth, depth, depth - 1)


# Quotation marks

QUOTES = EvalbParameters(
    delete_labels=labels("``", "''", "TOP", ","), quote_labels=labels("``", "''", "POS"), max_error=10
)


def test_quote_that_only_one_side_deletes() -> None:
    gold = "(S (NP (NN dogs) ('' ')) (VP (VB bark)))"
    guess = "(S (NP (NN dogs) (POS ')) (VP (VB bark)))"
    for one, other in ((gold, guess), (guess, gold)):
        assert score(one, other, QUOTES) == Score(1, 3, 0, 3, 3, 3, 0, 3, 2)
    assert score(gold, gold, QUOTES) == Score(1, 3, 0, 3, 3, 3, 0, 2, 2)
    no_quotes = EvalbParameters(delete_labels=QUOTES.delete_labels)
    assert score(gold, guess, no_quotes).problem == "lengths differ (2|3)"


def test_quote_comes_back_into_its_brackets() -> None:
    """The deleted mark of gold stands outside of NP, the kept one of the guess inside."""
    result = score("(S (NP (NN a)) ('' ') (VP (VB b)))", "(S (NP (NN a) (POS ')) (VP (VB b)))", QUOTES)
    assert (result.matched, result.gold, result.guess, result.words) == (2, 3, 3, 3)


def test_other_differences_stay_errors() -> None:
    result = score("(S (A a) ('' ') (, ,))", "(S (A a) (POS ') (B ,))", QUOTES)
    assert result.problem == "lengths differ (2|3)"
    result = score("(S (A a) ('' x))", "(S (A a) (POS x))", QUOTES)  # not the word of a quotation mark
    assert result.problem == "lengths differ (1|2)"


def test_quote_can_come_back_twice() -> None:
    """The flaw of EVALB: a mark that was put back meets the next one of the guess and is put back again."""
    result = score("(S ('' ') (A a))", "(S (POS ') (POS ') (A a))", QUOTES)
    assert result == Score(1, 2, 0, 1, 1, 1, 0, 3, 1)


# The SPMRL variant


def test_variant_deletes_no_words() -> None:
    variant = EvalbParameters(delete_labels=labels(".", "TOP"), spmrl=True)
    line = "(TOP (S (NP (NN a)) (. .)))"
    assert score(line, line, variant) == Score(1, 2, 0, 2, 2, 2, 0, 2, 2)
    assert score(line, "(TOP (S (NP (NN a)) (X .)))", variant) == Score(1, 2, 0, 2, 2, 2, 0, 2, 1)


def test_variant_cuts_labels_and_tags() -> None:
    variant = EvalbParameters.spmrl2013()
    result = score("(NP#f=1# (N#g=m# a) (V-x b))", "(NP##x## (N b-) (V b))".replace("b-", "a"), variant)
    assert result == Score(1, 2, 0, 1, 1, 1, 0, 2, 2)
    # Deleted labels are cut as well, so that -NONE- deletes brackets without a label.
    assert score("( (S (A a)))", "( (S (A a)))", variant).gold == 1


def test_variant_counts_unequal_lengths_as_valid() -> None:
    variant = EvalbParameters.spmrl2013()
    result = score("(S (A a) (B b))", "(S (A a))", variant)
    assert result == Score(1, 2, 0, problem="lengths differ (2|1)")
    assert Summary.of(result) == Summary(sentences=1, complete=1, uncrossed=1, twice_crossed=1)


def test_variant_scores_one_word_twice() -> None:
    variant = EvalbParameters.spmrl2013()
    both = list(evaluate([(from_line("(S (A a))"), from_line("(S (A a) (B b))"))], variant))
    problem = "lengths differ (1|2)"
    assert both == [Score(1, 1, 0, problem=problem), Score(1, 1, 0, 0, 1, 1, 0, 1, 1, problem)]
    both = list(evaluate([(from_line("(S (A a))"), from_line("(S (A b) (B b))"))], variant))
    assert [result.status for result in both] == [0, 1]


# Summaries, errors, files


def sentences(*lines: tuple[str, str]) -> Iterator[tuple[EvalbLine, EvalbLine]]:
    return ((from_line(gold), from_line(guess)) for gold, guess in lines)


def test_summaries_add_up() -> None:
    scores = [score(GOLD, GOLD), score(GOLD, "(S (A (P this) (Q is)) (A (R a) (T test)))"), score(GOLD, "")]
    total = sum(map(Summary.of, scores), Summary())
    assert total == Summary(3, 0, 1, 6, 8, 7, 1, 8, 8, complete=1, uncrossed=1, twice_crossed=2)
    assert (total.valid, total.recall, total.accuracy) == (2, 75.0, 100.0)
    assert total.precision == pytest.approx(600 / 7)
    assert total.f1 == pytest.approx(80.0)
    assert (total.complete_match, total.average_crossing, total.no_crossing) == (50.0, 0.5, 50.0)
    assert total.two_or_less_crossing == 100.0


def test_cutoff_is_the_last_length_that_counts() -> None:
    totals = Totals(cutoff=2)
    for length in (1, 2, 3):
        line = "(S " + "(A a) " * length + "(-NONE- *))"
        list(totals.over([score(line, line)]))
    assert (totals.every.sentences, totals.every.words) == (3, 6)
    assert (totals.short.sentences, totals.short.words) == (2, 3)


def test_nothing_to_divide_by() -> None:
    totals = Totals(40)
    lines = list(report_lines(evaluate(sentences(("(S (A a))", "(S (A b))")), COLLINS), totals))
    assert lines[3] == "   1    1    1    0.00   0.00     0      0    0      0      0     0     0.00"
    assert lines[5] == "      0     0     0.00"  # no brackets: the first half is left out
    assert lines.count("Bracketing FMeasure       =   -nan") == 2
    assert lines.count("Tagging accuracy          =   0.00") == 2


def test_wide_numbers() -> None:
    assert format_line(Score(12345, 1234, 0, 1000, 3000, 2000, 0, 12345, 6789)) == (
        "12345  1234    0   33.33  50.00   1000    3000  2000      0   12345  6789    54.99"
    )


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_max_error(limit: int) -> None:
    """The program stops when a further error comes after `limit` + 1."""
    bad = ("(S (A a))", "(S (A b))")
    good = ("(S (A a))", "(S (A a))")
    scores = evaluate(sentences(*[good, bad] * 5), EvalbParameters(max_error=limit))
    seen = []
    with pytest.raises(TooManyErrors, match=rf"^sentence {2 * limit + 4}: words differ \(a\|b\)"):
        for result in scores:
            seen.append(result)
    assert len(seen) == 2 * limit + 3


def test_max_error_counts_errors_not_sentences() -> None:
    unbalanced = ("(S (A a)", "(S (A b)")  # two readings and a word
    with pytest.raises(TooManyErrors, match="sentence 1: words differ"):
        list(evaluate(sentences(unbalanced), EvalbParameters(max_error=1)))
    assert len(list(evaluate(sentences(unbalanced), EvalbParameters(max_error=2)))) == 1


def test_scores_come_one_at_a_time() -> None:
    def endless() -> Iterator[tuple[EvalbLine, EvalbLine]]:
        while True:
            yield from_line(GOLD), from_line(GOLD)

    scores = evaluate(endless(), COLLINS)
    assert [next(scores).id for _ in range(3)] == [1, 2, 3]


# The quick ways against the definitions

Span = tuple[str, int, int]


@st.composite
def trees(draw: st.DrawFn, words: int) -> str:
    """A bracketing over so many words, with unary chains."""

    def phrase(size: int, depth: int) -> str:
        cuts = sorted(draw(st.sets(st.integers(1, size - 1), max_size=2))) if size > 1 and depth < 6 else []
        if not cuts:
            parts = ["(T t)"] * size
        else:
            bounds = zip([0, *cuts], [*cuts, size], strict=True)
            parts = [phrase(end - start, depth + 1) for start, end in bounds]
        text = " ".join(parts)
        for label in draw(st.lists(st.sampled_from("ABCD"), max_size=3)):
            text = f"({label} {text})"
        return text

    return phrase(words, 0)


@given(st.data(), st.integers(1, 12), st.sets(st.sampled_from(["A B", "B C", "C A", "C D"])))
def test_counting_equals_evalb_loops(data: st.DataObject, words: int, equal: set[str]) -> None:
    gold, guess = from_line(data.draw(trees(words))), from_line(data.draw(trees(words)))
    parameters = EvalbParameters(equal_labels=pairs(*equal))
    (result,) = evaluate([(gold, guess)], parameters)
    ours, theirs = (list(zip(s.labels, s.starts, s.ends, strict=True)) for s in (gold, guess))

    def same(one: Span, other: Span) -> bool:
        names = {one[0], other[0]}
        return one[1:] == other[1:] and (len(names) == 1 or any(names == set(pair.split()) for pair in equal))

    crossing = [any(a < s < b < e or s < a < e < b for _, a, b in ours) for _, s, e in theirs]
    matched = 0
    for bracket in ours:
        first = next((other for other in theirs if same(bracket, other)), None)
        if first is not None:
            theirs.remove(first)
            matched += 1
    assert (result.matched, result.crossing) == (matched, sum(crossing))


@given(ctrees(gaps=False))
def test_a_tree_is_read_as_its_brackets_are(ctree: CTree) -> None:
    assert from_ctree(ctree) == from_line(format_bracket(ctree))


def test_morphology_counts_in_tags_where_it_is_asked_for() -> None:
    gold = from_line("(S (NN##c=nom## a) (VB##t=past## b))")
    guess = from_line("(S (NN##c=acc## a) (VB##t=past## b))")
    variant = EvalbParameters.spmrl2013()
    for parameters, correct in ((variant, 2), (replace(variant, morphology=True), 1)):
        (score,) = evaluate([(gold, guess)], parameters)
        assert score.correct_tags == correct and score.matched == score.gold == 1
