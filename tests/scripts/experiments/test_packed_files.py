"""Packed arcs of several sentences, joined and parted, and in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from d2c.learning.weights import read_arrays, write_arrays
from d2c.packed.arcs import ArcLabels, PackedArcs, arcs_of, single, to_arrays
from experiments.packed_files import ARRAYS, from_arrays, joined_arcs, parted_arcs
from tests.packed.test_arcs import TABLE, shown


def labelled(arcs: PackedArcs, first: int = 0) -> PackedArcs:
    """Of arc a the probability of the label `x` is 1 / (a + 2)."""
    share = 1 / (np.arange(first, first + len(arcs.heads)) + 2)
    return arcs._replace(labels=ArcLabels(("x", "y"), np.log(np.stack([share, 1 - share], 1)).astype("f4")))


def test_those_of_several_sentences_are_joined_and_parted() -> None:
    sentences = [arcs_of(TABLE, [2, 0, 2]), single([]), single([0]), arcs_of(TABLE, [2, 1, 2])]
    whole = joined_arcs(sentences)
    assert len(whole.begin) == 8 and whole.heads.tolist() == [
        h for one in sentences for h in one.heads.tolist()
    ]
    assert list(map(shown, parted_arcs(whole, [3, 0, 1, 3]))) == list(map(shown, sentences))
    assert shown(joined_arcs([])) == []


def test_yields_go_with_their_sentences() -> None:
    drawn = np.random.default_rng(1)
    own = [drawn.normal(size=2 * n * n).astype(np.float32) for n in (3, 0, 1)]
    arcs = [arcs_of(TABLE, [2, 0, 2]), single([]), single([0])]
    sentences = [one._replace(yields=yields) for one, yields in zip(arcs, own, strict=True)]
    found = parted_arcs(joined_arcs(sentences), [3, 0, 1])
    assert all(np.array_equal(one.yields, yields) for one, yields in zip(found, own, strict=True))
    assert sentences[0].kept(0.25, [2, 0, 2]).yields is own[0]
    assert joined_arcs([*sentences, single([0])]).yields is None


def test_labels_of_several_sentences_are_joined_and_parted() -> None:
    sentences = [labelled(arcs_of(TABLE, [2, 0, 2])), single([]), labelled(single([0]), 7)]
    whole = joined_arcs(sentences)
    assert whole.labels and np.exp(-whole.labels.logs[:, 0]) == pytest.approx(np.arange(2, 10))
    one, none, other = parted_arcs(whole, [3, 0, 1])
    assert one.labels and sentences[0].labels and (one.labels.logs == sentences[0].labels.logs).all()
    assert none.labels is not None and len(none.labels.logs) == 0 and other.labels
    assert np.exp(-other.labels.logs[:, 0]) == pytest.approx([9])
    assert joined_arcs([*sentences, single([0])]).labels is None  # not all of them have any


def test_labels_of_several_d_parsers_are_joined() -> None:
    """Each knows labels of its own, in an order of its own; of the others' nothing is known."""
    one, other = labelled(single([0])), labelled(single([0]), 2)
    assert other.labels is not None
    other = other._replace(labels=ArcLabels(("y", "z"), other.labels.logs))
    whole = joined_arcs([one, single(()), other])
    assert whole.labels is not None and whole.labels.names == ("x", "y", "z")
    assert np.exp(whole.labels.logs) == pytest.approx(np.array([[0.5, 0.5, 1e-6], [1e-6, 0.25, 0.75]]))


def test_packed_arcs_are_kept_in_files(tmp_path: Path) -> None:
    bare = arcs_of(np.array([[0.0, 0.0, 1.0], [0.7, 0.3, 0.0]]), (2, 0))
    labels = ArcLabels(("X#1", "é", ""), np.log(np.full((3, 3), 1 / 3, np.float32)))
    yields = np.log(np.full(8, 1 / 2, np.float32))
    for arcs in (bare, bare._replace(labels=labels), bare._replace(yields=yields), single(())):
        write_arrays(tmp_path / "arcs.npz", to_arrays(arcs))
        found = from_arrays(read_arrays(tmp_path / "arcs.npz", ARRAYS))
        assert all(np.array_equal(*pair) for pair in zip(found[:3], arcs[:3], strict=True))
        assert (found.yields is None) == (arcs.yields is None)
        assert found.yields is None or np.array_equal(found.yields, yields)
        if arcs.labels is None:
            assert found.labels is None
        else:
            assert found.labels is not None and found.labels.names == labels.names
            assert np.array_equal(found.labels.logs, labels.logs)
