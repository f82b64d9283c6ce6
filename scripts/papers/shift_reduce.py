"""A constituent parser without a d-parser: the automaton of a binarized grammar with a linear oracle.

It stands on `d2c.automata`: terminals are tags, a shift makes a pre-terminal, and reductions are the steps of
`d2c.trees.binarization`. So it builds a c-tree and a d-tree at once, and needs no d-tree to begin with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Self

import msgspec

from d2c.automata.exact import SEARCHES
from d2c.automata.oracles import PRESETS, LinearOracle, passes
from d2c.automata.static_oracles import built, constituent_actions
from d2c.automata.systems import Action, System, constituents
from d2c.base.batches import batches
from d2c.base.errors import ModelError
from d2c.base.progress import log
from d2c.base.settings import Told
from d2c.learning.learner import Epoch
from d2c.protocols.directories import ModelFormat, loading
from d2c.protocols.training import DEV_WORDS, thinned
from d2c.trees.binarization import BINARIZATIONS, GLUE, LEFT, RIGHT, UNARY, Step, Symbol
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import head_outward, modifiers_of, top_down
from d2c.trees.heads import load_head_rules
from d2c.trees.repair import Repairs
from d2c.trees.scores.brackets import metric_for

# The model directory: the settings and the oracle's files.
KIND = ModelFormat(
    "cparser", "shift-reduce", 1, ("preset", "epochs", "seed", "binarization", "head_rules", "search")
)
NEW_STEP = "step of no tree"
_BATCH = 500  # sentences that are parsed at once
_MOST_UNARIES = 20  # one over the other


@dataclass(eq=False)
class ShiftReduce:
    """Builds c-trees from left to right, all of them without gaps.

    preset:       default (10 passes over the training treebank) or small (4)
    epochs:       so many passes instead, rounded up
    device:       not used
    seed:         of the order of sentences: same seed, same model
    binarization: simple or markovized, see `d2c.trees.binarization`
    head_rules:   name or file of a head table
    search:       greedy, or exact: the best of all trees whose actions are not too improbable

    Learned by `fit`: the steps and the tags of the treebank, the longest chain of unary steps, the commonest
    wrapper, and the oracle.
    """

    preset: str = "default"
    epochs: float | None = None
    device: str | None = None
    seed: int = 1
    binarization: str = "simple"
    head_rules: str = "collins"
    search: str = "greedy"
    steps_: tuple[Step, ...] = field(default=(), init=False)
    tags_: tuple[str, ...] = field(default=(), init=False)
    unaries_: int = field(default=0, init=False)
    top_: str | None = field(default="TOP", init=False)
    oracle_: LinearOracle | None = field(default=None, init=False)

    def fit(self, train: Sequence[CTree], dev: Sequence[CTree]) -> Self:
        """Learn, and keep the weights with the best F1 on dev, or on some of it, evenly chosen.

        Raises ModelError for trees with gaps, and where all trees are bare words.
        """
        self._check()
        rules, scheme = load_head_rules(self.head_rules), BINARIZATIONS[self.binarization]
        headed = [rules.headed(ctree) for ctree in train if ctree.labels]
        if not all(ctree.is_continuous() for ctree in train):
            raise ModelError("the shift-reduce parser learns no trees with gaps")
        if not headed:
            raise ModelError("no tree of the treebank has a constituent")
        actions = [list(constituent_actions(ctree, scheme)) for ctree in headed]
        reductions = [action for one in actions for action in one if action.kind in (LEFT, RIGHT, UNARY)]
        self.steps_ = tuple(sorted({Step(action.kind, action.parent) for action in reductions}))
        self.tags_ = tuple(sorted({tag for ctree in headed for tag in ctree.tokens.tags}))
        chains = (
            sum(1 for _ in run)
            for one in actions
            for unary, run in groupby(one, lambda action: action.kind == UNARY)
            if unary
        )
        self.unaries_ = max(chains, default=1)
        tops = Counter(ctree.top for ctree in train)
        self.top_ = max(tops, key=lambda top: tops[top])
        self._fit(headed, actions, thinned(dev, DEV_WORDS))
        return self

    def parse(self, sentences: Iterable[Tokens], repairs: Repairs | None = None) -> Iterator[CTree]:
        """Yield the c-tree of each sentence over its tokens, in order; some hundred are held at a time.

        `repairs` counts steps that no tree of the treebank has, without which there would be no tree, and
        sentences with so many trees that only some were looked at. Raises ModelError before `fit`.
        """
        if self.oracle_ is None:
            raise ModelError("this parser is not trained yet")
        return self._parsed(sentences, self.search, Repairs() if repairs is None else repairs)

    def save(self, directory: Path) -> None:
        """Write the model, which `load` reads, into a directory, made if absent."""
        if self.oracle_ is None:
            raise ModelError("this parser is not trained yet")
        directory.mkdir(parents=True, exist_ok=True)
        steps = [(kind, *parent) for kind, parent in self.steps_]
        learned = {"steps": steps, "tags": self.tags_, "unaries": self.unaries_, "top": self.top_}
        KIND.write(directory, learned, self)
        self.oracle_.save(directory)

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return the parser that `save` left in a directory. Raises ModelError."""
        settings = KIND.read(directory)
        with loading(directory, "has broken settings"):
            parser = cls(**KIND.parameters_in(settings))
            parser._check()
            parser.steps_ = tuple(_step(*row) for row in settings["steps"])
            parser.tags_ = msgspec.convert(settings["tags"], tuple[str, ...])
            parser.unaries_ = settings["unaries"]
            [parser.top_] = msgspec.convert([settings["top"]], list[str | None])
            if not isinstance(parser.unaries_, int) or not 1 <= parser.unaries_ <= _MOST_UNARIES:
                raise ValueError(f"chains of {parser.unaries_!r} unary steps")
            system = parser._system()
        parser.oracle_ = LinearOracle.load(Path(directory), system)
        return parser

    def _check(self) -> None:
        """Raise ModelError for unknown parameters."""
        Told(choices=tuple(PRESETS)).check("preset", self.preset)
        Told(choices=tuple(BINARIZATIONS)).check("binarization", self.binarization)
        Told(choices=tuple(SEARCHES)).check("search", self.search)

    def _system(self) -> System:
        return constituents(self.steps_, self.tags_, self.unaries_)

    def _fit(
        self, headed: Sequence[CTree], actions: Sequence[Sequence[Action]], dev: Sequence[CTree]
    ) -> None:
        epochs = passes(self.preset, self.epochs)
        oracle = self.oracle_ = LinearOracle(self._system(), epochs=epochs, seed=self.seed)
        metric = metric_for(dev)

        def score() -> float:
            guess = self._parsed((ctree.tokens for ctree in dev), "greedy", Repairs())
            return float(metric.summary(metric.score(dev, guess)).f1)

        def progress(epoch: Epoch) -> None:
            shown = epoch.number, epochs, epoch.loss, epoch.f1 or 0.0
            log.info("shift-reduce: pass %d of %d  loss %.3f  dev F1 %.2f", *shown)

        oracle.fit([ctree.tokens for ctree in headed], actions, score if dev else None, progress)

    def _parsed(self, sentences: Iterable[Tokens], search: str, repairs: Repairs) -> Iterator[CTree]:
        assert self.oracle_ is not None
        known = set(self.steps_)
        for batch in batches(sentences, _BATCH):
            found = SEARCHES[search](self.oracle_, batch, repairs.counts)
            for tokens, actions in zip(batch, found, strict=True):
                heads, _, derivation = built(actions)
                repairs.sentences += 1
                repairs.tokens += len(tokens)
                repairs.counts[NEW_STEP] += sum(step not in known for steps in derivation for step in steps)
                yield unbinarize(tokens, heads, derivation, self.top_)


