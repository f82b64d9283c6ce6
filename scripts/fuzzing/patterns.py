"""Random patterns in trees of every shape: each search ends in time, with matches or one line, and finds what
nltk.tgrep does where that knows all operators. Patterns are derivations of a grammar of the language.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random

import numpy as np
from nltk.tgrep import tgrep_positions
from nltk.tree import ParentedTree

from d2c import Tree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.heads import load_head_rules
from d2c.trees.patterns.language import compiled
from d2c.trees.patterns.limits import RanOver
from d2c.trees.patterns.matches import find
from d2c.trees.patterns.nodes import TreeNodes
from fuzzing.children import Fault, Limits
from fuzzing.edits import edited
from fuzzing.frame import Case, Group, Kind

LIMITS, BATCH = Limits(20, 2_000_000_000), 25
SECONDS, GRACE = 1.0, 2.0  # CPU time that a search is given, and may take beyond: numpy cannot be stopped
MOST = 1000  # matches that are counted again
HEADED = load_head_rules("leftmost").headed
LABELS, WORDS = "ABCDEFGHI", ("a", "b", "c", "the", "The")
# nltk has no captures, variables, options, chains, heads, and none of `$+`, `$-`, `<<-`, `>>-`.
_SHARED = "< > << >> <, >, <- >- <1 >1 <2 <-2 >-2 <: >: <<, <<` >>, >>` . .. , ,, $ $. $.. $, $,,"
_OWN = "<` >` <<- >>- <<: >>: <<< <# ># <<# >># $+ $++ $- $-- : == <= <9 <-9"
SHARED, RELATIONS = _SHARED.split(), f"{_SHARED} {_OWN}".split()
_EXPRESSIONS = ["/a+/", "/^(a|aa)+$/", "/(?i)^[a-c]*$/", "/^([A-C])/#1%x", "!/b/", "@/^A$/", "/(/"]


def tree(rng: Random, small: bool) -> str:
    """Return brackets of a tree without gaps: a small one of different words, as nltk takes nodes that are
    equal for the same one; or of many words, flat, deep, or with long labels."""
    shape = "small" if small else rng.choice(("small", "wide", "flat", "deep", "long"))
    if shape == "flat":
        return "(S " + "(A a) " * rng.randint(50, 2000) + ")"
    if shape == "deep":
        deep = rng.randint(50, 2000)
        return f"(S {'(A ' * deep}(B b){')' * deep})"
    if shape == "long":
        return f"(S (A {'a' * rng.randint(20, 3000)}!) ({'A' * rng.randint(20, 3000)} b))"
    count = rng.randint(1, 150 if shape == "wide" else 7)
    words = rng.sample((*WORDS, "x", "y"), count) if small else rng.choices(WORDS, k=count)
    nodes = [f"({rng.choice(LABELS)} {word})" for word in words]
    while len(nodes) > 1 or rng.random() < 0.5:
        begin = rng.randrange(len(nodes))
        end = begin + rng.randint(1, 1 if rng.random() < 0.3 else min(4, len(nodes) - begin))
        nodes[begin:end] = [f"({rng.choice(LABELS)} {' '.join(nodes[begin:end])})"]
    return f"(ROOT {nodes[0]})"


def shared_pattern(rng: Random, depth: int = 0) -> str:
    """Return a pattern that nltk reads, too."""
    said = list[str]()
    for _ in range(rng.randint(0, 2 if depth < 2 else 0)):
        sign = rng.choice(("", "", "!")) + rng.choice(SHARED)
        said.append(f"{sign} ({shared_pattern(rng, depth + 1)})")
    labels = [*LABELS, "A|B", "/^[A-I]$/", *(() if said else ("__", *WORDS))]  # its words have no relations
    return f"{rng.choice(labels)} {rng.choice((' & ', ' | ')).join(said)}".strip()


class _Grammar:
    """Derives patterns with all that the language has; a few of them are refused.

    names: of nodes so far; hidden: whether nodes are under a negation, where they get no names
    """

    def __init__(self, rng: Random) -> None:
        self.rng, self.names, self.hidden = rng, list[str](), False

    def node(self) -> str:
        kind, choose = self.rng.random(), self.rng.choice
        if self.names and kind < 0.15:
            return f"{choose('=~')}{choose(self.names)}"
        text: str = choose([*LABELS, *LABELS, "__", "S", "A|B", "ROOT", "@A", "!A", "a"])
        if kind > 0.9:
            text = choose(_EXPRESSIONS)
        elif kind > 0.8:
            row = self.rng.choices(("a", "the", "*", "t*e", "B"), k=self.rng.randint(1, 3))
            text = f'"{" ".join(row)}"'
        if not self.hidden and self.rng.random() < 0.25:
            self.names.append(f"n{len(self.names)}")
            text += f"={self.names[-1]}"
        return text

    def clause(self, depth: int) -> str:
        kind, choose = self.rng.random(), self.rng.choice
        if kind < 0.1:
            before, sign = self.hidden, choose("!?")
            self.hidden = before or sign == "!"
            inside, self.hidden = self.clause(depth + 1), before
            return sign + inside
        if kind < 0.2 and depth < 4:
            return f"[{self.clause(depth + 1)} {choose('&|')} {self.clause(depth + 1)}]"
        if kind < 0.25:
            return f"<... {{{' ; '.join(self.node() for _ in range(self.rng.randint(1, 3)))}}}"
        chain = f"{choose('<>.,')}+({choose(LABELS)})"
        return f"{chain if kind < 0.35 else choose(RELATIONS)} {self.operand(depth + 1)}"

    def operand(self, depth: int) -> str:
        text = " ".join(
            [self.node(), *(self.clause(depth) for _ in range(self.rng.randint(0, 3 if depth < 3 else 0)))]
        )
        return f"({text})" if depth and " " in text else text


def pattern(rng: Random) -> str:
    """Return a pattern of all that the language has."""
    return _Grammar(rng).operand(0)


def judged_with_nltk(case: Case) -> str:
    """Compare the nodes found with those of nltk. Raises Fault where they differ."""
    text, brackets = case.given["pattern"], case.given["tree"]
    other = ParentedTree.fromstring(brackets)
    numbers = {position: number for number, position in enumerate(other.treepositions("preorder"))}
    [positions] = tgrep_positions(text.replace("`", "'"), [other])
    ours = [row[0] for row in find(compiled(text), TreeNodes([parse_bracket(brackets)]))[0].tolist()]
    if ours != sorted({numbers[position] for position in positions}):
        raise Fault(f"{text} in {brackets}: {ours}; nltk {positions}")
    return "read"


def judged(case: Case) -> str:
    """Search a tree alone, and twice in a batch. Raises Fault for a search that takes long, and for matches
    that are found twice, or not in both trees."""
    text, found = case.given["pattern"], Tree(HEADED(parse_bracket(case.given["tree"])))
    begin, count = time.process_time(), MOST
    try:
        count = len(found.search(text, SECONDS))
    except RanOver:
        pass
    except ValueError as error:
        if len(str(error).splitlines()) != 1:
            raise Fault(f"{text}: {error}") from None
        return "refused"
    if (took := time.process_time() - begin) > SECONDS + GRACE:
        raise Fault(f"{text}: {took:.1f} s")
    if count < MOST:
        one, two = (find(compiled(text), TreeNodes([found.ctree] * trees))[0] for trees in (1, 2))
        if not 2 * count == 2 * len(np.unique(one, axis=0)) == len(two):
            raise Fault(f"{text}: {count} matches, {len(one)} rows of a tree, {len(two)} of two")
    return "read"


def _made(make: Callable[[Random], str], small: bool) -> Callable[[Random, str], Case]:
    return lambda rng, kind: Case(kind, {}, {"pattern": make(rng), "tree": tree(rng, small)})


def _broken(rng: Random) -> str:
    return edited(rng, pattern(rng).encode()).decode("utf-8", "replace")


def group() -> Group:
    """Return the kinds of patterns."""
    kinds = {
        "patterns of nltk": Kind(_made(shared_pattern, True), judged_with_nltk),
        "patterns": Kind(_made(pattern, False), judged),
        "broken patterns": Kind(_made(_broken, False), judged),
    }
    return Group("patterns", kinds, LIMITS, BATCH)
