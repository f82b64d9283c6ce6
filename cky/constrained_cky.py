"""Constrained CKY as an estimator: d-trees → c-trees with a grammar and weights learned from c-trees."""

from __future__ import annotations

import json
import zipfile
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import cached_property
from itertools import islice, repeat
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from d2c.cky.grammar.grammar import Grammar, Rule, levels_of
from d2c.cky.grammar.vocabulary import Vocabulary
from d2c.cky.learning.gold import Gold, examples_of
from d2c.cky.learning.training import Epoch, Training
from d2c.cky.search.chart import Constraints, build_forest
from d2c.cky.search.features import rule_keys
from d2c.cky.search.layout import Ints, lay_out
from d2c.cky.search.pruning import METHODS, estimate, restrict, unpruned
from d2c.cky.search.search import Found, best_parts, k_best_parts, oracle_parts, posteriors
from d2c.forests.semirings import count_derivations
from d2c.linear.adagrad import AdaGrad
from d2c.trees.binarization import BINARIZATIONS, GLUE, UNARY, Derivation, Step, Symbol, unbinarize
from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree, is_projective
from d2c.trees.errors import ModelError
from d2c.trees.files import read_json
from d2c.trees.heads import HeadRules, load_head_rules
from d2c.trees.repair import CROSSING, Repairs, projectivize, repair_heads
from d2c.trees.scores.brackets import bracket_scores

FORMAT = 3  # of the model directory
GLUED, PRUNING_UNDONE = "glue rule", "pruning undone"
_SETTINGS, _WEIGHTS = "cky.json", "weights.npz"
_BATCH = 16  # d-trees that a thread takes at a time
_PARAMETERS = (
    *("head_rules", "binarization", "labels", "context", "pruning", "gamma", "max_unaries", "continuous"),
    *("epochs", "rate", "penalty", "table_bits", "seed"),
)


