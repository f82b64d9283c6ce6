"""The search space of constrained CKY: Table 1 of PAD, and run time against length, its Figure 5."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from d2c.base.progress import counted, log
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.experiments.rows import GOLD, Parses
from d2c.trees.dtree import DTree
from d2c.trees.scores.matches import percent
from experiments.experiment import Fitted
from experiments.timing import timed
from papers.charts import chart, chosen, oracle, pruned
from papers.experiment import RUNS, PaperExperiment
from papers.lexicalised_cky import LONGEST, lexicalised_oracle, parse_lexicalised
from papers.scores import matches
from papers.systems import EXACT, trained
from papers.table import Cell, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SETUPS = {  # model: pruning, complexity
    "DEP CKY": ("none", "Σ_h |L(h)| |R(h)| |G|"),
    "PRUNE1": ("1", "Σ_h |L(h)| |R(h)| |G_T|"),
    "PRUNE2": ("2", None),
    "PRUNE1+2": ("1+2", None),
}
PRUNINGS = {"without pruning": "none", "with pruning": "1+2"}
SHORT = 300  # sentences of LEX CKY at most, "limited to only sentences less than 20 words"
WIDTH = 5  # words of a class of lengths in Figure 5
ENOUGH = 5  # sentences of a class with which the exponent is fitted
FITTED = range(10, 80, WIDTH)
TRIES = 3  # runs, of which the fastest counts


def pruning(experiment: PaperExperiment) -> Table:
    """Table 1: how fast the search is under either method, and what it could find.

    The oracle is that of the paper's footnote 10, on d-trees that a d-parser predicts.
    """
    parses, gold, fitted = experiment.best_parses(), experiment.parses(GOLD, "dev"), chart(experiment)
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
    ]
    if fitted.route.gaps_:
        notes.append("LEX CKY and the latent grammar have only constituents without gaps, so no rows here.")
    else:
        facts = _lexicalised(experiment)
        latent = trained(experiment, "shift-reduce", "dev", **EXACT)
        lexicalised = (facts[name] for name in ("speed", "oracle", "f1", "on gold", "pruned", "unparsed"))
        rows = [
            ["LEX CKY", "n⁵ |G|", *lexicalised],
            [
                "latent grammar",
                "N³, N nodes kept",
                *latent.cells(("sentences/s",)),
                None,
                latent.f1,
                None,
                None,
                0,
            ],
            *rows,
        ]
        notes[:0] = [
            f"LEX CKY: the first {facts['sentences']} sentences of less than {LONGEST} words, without "
            "d-trees; features of Figure 4 only. What it cannot parse counts as wrong: no bracket is found.",
            "Latent grammar: that of the shift-reduce automaton, without d-trees; what its oracle finds "
            "unlikely is left out.",
        ]
    header = ("model", "complexity", "sentences/s", "oracle F1", "F1", "F1 on gold d-trees", "% pruned")
    return experiment.table((*header, "no parse"), rows, *notes)


def _sizes(experiment: PaperExperiment, fitted: Fitted[ConstrainedCKY], parses: Parses) -> NDArray[np.int64]:
    """Return [sentences] rules in the charts of d-trees; 0: no parse."""

    def make(_: Path) -> dict[str, list[int]]:
        return {"sizes": [fitted.route.chart_size(d) for d in counted(parses.dtrees, "sizes of charts")]}

    return np.array(experiment.step_of("sizes", fitted, parses, make)["sizes"], np.int64)


def _lexicalised(experiment: PaperExperiment) -> Mapping[str, Any]:
    """Return the scores and the speed of LEX CKY on short sentences."""
    fitted = _figure_4(experiment)

    def make(_: Path) -> dict[str, Any]:
        both = zip(experiment.trees("dev"), experiment.gold("dev"), strict=True)
        pairs = [pair for pair in both if len(pair[1].tokens) < LONGEST][:SHORT]
        short, gold = [tree for tree, _ in pairs], [tree for _, tree in pairs]
        parse = partial(parse_lexicalised, fitted.route)
        parsed, seconds = timed(partial(map, parse), [tree.tokens for tree in short], "LEX CKY", cpu=RUNS)
        nearest = [lexicalised_oracle(fitted.route, tree) for tree in counted(short, "LEX CKY: oracle")]
        return {
            "sentences": len(short),
            "unparsed": parsed.count(None),
            "speed": len(short) / seconds if short else None,
            "f1": matches(gold, parsed).f1 if gold else None,
            "oracle": matches(gold, nearest).f1 if gold else None,
            **dict.fromkeys(("on gold", "pruned")),
        }

    made_of = {"route": fitted.step.key, "shorter": LONGEST, "most": SHORT}
    return experiment.store.step("lexicalised", made_of, make).facts


def _figure_4(experiment: PaperExperiment) -> Fitted[ConstrainedCKY]:
    """Return a chart whose features are those of Figure 4 alone, which say nothing of d-trees."""
    own: dict[str, Any] = {**experiment.chart, **chosen(experiment)}
    own |= {"seed": experiment.spec.route.seed, "context": False, "labels": False}

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
    times = {name: _milliseconds(experiment, pruned(fitted, how), parses) for name, how in PRUNINGS.items()}
    rows: list[list[Cell]] = []
    for begin in range(0, int(lengths.max(initial=0)) + 1, WIDTH):
        inside = (lengths >= begin) & (lengths < begin + WIDTH)
        if inside.any():
            medians = (float(np.median(taken[inside])) for taken in times.values())
            rows.append([f"{max(1, begin)}–{begin + WIDTH - 1}", int(inside.sum()), *medians])
    exponents = {name: exponent(lengths, taken) for name, taken in times.items()}
    unknown = "words to a power that so few sentences do not say"
    powers = {name: unknown if n is None else f"words^{n:.2f}" for name, n in exponents.items()}

    def draw(axes: Axes) -> None:
        for name, taken in times.items():
            label = name if exponents[name] is None else f"{name}: n^{exponents[name]:.2f}"
            axes.plot(lengths, taken, ".", markersize=2, label=label)
        axes.set(xlabel="words", ylabel="milliseconds", title="Constrained CKY")

    return experiment.table(
        ("words", "sentences", *(f"median ms {name}" for name in PRUNINGS)),
        rows,
        *(f"Time {name} grows as {power}." for name, power in powers.items()),
        f"Gold d-trees; of {TRIES} runs the fastest. Where pruning leaves no parse, a search without it is "
        f"in the time. Exponents: a line through the medians of classes of {FITTED.start} words and more, on "
        "a log-log scale.",
        draw=draw,
    )


def _milliseconds(
    experiment: PaperExperiment, fitted: Fitted[ConstrainedCKY], parses: Parses
) -> NDArray[np.float64]:
    """Return [sentences] milliseconds of CPU time, of the fastest of TRIES runs."""

    def taken(dtree: DTree) -> float:
        start = time.process_time()
        fitted.route.decode(dtree)
        return 1000 * (time.process_time() - start)

    def make(_: Path) -> dict[str, list[float]]:
        list(fitted.route.decode_all(parses.dtrees[:1]))
        of_each = counted(parses.dtrees, "run time")
        return {"milliseconds": [min(taken(dtree) for _ in range(TRIES)) for dtree in of_each]}

    return np.array(experiment.step_of("times", fitted, parses, make)["milliseconds"], np.float64)


def exponent(lengths: NDArray[Any], milliseconds: NDArray[Any]) -> float | None:
    """Return the slope on a log-log scale through the medians of classes of lengths; None for fewer than two
    classes."""
    classes = [(lengths >= begin) & (lengths < begin + WIDTH) for begin in FITTED]
    points = [(lengths[c].mean(), np.median(milliseconds[c])) for c in classes if c.sum() >= ENOUGH]
    if len(points) < 2:
        return None
    x, y = np.log(np.array(points)).T
    return float(np.polyfit(x, y, 1)[0])
