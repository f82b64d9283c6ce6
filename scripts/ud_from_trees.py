"""Universal Dependencies by rules against gold d-trees: GUM's silver c-trees, and those of d2c's models.

    python scripts/ud_from_trees.py [--models en,en-small] [--part dev]

A line for each kind of c-trees: `silver` are without function tags; `functions` have the function tags that
were projected from the gold d-trees, so they are an upper bound; then those that models find for the gold
words. For comparison, `heads: TABLE` are heads by a table alone, with the relation that is most frequent in
the other part for the labels of child and parent and the child's side. UAS and LAS leave out punctuation,
except under `all`; `core` cuts relations at the colon. Then the 15 most frequent confusions of the first
line. Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import click

import d2c
from benchmarks.shared import Line, names_option, print_table, say
from d2c.trees.conversion import to_dependencies
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.formats.registry import read_treebank
from d2c.trees.heads import load_head_rules
from d2c.trees.scores.attachment import attachment_scores
from d2c.trees.scores.matches import percent
from d2c.trees.universal.conversion import to_universal
from treebanks.files import folder
from treebanks.silver import gold_of

FILES = {"dev": ("gum-dev",), "train": ("gum-free-train", "gum-nc-train")}
HEADER = ("c-trees", "UAS", "LAS", "UAS, all", "LAS, all", "LAS, core", "UPOS")
TABLES = ("collins", "universal")
MOST = 15  # confusions shown


@click.command()
@click.option("--part", type=click.Choice([*FILES]), default="dev", show_default=True)
@names_option("--models", ["en", "en-small"], "en,en-small")
def main(part: str, models: list[str]) -> None:
    """Print a table of scores, and the most frequent confusions."""
    gold = list(chain.from_iterable(map(read_conllu, map(gold_of, files(part)))))
    silver = list(trees(part, clean=True))
    guesses: dict[str, list[DTree]] = {"silver": [*map(to_universal, silver)]}
    guesses["functions"] = [to_universal(ctree) for ctree in trees(part, clean=False)]
    for name in models:
        say(f"parsing with {name}")
        document = d2c.load(name).parse_tokens([list(dtree.tokens.forms) for dtree in gold])
        guesses[name] = [to_universal(sentence.tree.ctree) for sentence in document.sentences]
    frequent = frequent_relations("dev" if part == "train" else "train")
    for table in TABLES:
        guesses[f"heads: {table}"] = [by_table(ctree, table, frequent) for ctree in silver]
    print_table(HEADER, [line(name, gold, dtrees) for name, dtrees in guesses.items()])
    print()
    print_table(("gold", "rules", "head", "words"), confusions(gold, guesses["silver"]))


def files(part: str) -> list[Path]:
    """Return the files of silver trees of a part."""
    return [folder() / f"{name}.mrg.gz" for name in FILES[part]]


def trees(part: str, clean: bool) -> Iterator[CTree]:
    """Yield the silver trees of a part; clean: without function tags."""
    return chain.from_iterable(read_treebank(file, clean=clean) for file in files(part))


def line(name: str, gold: Sequence[DTree], guess: Sequence[DTree]) -> Line:
    """Return the scores of d-trees."""
    words, every = attachment_scores(gold, guess), attachment_scores(gold, guess, punctuation=True)
    core = attachment_scores(map(cut, gold), map(cut, guess))
    pairs = [pair for a, b in zip(gold, guess, strict=True) for pair in zip(upos(a), upos(b), strict=True)]
    same = percent(sum(a == b for a, b in pairs), len(pairs)) if all(b for _, b in pairs) else None
    return (name, words.uas, words.las, every.uas, every.las, core.las, same)


def cut(dtree: DTree) -> DTree:
    """Return a d-tree with its relations cut at the colon."""
    return replace(dtree, labels=tuple([label.partition(":")[0] for label in dtree.labels or ()]))


def upos(dtree: DTree) -> list[str]:
    """Return the universal tags of a d-tree, empty ones for a d-tree by a head table."""
    rows = [row.split("\t") for row in dtree.tokens.source.split("\n") if row and not row.startswith("#")]
    return [row[3] for row in rows] or [""] * len(dtree.heads)


def arcs(ctree: CTree) -> Iterator[tuple[int, tuple[str, str, bool]]]:
    """Yield each word that a node of a headed tree attaches, with node's and child's label and its side."""
    heads, n = ctree.lexical_heads(), len(ctree.tokens)
    for node, (kids, head) in enumerate(zip(ctree.children, ctree.head_children or (), strict=True)):
        for kid in kids:
            if kid != head:
                yield heads[kid], (ctree.label(n + node), ctree.label(kid), heads[kid] < heads[head])


def frequent_relations(part: str) -> dict[str, dict[tuple[str, str, bool], str]]:
    """Return, by head table, the relation that is most frequent for what `arcs` yields."""
    counts = {table: defaultdict[tuple[str, str, bool], Counter[str]](Counter) for table in TABLES}
    gold = chain.from_iterable(map(read_conllu, map(gold_of, files(part))))
    for ctree, dtree in zip(trees(part, clean=True), gold, strict=True):
        for table, found in counts.items():
            for word, key in arcs(load_head_rules(table).apply(ctree)):
                found[key][(dtree.labels or ())[word]] += 1
    return {
        table: {key: most.most_common(1)[0][0] for key, most in found.items()}
        for table, found in counts.items()
    }


def by_table(ctree: CTree, table: str, frequent: dict[str, dict[tuple[str, str, bool], str]]) -> DTree:
    """Return the d-tree of a c-tree by a head table, with the most frequent relations."""
    headed = load_head_rules(table).apply(ctree)
    labels = ["root"] * len(ctree.tokens)
    for word, key in arcs(headed):
        labels[word] = frequent[table].get(key, "dep")
    return DTree(ctree.tokens, to_dependencies(headed).heads, labels=tuple(labels))


def confusions(gold: Iterable[DTree], guess: Iterable[DTree]) -> list[Line]:
    """Return the relations most often confused, without punctuation, and whether the head is right."""
    counts = Counter[tuple[str, str, str]]()
    for a, b in zip(gold, guess, strict=True):
        for one, other, head, found in zip(a.labels or (), b.labels or (), a.heads, b.heads, strict=True):
            if (one, head) != (other, found) and one != "punct":
                counts[one, other, "right" if head == found else "wrong"] += 1
    return [(*names, number) for names, number in counts.most_common(MOST)]


if __name__ == "__main__":
    main()
