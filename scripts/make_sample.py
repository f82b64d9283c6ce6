"""Write the bundled sample treebank: sample trees from the lexicalised grammar in ``data/sample_grammar.txt``.

The grammar is a weighted context-free grammar whose symbols carry arguments, ``NP(flat, Noun, Num)``. A capitalised
argument is a variable: it takes its value from the caller, from the relations after ``where``, or from the set
of its own name, and has one value throughout a rule. Agreement and selection are thus tables in the grammar file and
this program knows none of them. Sampling goes top-down: choose a rule by weight, choose one solution of its
constraints by weight, expand its items from left to right.

    python scripts/make_sample.py --seed 1 --out data/sample
"""

from __future__ import annotations

import argparse
import os
import random
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPLITS = {"train": 2000, "dev": 300, "test": 300}
LENGTHS = range(4, 26)
MAX_DEPTH = 40  # of nested expansions: deeper means a runaway recursion, never a short sentence
ZIPF = 0.7  # the weight of a class's k-th word is k ** -ZIPF

Binding = dict[str, str]  # values of a rule's variables


class GrammarError(ValueError):
    """A mistake in the grammar file, or a symbol that no rule can expand."""


class Rejected(Exception):
    """The sentence being sampled grew too deep."""


@dataclass(frozen=True)
class Tree:
    """A tree to be written: a leaf has a word, an inner node has children."""

    label: str
    children: tuple[Tree, ...] = ()
    word: str = ""

    def __str__(self) -> str:
        return f"({self.label} {self.word or ' '.join(map(str, self.children))})"

    def leaves(self) -> Iterator[Tree]:
        """The leaves from left to right."""
        if self.word:
            yield self
        for child in self.children:
            yield from child.leaves()


@dataclass(frozen=True)
class Item:
    """One item of a rule's right-hand side.

    ``call``: expand name(args); ``word``: a word of class args[0] under the tag ``name``;
    ``leaf``: the word args[0] under the tag ``name``; ``node``: a node written out, with items of its own.
    """

    kind: str
    name: str
    args: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()

    def variables(self) -> Iterator[str]:
        """The variables mentioned, in order."""
        if self.kind in ("call", "word"):
            yield from filter(is_variable, self.args)
        for item in self.items:
            yield from item.variables()


@dataclass(frozen=True)
class Constraint:
    """``name(args)`` or ``not name(args)`` after ``where``."""

    name: str
    args: tuple[str, ...]
    negated: bool


@dataclass(frozen=True)
class Rule:
    """``weight  head(args) -> items where constraints``, with its line in the grammar file."""

    line: int
    weight: float
    head: str
    args: tuple[str, ...]
    items: tuple[Item, ...]
    constraints: tuple[Constraint, ...]


@dataclass
class Grammar:
    """What the grammar file says."""

    words: dict[str, list[str]] = field(default_factory=dict)  # class -> entries, most frequent first
    relations: dict[str, list[tuple[tuple[str, ...], float]]] = field(default_factory=dict)  # name -> (row, weight)
    rules: dict[str, list[Rule]] = field(default_factory=dict)  # symbol -> alternatives
    once: list[str] = field(default_factory=list)  # sets whose variable has one value per sentence


def is_variable(argument: str) -> bool:
    """Variables are capitalised, ``_`` matches anything and binds nothing."""
    return argument[0].isupper()


# Reading the grammar file --------------------------------------------------------------------------------------------


def read_grammar(path: Path) -> Grammar:
    """Read a grammar file; its opening comment documents the notation."""
    grammar = Grammar()
    for number, head, body in blocks(path):
        keyword, _, rest = head.partition(" ")
        name, _, arguments = rest.replace("(", " ", 1).replace(")", "").strip(":").partition(" ")
        if keyword == "words":
            grammar.words[name.strip(":")] = " ".join([arguments, *(text for _, text in body)]).split()
        elif keyword in ("set", "once"):
            members = [row for entry in arguments.split() for row in expand_row(grammar, entry.replace("*", " *"))]
            grammar.relations[name.strip(":")] = members
            if keyword == "once":
                grammar.once.append(name.strip(":"))
        elif keyword == "relation":
            grammar.relations[name] = [row for _, text in body for row in expand_row(grammar, text)]
        elif keyword == "rule":
            for line, text in body:
                rule = read_rule(line, name, split_arguments(arguments), text)
                grammar.rules.setdefault(name, []).append(rule)
        else:
            raise GrammarError(f"{path}, line {number}: expected words, set, once, relation or rule, not {keyword!r}")
    check(grammar, path)
    return grammar


