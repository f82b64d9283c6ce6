"""The d-parser `transition`: arc-standard or arc-eager with a linear oracle, by numpy and numba alone.

It is built on `d2c.automata`. It parses greedily, or finds the best tree of the sentence's chart. Its d-trees
are projective and have one root. Of training trees with crossing arcs it learns the nearest projective ones
(`d2c.trees.repair.projectivize`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import ne
from pathlib import Path
from typing import NamedTuple, Self

from d2c.automata.exact import SEARCHES, Exact, ScoredTree
from d2c.automata.oracles import LinearOracle, passes
from d2c.automata.settings import TransitionSettings
from d2c.automata.static_oracles import SYSTEMS, built
from d2c.automata.systems import Action
from d2c.base.arrays import Doubles
from d2c.base.batches import batches
from d2c.base.counting import many
from d2c.base.errors import ModelError
from d2c.base.model_files import as_type
from d2c.base.progress import log
from d2c.base.temporary import whole_directory
from d2c.learning.learner import Epoch
from d2c.packed.arcs import LEAST, single, with_packed_arcs
from d2c.protocols.abilities import DParserAbilities
from d2c.protocols.codes import read_training, read_trees
from d2c.protocols.directories import SETTINGS, ModelFormat, loading
from d2c.protocols.dparser import DependencyParser, Report
from d2c.protocols.training import DEV_WORDS, attachment, reporting, thinned
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.repair import projectivize

# The model directory: the settings and the oracle's files.
FORMAT = ModelFormat("dparser", "transition", 1, ("system", "preset", "epochs", "seed", "search"))
_BATCH = 500  # sentences that are parsed at once


class Labels(NamedTuple):
    """The labels of arcs and of roots in the training treebank."""

    labels: tuple[str, ...] = ()
    root_labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, dtrees: Iterable[DTree]) -> Self:
        """Return the labels of d-trees that have some."""
        found: tuple[set[str], set[str]] = set(), set()
        for dtree in dtrees:
            for head, label in zip(dtree.heads, dtree.labels or (), strict=True):
                found[head == 0].add(label)
        return cls(*(tuple(sorted(labels)) for labels in found))


class TransitionParser(DependencyParser):
    """Build d-trees from left to right.

    It sees words, tags (XPOS), and, where most training sentences have any, morphology (FEATS). Whatever the
    search, probabilities of arcs are those of the exact search's chart.
    """

    abilities = DParserAbilities(packed_arcs=True)

    def __init__(self, settings: TransitionSettings) -> None:
        self.settings = settings
        self.labels_ = Labels()
        self.oracle_: LinearOracle | None = None

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learn, and leave the model with the best LAS on the second file; errors: `DependencyParser`."""
        train, dev = read_training(train_conllu), read_trees(dev_conllu)
        with whole_directory(Path(directory), SETTINGS) as staging:
            self._fit(train, thinned(dev, DEV_WORDS), progress)
            self._trained().save(staging)
            FORMAT.write(staging, self.labels_._asdict(), self.settings)
        return self

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return the parser that `train` left in a directory. Raises ModelError."""
        said = FORMAT.read(directory)
        with loading(directory, "has broken settings"):
            parser = cls(TransitionSettings(**FORMAT.parameters_in(said)))
            parser.labels_ = as_type([said[name] for name in Labels._fields], Labels)
            system = SYSTEMS[parser.settings.system].make(*parser.labels_)
        parser.oracle_ = LinearOracle.load(Path(directory), system)
        return parser

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """Yield the d-tree of each sentence, in order; some hundred sentences are held at a time."""
        oracle, counts = self._trained(), Counter[str]()
        for batch in batches(sentences, _BATCH, len):
            yield from map(_dtree, batch, SEARCHES[self.settings.search](oracle, batch, counts))
        for what, count in counts.items():
            if count:
                log.info("transition: %s in %s", what, many(count, "long sentence"))

    def parse_packed(self, sentences: Iterable[Tokens], least: float = LEAST) -> Iterator[DTree]:
        """Yield what `parse` does, with packed arcs: the shares of `arcs`, and those of labels."""
        exact = Exact(self._trained())
        for dtree in self.parse(sentences):
            arcs = exact.packed(dtree.tokens, dtree.heads) if dtree.heads else single(())
            yield with_packed_arcs(dtree, arcs)

    def k_best(self, tokens: Tokens, k: int) -> list[ScoredTree[DTree]]:
        """Return the k best d-trees of a sentence that is not empty, all different, best first, each with its
        share of the probability of all; fewer where there are no more."""
        return Exact(self._trained()).k_best(tokens, k, lambda actions: _dtree(tokens, actions))

    def arcs(self, tokens: Tokens) -> Doubles:
        """Return [n, n + 1] the probability of each head 1..n of each token, and of being the root, 0; the
        sentence is not empty."""
        return Exact(self._trained()).arcs(tokens)

    def _trained(self) -> LinearOracle:
        if self.oracle_ is None:
            raise ModelError("this parser is not trained yet")
        return self.oracle_

    def _fit(self, train: Sequence[DTree], dev: Sequence[DTree], progress: Report) -> None:
        """Learn, and keep the weights that had the best LAS on dev."""
        settings = self.settings
        report, scores = reporting(progress), dict[str, float]()
        transitions, self.labels_ = SYSTEMS[settings.system], Labels.of(train)
        epochs = passes(settings.preset, settings.epochs)
        try:
            system = transitions.make(*self.labels_)
        except ValueError as error:
            raise ModelError(f"transition:{settings.system}: {error}; take another d-parser") from None
        oracle = self.oracle_ = LinearOracle(system, epochs=epochs, seed=settings.seed)
        projective = [projectivize(dtree.heads) for dtree in train]
        lifted = sum(sum(map(ne, dtree.heads, heads)) for dtree, heads in zip(train, projective, strict=True))
        size = many(epochs, "pass")
        log.info("transition: %s on cpu, a score after each; crossing arcs lifted: %d", size, lifted)
        sentences = [dtree.tokens for dtree in dev]

        def score() -> float:
            nonlocal scores
            scores = attachment(dev, map(_dtree, sentences, oracle.parse(sentences)))
            return scores["LAS"]

        def progress_of(epoch: Epoch) -> None:
            report(epoch.number, epochs, epoch.loss, scores)

        labels = [dtree.labels or () for dtree in train]
        oracle.fit(
            [dtree.tokens for dtree in train],
            list(map(transitions.actions, projective, labels)),
            score,
            progress_of,
        )


def _dtree(tokens: Tokens, actions: Iterable[Action]) -> DTree:
    """Return the d-tree that actions build."""
    heads, labels, _ = built(actions)
    return DTree(tokens, tuple(heads), labels=tuple(labels))
