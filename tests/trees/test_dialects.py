"""What holds of every bracket dialect: written trees come back, damaged text gives trees or FormatError."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.base.errors import FormatError
from d2c.trees.ctree import CTree
from d2c.trees.formats.floresta import read_floresta
from d2c.trees.formats.historical import read_historical
from d2c.trees.formats.registry import format_of
from d2c.trees.formats.sinica import read_sinica
from tests.strategies import ctrees

# Symbols of tests.strategies, as all these dialects can hold them.
SYMBOLS = {"ADVP|PRT": "ADVP", "NP-SBJ-1": "NP-SBJ", "X#2": "X"}


def read(reader: Callable[[str], Iterator[CTree]], text: str, encoding: str = "utf-8") -> list[CTree]:
    handle, path = tempfile.mkstemp()
    os.close(handle)
    try:
        Path(path).write_bytes(text.encode(encoding))
        return list(reader(path))
    finally:
        os.unlink(path)


def plain(ctree: CTree) -> CTree:
    """The tree with symbols that every dialect can hold, and without a wrapper."""
    return replace(ctree, labels=tuple(SYMBOLS.get(label, label) for label in ctree.labels), top=None)


def texts(ctree: CTree, leaf: str, node: str, between: str, mark: str, other: str) -> str:
    """A continuous tree: `leaf` and `node` are formats of (role, label, word or children)."""
    assert ctree.head_children is not None
    role = [other] * (ctree.root + 1)
    for head in ctree.head_children:
        role[head] = mark
    role[ctree.root] = other
    written = [
        leaf.format(role[i], tag, form)
        for i, (form, tag) in enumerate(zip(ctree.tokens.forms, ctree.tokens.tags, strict=True))
    ]
    for label, kids in zip(ctree.labels, ctree.children, strict=True):
        inner = between.join(written[kid] for kid in kids)
        written.append(node.format(role[len(written)], label, inner))
    return written[-1]


def historical(ctree: CTree) -> str:
    return f"( {texts(ctree, '({1} {2}-x)', '({1} {2})', chr(10), '', '')} (ID 1))"


def floresta(ctree: CTree) -> str:
    return "#1 A-1 raw (text\n" + texts(ctree, "({0}+{1} {2})", "({0}+{1} {2})", "\n  ", "H", "N<")


def sinica(ctree: CTree) -> str:
    return "#1:1.[0] " + texts(ctree, "{0}:{1}:{2}", "{0}:{1}({2})", "|", "Head", "head") + "#"


continuous = ctrees(gaps=False).map(plain)


@pytest.mark.parametrize("name", ["x", "x.txt.gz", "x.ptb.gz", "x.ptb"])
def test_what_sinica_and_floresta_look_like(tmp_path: Path, name: str) -> None:
    sinica = "#1:1.[2] VP(evaluation:Dbb:竟然|Head:VP(Head:VH11:生病))#，(COMMACATEGORY)\n"
    floresta = "#44 CP8-1 A história.\n(STA+fcl (SUBJ+np (>N+art A) (H+n história)) (.))\n"
    remarks = "#1 a remark\n(TOP (S (A+ a) (B b)))\n"
    for text, charset, expected in (
        (sinica, "utf-8", "sinica"),
        ("\ufeff\n" + sinica, "utf-8", "sinica"),
        (floresta, "utf-8", "floresta"),
        (floresta.replace("\n", "\r\n"), "latin-1", "floresta"),
        (remarks, "utf-8", "brackets"),
        ("#1 VP(a)\n(S (A a))\n", "utf-8", "brackets"),
    ):
        content = text.encode(charset)
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        assert format_of(tmp_path / name) == expected


@given(st.lists(continuous, min_size=1, max_size=3))
def test_historical_trees_come_back(trees: list[CTree]) -> None:
    lemmas = [replace(t.tokens, lemmas=("x",) * len(t.tokens)) for t in trees]
    assert read(partial(read_historical, clean=True), "\n\n".join(map(historical, trees))) == [
        replace(ctree, tokens=tokens, head_children=None, top="TOP")
        for ctree, tokens in zip(trees, lemmas, strict=True)
    ]


def test_a_fault_of_the_file_hides_no_fault_before_it(tmp_path: Path) -> None:
    """Bytes that are not UTF-8, among the first trees, which tell whether words have lemmas."""
    path, faults = tmp_path / "x.psd", list[FormatError]()
    tree = f"( (IP-MAT {' '.join(['(N a-a)'] * 20)}) (ID X,.1))\n"
    broken = "( (IP-MAT (N a b)) (ID X,.1))\n"
    path.write_bytes((tree * 2 + broken + tree * 100).encode() + b"( (IP-MAT (N \xff)))\n")
    with pytest.raises(FormatError, match="not UTF-8"):
        list(read_historical(path, faults.append))
    assert [(fault.line, fault.sentence) for fault in faults] == [(3, 3)]


@given(st.lists(continuous, min_size=1, max_size=3))
def test_floresta_trees_come_back(trees: list[CTree]) -> None:
    assert read(lambda path: read_floresta(path, marked=True), "\n".join(map(floresta, trees))) == trees


def test_pieces_of_floresta_have_the_tags_of_whole_words(tmp_path: Path) -> None:
    """A hyphen at the end of a form says that it goes on, of words, too."""
    path = tmp_path / "x.floresta"
    path.write_text("#1 A\n(X+pp (H+prp- em) (P<+np- (H+n casa)) (-H+prp em) (-P<+np (H+n rua)))\n")
    (ctree,) = read_floresta(path)
    assert ctree.tokens.tags == ("prp", "n", "prp", "n") and ctree.labels == ("np", "pp")


@given(st.lists(continuous, min_size=1, max_size=3))
def test_sinica_trees_come_back(trees: list[CTree]) -> None:
    assert read(lambda path: read_sinica(path, marked=True), "\n".join(map(sinica, trees))) == trees


@pytest.mark.parametrize(
    ("reader", "write", "alphabet"),
    [
        (read_historical, historical, "( )\n-*0#"),
        (lambda path: read_floresta(path, marked=True), floresta, "( )\n-+#{"),
        (lambda path: read_sinica(path, marked=True), sinica, "( )\n|:#[]"),
    ],
)
@given(data=st.data())
def test_damaged_text_gives_trees_or_an_error(
    reader: Callable[[str], Iterator[CTree]],
    write: Callable[[CTree], str],
    alphabet: str,
    data: st.DataObject,
) -> None:
    text = "\n".join(map(write, data.draw(st.lists(continuous, min_size=1, max_size=2))))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        end = at + data.draw(st.integers(0, 3))
        text = text[:at] + data.draw(st.text(alphabet, max_size=2)) + text[end:]
    try:
        trees = read(reader, text)
    except FormatError as error:
        assert error.line >= 1
    else:
        assert all(ctree.yields()[ctree.root] == tuple(range(len(ctree.tokens))) for ctree in trees)
