"""Head rules: which child of a constituent is its head child (section 2.1; Collins 1999, appendix A).

A table is a data file (`data/heads/NAME.txt`; its syntax stands in `data/heads/collins.txt`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path

from trees.ctree import CTree
from trees.errors import FormatError

SEARCHES = ("left", "right", "leftdis", "rightdis")
_PRODUCTIONS_REMEMBERED = 1 << 16  # productions repeat; bounds memory on endless input


@dataclass(frozen=True)
class Search:
    """One line of a table: a direction and the labels sought; without labels, any but punctuation."""

    kind: str
    labels: tuple[str, ...] = ()

    def find(self, children: Sequence[str], punctuation: frozenset[str]) -> int | None:
        """Index of the child that this search selects, if any."""
        positions = range(len(children))
        scan = positions[::-1] if self.kind.startswith("right") else positions
        if not self.labels:
            return next((i for i in scan if children[i] not in punctuation), None)
        if self.kind.endswith("dis"):
            return next((i for i in scan if children[i] in self.labels), None)
        return next((i for label in self.labels for i in scan if children[i] == label), None)


class HeadRules:
    """A head table.

    name:        of the table
    searches:    by phrase symbol, tried in order
    punctuation: labels never chosen where another child is there
    conjunction: labels of coordinating conjunctions; empty where coordination is not treated
    default:     the search for everything else
    cut:         labels and tags are looked up without what follows this character; "" where nothing is cut
    """

    def __init__(
        self,
        name: str,
        searches: Mapping[str, Sequence[Search]],
        punctuation: frozenset[str] = frozenset(),
        conjunction: frozenset[str] = frozenset(),
        default: Search = Search("left"),
        cut: str = "",
    ) -> None:
        self.name, self.searches, self.default = name, searches, default
        self.punctuation, self.conjunction, self.cut = punctuation, conjunction, cut
        self._remembered = lru_cache(maxsize=_PRODUCTIONS_REMEMBERED)(self.head_child)

    def head_child(self, symbol: str, children: tuple[str, ...]) -> int:
        """Index of the head child in the production `symbol -> children` (symbols and tags)."""
        if len(children) == 1:
            return 0
        found = self.by_rule(symbol, children)
        if found is None:
            found = self.default.find(self._names(children), self.punctuation)
        if found is not None:
            return self._before_conjunction(found, self._names(children))
        return len(children) - 1 if self.default.kind.startswith("right") else 0

    def knows(self, symbol: str) -> bool:
        """Whether the symbol has a search of its own."""
        return self._names((symbol,))[0] in self.searches

    def by_rule(self, symbol: str, children: tuple[str, ...]) -> int | None:
        """Index of the child that a search of the symbol's own finds, coordination aside."""
        names = self._names(children)
        for search in self.searches.get(self._names((symbol,))[0], ()):
            found = search.find(names, self.punctuation)
            if found is not None:
                return found
        return None

    def _names(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        if not self.cut:
            return labels
        return tuple([label.split(self.cut, 1)[0] or label for label in labels])

    def _before_conjunction(self, head: int, children: tuple[str, ...]) -> int:
        if head >= 2 and children[head - 1] in self.conjunction:
            for i in range(head - 2, -1, -1):
                if children[i] not in self.punctuation and children[i] not in self.conjunction:
                    return i
        return head

    def apply(self, ctree: CTree) -> CTree:
        """The same c-tree with its head children."""
        names = ctree.tokens.tags + ctree.labels
        head_child = self._remembered
        return replace(
            ctree,
            head_children=tuple(
                [
                    kids[0] if len(kids) == 1 else kids[head_child(symbol, tuple([names[k] for k in kids]))]
                    for symbol, kids in zip(ctree.labels, ctree.children, strict=True)
                ]
            ),
        )


def load_head_rules(name: str) -> HeadRules:
    """The head rules `name`: a table of `data/heads/`, the path of a table, `leftmost` or `rightmost`, or
    `marked`, as the treebank marks them.

    Raises FormatError for a malformed table and for a name that is none of these.
    """
    if name == "marked":  # trees come with head children; where one has none, the leftmost child is it
        return HeadRules(name, {}, default=Search("left"))
    if name in ("leftmost", "rightmost"):
        return HeadRules(name, {}, default=Search(name.removesuffix("most")))
    bundled = resources.files("data") / "heads" / f"{name}.txt"
    if bundled.is_file():
        return parse_head_rules(name, bundled.read_text(encoding="utf-8"))
    if Path(name).is_file():
        return parse_head_rules(name, Path(name).read_text(encoding="utf-8"))
    raise FormatError(name, 0, 0, f"no such head rules; known are {', '.join(known_head_rules())}, or a file")


def known_head_rules() -> list[str]:
    """Names that `load_head_rules` takes."""
    tables = [file.name for file in (resources.files("data") / "heads").iterdir()]
    return sorted(t.removesuffix(".txt") for t in tables if t.endswith(".txt")) + [
        "leftmost",
        "rightmost",
        "marked",
    ]


def parse_head_rules(name: str, text: str) -> HeadRules:
    """Head rules from the text of a table. Raises FormatError naming `name` and the line."""
    searches: dict[str, tuple[Search, ...]] = {}
    sets: dict[str, frozenset[str]] = {}
    default, cut = Search("left"), ""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        symbol, *rest = line.split()
        if symbol == "cut" and rest:
            cut = rest[0]
        elif symbol in ("punctuation", "conjunction"):
            sets[symbol] = frozenset(rest)
        elif not rest or rest[0] not in SEARCHES:
            raise FormatError(name, number, 0, f"expected one of {', '.join(SEARCHES)} after {symbol!r}")
        elif symbol == "default":
            default = Search(rest[0], tuple(rest[1:]))
        else:
            searches[symbol] = (*searches.get(symbol, ()), Search(rest[0], tuple(rest[1:])))
    return HeadRules(
        name,
        searches,
        sets.get("punctuation", frozenset()),
        sets.get("conjunction", frozenset()),
        default,
        cut,
    )
