"""Junk d-trees through fitted routes: valid trees, which are written and read back as they are.

    python -m fuzzing.routes ROUTE SEED TREES

prints the digest of all that the route makes of so many d-trees of that seed, and what was found. Run under
two values of PYTHONHASHSEED, the digest is the same.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from itertools import islice
from operator import contains
from pathlib import Path
from random import Random
from typing import NamedTuple

from d2c.treebanks.conversion import WRITABLE
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import format_conllu, read_conllu
from d2c.trees.formats.treebanks import FORMATS, read_treebank, write_treebank
from d2c.trees.repair import Repairs
from d2c.trees.route import Route
from fuzzing.fitted import ROUTES, fit, sample, saved_and_loaded, treebank_with_gaps
from fuzzing.inputs import as_held

TAGS = ("NN", "VB", "DT", ".", "é", "$(", "-NONE-", "%%", "#500")
WORDS = """
    NP#1 NP#2 VP#1 VP#2 S#3 S#0 PP#1 X#1 NP|VP#1 S|VP#2 #1 VP#1 root root|S root|S|VP ROOT nsubj dep nmod:poss
    _ # | || % %#1 S#x S#-1 NP# NP##1 NP#999999 NP#9999999 |#1 root|#1 root|S#1 %ZZ#1 %FF#1 NP#1#2 NP#１
    root||NP acl:relcl#2 NP|NP|NP#1 S||#1 TOP#1 VROOT#1 -NONE-#1 (#1 )#1 NP#9999999999999999999 NP#+1"""
LABELS = ("", "N P#1", *WORDS.split())
FORMS = ("-LRB-", "(", "#BOS", "#500", "%%", "0=x", "a\xa0b", "&<>\"'", "=", "--", "\x01", "漢", "\u2028")
CHARACTERS = "SNVP#|%:1290 -xé"
BATCH = 500
LONG = 1_000  # every so many d-trees a sentence is long


def junk_label(rng: Random) -> str:
    """A label of some encoding, of another treebank, or nonsense."""
    if rng.random() < 0.85:
        return rng.choice(LABELS)
    return "".join(rng.choices(CHARACTERS, k=rng.randint(0, 8)))


def junk_heads(rng: Random, n: int) -> tuple[int, ...]:
    """Heads from -3 to n + 3; half of the time they form a tree, often with crossing arcs."""
    if rng.random() < 0.5:
        return tuple(rng.randint(-3, n + 3) for _ in range(n))
    order = rng.sample(range(n), n)
    heads = [0] * n
    for i, m in enumerate(order[1:], 1):
        heads[m] = order[rng.randrange(i)] + 1
    return tuple(heads)


def junk_dtree(rng: Random, n: int = 0) -> DTree:
    """A d-tree of n tokens, otherwise 1 to 12, with junk heads and labels, words and tags."""
    n = n or rng.randint(1, 12)
    forms = [rng.choice(FORMS) if rng.random() < 0.02 else f"w{i}" for i in range(n)]
    tokens = Tokens(tuple(forms), tuple(rng.choices(TAGS, (9, 9, 9, 9, 3, 1, 1, 1, 1), k=n)))
    labels = tuple(junk_label(rng) for _ in range(n)) if rng.random() < 0.98 else None
    return DTree(tokens, junk_heads(rng, n), labels=labels)


def junk_dtrees(rng: Random, count: int) -> Iterator[DTree]:
    """So many; every thousandth has hundreds of tokens."""
    for number in range(1, count + 1):
        yield junk_dtree(rng, 0 if number % LONG else rng.randint(100, 400))


def check(ctree: CTree, tokens: Tokens, symbols: frozenset[str] | None = None) -> None:
    """Asserts that this is a tree over these tokens, of these symbols."""
    assert ctree.tokens == tokens, "other tokens"
    heads = ctree.head_children
    assert build_ctree(tokens, ctree.labels, ctree.children, ctree.root, heads, ctree.top) == ctree, "no tree"
    assert all(max(kids) < node for node, kids in enumerate(ctree.children, len(tokens))), "not bottom-up"
    assert heads is None or all(map(contains, ctree.children, heads)), "heads"
    assert symbols is None or symbols.issuperset(ctree.labels), "unknown symbols"


class Found(NamedTuple):
    """What came of junk d-trees: a digest of all c-trees, counts, and what must not be."""

    digest: str
    trees: int
    refused: int
    repairs: Counter[str]
    faults: list[str]


