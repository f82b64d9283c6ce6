"""Nodes that the chart knows of and c-trees do not show."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from itertools import islice

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.learning.learner import Epoch
from d2c.trees.binarization import Symbol
from d2c.trees.formats.brackets import read_brackets
from d2c.trees.heads import load_head_rules
from d2c.trees.refinement import HIDDEN, visible


def test_hidden_nodes_are_learned_and_not_shown() -> None:
    """Prepositional phrases are nodes of the chart alone; dev is scored without them, too."""
    with resources.as_file(resources.files("d2c.data") / "sample" / "train.mrg") as path:
        trees = list(islice(read_brackets(path, clean=True), 40))
    route = ConstrainedCKY(epochs=3, table_bits=16)
    hidden = [
        replace(ctree, labels=tuple(HIDDEN + label if label == "PP" else label for label in ctree.labels))
        for ctree in trees
    ]
    epochs = list[Epoch]()
    route.fit(hidden, hidden, progress=epochs.append)
    assert Symbol(HIDDEN + "PP") in route.grammar_.symbols
    for ctree in hidden:
        dtree = route.encode(ctree)
        assert route.oracle(ctree, dtree) == visible(load_head_rules("collins").apply(ctree))
        decoded, shares = route.confidences(dtree)
        assert decoded == route.decode(dtree) and len(shares) == len(decoded.labels)
        assert not any(HIDDEN in label or label == "PP" for label in decoded.labels)
    assert epochs[-1].f1 is not None and epochs[-1].f1 > 95
