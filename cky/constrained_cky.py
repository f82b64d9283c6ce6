"""Constrained CKY as an estimator: d-trees → c-trees with a grammar and weights learned from c-trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, repeat
from pathlib import Path
from typing import Any, Self

import numpy as np

from d2c.base.arrays import Floats, Longs
from d2c.base.counting import commonest, many
from d2c.base.progress import counted, log
from d2c.cky.decoding import ChartDecoder
from d2c.cky.grammar import ROOT, Grammar, Rule, levels_of
from d2c.cky.learning.gold import DISORDERED, UNREACHED, Gold, tell_left_out
from d2c.cky.learning.svm import (
    BEGIN,
    EPOCHS,
    FIRST,
    SQUARES,
    ChartExample,
    ExampleColumns,
    columns_of,
    step_over_arcs,
    train_on,
)
from d2c.cky.model import Learned, read_model, used, write_model
from d2c.cky.search.chart import build_chart
from d2c.cky.search.derivations import ChartInput
from d2c.cky.search.pruning import UNPRUNED, estimate
from d2c.cky.search.scoring import Scorer
from d2c.cky.settings import ChartSettings
from d2c.cky.vocabulary import Vocabulary
from d2c.learning.adagrad import AdaGrad
from d2c.learning.learner import Checkpoint, Training, fingerprint_of, permuted
from d2c.packed.arcs import ArcLabels, arcs_of, packed_arcs, single, with_packed_arcs
from d2c.packed.scoring import ArcScoring, fit_chosen, fit_risk, fit_scoring, least_probability
from d2c.protocols.abilities import RouteAbilities
from d2c.protocols.route import Confidences, Progress, Route, TrainingTrees, paired
from d2c.trees.binarization import UNARY, Symbol
from d2c.trees.constraints import SpanConstraints
from d2c.trees.conversion import to_labelled_dependencies
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.heads import HeadRules, load_head_rules
from d2c.trees.refinement import visible
from d2c.trees.repair import Repairs
from d2c.trees.scores.brackets import bracket_scores

DEFAULTS = ChartSettings()
_SMALLEST = CTree(Tokens(("a", "b"), ("A", "B")), ("S",), ((0, 1),), (1,))  # kernels are compiled with it


class ConstrainedCKY(ChartDecoder, Route):
    """The route `cky` (PAD): the best c-tree of a learned grammar among those that have the given d-tree.

    settings:    see `ChartSettings`; changes: settings that differ, by name
    checkpoints: directory of a checkpoint, from which an interrupted training goes on

    Learned by `fit`: grammar, vocabulary, what pruning allows, weights. The weights are averages over all
    steps up to the best epoch (0 where the last weight is 0), rounded; PAD does not average.
    """

    abilities = RouteAbilities(confidences=True, k_best=True, packed_arcs=True, oracle=True, conventions=True)
    arcs_: ArcScoring

    def __init__(
        self,
        settings: ChartSettings = DEFAULTS,
        checkpoints: Path | None = None,
        **changes: Any,
    ) -> None:
        self.settings, self.checkpoints = replace(settings, **changes), checkpoints

    @property
    def is_fitted(self) -> bool:
        """Return whether there are weights."""
        return "weights_" in vars(self)

    def _fit(self, trees: TrainingTrees) -> None:
        """Learn from gold c-trees.

        dev:         scored after every epoch; the weights with the best F1 (EVALB, collins.prm) are kept
        dtrees:      one for each c-tree, in place of `encode`'s: with other labels, or predicted heads; where
                     heads differ from the gold ones, the oracle tree is learned. Where some d-trees have
                     packed arcs, learning begins with gold heads, and goes on over these arcs
        dev_dtrees:  the same for `dev`; without them, where `dtrees` are given, `dev` is not scored. With
                     packed arcs they decide which arcs are kept, what they count for, and on minimum risk

        Nothing is learned from trees with gaps whose order of attachment is not nested, which have no
        derivation, nor from trees over whose predicted heads the grammar has none. Both are counted and named
        in the log, even if no others are left. Raises ValueError where no tree has a derivation.
        """
        given = None if trees.dtrees is None else list(trees.dtrees)
        gold = self.fit_grammar(trees.ctrees, given)
        of_dev = None if trees.dev_dtrees is None else list(trees.dev_dtrees)
        held_out = list(trees.dev) if given is None or of_dev else []
        over_arcs = list[ChartExample]()
        if any(packed_arcs(dtree) is not None for dtree in given or ()):
            self.arcs_ = BEGIN._replace(least=least_probability(given or ()))
            over_arcs = self._examples_over_arcs(gold, given or ())
        over_gold = (one._replace(heads=one.gold_heads) for one in gold)
        examples = [*self._examples(over_gold if over_arcs else gold)]
        del gold
        rules, tags = len(self.grammar_.rules), len(self.vocabulary_.tags)
        derivations = ((one.observed["tag"][1:-1], one.gold) for one in examples)
        allowed = estimate(derivations, rules, tags, self.settings.gamma)
        if self.settings.grammar == "closed":  # of each tag, what closing makes of its rules
            closure = [self.grammar_.closure(seen) for seen in allowed.by_tag]
            allowed = allowed._replace(by_tag=np.array(closure))
        self.allowed_ = allowed
        self._tell_pruned(examples)
        score = self._scorer_of(held_out, of_dev)
        if not over_arcs:
            self.weights_ = self._learn(self._training(examples), examples, score, trees.progress)
            return
        first = self._training(examples, FIRST)
        self._learn(first, examples, None, trees.progress)
        first.learner.average_anew()
        then = self._training(over_arcs, EPOCHS, first.learner)
        self.weights_ = self._learn(then, over_arcs, score, trees.progress)
        if score and any(packed_arcs(dtree) is not None for dtree in of_dev or ()):
            shown = list(map(visible, held_out))
            fit_chosen(self, shown, of_dev or ())
            fit_risk(self, shown, of_dev or ())

    def go_on(
        self,
        ctrees: Iterable[CTree],
        dtrees: Iterable[DTree],
        epochs: int,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from gold c-trees over the packed arcs of d-trees, or over single d-trees without packed
        arcs, beginning with the present weights.

        What arcs count for, and which are kept, stays as it is; only features of arcs are added. Grammar and
        vocabulary stay, so rules that they lack are not learned. Raises ValueError for unequal numbers of
        trees, and ModelError before `fit`.
        """
        self.check_fitted()
        pairs = list(zip(ctrees, dtrees, strict=True))
        if any(packed_arcs(dtree) is not None for _, dtree in pairs):
            self.arcs_ = self.arcs_._replace(learned=1.0)
        gold = [self.gold(*pair) for pair in pairs]
        without = [number for number, one in enumerate(gold, 1) if one.derivation is None]
        tell_left_out({DISORDERED: without}, len(gold))
        examples = self._examples_over_arcs(gold, [pair[1] for pair in pairs])
        learner = AdaGrad.after(self.weights_, SQUARES, self.settings.rate, self.settings.penalty)
        training = self._training(examples, epochs, learner)
        self.weights_ = self._learn(training, examples, None, progress)
        return self

    def _examples(self, treebank: Iterable[Gold]) -> Iterator[ChartExample]:
        """Yield the examples over single d-trees, with the oracle's derivation where heads are not the gold
        ones. Log at the end from which trees nothing is learned."""
        number, left_out = 0, {DISORDERED: list[int](), UNREACHED: list[int]()}
        for number, gold in enumerate(counted(treebank, "cky: derivations"), 1):
            if gold.derivation is None:
                left_out[DISORDERED].append(number)
                continue
            parts = gold.parts(self.grammar_)
            if [*gold.heads] != [*gold.gold_heads]:
                nearest = self.nearest(gold)
                if nearest.stage == 2:  # the glue rule is not learned
                    left_out[UNREACHED].append(number)
                    continue
                parts = nearest.parts
            yield ChartExample(self._observed(gold), parts)
        tell_left_out(left_out, number)

    def _tell_pruned(self, examples: Sequence[ChartExample]) -> None:
        """Say from how many trees nothing is learned, as settings leave no derivation over their d-trees."""
        rules = zip(self.observed_.rules, self.observed_.levels, strict=True)
        levels = (level for rule, level in rules if rule.kind == UNARY and rule.parent != ROOT)
        if self.settings.pruning != "none" or self.settings.max_unaries <= max(levels, default=-1):
            empty = sum(not len(build_chart(self.query, one.observed).rules) for one in examples)
            if empty:
                of, options = f"{many(empty, 'tree')} of {len(examples):,}", "--pruning and --max-unaries"
                log.warning("%s", f"cky: nothing is learned from {of}: {options} leave their d-trees no tree")

    def _examples_over_arcs(self, gold: Iterable[Gold], dtrees: Iterable[DTree]) -> list[ChartExample]:
        """Return the examples over the kept arcs and the gold ones, or over the arcs of a single d-tree."""
        examples = list[ChartExample]()
        for one, dtree in zip(gold, dtrees, strict=True):
            if one.derivation is not None:
                arcs, both = packed_arcs(dtree), (one.heads, one.gold_heads)
                kept = single(one.heads) if arcs is None else arcs.kept(self.arcs_.least, *both)
                examples.append(ChartExample(self._observed(one), one.parts(self.grammar_), kept))
        return examples

    def _training(
        self, examples: Sequence[ChartExample], epochs: int | None = None, learner: AdaGrad | None = None
    ) -> Training:
        """Return a training. epochs: in place of the settings' number; learner: the state to begin with"""
        settings, over_arcs = self.settings, _over_arcs(examples)
        settings = replace(settings, epochs=settings.epochs if epochs is None else epochs)
        training = Training("cky over packed arcs" if over_arcs else "cky", settings, permuted, None, learner)
        if self.checkpoints:
            state = training.learner.weights, np.array(self.arcs_)
            columns = chain[Any](columns_of(examples), self.grammar_.table, self.templates, state)
            directory = self.checkpoints / "packed" if over_arcs else self.checkpoints
            training.checkpoint = Checkpoint(directory, fingerprint_of(settings, columns))
        return training

    def _learn(
        self,
        training: Training,
        examples: Sequence[ChartExample],
        score: Callable[[Floats], float] | None,
        progress: Progress | None,
    ) -> Floats:
        """Return the best averaged weights [2^bits], of parts and arcs. score: returns the F1 of weights"""
        learner, query = training.learner, self.query
        scorer = Scorer(self.templates, self.grammar_.keys, learner.weights)

        def learn(chosen: Longs) -> tuple[float, int]:
            found: tuple[float, int] = train_on(learner, training.gradient, columns, chosen, query, scorer)
            return found

        def learn_over_arcs(chosen: Longs) -> tuple[float, int]:
            self.weights_ = learner.weights  # arcs are scored by these; `score` puts others there
            loss, parts = 0.0, 0
            for observed, gold, arcs in map(examples.__getitem__, chosen.tolist()):
                assert arcs is not None
                sentence = ChartInput(query, observed, scorer, self.packed(arcs, observed, np.inf))
                losses, of_gold = step_over_arcs(learner, training.gradient, sentence, gold)
                loss, parts = loss + losses, parts + of_gold
            return loss, parts

        over_arcs, columns = _over_arcs(examples), ExampleColumns.of(examples)
        return training.run(len(examples), learn_over_arcs if over_arcs else learn, score, progress)

    def fit_grammar(self, ctrees: Iterable[CTree], dtrees: Iterable[DTree] | None = None) -> list[Gold]:
        """Learn grammar and vocabulary, all that `oracle` needs; arguments and errors are as in `fit`."""
        treebank = list(ctrees)
        if dtrees is not None:
            treebank, dtrees = paired(treebank, dtrees)
        self.gaps_ = not all(ctree.is_continuous() for ctree in treebank)
        pairs = zip(treebank, repeat(None) if dtrees is None else dtrees, strict=False)
        gold = [self.gold(*pair) for pair in counted(pairs, "cky: grammar")]
        tops = Counter(one.ctree.top for one in gold)
        del treebank
        self.top_ = max(tops, key=lambda top: tops[top], default="TOP")
        if not any(one.derivation for one in gold):
            raise ValueError("no tree of the treebank has a derivation")
        rules = Counter(rule for one in gold for steps in one.rules() for rule in steps)
        self.default_ = _commonest_constituent(rules)
        if not any(rule.parent == self.default_ for rule in rules):  # bare words only: nothing to glue with
            rules[Rule(UNARY, self.default_, None, ROOT)] = 1
        self.observed_ = Grammar.of(rules, levels_of(steps for one in gold for steps in one.rules()))
        self.grammar_ = used(self.observed_, self.settings)
        labels = (one.labels or () for one in gold if self.settings.labels)
        # Of the trees with derivations only: so the grammar has a symbol for each tag of the vocabulary.
        self.vocabulary_ = Vocabulary.of([one.ctree.tokens for one in gold if one.derivation], labels)
        self._number()
        self.allowed_, self.arcs_ = UNPRUNED, ArcScoring()
        return gold

    def fit_arcs(self, ctrees: Iterable[CTree], dtrees: Iterable[DTree]) -> Self:
        """Learn what packed arcs count for, as `Route` says."""
        fit_scoring(self, ctrees, dtrees, ("labels", "yields"))
        return self

    def knows(self, tags: Iterable[str]) -> bool:
        """Return whether any of these tags was seen in training. Raises ModelError without a grammar."""
        self.check_grammar()
        return not self.vocabulary_.tags.keys().isdisjoint(tags)

    def encode(self, ctree: CTree) -> DTree:
        """Return the d-tree that a d-parser learns from.

        The label of an arc is the phrase symbol that it makes, or its rule, see `ChartSettings.arc_labels`.
        """
        headed = self._heads.headed(ctree)
        dtree = to_labelled_dependencies(headed)
        if self.settings.arc_labels == "phrase":
            return dtree
        gold = Gold.of(self._symbols.refine(headed), self.settings.binarization, None, None)
        return replace(dtree, labels=tuple(gold.rule_labels(dtree.labels or ())))

    def _decode_all(self, dtrees: Iterable[DTree], repairs: Repairs) -> Iterator[CTree]:
        return (self.best(dtree, repairs) for dtree in dtrees)

    def oracle(self, ctree: CTree, dtree: DTree) -> CTree:
        """Return the tree of Y(x, d) nearest to a gold c-tree: argmin Δ(y, y'), compared by parts (i, k, j,
        rule).

        Of equally near trees, it is one with the most gold constituents less others. The chart is pruned as
        in `decode`, and has at most `max_unaries` unary nodes in a row, even if the gold tree has more.
        """
        gold = self.gold(ctree, dtree)
        return self.ctree(gold.ctree.tokens, self.nearest(gold, packed_arcs(dtree)), Repairs())

    def _confidences_all(
        self, dtrees: Iterable[DTree], repairs: Repairs
    ) -> Iterator[tuple[CTree, Confidences]]:
        return (self.with_posteriors(dtree, repairs) for dtree in dtrees)

    def _within(
        self, dtree: DTree, constraints: SpanConstraints, repairs: Repairs
    ) -> tuple[CTree, Confidences]:
        return self.with_posteriors(dtree, repairs, constraints)

    def save(self, directory: Path) -> None:
        """Write JSON, and the weights as .npz, into a directory, made if absent. Raises ModelError
        where the route is not trained yet."""
        self.check_fitted()
        learned = Learned(*(getattr(self, f"{name}_") for name in Learned._fields))
        write_model(directory, self.settings, learned)

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return what `save` wrote. Raises ModelError."""
        settings, learned = read_model(directory)
        route = cls(settings)
        for name, part in learned._asdict().items():
            setattr(route, f"{name}_", part)
        route._number()
        return route

    @classmethod
    def warm_up(cls, train: bool = False) -> None:
        """Run the kernels of decoding, or of training as well, so that they are compiled and kept in files.

        Takes seconds the first time on a machine, and a moment where they are already there.
        """
        route = cls(epochs=1, table_bits=4)
        if train:
            route.fit([_SMALLEST])
        else:
            route.fit_grammar([_SMALLEST])
            route.weights_ = np.zeros(16, np.float32)
        route.confidences(route.encode(_SMALLEST))

    @classmethod
    def warm_up_packed(cls) -> None:
        """Compile the kernels of decoding over packed arcs that have labels and yields."""
        route = cls(epochs=1, table_bits=4)
        route.fit_grammar([_SMALLEST])
        route.weights_, route.arcs_ = np.zeros(16, np.float32), ArcScoring(labels=1, learned=1, yields=1)
        dtree = route.encode(_SMALLEST)
        arcs = arcs_of(np.array([[0.5, 0.0, 0.5], [0.5, 0.5, 0.0]]), dtree.heads)
        labels = ArcLabels(("S",), np.zeros((len(arcs.heads), 1), np.float32))
        arcs = arcs._replace(labels=labels, yields=np.full(8, -1, np.float32))
        route.confidences(with_packed_arcs(dtree, arcs))

    @cached_property
    def _heads(self) -> HeadRules:
        return load_head_rules(self.settings.head_rules)

    def gold(self, ctree: CTree, dtree: DTree | None = None) -> Gold:
        """Return a gold tree, refined, with a d-tree (None: its own, with labels only if they are used)."""
        headed = self._heads.headed(ctree)
        refined, scheme = self._symbols.refine(headed), self.settings.binarization
        if dtree is not None:
            return Gold.of(refined, scheme, self.heads_of(dtree, Repairs()), dtree.labels)
        return Gold.of(refined, scheme, None, self.encode(headed).labels if self.settings.labels else None)

    def _scorer_of(
        self, dev: Sequence[CTree], dtrees: Iterable[DTree] | None
    ) -> Callable[[Floats], float] | None:
        """Return the F1 on a dev treebank as a function of the weights [2^bits]; None if it has no trees."""
        given, gold = list(map(self.encode, dev) if dtrees is None else dtrees), list(map(visible, dev))
        if not given:
            return None

        def f1(weights: Floats) -> float:
            self.weights_ = weights
            return bracket_scores(gold, list(self.decode_all(given)), gaps=self.gaps_).f1

        return f1


def _over_arcs(examples: Iterable[ChartExample]) -> bool:
    return any(one.arcs is not None for one in examples)


def _commonest_constituent(rules: Counter[Rule]) -> Symbol:
    """Return the commonest symbol of a whole constituent: the glue rule puts it over a pre-terminal."""
    counts = Counter[Symbol]()
    for rule, count in rules.items():
        if rule.parent.bar == "":
            counts[rule.parent] += count
    return commonest(counts, Symbol("X"))