def unbinarize(
    tokens: Tokens, heads: Sequence[int], derivation: Sequence[Sequence[Step]], top: str | None = None
) -> CTree:
    """Return the c-tree of a derivation; each word's dependents are taken from the head outward.

    An attachment by the glue rule adds a child to the node that is there, or puts a node over a pre-terminal;
    a unary step from an unfinished constituent finishes it. Raises ValueError where steps and dependents do
    not match.
    """
    n = len(heads)
    labels: list[str] = []
    children: list[list[int]] = []
    head_children: list[int] = []
    psi = list(range(n))  # ψ, as in `d2c.trees.conversion`
    first = list(range(n))  # leftmost token of each node
    modifiers = modifiers_of(heads)
    for h in reversed(top_down(heads)):
        dependents = tuple(map(iter, head_outward(h, modifiers[h])))
        symbol = Symbol(tokens.tags[h], "tag")
        for kind, parent in derivation[h]:
            if symbol.is_tag or (symbol.is_whole and parent.bar != GLUE):
                labels.append(parent.label)
                children.append([psi[h]])
                head_children.append(psi[h])
                first.append(first[psi[h]])
                psi[h] = n + len(labels) - 1
            if kind != UNARY:
                dependent = next(dependents[kind], None)
                if dependent is None:
                    raise ValueError(f"the derivation attaches too many dependents to token {h + 1}")
                children[psi[h] - n].append(psi[dependent])
                first[psi[h]] = min(first[psi[h]], first[psi[dependent]])
            if parent.bar != GLUE:
                symbol = parent
            elif symbol.is_tag:
                symbol = Symbol(parent.label)
        if not symbol.is_whole or any(next(rest, None) is not None for rest in dependents):
            raise ValueError(f"the derivation of token {h + 1} ends too early")
    in_order = tuple(tuple(sorted(kids, key=first.__getitem__)) for kids in children)
    return CTree(tokens, tuple(labels), in_order, tuple(head_children), top)


def _step(kind: int, label: str, bar: str) -> Step:
    """Return the step that a row of a file holds. Raises ValueError for a row that is no step."""
    if type(kind) is not int or kind not in (LEFT, RIGHT, UNARY) or {type(label), type(bar)} != {str}:
        raise ValueError(f"a step of kind {kind!r} to {label!r}, {bar!r}")
    if bar in ("tag", GLUE):
        raise ValueError(f"a step to {Symbol(label, bar)}")
    return Step(kind, Symbol(label, bar))
