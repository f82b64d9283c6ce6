"""Decoding with a fitted chart: the best c-tree of a d-tree, the k best, the oracle's, and confidences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from d2c.base.arrays import Floats
from d2c.base.errors import ModelError
from d2c.cky.grammar import Grammar
from d2c.cky.learning.gold import Gold
from d2c.cky.minimum_risk import least_risk
from d2c.cky.search.chart import Query, build_chart
from d2c.cky.search.deduction import COPY, Chart, Likely
from d2c.cky.search.derivations import (
    ChartDerivation,
    ChartInput,
    Posteriors,
    best_derivation,
    k_best_derivations,
    oracle_derivation,
    posteriors,
    scored_chart,
    shares_of_nodes,
)
from d2c.cky.search.packed_chart import Packed
from d2c.cky.search.packed_skeleton import packed_skeleton_of
from d2c.cky.search.parts import Nodes, nodes_of
from d2c.cky.search.pruning import Constraints
from d2c.cky.search.reach import NO_YIELDS, ArcScores
from d2c.cky.search.scoring import Scorer
from d2c.cky.search.skeleton import Observed, heads_of, is_projective_tree
from d2c.cky.search.templates import Templates
from d2c.cky.settings import ChartSettings
from d2c.cky.vocabulary import Vocabulary
from d2c.learning.semirings import count_derivations
from d2c.packed.arc_features import ArcFeatures
from d2c.packed.arcs import PackedArcs, packed_arcs
from d2c.packed.k_best import k_best_dtrees
from d2c.packed.scoring import ArcScoring
from d2c.protocols.route import Ranked, merged_ctrees
from d2c.trees.binarization import Symbol
from d2c.trees.constraints import SpanConstraints
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree, is_projective
from d2c.trees.labels import phrase_symbols
from d2c.trees.refinement import HIDDEN, REFINEMENTS, Refinement
from d2c.trees.repair import ARCS_UNDONE, Repairs, repair_tree

GLUE_USED, PRUNING_UNDONE = "glue rule", "pruning undone"
UNLIKELY = np.float32(np.log(100))  # a symbol whose label is so much less probable than the best is pruned
MOST_DERIVATIONS = 1 << 11  # among which the k best c-trees are looked for
AMONG = 16  # best d-trees over packed arcs: if the d-parser's own one crosses, those that cross are searched


class ChartDecoder:
    """Searches among the c-trees of a d-tree with what was learned, see `d2c.cky.model.Learned`."""

    settings: ChartSettings
    grammar_: Grammar
    vocabulary_: Vocabulary
    top_: str | None
    gaps_: bool
    default_: Symbol
    allowed_: Constraints
    weights_: Floats
    arcs_: ArcScoring

    def best(self, dtree: DTree, repairs: Repairs) -> CTree:
        """Return the best c-tree: that of the best derivation, or, among several projective d-trees of packed
        arcs, the one of minimum Bayes risk, where `arcs_` has a scale for it.

        Heads that form no tree are repaired first. Added to `repairs` are these repairs, uses of the glue
        rule, and sentences for which pruning, or packed arcs, had to be given up.
        """
        if self.arcs_.scale and packed_arcs(dtree) is not None:
            return self.with_posteriors(dtree, repairs)[0]
        sentence = self._sentence(dtree, self.heads_of(dtree, repairs))
        derivation = best_derivation(sentence)
        repairs.counts[ARCS_UNDONE] += _arcs_undone(sentence, derivation)
        return self.ctree(dtree.tokens, derivation, repairs)

    def _decode_k_best(self, dtree: DTree, k: int, constraints: SpanConstraints | None) -> Sequence[Ranked]:
        """Return the k best c-trees with the logarithms of their probabilities, in the order of their best
        derivations; fewer where there are no more. The c-tree that `best` returns comes first where it is of
        minimum Bayes risk, or found without unlikely symbols; if none of the k has its constituents, its
        probability is not known (None).

        Probabilities are shares of all derivations, each weighed by exp of its score. Derivations have the
        same c-tree if they differ only in the order in which they take left and right dependents, or, over
        packed arcs, in the d-tree. So derivations are looked for until they have k c-trees; a c-tree has the
        sum of those that were found, which are more for a greater k.
        """
        sentence = self._sentence(dtree, self.heads_of(dtree, Repairs()), constraints, pruned=False)
        scored, wanted = scored_chart(sentence), k
        while True:
            logs, derivations = k_best_derivations(scored, wanted)
            ctrees = (self.ctree(dtree.tokens, one, Repairs()) for one in derivations)
            ranked = merged_ctrees(zip(logs, ctrees, strict=True))[:k]
            if len(ranked) == k or len(derivations) < wanted or wanted >= MOST_DERIVATIONS:
                break
            wanted *= 2
        if sentence.packed is None:
            return ranked
        if constraints is None and len(sentence.packed.likely.symbols):
            first = self.best(dtree, Repairs())  # of a chart without unlikely symbols
        elif self.arcs_.scale:
            found = posteriors(sentence, scored, self.arcs_.scale)
            first, _ = self._chosen(dtree.tokens, found, self.arcs_.threshold, Repairs(), constraints)
        else:
            return ranked
        return merged_ctrees([(None, first), *ranked])[:k]

    def by_risk(self, dtree: DTree, scorings: Sequence[ArcScoring]) -> list[CTree]:
        """Return what `best` would return with the scale and the threshold of each scoring."""
        sentence = self._sentence(dtree, self.heads_of(dtree, Repairs()))
        scored = scored_chart(sentence)
        found = {scale: posteriors(sentence, scored, scale) for scale in {one.scale for one in scorings}}
        return [self._chosen(dtree.tokens, found[a.scale], a.threshold, Repairs())[0] for a in scorings]

    def with_posteriors(
        self, dtree: DTree, repairs: Repairs, constraints: SpanConstraints | None = None
    ) -> tuple[CTree, tuple[float, ...]]:
        """Return the best c-tree, and the probability of each of its nodes, given the d-tree [K].

        That is the share of the derivations that have the constituent, each weighed by exp of its score
        (log-sum semiring). Weights trained with a margin are no likelihood: probabilities rank, they are not
        calibrated. Nodes of a c-tree of minimum Bayes risk (`best`) have the probabilities by which they were
        chosen: of scaled scores, whatever their head.
        """
        sentence = self._sentence(dtree, self.heads_of(dtree, repairs), constraints)
        found = posteriors(sentence, scored_chart(sentence), self.arcs_.scale)
        repairs.counts[ARCS_UNDONE] += _arcs_undone(sentence, found.derivation)
        return self._chosen(dtree.tokens, found, self.arcs_.threshold, repairs, constraints)

    def _chosen(
        self,
        tokens: Tokens,
        found: Posteriors,
        threshold: float,
        repairs: Repairs,
        constraints: SpanConstraints | None = None,
    ) -> tuple[CTree, tuple[float, ...]]:
        """Return a c-tree and probabilities [K] as `with_posteriors`. threshold: of minimum Bayes risk"""
        rules, nodes = self.grammar_.table, self._nodes(len(tokens), found.derivation, repairs)
        ctree = self._refined(tokens, nodes)
        if found.scaled:
            required = [] if constraints is None else constraints.require
            spans = [one.tokens for one in required if one.end - one.start > 1]
            return least_risk(self._symbols.restore(ctree), found, rules, self._shown, threshold, spans)
        shares = shares_of_nodes(found, rules.finished[nodes.symbols], nodes.places, len(tokens))
        of_nodes = shares.clip(max=1.0).tolist()
        if self._unrefined:
            return ctree, tuple(of_nodes)
        chains = zip(self._symbols.shown(ctree.labels), of_nodes, strict=True)
        return self._symbols.restore(ctree), tuple([share for chain, share in chains for _ in chain])

    def nearest(self, gold: Gold, arcs: PackedArcs | None = None) -> ChartDerivation:
        """Return the oracle's derivation: the nearest to a gold tree, over its d-tree or over packed arcs."""
        self.check_grammar()
        parts, brackets, observed = (
            gold.parts(self.grammar_),
            gold.brackets(self.grammar_),
            self._observed(gold),
        )
        return oracle_derivation(self.query, observed, parts, brackets, self._packed(arcs, observed))

    def _observed(self, gold: Gold) -> Observed:
        """Return what features see of a gold tree's sentence, with its d-tree [n + 2]."""
        return self.vocabulary_.observe(gold.ctree.tokens, gold.heads, gold.labels)

    def count(self, dtree: DTree) -> int:
        """Return |Y(x, d)|: how many derivations the pruned grammar has for a d-tree, exact up to 2^53.

        Where a word has more than MOST_CELLS items (`d2c.cky.search.skeleton`), only the derivations that
        take its right dependents first are counted.
        """
        return int(count_derivations(self._chart(dtree).forest))

    def chart_size(self, dtree: DTree) -> int:
        """Return how many applications of rules the pruned chart of a d-tree has; 0 if there is no parse."""
        return int((self._chart(dtree).rules != COPY).sum())

    def check_grammar(self) -> None:
        """Raise ModelError where there is no grammar yet."""
        if "vocabulary_" not in vars(self):
            raise ModelError(f"this route ({type(self).__name__}) is not trained yet")

    def ctree(self, tokens: Tokens, derivation: ChartDerivation, repairs: Repairs) -> CTree:
        """Return the c-tree of a derivation; uses of the glue rule are added to `repairs`."""
        refined = self._refined(tokens, self._nodes(len(tokens), derivation, repairs))
        return refined if self._unrefined else self._symbols.restore(refined)

    def heads_of(self, dtree: DTree, repairs: Repairs) -> Sequence[int]:
        """Return heads that form a tree, a projective one if c-trees are to have no gaps."""
        heads, n = dtree.heads, len(dtree.heads)
        if n and min(heads) >= 0 and max(heads) <= n and is_projective_tree(np.array(heads, np.int32)):
            repairs.sentences += 1
            repairs.tokens += n
            return heads
        continuous = self.settings.continuous
        return repair_tree(heads, not self.gaps_ if continuous is None else continuous, repairs)

    @property
    def templates(self) -> Templates:
        """Return the templates in use."""
        return Templates.of(self.vocabulary_.columns, self.settings.context)

    @property
    def scorer(self) -> Scorer:
        """Return the weights and templates that score the parts of a derivation."""
        return Scorer(self.templates, self.grammar_.keys, self.weights_)

    @property
    def query(self) -> Query:
        """Return the grammar and what pruning leaves, without the glue rule."""
        constraints, most = self.allowed_.of(self.settings.pruning), self.settings.max_unaries
        default = self.grammar_.symbol_ids[self.default_]
        return Query(self.grammar_.table, self._axioms, constraints, most, default)

    def _number(self) -> None:
        """Number the pre-terminals by their tags; find for each symbol the label that d-trees have for the
        arcs that make it, and the labels that it shows."""
        symbols, ids = self.grammar_.symbols, self.grammar_.symbol_ids
        self._axioms = np.zeros(max(self.vocabulary_.tags.values()) + 1, np.int32)
        for tag, number in self.vocabulary_.tags.items():
            self._axioms[number] = ids[Symbol(tag, "tag")]
        self._names = [one.label for one in symbols]
        self._labels = tuple([self._symbols.labels(name)[-1] for name in self._names])
        self._shown = self._symbols.shown([*self._names, HIDDEN])[:-1]  # none of them as a root
        self._unrefined = self._shown == [(name,) for name in self._names]

    @property
    def _symbols(self) -> Refinement:
        return REFINEMENTS[self.settings.symbols]

    def _sentence(
        self,
        dtree: DTree,
        heads: Sequence[int],
        constraints: SpanConstraints | None = None,
        pruned: bool = True,
    ) -> ChartInput:
        """Return the sentence of a d-tree, with repaired heads. pruned: leave out unlikely symbols of arcs,
        if there are no constraints, which may need them"""
        observed = self.vocabulary_.observe(dtree.tokens, heads, dtree.labels)
        packed, query = self._packed(packed_arcs(dtree), observed, constraints is not None), self.query
        if packed is not None and pruned and constraints is None:
            query = query._replace(likely=packed.likely)
        wanted = constraints and (constraints, self._shown)
        return ChartInput(query, observed, self.scorer, packed, wanted)

    def _chart(self, dtree: DTree) -> Chart:
        """Return the chart of a d-tree, repaired, without its packed arcs and without the glue rule."""
        self.check_grammar()
        heads = self.heads_of(dtree, Repairs())
        return build_chart(self.query, self.vocabulary_.observe(dtree.tokens, heads, dtree.labels))

    def packed(self, kept: PackedArcs, observed: Observed, beam: float) -> Packed:
        """Return packed arcs for the chart, with scores by the learned weights.

        observed: [n + 2] with the heads of the single d-tree
        beam:     as in `ArcScoring`
        """
        weight, of_labels, learned = self.arcs_.weight, self.arcs_.labels, self.arcs_.learned
        labels = np.zeros((0, 0), np.float32)
        if kept.labels is not None and (of_labels or learned):
            labels = kept.labels.summed(self._labels, phrase_symbols(kept.labels.names))
        packed = Packed(kept, None, weight * kept.logs, of_labels * labels)
        if len(labels) and of_labels:
            likely = labels >= labels.max(axis=1, keepdims=True) - UNLIKELY
            packed = packed._replace(likely=Likely(kept.begin, kept.heads, likely))
        if kept.yields is not None and self.arcs_.yields:
            n = len(kept.begin) - 1
            packed = packed._replace(yields=np.float32(self.arcs_.yields) * kept.yields.reshape(2, n, n))
        if learned:
            features = ArcFeatures.of(observed, kept, labels, len(self.weights_))
            scores, symbols = features.scores(self.weights_)
            scores, symbols = packed.scores + scores, packed.symbols + symbols
            packed = packed._replace(scores=scores, symbols=symbols, features=features)
        return packed if kept.is_single else self._arranged(packed, observed, beam)

    def _arranged(self, packed: Packed, observed: Observed, beam: float) -> Packed:
        """Return packed arcs with what is to be searched: a skeleton of projective d-trees; crossing d-trees.

        observed: [n + 2]
        """
        around = self.settings.context or len(self.query.constraints.sides) > 0
        ends = packed.arcs.yields if packed.yields.size else None
        yields = NO_YIELDS if ends is None else ends.reshape(packed.yields.shape)
        scores = ArcScores(packed.arcs.logs, yields, beam)
        heads, dtrees = heads_of(observed), dict[Sequence[int], None]()
        if not is_projective_tree(heads):
            own = tuple(heads.tolist())
            best = [own, *(heads for heads, _ in k_best_dtrees(packed.arcs, AMONG, projective=False))]
            dtrees = dict.fromkeys(heads for heads in best if not is_projective(heads))
        return packed._replace(skeleton=packed_skeleton_of(packed.arcs, around, scores), dtrees=[*dtrees])

    def _packed(self, arcs: PackedArcs | None, observed: Observed, unlimited: bool = False) -> Packed | None:
        """Return the arcs that are kept; None where they say no more than the single d-tree.

        observed:  [n + 2]
        unlimited: search without the beam, which may leave out what constraints ask for
        """
        if arcs is None:
            return None
        kept = arcs.kept(self.arcs_.least, heads_of(observed).tolist())
        packed = self.packed(kept, observed, np.inf if unlimited else self.arcs_.beam)
        return None if packed.arcs.is_single and not len(packed.symbols) else packed

    def _nodes(self, n: int, derivation: ChartDerivation, repairs: Repairs) -> Nodes:
        """Return the nodes of a derivation over n words; uses of the glue rule are added to `repairs`."""
        parts, symbols, stage, _ = derivation
        repairs.counts[PRUNING_UNDONE] += stage > 0 and self.settings.pruning != "none"
        repairs.counts[GLUE_USED] += int((parts.rules < 0).sum()) if stage == 2 else 0
        found: Nodes = nodes_of(self.grammar_.table, n, parts, symbols)
        return found

    def _refined(self, tokens: Tokens, nodes: Nodes) -> CTree:
        """Return the refined c-tree of nodes."""
        names, children, begin = self._names, nodes.children.tolist(), nodes.begin.tolist()
        return CTree(
            tokens,
            tuple([names[symbol] for symbol in nodes.symbols.tolist()]),
            tuple([tuple(children[a:b]) for a, b in zip(begin, begin[1:], strict=False)]),
            tuple(nodes.head_children.tolist()),
            self.top_,
        )


def _arcs_undone(sentence: ChartInput, derivation: ChartDerivation) -> bool:
    """Return whether packed arcs were given up for the single d-tree."""
    return sentence.packed is not None and not sentence.packed.arcs.is_single and not derivation.several
