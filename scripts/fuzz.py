"""Junk through the decoders and the readers: valid trees and one-line errors, never anything else.

    python scripts/fuzz.py [--trees 100000] [--files 1000] [--seed 1]

Decodes so many random d-trees under each encoding, then reads so many corrupted bracket and CoNLL-U files.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from random import Random

import click

from d2c.reduction.encodings import ENCODINGS
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree, Tokens, build_ctree
from d2c.trees.dtree import DTree
from d2c.trees.errors import FormatError
from d2c.trees.formats.brackets import read_brackets
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.repair import Repairs
from measuring.timing import timed

TAGS = ("NN", "VB", "DT", ".", "", "é")
SYMBOLS = ("S", "NP", "VP", "PP")
WORDS = """
    NP#1 NP#2 VP#1 VP#2 S#3 S#0 PP#1 X#1 NP|VP#1 S|VP#2 #1 VP#1 root root|S root|S|VP ROOT nsubj dep nmod:poss
    _ # | || % %#1 S#x S#-1 NP# NP##1 NP#999999 NP#9999999 |#1 root|#1 root|S#1 %ZZ#1 %FF#1 NP#1#2 NP#１
    acl:relcl#2"""
LABELS = ("", "N P#1", *WORDS.split())
CHARACTERS = "SNVP#|%:1290 -xé"

BRACKETS = """\
( (S (NP-SBJ (PRP They)) (VP (VBD slept)) (. .)) )
(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks))
  (. !)))

(ROOT (FRAG (NN né) (-LRB- -LRB-) (NN x) (-RRB- -RRB-)))
(NN bare)
"""
CONLLU = """\
# sent_id = 1
1\tThey\tthey\tPRP\tPRP\t_\t2\tNP#1\t_\t_
2\tslept\tsleep\tVBD\tVBD\tTense=Past\t0\troot\t_\t_
3\t.\t.\t.\t.\t_\t2\tS#1\t_\t_

1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\t_\tIN\t_\t_\t0\troot\t_\t_
2\tlé\t_\tDT\t_\t_\t1\tPP#1\t_\t_
2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_

"""


def junk_label(rng: Random) -> str:
    """A label of some encoding, of another treebank, or nonsense."""
    if rng.random() < 0.8:
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


def junk_dtree(rng: Random) -> DTree:
    """A d-tree of 1 to 12 tokens with junk heads and labels."""
    n = rng.randint(1, 12)
    tokens = Tokens(tuple(f"w{i}" for i in range(n)), tuple(rng.choice(TAGS) for _ in range(n)))
    labels = tuple(junk_label(rng) for _ in range(n)) if rng.random() < 0.98 else None
    return DTree(tokens, junk_heads(rng, n), labels=labels)


def check(
    ctree: CTree, tokens: Tokens, continuous: bool | None, symbols: frozenset[str] | None = None
) -> None:
    """Asserts that this is a tree over these tokens, and as asked."""
    assert ctree.tokens == tokens
    assert build_ctree(tokens, ctree.labels, ctree.children, ctree.root, ctree.head_children) is not None
    assert ctree.head_children is not None
    assert all(head in kids for head, kids in zip(ctree.head_children, ctree.children, strict=True))
    assert all(max(kids) < node for node, kids in enumerate(ctree.children, len(tokens)))
    assert not continuous or ctree.is_continuous()
    assert symbols is None or symbols.issuperset(ctree.labels)


def junk_routes(encoding: str) -> Iterator[Reduction]:
    """Routes for trees with and without gaps, of any symbols and of a few."""
    for continuous, fitted in product((True, False), (True, False)):
        route = Reduction(encoding, continuous=continuous)
        if fitted:
            route.symbols_ = frozenset(SYMBOLS)
            route.default_symbols_ = {"NN": "NP", "VB": "VP", "": "S"}
        yield route


def decode_junk(rng: Random, encoding: str, trees: int) -> Repairs:
    """Decodes so many junk d-trees and checks every result."""
    repairs, routes = Repairs(), list(junk_routes(encoding))
    for i in range(trees):
        route, dtree = routes[i % len(routes)], junk_dtree(rng)
        check(route.decode(dtree, repairs), dtree.tokens, route.continuous, route.symbols_)
    return repairs


def corrupt(rng: Random, text: bytes) -> bytes:
    """The text after one to four edits: bytes or characters changed, deleted, added, runs copied or cut."""
    for _ in range(rng.randint(1, 4)):
        i, k = rng.randrange(len(text) + 1), rng.randint(1, 6)
        new = rng.choice(
            [b"(", b")", b" ", b"\n", b"\t", b"\r", b"#", b"0", b"-", b"_", b"\0", b"\xff", "é".encode()]
        )
        match rng.randrange(5):
            case 0:
                text = text[:i] + new + text[i + 1 :]
            case 1:
                text = text[:i] + text[i + k :]
            case 2:
                text = text[:i] + new + text[i:]
            case 3:
                text = text[:i] + text[i : i + 4 * k] * 2 + text[i + 4 * k :]
            case _:
                text = text[:i] + bytes([rng.randrange(256)]) + text[i:]
    return text[: rng.randrange(len(text) + 1)] if rng.random() < 0.1 else text


def read_junk(rng: Random, directory: Path, files: int) -> Counter[str]:
    """Reads so many corrupted files of both formats; any error but FormatError is raised."""
    counts: Counter[str] = Counter()
    for i in range(files):
        brackets = i % 2 == 0
        path = directory / ("junk.mrg" if brackets else "junk.conllu")
        path.write_bytes(corrupt(rng, (BRACKETS if brackets else CONLLU).encode()))
        try:
            if brackets:
                for ctree in read_brackets(path, clean=bool(rng.randrange(2))):
                    build_ctree(ctree.tokens, ctree.labels, ctree.children, ctree.root)
            else:
                assert all(len(d.tokens) == len(d.heads) == len(d.labels or ()) for d in read_conllu(path))
            counts["read"] += 1
        except FormatError as error:
            assert str(error).startswith(str(path)) and len(str(error).splitlines()) == 1, str(error)
            counts["refused"] += 1
    return counts


@click.command()
@click.option("--trees", default=100_000, show_default=True, help="d-trees for each encoding.")
@click.option("--files", default=1_000, show_default=True, help="Corrupted files.")
@click.option("--seed", default=1, show_default=True)
def main(trees: int, files: int, seed: int) -> None:
    """Decodes random d-trees and reads corrupted files."""
    rng = Random(seed)
    for encoding in ENCODINGS:
        repairs, seconds = timed(decode_junk, rng, encoding, trees)
        click.echo(
            f"{encoding:<7}{repairs.sentences:>9,} trees, {repairs.tokens:,} tokens, "
            f"{repairs.counts.total():,} repairs, {seconds:.1f} s: all valid"
        )
    with tempfile.TemporaryDirectory() as directory:
        counts, seconds = timed(read_junk, rng, Path(directory), files)
    click.echo(f"{files:,} files: {counts['read']:,} read, {counts['refused']:,} refused, {seconds:.1f} s")


if __name__ == "__main__":
    main()
