"""From every format to every other: what both can hold is equal, and what is lost is named and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.base.errors import FormatError
from d2c.trees.ctree import CTree, Tokens, canonical, comment_of
from d2c.trees.formats.conversion import convert_treebank, told_left_out
from d2c.trees.formats.reading import Reading
from d2c.trees.formats.registry import FORMATS, WRITABLE
from tests.strategies import ctrees

FUNCTIONS = ("", "", "SB", "HD", "hd", "NK", "MO-HD", "cnj")
WORDS = ("x", "Ann", "(", "-LRB-", "a b", "*T*-1", "0", "a-b", "$(", "5")
TAGS = ("NN", "(", "$(", "a-LRB-", "NE-SB", "-NONE-", "-LRB-", "V V")
LABELS = ("S", "NP-SBJ-1", "R-SIMPX", "IP-MAT=1-SPE", "ADVP|PRT", "N P", "X(")
COMMENTS = ("sent_id = s1", "text = x y", "speaker = Ann")


@st.composite
def told_trees(draw: st.DrawFn) -> CTree:
    """C-trees with all that files can say: lemmas, morphology, comments, functions, secondary edges, and
    words, tags and labels that some formats write otherwise."""
    ctree = draw(ctrees(gaps=draw(st.booleans()), max_tokens=6))
    n, nodes = len(ctree.tokens), ctree.root + 1

    def column(values: tuple[str, ...], length: int = n) -> tuple[str, ...]:
        odd = draw(st.booleans())
        return tuple([draw(st.sampled_from(values)) if odd else values[0] for _ in range(length)])

    lemmas, morphs = (draw(st.sampled_from((None, column(("be", "--", "a b"))))) for _ in range(2))
    comments = tuple(draw(st.lists(st.sampled_from(COMMENTS), unique=True)))
    proper = st.integers(n, ctree.root)
    edge = st.tuples(st.integers(0, ctree.root), st.sampled_from(FUNCTIONS), proper)
    return canonical(
        replace(
            ctree,
            tokens=Tokens(column(WORDS), column(TAGS), lemmas, morphs, comments),
            labels=column(LABELS, len(ctree.labels)),
            head_children=draw(st.sampled_from((None, ctree.head_children))),
            functions=draw(st.sampled_from((None, column(FUNCTIONS, nodes)))),
            secondary=tuple(draw(st.lists(edge, max_size=2))) if ctree.labels else (),
        )
    )


def differences(source: CTree, target: CTree, name: str) -> Iterator[str]:
    """Yield in what the tree of a conversion differs, under the names by which `convert` tells it."""
    a, b, holds = canonical(source), canonical(target), FORMATS[name].holds
    if a.children != b.children or (a.top is None) != (b.top is None):
        yield "structure"
        return
    columns = {
        "words": (a.tokens.forms, b.tokens.forms),
        "tags": (a.tokens.tags, b.tokens.tags),
        "labels": ((*a.labels, a.top or "TOP"), (*b.labels, b.top or "TOP")),
        "lemmas": (a.tokens.lemmas, b.tokens.lemmas),
        "morphology": (a.tokens.morphs, b.tokens.morphs),
    }
    for what, (mine, other) in columns.items():
        if mine != other and what in ("lemmas", "morphology") and what not in holds:
            yield from {what} if {*(mine or ())} - {"", "_", "--"} else ()  # these say nothing
            continue
        for x, y in zip(mine or (), other or mine or (), strict=True):
            if x != y and {x, y} != {"_", "--"}:  # which both say nothing
                odd = "-LRB-" if "-LRB-" in x else "brackets" if {*x} & {*"()"} else "blanks"
                yield f"{what} with {odd}"
    if a.functions != b.functions:
        yield "functions"
    if a.secondary != b.secondary:
        yield "secondary edges"
    if _comments(a) != _comments(b):
        yield "comments"
    if a.head_children and a.head_children != b.head_children:
        yield "heads"


def _comments(ctree: CTree) -> list[str]:
    return [one for one in ctree.tokens.comments if not comment_of([one], "sent_id")]


def told(path: Path, name: str) -> CTree | None:
    """Return the tree that a file in some format has, raw, with the heads that it marks."""
    marked = "heads" in FORMATS[name].holds
    (tree,) = Reading(format_name=name, raw=True, marked=marked)(path)
    return tree


@pytest.mark.parametrize("first", WRITABLE)
@given(ctree=told_trees())
def test_what_both_can_hold_is_equal_and_what_is_lost_is_named(
    tmp_path_factory: pytest.TempPathFactory, first: str, ctree: CTree
) -> None:
    folder = tmp_path_factory.mktemp("pairs")
    source, write = folder / "source", FORMATS[first].write
    assert write is not None
    try:
        write([ctree], stream := StringIO())
    except ValueError:
        return  # gaps, and words that the format takes for something else
    source.write_text(stream.getvalue(), encoding="utf-8")
    before = told(source, first)
    for second in WRITABLE:
        left_out, target = Counter[str](), folder / f"target.{second}"
        reading = Reading(format_name=first, raw=True)
        try:
            left_out = convert_treebank(reading, (source,), FORMATS[second], stream := StringIO())
        except FormatError as error:
            assert "hold" in str(error) or second == "export"
            continue
        target.write_text(stream.getvalue(), encoding="utf-8")
        after = told(target, second)
        assert before and after
        heads = {"heads"} if {"functions", "dependencies"} & left_out.keys() else set()  # which these mark
        unnamed = {*differences(before, after, second)} - {*left_out} - heads
        assert not unnamed, (second, left_out, stream.getvalue())


def test_one_of_each() -> None:
    names = (
        "<metadata> elements,JSON fields,MISC,alternative values,arguments of predicates,comments,"
        "compound lemmas,dependencies,entity tags,frames of predicates,further parses,heads,ids and texts,"
        "labels with blanks,lemmas,lemmas (--merge),morphology,morphology with blanks,named entities,"
        "other attributes,tags unlike the tree's"
    )
    assert told_left_out(Counter(names.split(","))) == (
        "1 <metadata> element, 1 JSON field, 1 word with MISC, 1 alternative value, "
        "1 argument of a predicate, 1 comment, 1 compound lemma, 1 dependency, 1 entity tag, "
        "1 frame of a predicate, 1 further parse, 1 marked head, 1 id and text, 1 label with blanks, "
        "1 lemma, 1 lemma (--merge), 1 word with morphology, 1 blank in morphology, 1 named entity, "
        "1 other attribute, 1 tag unlike the tree's"
    )