def blocks(path: Path) -> Iterator[tuple[int, str, list[tuple[int, str]]]]:
    """Unindented lines with the indented lines below them; lines indented by 8 or more continue the one before."""
    block: tuple[int, str, list[tuple[int, str]]] | None = None
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = re.sub(r"(^|\s)#.*", "", raw).rstrip()
        indent = len(line) - len(line.lstrip())
        if not line:
            continue
        if indent == 0:
            if block:
                yield block
            block = (number, line, [])
        elif block is None:
            raise GrammarError(f"{path}, line {number}: an indented line that belongs to nothing")
        elif indent >= 8 and block[2]:
            block[2][-1] = (block[2][-1][0], f"{block[2][-1][1]} {line.strip()}")
        else:
            block[2].append((number, line.strip()))
    if block:
        yield block


def expand_row(grammar: Grammar, text: str) -> list[tuple[tuple[str, ...], float]]:
    """A row stands for the product of its cells; ``a|b`` and names of sets are alternatives that share the weight."""
    *cells, last = text.split()
    weight = float(last[1:]) if last.startswith("*") else 1.0
    rows: list[tuple[tuple[str, ...], float]] = [((), weight)]
    for cell in cells if last.startswith("*") else [*cells, last]:
        options: list[tuple[str, float]] = []
        for name in cell.split("|"):
            options += [(row[0], share) for row, share in grammar.relations.get(name, [((name,), 1.0)])]
        total = sum(share for _, share in options)
        rows = [((*row, value), old * share / total) for row, old in rows for value, share in options]
    return rows


def read_rule(line: int, head: str, args: tuple[str, ...], text: str) -> Rule:
    """Read ``weight items where constraints``; the single item ``-`` stands for nothing."""
    weight, body = text.split(maxsplit=1)
    right, _, where = body.partition(" where ")
    items: list[list[Item]] = [[]]
    labels: list[str] = []
    tokens = re.findall(r"[\w$]+\([^()]*\)|[\w$]+<\w+>|[()]|[^\s()]+", right)
    for index, token in enumerate(tokens):
        if token == "(":
            items.append([])
        elif token == ")":
            children, label = items.pop(), labels.pop()
            bare = len(children) == 1 and children[0].kind == "bare"
            leaf = Item("leaf", label, (children[0].name,)) if bare else Item("node", label, (), tuple(children))
            items[-1].append(leaf)
        elif index and tokens[index - 1] == "(":
            labels.append(token)
        elif match := re.fullmatch(r"([\w$]+)\((.*)\)", token):
            items[-1].append(Item("call", match[1], split_arguments(match[2])))
        elif match := re.fullmatch(r"([\w$]+)<(\w+)>", token):
            items[-1].append(Item("word", match[1], (match[2],)))
        elif token != "-" or labels:
            items[-1].append(Item("bare", token))
    constraints = tuple(
        Constraint(name, split_arguments(inside), bool(negated))
        for negated, name, inside in re.findall(r"(not )?(\w+)\(([^()]*)\)", where)
    )
    return Rule(line, float(weight), head, args, tuple(items[0]), constraints)


