"""Where punctuation is attached, once the words are: as the guidelines say, without crossing arcs.

A mark belongs to the unit that it sets off. From the word next to it on each side, heads are followed as long
as they stand on that side; of the two words reached, the mark depends on the one farther from the root, or
on the left one if its tag is `.`. The two marks of a pair depend on the head of what is between them, and a
hyphen depends on the one of the two words that depends on the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from d2c.trees.dtree import depths
from d2c.trees.universal.dependencies import Dependencies

_PAIRS = {"''": "``", "-RRB-": "-LRB-"}


def attach_marks(arcs: Dependencies) -> None:
    """Attach all marks to words."""
    tags, every = arcs.tags, range(len(arcs.tags))
    left, right = _tops(arcs, every, 1), _tops(arcs, every[::-1], -1)
    marks = sorted(arcs.marks)
    depth, other = depths([head + 1 for head in arcs.heads]), _pairs(tags, marks)
    for mark in marks:
        a, b = left[mark], right[mark]
        if other.get(mark, mark) < mark:
            head = arcs.heads[other[mark]]
        elif mark in other and b >= 0:
            head = _inside(arcs, mark, other[mark])
        elif tags[mark] == "HYPH" and a >= 0 <= b:
            head = b if arcs.heads[b] == a else a
        elif b < 0 or a >= 0 and (tags[mark] == "." or depth[a] > depth[b]):
            head = a
        else:
            head = b
        arcs.heads[mark], arcs.relations[mark] = head, "punct"


def _tops(arcs: Dependencies, order: Iterable[int], step: int) -> dict[int, int]:
    """Return, by mark, the word on one side that is reached from the nearest one by following heads as long
    as they stand on that side; -1 where there is no word. No path is followed twice."""
    tops, known, nearest = dict[int, int](), dict[int, int](), -1
    for place in order:
        if place not in arcs.marks:
            nearest = place
            continue
        word, passed = nearest, list[int]()
        while word >= 0:
            word = known.get(word, word)
            above = arcs.heads[word]
            if above < 0 or (place - above) * step < 0:
                break
            passed.append(word)
            word = above
        for one in passed:
            known[one] = word
        tops[place] = word
    return tops


def _inside(arcs: Dependencies, opening: int, closing: int) -> int:
    """Return the word inside a pair of marks that is reached from the first one by following heads; the word
    after an empty pair."""
    word = opening + 1
    while word in arcs.marks:
        word += 1
    while opening < arcs.heads[word] < closing:
        word = arcs.heads[word]
    return word


def _pairs(tags: Sequence[str], marks: Iterable[int]) -> dict[int, int]:
    """Return, for each mark that is one of a pair, the other one."""
    other, opened = dict[int, int](), list[int]()
    for mark in marks:
        if tags[mark] in _PAIRS.values():
            opened.append(mark)
        elif opened and _PAIRS.get(tags[mark]) == tags[opened[-1]]:
            other[mark] = opened.pop()
            other[other[mark]] = mark
    return other
