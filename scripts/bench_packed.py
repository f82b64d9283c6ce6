"""Packed arcs on CRAFT: oracle, F1 and time for several numbers of heads per word.

    python scripts/bench_packed.py [--route cky|labeler] [--sentences N] [--dev N] [--dparser NAME]
                                   [--models DIR]

D-parser (small preset) and route learn from the first nine tenths of the training sentences, gold tags; what
arcs count for is learned on the last tenth, for 1.5 heads per word. Then dev: heads per word, share of the
words with their gold head among them, oracle (of the chart) and F1 (EVALB, collins.prm), exact matches,
milliseconds for a sentence, sentences that were left to the single d-tree, and milliseconds by length; one
core. The first line is the single d-tree. Last what is gained by what the d-parser says of labels. Reads
$D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.packed.dtree import packed_arcs, with_packed_arcs
from d2c.packed.feature import least_probability
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.repair import ARCS_UNDONE, Repairs
from d2c.trees.scores.brackets import METRICS, bracket_scores
from d2c.trees.scores.significance import approximate_randomisation
from measuring.craft import Craft
from measuring.timing import peak_gigabytes, timed

Part = tuple[Sequence[CTree], Sequence[DTree]]
Taking = ConstrainedCKY | TwoStage
ROUTES: dict[str, type[Taking]] = {"cky": ConstrainedCKY, "labeler": TwoStage}
HEADS_PER_WORD = (1.0, 1.2, 1.5, 2.0)
METRIC = METRICS["evalb"]
LENGTHS = (10, 20, 30, 40, 60)  # upper bounds


@click.command()
@click.option("--route", "name", type=click.Choice([*ROUTES]), default="cky", show_default=True)
@click.option("--sentences", type=int, help="Of the training data.  [default: all]")
@click.option("--dev", "most", type=int, help="Of dev, the first ones.  [default: all]")
@click.option("--dparser", default="stanza:graph", show_default=True)
@click.option("--epochs", type=float, help="Of the d-parser.")
@click.option("--models", type=click.Path(path_type=Path), help="Where the d-parser is kept.")
def main(
    name: str, sentences: int, most: int, dparser: str, epochs: float | None, models: Path | None
) -> None:
    """Trains, parses and prints the figures."""
    craft = Craft.read(sentences)
    nine = 9 * len(craft.train) // 10
    learned, held_out, dev = Craft(craft.train[:nine], craft.dev), craft.train[nine:], craft.dev[:most]
    with tempfile.TemporaryDirectory() as scratch:
        parser = learned.dparser(dparser, "direct", epochs, models or Path(scratch))
    assert parser.gives_arcs, f"{dparser} gives no arcs"
    route = ROUTES[name]().fit(learned.train)
    tenth, parsed = (list(parser.parse_packed(one.tokens for one in part)) for part in (held_out, dev))
    fit = timed(route.fit_arcs, held_out, tenth)
    print(f"learned on {len(held_out)} sentences in {fit.seconds:.0f} s: {route.arcs_}")
    gold = list(map(route.encode, dev))
    plain = [with_packed_arcs(dtree, None) for dtree in parsed]
    print("heads/word  gold among  oracle     F1   exact  ms/sentence  single", flush=True)
    for heads_per_word in HEADS_PER_WORD:
        chosen = plain
        if heads_per_word > 1:
            least = least_probability(parsed, heads_per_word)
            route.arcs_ = route.arcs_._replace(least=least)
            chosen = [kept(dtree, least) for dtree in parsed]
        line(route, dev, gold, chosen)
    without_labels(route, (held_out, tenth), (dev, parsed))
    print(f"peak memory: {peak_gigabytes():.2f} GB")


def without_labels(route: Taking, tenth: Part, dev: Part) -> None:
    """Prints what is gained by what the d-parser says of labels, at 1.5 heads per word."""
    if all(arcs is None or arcs.labels is None for arcs in map(packed_arcs, dev[1])):
        return
    guesses = []
    for labelled in (False, True):
        (held_out, dtrees), (gold, parsed) = (
            (ctrees, own if labelled else list(map(bare, own))) for ctrees, own in (tenth, dev)
        )
        guesses.append(list(route.fit_arcs(held_out, dtrees).decode_all(parsed)))
        said = "with" if labelled else "without"
        print(f"{said} labels: {route.arcs_}, F1 {bracket_scores(gold, guesses[-1]).f1:.2f}", flush=True)
    bare_scores, scores = (METRIC.score(dev[0], guess) for guess in guesses)
    found = approximate_randomisation(bare_scores, scores)
    print(f"labels gain {found.points:.2f} points, p = {found.p:.4f}")


def bare(dtree: DTree) -> DTree:
    """Without what is said of labels."""
    arcs = packed_arcs(dtree)
    return with_packed_arcs(dtree, arcs and arcs._replace(labels=None))


def kept(dtree: DTree, least: float) -> DTree:
    """With fewer arcs, as the route takes them."""
    arcs = packed_arcs(dtree)
    return with_packed_arcs(dtree, arcs and arcs.kept(least, dtree.heads))


def line(route: Taking, dev: Sequence[CTree], gold: Sequence[DTree], dtrees: Sequence[DTree]) -> None:
    """Prints the figures of some d-trees."""
    arcs = words = among = 0
    for right, dtree in zip(gold, dtrees, strict=True):
        words += len(dtree.heads)
        packed = packed_arcs(dtree)
        arcs += len(dtree.heads) if packed is None else len(packed.heads)
        own = [a == b for a, b in zip(right.heads, dtree.heads, strict=True)]
        among += sum(own if packed is None else packed.among(right.heads))
    repairs, times, guess = Repairs(), list[float](), list[CTree]()
    route.decode(dtrees[0])
    for dtree in dtrees:
        decoded, seconds = timed(route.decode, dtree, repairs)
        guess.append(decoded)
        times.append(1000 * seconds)
    scores, oracle = bracket_scores(dev, guess), "     -"
    if route.has_oracle:
        oracle = f"{bracket_scores(dev, list(map(route.oracle, dev, dtrees))).f1:6.2f}"
    print(
        f"{arcs / words:10.2f}  {100 * among / words:10.1f}  {oracle} {scores.f1:6.2f}  "
        f"{scores.complete_match:6.2f}  {np.mean(times):11.1f}  {repairs.counts[ARCS_UNDONE]:6d}",
        flush=True,
    )
    lengths = np.array([len(dtree.heads) for dtree in dtrees])
    by_length = np.digitize(lengths, LENGTHS, right=True)
    shown = [
        f"{lengths[by_length == k].mean():.0f} words {np.array(times)[by_length == k].mean():.1f}"
        for k in np.unique(by_length)
    ]
    print(f"    ms by length: {', '.join(shown)}", flush=True)


if __name__ == "__main__":
    main()
