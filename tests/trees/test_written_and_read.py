"""Whatever is written is read back equal, or refused: every format, words and symbols of any characters."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from d2c.base.errors import FormatError
from d2c.base.files import open_output
from d2c.trees.cleaning import unescape, unwrap
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import escape
from d2c.trees.formats.conllu import format_conllu, read_conllu
from d2c.trees.formats.graphs import as_in_conllu, known_column, value_of
from d2c.trees.formats.registry import FORMATS, Place, read_treebank, write_treebank
from tests.strategies import any_heads, ctrees

WRITTEN = [name for name, known in FORMATS.items() if known.write]
NAMES = """
    NP S TOP ROOT VROOT S1 -NONE- -LRB- -RRB- a-LRB-b ( ) () $( _ -- --- # #BOS #EOS #EOS1 #500 #499 #x
    %% %%x x%% % 0 0=x -1 <a> & &amp; " ' | NP#1 *T*-1 *con* HD hd %ED%A0%80 é ё 漢 \U0001f600
"""
SPACES = (" ", "a b", "\t", "a\nb", "\r", "\x0b", "\x0c", "\x1c", "\u00a0", "\u00a0x", "x\u2028y", "\u0085")
BROKEN = ("", "\x00", "\x01", "\x7f", "\ud800", "x\udcff", "\ufeff", "\uffff")

plain = st.sampled_from(("NP", "x", "_", "TOP"))
holdable = st.sampled_from((*NAMES.split(), *SPACES))
names = st.one_of(
    holdable, st.sampled_from(BROKEN), st.text(st.characters(exclude_categories=()), max_size=3)
)
kinds = st.sampled_from((plain, holdable, holdable, plain | names))


@st.composite
def any_tokens(draw: st.DrawFn, n: int, name: st.SearchStrategy[str]) -> Tokens:
    """n tokens; lemmas and morphology may be there."""
    forms, tags, lemmas, morphs = (tuple([draw(name) for _ in range(n)]) for _ in range(4))
    return Tokens(forms, tags, *(draw(st.sampled_from((None, column))) for column in (lemmas, morphs)))


@st.composite
def any_ctrees(draw: st.DrawFn) -> CTree:
    """C-trees with names of any characters."""
    ctree, name = draw(ctrees(max_tokens=5)), draw(kinds)
    tokens = draw(any_tokens(len(ctree.tokens), name))
    labels = tuple([draw(name) for _ in ctree.labels])
    top = draw(st.sampled_from((None, None, "", "TOP", "VROOT", "X")))
    return replace(ctree, tokens=tokens, labels=labels, top=top)


def held(ctree: CTree, name: str) -> CTree:
    """The tree as a format holds it: with no-break spaces for blanks and -LRB- for brackets where it holds
    none, with the wrapper in its place, and without what is unknown."""
    holds = FORMATS[name].holds
    ctree = unwrap(ctree, clean=False) if ctree.top is None else ctree
    tokens, labels = ctree.tokens, ctree.labels
    if name in ("brackets", "discbracket"):
        forms, tags = [unescape(escape(form)) for form in tokens.forms], list(map(_label, tokens.tags))
        labels = tuple(map(_label, labels))
        return replace(ctree, tokens=Tokens(tuple(forms), tuple(tags)), labels=labels, head_children=None)
    if name == "constituency":  # rows of CoNLL-U beside brackets
        tokens = as_in_conllu(tokens)
        lemmas, morphs = (
            None if set(column or "_") == {"_"} else column for column in (tokens.lemmas, tokens.morphs)
        )
        return replace(ctree, tokens=Tokens(tokens.forms, tokens.tags, lemmas, morphs))
    spaced = str if "blanks" in holds else _without_blanks
    columns = [
        column and known_column(spaced(value_of(column, i, tokens)) for i in range(len(tokens)))
        for column in (tokens.lemmas, tokens.morphs)
    ]
    names = [tuple(map(spaced, column)) for column in (tokens.forms, tokens.tags, labels)]
    if names[2] and not names[2][-1]:
        names[2] = (*names[2][:-1], "TOP")
    tokens = Tokens(*names[:2], *columns)
    return replace(ctree, tokens=tokens, labels=names[2], top="TOP" if ctree.top == "" else ctree.top)


def _label(name: str) -> str:
    written = escape(name)
    return written if written in ("-LRB-", "-RRB-") else unescape(written)


def _without_blanks(name: str) -> str:
    return name.translate(dict.fromkeys(map(ord, " \t\r\n"), "\u00a0"))


@pytest.mark.parametrize("name", WRITTEN)
@given(ctree=any_ctrees())
@settings(max_examples=60)
def test_ctrees(tmp_path_factory: pytest.TempPathFactory, name: str, ctree: CTree) -> None:
    path = tmp_path_factory.getbasetemp() / f"written.{name}"
    try:
        with open_output(path) as stream:
            write_treebank([ctree, ctree], name, stream, Place("source"))
    except FormatError as error:
        assert str(error).startswith("source: sentence 1: ") and len(str(error).splitlines()) == 1
        return
    marked = "heads" in FORMATS[name].holds
    expected = held(ctree, name)
    assert list(read_treebank(path, name, marked=marked)) == [expected, expected]


@given(heads=any_heads(), data=st.data())
@settings(max_examples=60)
def test_dtrees(
    tmp_path_factory: pytest.TempPathFactory, heads: tuple[int, ...], data: st.DataObject
) -> None:
    name = data.draw(kinds)
    tokens = data.draw(any_tokens(len(heads), name))
    labels = tuple(data.draw(name) for _ in heads)
    dtree = DTree(tokens, heads, labels=labels)
    path = tmp_path_factory.getbasetemp() / "written.conllu"
    try:
        text = format_conllu(dtree)
    except ValueError as error:
        assert len(str(error).splitlines()) == 1
        return
    with open_output(path) as stream:
        stream.write(text * 2)
    columns = [column if column and {*column} != {"_"} else None for column in (tokens.lemmas, tokens.morphs)]
    one = replace(dtree, tokens=Tokens(tokens.forms, tokens.tags, *columns))
    read = list(read_conllu(path))
    assert [replace(found, heads=()) for found in read] == [replace(one, heads=())] * 2
    for found in read:
        assert all(a == b or (a < 0 and not 0 <= b < 10**9) for a, b in zip(found.heads, heads, strict=True))
