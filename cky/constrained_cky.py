"""Constrained CKY as an estimator: d-trees → c-trees with a grammar and weights learned from c-trees."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from itertools import islice, repeat
from pathlib import Path
from typing import Any, Self

import numpy as np

from d2c.base.progress import counted
from d2c.cky.grammar.grammar import ROOT, Grammar, Rule, levels_of
from d2c.cky.grammar.vocabulary import Vocabulary
from d2c.cky.learning.gold import Gold, examples_of
from d2c.cky.learning.training import Training
from d2c.cky.model import Learned, read_model, used, write_model
from d2c.cky.search.chart import COPY, NO_GLUE, Query, build_chart
from d2c.cky.search.constraints import UNPRUNED
from d2c.cky.search.features import TOKEN, Observed, Scorer, heads_of, tags_of
from d2c.cky.search.layout import lay_out
from d2c.cky.search.packed_chart import Packed
from d2c.cky.search.packed_layout import lay_out_packed
from d2c.cky.search.pruning import estimate, restrict
from d2c.cky.search.search import (
    Asked,
    Found,
    best_parts,
    bracket_key,
    k_best_parts,
    oracle_parts,
    posteriors,
)
from d2c.cky.search.templates import Templates
from d2c.cky.settings import ChartSettings
from d2c.forests.forest import Floats, Ints
from d2c.forests.semirings import count_derivations
from d2c.packed.arcs import PackedArcs
from d2c.packed.dtree import packed_arcs
from d2c.packed.feature import ArcFeature, fit_feature
from d2c.trees.binarization import GLUE, UNARY, Derivation, Step, Symbol, unbinarize
from d2c.trees.conversion import to_labelled_dependencies
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree, is_projective
from d2c.trees.heads import HeadRules, load_head_rules
from d2c.trees.labels import phrase_symbols
from d2c.trees.refinement import REFINEMENTS, Refinement, visible
from d2c.trees.repair import ARCS_UNDONE, Repairs, repair_tree
from d2c.trees.route import Confidences, Progress, Route, paired
from d2c.trees.scores.brackets import bracket_scores

GLUED, PRUNING_UNDONE = "glue rule", "pruning undone"
DEFAULTS = ChartSettings()
_BATCH = 16  # d-trees that a thread takes at a time


class ConstrainedCKY(Route):
    """Route 2 (PAD): the best c-tree of a learned grammar among those that have the given d-tree.

    settings:    see `ChartSettings`; changes: settings that differ, by name
    jobs:        threads of `decode_all`
    checkpoints: directory of a checkpoint, from which an interrupted training goes on

    Learned by `fit`: grammar, vocabulary, what pruning allows, weights (the average over all steps).
    """

    gives_confidences = gives_k_best = has_oracle = learns_conventions = supports_arcs = True
    arcs_: ArcFeature

    def __init__(
        self,
        settings: ChartSettings = DEFAULTS,
        jobs: int = 1,
        checkpoints: Path | None = None,
        **changes: Any,
    ) -> None:
        self.settings = replace(settings, **changes)
        self.jobs, self.checkpoints = jobs, checkpoints

    @property
    def is_fitted(self) -> bool:
        """Whether there are weights."""
        return "weights_" in vars(self)

    def _fit(
        self,
        ctrees: Iterable[CTree],
        dev: Iterable[CTree],
        dtrees: Iterable[DTree] | None,
        dev_dtrees: Iterable[DTree] | None,
        progress: Progress | None,
    ) -> None:
        """Learn from gold c-trees.

        dev:         scored after every epoch; the weights with the best F1 (EVALB, collins.prm) are kept
        dtrees:      one for each c-tree, in place of `encode`'s: other labels, or predicted heads; where
                     these differ from the gold ones, the oracle tree is what is learned
        dev_dtrees:  the same for `dev`; where only `dtrees` are given, `dev` has none to be scored on

        Nothing is learned from trees with gaps whose order of attachment is not nested: no derivation reaches
        them. Raises ValueError where that leaves none.
        """
        settings, gold = self.settings, self.fit_grammar(ctrees, dtrees)
        held_out = list(dev) if dtrees is None or dev_dtrees is not None else []
        derivable = (one for one in gold if one.derivation is not None)
        examples = examples_of(derivable, self.grammar_, self.vocabulary_, self._oracle)
        del gold
        rules, tags = len(self.grammar_.rules), len(self.vocabulary_.tags)
        self.allowed_ = estimate(examples.derivations(self.grammar_.table.kind), rules, tags, settings.gamma)
        asked = self.ask(np.zeros(3, TOKEN))._replace(glue_symbols=NO_GLUE)
        training = Training(settings, examples, self.grammar_, self._templates, asked, self.checkpoints)
        self.weights_ = training.run(self._scorer_of(held_out, dev_dtrees), progress)

    def fit_grammar(self, ctrees: Iterable[CTree], dtrees: Iterable[DTree] | None = None) -> list[Gold]:
        """Learns grammar and vocabulary, all that `oracle` needs; arguments and errors as of `fit`."""
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
        # Of the trees with derivations: the grammar has a symbol for each tag of the vocabulary.
        self.vocabulary_ = Vocabulary.of([one.ctree.tokens for one in gold if one.derivation], labels)
        self._number()
        self.allowed_, self.arcs_ = UNPRUNED, ArcFeature()
        return gold

    def fit_arcs(self, ctrees: Iterable[CTree], dtrees: Iterable[DTree]) -> Self:
        """Learn what packed arcs count for, as `Route` says."""
        fit_feature(self, ctrees, dtrees)
        return self

    def encode(self, ctree: CTree) -> DTree:
        """The d-tree that a d-parser learns from; an arc's label is the phrase symbol that it makes."""
        return to_labelled_dependencies(self._heads.headed(ctree))

    def _decode(self, dtree: DTree, repairs: Repairs) -> CTree:
        """Return the best c-tree; heads that form no tree are repaired first.

        What had to be repaired, uses of the glue rule, and sentences without a parse under pruning (they are
        parsed without it) are added to `repairs`.
        """
        asked = self._asked(dtree, self._tree(dtree, repairs))
        found = best_parts(asked)
        several = asked.packed is not None and not asked.packed.arcs.is_single
        repairs.counts[ARCS_UNDONE] += several and not found.several
        return self.ctree(dtree.tokens, found, repairs)

    def _decode_all(self, dtrees: Iterable[DTree], repairs: Repairs) -> Iterator[CTree]:
        """`decode` for a stream of d-trees, on `jobs` threads, in order."""
        if self.jobs == 1:
            for dtree in dtrees:
                yield self._decode(dtree, repairs)
            return
        stream, pending = iter(dtrees), deque[Future[tuple[list[CTree], Repairs]]]()
        with ThreadPoolExecutor(self.jobs) as pool:
            while (batch := list(islice(stream, _BATCH))) or pending:
                if batch:
                    pending.append(pool.submit(self._decode_batch, batch))
                if not batch or len(pending) > 2 * self.jobs:
                    ctrees, counted = pending.popleft().result()
                    repairs.add(counted)
                    yield from ctrees

    def oracle(self, ctree: CTree, dtree: DTree) -> CTree:
        """The tree of Y(x, d) nearest to a gold c-tree: argmin Δ(y, y'), parts (i, k, j, rule) compared.

        Of equally near ones, one with most gold constituents. The chart is pruned as in `decode`.
        """
        gold = self.gold(ctree, dtree)
        return self.ctree(gold.ctree.tokens, self._oracle(gold, packed_arcs(dtree)), Repairs())

    def _decode_k_best(self, dtree: DTree, k: int) -> list[tuple[float, CTree]]:
        """Return the c-trees of the k best derivations with their scores, best first.

        There are fewer where the chart has fewer, or where derivations differ only in the order in which they
        take left and right dependents: such a c-tree comes once, with its best score.
        """
        heads = self._tree(dtree, Repairs())
        totals, found = k_best_parts(self._asked(dtree, heads), k)
        best: dict[CTree, float] = {}
        for total, derivation in zip(totals, found, strict=True):
            best.setdefault(self.ctree(dtree.tokens, derivation, Repairs()), total)
        return [(total, ctree) for ctree, total in best.items()]

    def _confidences(self, dtree: DTree, repairs: Repairs) -> tuple[CTree, tuple[float, ...]]:
        """Return the best c-tree; the probability of each of its nodes, given the d-tree [K].

        That is the share of all derivations that have the constituent, each weighed by exp of its score
        (log-sum semiring). Weights trained with a margin are no likelihood: probabilities rank, they are not
        calibrated.
        """
        heads = self._tree(dtree, repairs)
        found, keys, words, values = posteriors(self._asked(dtree, heads))
        ctree = self._refined(dtree.tokens, found, repairs)
        n, ids, lexical_heads = len(heads), self.grammar_.symbol_ids, ctree.lexical_heads()
        shares: list[float] = []
        chains = self._symbols.shown(ctree.labels)
        for k, (below, chain) in enumerate(zip(ctree.yields()[n:], chains, strict=True)):
            key = bracket_key(ids[Symbol(ctree.labels[k])], below[0], below[-1], n)
            share = min(1.0, float(values[(keys == key) & (words == lexical_heads[n + k])].sum()))
            shares += [share] * len(chain)
        return self._symbols.restore(ctree), tuple(shares)

    def _confidences_all(
        self, dtrees: Iterable[DTree], repairs: Repairs
    ) -> Iterator[tuple[CTree, Confidences]]:
        return (self._confidences(dtree, repairs) for dtree in dtrees)

    def count(self, dtree: DTree) -> int:
        """|Y(x, d)|: how many derivations the grammar has for a d-tree, exact up to 2^53."""
        query = self._query(dtree)
        return int(count_derivations(build_chart(query._replace(glue_symbols=NO_GLUE)).forest))

    def chart_size(self, dtree: DTree) -> int:
        """How many applications of rules the chart of a d-tree has under pruning; 0 where it has no parse."""
        query = self._query(dtree)
        return int((build_chart(query._replace(glue_symbols=NO_GLUE)).rules != COPY).sum())

    def save(self, directory: Path) -> None:
        """Writes JSON, and the non-zero weights as .npz, into a directory, made if absent."""
        learned = Learned(
            *(self.observed_, self.grammar_, self.vocabulary_, self.top_, self.gaps_),
            *(self.default_, self.allowed_, self.weights_, self.arcs_),
        )
        write_model(directory, self.settings, learned)

    @classmethod
    def load(cls, directory: Path) -> Self:
        """What `save` wrote. Raises ModelError."""
        settings, learned = read_model(directory)
        route = cls(settings)
        route.observed_, route.grammar_ = learned.observed, learned.grammar
        route.vocabulary_ = learned.vocabulary
        route.top_, route.gaps_, route.default_ = learned.top, learned.gaps, learned.default
        route.allowed_, route.weights_, route.arcs_ = learned.allowed, learned.weights, learned.arcs
        route._number()
        return route

    @classmethod
    def warm_up(cls, train: bool = False) -> None:
        """Runs the kernels of decoding, or of training as well, so that they are compiled and kept in files.

        Takes seconds the first time on a machine, and a moment where they are already there.
        """
        gold = CTree(Tokens(("a", "b"), ("A", "B")), ("S",), ((0, 1),), (1,))
        route = cls(epochs=1, table_bits=4)
        if train:
            route.fit([gold])
        else:
            route.fit_grammar([gold])
            route.weights_ = np.zeros(16, np.float32)
        route.confidences(route.encode(gold))

    @cached_property
    def _heads(self) -> HeadRules:
        return load_head_rules(self.settings.head_rules)

    @property
    def _symbols(self) -> Refinement:
        return REFINEMENTS[self.settings.symbols]

    def gold(self, ctree: CTree, dtree: DTree | None = None) -> Gold:
        """A gold tree, refined, with a d-tree, or with its own, labelled only where labels are used."""
        headed = self._heads.headed(ctree)
        refined, scheme = self._symbols.refine(headed), self.settings.binarization
        if dtree is not None:
            return Gold.of(refined, scheme, self._tree(dtree, Repairs()), dtree.labels)
        return Gold.of(refined, scheme, None, self.encode(headed).labels if self.settings.labels else None)

    def _scorer_of(
        self, dev: Sequence[CTree], dtrees: Iterable[DTree] | None
    ) -> Callable[[Floats], float] | None:
        """F1 on a dev treebank as a function of the weights; None if there is no tree."""
        given, gold = list(map(self.encode, dev) if dtrees is None else dtrees), list(map(visible, dev))
        if not given:
            return None

        def f1(weights: Floats) -> float:
            self.weights_ = weights
            return bracket_scores(gold, list(self.decode_all(given)), gaps=self.gaps_).f1

        return f1

    @property
    def _templates(self) -> Templates:
        return Templates.of(self.vocabulary_.columns, self.settings.context)

    @property
    def scorer(self) -> Scorer:
        """What scores the parts of a derivation."""
        return Scorer(self._templates, self.grammar_.keys, self.weights_)

    def _number(self) -> None:
        """What grammar and vocabulary say by number: the symbol of pre-terminals with each tag, and the label
        that d-trees have for the arcs that make each symbol."""
        self._axioms = _axioms(self.grammar_, self.vocabulary_)
        self._labels = tuple([self._symbols.labels(one.label)[-1] for one in self.grammar_.symbols])

    def ask(self, observed: Observed) -> Query:
        """The query for a sentence with its d-tree."""
        layout, tags = lay_out(heads_of(observed)), tags_of(observed)
        glue = np.full(len(tags), self.grammar_.symbol_ids[self.default_], np.int32)
        constraints, most = restrict(self.allowed_, self.settings.pruning), self.settings.max_unaries
        return Query(self.grammar_.table, layout, self._axioms, tags, constraints, most, glue)

    def _query(self, dtree: DTree) -> Query:
        """The query for a d-tree, repaired, without its packed arcs."""
        heads = self._tree(dtree, Repairs())
        return self.ask(self.vocabulary_.observe(dtree.tokens, heads, dtree.labels))

    def _asked(self, dtree: DTree, heads: Sequence[int]) -> Asked:
        """What is looked for over a d-tree, its heads being repaired, or over all of its packed arcs."""
        observed = self.vocabulary_.observe(dtree.tokens, heads, dtree.labels)
        query = self.ask(observed)
        return Asked(query, observed, self.scorer, self._packed(packed_arcs(dtree), heads, query))

    def _packed(self, arcs: PackedArcs | None, heads: Sequence[int], query: Query) -> Packed | None:
        """The arcs that are kept; None where they say no more than the single d-tree."""
        if arcs is None:
            return None
        kept, symbols = arcs.kept(self.arcs_.least, heads), np.zeros((0, 0), np.float32)
        if kept.labels is not None and self.arcs_.labels:
            labels = kept.labels.summed(self._labels, phrase_symbols(kept.labels.names))
            symbols = self.arcs_.labels * labels
        if kept.is_single:
            return Packed(kept, None, self.arcs_.weight, symbols) if len(symbols) else None
        around = self.settings.context or len(query.constraints.sides) > 0
        layout = lay_out_packed(kept, around) if is_projective(heads) else None
        return Packed(kept, layout, self.arcs_.weight, symbols)

    def _oracle(self, gold: Gold, arcs: PackedArcs | None = None) -> Found:
        query = self.ask(self.vocabulary_.observe(gold.ctree.tokens, gold.heads, gold.labels))
        packed = self._packed(arcs, gold.heads, query)
        return oracle_parts(query, gold.parts(self.grammar_), gold.brackets(self.grammar_), packed)

    def _decode_batch(self, dtrees: Sequence[DTree]) -> tuple[list[CTree], Repairs]:
        repairs = Repairs()
        return [self._decode(dtree, repairs) for dtree in dtrees], repairs

    def ctree(self, tokens: Tokens, found: Found, repairs: Repairs) -> CTree:
        """The c-tree of what the chart found."""
        return self._symbols.restore(self._refined(tokens, found, repairs))

    def _refined(self, tokens: Tokens, found: Found, repairs: Repairs) -> CTree:
        """The refined c-tree of what the chart found."""
        heads = found.heads(len(tokens))
        derivation: Derivation = [[] for _ in heads]
        repairs.counts[PRUNING_UNDONE] += found.stage > 0 and self.settings.pruning != "none"
        (sites, rules), size = found.parts, len(self.grammar_.symbols)
        columns = (column.tolist() for column in (sites["side"], sites["h"], rules, found.symbols))
        for kind, h, rule, symbol in zip(*columns, strict=True):
            if symbol < size:
                glue = Step(kind, self._glued(kind, symbol))
                derivation[h].append(self.grammar_.steps[rule] if rule >= 0 else glue)
            repairs.counts[GLUED] += rule < 0
        return unbinarize(tokens, heads, derivation, self.top_)

    def _glued(self, kind: int, symbol: int) -> Symbol:
        """The parent of a glue step that derived a symbol: of a unary one that finishes it, the symbol."""
        label = self.grammar_.symbols[symbol]
        return label if kind == UNARY else Symbol(label.label, GLUE)

    def _tree(self, dtree: DTree, repairs: Repairs) -> list[int]:
        """Heads that form a tree, a projective one if c-trees are to have no gaps."""
        continuous = self.settings.continuous
        return repair_tree(dtree.heads, not self.gaps_ if continuous is None else continuous, repairs)


def _axioms(grammar: Grammar, vocabulary: Vocabulary) -> Ints:
    """[tags + 1] the symbol of the pre-terminals with each tag."""
    axioms = np.zeros(max(vocabulary.tags.values()) + 1, np.int32)
    for tag, number in vocabulary.tags.items():
        axioms[number] = grammar.symbol_ids[Symbol(tag, "tag")]
    return axioms


def _commonest_constituent(rules: Counter[Rule]) -> Symbol:
    """What the glue rule puts over a pre-terminal."""
    counts = Counter[Symbol]()
    for rule, count in rules.items():
        if rule.parent.bar == "":
            counts[rule.parent] += count
    return min(counts, key=lambda symbol: (-counts[symbol], symbol), default=Symbol("X"))
