"""The files of constrained CKY: what was learned, as JSON and arrays, checked as it is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
import numpy as np

from d2c.base.arrays import Floats
from d2c.base.model_files import read_as, reading, write_settings
from d2c.cky.grammar import ROOT, Grammar, Rule
from d2c.cky.search.pruning import Constraints
from d2c.cky.settings import ChartSettings
from d2c.cky.vocabulary import Vocabulary
from d2c.learning.weights import Arrays, Like, coded, dense, kept_in, read_arrays, write_arrays
from d2c.packed.scoring import ArcScoring
from d2c.trees.binarization import GLUE, LEFT, RIGHT, UNARY, Symbol
from d2c.trees.lone import LoneNodes

CHART_FORMAT = 5  # of the model directory; any change of the features needs a new number
_SETTINGS, _WEIGHTS = "cky.json", "weights.npz"
_CONSTRAINTS = {"by_tag": Like("b1", 2), "sides": Like("i8", 1), "next_side": Like("i4", 1)}


@dataclass(frozen=True)
class ModelFile:
    """The JSON of a model, see `Learned`."""

    settings: ChartSettings
    top: str | None
    gaps: bool
    default: Symbol
    rules: tuple[Rule, ...]
    levels: tuple[Annotated[int, msgspec.Meta(ge=0, le=(1 << 31) - 1)], ...]
    vocabulary: Vocabulary
    arcs: ArcScoring
    lone: LoneNodes | None = LoneNodes()


class Learned(NamedTuple):
    """All that `ConstrainedCKY.fit` learns.

    observed: the rules read off the treebank; grammar: those in use, see `used`
    top:     label above the root of c-trees; gaps: whether the training trees had gaps
    default: the symbol that the glue rule puts over a pre-terminal
    allowed: what pruning by both methods leaves
    arcs:    what packed arcs count for
    lone:    see `d2c.protocols.route.Route`
    """

    observed: Grammar
    grammar: Grammar
    vocabulary: Vocabulary
    top: str | None
    gaps: bool
    default: Symbol
    allowed: Constraints
    weights: Floats
    arcs: ArcScoring
    lone: LoneNodes | None


def write_model(directory: Path, settings: ChartSettings, learned: Learned) -> None:
    """Write JSON, and the weights as .npz, into a directory, made if absent."""
    observed = learned.observed
    file = ModelFile(
        settings=settings,
        top=learned.top,
        gaps=learned.gaps,
        default=learned.default,
        rules=observed.rules,
        levels=observed.levels,
        vocabulary=learned.vocabulary,
        arcs=learned.arcs,
        lone=learned.lone,
    )
    write_settings(directory / _SETTINGS, CHART_FORMAT, file)
    write_arrays(directory / _WEIGHTS, coded([learned.weights]) | learned.allowed._asdict())


def read_model(directory: Path) -> tuple[ChartSettings, Learned]:
    """Return what `write_model` wrote. Raises ModelError."""
    path = directory / _SETTINGS
    file = read_as(path, CHART_FORMAT, ModelFile)
    with reading(path):
        observed = _grammar(file.rules, file.levels)
        grammar = used(observed, file.settings)
        _check_tags(file.vocabulary, grammar)
        if file.default not in grammar.symbols or file.default.bar:
            raise ValueError("the default constituent is not in the grammar")
    path = directory / _WEIGHTS
    arrays = read_arrays(path, {**kept_in(path), **_CONSTRAINTS})
    with reading(path):
        allowed = _constraints(arrays, max(file.vocabulary.tags.values()) + 1, len(grammar.rules))
        weights = dense(arrays, file.settings.table_bits)
    known = file.vocabulary, file.top, file.gaps, file.default
    return file.settings, Learned(observed, grammar, *known, allowed, weights, file.arcs, file.lone)


def used(observed: Grammar, settings: ChartSettings) -> Grammar:
    """Return the grammar that the chart uses: the observed one, or its closure."""
    return observed.closed() if settings.grammar == "closed" else observed


def _grammar(rules: tuple[Rule, ...], levels: tuple[int, ...]) -> Grammar:
    """Return the grammar of a file. Raises ValueError for impossible rules, and for rules out of order;
    KeyError for an unfinished symbol without a whole one."""
    for kind, head, modifier, parent in rules:
        if kind not in (LEFT, RIGHT, UNARY) or (kind == UNARY) != (modifier is None):
            raise ValueError(f"a rule of kind {kind!r}")
        if ROOT in (head, modifier) or (parent == ROOT and (kind != UNARY or not head.is_whole)):
            raise ValueError(f"a root rule over {head!r} and {modifier!r}")
        if parent.is_tag or GLUE in (head.bar, parent.bar) or (modifier and not modifier.is_whole):
            raise ValueError(f"a rule over {head!r} and {modifier!r} that makes {parent!r}")
    if Grammar.of(rules).rules != rules or len(levels) != len(rules):
        raise ValueError("the rules are not in order")
    grammar = Grammar(rules, levels)
    grammar.table.finished  # raises KeyError where a symbol has no whole one  # noqa: B018
    return grammar


def _check_tags(vocabulary: Vocabulary, grammar: Grammar) -> None:
    """Raise ValueError where the grammar lacks a tag, or the vocabulary lacks its own `unknown_tag`."""
    for tag in (*vocabulary.tags, vocabulary.unknown_tag):
        if tag not in vocabulary.tags or Symbol(tag, "tag") not in grammar.symbol_ids:
            raise ValueError(f"the grammar has no tag {tag!r}")


def _constraints(arrays: Arrays, tags: int, rules: int) -> Constraints:
    """Return what pruning allows. Raises ValueError where it does not fit the grammar."""
    found = Constraints(*(arrays[name] for name in Constraints._fields))
    if found.by_tag.shape != (tags, rules) or len(found.sides) != len(found.next_side):
        raise ValueError("what pruning allows does not fit the grammar")
    if (np.diff(found.sides) <= 0).any() or not np.isin(found.next_side, (LEFT, RIGHT)).all():
        raise ValueError("the sides that pruning allows are out of range")
    return found
