"""The language of Tregex (Levy and Andrew, 2006), read into a tree of nodes and conditions on them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from d2c.base.errors import shortened
from d2c.trees.cleaning import basic_label
from d2c.trees.patterns.limits import SHORT_LABEL, Fits, searchers
from d2c.trees.patterns.nodes import ROOT, Ids, TreeNodes
from d2c.trees.patterns.relations import CHAINS, RELATIONS, Relation, inverse, nth_child

DEEPEST = 50  # brackets inside each other in a pattern
MOST_NODES = 200  # of a pattern
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<words>"[^"]*") | (?P<regex>/(?:\\.|[^/\\])*/) | (?P<arc>arc:[^\s()&|[\]=]+)
    | (?P<exactly><\.\.\.) | (?P<chain>[<>.,]\+)
    | (?P<relation><<<|(?:<<|>>)[,\-`:#]?|[<>][,\-`:#]|<=|[<>]|\$(?:\+\+|--|\.\.|,,|[-+.,])?|\.\.?|,,?|==|:)
    | (?P<number>-?\d{1,6}) | (?P<any>__)
    | (?P<name>(?:_ROOT_|(?:PRP|WP)\$(?![-+.,])|[^\s0-9(/|@!#%&)=?\[\]><~_.,$:{};"])
        (?:\|(?:PRP|WP)\$(?![-+.,])|[^\s(/@!#%&)=?\[\]><~.,$:{};"])*)
    | (?P<mark>[()\[\]{};&|!?@#%=~]) | (?P<end>\Z) )""",
    re.VERBOSE,
)
_MOST_WORDS = 100  # in a row
_SHOWN = 40  # characters of what cannot be read
_LABELS = ("words", "regex", "arc", "any", "name")


@dataclass(frozen=True, slots=True, eq=False)
class Label:
    """Which labels a node may have.

    fits:   tells whether a label fits; names: all labels that fit, where they are known; word: only words fit
    basic:  labels are tried without functions and indices; negated: only what does not fit is wanted
    groups: of a regular expression: the number of a group, and the variable of which it is the value
    timed:  as `fits`, with a `timeout`; for labels longer than SHORT_LABEL, or where `fits` is None
    """

    fits: Callable[[str], object] | None
    names: frozenset[str] | None = None
    word: bool = False
    groups: tuple[tuple[int, str], ...] = ()
    basic: bool = False
    negated: bool = False
    timed: Fits | None = None

    def fitted(self, nodes: TreeNodes) -> list[Any]:
        """Return for each label of some trees whether it fits, or the match of a regular expression
        [labels]."""
        labels = map(basic_label, nodes.names) if self.basic else nodes.names
        found: list[object]
        if self.timed and (self.fits is None or nodes.longest > SHORT_LABEL):
            found = [self.timed(label, timeout=nodes.clock.left()) for label in labels]
        else:
            assert self.fits
            found = [*map(self.fits, labels)]
        return [not one for one in found] if self.negated else found

    def ids(self, nodes: TreeNodes) -> Ids:
        """Return the nodes that fit, in order [nodes]."""
        order, starts = nodes.by_label
        fitting = [nodes.names.get(name) for name in self.names] if self.names is not None else None
        if fitting is None:
            fitting = [number for number, fits in enumerate(self.fitted(nodes)) if fits]
        runs = [order[starts[number] : starts[number + 1]] for number in fitting if number is not None]
        found = np.sort(np.concatenate(runs)) if runs else np.zeros(0, np.int64)
        return found[nodes.children[found] == 0] if self.word else found


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A node of a pattern.

    label: None: `same` names the node that this one is, or `alike` a node that has the same label
    name:  under which it is captured; said: the condition on it; plain: whether neither it nor a node in its
           condition has a name or a variable, or refers to a name
    words: of how many words in a row it is the first
    """

    label: Label | None
    name: str = ""
    same: str = ""
    alike: str = ""
    said: Said | None = None
    plain: bool = True
    words: int = 1

    def below(self) -> Iterator[Node]:
        """Yield the node, and all nodes in the condition on it."""
        yield self
        said = [self.said] if self.said else []
        while said:
            clause = said.pop()
            said += clause.clauses
            if clause.node:
                yield from clause.node.below()


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """A condition on a node: `all`, `either`, `not` or `maybe` of clauses, or `related` to another node."""

    kind: str
    clauses: tuple[Said, ...] = ()
    relation: Relation | None = None
    node: Node | None = None

    @property
    def plain(self) -> bool:
        return all(clause.plain for clause in self.clauses) and (self.node is None or self.node.plain)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that was read.

    nodes: alternatives for the node that is sought; names: of captures; heads: whether it asks for heads
    rows:  by name, "" for the node that is sought, the first nodes of words in a row, the longest row last
    """

    nodes: tuple[Node, ...]
    names: tuple[str, ...]
    heads: bool
    rows: Mapping[str, Sequence[Node]]


