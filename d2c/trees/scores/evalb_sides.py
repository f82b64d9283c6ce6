"""How EVALB reads and compares two sentences: omissions, quotation marks, matching and crossing brackets.

A line is read in one pass, whatever its depth; comparing takes linear time except for sorting brackets.
Source: the program and the README of EVALB; the order of steps is kept wherever it can change a number.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from heapq import heappop, heappush
from itertools import accumulate, compress

from d2c.base.errors import FormatError
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import escape
from d2c.trees.scores.prm import BLANKS, EvalbParameters

Bracket = tuple[str, int, int]
"""What must match of a label, number of words before its start, and before its end."""

_QUOTES = ("'", '"', "/")

_WORD = f"[^{BLANKS}()]*"
_OPENING = re.compile(rf"({_WORD})(?:[{BLANKS}]+({_WORD})\)([{BLANKS})]*)|[{BLANKS}]*|(\)[{BLANKS})]*))")


@dataclass(frozen=True, slots=True)
class EvalbLine:
    """A line as EVALB reads it: n terminals, and brackets over them in the order of their opening.

    words, tags: [n] of the terminals, none left out yet
    labels:      [b] of the brackets, as written
    starts, ends: [b] number of terminals before a bracket opens and closes; end -1 if it never closes
    faults:      how many errors EVALB reports about unbalanced brackets
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    labels: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    faults: int = 0


def from_line(text: str) -> EvalbLine:
    """Read one line: no tree, one or several. A bracket around one word or around a blank is a terminal.

    Raises FormatError for text outside of brackets or beside them, where EVALB gives up.
    """
    before, *openings = text.split("(")
    words: list[str] = []
    tags: list[str] = []
    labels: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    stack: list[int] = []
    if before.strip(BLANKS + ")"):
        raise FormatError("<string>", 0, 0, f"text before the first bracket: {before.strip()[:40]!r}")
    missing = before.count(")")  # closing brackets that close nothing
    faults = max(missing - 1, 0)
    for opening in openings:
        label, word, closing = _read_opening(opening)
        if word is None:
            stack.append(len(labels))
            labels.append(label)
            starts.append(len(words))
            ends.append(-1)
        else:
            words.append(word)
            tags.append(label)
        while closing:
            closing -= 1
            faults += missing > len(stack)  # EVALB reports a stack below zero only when it is popped again
            if stack:
                ends[stack.pop()] = len(words)
            else:
                missing += 1
    faults += missing != len(stack)
    return EvalbLine(tuple(words), tuple(tags), tuple(labels), tuple(starts), tuple(ends), faults)


def from_ctree(tree: CTree) -> EvalbLine:
    """Return what `from_line` reads from the written tree; `top` is a bracket, too. Raises ValueError for a
    tree with gaps."""
    n, spans = len(tree.tokens), tree.spans()
    if spans is None:
        raise ValueError("a tree with gaps, which brackets cannot hold")
    first, last = spans
    # Parents before children: of nodes that begin with the same token, later ones are over earlier ones.
    order = sorted(range(tree.root, n - 1, -1), key=first.__getitem__)
    labels = [_escaped(tree.labels[node - n]) for node in order]
    starts, ends = [first[node] for node in order], [last[node] + 1 for node in order]
    if tree.top is not None:
        labels, starts, ends = [_escaped(tree.top), *labels], [0, *starts], [n, *ends]
    words, tags = map(_escaped, tree.tokens.forms), map(_escaped, tree.tokens.tags)
    return EvalbLine(tuple(words), tuple(tags), tuple(labels), tuple(starts), tuple(ends))


_escaped = lru_cache(maxsize=1 << 16)(escape)


@lru_cache(maxsize=1 << 16)
def _read_opening(opening: str) -> tuple[str, str | None, int]:
    """Return a piece's label, its word (None: no terminal) and how many closing brackets follow."""
    match = _OPENING.fullmatch(opening)
    if match is None:
        message = f"a word stands beside other words or brackets in {opening.strip()[:40]!r}"
        raise FormatError("<string>", 0, 0, message)
    return match[1], match[2], (match[3] or match[4] or "").count(")")