def split_arguments(text: str) -> tuple[str, ...]:
    """``"a, b"`` to ``("a", "b")``."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def check(grammar: Grammar, path: Path) -> None:
    """Every symbol, word class and relation that a rule mentions must exist."""

    def names(items: tuple[Item, ...]) -> Iterator[tuple[bool, str]]:
        for item in items:
            if item.kind == "call":
                yield any(len(rule.args) == len(item.args) for rule in grammar.rules.get(item.name, [])), item.name
            elif item.kind == "word":
                yield is_variable(item.args[0]) or item.args[0] in grammar.words, f"{item.name}<{item.args[0]}>"
            elif item.kind == "bare":
                yield False, item.name
            yield from names(item.items)

    for rule in (rule for rules in grammar.rules.values() for rule in rules):
        known = [(constraint.name in grammar.relations, constraint.name) for constraint in rule.constraints]
        for found, name in [*known, *names(rule.items)]:
            if not found:
                raise GrammarError(f"{path}, line {rule.line}: {name} is not defined with these arguments")


# Sampling ------------------------------------------------------------------------------------------------------------


class Sampler:
    """Draws trees from a grammar; the seed alone decides which."""

    def __init__(self, grammar: Grammar, seed: int) -> None:
        self.grammar = grammar
        self.random = random.Random(seed)
        self.globals: Binding = {}
        self.solutions = cache(self._solutions)

    def sentence(self) -> Tree:
        """Draw one tree with the root ``TOP``, capitalised, with a or an."""
        self.globals = {name.capitalize(): self.from_set(name) for name in self.grammar.once}
        (tree,) = self.expand("TOP", (), 0)
        return spell(tree)

    def expand(self, symbol: str, args: tuple[str, ...], depth: int) -> list[Tree]:
        """Expand a call into one node, or into several if the symbol is a helper (written in lower case)."""
        if depth > MAX_DEPTH:
            raise Rejected
        options = self.solutions(symbol, args, tuple(self.globals.items()))
        rule, bindings = self.choose([((r, b), r.weight) for r, b in options])
        binding = dict(self.choose(bindings)) if bindings else {}
        for variable in (variable for item in rule.items for variable in item.variables()):
            if variable not in binding:
                binding[variable] = self.from_set(variable.rstrip("0123456789").lower())
        trees = [tree for item in rule.items for tree in self.realise(item, binding, depth)]
        return trees if symbol.islower() else [Tree(symbol, tuple(trees))]

    def realise(self, item: Item, binding: Binding, depth: int) -> list[Tree]:
        """Turn one item of a rule into trees."""
        values = tuple(binding.get(argument, argument) for argument in item.args)
        if item.kind == "call":
            return self.expand(item.name, values, depth + 1)
        if item.kind == "leaf":
            return [Tree(item.name, word=values[0])]
        if item.kind == "word":
            entries = self.grammar.words[values[0]]
            entry = self.choose([(entry, rank**-ZIPF) for rank, entry in enumerate(entries, 1)])
            return [Tree(item.name, word=inflect(entry, item.name))]
        return [Tree(item.name, tuple(tree for child in item.items for tree in self.realise(child, binding, depth)))]

    def _solutions(
        self, symbol: str, args: tuple[str, ...], fixed: tuple[tuple[str, str], ...]
    ) -> list[tuple[Rule, list[tuple[Binding, float]]]]:
        """The rules that fit a call, each with all weighted values of its variables."""
        found = []
        for rule in self.grammar.rules[symbol]:
            start = match(rule.args, args, dict(fixed))
            bindings = [] if start is None else [(start, 1.0)]
            for constraint in rule.constraints:
                bindings = [pair for old in bindings for pair in self.satisfy(constraint, *old)]
            if bindings:
                found.append((rule, bindings))
        if not found:
            raise GrammarError(f"no rule expands {symbol}({', '.join(args)})")
        return found

    def satisfy(self, constraint: Constraint, binding: Binding, weight: float) -> list[tuple[Binding, float]]:
        """The extensions of a binding that make a constraint true; negation is failure to find any."""
        rows = self.grammar.relations[constraint.name]
        hits = [(new, weight * w) for row, w in rows if (new := match(constraint.args, row, binding)) is not None]
        return ([] if hits else [(binding, weight)]) if constraint.negated else hits

    def from_set(self, name: str) -> str:
        """Draw a member of a set."""
        if name not in self.grammar.relations:
            raise GrammarError(f"variable {name.capitalize()} is bound by nothing and there is no set of that name")
        return self.choose([(row[0], weight) for row, weight in self.grammar.relations[name]])

    def choose[T](self, options: list[tuple[T, float]]) -> T:
        """Draw one of several weighted options."""
        return self.random.choices([option for option, _ in options], [weight for _, weight in options])[0]


def match(pattern: tuple[str, ...], values: tuple[str, ...], binding: Binding) -> Binding | None:
    """The binding under which a pattern equals the values, or None."""
    if len(pattern) != len(values):
        return None
    result = dict(binding)
    for argument, value in zip(pattern, values, strict=True):
        if argument == "_":
            continue
        if (result.setdefault(argument, value) if is_variable(argument) else argument) != value:
            return None
    return result


# Spelling ------------------------------------------------------------------------------------------------------------


def inflect(entry: str, tag: str) -> str:
    """The form of a lexicon entry under a tag: ``noun/plural``, ``verb/past/participle/gerund``; regular ones bare."""
    base, *irregular = entry.split("/")
    column = {"NNS": 0, "VBD": 0, "VBN": 1, "VBG": 2}.get(tag)
    if column is not None and column < len(irregular):
        return irregular[column]
    if tag in ("NNS", "VBZ"):
        if re.search(r"[^aeiou]y$", base):
            return base[:-1] + "ies"
        return base + ("es" if re.search(r"(s|x|ch|sh)$", base) else "s")
    if tag in ("VBD", "VBN"):
        return re.sub(r"([^aeiou])y$", r"\1i", base.removesuffix("e")) + "ed"
    if tag == "VBG":
        return (base if base.endswith("ee") else base.removesuffix("e")) + "ing"
    return base


def spell(tree: Tree) -> Tree:
    """Capitalise the first word and write "an" before a vowel."""
    words = [leaf.word for leaf in tree.leaves()]
    for index, word in enumerate(words[:-1]):
        if word == "a" and words[index + 1][0].lower() in "aeiou":
            words[index] = "an"
    first = next((index for index, word in enumerate(words) if word[0].isalnum()), 0)
    words[first] = words[first][0].upper() + words[first][1:]
    remaining = iter(words)

    def respell(node: Tree) -> Tree:
        if node.word:
            return Tree(node.label, word=next(remaining))
        return Tree(node.label, tuple(respell(child) for child in node.children))

    return respell(tree)


# Writing -------------------------------------------------------------------------------------------------------------


def sample(grammar: Grammar, seed: int, count: int) -> list[Tree]:
    """Draw trees of acceptable length, no two with the same words."""
    sampler = Sampler(grammar, seed)
    seen: set[str] = set()
    trees: list[Tree] = []
    while len(trees) < count:
        try:
            tree = sampler.sentence()
        except Rejected:
            continue
        words = [leaf.word for leaf in tree.leaves()]
        text = " ".join(words).lower()
        # "washed and washed the plates" and "the dog saw the dog" are grammatical and silly
        nouns = [leaf.word for leaf in tree.leaves() if leaf.label in ("NN", "NNS", "NNP") or leaf.label[0] == "V"]
        if len(words) in LENGTHS and text not in seen and len(set(nouns)) == len(nouns):
            seen.add(text)
            trees.append(tree)
    return trees


def write(path: Path, trees: list[Tree]) -> None:
    """Write one tree per line; the file appears whole or not at all."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="\n", dir=path.parent, delete=False) as file:
        file.writelines(f"{tree}\n" for tree in trees)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Write the bundled sample treebank.")
    parser.add_argument("--grammar", type=Path, default=ROOT / "data" / "sample_grammar.txt")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=ROOT / "data" / "sample")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    trees = iter(sample(read_grammar(arguments.grammar), arguments.seed, sum(SPLITS.values())))
    for name, count in SPLITS.items():
        write(arguments.out / f"{name}.mrg", [next(trees) for _ in range(count)])


if __name__ == "__main__":
    main()
