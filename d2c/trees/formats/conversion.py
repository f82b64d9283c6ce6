"""From one treebank format to another, and what is left out on the way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import compress
from pathlib import Path
from typing import TextIO

from d2c.base.errors import FormatError, Refusals, each_located
from d2c.base.files import file_name
from d2c.base.inputs import Paths, of_each
from d2c.trees.binarization import is_part
from d2c.trees.ctree import CTree, comment_of, is_failed
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import in_source, read_conllu
from d2c.trees.formats.format import OUTSIDE, Attribute, Format
from d2c.trees.formats.graphs import hidden_heads
from d2c.trees.formats.pairs import check_words, side_by_side
from d2c.trees.formats.reading import Reading
from d2c.trees.formats.registry import Place, write_treebank
from d2c.trees.heads import induce_heads
from d2c.trees.marks import head_rank

_ODD = (  # what formats without an attribute write differently: attribute, name, columns, pattern
    ("blanks", "blanks", {"words", "tags", "labels", "lemmas", "morphology"}, re.compile("[ \t\r\n]")),
    ("escapes", "brackets", {"tags", "labels"}, re.compile(r"\A[()]\Z")),
    ("escapes", "-LRB-", {"words"}, re.compile("-[LR]RB-")),
    ("escapes", "-LRB-", {"tags", "labels"}, re.compile("(?s:.)-[LR]RB-|-[LR]RB-(?s:.)")),
)
UNPARSED = "sentences that were not parsed"  # kept as trees that say so
_NONE = ("", "_", "--")  # what columns hold for words without a value
_COUNTED = {  # singular and plural of counts whose names do not show them
    "heads": ("marked head", "marked heads"),
    "morphology": ("word with morphology", "words with morphology"),
    "dependencies": ("dependency", "dependencies"),
    "enhanced dependencies": ("enhanced dependency", "enhanced dependencies"),
    "MISC": ("word with MISC", "words with MISC"),
    "morphology with blanks": ("blank in morphology", "blanks in morphology"),
    "arguments of predicates": ("argument of a predicate", "arguments of predicates"),
    "frames of predicates": ("frame of a predicate", "frames of predicates"),
    "named entities": ("named entity", "named entities"),
    "ids and texts": ("id and text", "ids and texts"),
    "tags unlike the tree's": ("tag unlike the tree's", "tags unlike the tree's"),
}


def convert_treebank(
    reading: Reading,
    sources: tuple[Path, ...],
    form: Format[CTree],
    stream: TextIO,
    heads: Path | None = None,
    watched: Callable[[Iterator[CTree]], Iterator[CTree]] = iter,
) -> Counter[str]:
    """Write the trees of `sources` in another format, if asked with the head children that a CoNLL-U file,
    `heads`, induces in the only source.

    watched: wraps the iterator over the trees before they are written, to show how far the work is

    Return counts of what was left out: what trees do not keep of files, what transforms do not keep of trees,
    and what the format does not hold; and how many sentences are UNPARSED.
    Raises FormatError for what cannot be read, and for what the format cannot hold, such as gaps in brackets
    or words that the export format takes for something else; if `strict`, for anything left out.
    """
    left_out, place, steps = Counter[str](), Place(""), reading.steps

    def converted(source: Path) -> Iterator[CTree]:
        refusals = Refusals(reading.faults)
        place.file, place.refusals, place.sentence = source, refusals, 0
        trees = reading.read(source, refusals)
        given = with_heads(trees, source, heads, reading.charset) if heads else trees
        yield from refusals.over(each_located(held, given, file_name(source), refusals))
        unread = Counter(reading.left_out[file_name(source)])
        del unread[OUTSIDE]  # no part of trees; commands report it themselves
        if reading.strict and +unread:
            message = f"trees do not keep {told_left_out(+unread)}; see --strict"
            raise FormatError(file_name(source), 0, 0, message)
        left_out.update(unread)

    def held(ctree: CTree) -> CTree:
        """Return a tree after all transforms, and count what they and the format do not keep of it."""
        lost = Counter[str]()
        for option, step in steps.items():
            had, ctree = attributes_of(ctree), step(ctree)
            gone = had - attributes_of(ctree)
            if reading.strict and gone:
                raise ValueError(f"{option} does not keep {told_left_out(gone)}; see --strict")
            lost.update({f"{name} ({option})": count for name, count in gone.items()})
        if "gaps" not in form.holds and not ctree.is_continuous():
            raise ValueError("a tree with gaps, which brackets cannot hold; see --continuous")
        unheld = Counter({name: n for name, n in attributes_of(ctree).items() if name not in form.holds})
        unheld.update(altered(ctree, form))
        if reading.strict and unheld:
            raise ValueError(f"the format {form.name} does not hold {told_left_out(unheld)}; see --strict")
        left_out.update(lost + unheld)
        left_out[UNPARSED] += is_failed(ctree.tokens)
        return ctree

    write_treebank(watched(of_each(converted)(sources)), form.name, stream, place)
    return +left_out  # without what was counted as 0


def attributes_of(ctree: CTree) -> Counter[str]:
    """Count what a tree has besides words, tags and labels, by the names of `Attribute`.

    Head children of the parts of binarized nodes, and head marks on parts, do not count: they come and go
    with these nodes.
    """
    tokens, parts = ctree.tokens, [is_part(label) for label in ctree.labels]
    marks = [not head_rank(name) for name in compress((ctree.functions or ())[len(tokens) :], parts)]
    counts: dict[Attribute, int] = {
        "heads": 0 if ctree.head_children is None else parts.count(False),
        "functions": _said(ctree.functions) - sum(marks),
        "secondary edges": len(ctree.secondary),
        "lemmas": _said(tokens.lemmas),
        "morphology": _said(tokens.morphs),
        # Ids of sentences do not count: treebanks number their sentences themselves.
        "comments": sum(not comment_of([one], "sent_id") for one in tokens.comments),
        **in_source(tokens),
    }
    return +Counter[str](counts)


def _said(column: tuple[str, ...] | None) -> int:
    return sum(value not in _NONE for value in column or ())


def altered(ctree: CTree, form: Format[CTree]) -> Counter[str]:
    """Count what a format writes differently: blanks, as no-break spaces; a tag that is a round bracket, as
    -LRB-; words -LRB-, which are read back as brackets; and head children that the functions hide."""
    tokens, holds, counts = ctree.tokens, form.holds, Counter[str]()
    if "functions" in holds and (hidden := hidden_heads(ctree)):
        counts["heads"] = hidden
    columns = {"words": tokens.forms, "tags": tokens.tags, "labels": (*ctree.labels, ctree.top or "")}
    beside = {"lemmas": tokens.lemmas, "morphology": tokens.morphs}
    columns |= {name: column for name, column in beside.items() if column and name in holds}
    for attribute, what, where, odd in _ODD:
        for name in () if attribute in holds else where & columns.keys():
            counts[f"{name} with {what}"] = sum(map(bool, map(odd.search, columns[name])))
    return +counts


def told_left_out(left_out: Counter[str]) -> str:
    """Return in words what was left out: `12 secondary edges, 1 lemma`."""
    return ", ".join(_many(count, name) for name, count in sorted(left_out.items()))


def _many(count: int, name: str) -> str:
    """Return a count with what was counted, in the singular or plural: the name is a plural or begins with a
    plural, and may end with the option that loses it, in brackets."""
    name, bracket, option = name.partition(" (")
    first, _, rest = name.partition(" ")
    one = f"{first.removesuffix('s')} {rest}" if rest.startswith("with") else name.removesuffix("s")
    one, several = _COUNTED.get(name, (one, name))
    return f"{count:,} {one if count == 1 else several}{bracket}{option}"


def with_heads(ctrees: Iterable[CTree], files: Paths, conllu: Path, charset: str | None) -> Iterator[CTree]:
    """Yield the c-trees of files with the head children that the d-trees of a CoNLL-U file induce.

    Raises FormatError.
    """

    def headed(pair: tuple[CTree, DTree]) -> CTree:
        ctree, dtree = pair
        check_words(ctree.tokens, dtree.tokens)
        return induce_heads(ctree, dtree.heads)

    pairs = side_by_side((files, ctrees), (conllu, read_conllu(conllu, charset=charset)))
    return each_located(headed, pairs, file_name(conllu))