class Rules:
    """Parameters made ready for comparing: symmetric tables, and what labels of brackets and tags become."""

    def __init__(self, parameters: EvalbParameters) -> None:
        self.parameters = parameters
        self.deleted_tags = frozenset() if parameters.spmrl else parameters.delete_labels
        self.equal_words = _symmetric(parameters.equal_words)
        self.equal_labels = _symmetric(parameters.equal_labels)
        classes = _classes(self.equal_labels)
        self.countable = classes is not None or not parameters.labeled
        ending = re.compile("[-=#].*" if parameters.spmrl else "[-=].*", re.DOTALL)
        deleted = parameters.delete_labels
        if parameters.spmrl:
            deleted = frozenset(ending.sub("", label) for label in deleted)
        deleted |= {b for a, b in self.equal_labels if a in deleted}

        def bracket_label(label: str) -> str | None:
            label = ending.sub("", label)
            if label in deleted:
                return None
            return (classes or {}).get(label, label) if parameters.labeled else ""

        self.bracket_label = lru_cache(maxsize=1 << 12)(bracket_label)
        """Label of a bracket → what must be the same for a match, None: the bracket is left out."""
        cut = parameters.spmrl and not parameters.morphology
        self.tag: Callable[[str], str] = partial(ending.sub, "") if cut else str

    def same_words(self, gold: Sequence[str], guess: Sequence[str]) -> bool:
        """Return whether the words of two sentences are equal, or count as equal."""
        if len(gold) != len(guess):
            return False
        return all(a == b or (a, b) in self.equal_words for a, b in zip(gold, guess, strict=True))


