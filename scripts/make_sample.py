"""Write the bundled sample treebank: trees drawn from the grammar in ``data/sample_grammar.txt``.

The grammar is a weighted context-free grammar whose symbols carry arguments, ``NP(plain, Noun, Num)``.
A capitalised argument is a variable: it takes its value from the caller, from the relations after ``where``,
or from the set of its own name. Agreement, selection and attachment are thus tables in the grammar file, and
this program knows none of them. Drawing goes top-down: choose a rule by weight, choose a solution of its
conditions by weight, expand its items.

    python scripts/make_sample.py --seed 1 --out data/sample
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TypeVar

import click

from papers.table import write_text

DATA = Path(__file__).resolve().parent.parent / "data"
SPLITS = {"train": 2000, "dev": 300, "test": 300}
LENGTHS = range(4, 26)
SHORT = 8  # sentences with fewer tokens are dropped half of the time
MAX_DEPTH = 40  # of nested expansions; a deeper tree would never be a short sentence
AUXILIARIES = {"be", "been", "is", "are", "was", "were", "do", "does", "did", "have", "has", "had"}

LEAF = re.compile(r"\((\S+) ([^()\s]+)\)")  # of a tree in brackets: its tag, its word

T = TypeVar("T")
Binding = dict[str, str]  # values of a rule's variables
Row = tuple[tuple[str, ...], float]  # a row of a relation, and its weight


class GrammarError(ValueError):
    """A mistake in the grammar file, or a symbol that no rule expands."""


@dataclass(frozen=True)
class Item:
    """An item of a right-hand side: call ``a(X)``, word ``NN<X>``, node ``(NP ...)``, or a leaf's form."""

    kind: str
    name: str
    args: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()


@dataclass(frozen=True)
class Rule:
    """A symbol with these arguments becomes the items if the conditions (name, arguments, negated) hold."""

    args: tuple[str, ...]
    weight: float
    items: tuple[Item, ...]
    conditions: tuple[tuple[str, tuple[str, ...], bool], ...]


@dataclass
class Grammar:
    """What the grammar file says."""

    words: dict[str, list[str]] = field(default_factory=dict)  # class to entries, most frequent first
    relations: dict[str, list[Row]] = field(default_factory=dict)  # sets are relations with one column
    rules: dict[str, list[Rule]] = field(default_factory=dict)  # symbol to alternatives
    once: list[str] = field(default_factory=list)  # sets whose variable has one value in a sentence

    def __post_init__(self) -> None:
        self.alternatives = cache(self._alternatives)

    def _alternatives(
        self, symbol: str, args: tuple[str, ...], fixed: tuple[tuple[str, str], ...]
    ) -> list[tuple[Rule, list[tuple[Binding, float]]]]:
        """Return the rules that fit a call, each with all weighted values of its variables."""
        found = []
        for rule in self.rules.get(symbol, []):
            start = match(rule.args, args, dict(fixed))
            bindings = [] if start is None else [(start, 1.0)]
            for name, arguments, negated in rule.conditions:
                rows = self.relations[name]
                solved = []
                for old, weight in bindings:
                    tries = [(match(arguments, row, old), weight * share) for row, share in rows]
                    hits = [(new, new_weight) for new, new_weight in tries if new is not None]
                    solved += ([] if hits else [(old, weight)]) if negated else hits
                bindings = solved
            if bindings:
                found.append((rule, bindings))
        if not found:
            raise GrammarError(f"no rule expands {symbol}({', '.join(args)})")
        return found


def is_variable(argument: str) -> bool:
    """Say whether an argument is capitalised. (``_`` matches anything and binds nothing.)"""
    return argument[0].isupper()


def read_grammar(text: str) -> Grammar:
    """Read a grammar; the opening comment of the bundled one documents the notation."""
    grammar = Grammar()
    text = re.sub(r"(?m)(^|\s)#.*", "", text)
    text = re.sub(r"\n {8,}", " ", text)  # continued lines
    for block in re.findall(r"(?m)^\S.*(?:\n(?:[ ]+.*)?)*", text):
        head, *body = [line.strip() for line in block.splitlines() if line.strip()]
        found = re.fullmatch(r"(words|set|once|relation|rule) (\w+)(?:\((.*?)\)$|:)?(.*)", head)
        if not found:
            raise GrammarError(f"cannot read {head!r}")
        keyword, name, args, rest = found.groups()
        entries = " ".join([rest, *body]).split()
        if keyword == "words":
            grammar.words[name] = entries
            grammar.relations.setdefault(name, [((name,), 1.0)])  # a class is the set of itself
        elif keyword == "rule":
            grammar.rules.setdefault(name, []).extend(read_rule(split(args), line) for line in body)
        else:
            lines = body if keyword == "relation" else [entry.replace("*", " *") for entry in entries]
            grammar.relations[name] = [row for line in lines for row in read_rows(grammar, line)]
            grammar.once += [name] * (keyword == "once")
    return grammar


