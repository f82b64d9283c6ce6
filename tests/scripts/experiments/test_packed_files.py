"""D-trees with packed arcs in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from d2c.packed.arcs import ArcLabels, PackedArcs, arcs_of, packed_arcs, single, with_packed_arcs
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from experiments.packed_files import read_dtrees, save_dtrees
from tests.packed.test_arcs import TABLE


def labelled(arcs: PackedArcs, *names: str) -> PackedArcs:
    """Of arc a the first label is as probable as 1 / (a + 2), the others share the rest."""
    first = 1 / (np.arange(len(arcs.heads)) + 2)
    rest = [(1 - first) / (len(names) - 1)] * (len(names) - 1)
    return arcs._replace(labels=ArcLabels(names, np.log(np.stack([first, *rest], 1)).astype("f4")))


def check_comes_back(arcs: list[PackedArcs | None], directory: Path) -> None:
    """Save d-trees with these arcs; those that are read have the same, with arrays of the same types."""
    sizes = [1 if one is None else len(one.begin) - 1 for one in arcs]
    sentences = [Tokens(tuple(f"w{i}" for i in range(size)), ("T",) * size) for size in sizes]
    dtrees = [DTree(tokens, tuple(range(len(tokens)))) for tokens in sentences]
    save_dtrees([*map(with_packed_arcs, dtrees, arcs)], directory / "dtrees")
    found = read_dtrees(sentences, directory / "dtrees")
    assert [(one.tokens, one.heads) for one in found] == [(one.tokens, one.heads) for one in dtrees]
    for one, other in zip(arcs, map(packed_arcs, found), strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert all(map(is_same, one[:3], other[:3])) and is_same(one.yields, other.yields)
            assert (one.labels is None) == (other.labels is None)
            if one.labels and other.labels:
                assert one.labels.names == other.labels.names and is_same(one.labels.logs, other.labels.logs)


def is_same(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.dtype == other.dtype and other.flags.writeable and np.array_equal(one, other)


def test_arcs_of_several_sentences_come_back(tmp_path: Path) -> None:
    check_comes_back(
        [arcs_of(TABLE, [2, 0, 2]), single([0, 1]), single([0]), arcs_of(TABLE, [2, 1, 2])], tmp_path
    )


def test_yields_come_back_with_their_sentences(tmp_path: Path) -> None:
    drawn = np.random.default_rng(1)
    arcs = [arcs_of(TABLE, [2, 0, 2]), single([0, 1]), single([0])]
    given = [
        one._replace(yields=drawn.normal(size=2 * n * n).astype("f4"))
        for one, n in zip(arcs, (3, 2, 1), strict=True)
    ]
    check_comes_back([*given, single([0])], tmp_path)
    assert given[0].kept(0.25, [2, 0, 2]).yields is given[0].yields


def test_labels_come_back_where_each_d_parser_knows_its_own(tmp_path: Path) -> None:
    arcs = arcs_of(TABLE, [2, 0, 2])
    check_comes_back(
        [
            labelled(arcs, "x", "y"),
            labelled(single([0, 1]), "x", "y"),
            labelled(single([0]), "X#1", "é", ""),
            arcs,
        ],
        tmp_path,
    )


def test_d_trees_without_arcs_have_no_file_of_arcs(tmp_path: Path) -> None:
    check_comes_back([None], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["dtrees.conllu"]
    check_comes_back([None, single([0])], tmp_path)
