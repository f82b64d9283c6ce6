"""Which trees come back from their encoding as they were."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from d2c.reduction.encodings import ENCODINGS
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree, canonical
from d2c.trees.heads import HeadRules
from d2c.trees.unaries import restore_unaries, strip_unaries


class RoundTrip(NamedTuple):
    """How many trees an encoding can hold, how many of them come back, how many labels they have."""

    encoding: str
    trees: int
    same: int
    labels: int


def round_trips(ctrees: Iterable[CTree], heads: HeadRules) -> Iterator[RoundTrip]:
    """For each encoding; gold unary chains are given back where labels do not carry them."""
    headed = [canonical(heads.apply(ctree)) for ctree in ctrees]
    for name, encoding in ENCODINGS.items():
        route, labels, same, count = Reduction(name, continuous=False), set[str](), 0, 0
        for ctree in headed:
            if encoding.continuous_only and not ctree.is_continuous():
                continue
            count += 1
            dtree = route.encode(ctree)
            labels.update(dtree.labels or ())
            if encoding.carries_unaries:
                back = route.decode(dtree)
            else:
                unaryless = canonical(route.decode_unaryless(dtree))
                back = restore_unaries(unaryless, strip_unaries(ctree)[1])
            same += replace(canonical(back), top=ctree.top) == ctree
        yield RoundTrip(name, count, same, len(labels))
