"""Encodings as objects: what each says of itself holds, and one more takes a file and a line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings

from d2c.commands.encode import encode
from d2c.reduction import Reduction
from d2c.reduction.encodings import ENCODINGS, Encoding, encoding_named
from d2c.reduction.encodings.encoding import Order
from d2c.reduction.labeler.labeler import Labeler
from d2c.trees.ctree import CTree, canonical
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.unaries import restore_unaries, strip_unaries
from tests.shapes import ctrees


class Reversed(Encoding):
    """Labels `j.Z`, for symbols without a dot."""

    name = "reversed"

    def label(self, dtree: DTree) -> DTree:
        assert dtree.symbols is not None and dtree.events is not None
        arcs = zip(dtree.symbols, dtree.events, strict=True)
        return replace(dtree, labels=tuple(f"{event}.{symbol}" for symbol, event in arcs))

    def decode(self, dtree: DTree) -> Order:
        read = [label.partition(".") for label in dtree.labels or ()]
        events = [int(event) if event.isdecimal() else 0 for event, _, _ in read]
        return Order([symbol or None for _, _, symbol in read], events)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Encoding:
    monkeypatch.setitem(ENCODINGS, "reversed", Reversed())
    return encoding_named("reversed")


@pytest.mark.parametrize("name", ENCODINGS)
@settings(max_examples=50, deadline=None)
@given(ctree=ctrees())
def test_every_encoding_keeps_what_it_says_that_it_carries(name: str, ctree: CTree) -> None:
    encoding = ENCODINGS[name]
    assert encoding.name == name
    if encoding.continuous_only and not ctree.is_continuous():
        with pytest.raises(ValueError, match="continuous trees only"):
            encoding.encode(ctree)
        return
    route = Reduction(name, continuous=False)
    route.top_ = ctree.top
    dtree = route.encode(ctree)
    assert (encoding.decode(dtree).spines is not None) == encoding.carries_unaries
    back = canonical(route.decode(dtree))
    if not encoding.carries_unaries:
        back = restore_unaries(back, strip_unaries(canonical(ctree))[1])
    assert back == ctree


def test_an_unknown_encoding_is_an_error() -> None:
    with pytest.raises(ValueError, match=f"^unknown encoding 'x'; known are {', '.join(ENCODINGS)}$"):
        encoding_named("x")


TREE = "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ eats) (NP (NN fish))) (. .)))"


def test_one_more_encoding_works_in_the_route_and_in_the_labeler(toy: Encoding, tmp_path: Path) -> None:
    ctree = parse_bracket(TREE)
    route = Reduction("reversed").fit([ctree] * 5)
    dtree = route.encode(ctree)
    assert dtree.labels == ("1.NP", "2.S", "0.", "1.VP", "2.S")
    assert route.decode(dtree) == route._heads.apply(ctree)
    route.save(tmp_path)
    assert Reduction.load(tmp_path).encoding == "reversed"
    labeler = Labeler("reversed", epochs=2, table_bits=10).fit([dtree] * 5)
    assert labeler.label(replace(dtree, labels=None)).labels == dtree.labels


def test_one_more_encoding_is_one_of_the_command_line(toy: Encoding, tmp_path: Path) -> None:
    option = next(option for option in encode.params if option.name == "encoding")
    option.type.choices = list(ENCODINGS)  # type: ignore[attr-defined]
    (tmp_path / "tree.mrg").write_text(TREE + "\n")
    try:
        done = CliRunner().invoke(encode, [str(tmp_path / "tree.mrg"), "--encoding", "reversed", "-o", "-"])
    finally:
        option.type.choices = [name for name in ENCODINGS if name != "reversed"]  # type: ignore[attr-defined]
    assert done.exit_code == 0, done.output
    assert [row.split("\t")[7] for row in done.output.splitlines() if row[:1].isdigit()] == [
        *("1.NP", "2.S", "0.", "1.VP", "2.S")
    ]
