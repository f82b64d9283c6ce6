"""The d-parser `transition`: arc-standard or arc-eager with a linear oracle, by numpy and numba alone.

It stands on `d2c.automata`. It parses greedily, or finds the best tree of the sentence's chart. Its d-trees
are projective and have one root. Of training trees with crossing arcs it learns the nearest projective ones
(`d2c.trees.repair.projectivize`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import ne
from pathlib import Path
from typing import Self

from d2c.automata.dtrees import SYSTEMS, labels_of
from d2c.automata.exact import SEARCHES, Exact, Found
from d2c.automata.oracles import PRESETS, LinearOracle, passes
from d2c.automata.static_oracles import built
from d2c.automata.systems import Action
from d2c.base.errors import ModelError
from d2c.base.progress import log
from d2c.base.schema import checked
from d2c.base.settings import setting
from d2c.dparsers.codes import read_training, read_trees
from d2c.dparsers.directories import ModelFormat, loading, parameters, whole_directory
from d2c.dparsers.protocol import DependencyParser, Progress, Report
from d2c.dparsers.training import DEV_WORDS, check_choice, check_limits, reporter, thinned
from d2c.forests.forest import Doubles
from d2c.linear.learner import Epoch
from d2c.packed.arcs import single
from d2c.packed.dtree import with_packed_arcs
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.chunks import batches
from d2c.trees.repair import projectivize
from d2c.trees.scores.attachment import Attachment, score_attachment

# The model directory: the settings and the oracle's files.
KIND = ModelFormat("dparser", "transition", 1, ("system", "preset", "epochs", "seed", "search"))
_BATCH = 500  # sentences that are parsed at once


@dataclass(eq=False)
class TransitionParser(DependencyParser):
    """Builds d-trees from left to right.

    system: standard, or eager: heads on the left are chosen before their dependents have dependents
    preset: default (10 passes over the training treebank) or small (4)
    epochs: so many passes instead, rounded up
    seed:   same seed, same model: of the order of sentences
    search: greedy, or exact: the best of all trees that are made of actions which are not too improbable
            (`d2c.automata.exact`), several times as slow

    It sees words, tags (XPOS), and, where most training sentences have any, morphology (FEATS).
    """

    system: str = "standard"
    preset: str = "default"
    epochs: float | None = setting(None, above=0)
    seed: int = 1
    search: str = "greedy"
    labels_: tuple[tuple[str, ...], tuple[str, ...]] = field(default=((), ()), init=False)
    oracle_: LinearOracle | None = field(default=None, init=False)

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learns, and leaves the model with the best LAS on the second file; errors: `DependencyParser`."""
        self._check()
        train, dev = read_training(train_conllu), read_trees(dev_conllu)
        with whole_directory(Path(directory)) as staging:
            self._fit(train, thinned(dev, DEV_WORDS, lambda dtree: len(dtree.heads)), progress)
            self._trained().save(staging)
            KIND.write(staging, {"labels": self.labels_[0], "root_labels": self.labels_[1]}, self)
        return self

    @classmethod
    def load(cls, directory: Path) -> Self:
        """The parser that `train` left in a directory. Raises ModelError."""
        settings = KIND.read(directory)
        with loading(directory, "has broken settings"):
            parser = cls(**parameters(settings, KIND.parameters))
            parser._check()
            parser.labels_ = (
                checked(settings["labels"], tuple[str, ...]),
                checked(settings["root_labels"], tuple[str, ...]),
            )
            system = SYSTEMS[parser.system].make(*parser.labels_)
        parser.oracle_ = LinearOracle.load(Path(directory), system)
        return parser

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """The d-tree of each sentence, in order; some hundred sentences are held at a time."""
        oracle, counts = self._trained(), Counter[str]()
        for batch in batches(sentences, _BATCH):
            yield from map(_dtree, batch, SEARCHES[self.search](oracle, batch, counts))
        for what, count in counts.items():
            if count:
                log.info("transition: %s in %d long sentences", what, count)

    @property
    def gives_arcs(self) -> bool:
        """It does, whatever its search: probabilities are those of the exact search's chart."""
        return True

    def parse_packed(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """As `parse`, with packed arcs: the shares of `arcs`, and those of labels."""
        exact = Exact(self._trained())
        for dtree in self.parse(sentences):
            found = exact.packed(dtree.tokens, dtree.heads) if dtree.heads else single(())
            yield with_packed_arcs(dtree, found)

    def k_best(self, tokens: Tokens, k: int) -> list[Found[DTree]]:
        """The k best d-trees of a sentence that is not empty, all different, best first: each with its share
        of the probability of all. Fewer where there are no more."""
        return Exact(self._trained()).k_best(tokens, k, lambda actions: _dtree(tokens, actions))

    def arcs(self, tokens: Tokens) -> Doubles:
        """[n, n + 1] for each token of a sentence that is not empty the probability of each head 1..n, and of
        being the root, 0."""
        return Exact(self._trained()).arcs(tokens)

    def _check(self) -> None:
        """Raises ModelError for unknown parameters."""
        check_limits(self)
        check_choice("system", self.system, SYSTEMS)
        check_choice("search", self.search, SEARCHES)
        check_choice("preset", self.preset, PRESETS)

    def _trained(self) -> LinearOracle:
        if self.oracle_ is None:
            raise ModelError("this parser is not trained yet")
        return self.oracle_

    def _fit(self, train: Sequence[DTree], dev: Sequence[DTree], progress: Report) -> None:
        """Learns, and keeps the weights that had the best LAS on dev."""
        report = reporter(Progress, progress)
        transitions, self.labels_ = SYSTEMS[self.system], labels_of(train)
        epochs = passes(self.preset, self.epochs)
        oracle = self.oracle_ = LinearOracle(transitions.make(*self.labels_), epochs=epochs, seed=self.seed)
        heads = [projectivize(dtree.heads) for dtree in train]
        lifted = sum(sum(map(ne, dtree.heads, own)) for dtree, own in zip(train, heads, strict=True))
        log.info("transition: %d passes on cpu, a score after each; crossing arcs lifted: %d", epochs, lifted)

        scores: list[Attachment] = []  # after each epoch

        def score() -> float:
            scores.append(self._score(dev))
            return scores[-1].las

        def progress_of(epoch: Epoch) -> None:
            report(epoch.number, epochs, epoch.loss, scores[-1].uas / 100, scores[-1].las / 100)

        actions = [
            transitions.actions(own, dtree.labels or ()) for dtree, own in zip(train, heads, strict=True)
        ]
        oracle.fit([dtree.tokens for dtree in train], actions, score, progress_of)

    def _score(self, gold: Sequence[DTree]) -> Attachment:
        sentences = [dtree.tokens for dtree in gold]
        pairs = zip(gold, map(_dtree, sentences, self._trained().parse(sentences)), strict=True)
        return sum((score_attachment(a, b, punctuation=True) for a, b in pairs), Attachment())


def _dtree(tokens: Tokens, actions: Iterable[Action]) -> DTree:
    """The d-tree that actions build."""
    heads, labels, _ = built(actions)
    return DTree(tokens, tuple(heads), labels=tuple(labels))
