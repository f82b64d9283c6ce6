"""Repair of heads (1..n, 0 for the root): any prediction becomes a tree, and any tree a projective one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import ne

from d2c.trees.dtree import is_projective, modifiers_of, subtrees, top_down

HEAD_OUTSIDE = "head outside the sentence"
EXTRA_ROOT = "extra root"
CYCLE = "cycle"
CROSSING = "crossing arc lifted"
ARCS_UNDONE = "single d-tree for packed arcs"


@dataclass
class Repairs:
    """How many arcs were repaired, by kind, over how many tokens and sentences."""

    tokens: int = 0
    sentences: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, other: Repairs) -> None:
        """Add the counts of another part of the data."""
        self.tokens += other.tokens
        self.sentences += other.sentences
        self.counts.update(other.counts)

    def per_thousand(self, kind: str | None = None) -> float:
        """Return the repairs per 1,000 tokens, of one kind or of all."""
        count = self.counts[kind] if kind else self.counts.total()
        return 1000 * count / self.tokens if self.tokens else 0.0

    def __str__(self) -> str:
        """Return the repairs per 1,000 tokens, of all kinds and of each."""
        kinds = [f"{kind} {self.per_thousand(kind):.2f}" for kind, n in self.counts.most_common() if n]
        total = f"{self.per_thousand():.2f} repairs per 1,000 tokens"
        return f"{total} ({'; '.join(kinds)})" if kinds else total


def repair_heads(heads: Sequence[int]) -> tuple[list[int], Counter[str]]:
    """Make heads a single-rooted acyclic tree that keeps every head it can, and count the repairs by kind.
    Linear time.

    The first root stays; other roots, tokens with a head outside the sentence (or that are their own head),
    and the first token of every cycle become its modifiers. Without a root, the first of these is the root.
    Raises ValueError for a sentence without words.
    """
    n = len(heads)
    if not n:
        raise ValueError("a sentence without words has no tree")
    fixed = list(heads)
    stray = [m for m, h in enumerate(heads) if not 0 <= h <= n or h == m + 1]
    roots = [m for m, h in enumerate(heads) if h == 0]
    for m in stray:
        fixed[m] = 0
    cycles = [cycle[0] for cycle in cycles_of(fixed)]
    root = (roots or sorted(stray + cycles))[0]
    for m in (*roots, *stray, *cycles):
        fixed[m] = root + 1
    fixed[root] = 0
    extra_roots = max(0, len(roots) - 1)
    return fixed, Counter({HEAD_OUTSIDE: len(stray), EXTRA_ROOT: extra_roots, CYCLE: len(cycles)})


def repair_tree(heads: Sequence[int], continuous: bool, repairs: Repairs) -> list[int]:
    """Return heads that form a tree, a projective one if `continuous`; the sentence and what was repaired in
    it are counted in `repairs`."""
    repairs.sentences += 1
    repairs.tokens += len(heads)
    return mended(heads, continuous, repairs.counts)


def mended(heads: Sequence[int], continuous: bool, counts: Counter[str]) -> list[int]:
    """Return heads that form a tree, a projective one if `continuous`; repairs are counted by kind."""
    fixed, repaired = repair_heads(heads)
    counts.update(repaired)
    if not continuous:
        return fixed
    lifted = projectivize(fixed)
    counts[CROSSING] += sum(map(ne, fixed, lifted))
    return lifted


def cycles_of(heads: Sequence[int]) -> list[list[int]]:
    """Return the tokens of each cycle, in order; heads are in range."""
    reached_from = [-1] * len(heads)
    cycles = []
    for start in range(len(heads)):
        m = start
        while m >= 0 and reached_from[m] < 0:
            reached_from[m] = start
            m = heads[m] - 1
        if m >= 0 and reached_from[m] == start:
            cycle, k = [m], heads[m] - 1
            while k != m:
                cycle.append(k)
                k = heads[k] - 1
            cycles.append(sorted(cycle))
    return cycles


def projectivize(heads: Sequence[int]) -> list[int]:
    """Make a tree projective, and as near as can be: each token hangs from its lowest possible ancestor.

    A lift moves a token from its head to its head's head (Nivre and Nilsson 2005). Lifting never gives a
    token new descendants, so token m can hang from its ancestor a only if all words between them descended
    from a to begin with. The tree in which every m hangs from the lowest such a is projective already; hence
    it has the fewest lifts, and no other tree has as few. Quadratic time at worst. Raises ValueError where
    the heads form no tree.
    """
    if is_projective(heads):
        return list(heads)
    (first, last), lifted = _runs_below(heads), list(heads)
    for m in range(len(heads)):
        a = heads[m] - 1
        while a >= 0 and not first[a] <= m <= last[a]:
            a = heads[a] - 1
        lifted[m] = a + 1
    return lifted


def _runs_below(heads: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return [n] the first and the last word of the run of words around each token that descend from it."""
    n, (enter, leave) = len(heads), _intervals(heads)
    first, last = list(range(n)), list(range(n))
    for a in reversed(top_down(heads)):  # if a word beside the run descends from a, so does its run
        while first[a] and enter[a] < enter[first[a] - 1] < leave[a]:
            first[a] = first[first[a] - 1]
        while last[a] + 1 < n and enter[a] < enter[last[a] + 1] < leave[a]:
            last[a] = last[last[a] + 1]
    return first, last


def _intervals(heads: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return [n] `enter`, `leave` such that k is or descends from a where enter[a] <= enter[k] < leave[a]."""
    modifiers, (_, _, size) = modifiers_of(heads), subtrees(heads)
    enter, stack = [0] * len(heads), [heads.index(0)]
    for number in range(len(heads)):  # places in preorder
        m = stack.pop()
        enter[m] = number
        stack += modifiers[m]
    return enter, [first + count for first, count in zip(enter, size, strict=True)]
