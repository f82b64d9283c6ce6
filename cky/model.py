"""The files of route 2: what was learned, as JSON and arrays, checked as it is read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from d2c.base.model_files import read_settings, reading, typed, write_settings
from d2c.cky.grammar.grammar import ROOT, Grammar, Rule
from d2c.cky.grammar.vocabulary import Vocabulary
from d2c.cky.search.constraints import Constraints
from d2c.cky.settings import ChartSettings
from d2c.forests.forest import Floats
from d2c.linear.weights import SPARSE, Arrays, Like, dense, read_arrays, sparse, write_arrays
from d2c.packed.feature import ArcFeature
from d2c.trees.binarization import GLUE, LEFT, RIGHT, UNARY, Symbol

FORMAT = 5  # of the model directory; any change of the features makes a new one
_SETTINGS, _WEIGHTS = "cky.json", "weights.npz"
_CONSTRAINTS = {"by_tag": Like("b1", 2), "sides": Like("i8", 1), "next_side": Like("i4", 1)}


@dataclass(frozen=True)
class Learned:
    """What `ConstrainedCKY.fit` learns.

    observed: the rules that were read off; grammar: those that are used
    top:     label above the root of c-trees; gaps: whether the training trees had some
    default: what the glue rule puts over a pre-terminal
    allowed: what pruning by both methods leaves
    arcs:    what packed arcs count for
    """

    observed: Grammar
    grammar: Grammar
    vocabulary: Vocabulary
    top: str | None
    gaps: bool
    default: Symbol
    allowed: Constraints
    weights: Floats
    arcs: ArcFeature


def write_model(directory: Path, settings: ChartSettings, learned: Learned) -> None:
    """Writes JSON, and the non-zero weights as .npz, into a directory, made if absent."""
    said = {
        "settings": asdict(settings),
        "top": learned.top,
        "gaps": learned.gaps,
        "default": learned.default,
        "arcs": learned.arcs,
        "rules": learned.observed.rules,
        "levels": learned.observed.levels,
        "vocabulary": asdict(learned.vocabulary),
    }
    write_settings(directory / _SETTINGS, FORMAT, said)
    write_arrays(directory / _WEIGHTS, sparse(learned.weights) | learned.allowed._asdict())


def read_model(directory: Path) -> tuple[ChartSettings, Learned]:
    """What `write_model` wrote. Raises ModelError."""
    path = directory / _SETTINGS
    said = read_settings(path, FORMAT)
    with reading(path):
        settings, vocabulary = ChartSettings(**said["settings"]), Vocabulary(**said["vocabulary"])
        observed, default = _grammar(said["rules"], said["levels"]), Symbol(*said["default"])
        grammar = used(observed, settings)
        _check_vocabulary(vocabulary, grammar)
        if default not in grammar.symbols or default.bar:
            raise ValueError("the default constituent is not in the grammar")
        feature = ArcFeature.read(said.get("arcs", ()))  # models of 0.2.0 have none
        known = typed(said, {"top": str | None, "gaps": bool})
    arrays = read_arrays(directory / _WEIGHTS, SPARSE | _CONSTRAINTS)
    with reading(directory / _WEIGHTS):
        allowed = _constraints(arrays, max(vocabulary.tags.values()) + 1, len(grammar.rules))
        weights = dense(arrays, settings.table_bits)
    top, gaps = known["top"], known["gaps"]
    return settings, Learned(observed, grammar, vocabulary, top, gaps, default, allowed, weights, feature)


def used(observed: Grammar, settings: ChartSettings) -> Grammar:
    """The grammar of the chart, of the rules that were read off."""
    return observed.closed() if settings.grammar == "closed" else observed


def _grammar(rows: list[Any], levels: list[int]) -> Grammar:
    """The grammar of a file. Raises ValueError for rules out of order, and for kinds that there are not."""
    rules = tuple(
        Rule(kind, Symbol(*head), Symbol(*modifier) if modifier else None, Symbol(*parent))
        for kind, head, modifier, parent in rows
    )
    for kind, head, modifier, parent in rules:
        names = (part for symbol in (head, modifier or ROOT, parent) for part in symbol)
        if kind not in (LEFT, RIGHT, UNARY) or (kind == UNARY) != (modifier is None):
            raise ValueError(f"a rule of kind {kind!r}")
        if not all(isinstance(name, str) for name in names):
            raise ValueError("a rule with a symbol that is no text")
        if ROOT in (head, modifier) or (parent == ROOT and (kind != UNARY or not head.is_whole)):
            raise ValueError(f"a root rule over {head!r} and {modifier!r}")
        if parent.is_tag or GLUE in (head.bar, parent.bar) or (modifier and not modifier.is_whole):
            raise ValueError(f"a rule over {head!r} and {modifier!r} that makes {parent!r}")
    if Grammar.of(rules).rules != rules or len(levels) != len(rules):
        raise ValueError("the rules are not in order")
    if not all(isinstance(level, int) and 0 <= level < 1 << 31 for level in levels):
        raise ValueError("a level is out of range")
    grammar = Grammar(rules, tuple(levels))
    grammar.table.finished  # of each symbol a whole one must be there  # noqa: B018
    return grammar


def _check_vocabulary(vocabulary: Vocabulary, grammar: Grammar) -> None:
    """Raises ValueError where numbers are out of range, or the grammar lacks a tag."""
    for numbers in (vocabulary.words, vocabulary.tags, vocabulary.labels, vocabulary.morphs):
        if not isinstance(numbers, dict) or not all(
            isinstance(number, int) and 0 < number < 1 << 20 for number in numbers.values()
        ):
            raise ValueError("the number of a name is out of range")
    for tag in (*vocabulary.tags, vocabulary.unknown_tag):
        if tag not in vocabulary.tags or Symbol(tag, "tag") not in grammar.symbol_ids:
            raise ValueError(f"the grammar has no tag {tag!r}")


def _constraints(arrays: Arrays, tags: int, rules: int) -> Constraints:
    """Raises ValueError where they do not fit the grammar."""
    found = Constraints(*(arrays[name] for name in Constraints._fields))
    if found.by_tag.shape != (tags, rules) or len(found.sides) != len(found.next_side):
        raise ValueError("what pruning allows does not fit the grammar")
    if (np.diff(found.sides) <= 0).any() or not np.isin(found.next_side, (LEFT, RIGHT)).all():
        raise ValueError("the sides that pruning allows are out of range")
    return found
