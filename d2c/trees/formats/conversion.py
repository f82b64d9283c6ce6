"""From one treebank format to another, and what is left out on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from d2c.base.counting import many
from d2c.base.errors import FormatError, Refusals, each_located
from d2c.base.files import file_name
from d2c.base.inputs import Paths, of_each
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import comment_of, read_conllu
from d2c.trees.formats.format import Attribute, Format
from d2c.trees.formats.pairs import check_words, side_by_side
from d2c.trees.formats.reading import Reading
from d2c.trees.formats.registry import FORMATS, Place, format_to_write, write_treebank
from d2c.trees.heads import induce_heads

_BRACKETS, _BLANKS = frozenset("()"), frozenset(" \t\r\n")


def convert_treebank(
    reading: Reading,
    sources: tuple[Path, ...],
    target: Path,
    stream: TextIO,
    target_format: str | None,
    heads: Path | None,
) -> list[str]:
    """Write the trees of `sources` in the format of `target`, with the heads that a CoNLL-U file induces
    over the only one of them.

    Return what was left out: what c-trees do not keep, and what the format does not hold.
    Raises FormatError for what cannot be read, or not be held by the format: a format that d2c only reads,
    gaps in brackets, words that the export format takes for something else.
    """
    form = FORMATS[target_format or format_to_write(target)]
    if heads and "heads" not in form.holds:
        raise FormatError(str(target), 0, 0, f"the format {form.name} marks no heads")
    left_out, lost, place = Counter[Attribute](), set[str](), Place("")

    def converted(source: Path) -> Iterator[CTree]:
        refusals = Refusals(reading.faults)
        place.file, place.refusals, place.sentence = source, refusals, 0
        trees = reading.read(source, refusals, left_out)
        given = with_heads(trees, source, heads) if heads else trees
        transformed = reading.transformed(given, source, refusals)
        return refusals.over(each_located(held, transformed, file_name(source), refusals))

    def held(ctree: CTree) -> CTree:
        lost.update(not_held(ctree, form))
        if "gaps" not in form.holds and not ctree.is_continuous():
            raise ValueError("a tree with gaps, which brackets cannot hold; see --continuous")
        return ctree

    write_treebank(of_each(converted)(sources), form.name, stream, place)
    edges = left_out.pop("secondary edges", 0)
    lost.update(name for name, count in left_out.items() if count)
    return [*([many(edges, "secondary edge")] if edges else []), *sorted(lost)]


def not_held(ctree: CTree, form: Format[CTree]) -> Iterator[str]:
    """Yield what a format cannot hold of a tree, but for gaps.

    Where it holds no blanks, no-break spaces stand for them; for round brackets in tags -LRB- and -RRB-.
    """
    tokens, holds = ctree.tokens, form.holds
    if tokens.lemmas and "lemmas" not in holds:
        yield "lemmas"
    if tokens.morphs and "morphology" not in holds:
        yield "morphology"
    if "comments" not in holds and any(not comment_of([one], "sent_id") for one in tokens.comments):
        yield "comments"  # ids of sentences are none: treebanks number these by themselves
    if "brackets" not in holds and not _BRACKETS.isdisjoint("".join(tokens.tags)):
        yield "round brackets in tags"
    if "blanks" not in holds:
        columns = {"words": tokens.forms, "tags": tokens.tags, "labels": ctree.labels}
        if "lemmas" in holds and tokens.lemmas:
            columns["lemmas"] = tokens.lemmas
        if "morphology" in holds and tokens.morphs:
            columns["morphology"] = tokens.morphs
        for name, column in columns.items():
            if not _BLANKS.isdisjoint("".join(column)):
                yield f"blanks in {name}"


def with_heads(ctrees: Iterable[CTree], files: Paths, conllu: Path) -> Iterator[CTree]:
    """Yield the c-trees of files with head children by the d-trees of a CoNLL-U file. Raises FormatError."""

    def headed(pair: tuple[CTree, DTree]) -> CTree:
        ctree, dtree = pair
        check_words(ctree, dtree)
        return induce_heads(ctree, dtree.heads)

    pairs = side_by_side((files, ctrees), (conllu, read_conllu(conllu)))
    return each_located(headed, pairs, file_name(conllu))
