"""Random trees as terms, features of them as the paper defines them, and their classes."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from papers.theory.automaton import Feature, Path, StackClasses, TreeClasses
from papers.theory.grammars import Symbol
from tests.scripts.papers.theory.erase import Tree

symbols = st.sampled_from("AB")
trees = st.recursive(
    st.builds(lambda symbol, terminal: Tree(symbol, (Tree(terminal),)), symbols, st.sampled_from("ab")),
    lambda below: st.builds(Tree, symbols, st.lists(below, min_size=1, max_size=3).map(tuple)),
    max_leaves=6,
)
stacks = st.lists(trees, max_size=4).map(tuple)
paths = st.lists(st.sampled_from((1, 2, 3, -1, -2)), max_size=2).map(lambda indices: Path(tuple(indices)))
features = st.lists(st.builds(Feature, st.sampled_from((1, 2, 3, -1, -2, -3)), paths), min_size=1, max_size=3)


def child(index: int, parts: Sequence[Tree | None]) -> Tree | None:
    """child(i, A(t1…tk)) and nth(i, t1…tk)."""
    at = index - 1 if index > 0 else len(parts) + index
    return parts[at] if 0 <= at < len(parts) else None


def followed(path: Path, tree: Tree | None) -> str | None:
    """root(child(i_ℓ, … child(i1, t)))"""
    for index in path.indices:
        tree = tree and child(index, tree.children)
    return tree and tree.symbol


def value(feature: Feature, stack: Sequence[Tree]) -> str | None:
    """F(τ)"""
    assert isinstance(feature.attribute, Path)
    return followed(feature.attribute, child(feature.nth, stack))


def shown(value: object) -> str | None:
    """A value of the package as one of the above."""
    return None if value is None else str(value)


def class_of(classes: TreeClasses, tree: Tree) -> int:
    """[t]"""
    inside = [below for below in tree.children if below]
    if not inside[0].children:
        return classes.leaf(Symbol(tree.symbol), inside[0].symbol)
    return classes.build(Symbol(tree.symbol), tuple(class_of(classes, below) for below in inside))


def class_of_stack(classes: StackClasses, stack: Sequence[Tree]) -> int:
    """[τ]"""
    found = classes.empty
    for tree in stack:
        found = classes.push(found, class_of(classes.trees, tree))
    return found
