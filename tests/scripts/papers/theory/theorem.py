"""Theorem 1 by brute force: automata with random and learned oracles, and whether their grammars agree."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from typing import NamedTuple

from papers.theory.automaton import Applicable, Automaton, Feature, Lookahead, Oracle, Path, classes_for
from papers.theory.grammars import (
    CFG,
    START,
    Rule,
    Steps,
    Symbol,
    arc_eager,
    arc_standard,
    cfg,
    terminals_of,
)
from papers.theory.latent import LatentGrammar, Saturation

ALPHABET = "ab"
LONGEST = 6  # tokens of a string
SYSTEMS: Mapping[str, Callable[[random.Random], CFG]] = {
    "arc-standard": lambda rng: arc_standard(ALPHABET),
    "arc-eager": lambda rng: arc_eager(ALPHABET),
    "arc-eager, unrestricted": lambda rng: arc_eager(ALPHABET, restricted=False),
    "random grammar": lambda rng: random_grammar(rng),
}
FEATURES: Mapping[str, tuple[Feature, ...]] = {
    "roots": (),
    "roots of 3": (Feature(-3, Path()),),
    "children": tuple(Feature(depth, Path((child,))) for depth in (-1, -2) for child in (1, -1)),
    "bottom": (Feature(1, Path()),),
}


class Kind(NamedTuple):
    """What is varied: the system, the features besides those that all need, K, how the oracle came about."""

    system: str
    features: str
    lookahead: int
    learned: bool


class Finding(NamedTuple):
    """Sizes, and what the comparison gave.

    trees, stacks: classes that were met; nonterminals, rules: before and, in `kept_…`, after reduction
    """

    trees: int
    stacks: int
    nonterminals: int
    rules: int
    kept_nonterminals: int
    kept_rules: int
    strings: int
    accepted: int
    mismatches: int


def kinds(learned: bool) -> list[Kind]:
    """All that are to be verified."""
    return [Kind(*varied, learned) for varied in product(SYSTEMS, FEATURES, (1, 2))]


def random_grammar(rng: random.Random) -> CFG:
    """Rules with right-hand sides of up to three symbols; unary ones do not run in circles."""
    symbols = [Symbol(name) for name in "BCD"]
    rules = [Rule(rng.choice(symbols), a) for a in ALPHABET]
    rules += [Rule(symbols[i], (symbols[j],)) for i in range(3) for j in range(i) if rng.random() < 0.4]
    for k, count in ((2, 5), (3, 3)):
        rules += [Rule(rng.choice(symbols), tuple(rng.choices(symbols, k=k))) for _ in range(count)]
    rules += [Rule(START, (rng.choice(symbols),)), Rule(START, tuple(rng.choices(symbols, k=2)))]
    return cfg(ALPHABET, dict.fromkeys(rules))


def automaton(kind: Kind, seed: int) -> Automaton:
    """An automaton of a kind."""
    rng = random.Random(repr((kind, seed)))
    grammar = SYSTEMS[kind.system](rng)
    classes = classes_for(grammar, FEATURES[kind.features], kind.lookahead)
    applicable = Applicable(grammar, classes)
    if kind.learned:
        return Automaton(grammar, classes, learned_oracle(Automaton(grammar, classes, _all(applicable)), rng))
    return Automaton(grammar, classes, random_oracle(applicable, rng))


def random_oracle(applicable: Applicable, rng: random.Random, undefined: float = 0.3) -> Oracle:
    """A function of classes: for each, one applicable rule by chance, or none."""

    @cache
    def oracle(stack: int, lookahead: Lookahead) -> dict[Rule, float]:
        rules = applicable(stack, lookahead)
        return {rng.choice(rules): 1.0} if rules and rng.random() >= undefined else {}

    return oracle


def learned_oracle(taught: Automaton, rng: random.Random, trees: int = 60) -> Oracle:
    """The most frequent rule for each class in random trees, which have some rules more often than others."""
    liking = {rule: rng.random() for rule in taught.grammar.rules}
    counts: dict[tuple[int, Lookahead], Counter[Rule]] = {}
    for _ in range(trees):
        w = rng.choices(ALPHABET, k=rng.randint(1, LONGEST))
        for place, rule in _walk(taught, w, liking, rng):
            counts.setdefault(place, Counter())[rule] += 1
    best = {place: max(rules, key=rules.__getitem__) for place, rules in counts.items()}
    return lambda stack, lookahead: {best[stack, lookahead]: 1.0} if (stack, lookahead) in best else {}


def probabilistic_oracle(
    applicable: Applicable, rng: random.Random, most: int = 1000, dead: float = 0.0
) -> Oracle:
    """A distribution over applicable rules for each class, not more than `most`; some classes are dead."""

    @cache
    def oracle(stack: int, lookahead: Lookahead) -> dict[Rule, float]:
        rules = applicable(stack, lookahead)
        rules = tuple(rng.sample(rules, min(most, len(rules))))
        weights = [rng.random() + 0.05 for _ in rules]
        return (
            {} if rng.random() < dead else {r: x / sum(weights) for r, x in zip(rules, weights, strict=True)}
        )

    return oracle


def _all(applicable: Applicable) -> Oracle:
    return lambda stack, lookahead: dict.fromkeys(applicable(stack, lookahead), 1.0)


def _walk(
    taught: Automaton, w: list[str], liking: Mapping[Rule, float], rng: random.Random
) -> list[tuple[tuple[int, Lookahead], Rule]]:
    """The steps of a random computation with the places where they were taken; none if it fails."""
    configuration = taught.start(w)
    found = []
    while not taught.accepts(configuration):
        rules = list(taught.proposals(configuration))
        if not rules:
            return []
        rule = max(rules, key=lambda rule: liking[rule] + 0.3 * rng.random())
        found.append((taught.place(configuration), rule))
        configuration = taught.step(configuration, rule)
    return found


def strings(longest: int) -> Iterator[tuple[str, ...]]:
    """All strings over the alphabet, but the empty one."""
    for n in range(1, longest + 1):
        yield from product(ALPHABET, repeat=n)


def trees_by_string(grammar: LatentGrammar, longest: int) -> dict[tuple[str, ...], list[Steps]]:
    """The parse trees of a grammar, enumerated."""
    found: dict[tuple[str, ...], list[Steps]] = {}
    for steps, _ in grammar.trees(longest):
        found.setdefault(terminals_of(steps), []).append(steps)
    return found


def verify(
    machine: Automaton, longest: int = LONGEST, saturation: Callable[[Automaton], Saturation] = Saturation
) -> Finding:
    """Whether the grammar has, for each string, the automaton's tree and no other."""
    building = saturation(machine)
    building.reach(machine.classes.empty)
    grammar = building.grammar()
    kept = grammar.reduced()
    found = trees_by_string(kept, longest)
    parsed = [(w, machine.parse(w)) for w in strings(longest)]
    return Finding(
        len(machine.classes.trees),
        building.stacks,
        len(grammar.nonterminals),
        len(grammar.rules),
        len(kept.nonterminals),
        len(kept.rules),
        len(parsed),
        sum(tree is not None for _, tree in parsed),
        sum(found.get(w, []) != ([] if tree is None else [tree]) for w, tree in parsed),
    )


def summed(findings: Iterable[Finding]) -> Finding:
    """Of several oracles: the greatest sizes, the sums of the rest."""
    columns = list(zip(*findings, strict=True))
    return Finding(*map(max, columns[:6]), *map(sum, columns[6:]))
