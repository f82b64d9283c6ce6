"""What a route needs before it decodes; a route in another process."""

from __future__ import annotations

import gc
import pickle
import random
import time
from collections.abc import Callable
from importlib import resources
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from d2c.base.errors import ModelError
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.cky.search.skeleton import is_projective_tree
from d2c.packed.arcs import arc_labels_of, single, with_packed_arcs
from d2c.packed.scoring import ArcScoring
from d2c.trees.constraints import SpanConstraints
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree, is_projective, is_tree
from d2c.trees.formats.brackets import parse_bracket, read_brackets
from d2c.trees.repair import Repairs

GOLD = parse_bracket("(TOP (S (NP (DT a) (NN b)) (VP (VBD c))))")
DTREE = DTree(GOLD.tokens, (2, 3, 0))


@pytest.mark.parametrize(
    "ask",
    [
        lambda route: route.decode(DTREE),
        lambda route: route.confidences(DTREE),
        lambda route: route.decode_k_best(DTREE, 2),
        lambda route: route.oracle(GOLD, DTREE),
        lambda route: route.count(DTREE),
        lambda route: route.chart_size(DTREE),
        lambda route: route.save(Path("nowhere")),
    ],
)
def test_what_is_not_trained_says_so(ask: Callable[[ConstrainedCKY], object]) -> None:
    with pytest.raises(ModelError, match="is not trained yet"):
        ask(ConstrainedCKY())


def test_a_route_can_be_pickled_once_it_has_encoded() -> None:
    route = ConstrainedCKY(epochs=1, table_bits=8)
    route.encode(GOLD)
    route = pickle.loads(pickle.dumps(route)).fit([GOLD] * 3)
    again = pickle.loads(pickle.dumps(route))
    assert again.encode(GOLD) == route.encode(GOLD)
    assert again.decode(DTREE) == route.decode(DTREE)


def test_d_trees_of_other_sentences_are_refused_by_their_number() -> None:
    route, other = ConstrainedCKY(epochs=1, table_bits=8), DTree(Tokens(("a",), ("A",)), (0,))
    with pytest.raises(ValueError, match="sentence 2 lacks one"):
        route.fit([GOLD, GOLD], dtrees=[DTREE])
    with pytest.raises(ValueError, match="sentence 2 has a c-tree of 3 tokens, but a d-tree of 1"):
        route.fit([GOLD, GOLD], dtrees=[DTREE, other])


def test_projective_trees_are_known() -> None:
    rng, seen = random.Random(1), set[bool]()
    for _ in range(3000):
        n = rng.randint(1, 5)
        heads = [rng.randint(0, n) for _ in range(n)]
        expected = is_tree(heads) and is_projective(heads)
        assert is_projective_tree(np.array(heads, np.int32)) == expected
        seen.add(expected)
    assert seen == {True, False}


def test_a_node_over_one_word_is_searched_for_where_it_is_required() -> None:
    """The first node of a chain counts as well as the second: what the best tree has already changes nothing.
    A word that is required without a label needs no node."""
    over_a = ["(NP (N a))"] * 3 + ["(NP (QP (N a)))", "(QP (N a))"]
    route = ConstrainedCKY(head_rules="rightmost", epochs=3, table_bits=12)
    route.fit([parse_bracket(f"(TOP (S {node} (V b)))") for node in [*over_a, "(N a)"]])
    best, dtree = parse_bracket(f"(TOP (S {over_a[0]} (V b)))"), DTree(Tokens(("a", "b"), ("N", "V")), (2, 0))
    found = list[tuple[str, ...]]()
    for label in ("NP", "QP", None):
        wanted = SpanConstraints.of([(0, 1, label) if label else (0, 1)], None, 2)
        found.append(route.with_posteriors(dtree, Repairs(), wanted)[0].labels)
    assert route.decode(dtree).labels == best.labels == found[0] == found[2]
    assert found[1] in {("QP", "S"), ("QP", "NP", "S")}


def test_the_best_tree_comes_first_where_labels_of_arcs_leave_symbols_out() -> None:
    ctrees = [parse_bracket(f"(S ({label} (A a) (B b)) (V v))") for label in ("NP", "VP")]
    route = ConstrainedCKY(head_rules="rightmost", table_bits=8)
    route.fit_grammar(ctrees)
    dtree = route.encode(ctrees[0])
    labels = arc_labels_of(("NP", "VP", "S"), np.array([[0.999, 0.0005, 0], [0, 0, 1], [0, 0, 1]]))
    dtree = with_packed_arcs(dtree, single(dtree.heads)._replace(labels=labels))
    more = set[bool]()  # whether the first is more probable
    for scale in (0.0, 0.1):
        route.arcs_ = ArcScoring(labels=0.01, scale=scale)
        for seed in range(12):
            route.weights_ = np.random.default_rng(seed).standard_normal(1 << 8).astype(np.float32)
            logs, ranked = zip(*route.decode_k_best(dtree, 2), strict=True)
            assert ranked[0] == route.decode(dtree)
            assert [ctree.labels for ctree in ranked] == [("NP", "S"), ("VP", "S")]
            more.add(logs[0] > logs[1])
    assert more == {True, False}


def one_sentence(dtrees: list[DTree]) -> DTree:
    """The words of several sentences as one, whose roots are all below the first one's."""
    forms, tags, heads = list[str](), list[str](), list[int]()
    first = dtrees[0].heads.index(0) + 1
    for dtree in dtrees:
        heads += [head + len(forms) if head else (first if heads else 0) for head in dtree.heads]
        forms += dtree.tokens.forms
        tags += dtree.tokens.tags
    return DTree(Tokens(tuple(forms), tuple(tags)), tuple(heads))


def test_confidences_of_very_long_sentences_take_linear_time() -> None:
    """Eight times the words take about eight times the time; looking at all constituents for each node took
    64 times. The quickest of three, without collection of garbage, so that other work does not matter."""
    with resources.as_file(resources.files("d2c.data") / "sample" / "dev.mrg") as path:
        ctrees = [*islice(read_brackets(path, clean=True), 50)]
    route = ConstrainedCKY(epochs=1, table_bits=16).fit(ctrees)
    dtrees = [route.encode(ctree) for ctree in ctrees]
    route.confidences(dtrees[0])

    def seconds(times: int) -> float:
        begun = time.process_time()
        ctree, shares = route.confidences(one_sentence(dtrees * times))
        taken = time.process_time() - begun
        assert len(shares) == len(ctree.labels) > 400 * times
        return taken

    gc.collect()
    gc.disable()
    try:
        short, long = (min(seconds(times) for _ in range(3)) for times in (10, 80))
    finally:
        gc.enable()
    assert long < 24 * short
