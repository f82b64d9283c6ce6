"""`erase` of section 6, as it stands in the paper: to compare with, since classes are not computed by it.

Erasing leaves of a tree what features can reach. Trees of which the same is left are equal, which is a
congruence. Two statements of the section are not right, though.

- It says that erase(𝓕, A(t1…tk)) = erase(𝓕, A(erase(𝓕, t1)…erase(𝓕, tk))). Where the children kept from the
  left and from the right overlap, they are there twice, and a positive index finds a child that was not
  there. With F1 = root(child(2, child(1, nth(-1, ·)))) and F2 = root(child(-1, nth(-1, ·))), A(B(C(c))) is
  erased to A(B() B()), but its child to B(C() C()), and A(B(C() C())) to A(B(⊥ C()) B()). So classes must
  not be computed from erased trees; the attributes of trees (`papers.theory.automaton`) can be, and
  they tell less apart.
- It says that erased stacks are a congruence. With the only feature nth(2), ε and t are both erased to ε;
  after a push, nth(2) is undefined of the one and defined of the other. `erase_stack` is as printed,
  `keep_stack` keeps the outermost trees on either side, as many as the greatest index says or there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import NamedTuple

from papers.theory.automaton import Path


class Tree(NamedTuple):
    """A terminal, or A(t1…tk); what is erased is None (⊥)."""

    symbol: str
    children: tuple[Tree | None, ...] = ()

    def __str__(self) -> str:
        inside = " ".join("⊥" if child is None else str(child) for child in self.children)
        return f"{self.symbol}({inside})" if self.symbol[0].isupper() else self.symbol


Stack = tuple[Tree, ...]
Feature = tuple[int, Path]  # F = root(child(i_ℓ, … child(i1, nth(i0, ·)))), the index i0 and the rest
Erased = tuple[Tree | None, ...]


def prefixes(features: Iterable[Feature]) -> frozenset[Path]:
    """𝓕: what is left of the features without nth and any number of the first applications of child."""
    return frozenset(
        Path(path.indices[done:]) for _, path in features for done in range(len(path.indices) + 1)
    )


def erase(functions: Set[Path], tree: Tree | None) -> Tree | None:
    """erase(𝓖, t): recursion goes no deeper than the longest path of child."""
    if not functions or tree is None:
        return None
    k = len(tree.children)
    heads = {path.indices[0] for path in functions if path.indices}
    last, first = _kept(heads, k)
    numbers = [*((i, i) for i in range(1, last + 1)), *((i, i - k - 1) for i in range(first, k + 1))]
    return Tree(
        tree.symbol,
        tuple(erase(_tails(functions, head), tree.children[i - 1]) for i, head in numbers),
    )


def erase_stack(features: Iterable[Feature], stack: Stack) -> Erased:
    """The stack after erasure, as printed."""
    features = list(features)
    last, first = _kept({index for index, _ in features}, len(stack))
    return _erased(features, stack[:last] + stack[first - 1 :])


def keep_stack(features: Iterable[Feature], stack: Stack) -> tuple[Erased, Erased]:
    """The outermost trees from the bottom and the top, as deep as indices go, each erased: a congruence."""
    features = list(features)
    bottom = max((index for index, _ in features if index > 0), default=0)
    top = max((-index for index, _ in features if index < 0), default=0)
    return _erased(features, stack[:bottom]), _erased(features, stack[max(0, len(stack) - top) :])


def _erased(features: Iterable[Feature], stack: Stack) -> Erased:
    functions = prefixes(features)
    return tuple(erase(functions, tree) for tree in stack)


def _kept(indices: Iterable[int], k: int) -> tuple[int, int]:
    """k', the last place that is kept on the left, and k'', the first on the right, of k places from 1."""
    there = [index for index in indices if abs(index) <= k]
    last = max((index for index in there if index > 0), default=0)
    return last, k + 1 + min((index for index in there if index < 0), default=0)


def _tails(functions: Set[Path], head: int) -> frozenset[Path]:
    """tail(f) of the functions that apply child with this index first."""
    return frozenset(Path(f.indices[1:]) for f in functions if f.indices[:1] == (head,))
