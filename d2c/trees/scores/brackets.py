"""Metrics of labelled constituents: EVALB's, its SPMRL variant's, and, where there are gaps, disco-dop's.

A table has one metric, the one asked for or chosen once from the gold trees (`metric_for`), never by what a
guess looks like. The tags of gold tell what is punctuation, on both sides; those of a guess never do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from d2c.trees.cleaning import WRAPPERS
from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import CTree, is_failed
from d2c.trees.heads import induce_heads
from d2c.trees.scores import disco, evalb
from d2c.trees.scores.evalb_sides import Rules, from_ctree
from d2c.trees.scores.matches import Score, Summary, Totals, summed
from d2c.trees.scores.prm import DiscoParameters, EvalbParameters
from d2c.trees.transforms import raise_gaps


@dataclass(frozen=True)
class Metric:
    """A scorer with its parameters, and which brackets it counts.

    title:        as tables name it
    scores:       of pairs of gold trees and guesses
    lines:        the table of scores, which are added to totals
    cutoff:       length up to which sentences have a summary of their own
    label:        symbol → what must be equal for a match; None: such brackets are left out
    tags, forms:  of the gold tree's tokens that are left out
    bare_wrapper: whether a wrapper without a label (`CTree.top` is "") is a bracket
    gaps:         whether brackets may have gaps; if not, gaps are raised on both sides
    """

    title: str
    scores: Callable[[Iterable[tuple[CTree, CTree | None]]], Iterable[Score]]
    lines: Callable[[Iterable[Score], Totals], Iterator[str]]
    cutoff: int
    label: Callable[[str], str | None]
    tags: frozenset[str]
    forms: frozenset[str] = frozenset()
    bare_wrapper: bool = False
    gaps: bool = True

    def score(self, gold: Iterable[CTree], guess: Iterable[CTree | None]) -> list[Score]:
        """Return the score of each sentence. None, for a sentence without a tree, has recall 0."""
        pairs = zip(gold, guess, strict=True)
        return list(self.scores((self.visible(a), b and self.visible(b)) for a, b in pairs))

    def visible(self, ctree: CTree) -> CTree:
        """Return the tree as it is scored. Trees that differ only in heads get the same brackets."""
        if self.gaps or ctree.is_continuous():
            return ctree
        raised = raise_gaps(replace(ctree, head_children=None))
        return raised if ctree.head_children is None else induce_heads(raised, to_dependencies(ctree).heads)

    def summary(self, scores: Iterable[Score]) -> Summary:
        """Return the sum of scores."""
        return summed(scores)


def evalb_metric(title: str, parameters: EvalbParameters) -> Metric:
    """Return EVALB's metric, or its variant's, with these parameters.

    If they leave out the wrapper TOP, it is left out under its other names, too: Stanza and CoreNLP call it
    ROOT, Charniak's parser S1. Otherwise the wrapper, which no parser has to find, would be a bracket of each
    sentence, or one that the other file cannot have.
    """
    if "TOP" in parameters.delete_labels:
        names = {wrapper for wrapper in WRAPPERS if wrapper}
        parameters = replace(parameters, delete_labels=parameters.delete_labels | names)
    rules = Rules(parameters)

    def scores(pairs: Iterable[tuple[CTree, CTree | None]]) -> Iterable[Score]:
        parsed = ((gold, None if guess and is_failed(guess.tokens) else guess) for gold, guess in pairs)
        lines = ((from_ctree(gold), from_ctree(guess) if guess else None) for gold, guess in parsed)
        return evalb.evaluate_by_gold(lines, parameters)

    return Metric(
        title,
        scores,
        evalb.report_lines,
        parameters.cutoff,
        rules.bracket_label,
        rules.deleted_tags,
        bare_wrapper=True,
        gaps=False,
    )


def disco_metric(title: str, parameters: DiscoParameters) -> Metric:
    """Return disco-dop's metric with these parameters."""
    deleted, equal = parameters.delete_labels, parameters.equal_labels

    def label(symbol: str) -> str | None:
        return None if symbol in deleted else equal.get(symbol, symbol)

    scores = partial(disco.evaluate, parameters=parameters)
    return Metric(
        title, scores, disco.report_lines, parameters.cutoff, label, deleted, parameters.delete_words
    )


METRICS = {
    "evalb": evalb_metric("EVALB, collins.prm", EvalbParameters.collins()),
    "spmrl": evalb_metric("EVALB of SPMRL 2013", EvalbParameters.spmrl2013()),
    "disco": disco_metric("disco-dop, proper.prm", DiscoParameters.proper()),
}


def metric_for(gold: Iterable[CTree], gaps: bool = False) -> Metric:
    """Return EVALB's metric; disco-dop's where a gold tree has gaps, or guesses may have some (`gaps`)."""
    continuous = not gaps and all(ctree.is_continuous() for ctree in gold)
    return METRICS["evalb" if continuous else "disco"]


def bracket_scores(gold: Sequence[CTree], guess: Iterable[CTree | None], gaps: bool = False) -> Summary:
    """Return the summary under the metric for these gold trees."""
    metric = metric_for(gold, gaps)
    return summed(metric.score(gold, guess))