def read_rows(grammar: Grammar, line: str) -> list[Row]:
    """Multiply the cells of a line; ``a|b`` and names of sets are alternatives, sharing the weight."""
    cells, _, weight = line.partition("*")
    rows: list[Row] = [((), float(weight or 1))]
    for cell in cells.split():
        options = [row for name in cell.split("|") for row in grammar.relations.get(name, [((name,), 1.0)])]
        total = sum(share for _, share in options)
        rows = [(row + value, weight * share / total) for row, weight in rows for value, share in options]
    return rows


def read_rule(args: tuple[str, ...], line: str) -> Rule:
    """Read ``weight items where conditions``."""
    weight, _, rest = line.partition(" ")
    right, _, where = rest.partition(" where ")
    tokens = iter(re.findall(r"[\w$]+\([^()]*\)|[\w$]+<\w+>|[()]|[^\s()]+", right))
    found = re.findall(r"(not )?(\w+)\(([^()]*)\)", where)
    conditions = tuple((name, split(inside), bool(negated)) for negated, name, inside in found)
    return Rule(args, float(weight), read_items(tokens), conditions)


def read_items(tokens: Iterator[str]) -> tuple[Item, ...]:
    """Read items up to the closing bracket; the item ``-`` is nothing."""
    items = []
    for token in tokens:
        if token == ")":
            break
        if token == "(":
            items.append(Item("node", next(tokens), (), read_items(tokens)))
        elif call := re.fullmatch(r"(.+)([(<])(.*)[)>]", token):
            items.append(Item("call" if call[2] == "(" else "word", call[1], split(call[3])))
        elif token != "-":
            items.append(Item("form", token))
    return tuple(items)


def split(text: str | None) -> tuple[str, ...]:
    """Turn ``"a, b"`` into ``("a", "b")``."""
    return tuple(re.split(r",\s*", text)) if text else ()


class Sampler:
    """Draws trees from a grammar; the seed alone decides which."""

    def __init__(self, grammar: Grammar, seed: int) -> None:
        self.grammar = grammar
        self.random = random.Random(seed)
        self.fixed: tuple[tuple[str, str], ...] = ()  # the variables that have one value in the sentence

    def sentence(self) -> str:
        """Draw one tree with the root ``TOP``, in brackets."""
        self.fixed = tuple((name.capitalize(), self.member(name)) for name in self.grammar.once)
        (tree,) = self.expand("TOP", (), 0)
        return spell(tree)

    def expand(self, symbol: str, args: tuple[str, ...], depth: int) -> list[str]:
        """Expand a call into a node, or into several trees if the symbol is a helper (in lower case)."""
        if depth > MAX_DEPTH:
            raise RecursionError
        options = self.grammar.alternatives(symbol, args, self.fixed)
        rule, bindings = self.choose([(option, option[0].weight) for option in options])
        binding = self.choose(bindings).copy()
        trees = [tree for item in rule.items for tree in self.realise(item, binding, depth)]
        return trees if symbol.islower() else [node(symbol, *trees)]

    def realise(self, item: Item, binding: Binding, depth: int) -> list[str]:
        """Turn an item of a rule into trees; its variables that have no value yet get one."""
        for argument in filter(is_variable, item.args):
            if argument not in binding:
                binding[argument] = self.member(argument.rstrip("0123456789").lower())
        values = tuple(binding.get(argument, argument) for argument in item.args)
        if item.kind == "call":
            return self.expand(item.name, values, depth + 1)
        if item.kind == "word":
            entries = enumerate(self.grammar.words[values[0]], 1)
            entry = self.choose([(entry, 1 / rank) for rank, entry in entries])  # Zipf's law
            return [node(item.name, inflect(entry, item.name))]
        if item.items[0].kind == "form":
            return [node(item.name, binding.get(item.items[0].name, item.items[0].name))]
        children = [tree for child in item.items for tree in self.realise(child, binding, depth)]
        return [node(item.name, *children)]

    def member(self, name: str) -> str:
        """Draw a member of a set."""
        return self.choose([(row[0], weight) for row, weight in self.grammar.relations[name]])

    def choose(self, options: list[tuple[T, float]]) -> T:
        """Draw one of several weighted options."""
        return self.random.choices([option for option, _ in options], [weight for _, weight in options])[0]


