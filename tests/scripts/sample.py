"""The bundled sample as trees of its generator, and what tests ask of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "data" / "sample"
GRAMMAR = (ROOT / "data" / "sample_grammar.txt").read_text(encoding="utf-8")
SIZES = {"train": 2000, "dev": 300, "test": 300}


@dataclass(frozen=True)
class Tree:
    """A leaf has a word, an inner node has children."""

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


def parse(line: str) -> Tree:
    """Read one bracketed tree; fails on anything but exactly one well-formed tree."""
    stack: list[list] = [[]]
    tokens = re.findall(r"[()]|[^\s()]+", line)
    for before, token in zip(["", *tokens], tokens, strict=False):
        if token == "(":
            stack.append([])
        elif token == ")":
            label, *rest = stack.pop()
            assert rest, f"empty node in {line}"
            leaf = isinstance(rest[0], str)
            assert not leaf or len(rest) == 1, f"two words under one tag in {line}"
            stack[-1].append(Tree(label, (), rest[0]) if leaf else Tree(label, tuple(rest)))
        else:
            assert before not in ")", f"a word outside its tag in {line}"
            stack[-1].append(token)
    ((tree,),) = stack
    return tree


TREES = {name: [parse(line) for line in (SAMPLE / f"{name}.mrg").open(encoding="utf-8")] for name in SIZES}
ALL = [tree for trees in TREES.values() for tree in trees]


def words(tree: Tree) -> list[str]:
    return [leaf.word for leaf in tree.leaves()]


def tags(tree: Tree) -> list[str]:
    return [leaf.label for leaf in tree.leaves()]


def nodes(tree: Tree) -> Iterator[Tree]:
    """All inner nodes, the root first."""
    if not tree.word:
        yield tree
        for child in tree.children:
            yield from nodes(child)


def shape(tree: Tree) -> list[str]:
    """The labels of the children."""
    return [child.label for child in tree.children]


def rule(tree: Tree) -> str:
    return f"{tree.label} -> {' '.join(shape(tree))}"
