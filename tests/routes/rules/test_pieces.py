"""Pieces of c-trees by hand."""

from __future__ import annotations

import pytest

from d2c.routes.rules.pieces import LEFT, MOST, RIGHT, ROOT, Arc, Piece, arcs_of, pieces_of
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats.brackets import parse_bracket

CAT = parse_bracket("(TOP (S (NP (DT the) (NN cat)) (VP (VBD slept)) (. .)))")


def test_pieces_by_hand() -> None:
    assert pieces_of(CAT, (2, 3, 0, 3)) == [
        Piece(Arc("NN", "DT", None, LEFT), ("NP",), (), 0),
        Piece(Arc("VBD", "NN", None, LEFT), ("VP", "S"), ("NP",), 1),
        Piece(Arc(None, "VBD", None, ROOT), (), ("VP", "S"), 2),
        Piece(Arc("VBD", ".", None, RIGHT), ("VP", "S"), (), 0),
    ]


def test_pieces_of_another_convention() -> None:
    """The determiner is the head, and the full stop the root."""
    assert pieces_of(CAT, (3, 1, 4, 0), ("subj", "noun", "verb", "root")) == [
        Piece(Arc("VBD", "DT", "subj", LEFT), ("VP", "S"), ("NP",), 1),
        Piece(Arc("DT", "NN", "noun", RIGHT), ("NP",), (), 0),
        Piece(Arc(".", "VBD", "verb", LEFT), ("S",), ("VP",), 1),
        Piece(Arc(None, ".", "root", ROOT), (), ("S",), 1),
    ]


def test_what_an_arc_backs_off_to() -> None:
    assert [*Arc("VBD", "NN", "subj", LEFT).backed_off()] == [
        Arc("VBD", "NN", "subj", LEFT),
        Arc("VBD", "NN", None, LEFT),
        Arc(None, "NN", None, LEFT),
        Arc("VBD", None, None, LEFT),
        Arc(None, None, None, LEFT),
        Arc(),
    ]
    assert [*Arc(None, "VBD", None, ROOT).backed_off()] == [
        Arc(None, "VBD", None, ROOT),
        Arc(None, None, None, ROOT),
        Arc(),
    ]
    assert arcs_of(("A", "B", "C"), (2, 0, 2)) == [
        Arc("B", "A", None, LEFT),
        Arc(None, "B", None, ROOT),
        Arc("B", "C", None, RIGHT),
    ]


@pytest.mark.parametrize("height", [MOST, MOST + 1])
def test_what_attaches_too_high_is_no_piece(height: int) -> None:
    """A comb whose head is its first word: what is learned of it can be read back."""
    tokens = Tokens(("a",) * (height + 1), ("A",) * (height + 1))
    children = [(0, 1), *((height + 1 + k, k + 2) for k in range(height - 1))]
    comb = CTree(tokens, ("X",) * height, tuple(children))
    longest = max(len(piece.attachment) for piece in pieces_of(comb, (0, *(1,) * height)))
    assert longest == MOST


def test_no_piece_of_too_many_projections() -> None:
    for height in (MOST, MOST + 1):
        labels = ("X",) * height
        children = ((0, 1), *((node,) for node in range(2, height + 1)))
        found = pieces_of(CTree(Tokens(("a", "b"), ("A", "B")), labels, children), (0, 1))
        attached = Piece(Arc("A", "B", None, RIGHT), ("X",), (), 0)
        root = Piece(Arc(None, "A", None, ROOT), (), labels, 1)
        assert found == [root, attached][height > MOST :]
