"""What parsers see instead of labels and roots."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2c.protocols.codes import Codes
from d2c.protocols.training import thinned
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from tests.dparsers.sentences import LABELS, treebank
from tests.strategies import any_heads, tree_heads, words

labels = st.sampled_from((*LABELS, "", "_", "d0", "d1"))


@st.composite
def labelled(draw: st.DrawFn) -> DTree:
    heads = draw(tree_heads())
    names = draw(st.lists(labels, min_size=len(heads), max_size=len(heads)))
    return DTree(words(len(heads)), heads, labels=tuple(names))


@given(st.lists(labelled(), min_size=1, max_size=4))
def test_labels_and_roots_come_back(dtrees: list[DTree]) -> None:
    codes = Codes.of(dtrees)
    for dtree in dtrees:
        heads, seen = codes.encode(dtree, "ROOT")
        assert len(heads) == len(seen) == len(codes.words(dtree.tokens)[0])
        assert heads.count(0) == 1 and seen[heads.index(0)] == "ROOT"
        assert codes.decode(dtree.tokens, heads, seen) == dtree


@given(any_heads(), st.data())
def test_any_prediction_is_taken(heads: tuple[int, ...], data: st.DataObject) -> None:
    seen = data.draw(
        st.lists(st.sampled_from(("d0", "d7", "dep", "")), min_size=len(heads), max_size=len(heads))
    )
    dtree = Codes(("a||b",), "root").decode(words(len(heads)), heads, seen)
    assert dtree.heads == heads
    named = {"d0": "a||b"}
    assert dtree.labels == tuple(
        named.get(code, "_" if head else "root") for head, code in zip(heads, seen, strict=True)
    )


def test_several_labels_of_roots_take_an_artificial_word() -> None:
    tokens = Tokens(("a", "", "c"), ("A", "B", ""))
    one, other = (DTree(tokens, (2, 0, 2), labels=("x", root, "x")) for root in ("root|S", "root|NP"))
    codes = Codes.of([one, other])
    assert codes == Codes(("root|NP", "root|S", "x"), None)
    assert codes.words(tokens) == (["a", "_", "c", "<root>"], ["A", "B", "_", "<root>"])
    assert codes.encode(one, "ROOT") == ([2, 4, 2, 0], ["d2", "d1", "d2", "ROOT"])
    below = codes.decode(tokens, (0, 1, 4, 1), ("ROOT", "d2", "d0", "d2"))  # the artificial word below a word
    assert (below.heads, below.labels) == ((0, 1, 1), ("_", "x", "root|NP"))
    assert codes.decode(Tokens((), ()), (), ()).heads == ()
    with pytest.raises(AssertionError, match="3 words came back for 3"):
        codes.decode(tokens, (0, 1, 1), ("ROOT", "d2", "d2"))


def test_thinned() -> None:
    dtrees = treebank(1, 10)  # of six words
    assert thinned(dtrees, 60) == dtrees and thinned(dtrees, 59) == dtrees[::2]
    assert thinned(dtrees, 15) == dtrees[::4]
