"""Several d-parsers on CRAFT dev, alone and voted on: constituents and arcs, alike and by learned weights.

    python scripts/bench_combine.py [--sentences 2000] [--dparsers udpipe,spacy,...] [--models models]

The d-parsers learn from the first sentences of CRAFT (small preset; kept in --models), and the reduction
converts their d-trees. Votes count 1 or as the reduction's confidences; learned weights are those of one half
of dev for the other half, so all of dev is scored by weights that have not seen it. Arcs are voted on before
the conversion. p: of the difference to the best single d-parser, paired approximate randomisation.
Gold tags. Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import click

from d2c.combination.arc_voting import combine_arcs, learn_arcs
from d2c.combination.constituents import MAJORITY, Parse, combine, learn_constituents
from d2c.combination.weights import Support, VotingWeights, equal_votes
from d2c.dparsers.registry import DPARSERS
from d2c.parsing.combining import parses_of
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.scores.attachment import Attachment, score_attachment
from d2c.trees.scores.brackets import METRICS
from d2c.trees.scores.matches import Score
from d2c.trees.scores.significance import approximate_randomisation
from measuring import options
from measuring.craft import Craft
from measuring.tables import Line, print_table, say

HEADER = ("d-parsers", "voted on", "UAS", "recall", "prec.", "F1", "exact", "points", "p")
LOW = 0.4


@click.command()
@click.option("--sentences", default=2000, show_default=True, help="Of CRAFT train.")
@options.names_option("--dparsers", DPARSERS, "udpipe,transition:standard;exact,spacy")
@options.epochs_option
@options.models_option
def main(sentences: int, dparsers: list[str], epochs: float | None, models: Path) -> None:
    """Prints the table."""
    craft = Craft.read(sentences)
    route = Reduction("direct").fit(craft.train)
    dtrees = {}
    for name in dparsers:
        parser = craft.dparser(name, "direct", epochs, models)
        dtrees[name] = list(parser.parse(ctree.tokens for ctree in craft.dev))
        say(f"parsed by {name}")
    Bench(craft.dev, route, dtrees).table()
    print(f"{craft.described} significance against the best single d-parser")


class Bench:
    """Dev with the d-trees of each d-parser."""

    def __init__(self, gold: list[CTree], route: Reduction, dtrees: dict[str, list[DTree]]) -> None:
        self.gold, self.route, self.dtrees = gold, route, dtrees
        self.gold_dtrees = list(map(route.encode, gold))
        self.parses = {name: list(parses_of(route, given)) for name, given in dtrees.items()}
        self.best: list[Score] = []

    def table(self) -> None:
        """Prints a line for each d-parser, then for each way to vote on each two or more of them."""
        single = {name: self.scores(parse.ctree for parse in parses) for name, parses in self.parses.items()}
        metric = METRICS["evalb"]
        self.best = max(single.values(), key=lambda scores: metric.summary(scores).f1)
        lines = [self.line(name, "", scores, self.dtrees[name]) for name, scores in single.items()]
        for size in range(2, len(self.dtrees) + 1):
            for names in combinations(self.dtrees, size):
                lines += self.voted(names)
        print_table(HEADER, lines)

    def scores(self, guess: Iterable[CTree]) -> list[Score]:
        """EVALB's, of all sentences."""
        return METRICS["evalb"].score(self.gold, guess)

    def line(
        self, name: str, how: str, scores: Sequence[Score], dtrees: Iterable[DTree] | None = None
    ) -> Line:
        """A line of the table."""
        sums, uas = METRICS["evalb"].summary(scores), None
        if dtrees is not None:
            uas = sum(map(score_attachment, self.gold_dtrees, dtrees), Attachment()).uas
        difference = approximate_randomisation(self.best, scores)
        figures = (uas, sums.recall, sums.precision, sums.f1, sums.complete_match)
        shown = [None, None] if scores is self.best else [difference.points, f"{difference.p:.4f}"]
        return [name, how, *figures, *shown]

    def voted(self, names: Sequence[str]) -> Iterator[Line]:
        """The lines of some d-parsers."""
        together = " + ".join(names)
        sure = list(zip(*(self.parses[name] for name in names), strict=True))
        plain = [[Parse(parse.ctree) for parse in row] for row in sure]
        arcs = list(zip(*(self.dtrees[name] for name in names), strict=True))
        for how, rows in (("constituents", plain), ("confidences", sure)):
            for threshold in (MAJORITY, LOW):
                trees = [combine(row, equal_votes, threshold).ctree for row in rows]
                yield self.line(together, f"{how}, alike, {threshold}", self.scores(trees))
            made = self.halves(self.gold, rows, learn_constituents, combine)
            scores = self.scores(parse.ctree for parse in made)
            yield self.line(together, f"{how}, learned", scores)
        alike_dtrees = list(map(combine_arcs, arcs))
        learned = self.halves(
            self.gold_dtrees, arcs, learn_arcs, lambda row, share, _: combine_arcs(row, share)
        )
        for how, dtrees in (("alike", alike_dtrees), ("learned", learned)):
            yield self.line(together, f"arcs, {how}", self.scores(self.route.decode_all(dtrees)), dtrees)
        say(together)

    def halves(
        self,
        gold: Sequence[Any],
        rows: Sequence[Any],
        learn: Callable[[Any], VotingWeights],
        vote: Callable[[Any, Support, float], Any],
    ) -> list[Any]:
        """Every second sentence by weights of the others."""
        made: list[Any] = [None] * len(rows)
        for half in (0, 1):
            weights = learn(zip(gold[1 - half :: 2], rows[1 - half :: 2], strict=True))
            made[half::2] = [vote(row, weights, weights.threshold) for row in rows[half::2]]
        return made


if __name__ == "__main__":
    main()