@lru_cache(maxsize=256)
def compiled(text: str) -> Pattern:
    """Read a pattern. Raises ValueError that says where it cannot be read."""
    return _Reader(text).pattern()


class _Reader:
    """Reads a pattern by recursive descent."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth, self.size = text, 0, 0, 0
        self.names: dict[str, None] = {}
        self.known: set[str] = set()
        self.hidden = False  # under a negation
        self.heads = False
        self.kind = self.token = ""
        self._next()

    def _next(self) -> str:
        """Return the token at hand and go on to the next one."""
        before = self.token
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            self.begin = self.at + len(self.text[self.at :]) - len(self.text[self.at :].lstrip())
            self.token = self.text[self.begin]
            self._fail("no part of the language")
        self.kind, self.token = str(match.lastgroup), match[str(match.lastgroup)]
        self.begin, self.at = match.start(str(match.lastgroup)), max(match.end(), 1)
        return before

    def _fail(self, wrong: str) -> NoReturn:
        found = shortened(repr(self.token), _SHOWN) if self.token else "its end"
        raise ValueError(f"the pattern at character {self.begin + 1}, {found}: {wrong}")

    def _take(self, *tokens: str) -> str:
        """Return the token at hand if it is one of these marks, and go on; otherwise nothing."""
        return self._next() if self.kind in ("mark", "relation") and self.token in tokens else ""

    def _expect(self, token: str) -> None:
        if not self._take(token):
            self._fail(f"{token} is missing here")

    @contextmanager
    def _inside(self) -> Iterator[None]:
        self.depth += 1
        if self.depth > DEEPEST:
            self._fail(f"more than {DEEPEST} brackets inside each other")
        yield
        self.depth -= 1

    def pattern(self) -> Pattern:
        nodes = [self._node_with_relations()]
        while self._take("|"):
            self.known = set()
            nodes.append(self._node_with_relations())
        if self.kind != "end":
            self._fail("here a relation is missing, or a bracket closes that is not open")
        named = [(one.name, one) for node in nodes for one in node.below() if one.name]
        rows = defaultdict[str, list[Node]](list)
        for name, node in sorted([*(("", node) for node in nodes), *named], key=lambda one: one[1].words):
            if node.words > 1:
                rows[name].append(node)
        return Pattern(tuple(nodes), tuple(self.names), self.heads, rows)

    def _node_with_relations(self) -> Node:
        node = self._operand()
        if not self._says():
            return node
        said = self._either()
        said = said if node.said is None else Said("all", (node.said, said))
        return replace(node, said=said, plain=node.plain and said.plain)

    def _says(self) -> bool:
        """Return whether a condition on a node begins here."""
        return self.kind in ("relation", "chain", "exactly") or (
            self.kind == "mark" and self.token in "!?[(&"
        )

    def _count(self, nodes: int) -> None:
        self.size += nodes
        if self.size > MOST_NODES:
            self._fail(f"a pattern has at most {MOST_NODES} nodes")

    def _node(self) -> Node:
        self._count(1)
        if self._take("="):
            return Node(None, same=self._known(), plain=False)
        if self._take("~"):
            alike = self._known()
            return Node(None, self._named(), alike=alike, plain=False)
        row = self._words() if self.kind == "words" else ()
        label = row[0] if row else self._label()
        name, said = self._named(), None
        for word in row[:0:-1]:
            said = Said("related", relation=RELATIONS["."], node=Node(word, said=said))
        return Node(label, name, said=said, plain=not name and not label.groups, words=len(row) or 1)

    def _known(self) -> str:
        if self.token not in self.known:
            self._fail("no node before it has this name")
        return self._next()

    def _named(self) -> str:
        if not self._take("="):
            return ""
        if self.kind != "name":
            self._fail("a name is missing here")
        if self.hidden:
            self._fail("a node that must not be there cannot have a name")
        if self.token in self.known:
            self._fail("two nodes have this name")
        self.names[self.token] = None
        self.known.add(self.token)
        return self._next()

    def _label(self) -> Label:
        negated, basic = bool(self._take("!")), bool(self._take("@"))
        if self.kind not in _LABELS or self.kind == "words":
            self._fail("a label, a /regular expression/ or __ is missing here")
        if self.kind == "arc":
            self._fail("arcs are found in pages only, where d-trees are")
        kind, text = self.kind, self.token
        fits: Callable[[str], object] | None
        names: frozenset[str] | None = None
        timed: Fits | None = None
        if kind == "regex":
            try:
                fits, timed = searchers(text[1:-1])
            except ValueError as error:
                self._fail(f"no regular expression of Python's: {shortened(str(error), 2 * _SHOWN)}")
        elif kind == "any":
            fits = _any
        else:
            names = frozenset(text.replace("_ROOT_", ROOT).split("|"))
            fits = names.__contains__
        self._next()
        if basic or negated:
            names = None
        groups = []
        while self._take("#"):
            number = int(self._next()) if self.kind == "number" else 0
            self._expect("%")
            if (
                kind != "regex"
                or negated
                or not 0 < number <= re.compile(text[1:-1]).groups
                or self.kind != "name"
            ):
                self._fail("#NUMBER%VARIABLE stands behind a /(regular) expression/ with so many groups")
            groups.append((number, self._next()))
        return Label(fits, names, groups=tuple(groups), basic=basic, negated=negated, timed=timed)

    def _words(self) -> tuple[Label, ...]:
        """Read words in a row."""
        row = self._next().strip('"').split()
        if not row:
            self._fail("there are no words in the quotation marks before it")
        if len(row) > _MOST_WORDS:
            self._fail(f"{len(row)} words in a row are too many; at most {_MOST_WORDS} are looked for")
        self._count(len(row) - 1)
        return tuple(map(_word, row))

    def _either(self) -> Said:
        known, clauses, names = set(self.known), list[Said](), set[str]()
        while True:
            clauses.append(self._all())
            names |= self.known
            if self.token != "|" or self.kind != "mark" or self._node_follows():
                break
            self.known = set(known)
            self._next()
        self.known = names
        return clauses[0] if len(clauses) == 1 else Said("either", tuple(clauses))

    def _node_follows(self) -> bool:
        """Return whether a node or nothing follows after the token at hand, rather than a relation."""
        match = _TOKEN.match(self.text, self.at)
        while match and match["mark"] in ("!", "("):
            match = _TOKEN.match(self.text, match.end())
        if not match:
            return False
        return match["mark"] in ("@", "=", "~") or str(match.lastgroup) in (*_LABELS, "end")

    def _all(self) -> Said:
        clauses = []
        while self._says():
            self._take("&")
            clauses.append(self._clause())
        return clauses[0] if len(clauses) == 1 else Said("all", tuple(clauses))

    def _clause(self) -> Said:
        if self._take("!"):
            hidden, self.hidden = self.hidden, True
            with self._inside():
                clause = Said("not", (self._clause(),))
            self.hidden = hidden
            return clause
        if self._take("?"):
            with self._inside():
                return Said("maybe", (self._clause(),))
        bracket = self._take("[", "(")
        if not bracket:
            return self._related()
        with self._inside():
            clause = self._either()
        self._expect({"[": "]", "(": ")"}[bracket])
        return clause

    def _related(self) -> Said:
        if self.kind == "exactly":
            return self._exactly()
        if self.kind == "chain":
            relation = self._chain()
            return Said("related", relation=relation, node=self._operand())
        if self.kind != "relation":
            self._fail("a relation is missing here")
        sign = self._next()
        self.heads = self.heads or "#" in sign
        if self.kind == "number" and sign in ("<", ">", "<-", ">-"):
            number = int(self._next()) * (-1 if sign.endswith("-") else 1)
            if not number:
                self._fail("children are counted from 1, or from -1")
            nth = nth_child(number)
            return Said("related", relation=nth if sign[0] == "<" else inverse(nth), node=self._operand())
        signs = {"$": ("$++", "$--"), "<=": ("==", "<")}.get(sign, (sign,))
        node = self._operand()
        clauses = [Said("related", relation=RELATIONS[sign], node=node) for sign in signs]
        return clauses[0] if len(clauses) == 1 else Said("either", tuple(clauses))

    def _operand(self) -> Node:
        """Read a node; in brackets, with the condition on it."""
        if not self._take("("):
            return self._node()
        with self._inside():
            node = self._node_with_relations()
        self._expect(")")
        return node

    def _chain(self) -> Relation:
        sign = self._next()[0]
        closing = {"(": ")", "[": "]"}.get(self._take("(", "["))
        label = self._label()
        if closing:
            self._expect(closing)
        return CHAINS[sign](label.ids)

    def _exactly(self) -> Said:
        self._next()
        self._expect("{")
        children = [self._operand()]
        while self._take(";"):
            children.append(self._operand())
        self._expect("}")
        clauses = [Said("related", relation=nth_child(i), node=node) for i, node in enumerate(children, 1)]
        more = Said("related", relation=nth_child(len(children) + 1), node=Node(Label(_any)))
        return Said("all", (*clauses, Said("not", (more,))))


def _any(_label: str) -> bool:
    return True


def _word(form: str) -> Label:
    """Return the label of a word: `*` stands for any letters; a form without capitals fits capitals, too."""
    flags = re.IGNORECASE if form == form.lower() else 0
    *parts, last = map(re.escape, form.split("*"))
    if parts:  # what lies between stars is taken where it is found first, which (?>) never takes back
        last = parts[0] + "".join([f"(?>.*?{part})" for part in parts[1:]]) + ".*" + last
    return Label(re.compile(last, flags).fullmatch, word=True)
