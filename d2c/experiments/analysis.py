"""What is behind an F1: scores by label and by length of span, classes of errors, time against length.

Pure functions over c-trees with head children. Sets of tokens are the bits of integers (token i is bit i), so
that constituents with gaps need no code of their own. The classes of errors are those of section 7 and
Table 5 of "Transforming Dependencies into Phrase Structures" (PAD; Kong, Rush and Smith, 2015). Linear in the
number of nodes, except for the operations on sets.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import CTree, bits_of
from d2c.trees.dtree import head_outward
from d2c.trees.scores.brackets import Metric
from d2c.trees.scores.matches import Matches, Score

Key = TypeVar("Key")

DEPENDENCY, SPAN, SPLIT, UNARY, LABEL = "dependency", "span", "split and label", "unary", "label"
ERRORS = (DEPENDENCY, SPAN, SPLIT, UNARY, LABEL)
SENTENCE_LENGTHS = (10, 20, 30, 40, 50, 60)  # the longest of each class except the last, which has no limit
SPAN_LENGTHS = (1, 2, 3, 4, 5, 10, 20, 40)


class Bracket(NamedTuple):
    """A constituent that the scorer counts.

    node:   its id; that of the root for the wrapper (`CTree.top`)
    label:  as the scorer compares it
    tokens: the set of its tokens, without those that the scorer leaves out
    error:  None where the other tree has it, otherwise one of ERRORS
    """

    node: int
    label: str
    tokens: int
    error: str | None = None


Sides = tuple[list[Bracket], list[Bracket]]  # of gold, of a guess


def judge(gold: CTree, guess: CTree | None, metric: Metric) -> Sides:
    """Return the brackets that a metric counts in gold and in a guess, each compared with the other tree.

    A bracket that the other tree lacks is an error of

    dependency       if the other c-tree has no constituent with this span, and its d-tree cannot make one:
                     not exactly one of the words has its head outside, or another word than that one has
                     modifiers outside; or there is no guess
    span             if the other c-tree has none, though its d-tree can make one
    split and label  if the other c-tree has one, with other parts and another label
    unary            if it has the same parts, but fewer or more nodes over this span
    label            if it has the same parts and as many nodes, with another label

    Except for unary nodes, these are the three questions that PAD's Table 5 asks of binary rules (see
    `rule_classes`), asked of labelled brackets with any number of children. Tokens that the scorer leaves out
    are left out of trees and d-trees. Both trees need head children, from which their d-trees follow.
    """
    pairs = enumerate(zip(gold.tokens.forms, gold.tokens.tags, strict=True))
    kept = sum(1 << i for i, (form, tag) in pairs if tag not in metric.tags and form not in metric.forms)
    one = _Side(gold, kept, metric)
    if guess is None:
        return [bracket._replace(error=DEPENDENCY) for bracket in one.brackets], []
    other = _Side(guess, kept, metric)
    return _judged(one, other), _judged(other, one)


class _Side:
    """A tree as the scorer sees it: its brackets, its sets of tokens with their parts, its d-tree."""

    def __init__(self, ctree: CTree, kept: int, metric: Metric) -> None:
        n = len(ctree.tokens)
        self.ctree, self.kept = ctree, kept
        sets = [1 << i & kept for i in range(n)]
        self.brackets: list[Bracket] = []
        self.parts: dict[int, frozenset[int]] = {}
        for node, kids in enumerate(ctree.children, n):
            inside = [sets[kid] for kid in kids if sets[kid]]
            sets.append(sum(inside))
            if len(inside) > 1:
                self.parts[sets[node]] = frozenset(inside)
            self._add(node, metric.label(ctree.labels[node - n]), sets[node])
        if ctree.top or (ctree.top == "" and metric.bare_wrapper):
            self._add(ctree.root, metric.label(ctree.top), sets[-1])
        self.spans, self.nodes = set(sets), Counter(bracket.tokens for bracket in self.brackets)

    def _add(self, node: int, label: str | None, tokens: int) -> None:
        if label is not None and tokens:
            self.brackets.append(Bracket(node, label, tokens))

    @cached_property
    def heads(self) -> list[int]:
        """Return [n] heads from 0: of each token the nearest ancestor that counts; -1 for none."""
        heads = [h - 1 for h in to_dependencies(self.ctree).heads]
        for m in range(len(heads)):
            while heads[m] >= 0 and not self.kept >> heads[m] & 1:
                heads[m] = heads[heads[m]]
        return heads

    @cached_property
    def modifiers(self) -> list[int]:
        """Return [n] set of each token's modifiers."""
        modifiers = [0] * len(self.heads)
        for m, h in enumerate(self.heads):
            if h >= 0:
                modifiers[h] |= 1 << m & self.kept
        return modifiers

    def makes(self, tokens: int) -> bool:
        """Return whether the d-tree can make a constituent of these tokens."""
        outer = [m for m in bits_of(tokens) if self.heads[m] < 0 or not tokens >> self.heads[m] & 1]
        open_words = [m for m in bits_of(tokens) if self.modifiers[m] & ~tokens]
        return len(outer) == 1 and open_words in ([], outer)


def _judged(one: _Side, other: _Side) -> list[Bracket]:
    left = Counter((b.label, b.tokens) for b in other.brackets)
    judged = []
    for bracket in one.brackets:
        key = bracket.label, bracket.tokens
        if left[key]:
            left[key] -= 1
            judged.append(bracket)
        else:
            judged.append(bracket._replace(error=_error(bracket.tokens, one, other)))
    return judged