class Checked:
    """What came of d-trees: a digest of all trees, and counts."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.digest = hashlib.sha256()
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []

    def add(
        self, dtrees: list[DTree], ctrees: list[CTree], symbols: frozenset[str], continuous: bool
    ) -> None:
        """Checks a batch; its trees are written and read back in the next of all formats."""
        for dtree, ctree in zip(dtrees, ctrees, strict=True):
            check(ctree, dtree.tokens, symbols)
            assert not continuous or ctree.is_continuous(), "gaps"
            self.digest.update(repr((ctree.tokens.forms, ctree.labels, ctree.children, ctree.top)).encode())
        self.counts["trees"] += len(ctrees)
        self.counts["tokens"] += sum(len(dtree.tokens) for dtree in dtrees)
        formats = [name for name in WRITABLE if continuous or "gaps" in FORMATS[name].holds]
        self._read_back(ctrees, formats[self.counts["batches"] % len(formats)])
        self.counts["batches"] += 1

    def _read_back(self, ctrees: list[CTree], format_name: str) -> None:
        write = FORMATS[format_name].write
        assert write is not None
        held: list[CTree] = []
        for ctree in ctrees:
            try:
                write([ctree], StringIO())
            except ValueError as error:
                assert len(str(error).splitlines()) == 1, "an error of several lines"
                self.counts["refused"] += 1
            else:
                held.append(ctree)
        try:
            self._same(held, format_name)
        except (AssertionError, ValueError):
            for ctree in held:  # one of them is not read back as it is
                try:
                    self._same([ctree], format_name)
                except (AssertionError, ValueError) as fault:
                    self.faults.append(f"{fault}: as {format_name}, {ctree}")

    def _same(self, ctrees: list[CTree], format_name: str) -> None:
        path = self.directory / "x"
        with open(path, "w", encoding="utf-8") as stream:
            write_treebank(ctrees, format_name, stream, "junk")
        for ctree, other in zip(ctrees, read_treebank(path, format_name), strict=True):
            assert as_held(ctree, format_name) == other, f"is {other}"


def decode_junk(route: Route, seed: int, count: int, symbols: frozenset[str], checked: Checked) -> Repairs:
    """Decodes so many junk d-trees, the same with the same seed, in batches, and checks every tree."""
    repairs, rng = Repairs(), Random(seed)
    stream = junk_dtrees(rng, count)
    while batch := [*islice(stream, BATCH)]:
        ctrees = [*route.decode_all(batch, repairs)]
        checked.add(batch, ctrees, symbols, not route.gaps_)
    return repairs


def read_back_dtrees(dtrees: list[DTree], directory: Path) -> None:
    """Asserts that d-trees which CoNLL-U can hold come back from it."""
    held = []
    path = directory / "x.conllu"
    with open(path, "w", encoding="utf-8") as stream:
        for dtree in dtrees:
            try:
                stream.write(format_conllu(dtree))
                held.append(dtree)
            except ValueError:
                continue
    for dtree, other in zip(held, read_conllu(path), strict=True):
        heads = tuple(max(-1, head) for head in dtree.heads)
        assert (dtree.tokens.forms, heads) == (other.tokens.forms, other.heads), f"{dtree} is {other}"


def try_route(name: str, seed: int, count: int, directory: Path) -> Found:
    """Fits a route on a treebank without and on one with gaps, and tries half of the d-trees on each."""
    checked, repairs = Checked(directory), Repairs()
    for number, treebank in enumerate((sample(), treebank_with_gaps())):
        route = saved_and_loaded(ROUTES[name], fit(ROUTES[name], treebank), directory / f"{number}")
        symbols = frozenset(label for ctree in treebank for label in ctree.labels)
        repairs.add(decode_junk(route, seed + number, (count + number) // 2, symbols, checked))
    read_back_dtrees([*junk_dtrees(Random(seed), min(count, 1000))], directory)
    counts = checked.counts
    return Found(
        checked.digest.hexdigest(), counts["trees"], counts["refused"], repairs.counts, checked.faults
    )


def main(name: str, seed: int, count: int) -> None:
    """Prints what `try_route` finds."""
    with tempfile.TemporaryDirectory() as scratch:
        print(json.dumps(try_route(name, seed, count, Path(scratch))._asdict()))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