def _symmetric(pairs: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    return frozenset(pairs) | {(b, a) for a, b in pairs}


def _classes(equal: Iterable[tuple[str, str]]) -> dict[str, str] | None:
    """Return label → a label that stands for all that equal it, or None if being equal is not transitive."""
    equals: dict[str, set[str]] = {}
    for a, b in equal:
        equals.setdefault(a, {a}).add(b)
    if any(equals[a] != equals[b] for a, b in equal):
        return None
    return {label: min(others) for label, others in equals.items()}


class Side:
    """A line while it is compared: the words that are not left out, and the brackets over them.

    tags: decide which words are left out; by default the line's own
    """

    def __init__(self, line: EvalbLine, rules: Rules, tags: Sequence[str] | None = None) -> None:
        kept = [tag not in rules.deleted_tags for tag in tags or line.tags]
        new = [*accumulate(kept, initial=0), -1]  # the last for the end of a bracket that never closes
        self.line = line
        self.words = list(compress(line.words, kept))
        self.tags = list(compress(line.tags, kept))
        self.starts = [new[i] for i in line.starts]
        self.ends = [new[i] for i in line.ends]

    def brackets(self, rules: Rules) -> list[Bracket]:
        """Return the brackets that count: those that are neither left out nor around nothing."""
        triples = zip(map(rules.bracket_label, self.line.labels), self.starts, self.ends, strict=True)
        return [(label, start, end) for label, start, end in triples if label is not None and start != end]

    def put_back(self, quote: _Quote) -> None:
        self.words.insert(quote.index, quote.word)
        self.tags.insert(quote.index, quote.tag)
        for k in quote.around:
            self.ends[k] += 1
        for k in range(quote.bracket, len(self.starts)):
            self.starts[k] += 1
            self.ends[k] += 1


@dataclass(slots=True)
class _Quote:
    """A terminal that may be a quotation mark.

    index:   number of words before it that are not left out
    bracket: number of brackets that open before it
    around:  the brackets that it is in
    """

    word: str
    tag: str
    index: int
    bracket: int
    around: list[int]


def _quotes(line: EvalbLine, rules: Rules) -> list[_Quote]:
    quotes, index = [], 0
    for i, (word, tag) in enumerate(zip(line.words, line.tags, strict=True)):
        if word in _QUOTES and tag in rules.parameters.quote_labels:
            bracket = bisect_right(line.starts, i)
            around = [k for k, end in enumerate(line.ends[:bracket]) if end > i or end < 0]
            quotes.append(_Quote(word, tag, index, bracket, around))
        index += tag not in rules.deleted_tags
    return quotes


def restore_quotes(gold: Side, guess: Side, rules: Rules) -> None:
    """Put back quotation marks that one side leaves out because of their tag and the other side does not.

    In EVALB's order, with its flaw: a mark that was put back counts as standing one word further on, and can
    meet another mark there and be put back again.
    """
    deleted = rules.parameters.delete_labels
    ours, theirs = _quotes(gold.line, rules), _quotes(guess.line, rules)
    for j, their in enumerate(theirs):
        index = their.index
        for i, our in enumerate(ours):
            if our.index != index or our.tag == their.tag or (our.tag in deleted) == (their.tag in deleted):
                continue
            side, quote, moved = (gold, our, ours[i:]) if our.tag in deleted else (guess, their, theirs[j:])
            side.put_back(quote)
            for later in moved:
                later.index += 1


def _matched_in_order(gold: list[Bracket], test: list[Bracket], equal: frozenset[tuple[str, str]]) -> int:
    """Return how many brackets match where A equals B and B equals C, but A does not equal C. Then the order
    decides: for each gold bracket in turn, EVALB takes the first equal one that is not used yet."""
    unused: dict[tuple[int, int], list[str]] = {}
    for label, start, end in test:
        unused.setdefault((start, end), []).append(label)
    matched = 0
    for label, start, end in gold:
        candidates = unused.get((start, end), [])
        for k, other in enumerate(candidates):
            if label == other or (label, other) in equal:
                del candidates[k]
                matched += 1
                break
    return matched


def _crossing(gold: list[Bracket], test: list[Bracket]) -> int:
    """Return how many brackets of the guess cross a gold bracket."""
    spans = {(start, end) for _, start, end in gold}
    # Gold brackets nest: a bracket of the guess that is also in gold crosses none of them.
    odd = [(start, end) for _, start, end in test if (start, end) not in spans]
    if not odd:
        return 0
    crossing = _entered(spans, odd)
    mirrored = _entered([(-end, -start) for start, end in spans], [(-end, -start) for start, end in odd])
    return sum([(start, end) in crossing or (-end, -start) in mirrored for start, end in odd])


def _entered(spans: Iterable[tuple[int, int]], others: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Find the `others` that one of `spans` enters from the left: it starts before them and ends within them.

    A sweep from left to right, in n log n: of the spans around a point, the one that ends first decides.
    """
    entered = set()
    coming = sorted(spans, reverse=True)
    around: list[int] = []  # heap of the ends of spans that start before this point
    for start, end in sorted(others):
        while coming and coming[-1][0] < start:
            heappush(around, coming.pop()[1])
        while around and around[0] <= start:
            heappop(around)
        if around and around[0] < end:
            entered.add((start, end))
    return entered


def counts(gold: Side, guess: Side, rules: Rules) -> tuple[int, int, int, int, int, int]:
    """Return counts of a score: brackets matched, in gold, in the guess, crossing; words; correct tags."""
    ours, theirs = gold.brackets(rules), guess.brackets(rules)
    if rules.countable:  # being equal is an equivalence: each class gives the smaller of its two numbers
        matched = (Counter(ours) & Counter(theirs)).total()
    else:
        matched = _matched_in_order(ours, theirs, rules.equal_labels)
    tags = zip(map(rules.tag, gold.tags), map(rules.tag, guess.tags), strict=False)
    correct = sum([a == b or (a, b) in rules.equal_labels for a, b in tags])
    return matched, len(ours), len(theirs), _crossing(ours, theirs), len(gold.words), correct