class ConstrainedCKY:
    """Route 2 (PAD): the best c-tree of a learned grammar among those that have the given d-tree.

    head_rules:   name or file of a head table, see `d2c.trees.heads.load_head_rules`
    binarization: simple (PAD's) or markovized (the draft's), see `d2c.trees.binarization`
    labels:       whether d-labels are features
    context:      whether the d-tree around a part is, beyond the features of Figure 4
    pruning:      none, 1, 2 or 1+2, see `d2c.cky.search.pruning`; gamma: of method 2
    max_unaries:  unary steps between two attachments
    continuous:   make d-trees projective first, so that c-trees have no gaps; None: if the training trees
                  have none
    epochs, rate, penalty: of training, see `d2c.linear.adagrad`; table_bits: the hash table has 2^this
                           weights
    seed:         of the order of the sentences in training
    jobs:         threads of `decode_all`
    checkpoints:  directory of a checkpoint, from which an interrupted training goes on

    Learned by `fit`: grammar, vocabulary, what pruning allows, weights (the average over all steps).
    """

    def __init__(
        self,
        head_rules: str = "collins",
        binarization: str = "simple",
        labels: bool = False,
        context: bool = True,
        pruning: str = "none",
        gamma: float = 0.95,
        max_unaries: int = 3,
        continuous: bool | None = None,
        epochs: int = 5,
        rate: float = 0.1,
        penalty: float = 1e-6,
        table_bits: int = 22,
        seed: int = 0,
        jobs: int = 1,
        checkpoints: Path | None = None,
    ) -> None:
        for name, known in ((binarization, tuple(BINARIZATIONS)), (pruning, METHODS)):
            if name not in known:
                raise ValueError(f"unknown {name!r}; known are {', '.join(known)}")
        self.head_rules, self.binarization = head_rules, binarization
        self.labels, self.context = labels, context
        self.pruning, self.gamma, self.max_unaries, self.continuous = pruning, gamma, max_unaries, continuous
        self.epochs, self.rate, self.penalty = epochs, rate, penalty
        self.table_bits, self.seed, self.jobs, self.checkpoints = table_bits, seed, jobs, checkpoints

    def fit(
        self,
        ctrees: Iterable[CTree],
        dev: Iterable[CTree] = (),
        *,
        dtrees: Iterable[DTree] | None = None,
        dev_dtrees: Iterable[DTree] | None = None,
        progress: Callable[[Epoch], None] | None = None,
    ) -> Self:
        """Learns from gold c-trees.

        dev:         scored after every epoch; the weights with the best F1 (EVALB, collins.prm) are kept
        dtrees:      one for each c-tree, in place of `encode`'s: other labels, or predicted heads; where
                     these differ from the gold ones, the oracle tree is what is learned
        dev_dtrees:  the same for `dev`

        Trees with gaps whose order of attachment is not nested serve for nothing: no derivation reaches them.
        Raises ValueError where that leaves none.
        """
        gold = self.fit_grammar(ctrees, dtrees)
        derivable = (one for one in gold if one.derivation is not None)
        examples = examples_of(derivable, self.grammar_, self.vocabulary_, self.axioms, self._oracle)
        del gold
        kinds, tags = self.grammar_.table.kind, len(self.vocabulary_.tags)
        self.allowed_ = estimate(examples, kinds, tags, self.gamma)
        training = Training(AdaGrad.new(1 << self.table_bits, self.rate, self.penalty))
        self.weights_ = training.run(
            *(
                examples,
                self.grammar_.table,
                self._constraints,
                self.max_unaries,
                self.context,
                self.epochs,
                self.seed,
            ),
            *(self._scorer(list(dev), dev_dtrees), self.checkpoints, progress),
        )
        return self

    def fit_grammar(self, ctrees: Iterable[CTree], dtrees: Iterable[DTree] | None = None) -> list[Gold]:
        """Learns grammar and vocabulary, all that `oracle` needs; arguments and errors as of `fit`."""
        treebank = list(ctrees)
        self.gaps_ = not all(ctree.is_continuous() for ctree in treebank)
        gold = list(map(self.gold, treebank, repeat(None) if dtrees is None else dtrees))
        tops = Counter(one.ctree.top for one in gold)
        del treebank
        self.top_ = max(tops, key=lambda top: tops[top], default="TOP")
        if not any(one.derivation for one in gold):
            raise ValueError("no tree of the treebank has a derivation")
        rules = Counter(rule for one in gold for used in one.rules() for rule in used)
        self.grammar_ = Grammar.of(rules, levels_of(used for one in gold for used in one.rules()))
        self.default_ = _commonest_constituent(rules)
        labels = (one.labels or () for one in gold if self.labels)
        # Of the trees that serve for something: the grammar has a symbol for each tag of the vocabulary.
        self.vocabulary_ = Vocabulary.of([one.ctree.tokens for one in gold if one.derivation], labels)
        self.allowed_ = unpruned()
        return gold

    def encode(self, ctree: CTree) -> DTree:
        """The d-tree that a d-parser learns from; an arc's label is the phrase symbol that it makes."""
        dtree = to_dependencies(ctree if ctree.head_children is not None else self._heads.apply(ctree))
        assert dtree.symbols is not None
        labels = tuple(s if h else "root" for s, h in zip(dtree.symbols, dtree.heads, strict=True))
        return DTree(dtree.tokens, dtree.heads, dtree.symbols, dtree.events, labels)

    def decode(self, dtree: DTree, repairs: Repairs | None = None) -> CTree:
        """The best c-tree over exactly the d-tree's tokens; heads that form no tree are repaired first.

        What had to be repaired, uses of the glue rule, and sentences without a parse under pruning (they are
        parsed without it) are added to `repairs`.
        """
        repairs = Repairs() if repairs is None else repairs
        heads = self._tree(dtree, repairs)
        return self.ctree(dtree.tokens, heads, best_parts(*self._scored(dtree, heads)), repairs)

    def decode_all(self, dtrees: Iterable[DTree], repairs: Repairs | None = None) -> Iterator[CTree]:
        """`decode` for a stream of d-trees, on `jobs` threads, in order."""
        repairs = Repairs() if repairs is None else repairs
        if self.jobs == 1:
            for dtree in dtrees:
                yield self.decode(dtree, repairs)
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
        return self.ctree(gold.ctree.tokens, gold.heads, self._oracle(gold), Repairs())

    def decode_k_best(self, dtree: DTree, k: int) -> list[tuple[float, CTree]]:
        """The c-trees of the k best derivations with their scores, best first.

        There are fewer where the chart has fewer, or where derivations differ only in the order in which they
        take left and right dependents: such a c-tree comes once, with its best score.
        """
        heads = self._tree(dtree, Repairs())
        totals, found = k_best_parts(*(*self._scored(dtree, heads), k))
        best: dict[CTree, float] = {}
        for total, derivation in zip(totals.tolist(), found, strict=True):
            best.setdefault(self.ctree(dtree.tokens, heads, derivation, Repairs()), total)
        return [(total, ctree) for ctree, total in best.items()]

    def confidences(self, dtree: DTree, repairs: Repairs | None = None) -> tuple[CTree, tuple[float, ...]]:
        """The best c-tree; the probability of each of its nodes, given the d-tree [K].

        That is the share of all derivations that have the constituent, each weighed by exp of its score
        (log-sum semiring). Weights trained with a margin are no likelihood: probabilities rank, they are not
        calibrated.
        """
        repairs = Repairs() if repairs is None else repairs
        heads = self._tree(dtree, repairs)
        found, rows, values = posteriors(*self._scored(dtree, heads))
        ctree = self.ctree(dtree.tokens, heads, found, repairs)
        shares: Counter[tuple[int, ...]] = Counter()
        for row, value in zip(rows.tolist(), values.tolist(), strict=True):
            shares[tuple(row)] += value
        n, ids, lexical_heads = len(heads), self.grammar_.symbol_ids, ctree.lexical_heads()
        keys = [
            (lexical_heads[n + k], below[0], below[-1], ids[Symbol(ctree.labels[k])])
            for k, below in enumerate(ctree.yields()[n:])
        ]
        return ctree, tuple(min(1.0, shares[key]) for key in keys)

    def confidences_all(
        self, dtrees: Iterable[DTree], repairs: Repairs | None = None
    ) -> Iterator[tuple[CTree, tuple[float, ...]]]:
        """`confidences` for a stream of d-trees, in order."""
        return (self.confidences(dtree, repairs) for dtree in dtrees)

    def count(self, dtree: DTree) -> int:
        """|Y(x, d)|: how many derivations the grammar has for a d-tree, exact up to 2^53."""
        heads, tokens = self._tree(dtree, Repairs()), dtree.tokens
        layout, tags = lay_out(np.array(heads, np.int32)), self.vocabulary_.tag_numbers(tokens)
        return int(
            count_derivations(
                build_forest(
                    *(self.grammar_.table, layout, self.axioms(tokens.tags), tags),
                    *(self._constraints, self.max_unaries, np.zeros(0, np.int32)),
                )
            )
        )

    def save(self, directory: Path) -> None:
        """Writes JSON, and the non-zero weights as .npz, into a directory, made if absent."""
        directory.mkdir(parents=True, exist_ok=True)
        settings = {
            "format": FORMAT,
            "parameters": {name: getattr(self, name) for name in _PARAMETERS},
            "top": self.top_,
            "gaps": self.gaps_,
            "default": self.default_,
            "rules": self.grammar_.rules,
            "levels": self.grammar_.levels,
            "vocabulary": asdict(self.vocabulary_),
        }
        text = json.dumps(settings, ensure_ascii=False)
        (directory / _SETTINGS).write_text(text + "\n", encoding="utf-8")
        places = np.flatnonzero(self.weights_).astype(np.int32)
        np.savez_compressed(
            directory / _WEIGHTS,
            allow_pickle=False,
            places=places,
            values=self.weights_[places],
            **self.allowed_._asdict(),
        )

    @classmethod
    def load(cls, directory: Path) -> Self:
        """What `save` wrote. Raises ModelError."""
        path = directory / _SETTINGS
        settings = read_json(path)
        if settings.get("format") != FORMAT:
            version = settings.get("format")
            raise ModelError(f"{path}: has format {version}; this version of d2c reads {FORMAT}")
        try:
            route = cls(**settings["parameters"])
            route.top_, route.gaps_ = settings["top"], bool(settings["gaps"])
            route.default_ = Symbol(*settings["default"])
            route.vocabulary_ = Vocabulary(**settings["vocabulary"])
            route.grammar_ = Grammar.of(
                Rule(kind, Symbol(*head), Symbol(*modifier) if modifier else None, Symbol(*parent))
                for kind, head, modifier, parent in settings["rules"]
            )
            route.grammar_ = replace(route.grammar_, levels=tuple(settings["levels"]))
            with np.load(directory / _WEIGHTS, allow_pickle=False) as file:
                route.weights_ = np.zeros(1 << route.table_bits, np.float32)
                route.weights_[file["places"]] = file["values"]
                route.allowed_ = Constraints(*(file[name] for name in Constraints._fields))
        except (KeyError, TypeError, ValueError, IndexError, OSError, zipfile.BadZipFile) as error:
            raise ModelError(f"{directory}: is broken ({error}); train the model again") from None
        return route

    @cached_property
    def _heads(self) -> HeadRules:
        return load_head_rules(self.head_rules)

    @cached_property
    def rule_keys(self) -> NDArray[np.int64]:
        """Of the grammar, see `features.rule_keys`."""
        return rule_keys(self.grammar_.table)

    @property
    def _constraints(self) -> Constraints:
        return restrict(self.allowed_, self.pruning)

    def gold(self, ctree: CTree, dtree: DTree | None = None) -> Gold:
        """A gold tree with a d-tree, or with its own, which is labelled only where labels are used."""
        headed = ctree if ctree.head_children is not None else self._heads.apply(ctree)
        if dtree is not None:
            return Gold.of(headed, self.binarization, self._tree(dtree, Repairs()), dtree.labels)
        return Gold.of(headed, self.binarization, None, self.encode(headed).labels if self.labels else None)

    def _scorer(
        self, dev: Sequence[CTree], dtrees: Iterable[DTree] | None
    ) -> Callable[[NDArray[np.float32]], float] | None:
        """F1 on a dev treebank as a function of the weights; None if there is no tree."""
        given = list(map(self.encode, dev) if dtrees is None else dtrees)
        if not given:
            return None

        def f1(weights: NDArray[np.float32]) -> float:
            self.weights_ = weights
            return bracket_scores(dev, list(self.decode_all(given))).f1

        return f1

    def axioms(self, tags: Sequence[str]) -> Ints:
        """[n] symbol of each pre-terminal."""
        ids, known = self.grammar_.symbol_ids, self.vocabulary_.known_tag
        return np.array([ids[Symbol(known(tag), "tag")] for tag in tags], np.int32)

    def _glue(self, n: int) -> Ints:
        """[n] what the glue rule puts over each pre-terminal."""
        return np.full(n, self.grammar_.symbol_ids[self.default_], np.int32)

    def _scored(self, dtree: DTree, heads: Sequence[int]) -> tuple[Any, ...]:
        """The arguments of `best_parts`."""
        sentence = self.vocabulary_.sentence(dtree.tokens, heads, dtree.labels, self.context)
        return (
            *(self.grammar_.table, self.rule_keys, self.weights_, self.axioms(dtree.tokens.tags), sentence),
            *(self._constraints, self.max_unaries, self._glue(len(heads))),
        )

    def _oracle(self, gold: Gold) -> Found:
        tokens, grammar = gold.ctree.tokens, self.grammar_
        return oracle_parts(
            grammar.table,
            self.axioms(tokens.tags),
            self.vocabulary_.sentence(tokens, gold.heads, gold.labels, self.context),
            self._constraints,
            self.max_unaries,
            self._glue(len(tokens)),
            gold.parts(grammar),
            gold.brackets(grammar),
        )

    def _decode_batch(self, dtrees: Sequence[DTree]) -> tuple[list[CTree], Repairs]:
        repairs = Repairs()
        return [self.decode(dtree, repairs) for dtree in dtrees], repairs

    def ctree(self, tokens: Tokens, heads: Sequence[int], found: Found, repairs: Repairs) -> CTree:
        """The c-tree of what the chart found."""
        derivation: Derivation = [[] for _ in heads]
        repairs.counts[PRUNING_UNDONE] += found.stage > 0 and self.pruning != "none"
        for (kind, h, *_, rule), symbol in zip(found.parts.tolist(), found.symbols.tolist(), strict=True):
            if symbol < len(self.grammar_.symbols):
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
        repairs.sentences += 1
        repairs.tokens += len(dtree.heads)
        heads, repaired = repair_heads(dtree.heads)
        repaired.add_to(repairs.counts)
        continuous = not self.gaps_ if self.continuous is None else self.continuous
        if continuous and not is_projective(heads):
            lifted = projectivize(heads)
            repairs.counts[CROSSING] += sum(a != b for a, b in zip(heads, lifted, strict=True))
            return lifted
        return heads


def _commonest_constituent(rules: Counter[Rule]) -> Symbol:
    """What the glue rule puts over a pre-terminal."""
    counts = Counter[Symbol]()
    for rule, count in rules.items():
        if rule.parent.bar == "":
            counts[rule.parent] += count
    return min(counts, key=lambda symbol: (-counts[symbol], symbol), default=Symbol("X"))