def node(label: str, *inside: str) -> str:
    """Return a node, or a leaf, in brackets."""
    return f"({label} {' '.join(inside)})"


def match(pattern: tuple[str, ...], values: tuple[str, ...], binding: Binding) -> Binding | None:
    """Return the extension of a binding under which a pattern equals the values, or None."""
    if len(pattern) != len(values):
        return None
    new: Binding = {}
    for argument, value in zip(pattern, values, strict=True):
        expected = argument
        if is_variable(argument):
            expected = binding.get(argument) or new.setdefault(argument, value)
        if expected not in (value, "_"):
            return None
    return binding | new


def inflect(entry: str, tag: str) -> str:
    """Inflect ``noun/plural`` or ``verb/past/participle/gerund`` for a tag, else regularly."""
    base, *irregular = entry.split("/")
    column = {"NNS": 0, "VBD": 0, "VBN": 1, "VBG": 2}.get(tag, len(irregular))
    if column < len(irregular):
        return irregular[column]
    if tag in ("NNS", "VBZ"):
        sibilant = re.search(r"(s|x|ch|sh)$", base) or (tag, base) == ("VBZ", "go")
        return re.sub(r"([^aeiou])y$", r"\1ie", base) + ("es" if sibilant else "s")
    if tag in ("VBD", "VBN"):
        return re.sub(r"([^aeiou])y$", r"\1i", base.removesuffix("e")) + "ed"
    return base.removesuffix("e") + "ing" if tag == "VBG" else base


def spell(tree: str) -> str:
    """Capitalise the first word and write "an" before a vowel."""
    words = [word for _, word in LEAF.findall(tree)]
    for index, (word, following) in enumerate(zip(words, words[1:], strict=False)):
        if word == "a" and following[0].lower() in "aeiou":
            words[index] = "an"
    first = next(index for index, word in enumerate(words) if word[0].isalnum())
    words[first] = words[first][0].upper() + words[first][1:]
    remaining = iter(words)
    return LEAF.sub(lambda leaf: node(leaf[1], next(remaining)), tree)


def is_silly(tree: str) -> bool:
    """Say whether a noun or a verb comes twice: "the dog saw the dog", "what slept slept"."""
    words = [word.lower() for tag, word in LEAF.findall(tree) if tag[:2] in ("NN", "VB")]
    words = [word.removesuffix("s") for word in words if word not in AUXILIARIES]
    return len(set(words)) < len(words)


def sample(grammar: Grammar, seed: int, count: int) -> list[str]:
    """Draw trees of acceptable length, no two with the same words."""
    sampler = Sampler(grammar, seed)
    trees: dict[str, str] = {}
    while len(trees) < count:
        try:
            tree = sampler.sentence()
        except RecursionError:
            continue
        words = [word.lower() for _, word in LEAF.findall(tree)]
        if len(words) < SHORT and sampler.random.random() < 0.5:
            continue
        if len(words) in LENGTHS and not is_silly(tree):
            trees.setdefault(" ".join(words), tree)
    return list(trees.values())


@click.command()
@click.option("--grammar", type=click.Path(path_type=Path), default=DATA / "sample_grammar.txt")
@click.option("--seed", default=1, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=DATA / "sample")
def main(grammar: Path, seed: int, out: Path) -> None:
    """Write the bundled sample treebank."""
    out.mkdir(parents=True, exist_ok=True)
    known = read_grammar(grammar.read_text(encoding="utf-8"))
    trees = iter(sample(known, seed, sum(SPLITS.values())))
    for name, count in SPLITS.items():
        write_text(out / f"{name}.mrg", "".join(f"{tree}\n" for tree in islice(trees, count)))


if __name__ == "__main__":
    main()
