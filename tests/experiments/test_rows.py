"""Rows of a comparison: one metric for all of them, and nothing timed that is done only once."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import pytest

from d2c.experiments.analysis import tally
from d2c.experiments.report import analysed
from d2c.experiments.rows import Comparison, GoldStandard, Parses, Row, cells, score, table_lines
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree, build_ctree
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import parse_bracket, read_brackets
from d2c.trees.repair import Repairs
from d2c.trees.scores.brackets import METRICS
from d2c.trees.scores.matches import Matches

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "dev.mrg"
GOLD = parse_bracket("(TOP (S (VP (VB a) (NN b)) (PP (IN c)) (. .)))")


class Fake:
    """A route that gives what it is told to; its calls and looks at the clock are noted in their order."""

    def __init__(self, guess: CTree, noted: list[str], gaps: bool = False) -> None:
        self.guess, self.noted, self.gaps_ = guess, noted, gaps

    def decode_all(self, dtrees: Iterable[DTree], repairs: Repairs | None = None) -> Iterator[CTree]:
        dtrees = list(dtrees)
        self.noted.append(f"decode {len(dtrees)}")
        return iter([self.guess for _ in dtrees])

    def relabel(self, dtrees: Sequence[DTree]) -> Sequence[DTree]:
        return dtrees


def standard(*routes: Fake, sentences: int = 1) -> GoldStandard:
    dtree = Reduction("direct").encode(GOLD)
    return GoldStandard.of([GOLD] * sentences, [dtree] * sentences, routes)  # type: ignore[arg-type]


def scored(route: Fake, sentences: int = 3) -> Row:
    gold = standard(route, sentences=sentences)
    return score("fake", route, gold, Parses("gold", gold.dtrees))  # type: ignore[arg-type]


def test_the_clock_starts_after_a_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[str] = []
    clock = time.perf_counter

    def noting() -> float:
        noted.append("clock")
        return clock()

    monkeypatch.setattr(time, "perf_counter", noting)
    assert scored(Fake(GOLD, noted)).converting > 0
    assert noted[:4] == ["decode 1", "clock", "decode 3", "clock"]
    assert noted[4:] == ["clock", "decode 1", "clock"] * 9  # three times each


def test_a_guess_with_gaps_does_not_choose_the_metric() -> None:
    gaps = build_ctree(GOLD.tokens, ["VP", "S"], [(0, 2), (4, 1, 3)], 5, [0, 4], "TOP")
    raised = build_ctree(GOLD.tokens, ["VP", "S"], [(0,), (4, 1, 2, 3)], 5, [0, 4], "TOP")
    assert not gaps.is_continuous() and raised.is_continuous()
    every = [scored(Fake(guess, []), sentences=1) for guess in (gaps, raised, GOLD)]
    assert [row.brackets.matches for row in every] == [Matches(3, 2, 1), Matches(3, 2, 1), Matches(3, 3, 3)]
    comparison = Comparison(standard(Fake(gaps, [])), every[:1])
    assert list(table_lines(comparison))[-1].endswith("EVALB, collins.prm.")
    (route,) = analysed(comparison)[1]
    assert tally(route.judged, lambda _: None) == {None: every[0].brackets.matches}
    learned = standard(Fake(GOLD, []), Fake(gaps, [], gaps=True))
    assert learned.metric.title == "disco-dop, proper.prm"


def test_a_metric_that_is_asked_for_raises_gaps_on_both_sides() -> None:
    """The full stop ends S for SPMRL, which counts punctuation, and not for EVALB."""
    gaps = build_ctree(GOLD.tokens, ["VP", "S"], [(0, 2), (4, 1, 3)], 5, [0, 4], "TOP")
    bare = parse_bracket("(TOP (S (VP (VB a)) (NN b) (IN c)) (. .))")
    dtree = Reduction("direct").encode(gaps)
    found = {}
    for name in ("evalb", "spmrl"):
        gold = GoldStandard.of([gaps], [dtree], [Fake(bare, [])], name)  # type: ignore[list-item]
        found[name] = score("fake", Fake(bare, []), gold, Parses("gold", [dtree]))  # type: ignore[arg-type]
        [line] = list(table_lines(Comparison(gold, [found[name]])))[-1:]
        assert line.endswith(f"{METRICS[name].title}.")
    assert found["evalb"].brackets.matches == Matches(2, 2, 2)
    assert found["spmrl"].brackets.matches == Matches(2, 2, 1)


def test_gold_d_trees_come_back_whole() -> None:
    ctrees = list(islice(read_brackets(SAMPLE, clean=True), 20))
    route = Reduction("direct").fit(ctrees)
    gold = GoldStandard.of(ctrees, list(map(route.encode, ctrees)), [route])
    row = score("reduction", route, gold, Parses("gold", gold.dtrees, seconds=1.0))
    assert row.attachment.las == 100 and row.brackets.f1 > 95 and row.parsing == 1.0
    conversion, overall = (int(cell.replace(",", "")) for cell in cells(row)[-5:-3])  # tokens a second
    assert overall < conversion
