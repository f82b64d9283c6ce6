"""Random derivations with their parts worked out from the words alone, and the features of parts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from d2c.base.arrays import Ints, Longs
from d2c.cky.grammar import ROOT, Grammar, Rule
from d2c.cky.search.parts import Parts
from d2c.cky.search.scoring import FEATURES, Scorer, fill_atoms_of_site, part_slots, room_for_atoms
from d2c.cky.search.skeleton import TOKEN, Observed, Sites
from d2c.learning.kernels import kernel
from d2c.trees.binarization import LEFT, RIGHT, UNARY, Symbol
from d2c.trees.dtree import head_outward, modifiers_of

NONE = -1
KINDS = LEFT, RIGHT, UNARY


class Part(NamedTuple):
    """A part in the paper's terms, words from 0 on; NONE for what there is not.

    side, h, m, i, j, k: as in Figure 4; level: how many unary steps were before, NONE of a root rule
    left, right: the dependents that come next; inner_left, inner_right: those that were taken last before
    """

    side: int
    h: int
    m: int
    i: int
    j: int
    k: int
    level: int
    left: int
    right: int
    inner_left: int
    inner_right: int


def parts_of_steps(heads: Sequence[int], kinds: Sequence[Sequence[int]]) -> list[Part]:
    """The parts of a derivation, word by word. kinds: of each word's steps, and a root rule at last."""
    modifiers, parts = modifiers_of(heads), []

    def below(h: int) -> set[int]:
        return {h}.union(*(below(m) for m in modifiers[h]))

    for h, steps in enumerate(kinds):
        sides = [list(side) for side in head_outward(h, modifiers[h])]
        taken, words, level = [[NONE], [NONE]], {h}, 0
        for number, side in enumerate(steps):
            m = k = NONE
            inner = taken[LEFT][-1], taken[RIGHT][-1]
            if side != UNARY:
                m = sides[side].pop(0)
                taken[side].append(m)
                k = max(below(m)) if side == LEFT else min(below(m)) - 1
                words |= below(m)
            root = not heads[h] and number + 1 == len(steps)
            following = [(rest or [NONE])[0] for rest in sides]
            of_level = NONE if root or side != UNARY else level
            parts.append(Part(side, h, m, min(words), max(words), k, of_level, *following, *inner))
            level = level + 1 if side == UNARY else 0
    return parts


def random_steps(rng: random.Random, heads: Sequence[int]) -> list[list[int]]:
    """Any order in which every word takes its dependents, with unary steps between them."""
    steps = []
    for h, modifiers in enumerate(modifiers_of(heads)):
        own = [LEFT if m < h else RIGHT for m in modifiers] + [UNARY] * rng.randint(0, 3)
        rng.shuffle(own)
        steps.append(own + [UNARY] * (not heads[h]))
    return steps


def random_observed(rng: random.Random, heads: Sequence[int]) -> Observed:
    """Words, tags, labels and morphology for a d-tree."""
    observed = np.zeros(len(heads) + 2, TOKEN)
    for token, head in zip(observed[1:-1], heads, strict=True):
        token["word"], token["tag"] = rng.randint(1, 9), rng.randint(1, 4)
        token["head"], token["label"] = head, rng.randint(1, 3)
        token["morph"] = rng.randint(1, 5)
    return observed


def rich_grammar(rng: random.Random, share: float) -> Grammar:
    """A share of all rules over two tags, two constituents and an unfinished one; any root."""
    tags, phrases = [Symbol("a", "tag"), Symbol("b", "tag")], [Symbol("X"), Symbol("Y")]
    whole, every = tags + phrases, [*tags, *phrases, Symbol("X", "bar")]
    rules = [
        Rule(kind, head, modifier, parent)
        for kind in (LEFT, RIGHT)
        for head in every
        for modifier in whole
        for parent in every[2:]
    ]
    rules += [Rule(UNARY, head, None, parent) for head in whole for parent in phrases]
    kept = [rule for rule in rules if rng.random() < share]
    of_all = [Rule(LEFT, head, tags[0], phrases[0]) for head in every] + [Rule(LEFT, *tags, phrases[1])]
    return Grammar.of(kept + of_all + [Rule(UNARY, symbol, None, ROOT) for symbol in whole])


@kernel
def features_of(observed: Observed, sites: Sites, rules: Ints, scorer: Scorer, mask: int) -> Longs:
    """[P, FEATURES] the features of parts as the kernels have them; -1 behind the last."""
    atoms = room_for_atoms()
    slots = np.full((len(rules), FEATURES), -1, np.int64)
    for part in range(len(rules)):
        fill_atoms_of_site(observed, sites[part], scorer.templates, 0, atoms)
        part_slots(scorer.keys, rules[part], atoms, mask, slots[part])
    return slots


def as_part(site: np.void) -> Part:
    """A site of the kernels in the paper's terms."""
    unary = site["side"] == UNARY
    numbers = [int(site[name]) for name in ("side", "h", "m", "i", "j")]
    following = [int(site[name]) for name in ("next_left", "next_right", "inner_left", "inner_right")]
    k = int(site["k"])
    return Part(*numbers, NONE if unary else k, k if unary else NONE, *following)


def triples(parts: Parts) -> set[tuple[Part, int]]:
    """The parts with their rules."""
    return {(as_part(site), rule) for site, rule in zip(parts.sites, parts.rules.tolist(), strict=True)}
