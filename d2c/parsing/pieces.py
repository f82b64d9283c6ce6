"""Very long sentences, cut into pieces, each of which is parsed as a sentence of its own.

So time and memory grow linearly with the length of a sentence, whatever d-parser and route take for a piece.
Hundreds of words between two full stops are rarely a sentence: rather a transcript, a table, a list, or code.

Pieces are about equally long. Near each planned end, a piece ends after the mark that most likely ends
something (a full stop, else a semicolon, else a comma). Without such a mark, it ends at the place that is
crossed by the fewest arcs of the d-tree that the d-parser finds for the words around. The trees of the pieces
become children of one root, which has the label that most of their roots have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain, pairwise

from d2c.parsing.sentence import Sentence
from d2c.trees.constraints import SpanConstraints, obeying
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.transforms import under_one_root

_NO_LABEL = "X"  # of the root over pieces without constituents
LABEL = "dep"  # of the arc to the root of a piece, which no d-parser has seen: UD's unspecified dependency
_NEAR = 8  # 1/8 of the words that a piece may have are looked at on each side of its planned end
# Marks after which a piece may end, in groups, the preferred group first.
_MARKS = (frozenset(".!?…。！？"), frozenset(";:；：—–") | {"--"}, frozenset(",，、"))
_CLOSING = frozenset("'\"”’»)]}）") | {"''", "-RRB-", "-RSB-", "-RCB-"}  # which stay with the word before

Arcs = Callable[[Iterable[Tokens]], Iterator[DTree]]


def pieces_of(sentences: Sequence[Sentence], most: int, arcs: Arcs) -> list[list[Sentence]]:
    """Return the pieces of each sentence, of at most `most` words; a sentence without more is its only piece.

    arcs: yields a d-tree for each of some tokens
    """
    plans = [_plan(one, most) if len(one.tokens) > most else [] for one in sentences]
    open_, windows = list[tuple[list[int], int, int, int]](), list[Tokens]()
    for sentence, ends in zip(sentences, plans, strict=True):
        forms, reach = sentence.tokens.forms, most // _NEAR
        for i, end in enumerate(ends):
            if (marked := _after_mark(forms, end, reach)) is not None:
                ends[i] = marked
            else:
                begin = end - 2 * reach
                windows.append(sentence.tokens.part(begin, end + 2 * reach))
                open_.append((ends, i, begin, reach))
    for (ends, i, begin, reach), dtree in zip(open_, arcs(windows), strict=True):
        ends[i] = _least_crossed(dtree.heads, begin, ends[i], reach)
    return [_cut(one, ends) if ends else [one] for one, ends in zip(sentences, plans, strict=True)]


def whole_of(sentence: Sentence, pieces: Sequence[Sentence]) -> Sentence:
    """Return a sentence with the joined trees of its pieces or, if any has an error, with the first error."""
    if len(pieces) == 1:
        return pieces[0]
    if error := next((one.error for one in pieces if one.error), None):
        return sentence.failed(error)
    dtrees = [one.dtree for one in pieces if one.dtree]
    ctrees = [one.ctree for one in pieces if one.ctree]
    dtree = _joined_dtree(dtrees, sentence.tokens) if dtrees else None
    made = replace(sentence, dtree=dtree, pieces=len(pieces))
    if not ctrees:
        return made
    [(label, _)] = Counter(one.labels[-1] if one.labels else _NO_LABEL for one in ctrees).most_common(1)
    ctree, shares = under_one_root(ctrees, label, sentence.tokens), None
    own = [one.confidences for one in pieces if one.confidences]
    if own:
        shares = *chain.from_iterable(own), min(one[-1] for one in own)
    if sentence.wanted:
        ctree, shares = obeying(ctree, sentence.wanted, shares)
    several = ((ctree, None),) if pieces[0].alternatives else ()
    return replace(made, ctree=ctree, confidences=shares, alternatives=several)


def _plan(sentence: Sentence, most: int) -> list[int]:
    """Return the planned ends of all pieces except the last, before marks and arcs are looked at."""
    n, reach = len(sentence.tokens), most // _NEAR
    count = -(-n // (most - 2 * reach))
    return [n * i // count for i in range(1, count)]


def _after_mark(forms: Sequence[str], end: int, reach: int) -> int | None:
    """Return the end of a piece after a mark, the nearest of the preferred group; None without a mark."""
    best: tuple[int, int, int] | None = None
    low = max(0, end - 2 * reach)  # else a run of closing marks would lead back to the beginning
    for place in range(end - reach, end + reach + 1):
        last = place - 1
        while last > low and forms[last] in _CLOSING:
            last -= 1
        kind = next((kind for kind, marks in enumerate(_MARKS) if forms[last] in marks), None)
        if kind is not None and forms[place] not in _CLOSING:
            found = kind, abs(place - end), place
            best = min(best or found, found)
    return best and best[2]


def _least_crossed(heads: Sequence[int], begin: int, end: int, reach: int) -> int:
    """Return the end of a piece: the place that the fewest arcs cross, the nearest to `end` of several.

    heads: of the words from `begin` on, counted from there (1..n, 0 = root)
    """
    changes = [0] * (len(heads) + 1)  # in the number of arcs that cross the place before each word
    for m, head in enumerate(heads):
        if head:
            a, b = sorted((m, head - 1))
            changes[a + 1] += 1
            changes[b + 1] -= 1
    crossing = [*accumulate(changes)]
    places = range(end - reach, end + reach + 1)
    return min(places, key=lambda place: (crossing[place - begin], abs(place - end)))


def _cut(sentence: Sentence, ends: Sequence[int]) -> list[Sentence]:
    """Return the pieces of a sentence, given where all but the last end."""
    tokens = sentence.tokens
    spans = [*pairwise([0, *ends, len(tokens)])]
    return [
        Sentence(tokens.part(a, b), sentence.file, sentence.line, wanted=_inside(sentence.wanted, a, b))
        for a, b in spans
    ]


def _inside(wanted: SpanConstraints | None, a: int, b: int) -> SpanConstraints | None:
    """Return the constraints inside a piece, counted from its first word; `whole_of` enforces the others."""
    if wanted is None:
        return None
    inside = [
        tuple([s._replace(start=s.start - a, end=s.end - a) for s in own if a <= s.start and s.end <= b])
        for own in wanted
    ]
    forbid = tuple([span for span in inside[1] if span.end - span.start < b - a])
    return SpanConstraints(inside[0], forbid) if inside[0] or forbid else None


def _joined_dtree(dtrees: Sequence[DTree], given: Tokens) -> DTree:
    """Return one d-tree of several: the root of each later one becomes a modifier of the first one's root."""
    root = next((m for m, head in enumerate(dtrees[0].heads, 1) if not head), 1)
    heads, labels = list(dtrees[0].heads), list(dtrees[0].labels or ())
    for dtree in dtrees[1:]:
        own, begin = dtree.heads, len(heads)
        heads += [head + begin if head else root for head in own]
        labels += [label if head else LABEL for head, label in zip(own, dtree.labels or (), strict=False)]
    tokens = given.of_parts([dtree.tokens for dtree in dtrees])
    return DTree(tokens, tuple(heads), labels=tuple(labels) or None)