def _error(tokens: int, one: _Side, other: _Side) -> str:
    if tokens in other.spans:
        if one.parts.get(tokens) != other.parts.get(tokens):
            return SPLIT
        return LABEL if one.nodes[tokens] == other.nodes[tokens] else UNARY
    return SPAN if other.makes(tokens) else DEPENDENCY


def tally(judged: Iterable[Sides], key: Callable[[Bracket], Key]) -> dict[Key, Matches]:
    """Count brackets by a property, which `key` returns."""
    gold, guess, matched = Counter[Key](), Counter[Key](), Counter[Key]()
    for of_gold, of_guess in judged:
        gold.update(map(key, of_gold))
        guess.update(map(key, of_guess))
        matched.update(key(bracket) for bracket in of_gold if bracket.error is None)
    return {kind: Matches(gold[kind], guess[kind], matched[kind]) for kind in gold | guess}


def by_length(lengths: Sequence[int], scores: Sequence[Score]) -> dict[int, Matches]:
    """Count the brackets of valid scores by the class of SENTENCE_LENGTHS of their sentences' lengths."""
    found: defaultdict[int, Matches] = defaultdict(Matches)
    for length, score in zip(lengths, scores, strict=True):
        if score.valid:
            found[length_class(length, SENTENCE_LENGTHS)] += score.matches
    return dict(found)


def length_class(length: int, limits: Sequence[int]) -> int:
    """Return the class of a length, from 0: that of the first limit that is not exceeded."""
    return bisect_left(limits, length)


def class_name(number: int, limits: Sequence[int]) -> str:
    """Return `6–10`, or `5` for a class with one length, or `41+` for the last."""
    low = limits[number - 1] + 1 if number else 1
    if number == len(limits):
        return f"{low}+"
    return f"{low}–{limits[number]}" if low < limits[number] else str(low)


class BinaryRule(NamedTuple):
    """A binary production of a c-tree that is binarized around its heads (section 3.3 of PAD).

    head, modifier: its dependency (h, m), token indices
    tokens:         its span; split: the tokens of the child that has the first one
    symbol, bar:    the parent's nonterminal; bar: the parent still takes modifiers
    """

    head: int
    modifier: int
    tokens: int
    split: int
    symbol: str
    bar: bool


def binary_rules(ctree: CTree) -> Iterator[BinaryRule]:
    """Yield the binary productions of PAD's binarization (`d2c.trees.binarization`), bottom-up: modifiers on
    the right first, on each side from the head outward.

    There is one for each modifier of the d-tree, and at most one for each span. Raises ValueError where the
    c-tree has no head children.
    """
    n = len(ctree.tokens)
    lexical_heads = ctree.lexical_heads()
    sets = [1 << i for i in range(n)]
    for node, kids in enumerate(ctree.children, n):
        h = lexical_heads[node]
        by_head = {lexical_heads[kid]: sets[kid] for kid in kids}
        left, right = head_outward(h, sorted(by_head))
        tokens = by_head[h]
        for number, m in enumerate([*right, *left], 2):
            part, tokens = tokens, tokens | by_head[m]
            first = tokens & -tokens
            split = part if part & first else by_head[m]
            yield BinaryRule(h, m, tokens, split, ctree.labels[node - n], number < len(kids))
        sets.append(tokens)


class RuleClass(NamedTuple):
    """Whether (h, m), ⟨i, j⟩ and k of a binary rule are right: a line of PAD's Table 5."""

    dependency: bool
    span: bool
    split: bool


RULE_CLASSES = tuple(
    RuleClass(dependency, span, split)
    for span, split in ((True, True), (True, False), (False, False))
    for dependency in (True, False)
)
"""The lines of Table 5, in its order."""


def rule_classes(gold: CTree, guess: CTree) -> Iterator[tuple[RuleClass, bool]]:
    """Yield the class of each binary rule of a guess, and whether its span has the right nonterminal.

    Section 7 and Table 5 of PAD: "we group each binary rule production selected by the parser by three
    properties: Is its dependency (h, m) correct? Is its span ⟨i, j⟩ correct? Is its split k correct?" Gold is
    binarized in the same way. The dependency is correct if the gold d-tree has the arc; the span, if a gold
    binary rule has it; the split, if that rule has the same one (never where the span is wrong); the
    nonterminal ("Acc."), if the parent of that rule has the same symbol, finished in both or in neither.
    Punctuation counts.
    """
    rules = {rule.tokens: rule for rule in binary_rules(gold)}
    arcs = {(rule.head, rule.modifier) for rule in rules.values()}
    for rule in binary_rules(guess):
        like = rules.get(rule.tokens)
        known = RuleClass(
            (rule.head, rule.modifier) in arcs,
            like is not None,
            like is not None and like.split == rule.split,
        )
        yield known, like is not None and (like.symbol, like.bar) == (rule.symbol, rule.bar)


def table5(gold: Iterable[CTree], guess: Iterable[CTree]) -> dict[RuleClass, tuple[int, int]]:
    """Return PAD's Table 5: for each of RULE_CLASSES the number of rules, and how many of these have the
    right nonterminal."""
    counts, right = Counter[RuleClass](), Counter[RuleClass]()
    for a, b in zip(gold, guess, strict=True):
        for known, correct in rule_classes(a, b):
            counts[known] += 1
            right[known] += correct
    return {known: (counts[known], right[known]) for known in RULE_CLASSES}
