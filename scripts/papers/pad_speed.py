"""The search space of constrained CKY: Table 1 of PAD, and run time against length, its Figure 5."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from d2c.base.progress import counted, log
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.cky.lexicalised_cky import LONGEST, lexicalised_oracle, parse_lexicalised
from d2c.experiments.rows import timed
from d2c.trees.dtree import DTree
from d2c.trees.scores.matches import percent
from papers.experiment import GOLD, Fitted, PaperExperiment, Parses
from papers.pad_chart import best_parses, chart, oracle, pruned
from papers.pad_tuning import chosen
from papers.scores import matches
from papers.systems import EXACT, trained
from papers.table import Cell, Draw, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SETUPS = {  # model: pruning, complexity
    "DEP CKY": ("none", "Σ_h |L(h)| |R(h)| |G|"),
    "PRUNE1": ("1", "Σ_h |L(h)| |R(h)| |G_T|"),
    "PRUNE2": ("2", None),
    "PRUNE1+2": ("1+2", None),
}
SHORT = 300  # sentences of LEX CKY at most, "limited to only sentences less than 20 words"
WIDTH = 5  # words of a class of lengths in Figure 5
ENOUGH = 5  # sentences of a class with which the exponent is fitted
FITTED = range(10, 80, WIDTH)
TRIES = 3  # of which the fastest counts


def pruning(experiment: PaperExperiment) -> Table:
    """Table 1: how fast the search is under either method, and what it could find.

    The oracle is that of the paper's footnote 10, on d-trees that a d-parser predicts.
    """
    parses, missing = best_parses(experiment)
    gold, fitted = experiment.parses(GOLD, "dev"), chart(experiment)
    whole = _sizes(experiment, fitted, parses)
    rows: list[list[Cell]] = []
    for name, (method, complexity) in SETUPS.items():
        smaller = pruned(fitted, method)
        scored = experiment.score(smaller, parses)
        best, f1 = oracle(experiment, smaller, parses), experiment.score(smaller, gold).f1
        speed, sizes = scored.sentences / scored.converting, _sizes(experiment, smaller, parses)
        share = percent(int((whole - sizes)[sizes > 0].sum()), int(whole[sizes > 0].sum()))
        rows.append([name, complexity, speed, best, scored.f1, f1, share, int((sizes == 0).sum())])
    notes = [
        f"On d-trees of {parses.source}; sentences a second: cky alone. Pruned: share of the rules in the "
        "charts that pruning leaves out. No parse: so many sentences, which get one without pruning or, "
        "where there is none either, by the glue rule; they are not in the share.",
        experiment.described("dev"),
        *missing,
    ]
    if fitted.route.gaps_:
        notes.append("LEX CKY and the latent grammar have only constituents without gaps, so no rows here.")
    else:
        row, note = _lexicalised(experiment)
        latent, told = _latent(experiment)
        rows, notes = [row, latent, *rows], [note, told, *notes]
    header = ("model", "complexity", "sentences/s", "oracle F1", "F1", "F1 on gold d-trees", "% pruned")
    return Table((*header, "no parse"), rows, notes)


def _sizes(experiment: PaperExperiment, fitted: Fitted[ConstrainedCKY], parses: Parses) -> NDArray[np.int64]:
    """[sentences] rules in the charts of d-trees; 0: no parse."""

    def make(_: Path) -> dict[str, list[int]]:
        return {"sizes": [fitted.route.chart_size(d) for d in counted(parses.dtrees, "sizes of charts")]}

    step = experiment.store.step("sizes", {"route": fitted.step.key, "parses": parses.key}, make)
    return np.array(step.facts["sizes"], np.int64)


def _lexicalised(experiment: PaperExperiment) -> tuple[list[Cell], str]:
    """The row of LEX CKY, and a note on it."""
    fitted = _figure_4(experiment)

    def make(_: Path) -> dict[str, Any]:
        both = zip(experiment.trees("dev"), experiment.gold("dev"), strict=True)
        pairs = [pair for pair in both if len(pair[1].tokens) < LONGEST][:SHORT]
        short, gold = [tree for tree, _ in pairs], [tree for _, tree in pairs]
        parse = partial(parse_lexicalised, fitted.route)
        parsed, seconds = timed(partial(map, parse), [tree.tokens for tree in short], "LEX CKY")
        nearest = [lexicalised_oracle(fitted.route, tree) for tree in counted(short, "LEX CKY: oracle")]
        return {
            "sentences": len(short),
            "unparsed": parsed.count(None),
            "seconds": seconds,
            "f1": matches(gold, parsed).f1 if gold else None,
            "oracle": matches(gold, nearest).f1 if gold else None,
        }

    made_of = {"route": fitted.step.key, "shorter": LONGEST, "most": SHORT}
    facts = experiment.store.step("lexicalised", made_of, make).facts
    note = (
        f"LEX CKY: the first {facts['sentences']} sentences of less than {LONGEST} words, without d-trees; "
        f"features of Figure 4 only. What it cannot parse counts as wrong: no bracket is found."
    )
    speed = facts["sentences"] / facts["seconds"] if facts["sentences"] else None
    return ["LEX CKY", "n⁵ |G|", speed, facts["oracle"], facts["f1"], None, None, facts["unparsed"]], note


def _latent(experiment: PaperExperiment) -> tuple[list[Cell], str]:
    """The row of the grammar that an oracle annotates (Nederhof, 2015), and a note on it."""
    scored = trained(experiment, "shift-reduce", "dev", **EXACT)
    speed = scored.sentences / scored.parsing
    note = (
        "Latent grammar: that of the shift-reduce automaton, without d-trees; what its oracle finds unlikely "
        "is left out."
    )
    return ["latent grammar", "n³ |G|", speed, None, scored.f1, None, None, 0], note


def _figure_4(experiment: PaperExperiment) -> Fitted[ConstrainedCKY]:
    """A chart whose features are those of Figure 4 alone, which say nothing of d-trees."""
    own: dict[str, Any] = {**experiment.settings.chart, **chosen(experiment)}
    own |= {"seed": experiment.settings.seed, "context": False, "labels": False}

    def make(directory: Path) -> dict[str, Any]:
        route = ConstrainedCKY(head_rules=experiment.treebank.head_rules, **own)
        route.fit(experiment.trees("train"), experiment.trees("dev"), progress=log.info)
        route.save(directory / "route")
        return {}

    step = experiment.store.step("figure-4", {**experiment.made_of, **own}, make)
    return Fitted(ConstrainedCKY.load(step.directory / "route"), step)


def run_time(experiment: PaperExperiment) -> Table:
    """Figure 5: milliseconds of each sentence of dev, its gold d-tree given, against its length."""
    fitted, parses = chart(experiment), experiment.parses(GOLD, "dev")
    lengths = np.array([len(dtree.tokens) for dtree in parses.dtrees])
    names = {"without pruning": "none", "with pruning": "1+2"}
    times = {name: _milliseconds(experiment, pruned(fitted, how), parses) for name, how in names.items()}
    rows: list[list[Cell]] = []
    for begin in range(0, int(lengths.max(initial=0)) + 1, WIDTH):
        inside = (lengths >= begin) & (lengths < begin + WIDTH)
        if inside.any():
            medians = (float(np.median(taken[inside])) for taken in times.values())
            rows.append([f"{max(1, begin)}–{begin + WIDTH - 1}", int(inside.sum()), *medians])
    exponents = {name: exponent(lengths, taken) for name, taken in times.items()}
    notes = [f"Time {name} grows as {_power(n)}." for name, n in exponents.items()]
    notes += [
        f"Gold d-trees; of {TRIES} runs the fastest. Where pruning leaves no parse, a search without it is "
        f"in the time. Exponents: a line through the medians of classes of {FITTED.start} words and more, on "
        "a log-log scale.",
        experiment.described("dev"),
    ]
    header = ("words", "sentences", *(f"median ms {name}" for name in names))
    return Table(header, rows, notes, _scattered(lengths, times, exponents))


def _milliseconds(
    experiment: PaperExperiment, fitted: Fitted[ConstrainedCKY], parses: Parses
) -> NDArray[np.float64]:
    """[sentences] of the fastest of a few runs."""

    def make(_: Path) -> dict[str, list[float]]:
        list(fitted.route.decode_all(parses.dtrees[:1]))
        of_each = counted(parses.dtrees, "run time")
        return {"milliseconds": [min(map(_timed(fitted.route, dtree), range(TRIES))) for dtree in of_each]}

    step = experiment.store.step("times", {"route": fitted.step.key, "parses": parses.key}, make)
    return np.array(step.facts["milliseconds"], np.float64)


def _timed(route: ConstrainedCKY, dtree: DTree) -> Callable[[int], float]:
    def milliseconds(_: int) -> float:
        start = time.perf_counter()
        route.decode(dtree)
        return 1000 * (time.perf_counter() - start)

    return milliseconds


def exponent(lengths: NDArray[Any], milliseconds: NDArray[Any]) -> float | None:
    """The slope on a log-log scale through the medians of classes of lengths; None for less than two."""
    classes = [(lengths >= begin) & (lengths < begin + WIDTH) for begin in FITTED]
    points = [(lengths[c].mean(), np.median(milliseconds[c])) for c in classes if c.sum() >= ENOUGH]
    if len(points) < 2:
        return None
    x, y = np.log(np.array(points)).T
    return float(np.polyfit(x, y, 1)[0])


def _power(exponent: float | None) -> str:
    return (
        "words to a power that so few sentences do not say" if exponent is None else f"words^{exponent:.2f}"
    )


def _scattered(
    lengths: NDArray[Any], times: Mapping[str, NDArray[Any]], exponents: Mapping[str, float | None]
) -> Draw:
    def draw(axes: Axes) -> None:
        for name, taken in times.items():
            label = name if exponents[name] is None else f"{name}: n^{exponents[name]:.2f}"
            axes.plot(lengths, taken, ".", markersize=2, label=label)
        axes.set(xlabel="words", ylabel="milliseconds", title="Constrained CKY")

    return draw
