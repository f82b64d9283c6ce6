"""How high arcs are drawn, against the definition, and in linear time."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given

from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.pictures import _levels, dtree_svg
from tests.steps import is_linear
from tests.strategies import any_heads


def levels_of(heads: Sequence[int]) -> list[int]:
    """Each arc's level, by looking at all shorter ones."""
    inside = range(1, len(heads) + 1)
    spans = {m: (min(m, head - 1), max(m, head - 1)) for m, head in enumerate(heads) if head in inside}
    levels = [0] * len(heads)
    for m in sorted(spans, key=lambda m: spans[m][1] - spans[m][0]):
        first, last = spans[m]
        below = [levels[k] for k, (a, b) in spans.items() if levels[k] and a < last and b > first]
        levels[m] = 1 + max(below, default=0)
    return levels


@given(any_heads(max_tokens=20))
def test_arcs_are_above_the_shorter_ones_that_they_overlap(heads: tuple[int, ...]) -> None:
    assert _levels(heads) == levels_of(heads)


def test_levels() -> None:
    assert _levels((2, 0, 2, 3, 2)) == [1, 0, 1, 1, 2]
    assert _levels((0, 1, 1, 1)) == [0, 1, 2, 3]
    assert _levels((3, 2, 0)) == [2, 1, 0]  # the second word is its own head


def test_long_sentences_are_drawn_in_linear_time() -> None:
    def draw(size: int) -> None:
        heads = tuple(range(size))  # each word is the head of the next one
        dtree = DTree(Tokens(("a",) * size, ("A",) * size), heads)
        assert dtree_svg(dtree).count("<path d=") == size - 1

    assert is_linear(draw, 2_500)
