"""disco-dop's scores and format: its own output on 399 pairs of Dutch trees, and small cases."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given

from d2c.base.errors import FormatError
from d2c.commands.cli import cli
from d2c.trees.ctree import CTree
from d2c.trees.formats.discbracket import format_discbracket, parse_discbracket
from d2c.trees.formats.format import parse_all
from d2c.trees.scores.disco import evaluate, evaluate_all
from d2c.trees.scores.matches import Summary
from d2c.trees.scores.prm import DiscoParameters
from tests.errors import faulty
from tests.strategies import ctrees

ROOT = Path(__file__).resolve().parents[2]
VECTORS = Path(os.environ.get("D2C_VECTORS", ROOT.parent / "shared" / "vectors")) / "disco"
needs_vectors = pytest.mark.skipif(not VECTORS.is_dir(), reason=f"{VECTORS} is absent; set D2C_VECTORS")


def parse(*texts: str) -> list[CTree]:
    return [parse_discbracket(text) for text in texts]


def report(*options: str) -> list[str]:
    files = str(VECTORS / "gold.discbracket"), str(VECTORS / "guess.discbracket")
    run = CliRunner().invoke(cli, ["evaluate", *files, "--metric", "disco", *options])
    assert run.exit_code == 0, run.output
    return run.stdout.splitlines()


@needs_vectors
@pytest.mark.parametrize("options", [(), ("--params", str(VECTORS / "proper.prm"))])
def test_every_number_is_disco_dops(options: tuple[str, ...]) -> None:
    lines = report(*options)
    table = (VECTORS / "expected-per-sentence.txt").read_text().splitlines()
    summary = (VECTORS / "expected-summary.txt").read_text().splitlines()
    assert lines == [*table, *summary]


@needs_vectors
def test_constituents_with_gaps_only() -> None:
    summary = (VECTORS / "expected-disconly-summary.txt").read_text().splitlines()
    assert report("--disc-only")[-len(summary) :] == summary


@given(ctrees())
def test_discbracket_holds_every_tree(ctree: CTree) -> None:
    bare = replace(ctree, head_children=None)
    assert parse(format_discbracket(bare)) == [bare]
    counts = evaluate_all([bare], [bare], DiscoParameters())
    assert counts.matched == counts.gold == counts.guess and counts.complete == 1


def test_discbracket_details() -> None:
    (tree,) = parse("(S (NP 0=De\n 3=m=n) (VP (V 1=-LRB-) (A 2=x)))")
    assert tree.tokens.forms == ("De", "(", "x", "m=n")
    assert tree.tokens.tags == ("_", "V", "A", "_")
    assert tree.yields()[4:] == [(0, 3), (1, 2), (0, 1, 2, 3)]
    assert format_discbracket(parse("((S (A 0=a) (B 1=b)))")[0]) == "( (S (A 0=a) (B 1=b)))"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (A 0=a) (B 2=b))", "x:1: sentence 1: the token 1 is missing"),
        ("(S (A 0=a) (B 0=b))", "x:1: sentence 1: the token 0 comes twice"),
        ("(S (A a))", "x:1: sentence 1: expected a leaf like 0=word, found 'a'"),
        ("(S (A 0=a)", "x:1: sentence 1: a closing bracket is missing in this tree"),
        ("(S (A 0=a)))", "x:1: sentence 1: a closing bracket too many"),
        ("(S (A 0=a) ())", "x:1: sentence 1: the node '' is empty"),
        ("(S (A 0=a) (B))", "x:1: sentence 1: the node 'B' is empty"),
        ("0=a", "x:1: sentence 1: expected '(', found '0=a'"),
        ("(S (A 0=a)) 0=b", "x:1: sentence 1: the word '0=b' stands beside other words or nodes"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(FormatError) as error:
        list(parse_all([(1, text)], parse, "x"))
    assert str(error.value) == message


def test_tags_of_gold_say_what_is_left_out() -> None:
    """The guess has X at the full stop in place of PUNCT, and PUNCT in place of C."""
    parameters = DiscoParameters(delete_labels=frozenset({"PUNCT"}))
    gold, guess = parse("(S (VP (A 0=a) (C 1=c)) (PUNCT 2=.))", "(S (VP (A 0=a)) (PUNCT 1=c) (X 2=.))")
    [score] = evaluate([(gold, guess)], parameters)
    assert (score.matched, score.gold, score.guess, score.words, score.correct_tags) == (1, 2, 2, 2, 1)


def test_parameters() -> None:
    text = "# a comment\nDELETE_LABEL ROOT\nDELETE_WORD .\nEQ_LABEL NP NX\nEQ_WORD a b\nCUTOFF_LEN 2\n"
    parameters = DiscoParameters.parse(text.splitlines(), "p.prm")
    (gold,) = parse("(ROOT (NP (D 0=a) (N 2=c)) (V 1=d) (P 3=.))")
    (guess,) = parse("(ROOT (NX (D 0=b) (N 2=c)) (X 1=d) (P 3=.))")
    (score,) = evaluate([(gold, guess)], parameters)
    assert (score.gold, score.guess, score.matched, score.disc_gold) == (1, 1, 1, 1)
    assert (score.length, score.words, score.correct_tags) == (4, 3, 2)
    unlabeled = replace(parameters, labeled=False, equal_labels={})
    assert Summary.of(next(evaluate([(gold, guess)], unlabeled))).f1 == 100
    assert Summary.of(next(evaluate([(gold, guess)], replace(parameters, equal_labels={})))).f1 == 0
    with faulty("p.prm", 2, about="'X'"):
        DiscoParameters.parse(["LABELED 1", "X 1"], "p.prm")
    with faulty("p.prm", 1, about="CUTOFF_LEN"):
        DiscoParameters.parse(["CUTOFF_LEN"], "p.prm")
    for failed in (guess, None):
        (score,) = evaluate([(gold, failed)], DiscoParameters(delete_labels=frozenset({"P"})))
        assert score.failed and (score.gold, score.guess, score.matched) == (2, 0, 0)
        assert Summary.of(score).recall == 0 and not score.complete_match


@pytest.mark.parametrize(
    "lines", [["A B", "B C"], ["B C", "A B"], ["A B", "C B"], ["A B", "C D", "D B"], ["A B", "B A", "C A"]]
)
def test_names_that_lines_join_are_all_equal(lines: list[str]) -> None:
    parameters = DiscoParameters.parse([f"EQ_LABEL {line}" for line in lines], "p.prm")
    gold, guess = parse(*(f"(ROOT ({x} (N 0=a) (N 1=b)))" for x in "AC"))
    for pair in ((gold, guess), (guess, gold)):
        assert Summary.of(next(evaluate([pair], parameters))).f1 == 100


def test_what_has_no_right_bracket_has_no_f_measure(tmp_path: Path) -> None:
    """As disco-dop prints it: recall and precision are 0, their harmonic mean is no number."""
    files = [tmp_path / "gold.discbracket", tmp_path / "guess.discbracket"]
    for path, label in zip(files, "AB", strict=True):
        path.write_text(f"({label} (N 0=a) (N 1=b))\n")
    result = CliRunner().invoke(cli, ["evaluate", *map(str, files), "--metric", "disco"])
    assert re.search(r"labeled recall: +0.00 +0.00\n", result.output)
    assert re.search(r"labeled f-measure: +nan +nan\n", result.output)
