"""Head rules: which child of a constituent is its head child (section 2.1; Collins 1999, appendix A).

A table is a data file (`data/heads/NAME.txt`; its syntax stands in `data/heads/collins.txt`).

Head children may also come from a dependency treebank over the same tokens; tables can be estimated from them
(Y. Versley, "Incorporating Semi-supervised Features into Discontinuous Easy-first Constituent Parsing", SPMRL
2014): the head child is the one that holds the word whose head lies outside the node.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from importlib import resources
from itertools import chain
from pathlib import Path

from d2c.base.counting import many
from d2c.base.errors import FormatError
from d2c.base.files import open_input
from d2c.trees.ctree import CTree, trusted_ctree
from d2c.trees.dtree import depths
from d2c.trees.marks import NOTHING_MARKED, shown_heads
from d2c.trees.scores.matches import Counts, percent

SEARCHES = ("left", "right", "leftdis", "rightdis")
_KEYWORDS = ("punctuation", "conjunction", "default")
_BLANKS = " \t\r\n"  # other spaces are parts of labels
_LABEL = re.compile(f"[^{_BLANKS}]+")
MANY = 0.05  # a larger share of nodes without a rule is worth a warning
_PRODUCTIONS_REMEMBERED = 1 << 16  # productions repeat; bounds memory on endless input


@dataclass(frozen=True)
class HeadSearch:
    """One line of a table: a direction and the labels sought; without labels, any but punctuation.

    A label `N*` is any that begins with N.
    """

    kind: str
    labels: tuple[str, ...] = ()

    def find(self, children: Sequence[str], punctuation: frozenset[str]) -> int | None:
        """Return the index of the child that this search selects, if any."""
        positions = range(len(children))
        scan = positions[::-1] if self.kind.startswith("right") else positions
        if not self.labels:
            return next((i for i in scan if children[i] not in punctuation), None)
        if self.kind.endswith("dis"):
            return next((i for i in scan if any(_fits(children[i], label) for label in self.labels)), None)
        return next((i for label in self.labels for i in scan if _fits(children[i], label)), None)


def _fits(label: str, pattern: str) -> bool:
    return label == pattern or pattern.endswith("*") and label.startswith(pattern[:-1])


@dataclass(eq=False)
class HeadRules:
    """A head table.

    name:        of the table
    searches:    by phrase symbol (`NP*`: any that begins with NP), tried in order
    punctuation: labels never chosen where another child is there
    conjunction: labels of coordinating conjunctions; empty where coordination is not treated
    default:     the search for everything else
    """

    name: str
    searches: Mapping[str, Sequence[HeadSearch]]
    punctuation: frozenset[str] = frozenset()
    conjunction: frozenset[str] = frozenset()
    default: HeadSearch = HeadSearch("left")

    def __post_init__(self) -> None:
        self._remembered = lru_cache(maxsize=_PRODUCTIONS_REMEMBERED)(self._index)

    def __reduce__(self) -> tuple[type[HeadRules], tuple[object, ...]]:
        """Return what pickle makes a copy of: all fields, without the remembered productions."""
        return type(self), tuple(getattr(self, one.name) for one in fields(self))

    def head_child(self, symbol: str, children: tuple[str, ...]) -> int:
        """Return the index of the head child in the production `symbol -> children` (symbols and tags)."""
        return self._index(symbol, children) % len(children)

    def _index(self, symbol: str, children: tuple[str, ...]) -> int:
        """Return the index of the head child; counted from the end, below 0, if a table's own searches for
        the symbol find nothing."""
        if len(children) == 1:
            return 0
        by_rule = self.by_rule(symbol, children)
        index = by_rule[1] if by_rule else self.default.find(children, self.punctuation)
        if index is not None:
            head = self._before_conjunction(index, children)
        else:
            head = len(children) - 1 if self.default.kind.startswith("right") else 0
        return head - len(children) if self.searches and not by_rule else head

    def by_rule(self, symbol: str, children: tuple[str, ...]) -> tuple[HeadSearch, int] | None:
        """Return the first of the symbol's own searches that finds a child, and its index; None where all
        fail."""
        for search in self.searches_of(symbol):
            index = search.find(children, self.punctuation)
            if index is not None:
                return search, index
        return None

    def searches_of(self, symbol: str) -> Sequence[HeadSearch]:
        """Return the searches for a symbol: its own, or those of the longest `NP*` that it begins with, or
        none."""
        if symbol in self.searches:
            return self.searches[symbol]
        patterns = [pattern for pattern in self.searches if _fits(symbol, pattern)]
        return self.searches[max(patterns, key=len)] if patterns else ()

    def _before_conjunction(self, head: int, children: tuple[str, ...]) -> int:
        if head >= 2 and children[head - 1] in self.conjunction:
            for i in range(head - 2, -1, -1):
                if children[i] not in self.punctuation and children[i] not in self.conjunction:
                    return i
        return head

    def apply(self, ctree: CTree, uncovered: Uncovered | None = None) -> CTree:
        """Find the head children of a c-tree, and count in `uncovered` the nodes without a rule."""
        names, index = ctree.tokens.tags + ctree.labels, self._remembered
        indices = [
            0 if len(kids) == 1 else index(symbol, tuple([names[k] for k in kids]))
            for symbol, kids in zip(ctree.labels, ctree.children, strict=True)
        ]
        if uncovered is not None:
            uncovered.nodes += _branching(ctree)
            uncovered.without += sum([i < 0 for i in indices])
        heads = tuple([kids[i] for kids, i in zip(ctree.children, indices, strict=True)])
        beside = ctree.functions, ctree.secondary
        return trusted_ctree(ctree.tokens, ctree.labels, ctree.children, heads, ctree.top, beside)

    def headed(self, ctree: CTree, uncovered: Uncovered | None = None) -> CTree:
        """Return the c-tree with its own head children, or, where it has none, with those that `apply`
        finds."""
        return self.apply(ctree, uncovered) if ctree.head_children is None else ctree


class MarkedHeads(HeadRules):
    """Heads that the treebank marks, with which trees are read; in a tree without marks, each head child is
    the leftmost child that is not punctuation."""

    def apply(self, ctree: CTree, uncovered: Uncovered | None = None) -> CTree:
        """Find the head children of a tree in which none is marked, and count its nodes as unmarked."""
        heads, _ = shown_heads([""] * (ctree.root + 1), ctree.tokens.forms, ctree.children)
        if uncovered is not None:
            uncovered.unmarked += _branching(ctree)
        return replace(ctree, head_children=tuple(heads))

    def headed(self, ctree: CTree, uncovered: Uncovered | None = None) -> CTree:
        """Return the c-tree with its own head children, or with those that `apply` finds."""
        if ctree.head_children is None:
            return self.apply(ctree, uncovered)
        if uncovered is not None:
            uncovered.marked += _branching(ctree)
        return ctree


def _branching(ctree: CTree) -> int:
    return sum([len(kids) > 1 for kids in ctree.children])


@dataclass
class Uncovered(Counts):
    """Counts nodes with several children (`nodes`), and those whose own rules find no head child (`without`);
    where the treebank should mark heads, nodes of trees with a marked head child (`marked`) and of the others
    (`unmarked`). Adds with `+`."""

    nodes: int = 0
    without: int = 0
    marked: int = 0
    unmarked: int = 0

    def check_marked(self, file: str) -> None:
        """Raise FormatError where the treebank should mark heads, and marks none."""
        if self.unmarked > self.marked == 0:
            raise FormatError(file, 0, 0, NOTHING_MARKED)

    def warning(self, head_rules: str, file: str) -> str | None:
        """Return a warning that a table hardly fits this treebank, None where it fits."""
        if self.without <= MANY * self.nodes:
            return None
        share = f"{percent(self.without, self.nodes):.2f} %"
        table = f"the head table {head_rules} has no rule for {share} of the nodes with several children"
        return f"{file}: {table}; `d2c heads` shows their labels, --head-rules names another table"


def load_head_rules(name: str) -> HeadRules:
    """Load head rules: the name of a table of `data/heads/`, the path of a table, `leftmost`, `rightmost`, or
    `marked` for the heads that the treebank marks.

    Raises FormatError for a malformed table and for a name that is none of these.
    """
    if name == "marked":
        return MarkedHeads(name, {})
    if name in ("leftmost", "rightmost"):
        return HeadRules(name, {}, default=HeadSearch(name.removesuffix("most")))
    if Path(name).name == name and (rules := _of_data(name)):
        return rules
    if Path(name).is_file():
        with open_input(Path(name)) as stream:
            return parse_head_rules(name, stream.read())
    raise FormatError(name, 0, 0, f"no such head rules; known are {', '.join(known_head_rules())}, or a file")


@lru_cache
def _of_data(name: str) -> HeadRules | None:
    """Return the rules of a table that comes with d2c."""
    table = resources.files("d2c.data") / "heads" / f"{name}.txt"
    return parse_head_rules(name, table.read_text(encoding="utf-8")) if table.is_file() else None


def known_head_rules() -> list[str]:
    """Return the names that `load_head_rules` takes, besides paths."""
    files = [Path(file.name) for file in (resources.files("d2c.data") / "heads").iterdir()]
    return [*sorted(file.stem for file in files if file.suffix == ".txt"), "leftmost", "rightmost", "marked"]


def format_head_rules(rules: HeadRules) -> str:
    """Return a table as text that `parse_head_rules` reads back.

    Raises FormatError for labels that are empty or hold blanks, and for symbols with another meaning there.
    """
    lines = [(symbol, search) for symbol, searches in rules.searches.items() for search in searches]
    every = [rules.default, *(search for _, search in lines)]
    names = {*rules.searches, *rules.punctuation, *rules.conjunction, *chain(*(one.labels for one in every))}
    for name in sorted(names):
        if not _LABEL.fullmatch(name) or name in rules.searches and (name in _KEYWORDS or name[0] == "#"):
            raise FormatError(rules.name, 0, 0, f"a head table cannot hold the label {name!r}")
    rows = [" ".join((symbol, search.kind, *search.labels)) for symbol, search in lines]
    for name, labels in (("punctuation", rules.punctuation), ("conjunction", rules.conjunction)):
        if labels:
            rows.append(" ".join((name, *sorted(labels))))
    if rules.default != HeadSearch("left"):
        rows.append(" ".join(("default", rules.default.kind, *rules.default.labels)))
    return "".join(row + "\n" for row in rows)


def parse_head_rules(name: str, text: str) -> HeadRules:
    """Read the text of a table. Raises FormatError naming `name` and the line."""
    searches: dict[str, tuple[HeadSearch, ...]] = {}
    sets: dict[str, frozenset[str]] = {}
    default = HeadSearch("left")
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#") or not line.strip(_BLANKS):
            continue
        symbol, *rest = _LABEL.findall(line)
        if symbol in ("punctuation", "conjunction"):
            sets[symbol] = sets.get(symbol, frozenset()) | frozenset(rest)
        elif not rest or rest[0] not in SEARCHES:
            raise FormatError(name, number, 0, f"expected one of {', '.join(SEARCHES)} after {symbol!r}")
        elif symbol == "default":
            default = HeadSearch(rest[0], tuple(rest[1:]))
        else:
            searches[symbol] = (*searches.get(symbol, ()), HeadSearch(rest[0], tuple(rest[1:])))
    return HeadRules(name, searches, default=default, **sets)


def induce_heads(ctree: CTree, heads: Sequence[int]) -> CTree:
    """Give a c-tree head children by the heads of its tokens (1..n, 0 = root).

    If several words of a node have their head outside it, the word nearest to the root of the d-tree decides,
    then the leftmost. Raises ValueError where the numbers of tokens differ, for heads above n, and for
    cycles; heads below 1 are roots, of which there may be several.
    """
    n = len(ctree.tokens)
    if len(heads) != n:
        raise ValueError(f"{many(len(heads), 'head')} for {many(n, 'token')}")
    if max(heads) > n:
        raise ValueError(f"the head {max(heads)} of {many(n, 'token')}")
    depth = depths(heads)
    best = list(range(n))  # of each node, the word nearest to the root: its own head lies outside
    head_children = []
    for kids in ctree.children:
        head = min(kids, key=lambda kid: (depth[best[kid]], best[kid]))
        head_children.append(head)
        best.append(best[head])
    return replace(ctree, head_children=tuple(head_children))


def estimate_rules(ctrees: Iterable[CTree]) -> HeadRules:
    """Estimate a head table from c-trees with head children.

    Each symbol gets one search for the labels of its head children, ordered by how often they are the head
    where they occur. It starts from the side on which the head stands more often among children with equal
    labels. Raises FormatError for labels that end in *, which stand for other labels in a table.
    """
    present: defaultdict[str, Counter[str]] = defaultdict(Counter)
    heads: defaultdict[str, Counter[str]] = defaultdict(Counter)
    side: Counter[str] = Counter()  # how much more often the leftmost of equal labels is head
    for ctree in ctrees:
        for label, kids, head in zip(ctree.labels, ctree.children, ctree.head_children or (), strict=True):
            if len(kids) < 2:
                continue
            names = [ctree.label(kid) for kid in kids]
            present[label].update(set(names))
            head_label = ctree.label(head)
            heads[label][head_label] += 1
            equal = [kid for kid, kid_name in zip(kids, names, strict=True) if kid_name == head_label]
            if len(equal) > 1:
                side[label] += (head == equal[0]) - (head == equal[-1])
    if star := next((label for label in sorted({*heads, *chain(*heads.values())}) if label[-1:] == "*"), ""):
        raise FormatError("induced", 0, 0, f"a head table cannot hold the label {star!r}")
    searches = {}
    for label, counts in sorted(heads.items()):
        sought = sorted((-count / present[label][kid], kid) for kid, count in counts.items())
        direction = "left" if side[label] >= 0 else "right"
        searches[label] = (HeadSearch(direction, tuple(kid for _, kid in sought)),)
    return HeadRules("induced", searches)
