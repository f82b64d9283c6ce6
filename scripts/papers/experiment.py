"""What the tables of one treebank share: an experiment, figures of all metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from d2c.base.errors import FormatError, ModelError
from d2c.experiments.rows import GOLD, Parses
from d2c.protocols.route import Route
from d2c.training.spec import TrainingSpec
from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.heads import load_head_rules
from d2c.trees.repair import Repairs
from d2c.trees.scores.attachment import attachment_scores
from experiments.experiment import UNLABELLED, Experiment, Fitted, Treebank
from experiments.store import Store
from experiments.timing import timed
from papers.scores import Scored, figures
from papers.table import Cell, Draw, Table

RUNS = 5  # of converting, when it is timed
SPEEDS = "Speeds are those of CPU time; that of converting is the median of five runs."


# The settings of a training for tables, where nothing else is given.
TRAINING: Mapping[str, Any] = {"preset": "small", "tags": "predicted", "tagger": "spacy", "jackknife": 10}


@dataclass
class PaperExperiment(Experiment):
    """An experiment, and what all tables of a run share beside it; make it with `of`.

    dparsers: as `make_dparser` takes them
    penalty, gamma: λ and γ of the chart; None: chosen, see `papers.charts`
    chart:    what differs from the defaults of `RouteSettings` in every chart: labels, binarization, grammar,
              symbols, max_unaries
    missing:  a line on each d-parser and other system that cannot be had, for want of a package, say
    """

    dparsers: tuple[str, ...] = ("stanza",)
    penalty: float | None = None
    gamma: float | None = None
    chart: Mapping[str, Any] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, treebank: Treebank, store: Store, **given: Any) -> Self:
        """Return the experiment on a treebank.

        given: fields of this class, and settings of a training, instead of TRAINING's, by names of options
        """
        own = {one.name: given.pop(one.name) for one in fields(PaperExperiment) if one.name in given}
        files = treebank.files["train"], treebank.files["dev"]
        spec = TrainingSpec.of(*files, head_rules=treebank.head_rules, **{**TRAINING, **given})
        return cls(treebank, spec, store, **own)

    def anew(self, **changes: Any) -> Self:
        """Return the experiment with changed fields, and without the trees that were read for this one."""
        return replace(self, **{"_trees": {}, "_gold": {}, "missing": {}} | changes)

    @property
    def made_of(self) -> dict[str, Any]:
        """What every step depends on; predicted tags are made, so that the table is known to need them."""
        assert not self.spec.tagger.predicts or self._tags
        return super().made_of

    def with_tags(self, tags: str) -> Self:
        """Return the same experiment with these tags, gold or predicted."""
        return self if tags == self.spec.tagger.tags else self.anew(spec=self.spec.changed(tags=tags))

    @cached_property
    def gaps(self) -> Mapping[str, float]:
        """Percent of the sentences of each part that have gaps."""

        def make(_: Path) -> dict[str, float]:
            shares = {}
            for part in self.treebank.files:
                trees = self.gold(part)
                shares[part] = 100 * sum(not ctree.is_continuous() for ctree in trees) / max(1, len(trees))
            return shares

        return self.store.step("gaps", self.treebank.made_of(), make).facts

    @property
    def continuous(self) -> bool:
        """Whether no tree of the treebank has gaps."""
        return not any(self.gaps.values())

    def described(self, part: str) -> str:
        """Return the note under a table that says of which data it is."""
        train, reported = len(self.trees("train")), len(self.trees(part))
        tags = "gold tags"
        if accuracies := self.tag_accuracy:
            tags = f"predicted tags (accuracy {accuracies[part]:.2f}; train {accuracies['train']:.2f})"
        return f"{self.treebank.name}: {train:,} sentences of train, {reported:,} of {part}; {tags}."

    def table(
        self,
        header: Sequence[str],
        rows: Sequence[Sequence[Cell]],
        *notes: str,
        part: str = "dev",
        draw: Draw | None = None,
    ) -> Table:
        """Return a table of a part, with notes on its data and on what is missing."""
        speeds = [SPEEDS] if any(title.endswith("/s") for title in header) else []
        return Table(header, rows, [*notes, *speeds, self.described(part), *self.missing.values()], draw)

    def had(self, names: Iterable[str], make: Callable[[str], Any]) -> dict[str, Any]:
        """Return what `make` returns for each name; where it raises ModelError, `missing` has a line."""
        found = {}
        for name in names:
            try:
                found[name] = make(name)
            except ModelError as error:
                self.missing[name] = f"{name}: {error}."
        return found

    def all_parses(self, part: str, encoding: str | None = None) -> list[Parses]:
        """Return the d-trees of all d-parsers that can be had, except GOLD."""
        names = [name for name in self.dparsers if name != GOLD]
        return [*self.had(names, lambda name: self.parses(name, part, encoding)).values()]

    def some_parses(self) -> list[Parses]:
        """Return the d-trees of dev by all these d-parsers. Raises ModelError where there are none."""
        if found := self.all_parses("dev"):
            return found
        raise ModelError(" ".join(self.missing.values()) or "no d-parser is given")

    def best_parses(self) -> Parses:
        """Return the d-trees of dev with the highest UAS."""
        gold = list(self.encoded(self.spec.route.encoding, "dev"))
        return max(self.some_parses(), key=lambda parses: attachment_scores(gold, parses.dtrees).uas)

    def score(self, fitted: Fitted[Route], parses: Parses) -> Scored:
        """Return the figures of a route on d-trees."""
        route, part = fitted.route, parses.part

        def make(_: Path) -> dict[str, Any]:
            given, repairs = parses.dtrees, Repairs()
            labelled: Iterable[DTree]
            gold_dtrees: Iterable[DTree]
            if route.abilities.own_labels:
                given = [replace(dtree, labels=None) for dtree in given]
                labelled, gold_dtrees = route.relabel(given), map(route.encode, self.trees(part))
            else:
                labelled, gold_dtrees = given, self.encoded(parses.encoding, part)
            what = f"converting d-trees of {parses.source}"
            guess, converting = timed(route.decode_all, given, what, repairs, cpu=RUNS)
            attachment = attachment_scores(gold_dtrees, labelled)
            scored = Scored(
                brackets=self.figures(guess, part),
                attachment=[attachment.uas, attachment.las],
                by_heads=self.uas_by_heads(guess, part),
                sentences=len(guess),
                tokens=repairs.tokens,
                parsing=parses.seconds,
                converting=converting,
                repairs=repairs.per_thousand(),
                counts=dict(repairs.counts),
            )
            return asdict(scored)

        return Scored(**self.step_of("score", fitted, parses, make))

    def step_of(
        self,
        name: str,
        fitted: Fitted[Route],
        parses: Parses,
        make: Callable[[Path], Mapping[str, Any]],
    ) -> Mapping[str, Any]:
        """Return the facts of a step that is made of a route and d-trees."""
        return self.store.step(name, {"route": fitted.step.key, "parses": parses.key}, make).facts

    def figures(self, guess: Sequence[Any], part: str) -> dict[str, Any]:
        """Return the figures of c-trees of a part, with the treebank's own tags. Raises FormatError.

        The default metric is the treebank's, whatever the trees look like.
        """
        gold = self.gold(part)
        if len(guess) != len(gold):
            message = f"has {len(gold)} sentences, the guess {len(guess)}"
            raise FormatError(str(self.treebank.files[part]), 0, 0, message)
        return figures(gold, guess, not self.continuous)

    def uas_by_heads(self, guess: Iterable[CTree], part: str) -> float | None:
        """Return UAS of the heads that the treebank's head rules find in c-trees of a part; None where it has
        none, as its trees mark their heads."""
        if self.treebank.reading.marked:
            return None
        rules = load_head_rules(self.treebank.head_rules)
        dtrees = (to_dependencies(rules.apply(ctree)) for ctree in guess)
        return attachment_scores(self.encoded(UNLABELLED, part), dtrees).uas
