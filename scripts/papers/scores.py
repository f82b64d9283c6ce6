"""The figures of a system's trees, as JSON holds them: every metric, and sentences up to some lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from d2c.trees.ctree import CTree
from d2c.trees.scores import disco
from d2c.trees.scores.brackets import METRICS, bracket_scores, disco_metric, metric_for
from d2c.trees.scores.matches import Matches, Summary
from d2c.trees.scores.prm import DiscoParameters
from papers.table import Cell

LENGTHS = (30, 40, 70)  # of sentences: the cut-offs of Table 4 of "Parsing as Reduction"
ALL = "all"
# Beside METRICS: disco-dop's with punctuation, as for TIGER-SPMRL, and on constituents with gaps alone
PUNCTUATION, GAPS = "disco, punctuation counted", "gaps"
_NO_LABELS, _PROPER = frozenset(("NOPARSE", "TOP", "ROOT", "VROOT")), DiscoParameters.proper()
_GAPS_ALONE = replace(_PROPER, disc_only=True)
_COUNTED = replace(_PROPER, delete_labels=_NO_LABELS, delete_words=frozenset[str]())
_METRICS = METRICS | {PUNCTUATION: disco_metric(PUNCTUATION, _COUNTED)}


def figures(gold: Sequence[CTree], guess: Iterable[CTree], gaps: bool = False) -> dict[str, Any]:
    """Return recall, precision, f1 and exact under each metric, for sentences of up to each of LENGTHS words
    and for ALL.

    Metrics without gaps see trees whose gaps are raised; GAPS is of constituents with gaps alone. Lengths are
    as a metric counts them. `default` names the metric for these trees.
    gaps: whether guesses may have gaps
    """
    guesses = list(guess)
    default = metric_for(gold, gaps)
    found: dict[str, Any] = {"default": next(name for name, metric in METRICS.items() if metric is default)}
    for name, metric in _METRICS.items():
        scores = metric.score(gold, guesses)
        found[name] = {ALL: _shown(metric.summary(scores))}
        for most in LENGTHS:
            short = (score for score in scores if score.length <= most)
            found[name][str(most)] = _shown(metric.summary(short))
    found[GAPS] = {ALL: _shown(disco.evaluate_all(gold, guesses, _GAPS_ALONE))}
    return found


def f1_of(figures: Mapping[str, Any]) -> float:
    """Return F1 of all sentences, under the metric for these trees."""
    return float(figures[figures["default"]][ALL]["f1"])


def matches(gold: Sequence[CTree], guess: Iterable[CTree | None]) -> Matches:
    """Count the brackets under the metric for these gold trees; where there is no guess, none is found."""
    written = (b and replace(b, tokens=a.tokens) for a, b in zip(gold, guess, strict=True))
    return bracket_scores(gold, written).matches


def _shown(summary: Summary) -> dict[str, float]:
    names = {"recall": "recall", "precision": "precision", "f1": "f1", "exact": "complete_match"}
    return {name: getattr(summary, attribute) for name, attribute in names.items()}


@dataclass(frozen=True)
class Scored:
    """The figures of a row.

    brackets:   what `figures` returns
    attachment: UAS and LAS without punctuation; None for systems without d-trees
    by_heads:   UAS without punctuation of the c-trees' heads by the head rules, if there are any
    sentences, tokens: how many
    parsing, converting: seconds of the d-parser (or of a c-parser without one), and from d-trees to c-trees
    repairs:    per 1,000 tokens
    counts:     how many repairs of each kind
    """

    brackets: Mapping[str, Any]
    attachment: Sequence[float] | None
    by_heads: float | None
    sentences: int
    tokens: int
    parsing: float
    converting: float
    repairs: float = 0.0
    counts: Mapping[str, int] | None = None

    def figure(self, name: str, metric: str | None = None, longest: int | None = None) -> float:
        """Return recall, precision, f1 or exact; by default of all, under the metric for these trees."""
        chosen = self.brackets[metric or self.brackets["default"]]
        return float(chosen[str(longest or ALL)][name])

    @property
    def f1(self) -> float:
        """Return F1 of all sentences, in percent."""
        return f1_of(self.brackets)

    @property
    def seconds(self) -> float:
        """Return the seconds from tokens to c-trees; 0 for a file of trees."""
        return self.parsing + self.converting

    def cells(self, titles: Iterable[str]) -> list[Cell]:
        """Return the figures under some of COLUMNS."""
        return [COLUMNS[title](self) for title in titles]


def _tokens_per_second(scored: Scored) -> int | None:
    """Return tokens a second; None on gold d-trees and for files, which took no time."""
    parsed = scored.parsing or scored.attachment is None and scored.converting
    return round(scored.tokens / scored.seconds) if parsed else None


COLUMNS: Mapping[str, Callable[[Scored], Cell]] = {
    "UAS": lambda scored: scored.attachment[0] if scored.attachment else None,
    "LAS": lambda scored: scored.attachment[1] if scored.attachment else None,
    "UAS by head rules": lambda scored: scored.by_heads,
    **dict.fromkeys(("recall", "LR"), lambda scored: scored.figure("recall")),
    **dict.fromkeys(("precision", "LP"), lambda scored: scored.figure("precision")),
    "F1": lambda scored: scored.f1,
    "F1 (SPMRL)": lambda scored: scored.figure("f1", "spmrl"),
    "exact": lambda scored: scored.figure("exact"),
    "sentences/s": lambda scored: scored.sentences / scored.seconds if scored.seconds else None,
    "tokens/s": _tokens_per_second,
}
