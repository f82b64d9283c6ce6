"""Constrained CKY as an estimator: d-trees → c-trees with a grammar and weights learned from c-trees."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from cky.binarization import BINARIZATIONS, GLUE, UNARY, Derivation, Step, Symbol, binarize, unbinarize
from cky.features import Sentence, rule_keys
from cky.forest import Constraints, Forest, build_forest
from cky.grammar import Grammar, Rule, rules_of
from cky.layout import Ints, lay_out
from cky.learning import Examples, best_parts, pad, train_on
from cky.semirings import count_derivations
from linear.adagrad import AdaGrad
from trees.conversion import to_dependencies
from trees.ctree import CTree, Tokens
from trees.dtree import DTree, is_projective
from trees.errors import ModelError
from trees.files import read_json
from trees.heads import HeadRules, load_head_rules
from trees.repair import CROSSING, Repairs, projectivize, repair_heads

FORMAT = 1  # of the model directory
GLUED = "glue rule"
_SETTINGS, _WEIGHTS = "cky.json", "weights.npz"
_UNKNOWN = 1  # number of a word that training saw once at most; 0 is beyond the sentence
_UNPRUNED = Constraints(np.zeros((0, 0), np.bool_), np.zeros(0, np.int64), np.zeros(0, np.int32))


class ConstrainedCKY:
    """Route 2 (PAD): the best c-tree of a learned grammar among those that have the given d-tree.

    head_rules:   name or file of a head table, see `trees.heads.load_head_rules`
    binarization: simple (PAD's) or markovized (the draft's), see `cky.binarization`
    max_unaries:  unary steps between two attachments
    continuous:   make d-trees projective first, so that c-trees have no gaps
    epochs, rate, penalty: of training, see `linear.adagrad`; table_bits: the hash table has 2^this weights
    seed:         of the order of the sentences in training

    Learned by `fit`: grammar, vocabulary, weights (the average over all steps).
    """

    def __init__(
        self,
        head_rules: str = "collins",
        binarization: str = "simple",
        max_unaries: int = 3,
        continuous: bool = True,
        epochs: int = 3,
        rate: float = 0.1,
        penalty: float = 1e-8,
        table_bits: int = 22,
        seed: int = 0,
    ) -> None:
        if binarization not in BINARIZATIONS:
            raise ValueError(f"unknown binarization {binarization!r}; known are {', '.join(BINARIZATIONS)}")
        self.head_rules, self.binarization, self.max_unaries = head_rules, binarization, max_unaries
        self.continuous, self.epochs, self.rate, self.penalty = continuous, epochs, rate, penalty
        self.table_bits, self.seed = table_bits, seed

    def fit(self, ctrees: Iterable[CTree], progress: Callable[[int, float], None] | None = None) -> Self:
        """Learns from gold c-trees. progress is told each epoch's number and its loss per gold part.

        Trees with gaps whose order of attachment is not nested serve for nothing: no derivation reaches them.
        """
        columns: dict[str, list[int]] = {name: [] for name in ("heads", "tags", "words")}
        sentences: list[tuple[Tokens, list[list[Rule]]]] = []
        tops: Counter[str | None] = Counter()
        for ctree in ctrees:
            tops[ctree.top] += 1
            headed = ctree if ctree.head_children is not None else self._heads.apply(ctree)
            heads, derivation = binarize(headed, BINARIZATIONS[self.binarization])
            if derivation is not None:
                used: list[list[Rule]] = [[] for _ in heads]
                for h, rule in rules_of(headed.tokens.tags, heads, derivation):
                    used[h].append(rule)
                sentences.append((headed.tokens, used))
                columns["heads"] += heads
        self.top_ = max(tops, key=lambda top: tops[top], default="TOP")
        self.grammar_ = Grammar.of(rule for _, used in sentences for steps in used for rule in steps)
        self._number_words_and_tags([tokens for tokens, _ in sentences])
        self._default_symbols([steps for _, used in sentences for steps in used])
        examples = self._examples(sentences, columns["heads"])
        self.weights_ = self._train(examples, progress)
        return self

    def encode(self, ctree: CTree) -> DTree:
        """The d-tree that a d-parser learns from; an arc's label is the phrase symbol that it makes."""
        dtree = to_dependencies(ctree if ctree.head_children is not None else self._heads.apply(ctree))
        assert dtree.symbols is not None
        labels = tuple(s if h else "root" for s, h in zip(dtree.symbols, dtree.heads, strict=True))
        return DTree(dtree.tokens, dtree.heads, dtree.symbols, dtree.events, labels)

    def decode(self, dtree: DTree, repairs: Repairs | None = None) -> CTree:
        """The best c-tree over exactly the d-tree's tokens; heads that form no tree are repaired first.

        What had to be repaired, and uses of the glue rule, are added to `repairs`.
        """
        repairs = Repairs() if repairs is None else repairs
        heads = self._tree(dtree, repairs)
        parts, symbols = best_parts(
            *(self.grammar_.table, self._keys, self.weights_, np.array(heads, np.int32)),
            *(self._axioms(dtree.tokens), self._sentence(dtree.tokens), _UNPRUNED, self.max_unaries),
            np.full(len(heads), self.grammar_.symbol_ids[self.default_], np.int32),
        )
        derivation: Derivation = [[] for _ in heads]
        for (kind, h, *_, rule), symbol in zip(parts.tolist(), symbols.tolist(), strict=True):
            if symbol < len(self.grammar_.symbols):
                glue = Step(kind, self._glued(kind, symbol))
                derivation[h].append(self.grammar_.steps[rule] if rule >= 0 else glue)
            repairs.counts[GLUED] += rule < 0
        return unbinarize(dtree.tokens, heads, derivation, self.top_)

    def decode_all(self, dtrees: Iterable[DTree], repairs: Repairs | None = None) -> Iterator[CTree]:
        """`decode` for a stream of d-trees."""
        for dtree in dtrees:
            yield self.decode(dtree, repairs)

    def count(self, dtree: DTree) -> int:
        """|Y(x, d)|: how many derivations the grammar has for a d-tree, exact up to 2^53."""
        return int(count_derivations(self._forest(dtree.tokens, self._tree(dtree, Repairs()))))

    def save(self, directory: Path) -> None:
        """Writes JSON, and the non-zero weights as .npz, into a directory, made if absent."""
        directory.mkdir(parents=True, exist_ok=True)
        names = (
            *("head_rules", "binarization", "max_unaries", "continuous"),
            *("epochs", "rate", "penalty", "table_bits", "seed"),
        )
        settings = {
            "format": FORMAT,
            "parameters": {name: getattr(self, name) for name in names},
            "top": self.top_,
            "default": self.default_,
            "unknown_tag": self.unknown_tag_,
            "rules": self.grammar_.rules,
            "tags": self.tags_,
            "words": self.words_,
        }
        text = json.dumps(settings, ensure_ascii=False)
        (directory / _SETTINGS).write_text(text + "\n", encoding="utf-8")
        places = np.flatnonzero(self.weights_).astype(np.int32)
        np.savez_compressed(directory / _WEIGHTS, places=places, values=self.weights_[places])

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
            route.top_, route.default_ = settings["top"], Symbol(*settings["default"])
            route.unknown_tag_ = settings["unknown_tag"]
            route.tags_, route.words_ = dict(settings["tags"]), dict(settings["words"])
            route.grammar_ = Grammar.of(
                Rule(kind, Symbol(*head), Symbol(*modifier) if modifier else None, Symbol(*parent))
                for kind, head, modifier, parent in settings["rules"]
            )
            with np.load(directory / _WEIGHTS, allow_pickle=False) as file:
                route.weights_ = np.zeros(1 << route.table_bits, np.float32)
                route.weights_[file["places"]] = file["values"]
        except (KeyError, TypeError, ValueError, IndexError, OSError, zipfile.BadZipFile) as error:
            raise ModelError(f"{directory}: is broken ({error}); train the model again") from None
        return route

    @cached_property
    def _heads(self) -> HeadRules:
        return load_head_rules(self.head_rules)

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        return rule_keys(self.grammar_.table)

    def _train(
        self, examples: Examples, progress: Callable[[int, float], None] | None
    ) -> NDArray[np.float32]:
        table = self.grammar_.table
        learner = AdaGrad.new(1 << self.table_bits, self.rate, self.penalty)
        rng, order = np.random.default_rng(self.seed), np.arange(len(examples.begin) - 1)
        for epoch in range(1, self.epochs + 1):
            rng.shuffle(order)
            loss, parts = train_on(
                learner, examples, order, table, rule_keys(table), _UNPRUNED, self.max_unaries
            )
            if progress:
                progress(epoch, loss / max(1, parts))
        return learner.average()

    def _number_words_and_tags(self, sentences: Sequence[Tokens]) -> None:
        """Numbers tags, and words seen twice or more; the tag of most words seen once serves for new tags."""
        seen = Counter(form for tokens in sentences for form in tokens.forms)
        often = sorted(form for form, count in seen.items() if count > 1)
        self.words_ = {form: number for number, form in enumerate(often, _UNKNOWN + 1)}
        tags = Counter(tag for tokens in sentences for tag in tokens.tags)
        rare = Counter(
            tag
            for tokens in sentences
            for form, tag in zip(tokens.forms, tokens.tags, strict=True)
            if seen[form] == 1
        )
        self.tags_ = {tag: number for number, tag in enumerate(sorted(tags), 1)}
        self.unknown_tag_ = min(rare or tags, key=lambda tag: (-(rare or tags)[tag], tag), default="")

    def _default_symbols(self, used: Iterable[Sequence[Rule]]) -> None:
        """The commonest constituent: what the glue rule puts over a pre-terminal."""
        counts = Counter(rule.parent for steps in used for rule in steps if rule.parent.bar == "")
        self.default_ = min(counts, key=lambda symbol: (-counts[symbol], symbol), default=Symbol("X"))

    def _examples(self, sentences: Sequence[tuple[Tokens, list[list[Rule]]]], heads: list[int]) -> Examples:
        rule_ids = self.grammar_.rule_ids
        rules = [rule_ids[rule] for _, used in sentences for steps in used for rule in steps]
        steps = np.cumsum([0] + [len(steps) for _, used in sentences for steps in used])
        begin = np.cumsum([0] + [len(tokens) for tokens, _ in sentences])
        axioms, words, tags = (
            np.concatenate([column(tokens) for tokens, _ in sentences] or [np.zeros(0, np.int32)])
            for column in (self._axioms, self._word_numbers, self._tag_numbers)
        )
        return Examples(
            begin.astype(np.int64),
            np.array(heads, np.int32),
            axioms,
            words,
            tags,
            np.zeros(0, np.int32),
            np.array(rules, np.int32),
            steps.astype(np.int64),
        )

    def _axioms(self, tokens: Tokens) -> Ints:
        """[n] symbol of each pre-terminal."""
        ids, unknown = self.grammar_.symbol_ids, Symbol(self.unknown_tag_, "tag")
        return np.array([ids.get(Symbol(tag, "tag"), ids[unknown]) for tag in tokens.tags], np.int32)

    def _word_numbers(self, tokens: Tokens) -> Ints:
        return np.array([self.words_.get(form, _UNKNOWN) for form in tokens.forms], np.int32)

    def _tag_numbers(self, tokens: Tokens) -> Ints:
        unknown = self.tags_[self.unknown_tag_]
        return np.array([self.tags_.get(tag, unknown) for tag in tokens.tags], np.int32)

    def _sentence(self, tokens: Tokens) -> Sentence:
        return Sentence(
            pad(self._word_numbers(tokens)), pad(self._tag_numbers(tokens)), np.zeros(0, np.int32)
        )

    def _tree(self, dtree: DTree, repairs: Repairs) -> list[int]:
        """Heads that form a tree, a projective one if c-trees are to have no gaps."""
        repairs.sentences += 1
        repairs.tokens += len(dtree.heads)
        heads, repaired = repair_heads(dtree.heads)
        repaired.add_to(repairs.counts)
        if self.continuous and not is_projective(heads):
            lifted = projectivize(heads)
            repairs.counts[CROSSING] += sum(a != b for a, b in zip(heads, lifted, strict=True))
            return lifted
        return heads

    def _forest(self, tokens: Tokens, heads: Sequence[int]) -> Forest:
        return build_forest(
            self.grammar_.table,
            lay_out(np.array(heads, np.int32)),
            self._axioms(tokens),
            self._tag_numbers(tokens),
            _UNPRUNED,
            self.max_unaries,
            np.zeros(0, np.int32),
        )

    def _glued(self, kind: int, symbol: int) -> Symbol:
        """The parent of a glue step that derived a symbol: of a unary one that finishes it, the symbol."""
        label = self.grammar_.symbols[symbol]
        return label if kind == UNARY else Symbol(label.label, GLUE)
